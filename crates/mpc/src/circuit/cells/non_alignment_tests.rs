//! Cells of metrics other than alignments, compared with their definitions on plaintext matrices of several sizes.

use super::*;
use crate::alignment::Fold;
use crate::circuit::recurrence::{RecurrenceOutput, RecurrenceOutputs, WHOLE};
use crate::wavefront::{Geometry, STRIP_ROWS, Shape, Sweep};
use proptest::prelude::*;
use veilpath_channel::memory_pair;

/// An entry for each row and column.
type Matrix = Vec<Vec<u64>>;

/// Sweeps matrices together and folds each into one number. Also returns the number of gates.
fn numbers<K: Cell>(cell: &K, fold: Fold, matrices: &[Matrix]) -> (Vec<u128>, usize) {
    let (mut channel, _peer) = memory_pair();
    let shapes = matrices.iter().map(|matrix| Shape {
        rows: matrix.len(),
        columns: matrix[0].len(),
    });
    let geometry = Geometry::new(shapes.collect());
    let mut circuit = Clear::new();
    let mut sweep = Sweep::new(cell, &geometry, &circuit);
    for strip in 0..geometry.strips() {
        sweep.start_strip(strip, &circuit);
        for step in 0..geometry.steps(strip) {
            let cells = geometry.cells(strip, step);
            let inputs: Vec<bool> = cells
                .flat_map(|at| {
                    let row = strip * STRIP_ROWS + at.row;
                    let value = matrices[at.comparison][row][at.column];
                    assert!(value >> cell.input_wires() == 0, "the input fits its wires");
                    (0..cell.input_wires()).map(move |bit| value >> bit & 1 == 1)
                })
                .collect();
            sweep
                .step(step, &inputs, &mut circuit, &mut channel)
                .unwrap();
        }
    }
    let swept = sweep.finish(&circuit);
    let numbers = fold.run(&mut circuit, &mut channel, swept).unwrap();
    let value = |number: &Vec<bool>| {
        let bits = number.iter().rev();
        bits.fold(0, |sum, bit| sum * 2 + u128::from(*bit))
    };
    let values = numbers.iter().map(|number| value(number)).collect();
    (values, circuit.and_gates())
}

/// The matrix with padding appended to both strings.
fn padded(matrix: &Matrix, more: (usize, usize), of_padding: impl Fn(bool) -> u64) -> Matrix {
    let (rows, columns) = (matrix.len(), matrix[0].len());
    let entry = |i: usize, j: usize| match (i < rows, j < columns) {
        (true, true) => matrix[i][j],
        (false, false) => of_padding(true),
        _ => of_padding(false),
    };
    (0..rows + more.0)
        .map(|i| (0..columns + more.1).map(|j| entry(i, j)).collect())
        .collect()
}

/// The cheapest path, by brute force over all paths. Only for small matrices.
fn best_path(matrix: &Matrix, i: usize, j: usize, join: &impl Fn(u64, u64) -> u64) -> u64 {
    let before = [(1, 1), (1, 0), (0, 1)]
        .into_iter()
        .filter_map(|(up, left)| {
            let (i, j) = (i.checked_sub(up)?, j.checked_sub(left)?);
            Some(best_path(matrix, i, j, join))
        });
    before
        .min()
        .map_or(matrix[i][j], |before| join(matrix[i][j], before))
}

/// The same by dynamic programming over rows.
fn path(matrix: &Matrix, join: impl Fn(u64, u64) -> u64) -> u64 {
    let mut above: Vec<Option<u64>> = vec![None; matrix[0].len()];
    for row in matrix {
        let mut current: Vec<Option<u64>> = Vec::new();
        for (j, entry) in row.iter().enumerate() {
            let left = j.checked_sub(1);
            let neighbours = [
                above[j],
                left.and_then(|j| above[j]),
                left.and_then(|j| current[j]),
            ];
            let before = neighbours.into_iter().flatten().min();
            current.push(Some(before.map_or(*entry, |before| join(*entry, before))));
        }
        above = current;
    }
    above.last().copied().flatten().unwrap()
}

fn hausdorff(matrix: &Matrix) -> u64 {
    let rows = matrix.iter().map(|row| *row.iter().min().unwrap());
    let column = |j: usize| matrix.iter().map(|row| row[j]).min().unwrap();
    rows.chain((0..matrix[0].len()).map(column)).max().unwrap()
}

/// Points on runs of at least `shortest` ones in lists of cells.
fn on_lines(lists: impl Iterator<Item = Vec<u64>>, shortest: usize) -> u64 {
    let runs = lists.flat_map(|list| {
        let runs: Vec<usize> = list.split(|point| *point == 0).map(<[u64]>::len).collect();
        runs
    });
    runs.filter(|run| *run >= shortest).sum::<usize>() as u64
}

/// All numbers of a recurrence plot, in the order in which they are packed.
fn recurrence(matrix: &Matrix, shortest: usize, undefined_is_zero: bool) -> Vec<u64> {
    let (m, n) = (matrix.len(), matrix[0].len());
    let points: u64 = matrix.iter().flatten().sum();
    let diagonal = |first: usize| {
        // From the lower left corner to the upper right.
        let (i, j) = ((m - 1).saturating_sub(first), first.saturating_sub(m - 1));
        let cells = (i..m).zip(j..n);
        cells.map(|(i, j)| matrix[i][j]).collect()
    };
    let diagonals = on_lines((0..m + n - 1).map(diagonal), shortest);
    let rows = on_lines(matrix.iter().cloned(), shortest);
    let column = |j: usize| matrix.iter().map(|row| row[j]).collect();
    let columns = on_lines((0..n).map(column), shortest);
    let longer = (m.max(n) - 1) as u64;
    let mut centre = 0;
    for (i, row) in matrix.iter().enumerate() {
        for (j, point) in row.iter().enumerate() {
            centre += point * (j as u64 + longer - i as u64);
        }
    }
    let fraction = |part: u64, whole: u64, largest: u64| match whole {
        0 if undefined_is_zero => largest - WHOLE,
        0 => largest + 1,
        _ => (2 * WHOLE * part + whole) / (2 * whole),
    };
    vec![
        points,
        fraction(diagonals, points, WHOLE),
        fraction(rows + columns, 2 * points, WHOLE),
        fraction(rows, points, WHOLE),
        fraction(columns, points, WHOLE),
        fraction(centre, longer * points, 2 * WHOLE),
    ]
}

const OUTPUTS: [RecurrenceOutput; 6] = [
    RecurrenceOutput::Points,
    RecurrenceOutput::Diagonals,
    RecurrenceOutput::RowsAndColumns,
    RecurrenceOutput::Rows,
    RecurrenceOutput::Columns,
    RecurrenceOutput::Centre,
];

/// A few matrices with entries up to `most`. Single rows, single columns and constant matrices are frequent.
fn matrices(max_distance: u64, longest: usize) -> impl Strategy<Value = Vec<Matrix>> {
    let length = move || prop_oneof![Just(1), 1..longest];
    let matrix =
        (length(), length(), 0..=max_distance).prop_flat_map(|(rows, columns, max_distance)| {
            prop::collection::vec(prop::collection::vec(0..=max_distance, columns), rows)
        });
    prop::collection::vec(matrix, 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_reference_finds_the_best_path(matrices in matrices(9, 6)) {
        for matrix in &matrices {
            let (i, j) = (matrix.len() - 1, matrix[0].len() - 1);
            prop_assert_eq!(path(matrix, |x, y| x + y), best_path(matrix, i, j, &|x, y| x + y));
            prop_assert_eq!(path(matrix, u64::max), best_path(matrix, i, j, &u64::max));
        }
    }

    #[test]
    fn the_warping_cell_is_dynamic_time_warping(
        matrices in (0u64..300).prop_flat_map(|max_distance| matrices(max_distance, 20)),
        more in (1usize..4, 1usize..4),
    ) {
        let max_distance = matrices.iter().flatten().flatten().max().copied().unwrap_or(0);
        let longest = matrices.iter().map(|matrix| matrix.len().max(matrix[0].len())).max().unwrap_or(0) as u64;
        let expected: Vec<u128> = matrices.iter().map(|matrix| path(matrix, |x, y| x + y).into()).collect();
        let cell = WarpingCell::new(max_distance, longest, false);
        prop_assert_eq!(&numbers(&cell, Fold::Last, &matrices).0, &expected);
        let cell = WarpingCell::new(max_distance, longest, true);
        let padded: Vec<Matrix> = matrices.iter().map(|it| padded(it, more, |both| cell.input_of_padding(both))).collect();
        prop_assert_eq!(&numbers(&cell, Fold::Last, &padded).0, &expected);
    }

    #[test]
    fn the_frechet_cell_is_the_discrete_frechet_distance(
        matrices in (0u64..30).prop_flat_map(|max_distance| matrices(max_distance, 20)),
        more in (1usize..4, 1usize..4),
    ) {
        let max_distance = matrices.iter().flatten().flatten().max().copied().unwrap_or(0);
        let expected: Vec<u128> = matrices.iter().map(|matrix| path(matrix, u64::max).into()).collect();
        prop_assert_eq!(&numbers(&FrechetCell::new(max_distance, false), Fold::Last, &matrices).0, &expected);
        let cell = FrechetCell::new(max_distance, true);
        let padded: Vec<Matrix> = matrices.iter().map(|it| padded(it, more, |both| cell.input_of_padding(both))).collect();
        prop_assert_eq!(&numbers(&cell, Fold::Last, &padded).0, &expected);
    }

    #[test]
    fn the_hausdorff_cell_is_the_hausdorff_distance(
        matrices in (0u64..30).prop_flat_map(|max_distance| matrices(max_distance, 20)),
        more in (1usize..4, 1usize..4),
    ) {
        let max_distance = matrices.iter().flatten().flatten().max().copied().unwrap_or(0);
        let expected: Vec<u128> = matrices.iter().map(|it| hausdorff(it).into()).collect();
        prop_assert_eq!(&numbers(&HausdorffCell::new(max_distance, false), Fold::Max, &matrices).0, &expected);
        let cell = HausdorffCell::new(max_distance, true);
        let padded: Vec<Matrix> = matrices.iter().map(|it| padded(it, more, |both| cell.input_of_padding(both))).collect();
        prop_assert_eq!(&numbers(&cell, Fold::Max, &padded).0, &expected);
    }

    #[test]
    fn recurrence_plots_give_the_agreed_numbers(
        matrices in matrices(1, 24),
        shortest in 2usize..7,
        outputs in prop::sample::subsequence(OUTPUTS.to_vec(), 0..=6).prop_shuffle(),
        undefined_is_zero in any::<bool>(),
    ) {
        let fold = RecurrenceOutputs::new(&outputs, shortest, undefined_is_zero);
        let (packed, _) = numbers(&fold.cell(), Fold::Recurrence(fold), &matrices);
        for (matrix, mut packed) in matrices.iter().zip(packed) {
            let shape = Shape { rows: matrix.len(), columns: matrix[0].len() };
            let expected = recurrence(matrix, shortest, undefined_is_zero);
            for output in &outputs {
                let index = OUTPUTS.iter().position(|it| it == output).unwrap();
                let expected = expected[index];
                let bits = output.bits(shape);
                prop_assert_eq!(packed & ((1 << bits) - 1), u128::from(expected), "{:?} of {:?}", output, matrix);
                packed >>= bits;
            }
            prop_assert_eq!(packed, 0);
        }
    }

    /// Padding has no points, so it makes no runs.
    #[test]
    fn padding_changes_no_fraction_of_points(matrices in matrices(1, 20), more in (0usize..4, 0usize..4), shortest in 2usize..5) {
        let fold = RecurrenceOutputs::new(&OUTPUTS[1..5], shortest, false);
        let cell = fold.cell();
        let padded: Vec<Matrix> = matrices.iter().map(|matrix| padded(matrix, more, |_| 0)).collect();
        prop_assert_eq!(numbers(&cell, Fold::Recurrence(fold), &padded).0, numbers(&cell, Fold::Recurrence(fold), &matrices).0);
    }
}

#[test]
fn long_matrices_keep_their_rows_and_counts_between_strips() {
    let matrix = |rows: usize, columns: usize, max_distance: u64| -> Matrix {
        let entry =
            |i: usize, j: usize| ((i * i * 7 + j * 13 + i * j) as u64 >> 2) % (max_distance + 1);
        let row = |i: usize| (0..columns).map(|j| entry(i, j)).collect();
        (0..rows).map(row).collect()
    };
    let sizes = [(300, 40), (129, 128), (5, 300), (128, 1), (257, 3)];
    let all = |max_distance: u64| sizes.map(|(rows, columns)| matrix(rows, columns, max_distance));
    let ranks = all(26);
    let (got, _) = numbers(&HausdorffCell::new(26, false), Fold::Max, &ranks);
    assert_eq!(got, ranks.each_ref().map(|it| hausdorff(it).into()));
    let (got, _) = numbers(&FrechetCell::new(26, false), Fold::Last, &ranks);
    assert_eq!(got, ranks.each_ref().map(|it| path(it, u64::max).into()));
    let (got, _) = numbers(&WarpingCell::new(26, 300, false), Fold::Last, &ranks);
    assert_eq!(
        got,
        ranks.each_ref().map(|it| path(it, |x, y| x + y).into())
    );
    let points = all(1);
    for shortest in [2, 3, 5] {
        for (at, output) in OUTPUTS.into_iter().enumerate() {
            let fold = RecurrenceOutputs::new(&[output], shortest, false);
            let (got, _) = numbers(&fold.cell(), Fold::Recurrence(fold), &points);
            let expected = points
                .each_ref()
                .map(|it| recurrence(it, shortest, false)[at].into());
            assert_eq!(got, expected, "{output:?}, {shortest}");
        }
    }
}

/// There are more diagonals, ends of lines and weighted bits than are added at a time.
#[test]
fn recurrence_plots_of_many_rows_or_columns_are_counted_in_pieces() {
    let matrix = |rows: u64, columns: u64| -> Matrix {
        let point = |i: u64, j: u64| u64::from((i * 7 + j * 5 + i * i / 64) % 5 < 3);
        let row = |i: u64| (0..columns).map(|j| point(i, j)).collect();
        (0..rows).map(row).collect()
    };
    let matrices =
        [(70_000, 2), (3, 5), (3, 9000), (9000, 4)].map(|(rows, columns)| matrix(rows, columns));
    for (at, output) in OUTPUTS.into_iter().enumerate() {
        let fold = RecurrenceOutputs::new(&[output], 2, false);
        let (got, _) = numbers(&fold.cell(), Fold::Recurrence(fold), &matrices);
        let expected = matrices
            .each_ref()
            .map(|it| recurrence(it, 2, false)[at].into());
        assert_eq!(got, expected, "{output:?}");
    }
}

#[test]
fn cells_cost_the_documented_gates() {
    for (largest, longest) in [(1, 1), (8485, 100), (3, 40)] {
        let width = crate::circuit::numbers::bits_for(largest * longest);
        let cell = |padded| WarpingCell::new(largest, longest, padded);
        assert_eq!(cell(false).and_gates(), 5 * width - 1);
        assert_eq!(cell(true).and_gates(), 6 * width - 1);
    }
    // A grid of 7 × 7 cells has 27 distances.
    assert_eq!(FrechetCell::new(26, false).and_gates(), 6 * 5);
    assert_eq!(HausdorffCell::new(26, false).and_gates(), 4 * 5);
    assert_eq!(FrechetCell::new(31, false).input_wires(), 5);
    assert_eq!(FrechetCell::new(31, true).input_wires(), 6);
}

/// Gates of a cell and its counters, for several numbers of directions and shortest runs.
#[test]
fn recurrence_plots_cost_the_documented_gates() {
    let matrix: Matrix = (0..100u64)
        .map(|i| (0..100).map(|j| (i * j + i / 3) % 5 / 4).collect())
        .collect();
    for (outputs, shortest, per_cell) in [
        (&OUTPUTS[..1], 2, 1),
        (&OUTPUTS[..2], 2, 4),
        (&OUTPUTS[1..2], 2, 4),
        (&OUTPUTS[..3], 2, 10),
        (&OUTPUTS[..], 2, 10),
        (&OUTPUTS[..2], 3, 6),
        (&OUTPUTS[..2], 4, 6),
        (&OUTPUTS[..2], 5, 7),
    ] {
        let fold = RecurrenceOutputs::new(outputs, shortest, false);
        let cell = fold.cell();
        assert_eq!(cell.and_gates() + cell.counters().len(), per_cell);
        let (_, gates) = numbers(&cell, Fold::Recurrence(fold), std::slice::from_ref(&matrix));
        // The rest is for run ends, weights and divisions, once per matrix.
        let rest = gates.abs_diff(per_cell * 10_000);
        assert!(rest < 2500 * outputs.len(), "{outputs:?}: {rest}");
    }
}

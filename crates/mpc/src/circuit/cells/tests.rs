//! Every cell against its recurrence, on whole matrices in the clear.

use super::*;
use crate::circuit::LANES;
use proptest::prelude::*;

/// Runs a matrix cell by cell, row by row, and returns the results of the columns.
fn results<K: Cell>(
    cell: &K,
    rows: usize,
    columns: usize,
    input: impl Fn(usize, usize) -> u64,
) -> Vec<u64> {
    let mut circuit = Clear::new();
    let spread = |bit: bool| [bit; LANES];
    let mut down: Vec<Vec<_>> = (0..columns)
        .map(|_| {
            (0..cell.down_wires())
                .map(|w| spread(cell.upper_border(w)))
                .collect()
        })
        .collect();
    for i in 0..rows {
        let mut across: Vec<_> = (0..cell.across_wires())
            .map(|w| spread(cell.left_border(w)))
            .collect();
        for (j, down) in down.iter_mut().enumerate() {
            let value = input(i, j);
            assert!(value >> cell.input_wires() == 0, "the input fits its wires");
            let mut input: Vec<_> = (0..cell.input_wires())
                .map(|w| spread(value >> w & 1 == 1))
                .collect();
            cell.run(&mut circuit, &mut across, down, &mut input);
        }
    }
    assert_eq!(
        circuit.and_gates(),
        rows * columns * LANES * cell.and_gates()
    );
    down.iter()
        .map(|down| {
            let mut result = vec![spread(false); cell.result_wires()];
            cell.result(&circuit, down, &mut result);
            result
                .iter()
                .rev()
                .fold(0, |sum, wire| sum * 2 + u64::from(wire[LANES - 1]))
        })
        .collect()
}

/// The last number of a row that is known modulo the cell's power of two.
fn unwrap(cell: &SavingCell, row: &[u64]) -> u64 {
    let modulus = 1 << cell.result_wires();
    let steps = row.iter().scan(0, |before, &number| {
        let step = (number + modulus - std::mem::replace(before, number)) % modulus;
        Some(step)
    });
    steps.sum()
}

/// The plain recurrence of a global alignment.
fn global(
    a: &[u8],
    b: &[u8],
    insertion: u64,
    deletion: u64,
    substitution: impl Fn(u8, u8) -> u64,
) -> u64 {
    let mut row: Vec<u64> = (0..=b.len() as u64).map(|j| j * insertion).collect();
    for &x in a {
        let mut diagonal = row[0];
        row[0] += deletion;
        for (j, &y) in b.iter().enumerate() {
            let best = (diagonal + substitution(x, y))
                .min(row[j] + insertion)
                .min(row[j + 1] + deletion);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}

/// The plain recurrence of a local alignment.
fn local(a: &[u8], b: &[u8], gap: i64, score: impl Fn(u8, u8) -> i64) -> i64 {
    let mut row = vec![0i64; b.len() + 1];
    let mut best = 0;
    for &x in a {
        let mut diagonal = 0;
        for (j, &y) in b.iter().enumerate() {
            let value = (diagonal + score(x, y))
                .max(row[j] - gap)
                .max(row[j + 1] - gap)
                .max(0);
            diagonal = std::mem::replace(&mut row[j + 1], value);
            best = best.max(value);
        }
    }
    best
}

fn strings() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
    (1u8..7).prop_flat_map(|letters| {
        (
            prop::collection::vec(0..letters, 0..14),
            prop::collection::vec(0..letters, 0..14),
        )
    })
}

/// A cost for every pair of letters, without structure.
fn cost(seed: u64, x: u8, y: u8, max_cost: u64) -> u64 {
    let mixed = (seed ^ (u64::from(x) << 8 | u64::from(y)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 33) % (max_cost + 1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_unit_cell_is_levenshtein((a, b) in strings()) {
        let cell = UnitCell;
        let sum: u64 = results(&cell, a.len(), b.len(), |i, j| cell.input(a[i] == b[j])).iter().sum();
        let expected = global(&a, &b, 1, 1, |x, y| u64::from(x != y));
        prop_assert_eq!(a.len() as u64 + sum, b.len() as u64 + expected);
    }

    #[test]
    fn the_clipped_cell_has_three_substitution_costs((a, b) in strings(), seed in any::<u64>()) {
        let cell = ClippedCell;
        let sum: u64 = results(&cell, a.len(), b.len(), |i, j| cell.input(cost(seed, a[i], b[j], 3))).iter().sum();
        let expected = global(&a, &b, 1, 1, |x, y| cost(seed, x, y, 3));
        prop_assert_eq!(a.len() as u64 + sum, b.len() as u64 + expected);
    }

    #[test]
    fn the_difference_cell_takes_any_costs(
        (a, b) in strings(), seed in any::<u64>(), insertion in 0u64..40, deletion in 0u64..40,
    ) {
        let cell = DifferenceCell::new(insertion + deletion);
        let substitution = |x, y| cost(seed, x, y, 90);
        let sum: u64 = results(&cell, a.len(), b.len(), |i, j| cell.input(substitution(a[i], b[j]))).iter().sum();
        let expected = global(&a, &b, insertion, deletion, substitution);
        prop_assert_eq!(a.len() as u64 * deletion + b.len() as u64 * insertion - sum, expected);
    }

    /// What an evaluator can gain by changing its shares: no input makes a row contribute more than the largest number
    /// that fits its wires.
    #[test]
    fn a_row_counts_once_for_any_inputs(
        (rows, columns) in (1usize..9, 1usize..14), costs in 1u64..90, seed in any::<u64>(),
    ) {
        let largest_sum = |input: &dyn Fn(usize, usize) -> u64| {
            let mut best = vec![0; columns + 1];
            for i in 0..rows {
                let mut diagonal = 0;
                for j in 0..columns {
                    let used = (diagonal + input(i, j)).max(best[j]).max(best[j + 1]);
                    diagonal = std::mem::replace(&mut best[j + 1], used);
                }
            }
            best[columns]
        };
        let any_input = |max_cost: u64| move |i: usize, j: usize| cost(seed, i as u8, j as u8, max_cost);
        let cell = DifferenceCell::new(costs);
        let input = any_input((1 << cell.input_wires()) - 1);
        let sum: u64 = results(&cell, rows, columns, input).iter().sum();
        prop_assert_eq!(sum, largest_sum(&input));

        let cell = SavingCell::new(costs);
        let modulus = 1 << (cell.input_wires() + 1);
        let last = results(&cell, rows, columns, input).iter().fold(0, |sum: u64, result| {
            sum + (result + modulus - sum % modulus) % modulus
        });
        prop_assert_eq!(last, largest_sum(&input));

        let input = any_input(1);
        let sum: u64 = results(&UnitCell, rows, columns, input).iter().sum();
        // A match saves two gaps, every other substitution one.
        let saved = largest_sum(&|i, j| 1 + input(i, j));
        prop_assert_eq!(sum, 2 * columns as u64 - saved);
    }

    #[test]
    fn the_saving_cell_takes_any_costs(
        (a, b) in strings(), seed in any::<u64>(), insertion in 0u64..40, deletion in 0u64..40,
    ) {
        let cell = SavingCell::new(insertion + deletion);
        let substitution = |x, y| cost(seed, x, y, 90);
        let row = results(&cell, a.len(), b.len(), |i, j| cell.input(substitution(a[i], b[j])));
        let expected = global(&a, &b, insertion, deletion, substitution);
        let gaps = a.len() as u64 * deletion + b.len() as u64 * insertion;
        prop_assert_eq!(gaps - unwrap(&cell, &row), expected);
    }

    #[test]
    fn padding_changes_no_result((a, b) in strings(), more in (0usize..5, 0usize..5)) {
        let (m, n) = (a.len(), b.len());
        let cell = DifferenceCell::new(5);
        let substitution = |x, y| cost(3, x, y, 6);
        let input = |i: usize, j: usize| if i < m && j < n { cell.input(substitution(a[i], b[j])) } else { 0 };
        let sum: u64 = results(&cell, m + more.0, n + more.1, input).iter().sum();
        prop_assert_eq!(m as u64 * 3 + n as u64 * 2 - sum, global(&a, &b, 2, 3, substitution));

        let cell = SavingCell::new(5);
        let row = results(&cell, m + more.0, n + more.1, input);
        prop_assert_eq!(m as u64 * 3 + n as u64 * 2 - unwrap(&cell, &row), global(&a, &b, 2, 3, substitution));

        let cell = ClippedCell;
        let input = |i: usize, j: usize| if i < m && j < n { cell.input(u64::from(a[i] != b[j])) } else { cell.input(2) };
        let sum: u64 = results(&cell, m + more.0, n + more.1, input).iter().sum();
        // h + 1 = C − H with C = 2, so the sum of the H is twice the padded width minus the sum of the results.
        let saved = 2 * (n + more.1) as u64 - sum;
        prop_assert_eq!((m + n) as u64 - saved, global(&a, &b, 1, 1, |x, y| u64::from(x != y)));
    }

    #[test]
    fn the_local_cell_is_smith_waterman(
        (a, b) in strings(), seed in any::<u64>(), gap in 0u64..12, best in 0u64..9, worst in 0i64..15,
    ) {
        let score = |x, y| cost(seed, x, y, best + worst.unsigned_abs()).cast_signed() - worst;
        let cell = LocalCell::new(best * a.len().min(b.len()) as u64, best, gap);
        let maxima = results(&cell, a.len(), b.len(), |i, j| cell.input(score(a[i], b[j])));
        let expected = local(&a, &b, gap.cast_signed(), score);
        prop_assert_eq!(maxima.iter().max().copied().unwrap_or(0).cast_signed(), expected);
    }
}

#[test]
fn cells_cost_the_documented_gates() {
    assert_eq!(UnitCell.and_gates(), 3);
    assert_eq!(ClippedCell.and_gates(), 5);
    for (costs, width) in [(2, 2), (3, 2), (4, 3), (300, 9)] {
        assert_eq!(DifferenceCell::new(costs).and_gates(), 6 * width - 2);
    }
    for (costs, width) in [(1, 1), (15, 4), (16, 5), (300, 9), (448, 9), (35_000, 16)] {
        assert_eq!(SavingCell::new(costs).and_gates(), 5 * width + 2);
    }
    // At most 10·w − 2; the constants 1 and 2 save three. 100 + 2·1 takes seven bits.
    assert_eq!(LocalCell::new(100, 1, 1).and_gates(), 10 * 7 - 5);
}

//! Sweeps over matrices of all sizes, in the clear.

use super::*;
use crate::circuit::Clear;
use crate::circuit::cells::Cell;
use crate::circuit::cells::{LocalCell, UnitCell};
use crate::circuit::reduce::Number;
use crate::circuit::reduce::{maxima, sums};
use crate::error::MpcError;
use crate::wavefront::Shape;
use veilpath_channel::memory_pair;

fn value(number: &[bool]) -> usize {
    number
        .iter()
        .rev()
        .fold(0, |sum, bit| sum * 2 + usize::from(*bit))
}

fn letters(seed: usize, count: usize) -> Vec<usize> {
    (0..count)
        .map(|i| (i * i * 31 + i * seed + seed * 7) / 5 % 4)
        .collect()
}

fn sweep<K: Cell>(
    cell: &K,
    pairs: &[(Vec<usize>, Vec<usize>)],
    input: impl Fn(usize, usize) -> u64,
) -> Vec<Vec<Number<bool>>> {
    let (mut channel, _peer) = memory_pair();
    let shapes = pairs.iter().map(|(a, b)| Shape {
        rows: a.len(),
        columns: b.len(),
    });
    let geometry = Geometry::new(shapes.collect());
    let mut circuit = Clear::new();
    let mut sweep = Sweep::new(cell, &geometry, &circuit);
    for strip in 0..geometry.strips() {
        sweep.start_strip(strip, &circuit);
        for step in 0..geometry.steps(strip) {
            let inputs: Vec<bool> = geometry
                .cells(strip, step)
                .flat_map(|at| {
                    let (a, b) = &pairs[at.comparison];
                    let value = input(a[strip * STRIP_ROWS + at.row], b[at.column]);
                    (0..cell.input_wires()).map(move |bit| value >> bit & 1 == 1)
                })
                .collect();
            sweep
                .step(step, &inputs, &mut circuit, &mut channel)
                .unwrap();
        }
    }
    let cells: usize = pairs.iter().map(|(a, b)| a.len() * b.len()).sum();
    assert_eq!(circuit.and_gates(), cells * cell.and_gates());
    let swept = sweep.finish(&circuit).into_iter();
    swept.map(|swept| swept.columns).collect()
}

fn pairs() -> Vec<(Vec<usize>, Vec<usize>)> {
    let sizes = [
        (0, 4),
        (4, 0),
        (1, 1),
        (30, 17),
        (129, 40),
        (20, 200),
        (300, 260),
        (128, 3),
    ];
    let sizes = sizes.iter().enumerate();
    sizes
        .map(|(i, &(m, n))| (letters(i, m), letters(i + 50, n)))
        .collect()
}

#[test]
fn matrices_of_all_sizes_are_swept_together() {
    let (mut channel, _peer) = memory_pair();
    let results = sweep(&UnitCell, &pairs(), |x, y| UnitCell.input(x == y));
    let totals = sums(&mut Clear::new(), &mut channel, results).unwrap();
    for ((a, b), total) in pairs().iter().zip(totals) {
        let mut row: Vec<usize> = (0..=b.len()).collect();
        for (i, x) in a.iter().enumerate() {
            let mut diagonal = std::mem::replace(&mut row[0], i + 1);
            for (j, y) in b.iter().enumerate() {
                let best = (diagonal + usize::from(x != y))
                    .min(row[j] + 1)
                    .min(row[j + 1] + 1);
                diagonal = std::mem::replace(&mut row[j + 1], best);
            }
        }
        assert_eq!(a.len() + value(&total), b.len() + row[b.len()]);
    }
}

#[test]
fn the_largest_cell_is_found_in_any_strip() {
    let (mut channel, _peer) = memory_pair();
    let cell = LocalCell::new(600, 2, 3);
    let score = |x: usize, y: usize| if x == y { 2 } else { -1 };
    let results = sweep(&cell, &pairs(), |x, y| cell.input(score(x, y)));
    let totals = maxima(&mut Clear::new(), &mut channel, results).unwrap();
    for ((a, b), total) in pairs().iter().zip(totals) {
        let mut row = vec![0; b.len() + 1];
        let mut most = 0;
        for x in a {
            let mut diagonal = 0;
            for (j, y) in b.iter().enumerate() {
                let best = (diagonal + score(*x, *y))
                    .max(row[j] - 3)
                    .max(row[j + 1] - 3)
                    .max(0);
                diagonal = std::mem::replace(&mut row[j + 1], best);
                most = most.max(best);
            }
        }
        assert_eq!(i64::try_from(value(&total)), Ok(most));
    }
}

#[test]
fn a_step_with_too_few_inputs_is_refused() {
    let (mut channel, _peer) = memory_pair();
    let geometry = Geometry::new(vec![Shape {
        rows: 2,
        columns: 2,
    }]);
    let mut circuit = Clear::new();
    let mut sweep = Sweep::new(&UnitCell, &geometry, &circuit);
    let refused = sweep.step(1, &[true], &mut circuit, &mut channel);
    assert!(matches!(refused, Err(MpcError::Misuse(_))));
}

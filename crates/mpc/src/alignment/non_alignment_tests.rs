//! Metrics other than alignments, run by two parties on ideal transfers and compared with the same cells in the clear.

use super::tests::{Case, Strings, strings};
use super::*;
use crate::circuit::Clear;
use crate::circuit::cells::{Cell, FrechetCell, HausdorffCell, WarpingCell};
use crate::circuit::recurrence::{RecurrenceOutput, RecurrenceOutputs};
use crate::kernel::Kernel;
use crate::wavefront::{Geometry, STRIP_ROWS, Shape, Sweep};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use veilpath_channel::memory_pair;

/// The number of one pair in the clear; `cells/non_alignment_tests.rs` compares these with their definitions.
fn in_the_clear<K: Cell>(
    cell: &K,
    fold: Fold,
    table: &[Vec<u64>],
    a: &[usize],
    b: &[usize],
) -> u64 {
    let (mut channel, _peer) = memory_pair();
    let geometry = Geometry::new(vec![Shape {
        rows: a.len(),
        columns: b.len(),
    }]);
    let mut party = Clear::new();
    let mut sweep = Sweep::new(cell, &geometry, &party);
    for strip in 0..geometry.strips() {
        sweep.start_strip(strip, &party);
        for step in 0..geometry.steps(strip) {
            let cells = geometry.cells(strip, step);
            let inputs: Vec<bool> = cells
                .flat_map(|at| {
                    let value = table[a[strip * STRIP_ROWS + at.row]][b[at.column]];
                    (0..cell.input_wires()).map(move |bit| value >> bit & 1 == 1)
                })
                .collect();
            sweep.step(step, &inputs, &mut party, &mut channel).unwrap();
        }
    }
    let swept = sweep.finish(&party);
    let numbers = fold.run(&mut party, &mut channel, swept).unwrap();
    value_of(numbers[0].iter().copied())
}

fn check<K: Cell + Sync>(cell: &K, fold: Fold, table: &[Vec<u64>], [ours, theirs]: &[Strings; 2]) {
    let case = Case {
        cell,
        fold,
        table,
        ours,
        theirs,
    };
    let (numbers, _) = case.run((Kernel::best(), Kernel::best()), 5);
    let pairs = ours.iter().flat_map(|a| theirs.iter().map(move |b| (a, b)));
    for ((a, b), number) in pairs.zip(numbers) {
        assert_eq!(number, in_the_clear(cell, fold, table, a, b));
    }
}

#[test]
fn both_sides_learn_what_the_circuit_says() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let ours = strings(&mut rng, &[1, 7, 131, 33], 5);
    let theirs = strings(&mut rng, &[12, 150, 1], 5);
    let both = [ours, theirs];
    let distances: Vec<Vec<u64>> = (0..5)
        .map(|x: u64| (0..5).map(|y| x.abs_diff(y)).collect())
        .collect();
    let points: Vec<Vec<u64>> = (0..5)
        .map(|x| (0..5).map(|y| u64::from(x == y)).collect())
        .collect();
    check(
        &WarpingCell::new(4, 150, false),
        Fold::Last,
        &distances,
        &both,
    );
    check(&FrechetCell::new(4, false), Fold::Last, &distances, &both);
    check(&HausdorffCell::new(4, false), Fold::Max, &distances, &both);
    for (outputs, shortest) in [
        (
            &[RecurrenceOutput::Points, RecurrenceOutput::Diagonals][..],
            2,
        ),
        (
            &[
                RecurrenceOutput::Diagonals,
                RecurrenceOutput::RowsAndColumns,
            ],
            3,
        ),
        (&[RecurrenceOutput::Points, RecurrenceOutput::Centre], 2),
    ] {
        let fold = RecurrenceOutputs::new(outputs, shortest, false);
        check(&fold.cell(), Fold::Recurrence(fold), &points, &both);
    }
}

/// The counts of one long string are added in pieces.
#[test]
fn both_sides_count_the_diagonals_of_long_strings_in_the_same_order() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let [long, short] = [&[17_000][..], &[2]].map(|lengths| strings(&mut rng, lengths, 3));
    let points: Vec<Vec<u64>> = (0..3)
        .map(|x| (0..3).map(|y| u64::from(x == y)).collect())
        .collect();
    let outputs = [RecurrenceOutput::Diagonals, RecurrenceOutput::Centre];
    let fold = RecurrenceOutputs::new(&outputs, 2, false);
    for both in [[long.clone(), short.clone()], [short, long]] {
        check(&fold.cell(), Fold::Recurrence(fold), &points, &both);
    }
}

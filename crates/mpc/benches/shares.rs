//! Nanoseconds per matrix cell on shares, with both sides on threads of their own: 30 × 30 comparisons of 100 × 100 letters,
//! 48 letters. The times that Criterion prints are those of one cell.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

use criterion::{Criterion, criterion_group, criterion_main};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::{Duration, Instant};
use veilpath_channel::{MemoryChannel, memory_pair};
use veilpath_mpc::Kernel;
use veilpath_mpc::ot::correlated::TreeLevels;
use veilpath_mpc::shares::{
    Finish, LetterLists, MatrixInput, MatrixRecurrence, Outputs, Party, SharesSession,
};

const SCANPATHS: usize = 30;
const LENGTH: usize = 100;
const LETTERS: usize = 48;

/// Aligns all pairs. Returns the time without the base transfers.
fn side(
    party: Party,
    cell: MatrixRecurrence,
    tree_levels: TreeLevels,
    mut channel: MemoryChannel,
) -> Duration {
    let mut rng = ChaCha20Rng::seed_from_u64(party as u64);
    let mut session =
        SharesSession::start(party, tree_levels, Kernel::best(), &mut rng, &mut channel).unwrap();
    let start = Instant::now();
    let range = |scanpath: usize| scanpath * LENGTH..(scanpath + 1) * LENGTH;
    let pairs = (0..SCANPATHS * SCANPATHS).map(|pair| (pair / SCANPATHS, pair % SCANPATHS));
    let comparisons: Vec<MatrixInput> = pairs
        .map(|(host, join)| MatrixInput {
            rows: range(host),
            columns: range(join),
            term: 0,
            at_least: 0,
        })
        .collect();
    let own: Vec<usize> = (0..SCANPATHS * LENGTH)
        .map(|at| at * at / 7 % LETTERS)
        .collect();
    let lists = LetterLists {
        own: &own,
        own_lengths: &[LENGTH; SCANPATHS],
        their_lengths: &[LENGTH; SCANPATHS],
        cells: (SCANPATHS * LENGTH).pow(2) as u64,
        tree_owner: Party::Host,
    };
    let entry = |x: usize, y: usize| match cell {
        MatrixRecurrence::Unit => u64::from(x == y),
        _ => 448u64.saturating_sub(64 * x.abs_diff(y) as u64),
    };
    let entry_bits = cell.entry_bits();
    let letters = session
        .letters(lists, LETTERS, entry_bits, entry, &mut channel)
        .unwrap();
    let finish = Finish {
        subtract: false,
        doubled: false,
        term_bits: 0,
        outputs: Outputs::Numbers,
    };
    session
        .align(cell, &letters, &comparisons, finish, &mut channel, &|_| ())
        .unwrap();
    start.elapsed()
}

fn cells(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("shares");
    group.sample_size(10);
    let difference = MatrixRecurrence::Difference {
        insertion_and_deletion: 448,
    };
    for (name, cell) in [
        ("unit costs", MatrixRecurrence::Unit),
        ("nine bits", difference),
    ] {
        for (k, tree_levels) in [("k=4", TreeLevels::FOUR), ("k=8", TreeLevels::EIGHT)] {
            group.bench_function(format!("{name}, {k}"), |bencher| {
                bencher.iter_custom(|rounds| {
                    let rounds = rounds as u32;
                    let run = |_| {
                        let (left, right) = memory_pair();
                        std::thread::scope(|scope| {
                            let host =
                                scope.spawn(move || side(Party::Host, cell, tree_levels, left));
                            let join = side(Party::Join, cell, tree_levels, right);
                            join.max(host.join().unwrap())
                        })
                    };
                    (0..rounds).map(run).sum::<Duration>() / (SCANPATHS * LENGTH).pow(2) as u32
                });
            });
        }
    }
    group.finish();
}

criterion_group!(benches, cells);
criterion_main!(benches);

//! The cost of the transfer check, compared with the total work of comparisons by garbled circuits:
//! `cargo test --release -p veilpath-mpc --lib -- --ignored --nocapture the_check_adds`

use super::check::{Sums, Transcript};
use super::messages::{PROOF_BYTES, chunks, corrections_bytes, transfer_bytes};
use super::{MAX_BATCH, TreeLevels};
use crate::alignment::{
    EvaluatorComparison, EvaluatorSession, Fold, GarblerComparison, GarblerSession,
};
use crate::block::Block;
use crate::circuit::cells::{Cell, SavingCell, UnitCell};
use crate::kernel::Kernel;
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng;
use std::time::{Duration, Instant};
use veilpath_channel::memory_pair;

const COMPARISONS: usize = 100;
const LENGTH: usize = 100;
const ALPHABET: usize = 52;

/// The most that the check may add to the time of a session over TLS, in percent.
const MAX_OVERHEAD_PERCENT: f64 = 3.0;

/// A cell of a session over TLS takes at least this many times as long as one here, where nothing is encrypted: compare
/// `veilpath bench cell --engine garbled`.
const TLS_FACTOR: f64 = 1.4;

/// The CPU time of this thread, or the wall-clock time where the system does not report it. Waiting for the other side
/// does not count.
fn cpu_time(start: Instant) -> Duration {
    // The kernel updates the number only when the scheduler runs.
    std::thread::yield_now();
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat");
    let nanoseconds = statistics
        .ok()
        .and_then(|it| it.split(' ').next()?.parse().ok());
    nanoseconds.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// The CPU time of both sides for comparisons with unit costs, without the start of a session.
fn comparisons() -> Duration {
    let start = Instant::now();
    let (mut left, mut right) = memory_pair();
    let row: Vec<u64> = (0..ALPHABET)
        .map(|letter| UnitCell.input(letter == 3))
        .collect();
    std::thread::scope(|scope| {
        let garbler = scope.spawn(|| {
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let mut session = GarblerSession::start(Kernel::best(), &mut rng, &mut left).unwrap();
            let letters = session.letters(ALPHABET, LENGTH, &mut left).unwrap();
            let comparisons: Vec<_> = (0..COMPARISONS)
                .map(|_| GarblerComparison {
                    rows: vec![&row[..]; LENGTH],
                    columns: 0..LENGTH,
                })
                .collect();
            let channel = &mut left;
            let before = cpu_time(start);
            let numbers = session.align(
                &UnitCell,
                Fold::Sum,
                &letters,
                &comparisons,
                channel,
                &|_| (),
            );
            session.reveal_to_peer(&numbers.unwrap(), channel).unwrap();
            cpu_time(start).saturating_sub(before)
        });
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        let mut session = EvaluatorSession::start(Kernel::best(), &mut rng, &mut right).unwrap();
        let letters = session.letters(ALPHABET, &[3; LENGTH], &mut right).unwrap();
        let comparison = EvaluatorComparison {
            rows: LENGTH,
            columns: 0..LENGTH,
        };
        let comparisons = vec![comparison; COMPARISONS];
        let channel = &mut right;
        let before = cpu_time(start);
        let numbers = session.align(
            &UnitCell,
            Fold::Sum,
            &letters,
            &comparisons,
            channel,
            &|_| (),
        );
        session.decode(&numbers.unwrap(), channel).unwrap();
        let evaluator = cpu_time(start).saturating_sub(before);
        evaluator + garbler.join().unwrap()
    })
}

/// The time for one side to check this many transfers. It is the same for both, except for one sum in 129.
fn check(transfers: usize) -> Duration {
    let kernel = Kernel::best();
    let mut transcript = Transcript::new(kernel, &[1; 32], &[]);
    let widths: Vec<usize> = chunks(MAX_BATCH / 128 + 1).collect();
    let widest = widths.iter().copied().max().unwrap_or(0);
    let corrections = vec![2; corrections_bytes(widest, TreeLevels::default())];
    let (rows, choices) = (
        vec![Block::new(3); 128 * widest],
        vec![Block::new(4); widest],
    );
    let start = Instant::now();
    let before = cpu_time(start);
    for _ in 0..transfers.div_ceil(MAX_BATCH) {
        let mut sums = Sums::new(kernel);
        for &width in &widths {
            let bytes = corrections_bytes(width, TreeLevels::default());
            transcript.absorb(b"chunk", &corrections[..bytes]);
            sums.add(&transcript, &rows[..128 * width], &choices[..width]);
        }
        let proof = sums.proof(&transcript);
        transcript.absorb(b"proof", &proof);
    }
    cpu_time(start).saturating_sub(before)
}

/// The shortest of several times, which is the one least disturbed by other processes.
fn best(time: impl Fn() -> Duration) -> Duration {
    (0..9).map(|_| time()).min().unwrap_or_default()
}

#[test]
#[ignore = "measures time; .ci/full runs it"]
fn the_check_adds_little_to_the_time_of_a_comparison() {
    let transfers = COMPARISONS * LENGTH * LENGTH * UnitCell.input_wires();
    // Each side checks.
    let (with, check) = (best(comparisons), 2 * best(|| check(transfers)));
    let more = 100.0 * check.as_secs_f64() / (TLS_FACTOR * (with - check).as_secs_f64());
    println!(
        "{transfers} transfers: {with:.1?} of CPU time of both sides, of which {check:.1?} are the check; over TLS, {more:.1} % more"
    );
    assert!(
        cfg!(debug_assertions) || more <= MAX_OVERHEAD_PERCENT,
        "{more:.1} %"
    );
}

/// The most that the check may add to the traffic, in bytes per matrix cell.
const MAX_BYTES_PER_CELL: f64 = 0.3;

/// For the smallest circuit and for ScanMatch with the costs of its standard settings, at 100 × 100 letters.
#[test]
fn the_check_adds_few_bytes_to_a_cell() {
    let cells = COMPARISONS * LENGTH * LENGTH;
    for (name, wires) in [
        ("unit costs", UnitCell.input_wires()),
        ("ScanMatch", SavingCell::new(1 << 11).input_wires()),
    ] {
        let transfers = cells * wires;
        for tree_levels in [TreeLevels::FOUR, TreeLevels::EIGHT] {
            // What transfers take without their check.
            let blocks: usize = (0..transfers.div_ceil(MAX_BATCH))
                .map(|batch| (transfers - batch * MAX_BATCH).min(MAX_BATCH).div_ceil(128))
                .sum();
            let unchecked = transfers.div_ceil(8) + corrections_bytes(blocks, tree_levels);
            let added = transfer_bytes(transfers, tree_levels) - unchecked;
            assert!(
                added >= transfers.div_ceil(MAX_BATCH) * PROOF_BYTES,
                "{name}"
            );
            let per_cell = added as f64 / cells as f64;
            assert!(
                per_cell <= MAX_BYTES_PER_CELL,
                "{name}: {per_cell:.3} bytes"
            );
        }
    }
}

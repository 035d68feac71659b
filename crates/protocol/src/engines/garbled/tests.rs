//! Runs both sides in one process: scores against the plain comparison, what either side sees, and what happens if the other
//! side does not follow the protocol.

mod bits;
mod channels;
mod hostile;
mod impossible;
mod lengths;
mod non_alignment;
mod outputs;
mod scores;
mod stages;
mod views;

use super::Partitioning;
use super::evaluator::join_with;
use super::garbler::host_with;
use super::schedule::{PortionLimits, Schedule};
use crate::engines::tests::{LETTERS, cohort, metrics};
use crate::{Answer, Engine, Job, Observer, PairRule, ProtocolError, Role, Spec, pairs_of};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::sync::Mutex;
use veilpath_channel::{Channel, memory_pair};
use veilpath_metrics::{Cohort, Comparison, Metric, Scanpath};

/// One worker thread, as on a small machine.
fn one_thread() -> Partitioning {
    Partitioning {
        threads: 1,
        limits: PortionLimits::default(),
    }
}

/// Several worker threads and small pieces, so that a small job has many stages and portions.
fn in_pieces(threads: usize) -> Partitioning {
    Partitioning {
        threads,
        limits: PortionLimits {
            portion_gates: 30_000,
            min_gates: 2_000,
            portion_pairs: 60,
            letters: 150,
        },
    }
}

fn spec(metric: &Metric, a: &Cohort, b: &Cohort) -> Spec {
    Spec::new(Engine::Garbled, metric.clone(), PairRule::All, a, b).unwrap()
}

/// Scanpaths of random lengths in this range.
fn random_cohort(count: usize, lengths: std::ops::Range<usize>, seed: u64) -> Cohort {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let letters = u16::try_from(LETTERS).unwrap();
    let scanpaths: Vec<Vec<u16>> = (0..count)
        .map(|_| {
            let length = rng.random_range(lengths.clone());
            (0..length).map(|_| rng.random_range(0..letters)).collect()
        })
        .collect();
    cohort(&scanpaths)
}

fn scanpaths(cohort: &Cohort) -> Vec<&Scanpath> {
    cohort.entries.iter().map(|entry| &entry.scanpath).collect()
}

/// Records the progress of a run.
#[derive(Default)]
struct ProgressRecorder {
    cells: Mutex<u64>,
    scored: Mutex<Vec<(usize, Answer)>>,
}

impl Observer for ProgressRecorder {
    fn cells(&self, finished: u64) {
        *self.cells.lock().unwrap() += finished;
    }

    fn scored(&self, pair: usize, answer: Answer) {
        self.scored.lock().unwrap().push((pair, answer));
    }
}

/// The results of both sides.
struct BothResults {
    host: Result<Vec<Answer>, ProtocolError>,
    join: Result<Vec<Answer>, ProtocolError>,
    host_progress: ProgressRecorder,
    join_progress: ProgressRecorder,
}

/// Runs both sides over two ends of a channel.
fn run_over<C: Channel + Send>(
    spec: &Spec,
    (a, b): (&Cohort, &Cohort),
    (host_partitioning, join_partitioning): (Partitioning, Partitioning),
    (mut host_end, mut join_end): (C, C),
    seed: u64,
) -> (BothResults, [C; 2]) {
    let pairs = pairs_of(spec.pair_rule, a, b);
    let (first, second) = (scanpaths(a), scanpaths(b));
    let host_job = Job::new(spec, Role::Host, &first, second.len(), &pairs).unwrap();
    let join_job = Job::new(spec, Role::Join, &second, first.len(), &pairs).unwrap();
    let (host_progress, join_progress) = (ProgressRecorder::default(), ProgressRecorder::default());
    let (host, join) = std::thread::scope(|scope| {
        let watch = &join_progress;
        let end = &mut join_end;
        let join = scope.spawn(move || {
            let mut rng = ChaCha20Rng::seed_from_u64(seed + 1);
            join_with(&join_job, end, watch, join_partitioning, &mut rng)
        });
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let host = host_with(
            &host_job,
            &mut host_end,
            &host_progress,
            host_partitioning,
            &mut rng,
        );
        (host, join.join().unwrap())
    });
    let ends = BothResults {
        host,
        join,
        host_progress,
        join_progress,
    };
    (ends, [host_end, join_end])
}

/// Runs both sides over a channel in memory.
fn run(
    spec: &Spec,
    a: &Cohort,
    b: &Cohort,
    partitionings: (Partitioning, Partitioning),
    seed: u64,
) -> BothResults {
    run_over(spec, (a, b), partitionings, memory_pair(), seed).0
}

/// The expected scores, from the integers of the plain comparison.
fn expected(metric: &Metric, a: &Cohort, b: &Cohort) -> Vec<Answer> {
    let comparison = Comparison::new(metric.clone(), a.alphabet).unwrap();
    pairs_of(PairRule::All, a, b)
        .iter()
        .map(|&(i, j)| {
            let (x, y) = (&a.entries[i].scanpath, &b.entries[j].scanpath);
            let raw = comparison.raw(x, y).unwrap();
            Answer::Score(comparison.read(raw, x.len(), y.len()).unwrap())
        })
        .collect()
}

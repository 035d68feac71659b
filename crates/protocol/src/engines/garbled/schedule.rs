//! Divides the pairs into portions. Both sides compute the same schedule from the lengths.

use super::Partitioning;
use super::hello::negotiate;
use super::memory::{MAX_PAIR_BYTES, StateBytes};
use crate::engines::alignment::answers::{AnswerCollector, OpenedAnswer, decode};
use crate::engines::alignment::private_metric::{
    Circuit, MAX_LOOKUP_LENGTH, MaxLengths, PrivateMetric,
};
use crate::engines::opening::open;
use crate::{Job, JobError, Misbehaviour, Observer, ProtocolError, Role};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use veilpath_channel::Channel;

/// Limits on the pieces of a run. Both sides must use the same ones; tests use small ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct PortionLimits {
    /// AND gates after which the scores so far are revealed.
    pub(super) portion_gates: u64,
    /// The fewest AND gates that are worth a separate portion, if several worker threads share the run.
    pub(super) min_gates: u64,
    /// Pairs of any length after which the scores so far are revealed.
    pub(super) portion_pairs: usize,
    /// How many of the evaluator's letters have keys at the same time. Each takes a few hundred bytes.
    pub(super) letters: u64,
}

impl Default for PortionLimits {
    /// A portion is about 64 megabytes of tables: a tenth of a second on a fast connection, which is long compared with
    /// a round trip.
    fn default() -> Self {
        Self {
            portion_gates: 2 << 20,
            min_gates: 1 << 18,
            portion_pairs: PORTION_PAIRS,
            letters: 1 << 18,
        }
    }
}

/// The largest number of pairs in a portion.
pub(super) const PORTION_PAIRS: usize = 4096;

/// The schedule of a run, equal on both sides.
pub(super) struct Schedule {
    pub(super) scoring: PrivateMetric,
    host_lengths: Vec<u32>,
    join_lengths: Vec<u32>,
    /// The pairs whose results do not follow from the lengths, in the agreed order.
    pending: Vec<usize>,
    /// Each stage covers some of the evaluator's scanpaths and the portions that need only those.
    pub(super) stages: Vec<Stage>,
}

/// Portions that share the keys of the evaluator's letters.
pub(super) struct Stage {
    /// The evaluator's scanpaths, and the position of their letters in the stage.
    pub(super) columns: Vec<(usize, Range<usize>)>,
    pub(super) portions: Vec<Portion>,
}

/// Pairs that are compared together. Their scores are revealed before the same thread starts its next portion.
pub(super) struct Portion {
    /// A range of [`Schedule::pending`].
    range: Range<usize>,
    pub(super) circuit: Circuit,
}

/// A comparison in a portion.
pub(super) struct ScheduledPair {
    pub(super) pair: usize,
    pub(super) host: usize,
    pub(super) join: usize,
    pub(super) rows: u32,
    pub(super) columns: Range<usize>,
}

impl Schedule {
    /// Exchanges the first messages. Returns the number of worker threads that both sides use, and the schedule.
    pub(super) fn negotiate(
        job: &Job<'_>,
        channel: &mut dyn Channel,
        partitioning: Partitioning,
    ) -> Result<(usize, Self), ProtocolError> {
        let negotiated = negotiate(job, channel, partitioning.threads)?;
        let threads = negotiated.threads;
        let (own, theirs) = (negotiated.own, negotiated.theirs);
        let schedule = Self::new(job, own, theirs, threads, partitioning.limits)?;
        Ok((threads, schedule))
    }

    /// A collector that starts with the answers that follow from the lengths.
    pub(super) fn collector<'o>(
        &self,
        job: &Job<'_>,
        observer: &'o dyn Observer,
    ) -> Result<AnswerCollector<'o>, ProtocolError> {
        let lengths = |pair| self.lengths(job, pair);
        AnswerCollector::new(job, &self.scoring, lengths, observer)
    }

    /// The schedule for scanpaths of these lengths (the padded lengths if they are hidden).
    pub(super) fn new(
        job: &Job<'_>,
        own: Vec<u32>,
        theirs: Vec<u32>,
        threads: usize,
        limits: PortionLimits,
    ) -> Result<Self, ProtocolError> {
        if own.iter().any(|&length| length > MAX_LOOKUP_LENGTH) {
            return Err(ProtocolError::Job(JobError::ScanpathTooLong));
        }
        if theirs.iter().any(|&length| length > MAX_LOOKUP_LENGTH) {
            return Err(ProtocolError::PeerMisbehaved(Misbehaviour::ScanpathTooLong));
        }
        let (host_lengths, join_lengths) = match job.role {
            Role::Host => (own, theirs),
            Role::Join => (theirs, own),
        };
        let scoring = PrivateMetric::of(job);
        let mut schedule = Self {
            scoring,
            host_lengths,
            join_lengths,
            pending: Vec::new(),
            stages: Vec::new(),
        };
        schedule.pending = (0..job.pairs.len())
            .filter(|&pair| {
                let (rows, columns) = schedule.lengths(job, pair);
                !schedule.scoring.follows_from_lengths(rows, columns)
            })
            .collect();
        for &pair in &schedule.pending {
            let (host, join) = schedule.lengths(job, pair);
            let checked = schedule.scoring.check_output(host, join);
            checked.map_err(ProtocolError::Job)?;
        }
        if schedule.pair_bytes(job) > MAX_PAIR_BYTES {
            return Err(ProtocolError::Job(JobError::TooMuchMemory));
        }
        schedule.stages = schedule.stages(job, threads, limits);
        Ok(schedule)
    }

    /// An estimate of the memory for a pair of the longest scanpaths.
    fn pair_bytes(&self, job: &Job<'_>) -> u64 {
        let longest = |side: fn(&(u32, u32)) -> u32| {
            let lengths = self.pending.iter().map(|&pair| self.lengths(job, pair));
            lengths.map(|pair| side(&pair)).max().unwrap_or(0).into()
        };
        let (rows, columns) = (longest(|pair| pair.0), longest(|pair| pair.1));
        let circuit = self.scoring.circuit(self.max_lengths(job));
        let bytes = StateBytes::new(&self.scoring, &circuit, rows, columns);
        bytes.of_pair(rows, columns)
    }

    /// The lengths of a pair.
    pub(super) fn lengths(&self, job: &Job<'_>, pair: usize) -> (u32, u32) {
        let (host, join) = job.pairs[pair];
        (self.host_lengths[host], self.join_lengths[join])
    }

    fn portions(&self, job: &Job<'_>, threads: usize, limits: PortionLimits) -> Vec<Portion> {
        let gates = self.scoring.circuit(self.max_lengths(job)).and_gates();
        let gates_of = |pair: usize| {
            let (rows, columns) = self.lengths(job, pair);
            // A matrix without cells takes memory, too.
            (u64::from(rows.max(1)) * u64::from(columns.max(1))).saturating_mul(gates)
        };
        let all = self.pending.iter().map(|&pair| gates_of(pair));
        let all = all.fold(0, u64::saturating_add);
        // Several threads get several portions each, so that they finish at about the same time.
        let max_gates = match threads {
            1 => limits.portion_gates,
            threads => (all / (4 * threads as u64)).clamp(limits.min_gates, limits.portion_gates),
        };
        let mut portions = Vec::new();
        let (mut first, mut sum, mut max_lengths) = (0, 0u64, MaxLengths::default());
        for (index, &pair) in self.pending.iter().enumerate() {
            sum = sum.saturating_add(gates_of(pair));
            max_lengths = max_lengths.max(self.pair_lengths(job, pair));
            let next = index + 1;
            if sum >= max_gates
                || next - first == limits.portion_pairs
                || next == self.pending.len()
            {
                portions.push(Portion {
                    range: first..next,
                    circuit: self.scoring.circuit(max_lengths),
                });
                (first, sum, max_lengths) = (next, 0, MaxLengths::default());
            }
        }
        portions
    }

    fn pair_lengths(&self, job: &Job<'_>, pair: usize) -> MaxLengths {
        let (rows, columns) = self.lengths(job, pair);
        MaxLengths::of(rows, columns)
    }

    /// The largest lengths among all pairs.
    fn max_lengths(&self, job: &Job<'_>) -> MaxLengths {
        let pairs = self.pending.iter();
        pairs
            .map(|&pair| self.pair_lengths(job, pair))
            .fold(MaxLengths::default(), MaxLengths::max)
    }

    fn stages(&self, job: &Job<'_>, threads: usize, limits: PortionLimits) -> Vec<Stage> {
        let mut stages: Vec<Stage> = Vec::new();
        let mut in_stage: HashSet<usize> = HashSet::new();
        let mut letters = 0u64;
        for portion in self.portions(job, threads, limits) {
            let mut new: Vec<usize> = self.pending[portion.range.clone()]
                .iter()
                .map(|&pair| job.pairs[pair].1)
                .collect();
            new.sort_unstable();
            new.dedup();
            let sum = |join_scanpaths: &[usize]| -> u64 {
                join_scanpaths
                    .iter()
                    .map(|&join| u64::from(self.join_lengths[join]))
                    .sum()
            };
            let missing: Vec<usize> = new
                .iter()
                .copied()
                .filter(|join| !in_stage.contains(join))
                .collect();
            let more = sum(&missing);
            let add = match stages.last_mut() {
                Some(stage) if letters + more <= limits.letters => {
                    letters += more;
                    stage.portions.push(portion);
                    missing
                }
                _ => {
                    in_stage.clear();
                    letters = sum(&new);
                    stages.push(Stage {
                        columns: Vec::new(),
                        portions: vec![portion],
                    });
                    new
                }
            };
            if let Some(stage) = stages.last_mut() {
                for join in add {
                    in_stage.insert(join);
                    let start = stage.letters();
                    let end = start + self.join_lengths[join] as usize;
                    stage.columns.push((join, start..end));
                }
            }
        }
        stages
    }

    /// The comparisons of a portion.
    fn pairs<'a>(
        &'a self,
        job: &'a Job<'_>,
        columns: &'a HashMap<usize, Range<usize>>,
        portion: &Portion,
    ) -> impl Iterator<Item = ScheduledPair> + 'a {
        self.pending[portion.range.clone()]
            .iter()
            .map(move |&pair| {
                let (host, join) = job.pairs[pair];
                ScheduledPair {
                    pair,
                    host,
                    join,
                    rows: self.host_lengths[host],
                    columns: columns.get(&join).cloned().unwrap_or_default(),
                }
            })
    }

    /// Starts a portion and returns its comparisons. The next messages depend on their letters.
    pub(super) fn start(
        &self,
        job: &Job<'_>,
        columns: &HashMap<usize, Range<usize>>,
        portion: &Portion,
    ) -> Result<Vec<ScheduledPair>, ProtocolError> {
        job.store.start(&self.pending[portion.range.clone()])?;
        Ok(self.pairs(job, columns, portion).collect())
    }

    /// Opens the outputs of a portion to the sides that may learn them. Returns what this side learns.
    pub(super) fn open(
        &self,
        job: &Job<'_>,
        pairs: &[ScheduledPair],
        halves: &[u64],
        channel: &mut dyn Channel,
    ) -> Result<Vec<OpenedAnswer>, ProtocolError> {
        let pairs: Vec<usize> = pairs.iter().map(|pair| pair.pair).collect();
        let outputs = open(job, &pairs, halves, channel)?;
        let decode = |(pair, output): (usize, u64)| {
            let lengths = self.lengths(job, pair);
            let answer = decode(&self.scoring, job, lengths, output)?;
            Ok(OpenedAnswer { pair, answer })
        };
        pairs.into_iter().zip(outputs).map(decode).collect()
    }
}

impl Stage {
    /// The total number of letters.
    pub(super) fn letters(&self) -> usize {
        self.columns.last().map_or(0, |(_, range)| range.end)
    }

    /// Where each of the evaluator's scanpaths has its letters.
    pub(super) fn column_ranges(&self) -> HashMap<usize, Range<usize>> {
        self.columns.iter().cloned().collect()
    }
}

//! The engines: different ways to compute the same scores, which differ in what they reveal.

pub(crate) mod alignment;
pub mod garbled;
pub(crate) mod lengths;
mod opening;
pub mod paillier;
pub mod plain;
pub(crate) mod shares;
#[cfg(test)]
pub(crate) mod tests;

use crate::{
    Answer, CancelToken, Estimate, JobError, Link, Misbehaviour, PairStore, ProtocolError, Reveal,
    RevealTo, Revealed, Spec, TreeLevels, Workload,
};
pub use opening::{receive_halves, send_halves};
use paillier::PaillierOptions;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use veilpath_channel::Channel;
use veilpath_metrics::{Comparison, DurationDivisor, Metric, PairScore, PathDivisor, Scanpath};
use veilpath_paillier::SecretKey;

/// Which engine computes the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// In the clear: no protection at all.
    Plain,
    /// The paper's protocol over Paillier encryption.
    Paillier(PaillierOptions),
    /// Garbled circuits.
    Garbled,
    /// Secret sharing over correlated transfers.
    Shares,
}

/// The role of a party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The host: rows of the alignment matrix, and the first column of results.
    Host,
    /// The joining side: columns of the matrix.
    Join,
}

impl Role {
    /// The other role.
    pub fn other(self) -> Self {
        match self {
            Role::Host => Role::Join,
            Role::Join => Role::Host,
        }
    }
}

/// Receives the progress of a run, possibly from several threads at once. All methods are optional.
pub trait Observer: Sync {
    /// Both sides have started. Until then, one side waited for the other.
    fn started(&self) {}

    /// This many more matrix cells are done.
    fn cells(&self, finished: u64) {
        let _ = finished;
    }

    /// This side knows the answer for a pair (an index into the agreed list).
    fn scored(&self, pair: usize, answer: Answer) {
        let _ = (pair, answer);
    }

    /// Cancels the run. Only the `plain` engine checks it; the others stop when their channel closes.
    fn cancel_token(&self) -> CancelToken {
        CancelToken::default()
    }

    /// Does a piece of this side's work, on the calling thread. An observer with a clock may time it; it must do the
    /// work exactly once.
    fn work(&self, work: &mut dyn FnMut()) {
        work();
    }
}

/// Ignores everything.
impl Observer for () {}

/// One side's part of a comparison.
pub struct Job<'a> {
    pub(crate) comparison: Comparison,
    pub(crate) role: Role,
    pub(crate) own: &'a [&'a Scanpath],
    pub(crate) peer_count: usize,
    pub(crate) pairs: &'a [(usize, usize)],
    pub(crate) key: Option<Arc<SecretKey>>,
    /// The depth of the `shares` engine's seed trees.
    pub(crate) tree_levels: TreeLevels,
    pub(crate) reveal: Reveal,
    pub(crate) reveal_to: RevealTo,
    /// The length to which every scanpath of both sides is padded.
    pub(crate) pad_to: Option<usize>,
    pub(crate) peer_lengths: Option<&'a [usize]>,
    pub(crate) store: &'a dyn PairStore,
}

impl<'a> Job<'a> {
    /// `own` has this side's scanpaths and `peer_count` is the number of the other side's. Each of `pairs` has the
    /// index of a host's scanpath, then of a joining side's.
    pub fn new(
        spec: &Spec,
        role: Role,
        own: &'a [&'a Scanpath],
        peer_count: usize,
        pairs: &'a [(usize, usize)],
    ) -> Result<Self, ProtocolError> {
        let (host_scanpaths, join_scanpaths) = match role {
            Role::Host => (own.len(), peer_count),
            Role::Join => (peer_count, own.len()),
        };
        if pairs
            .iter()
            .any(|&(i, j)| i >= host_scanpaths || j >= join_scanpaths)
        {
            return Err(ProtocolError::Job(JobError::UnknownScanpath));
        }
        spec.check()?;
        if spec.metric.needs_fixations() {
            return Err(ProtocolError::Job(JobError::NeedsFixations {
                metric: spec.metric.name(),
            }));
        }
        let pad_to = spec.pad_to.map(|length| length as usize);
        if pad_to.is_some_and(|length| own.iter().any(|scanpath| scanpath.len() > length)) {
            return Err(ProtocolError::Job(JobError::LongerThanPadding {
                pad_to: pad_to.unwrap_or_default(),
            }));
        }
        Ok(Self {
            comparison: Comparison::new(spec.metric.clone(), spec.alphabet)?,
            role,
            own,
            peer_count,
            pairs,
            key: None,
            tree_levels: TreeLevels::default(),
            reveal: spec.reveal,
            reveal_to: spec.reveal_to,
            pad_to,
            peer_lengths: None,
            store: &(),
        })
    }

    /// Uses the host's own key, of the agreed size, instead of a new one for this run.
    #[must_use]
    pub fn with_key(mut self, key: Arc<SecretKey>) -> Self {
        self.key = Some(key);
        self
    }

    /// Uses seed trees of this depth, if the engine is `shares`. Both sides must use the same.
    #[must_use]
    pub fn with_tree_levels(mut self, levels: TreeLevels) -> Self {
        self.tree_levels = levels;
        self
    }

    /// Consults this store before sending anything about a pair.
    #[must_use]
    pub fn with_store(mut self, store: &'a dyn PairStore) -> Self {
        self.store = store;
        self
    }

    /// Whether a side learns anything about single pairs.
    pub(crate) fn learns_pairs(&self, role: Role) -> bool {
        self.reveal.group_question().is_none() && self.reveal_to.includes(role)
    }

    /// The part of a pair's score that is revealed.
    pub(crate) fn answer(&self, pair_score: PairScore) -> Answer {
        self.reveal.answer(self.comparison.metric(), pair_score)
    }

    /// Sets the lengths that the other side announced for its scanpaths (the padded length if lengths are hidden). An
    /// engine that learns the true lengths checks them.
    pub fn with_peer_lengths(mut self, lengths: &'a [usize]) -> Result<Self, ProtocolError> {
        if lengths.len() != self.peer_count {
            return Err(ProtocolError::Job(JobError::LengthCount {
                lengths: lengths.len(),
                scanpaths: self.peer_count,
            }));
        }
        let hidden = |padding: usize| lengths.iter().all(|&length| length == padding);
        if !self.pad_to.is_none_or(hidden) {
            return Err(ProtocolError::Job(JobError::LengthNotHidden));
        }
        self.peer_lengths = Some(lengths);
        Ok(self)
    }

    /// Checks the length of one of the other side's scanpaths against the announced one, if there is one.
    pub(crate) fn check_announced_length(
        &self,
        scanpath: usize,
        length: usize,
    ) -> Result<(), ProtocolError> {
        let announced = self.peer_lengths.and_then(|lengths| lengths.get(scanpath));
        if announced.is_some_and(|&announced| announced != length) {
            return Err(ProtocolError::PeerMisbehaved(Misbehaviour::LengthDiffers));
        }
        Ok(())
    }
}

impl std::fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("comparison", &self.comparison)
            .field("role", &self.role)
            .field("pairs", &self.pairs.len())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// All engines with their default options, least private first.
    pub const ALL: [Engine; 4] = [
        Engine::Plain,
        Engine::Paillier(PaillierOptions::DEFAULT),
        Engine::Shares,
        Engine::Garbled,
    ];

    /// The name in options and results.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Plain => "plain",
            Engine::Paillier(_) => "paillier",
            Engine::Garbled => "garbled",
            Engine::Shares => "shares",
        }
    }

    /// Runs one side. A side that may learn the results gets the answers for all pairs, in the agreed order, and its
    /// observer gets each answer as soon as it is known. A side that may not learn them gets an empty list.
    pub fn run(
        self,
        job: &Job<'_>,
        channel: &mut dyn Channel,
        observer: &dyn Observer,
    ) -> Result<Vec<Answer>, ProtocolError> {
        let scores =
            |pair_scores: Vec<PairScore>| pair_scores.into_iter().map(Answer::Score).collect();
        match (self, job.role) {
            (Engine::Plain, Role::Host) => plain::host(job, channel, observer),
            (Engine::Plain, Role::Join) => plain::join(job, channel, observer),
            (Engine::Paillier(options), Role::Host) => {
                paillier::host(job, options, channel, observer).map(scores)
            }
            (Engine::Paillier(options), Role::Join) => {
                paillier::join(job, options, channel, observer).map(scores)
            }
            (Engine::Garbled, Role::Host) => garbled::host(job, channel, observer),
            (Engine::Garbled, Role::Join) => garbled::join(job, channel, observer),
            (Engine::Shares, _) => shares::run(job, channel, observer),
        }
    }

    /// Whether the output of a pair is split into two halves (see [`PairStore`]) and opened by a separate message, which
    /// can be sent again without repeating the computation. Other engines reveal results while they compute.
    pub fn opens_outputs_by_halves(self) -> bool {
        matches!(self, Engine::Garbled | Engine::Shares)
    }

    /// Whether results can stay secret-shared between the sides instead of being revealed, as group answers require.
    pub fn supports_secret_shared_results(self) -> bool {
        !matches!(self, Engine::Plain)
    }

    /// Whether a cheating partner can get an answer about any scanpath of the side with this role, whichever pair is
    /// compared.
    pub fn exposes_any_scanpath(self, role: Role) -> bool {
        matches!(self, Engine::Paillier(_)) && role == Role::Host
    }

    /// The answers for outputs, with an engine that opens them by halves; `None` where an output is not a possible result.
    /// The job must know the lengths of the other side's scanpaths.
    pub fn decode(
        self,
        job: &Job<'_>,
        outputs: &[(usize, u64)],
    ) -> Result<Vec<Option<Answer>>, ProtocolError> {
        match self {
            Engine::Garbled | Engine::Shares => garbled::decode_all(job, outputs),
            Engine::Plain | Engine::Paillier(_) => {
                Err(ProtocolError::Internal("the engine has no halves"))
            }
        }
    }

    /// What each side learns, in words for users.
    pub fn revealed(self, spec: &Spec) -> Vec<Revealed> {
        let mut revealed = match self {
            Engine::Plain => plain::revealed(spec),
            Engine::Paillier(options) => paillier::revealed(options, spec),
            Engine::Garbled | Engine::Shares => garbled::revealed(spec),
        };
        let mut more = Vec::new();
        if let Some(question) = spec.reveal.group_question() {
            let sides = question.sides_with_groups().into_iter();
            let sides = sides.zip([
                (RevealTo::Join, "the host"),
                (RevealTo::Host, "the joining side"),
            ]);
            for (_, (to, side)) in sides.filter(|(learns, _)| *learns) {
                let what = match question.publishes_groups() {
                    true => format!("which group each participant of {side} belongs to"),
                    false => format!("names and sizes of the groups of {side}"),
                };
                more.push(Revealed { to, what });
            }
        }
        // "Nothing else" stays last; `plain` does not promise it.
        let end = revealed.len() - usize::from(self != Engine::Plain);
        revealed.splice(end..end, more);
        revealed
    }

    /// Whether the engine can reveal this about a pair and nothing more.
    pub fn can_reveal(self, reveal: Reveal) -> bool {
        match (self, reveal) {
            (_, Reveal::Score) | (Engine::Plain | Engine::Garbled | Engine::Shares, _) => true,
            // The key holder decrypts every score, or a share of it.
            (Engine::Paillier(_), Reveal::Threshold(_)) => false,
            // Only sums of shares work; see "Shares of results" in `paillier/mod.rs`.
            (Engine::Paillier(_), Reveal::Group(question)) => question.has_public_coefficients(),
        }
    }

    /// Whether the engine can compute this metric.
    pub fn can_compute(self, metric: &Metric) -> bool {
        let on_letters = || {
            let positions = metric.positions();
            positions.is_none_or(|positions| positions.lattice().is_some())
        };
        match self {
            // Division by rounded durations has no integer model.
            Engine::Plain => match metric {
                Metric::ScaSim(scasim) => {
                    scasim.classes.is_none() || scasim.divisor != DurationDivisor::Durations
                }
                _ => true,
            },
            Engine::Paillier(_) => metric.is_alignment() || matches!(metric, Metric::SequenceScore),
            Engine::Garbled | Engine::Shares => match metric {
                Metric::SequenceScore => true,
                Metric::Dtw(_) | Metric::Frechet(_) | Metric::Hausdorff(_) => on_letters(),
                // Line lengths would need a counter in every matrix cell.
                Metric::Crqa(crqa) => !crqa.has_lines() && on_letters(),
                Metric::ScaSim(scasim) => {
                    scasim.classes.is_some() && scasim.divisor != DurationDivisor::Durations
                }
                _ => metric.is_alignment(),
            },
        }
    }

    /// Whether the engine can hide scanpath lengths.
    pub fn can_hide_lengths(self, metric: &Metric) -> bool {
        match self {
            Engine::Plain | Engine::Paillier(_) => false,
            Engine::Garbled | Engine::Shares => {
                self.can_compute(metric) && !divides_by_length(metric)
            }
        }
    }

    /// Whether the engine can hide the scores from the side that may not learn them.
    pub fn can_reveal_to(self, to: RevealTo) -> bool {
        match (self, to) {
            (_, RevealTo::Both) | (Engine::Plain | Engine::Garbled | Engine::Shares, _) => true,
            // The key holder decrypts every score and passes it on.
            (Engine::Paillier(_), _) => false,
        }
    }

    /// Estimates a job of this size over this connection, with seed trees of this depth for the `shares` engine.
    pub fn estimate(
        self,
        comparison: &Comparison,
        work: &Workload,
        link: &Link,
        levels: TreeLevels,
    ) -> Estimate {
        let costs = match self {
            Engine::Plain => plain::costs(comparison, work),
            Engine::Paillier(options) => paillier::costs(options, work, link.cores),
            Engine::Garbled => garbled::costs(comparison, work, link.cores),
            Engine::Shares => shares::costs(comparison, work, levels),
        };
        costs.on(link)
    }
}

/// Whether the metric divides by a length, which is secret if lengths are hidden.
fn divides_by_length(metric: &Metric) -> bool {
    match metric {
        Metric::ScanMatch { .. } | Metric::SequenceScore => true,
        Metric::Dtw(dtw) => dtw.divisor != PathDivisor::None,
        Metric::ScaSim(scasim) => scasim.divisor != DurationDivisor::None,
        Metric::Crqa(crqa) => crqa
            .measures
            .iter()
            .any(|measure| measure.divides_by_length()),
        _ => false,
    }
}

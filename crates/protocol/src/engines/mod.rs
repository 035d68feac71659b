//! The engines: ways to compute the same scores with more or less revealed on the way.

pub mod garbled;
mod lengths;
pub mod paillier;
pub mod plain;
#[cfg(test)]
mod tests;

use crate::{Channel, Estimate, ProtocolError, RevealTo, Revealed, Spec, Work};
use paillier::PaillierOptions;
use serde::Serialize;
use std::sync::Arc;
use veilpath_metrics::{Comparison, Reading, Scanpath};
use veilpath_paillier::SecretKey;

/// Which engine computes the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// In the clear: no protection at all.
    Plain,
    /// The paper's protocol over Paillier encryption.
    Paillier(PaillierOptions),
    /// Garbled circuits.
    Garbled,
}

/// Which side a party is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The one that is asked (Alice): rows of the alignment matrix, first column of results.
    Host,
    /// The one that asks (Bob): columns of the matrix.
    Join,
}

/// Is told how a run goes, possibly from several threads at once. All it does is optional.
pub trait Observer: Sync {
    /// So many more matrix cells are finished.
    fn cells(&self, finished: u64) {
        let _ = finished;
    }

    /// This side knows the reading of a pair (an index into the agreed list).
    fn scored(&self, pair: usize, reading: Reading) {
        let _ = (pair, reading);
    }

    /// Does a piece of this side's work, on whichever thread calls. An observer with a clock may time it; it must do the
    /// work exactly once.
    fn work(&self, work: &mut dyn FnMut()) {
        work();
    }
}

/// Does not want to know.
impl Observer for () {}

/// One side's part of a comparison.
pub struct Job<'a> {
    pub(crate) comparison: Comparison,
    pub(crate) role: Role,
    pub(crate) own: &'a [&'a Scanpath],
    pub(crate) peer_count: usize,
    pub(crate) pairs: &'a [(usize, usize)],
    pub(crate) key: Option<Arc<SecretKey>>,
    pub(crate) reveal_to: RevealTo,
    pub(crate) peer_lengths: Option<&'a [usize]>,
}

impl<'a> Job<'a> {
    /// `own` are this side's scanpaths, `peer_count` the number of the other side's, and `pairs` index the host's and
    /// the joining side's, in this order.
    pub fn new(
        spec: &Spec,
        role: Role,
        own: &'a [&'a Scanpath],
        peer_count: usize,
        pairs: &'a [(usize, usize)],
    ) -> Result<Self, ProtocolError> {
        let (hosts, joins) = match role {
            Role::Host => (own.len(), peer_count),
            Role::Join => (peer_count, own.len()),
        };
        if pairs.iter().any(|&(i, j)| i >= hosts || j >= joins) {
            return Err(ProtocolError::Job(
                "a pair names a scanpath that is not there",
            ));
        }
        Ok(Self {
            comparison: Comparison::new(spec.metric.clone(), spec.alphabet)?,
            role,
            own,
            peer_count,
            pairs,
            key: None,
            reveal_to: spec.reveal_to,
            peer_lengths: None,
        })
    }

    /// The host brings a key of hers, of the agreed size, instead of having one made for this run.
    #[must_use]
    pub fn with_key(mut self, key: Arc<SecretKey>) -> Self {
        self.key = Some(key);
        self
    }

    /// The lengths that the other side announced for its scanpaths: an engine that learns the true ones holds it to them.
    pub fn with_peer_lengths(mut self, lengths: &'a [usize]) -> Result<Self, ProtocolError> {
        if lengths.len() != self.peer_count {
            return Err(ProtocolError::Job("a length for every scanpath is needed"));
        }
        self.peer_lengths = Some(lengths);
        Ok(self)
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
    /// All engines with their usual options, for lists in help texts.
    pub const ALL: [Engine; 3] = [
        Engine::Plain,
        Engine::Paillier(PaillierOptions::DEFAULT),
        Engine::Garbled,
    ];

    /// The name on the command line and in results.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Plain => "plain",
            Engine::Paillier(_) => "paillier",
            Engine::Garbled => "garbled",
        }
    }

    /// Runs one side. A side that the scores are revealed to gets the readings of all pairs, in the agreed order, and its
    /// observer hears of each as soon as this side knows it; a side that they are hidden from gets an empty list.
    pub fn run(
        self,
        job: &Job<'_>,
        channel: &mut dyn Channel,
        observer: &dyn Observer,
    ) -> Result<Vec<Reading>, ProtocolError> {
        match (self, job.role) {
            (Engine::Plain, Role::Host) => plain::host(job, channel, observer),
            (Engine::Plain, Role::Join) => plain::join(job, channel, observer),
            (Engine::Paillier(options), Role::Host) => {
                paillier::host(job, options, channel, observer)
            }
            (Engine::Paillier(options), Role::Join) => {
                paillier::join(job, options, channel, observer)
            }
            (Engine::Garbled, Role::Host) => garbled::host(job, channel, observer),
            (Engine::Garbled, Role::Join) => garbled::join(job, channel, observer),
        }
    }

    /// What each side learns, in words for the users.
    pub fn revealed(self, to: RevealTo) -> Vec<Revealed> {
        match self {
            Engine::Plain => plain::revealed(to),
            Engine::Paillier(_) => paillier::revealed(),
            Engine::Garbled => garbled::revealed(to),
        }
    }

    /// Whether the engine can keep the scores from the side that they are not for.
    pub fn can_reveal_to(self, to: RevealTo) -> bool {
        match (self, to) {
            (_, RevealTo::Both) | (Engine::Plain | Engine::Garbled, _) => true,
            // The key holder decodes every score and passes it on.
            (Engine::Paillier(_), _) => false,
        }
    }

    /// What a job of this size will cost.
    pub fn estimate(self, comparison: &Comparison, work: &Work) -> Estimate {
        match self {
            Engine::Plain => plain::estimate(work),
            Engine::Paillier(options) => paillier::estimate(options, work),
            Engine::Garbled => garbled::estimate(comparison, work),
        }
    }
}

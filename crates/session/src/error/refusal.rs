//! Why a side declines a session, as it is told to the peer.

use serde::{Deserialize, Serialize};

/// Why a side declines a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum DeclineReason {
    /// The peer has a session over another connection.
    #[error("a session with this key is running over another connection")]
    AlreadyConnected,
    /// The side cannot read or compare its cohort with the alphabet or grid of the other.
    #[error("its cohort cannot be read, or compared, with the alphabet or grid of this side")]
    IncompatibleCohort,
    /// The side has a problem of its own, which it reports to its user.
    #[error("it has a problem of its own, which it reports to its user")]
    LocalProblem,
    /// A limit of the side.
    #[error(transparent)]
    Limit(Limit),
}

/// A limit on a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Limit {
    /// There is nothing to compare.
    #[error("there is nothing to compare: the two cohorts have no stimulus in common")]
    NoPairs,
    /// There are too many pairs for one session.
    #[error("{pairs} pairs are more than the {max} of one session; compare the cohorts in parts")]
    TooManyPairs {
        /// The pairs of the two cohorts.
        pairs: u64,
        /// The most pairs of one session.
        max: u64,
    },
    /// The plan needs more memory than the user allows.
    #[error(
        "this plan needs at least {} MB of memory, and {} MB are allowed", mebibytes(*.needed), mebibytes(*.allowed)
    )]
    Memory {
        /// Bytes that the plan needs on the side that declines; before the rosters are exchanged, without the pairs.
        needed: u64,
        /// Bytes that its user allows.
        allowed: u64,
    },
    /// The peer would see a scanpath compared more often than the user allows.
    #[error(
        "this plan needs {needed} comparisons per scanpath with this peer, and the limit is {limit}; it would be exceeded for {exceeded} of {scanpaths} scanpaths"
    )]
    ComparisonsPerScanpath {
        /// The most comparisons of one scanpath with this peer.
        limit: u64,
        /// The most comparisons that the plan needs for one scanpath, with those of earlier sessions.
        needed: u64,
        /// Scanpaths that would exceed it.
        exceeded: u64,
        /// Scanpaths in the cohort.
        scanpaths: u64,
    },
    /// The same, as the peer is told. How many scanpaths are affected, and how often they were compared before, would show which
    /// pseudonyms belong to scanpaths that it knows by name.
    #[error("this plan needs more comparisons per scanpath than its limit allows")]
    PeerComparisons,
    /// The same for an engine whose comparisons can each reveal something about any scanpath.
    #[error(
        "with this engine a partner that cheats can learn about any scanpath from every comparison, so all comparisons count together: this plan needs {needed} with this peer, and the limit is {limit}"
    )]
    ComparisonsOfAll {
        /// The most comparisons of all scanpaths together.
        limit: u64,
        /// The comparisons that the plan needs, with those of earlier sessions.
        needed: u64,
        /// The most that it needs for one scanpath.
        per_scanpath: u64,
    },
    /// The host has started a different comparison with this peer, and repeats or continues only that one.
    #[error(
        "this host has started a comparison with this key and only continues that one; a different cohort or plan needs a restart of the host"
    )]
    OtherAgreement,
    /// The same pairs were started too often without a result.
    #[error("the same pairs were started {starts} times without a result")]
    TooManyStarts {
        /// How often a pair may be started.
        starts: u32,
    },
    /// Some pairs were revealed to one side, and what the other side needs for them is lost.
    #[error(
        "{pairs} of {all} pairs were computed in an earlier session, and what one side stored of them is lost; they cannot be sent again and are not computed twice under one agreement"
    )]
    LostPairs {
        /// Pairs that are lost.
        pairs: u64,
        /// All pairs.
        all: u64,
    },
    /// The peer is banned.
    #[error("this peer is banned: {0}")]
    Banned(BanReason),
}

impl Limit {
    /// What the peer may know of it.
    pub(crate) fn for_peer(&self) -> Self {
        match self {
            Limit::ComparisonsPerScanpath { .. } | Limit::ComparisonsOfAll { .. } => {
                Limit::PeerComparisons
            }
            // Everything in these is known to both sides, or a setting of this one.
            other => other.clone(),
        }
    }
}

/// Bytes in units of 2²⁰, rounded up.
fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// Why a peer is banned: it did what no honest program does, and what may reveal more than was agreed on if it is repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BanReason {
    /// It gave another result for a pair whose result was known.
    #[error("it gave another result for a known pair")]
    ChangedAnswer,
    /// It failed a check of the two-party computation.
    #[error("it failed a check of the computation")]
    FailedCheck,
}

//! Why a side declines a session, and what the peer is told.

use crate::SessionError;
use crate::disclosure::DisclosureRefusal;
use serde::{Deserialize, Serialize};
use std::fmt;
use veilpath_protocol::units::{counted, grouped};

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
    #[error("it has a local problem, reported only to its own user")]
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
    #[error("{pairs} pairs are too many for one session, which has at most {max}")]
    TooManyPairs {
        /// The pairs of the two cohorts.
        pairs: u64,
        /// The most pairs of one session.
        max: u64,
    },
    /// The plan needs more memory than the user allows.
    #[error(
        "this plan needs at least {} MiB of memory, but only {} MiB are allowed", mebibytes(*.needed), mebibytes(*.allowed)
    )]
    Memory {
        /// Bytes that the plan needs on the side that declines; before the rosters are exchanged, without the pairs.
        needed: u64,
        /// Bytes that its user allows.
        allowed: u64,
    },
    /// The peer would see a scanpath compared more often than the limit allows.
    #[error("{0}")]
    Comparisons(ExceededLimit),
    /// The same, as the peer sees it. How many scanpaths are affected, and how often they were compared before, would
    /// show which pseudonyms belong to scanpaths that it knows by name.
    #[error("this plan exceeds the other side's limit on comparisons per scanpath")]
    PeerComparisons,
    /// A group answer would say too much about single participants.
    #[error(transparent)]
    Disclosure(#[from] DisclosureRefusal),
    /// The same, as the peer sees it: without numbers, which are about this side's participants.
    #[error("the other side's limits on group answers do not allow this plan")]
    PeerDisclosure,
    /// The host has started a different comparison with this peer, and repeats or continues only that one.
    #[error(
        "this host has started a comparison with this key and continues only that one; restart the host to use another cohort or plan"
    )]
    OtherAgreement,
    /// The same pairs were started too often without a result.
    #[error("the same pairs were started {starts} times without a result")]
    TooManyStarts {
        /// How often a pair may be started.
        starts: u32,
    },
    /// Workers have stored many more journal entries for a tile than it needs.
    #[error("workers have stored {entries} journal entries for this tile, many more than it needs")]
    TooManyEntries {
        /// How many it may have.
        entries: u64,
    },
    /// A worker has reported that the peer cheated in this tile.
    #[error("this tile was stopped because a worker reported that the other side misbehaved: {0}")]
    TileStopped(BanReason),
    /// Some pairs were revealed to one side, and what the other side needs for them is lost.
    #[error(
        "{pairs} of {all} pairs were computed in an earlier session, but one side has lost its stored data for them; they cannot be resent, and an agreement never computes a pair twice"
    )]
    LostPairs {
        /// Pairs that are lost.
        pairs: u64,
        /// All pairs.
        all: u64,
    },
    /// The peer is banned.
    #[error("this partner is banned: {0}")]
    Banned(BanReason),
}

impl DeclineReason {
    /// What the peer is told about an error of this side.
    pub(crate) fn for_peer(error: &SessionError) -> Self {
        let SessionError::Limit(limit) = error else {
            return DeclineReason::LocalProblem;
        };
        DeclineReason::Limit(match limit {
            Limit::Comparisons(_) => Limit::PeerComparisons,
            // The only refusal by the ledger before rosters, so its name would tell that somebody has withdrawn.
            Limit::Disclosure(DisclosureRefusal::Withdrawn { .. }) => {
                return DeclineReason::LocalProblem;
            }
            Limit::Disclosure(_) => Limit::PeerDisclosure,
            // What this side's workers have reported and stored is for its own user.
            Limit::TileStopped(_) | Limit::TooManyEntries { .. } => {
                return DeclineReason::LocalProblem;
            }
            // These contain only what both sides know, or settings of this side.
            other => other.clone(),
        })
    }
}

/// A plan that needs more comparisons than a limit allows. If several scanpaths exceed their limits, the numbers are
/// those of the one with the most comparisons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExceededLimit {
    /// The limit.
    pub limit: u64,
    /// Where it comes from.
    pub origin: LimitOrigin,
    /// Comparisons with this peer so far.
    pub before: u64,
    /// Comparisons that the plan adds.
    pub now: u64,
    /// Whether comparisons of all scanpaths count together, because with this engine any answer may be about any
    /// scanpath.
    pub counts_together: bool,
    /// Scanpaths that would exceed their limit.
    pub exceeded: u64,
    /// Scanpaths in the cohort.
    pub scanpaths: u64,
    /// The most comparisons of a single scanpath, earlier ones included: a limit that this side's user sets counts these.
    pub per_scanpath: u64,
    /// The most that this side's policy allows.
    pub policy: Option<u64>,
    /// How many letters the default assumes, where this side declares none.
    pub assumed_letters: Option<u32>,
    /// The length that all scanpaths are padded to, where lengths are hidden.
    pub pad_to: Option<u32>,
}

/// Where a limit comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitOrigin {
    /// This side's user.
    Chosen,
    /// This side's policy.
    Policy,
    /// The default for this plan.
    Default,
    /// The smaller default for an earlier plan with this partner.
    EarlierDefault,
}

impl ExceededLimit {
    /// The most that the policy allows, if it refuses every limit that would allow the plan.
    pub fn policy_refusing(&self) -> Option<u64> {
        self.policy.filter(|&most| most < self.per_scanpath)
    }

    /// All comparisons that count, those of the plan included.
    pub fn needed(&self) -> u64 {
        self.before.saturating_add(self.now)
    }
}

impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.counts_together {
            true => write!(f, "this plan makes {}", counted(self.now, "comparison"))?,
            false => write!(f, "this plan compares a scanpath {}", times(self.now))?,
        }
        if self.before > 0 {
            write!(f, ", {} including earlier sessions", grouped(self.needed()))?;
        }
        if self.counts_together {
            f.write_str(
                "; those of all scanpaths count together, because with this engine a partner that cheats can learn about any of them from every comparison",
            )?;
        }
        write!(f, "; the limit is {}", grouped(self.limit))?;
        match (self.origin, self.assumed_letters) {
            (LimitOrigin::Chosen, _) => f.write_str(" (set on this side)")?,
            (LimitOrigin::Policy, _) => f.write_str(" (this side's policy)")?,
            (LimitOrigin::EarlierDefault, _) => {
                f.write_str(" (default of an earlier plan with this partner)")?;
            }
            (LimitOrigin::Default, None) => f.write_str(" (default)")?,
            (LimitOrigin::Default, Some(letters)) => write!(
                f,
                " (default for {letters} letters, because this side does not declare how many there are)"
            )?,
        }
        match self.counts_together {
            true => Ok(()),
            false => write!(
                f,
                "; {} of {} would exceed it",
                grouped(self.exceeded),
                counted(self.scanpaths, "scanpath")
            ),
        }
    }
}

/// `once`, or how many times.
fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        _ => format!("{} times", grouped(count)),
    }
}

/// Bytes in units of 2²⁰, rounded up.
fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// Why a peer is banned: it did something that no honest program does and that, if repeated, may reveal more than was agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BanReason {
    /// It gave another result for a pair whose result was known.
    #[error("it gave a different result for a known pair")]
    ChangedAnswer,
    /// It failed a check of the two-party computation.
    #[error("it failed a check of the computation")]
    FailedCheck,
    /// This side's user banned it.
    #[error("this institution banned it")]
    #[serde(rename = "decided")]
    ByUser,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What this side's workers have reported or stored is not the peer's business.
    #[test]
    fn the_peer_learns_nothing_about_workers() {
        for limit in [
            Limit::TileStopped(BanReason::FailedCheck),
            Limit::TooManyEntries { entries: 9 },
        ] {
            let reason = DeclineReason::for_peer(&limit.into());
            assert_eq!(reason, DeclineReason::LocalProblem);
        }
        let banned = Limit::Banned(BanReason::ByUser);
        assert_eq!(
            DeclineReason::for_peer(&banned.clone().into()),
            DeclineReason::Limit(banned)
        );
    }

    /// Ledgers and messages of earlier versions have this name.
    #[test]
    fn a_ban_by_the_user_keeps_its_serialised_name() {
        let text = serde_json::to_string(&BanReason::ByUser).unwrap();
        assert_eq!(text, "\"decided\"");
    }
}

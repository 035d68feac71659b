//! Why a group answer is refused.

use serde::{Deserialize, Serialize};

/// Why a group answer is refused. It names no participant and no group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum DisclosureRefusal {
    /// A part is too small.
    #[error(
        "one part of this answer would cover only {participants} of this side's participants; at least {minimum} are needed"
    )]
    SmallPart {
        /// Participants of the smallest part.
        participants: u64,
        /// The minimum.
        minimum: u32,
    },
    /// Together with earlier answers it would be about too few.
    #[error(
        "combined with earlier answers for this partner, this answer would single out {participants} of this side's participants; at least {minimum} are needed"
    )]
    Differencing {
        /// Participants of the smallest atom.
        participants: u64,
        /// The minimum.
        minimum: u32,
    },
    /// A majority among fewer than the minimum number.
    #[error(
        "the majority of only {nearest} scanpaths says too much about each of them; at least {minimum} are needed"
    )]
    FewNearest {
        /// `k`.
        nearest: u32,
        /// The minimum.
        minimum: u32,
    },
    /// A majority that too few participants could decide.
    #[error(
        "the {nearest} nearest scanpaths may all belong to too few of this side's participants; K must be at least {needed}"
    )]
    NearestOfFew {
        /// `k`.
        nearest: u32,
        /// The smallest `k` whose scanpaths are always of enough participants.
        needed: u32,
        /// The minimum.
        minimum: u32,
    },
    /// The budget is used up.
    #[error(
        "this partner has had {answers} of {budget} group answers, and this one counts as {counts_as}"
    )]
    Budget {
        /// Answers so far.
        answers: u32,
        /// What this answer counts as.
        counts_as: u32,
        /// The budget.
        budget: u32,
    },
    /// A histogram, and another one or scores of the same participants.
    #[error(
        "this partner already has a histogram or scores that include {participants} of these participants; combined with this answer, these could reveal results of too few people"
    )]
    HistogramOverlap {
        /// Participants who are in both.
        participants: u64,
    },
    /// An earlier answer used scanpaths that were made in another way.
    #[error(
        "{participants} of these participants were in an earlier answer for this partner, with other encoding settings; the difference between the two answers could come from a single recording that was corrected or re-encoded"
    )]
    ChangedEncoding {
        /// Participants who are in both.
        participants: u64,
    },
    /// A participant has withdrawn.
    #[error(
        "the cohort contains {participants} of this side's participants who have withdrawn their consent"
    )]
    Withdrawn {
        /// How many of those in the answer have withdrawn.
        participants: u64,
    },
    /// Participants without a group, for an answer that needs groups.
    #[error("this answer needs a group for every participant")]
    NoGroups,
}

impl DisclosureRefusal {
    /// The minimum that it is based on, if any.
    pub(crate) fn minimum(&self) -> Option<u32> {
        match *self {
            DisclosureRefusal::SmallPart { minimum, .. }
            | DisclosureRefusal::Differencing { minimum, .. }
            | DisclosureRefusal::FewNearest { minimum, .. }
            | DisclosureRefusal::NearestOfFew { minimum, .. } => Some(minimum),
            DisclosureRefusal::Budget { .. }
            | DisclosureRefusal::HistogramOverlap { .. }
            | DisclosureRefusal::ChangedEncoding { .. }
            | DisclosureRefusal::Withdrawn { .. }
            | DisclosureRefusal::NoGroups => None,
        }
    }
}

//! Errors of statistics.

/// Why a statistic cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StatisticsError {
    /// A sum might not fit into 64 bits.
    #[error(
        "too many pairs: a sum of {terms} values of up to {largest} might not fit into 64 bits"
    )]
    TooManyPairs {
        /// How many values are added, times their largest coefficient.
        terms: u64,
        /// The largest absolute value.
        largest: u64,
    },
    /// A value is too large, or not a number.
    #[error("a value is not a number, or too large")]
    Value,
    /// No scanpaths of two participants were compared.
    #[error(
        "no scanpaths of participant {row} of the first side and participant {column} of the second were compared"
    )]
    NoCommonStimulus {
        /// The number of the participant of the first side, from 0.
        row: usize,
        /// The number of the participant of the second side, from 0.
        column: usize,
    },
    /// A participant is compared with itself.
    #[error("participant {participant} is compared with itself")]
    SameParticipant {
        /// The number of the participant, from 0.
        participant: usize,
    },
    /// A list does not have one entry for each item.
    #[error("there are {found} {what}, but {expected} are needed")]
    Length {
        /// The name of the list.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: usize,
    },
    /// An index is out of range.
    #[error("there is no {what} {index}")]
    Index {
        /// The kind of item that it points to.
        what: &'static str,
        /// The index.
        index: usize,
    },
    /// No pair of participants has the same group.
    #[error("no two of the participants that are compared have the same group")]
    NoSameGroup,
    /// All pairs of participants have the same group.
    #[error("all participants that are compared have the same group")]
    NoDifferentGroups,
    /// A scanpath has fewer comparisons than there are votes.
    #[error("scanpath {query} was compared with {found} scanpaths, fewer than {k}")]
    TooFewReferences {
        /// The number of the scanpath, from 0.
        query: usize,
        /// How many it was compared with.
        found: usize,
        /// How many are to vote.
        k: usize,
    },
    /// Histogram edges are not in ascending order, or there are too few.
    #[error("a histogram needs at least two edges in ascending order")]
    Edges,
    /// There are no values to compute a statistic from.
    #[error("there are no {what}")]
    Empty {
        /// The kind of item that is missing.
        what: &'static str,
    },
    /// The confidence level is not between 0 and 1.
    #[error("a level of confidence must lie between 0 and 1")]
    Level,
}

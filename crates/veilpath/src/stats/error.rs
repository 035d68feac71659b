//! Why there are no statistics.

use veilpath_statistics::StatisticsError;

/// Why statistics cannot be computed. Participants are counted, never named.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StatsError {
    /// A CSV file.
    #[error(
        "{file}: a CSV file has no plan, so it does not say whether a large number means similar scanpaths"
    )]
    NumbersOnly {
        /// The file.
        file: String,
    },
    /// A result without pairs.
    #[error("{file}: this result has no pairs to analyse")]
    NoPairs {
        /// The file.
        file: String,
    },
    /// A result of an unfinished session.
    #[error("{file}: the results of some pairs are missing")]
    Incomplete {
        /// The file.
        file: String,
    },
    /// A number of results other than one or three.
    #[error(
        "expected one result, or three (one within each of two cohorts, and one between them), but found {found}"
    )]
    NumberOfResults {
        /// The number of results.
        found: usize,
    },
    /// A test of sites on one result.
    #[error("test:sites needs three results: one within each of two cohorts, and one between them")]
    SitesNeedThreeResults,
    /// Three results that do not belong together.
    #[error("the three results do not belong together: {0}")]
    Sites(SitesProblem),
    /// A measure that a result does not have.
    #[error("{file}: there is no measure {name:?}")]
    NoSuchMeasure {
        /// The file.
        file: String,
        /// The measure.
        name: String,
        /// The measures in the file.
        known: Vec<String>,
    },
    /// A stimulus that no pair has.
    #[error("{file}: no pair has the stimulus {stimulus:?}")]
    NoSuchStimulus {
        /// The file.
        file: String,
        /// The stimulus.
        stimulus: String,
    },
    /// Pairs without a value.
    #[error("{file}: {measure} has no value for {pairs} pairs")]
    MissingValues {
        /// The file.
        file: String,
        /// The measure.
        measure: String,
        /// The number of such pairs.
        pairs: usize,
    },
    /// A measure that does not say which of two pairs is more similar.
    #[error("the measure {measure} does not say which of two pairs is more alike")]
    NoDirection {
        /// The measure.
        measure: String,
    },
    /// A mean within one cohort of a measure whose sign depends on the order of a pair.
    #[error(
        "{measure} changes its sign when the two scanpaths of a pair are swapped, so its mean within one cohort is always 0"
    )]
    NoMean {
        /// The measure.
        measure: String,
    },
    /// A question about groups, but no groups were given.
    #[error("{question} needs the groups of the participants")]
    NoGroups {
        /// The question.
        question: String,
    },
    /// Participants without a group.
    #[error("{missing} of {participants} participants of {side} have no group")]
    WithoutGroup {
        /// The name of the cohort.
        side: String,
        /// The number of participants without a group.
        missing: usize,
        /// The number of participants.
        participants: usize,
    },
    /// Participants whose scanpaths were not compared because they share no stimulus.
    #[error("{pairs} pairs of participants have no stimulus in common")]
    NoCommonStimulus {
        /// The number of such pairs of participants.
        pairs: usize,
    },
    /// A level that is not between 0 and 1.
    #[error("the level of confidence {level} is not between 0 and 1")]
    Level {
        /// The level.
        level: String,
    },
    /// A scanpath with fewer neighbours than votes.
    #[error(
        "a scanpath is compared with {found} scanpaths of other participants, fewer than the {k} that vote"
    )]
    TooFewNeighbours {
        /// The number of scanpaths it is compared with.
        found: usize,
        /// The number of votes.
        k: usize,
    },
    /// The values do not allow this statistic.
    #[error(transparent)]
    Statistics(StatisticsError),
}

/// Why three results do not belong together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SitesProblem {
    /// The results must be two comparisons of a cohort with itself and one of two cohorts.
    #[error("two must compare a cohort with itself, and one must compare two cohorts")]
    Kinds,
    /// The cohort names differ.
    #[error("the cohorts {within:?} are compared with themselves, and {between:?} with each other")]
    Names {
        /// The names of the cohorts that are compared with themselves.
        within: [String; 2],
        /// The names of the cohorts that are compared with each other.
        between: [String; 2],
    },
    /// The participants differ from those in the result between the cohorts.
    #[error("the participants of {name} differ")]
    Participants {
        /// The name of the cohort.
        name: String,
    },
    /// The results use different metrics.
    #[error("they have different metrics")]
    Metrics,
}

impl From<StatisticsError> for StatsError {
    fn from(error: StatisticsError) -> Self {
        match error {
            StatisticsError::TooFewReferences { found, k, .. } => {
                StatsError::TooFewNeighbours { found, k }
            }
            other => StatsError::Statistics(other),
        }
    }
}

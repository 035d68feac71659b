//! Answers about groups of participants instead of single pairs.

mod histogram;
mod interval;
mod means;
mod nearest;
mod test;

pub use histogram::{Bins, ScoreHistogram};
pub use interval::Interval;
pub use means::{GroupMeans, StimulusMean, StimulusMeans};
pub use nearest::{NearestLabel, NearestLabels, NearestRate};
pub use test::GroupTest;

use serde::{Deserialize, Serialize};

/// An answer that is not about one pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum GroupAnswer {
    /// The mean of an output over all pairs, or over those of each stimulus.
    StimulusMeans(StimulusMeans),
    /// The mean of an output for every group of the first side with every group of the second.
    Means(GroupMeans),
    /// A statistical test.
    Test(GroupTest),
    /// For each scanpath, the group that most of its nearest scanpaths belong to.
    NearestLabels(NearestLabels),
    /// How many scanpaths belong to the group of most of their nearest scanpaths.
    NearestRate(NearestRate),
    /// How many pairs have an output in each of some ranges.
    Histogram(ScoreHistogram),
}

/// Why an answer about groups is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupAnswerError {
    /// A matrix whose numbers do not match its names.
    #[error("a matrix must have {rows} × {columns} numbers, one for each row and column name")]
    Shape {
        /// The number of row names.
        rows: usize,
        /// The number of column names.
        columns: usize,
    },
    /// A number that is not finite.
    #[error("{name} must be a finite number")]
    NotFinite {
        /// Which number.
        name: &'static str,
    },
    /// A number that is not a probability.
    #[error("{name} must lie between 0 and 1")]
    Probability {
        /// Which number.
        name: &'static str,
    },
    /// An interval whose lower end lies above the upper.
    #[error("the lower end of an interval must not lie above the upper")]
    Interval,
    /// More right answers than there are, or counts that do not add up to them.
    #[error("the counts of right and wrong answers do not add up")]
    Counts,
    /// Bins that are not one more edge than counts, with edges in ascending order.
    #[error("a histogram must have ascending edges, one more than counts")]
    Bins,
    /// A majority that is not one of the groups.
    #[error("a scanpath is given a group that is not in the list of groups")]
    UnknownGroup,
}

impl GroupAnswer {
    /// Checks that names and numbers are consistent.
    pub fn check(&self) -> Result<(), GroupAnswerError> {
        match self {
            GroupAnswer::StimulusMeans(means) => means.check(),
            GroupAnswer::Means(means) => means.check(),
            GroupAnswer::Test(test) => test.check(),
            GroupAnswer::NearestLabels(labels) => labels.check(),
            GroupAnswer::NearestRate(rate) => rate.check(),
            GroupAnswer::Histogram(histogram) => histogram.check(),
        }
    }

    /// The names of all groups in it.
    pub(crate) fn groups(&self) -> Vec<&String> {
        match self {
            GroupAnswer::Means(means) => means.rows.iter().chain(&means.columns).collect(),
            GroupAnswer::Test(test) => test.groups.iter().collect(),
            GroupAnswer::NearestLabels(labels) => labels.groups.iter().collect(),
            GroupAnswer::NearestRate(rate) => rate.groups.iter().collect(),
            GroupAnswer::StimulusMeans(_) | GroupAnswer::Histogram(_) => Vec::new(),
        }
    }

    /// All other texts in it.
    pub(crate) fn texts(&self) -> Vec<&String> {
        match self {
            GroupAnswer::StimulusMeans(means) => means.texts().collect(),
            GroupAnswer::Means(means) => {
                [&means.output].into_iter().chain(&means.stimulus).collect()
            }
            GroupAnswer::Test(test) => test.texts().collect(),
            GroupAnswer::NearestLabels(labels) => labels.texts().collect(),
            GroupAnswer::NearestRate(rate) => vec![&rate.output],
            GroupAnswer::Histogram(histogram) => [&histogram.output]
                .into_iter()
                .chain(&histogram.stimulus)
                .collect(),
        }
    }
}

fn finite(name: &'static str, number: f64) -> Result<(), GroupAnswerError> {
    match number.is_finite() {
        true => Ok(()),
        false => Err(GroupAnswerError::NotFinite { name }),
    }
}

fn probability(name: &'static str, number: f64) -> Result<(), GroupAnswerError> {
    match (0.0..=1.0).contains(&number) {
        true => Ok(()),
        false => Err(GroupAnswerError::Probability { name }),
    }
}

fn shape<T>(matrix: &[Vec<T>], rows: usize, columns: usize) -> Result<(), GroupAnswerError> {
    if matrix.len() != rows || matrix.iter().any(|row| row.len() != columns) {
        return Err(GroupAnswerError::Shape { rows, columns });
    }
    Ok(())
}

#[cfg(test)]
mod tests;

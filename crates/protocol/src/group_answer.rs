//! Answers about groups of participants instead of single pairs.

mod group_test;
mod histogram;
mod interval;
mod means;
mod nearest;

pub use group_test::GroupTest;
pub use histogram::{Bins, ScoreHistogram};
pub use interval::Interval;
pub use means::{GroupMeans, StimulusMean, StimulusMeans};
pub use nearest::{NearestLabel, NearestLabels, NearestRate};

use serde::{Deserialize, Serialize};

/// An answer about many pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum GroupAnswer {
    /// The mean of a measure over all pairs, or over the pairs of each stimulus.
    StimulusMeans(StimulusMeans),
    /// The mean of a measure for every group of the first side with every group of the second.
    GroupMeans(GroupMeans),
    /// A statistical test.
    Test(GroupTest),
    /// For each scanpath, the group that most of its nearest scanpaths belong to.
    NearestLabels(NearestLabels),
    /// How many scanpaths belong to the group of most of their nearest scanpaths.
    NearestRate(NearestRate),
    /// How many pairs have a measure in each of some ranges.
    Histogram(ScoreHistogram),
}

/// Why a group answer is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupAnswerError {
    /// The numbers of a matrix do not match its names.
    #[error("a matrix must have {rows} × {columns} numbers, one for each row and column name")]
    Shape {
        /// The number of row names.
        rows: usize,
        /// The number of column names.
        columns: usize,
    },
    /// A number is not finite.
    #[error("{name} must be a finite number")]
    NotFinite {
        /// Which number.
        name: &'static str,
    },
    /// A number is not a probability.
    #[error("{name} must lie between 0 and 1")]
    Probability {
        /// Which number.
        name: &'static str,
    },
    /// The lower end of an interval lies above the upper end.
    #[error("the lower end of an interval must not lie above the upper")]
    Interval,
    /// There are more correct answers than answers, or the counts do not add up.
    #[error("the counts of correct and wrong answers do not add up")]
    Counts,
    /// The edges of a histogram are not ascending, or not one more than counts.
    #[error("a histogram must have ascending edges, one more than counts")]
    Bins,
    /// A majority is not one of the groups.
    #[error("a scanpath is given a group that is not in the list of groups")]
    UnknownGroup,
}

impl GroupAnswer {
    /// Checks that names and numbers are consistent.
    pub fn check(&self) -> Result<(), GroupAnswerError> {
        match self {
            GroupAnswer::StimulusMeans(means) => means.check(),
            GroupAnswer::GroupMeans(means) => means.check(),
            GroupAnswer::Test(test) => test.check(),
            GroupAnswer::NearestLabels(labels) => labels.check(),
            GroupAnswer::NearestRate(rate) => rate.check(),
            GroupAnswer::Histogram(histogram) => histogram.bins.check(),
        }
    }

    /// The names of all groups in the answer.
    pub(crate) fn groups(&self) -> Vec<&String> {
        match self {
            GroupAnswer::GroupMeans(means) => means.rows.iter().chain(&means.columns).collect(),
            GroupAnswer::Test(test) => test.groups.iter().collect(),
            GroupAnswer::NearestLabels(labels) => labels.groups.iter().collect(),
            GroupAnswer::NearestRate(rate) => rate.groups.iter().collect(),
            GroupAnswer::StimulusMeans(_) | GroupAnswer::Histogram(_) => Vec::new(),
        }
    }

    /// All other texts in the answer.
    pub(crate) fn texts(&self) -> Vec<&String> {
        match self {
            GroupAnswer::StimulusMeans(means) => means.texts().collect(),
            GroupAnswer::GroupMeans(means) => [&means.measure]
                .into_iter()
                .chain(&means.stimulus)
                .collect(),
            GroupAnswer::Test(test) => test.texts().collect(),
            GroupAnswer::NearestLabels(labels) => labels.texts().collect(),
            GroupAnswer::NearestRate(rate) => vec![&rate.measure],
            GroupAnswer::Histogram(histogram) => [&histogram.measure]
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

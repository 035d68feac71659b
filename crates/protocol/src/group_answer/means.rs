//! Means of all pairs and of groups.

use super::{GroupAnswerError, Interval, finite, shape};
use serde::{Deserialize, Serialize};

/// Means over all pairs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StimulusMeans {
    /// The measure that is averaged.
    pub measure: String,
    /// One mean for each stimulus, or one for all.
    pub means: Vec<StimulusMean>,
}

/// The mean of all pairs with one stimulus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StimulusMean {
    /// The stimulus, or [`StimulusMean::UNNAMED`]; `None` for all stimuli.
    pub stimulus: Option<String>,
    /// The mean; `None` if there are no pairs.
    pub mean: Option<f64>,
    /// The number of pairs it averages.
    pub pairs: u64,
    /// Its confidence interval, if it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
}

impl StimulusMean {
    /// Stands for a missing stimulus if other scanpaths have one.
    pub const UNNAMED: &str = "(none)";
}

/// A matrix of means: one row for each group of the first side, one column for each of the second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupMeans {
    /// The measure that is averaged.
    pub measure: String,
    /// The stimulus that it is about; `None` for all stimuli.
    pub stimulus: Option<String>,
    /// The names of the row groups.
    pub rows: Vec<String>,
    /// The names of the column groups.
    pub columns: Vec<String>,
    /// The means, row by row; `None` where two groups have no pair, or too few to be shown.
    pub means: Vec<Vec<Option<f64>>>,
    /// The number of pairs that each mean averages.
    pub counts: Vec<Vec<u64>>,
    /// A confidence interval for each mean, row by row; no rows if none were computed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<Vec<Option<Interval>>>,
}

impl StimulusMeans {
    pub(super) fn check(&self) -> Result<(), GroupAnswerError> {
        for mean in &self.means {
            mean.mean.map_or(Ok(()), |mean| finite("a mean", mean))?;
            mean.interval.map_or(Ok(()), |interval| interval.check())?;
        }
        Ok(())
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        let stimuli = self.means.iter().filter_map(|mean| mean.stimulus.as_ref());
        std::iter::once(&self.measure).chain(stimuli)
    }
}

impl GroupMeans {
    pub(super) fn check(&self) -> Result<(), GroupAnswerError> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        shape(&self.means, rows, columns)?;
        shape(&self.counts, rows, columns)?;
        if !self.intervals.is_empty() {
            shape(&self.intervals, rows, columns)?;
        }
        for &mean in self.means.iter().flatten().flatten() {
            finite("a mean", mean)?;
        }
        for interval in self.intervals.iter().flatten().flatten() {
            interval.check()?;
        }
        Ok(())
    }
}

//! Confidence intervals.

use super::{GroupAnswerError, finite, probability};
use serde::{Deserialize, Serialize};

/// A confidence interval: the percentiles of a bootstrap that draws participants with replacement.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The confidence level, such as 0.95.
    pub level: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// The number of resamples.
    pub resamples: u64,
    /// The seed of the draws, so that they can be repeated.
    pub seed: Option<u64>,
}

impl Interval {
    pub(super) fn check(&self) -> Result<(), GroupAnswerError> {
        probability("the level of an interval", self.level)?;
        finite("the end of an interval", self.low)?;
        finite("the end of an interval", self.high)?;
        match self.low <= self.high {
            true => Ok(()),
            false => Err(GroupAnswerError::Interval),
        }
    }
}

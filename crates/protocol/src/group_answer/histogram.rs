//! Histograms.

use super::GroupAnswerError;
use serde::{Deserialize, Serialize};

/// How many pairs have a measure in each of some ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreHistogram {
    /// The measure.
    pub measure: String,
    /// The stimulus that it is about; `None` for all stimuli.
    pub stimulus: Option<String>,
    /// The ranges and their counts. Numbers beyond the outer edges are in the outer bins.
    pub bins: Bins,
    /// Bins with pairs of fewer participants of either side are not shown; nor is the smallest other count, if any bin is
    /// hidden. 0 if all are shown.
    #[serde(default)]
    pub minimum: u64,
}

/// Ranges, and how many numbers lie in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bins {
    /// The edges in ascending order, one more than there are bins. A number on an edge is in the bin above it.
    pub edges: Vec<f64>,
    /// How many numbers are in each bin; `None` if the count is not shown.
    pub counts: Vec<Option<u64>>,
}

impl Bins {
    pub(super) fn check(&self) -> Result<(), GroupAnswerError> {
        let finite = self.edges.iter().all(|edge| edge.is_finite());
        let ascending = self.edges.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = !self.counts.is_empty() && self.edges.len() == self.counts.len() + 1;
        match finite && ascending && fits {
            true => Ok(()),
            false => Err(GroupAnswerError::Bins),
        }
    }
}

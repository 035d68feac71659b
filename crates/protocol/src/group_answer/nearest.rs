//! Classification by the nearest scanpaths.

use super::{GroupAnswerError, Interval, probability, shape};
use crate::ScanpathId;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// For each scanpath of the first side, the majority group of its `k` nearest scanpaths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NearestLabels {
    /// The measure that says which scanpath is nearer.
    pub measure: String,
    /// How many nearest scanpaths have a vote.
    pub k: u32,
    /// The groups that can be voted for.
    pub groups: Vec<String>,
    /// One entry for each scanpath.
    pub labels: Vec<NearestLabel>,
}

/// The majority group of one scanpath's nearest scanpaths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NearestLabel {
    /// The scanpath.
    pub scanpath: ScanpathId,
    /// The group with the most votes.
    pub majority: String,
    /// The scanpath's own group, if it is known here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// How often the majority group of the `k` nearest scanpaths is the correct one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NearestRate {
    /// The measure that says which scanpath is nearer.
    pub measure: String,
    /// How many nearest scanpaths have a vote.
    pub k: u32,
    /// How many scanpaths were assigned their own group.
    pub correct: u64,
    /// The number of scanpaths.
    pub scanpaths: u64,
    /// The rate achieved by always naming the most frequent group.
    pub chance: f64,
    /// A confidence interval for the rate, if it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The probability of such a rate if groups did not matter, if it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p_value: Option<f64>,
    /// How many permutations the p value is based on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permutations: Option<u64>,
    /// The seed of the permutations, so that they can be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The names of the groups in `confusion`.
    pub groups: Vec<String>,
    /// How many scanpaths of each group (rows) were assigned to each group (columns); no rows if only the rate is
    /// known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confusion: Vec<Vec<u64>>,
}

impl NearestLabels {
    pub(super) fn check(&self) -> Result<(), GroupAnswerError> {
        let groups: HashSet<&String> = self.groups.iter().collect();
        let mut majorities = self.labels.iter().map(|label| &label.majority);
        match majorities.all(|majority| groups.contains(majority)) {
            true => Ok(()),
            false => Err(GroupAnswerError::UnknownGroup),
        }
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        let labels = self.labels.iter().flat_map(|label| {
            let ids = [&label.scanpath.participant].into_iter();
            ids.chain(&label.scanpath.stimulus).chain(&label.group)
        });
        std::iter::once(&self.measure).chain(labels)
    }
}

impl NearestRate {
    pub(super) fn check(&self) -> Result<(), GroupAnswerError> {
        probability("the chance rate", self.chance)?;
        self.p_value
            .map_or(Ok(()), |p| probability("a p-value", p))?;
        self.interval.map_or(Ok(()), |interval| interval.check())?;
        let groups = self.groups.len();
        let adds_up = match self.confusion.is_empty() {
            true => self.correct <= self.scanpaths,
            false => {
                shape(&self.confusion, groups, groups)?;
                let on_diagonal = (0..groups).map(|group| self.confusion[group][group]);
                sum(on_diagonal) == Some(self.correct)
                    && sum(self.confusion.iter().flatten().copied()) == Some(self.scanpaths)
            }
        };
        match adds_up {
            true => Ok(()),
            false => Err(GroupAnswerError::Counts),
        }
    }
}

/// The sum, unless it exceeds 64 bits.
fn sum(mut numbers: impl Iterator<Item = u64>) -> Option<u64> {
    numbers.try_fold(0_u64, u64::checked_add)
}

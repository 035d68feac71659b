//! Statistical tests.

use super::{Bins, GroupAnswerError, Interval, finite, probability};
use serde::{Deserialize, Serialize};

/// The result of a statistical test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupTest {
    /// The question that it answers, in words.
    pub question: String,
    /// The name of the method, such as "permutation test".
    pub method: String,
    /// The measure that it is about.
    pub measure: String,
    /// The stimulus that it is about; `None` for all stimuli.
    pub stimulus: Option<String>,
    /// The groups that are compared.
    pub groups: Vec<String>,
    /// The name of the statistic, such as "difference of means".
    pub statistic: String,
    /// Its value.
    pub value: f64,
    /// A confidence interval for the value, if it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<Interval>,
    /// The p value, from 0 to 1.
    pub p_value: f64,
    /// How many permutations it is based on; `None` for a test without permutations.
    pub permutations: Option<u64>,
    /// The seed of the permutations, so that they can be repeated.
    pub seed: Option<u64>,
    /// The coins of the permutations of a private test, as 64 hexadecimal digits, so that they can be repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coins: Option<String>,
    /// The distribution of the statistic over the permutations; only for a test in the clear.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_distribution: Option<Bins>,
}

impl GroupTest {
    pub(super) fn check(&self) -> Result<(), GroupAnswerError> {
        finite("a statistic", self.value)?;
        probability("a p-value", self.p_value)?;
        self.interval.map_or(Ok(()), |interval| interval.check())?;
        self.null_distribution.as_ref().map_or(Ok(()), Bins::check)
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &String> {
        [&self.question, &self.method, &self.measure, &self.statistic]
            .into_iter()
            .chain(&self.stimulus)
            .chain(&self.coins)
    }
}

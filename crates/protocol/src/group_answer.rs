//! Answers about groups of participants instead of single pairs.

use serde::{Deserialize, Serialize};

/// An answer that is not about one pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum GroupAnswer {
    /// The mean of an output for every group of the first side with every group of the second.
    Means(GroupMeans),
    /// A statistical test.
    Test(GroupTest),
}

/// A matrix of means: one row for each group of the first side, one column for each of the second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupMeans {
    /// The output that is averaged.
    pub output: String,
    /// The stimulus that it is about; `None` for all stimuli.
    pub stimulus: Option<String>,
    /// The names of the row groups.
    pub rows: Vec<String>,
    /// The names of the column groups.
    pub columns: Vec<String>,
    /// The means, row by row; `None` where two groups have no pair, or too few to be shown.
    pub means: Vec<Vec<Option<f64>>>,
    /// How many pairs each mean is of.
    pub counts: Vec<Vec<u64>>,
}

/// The result of a statistical test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GroupTest {
    /// The question that it answers, in words.
    pub question: String,
    /// The name of the method, such as "permutation test".
    pub method: String,
    /// The output that it is about.
    pub output: String,
    /// The stimulus that it is about; `None` for all stimuli.
    pub stimulus: Option<String>,
    /// The groups that are compared.
    pub groups: Vec<String>,
    /// What the statistic is, such as "difference of means".
    pub statistic: String,
    /// Its value.
    pub value: f64,
    /// The p value, from 0 to 1.
    pub p_value: f64,
    /// How many permutations it is from; `None` for a test without.
    pub permutations: Option<u64>,
    /// The seed of the permutations, so that they can be repeated.
    pub seed: Option<u64>,
}

/// Why an answer about groups makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupAnswerError {
    /// A matrix whose numbers do not match its names.
    #[error(
        "a matrix of group means must have {rows} × {columns} means and counts, one for each row and column name"
    )]
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
    /// A p value that is not a probability.
    #[error("a p value must lie between 0 and 1")]
    PValue,
}

impl GroupAnswer {
    /// Whether names and numbers belong together.
    pub fn check(&self) -> Result<(), GroupAnswerError> {
        match self {
            GroupAnswer::Means(means) => means.check(),
            GroupAnswer::Test(test) => test.check(),
        }
    }
}

impl GroupMeans {
    fn check(&self) -> Result<(), GroupAnswerError> {
        let (rows, columns) = (self.rows.len(), self.columns.len());
        let means = self.means.len() == rows && self.means.iter().all(|row| row.len() == columns);
        let counts =
            self.counts.len() == rows && self.counts.iter().all(|row| row.len() == columns);
        if !means || !counts {
            return Err(GroupAnswerError::Shape { rows, columns });
        }
        if self
            .means
            .iter()
            .flatten()
            .flatten()
            .any(|mean| !mean.is_finite())
        {
            return Err(GroupAnswerError::NotFinite { name: "a mean" });
        }
        Ok(())
    }
}

impl GroupTest {
    fn check(&self) -> Result<(), GroupAnswerError> {
        if !self.value.is_finite() {
            return Err(GroupAnswerError::NotFinite {
                name: "a statistic",
            });
        }
        if !(0.0..=1.0).contains(&self.p_value) {
            return Err(GroupAnswerError::PValue);
        }
        Ok(())
    }
}

//! A pair's numbers, as the user sees them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The largest number of measures that a metric has.
pub const MAX_MEASURES: usize = 14;

/// The result of a pair: one number for each of the metric's [measures](crate::Metric::measures), in that order. Each
/// may be undefined for a given pair.
#[derive(Clone, Copy)]
pub struct PairScore {
    count: u8,
    /// Undefined numbers are NaN.
    numbers: [f64; MAX_MEASURES],
}

/// One of a metric's measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// The name used in options and results.
    pub name: &'static str,
    /// The meaning of the number.
    pub kind: MeasureKind,
    /// Whether it can be undefined for a pair of non-empty scanpaths.
    pub may_be_undefined: bool,
    /// What happens to the number when the two scanpaths are swapped.
    pub symmetry: Symmetry,
}

/// What happens to a number when the two scanpaths of a pair are swapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// It stays the same (up to ties between paths, for MultiMatch).
    Symmetric,
    /// It may become another number.
    Asymmetric,
    /// It changes its sign, so that the mean over both orders is always 0.
    Antisymmetric,
}

impl Symmetry {
    /// Whether the order of the two scanpaths matters.
    pub fn depends_on_order(self) -> bool {
        self != Symmetry::Symmetric
    }
}

/// The meaning of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasureKind {
    /// Smaller means more alike.
    Distance,
    /// Larger means more alike.
    Similarity,
    /// From 0 to 1; larger means more alike.
    Fraction,
    /// Whether the pair is at least as similar as a threshold requires. No metric gives this itself.
    Bit,
    /// Says nothing about which of two pairs is more alike.
    Number,
}

impl PairScore {
    /// The numbers of an alignment: a score, and a similarity if it is defined.
    pub const fn new(score: f64, similarity: Option<f64>) -> Self {
        let mut numbers = [f64::NAN; MAX_MEASURES];
        numbers[0] = score;
        if let Some(similarity) = similarity {
            numbers[1] = similarity;
        }
        Self { count: 2, numbers }
    }

    /// A single number.
    pub const fn single(score: f64) -> Self {
        let mut numbers = [f64::NAN; MAX_MEASURES];
        numbers[0] = score;
        Self { count: 1, numbers }
    }

    /// Several numbers. Those beyond [`MAX_MEASURES`] are dropped.
    pub fn from_numbers(given: impl IntoIterator<Item = Option<f64>>) -> Self {
        let mut score = Self {
            count: 0,
            numbers: [f64::NAN; MAX_MEASURES],
        };
        for (slot, number) in score.numbers.iter_mut().zip(given) {
            *slot = number.unwrap_or(f64::NAN);
            score.count += 1;
        }
        score
    }

    /// The numbers, in the order of the metric's measures.
    pub fn numbers(&self) -> impl ExactSizeIterator<Item = Option<f64>> + '_ {
        let given = self.numbers[..usize::from(self.count)].iter();
        given.map(|number| (!number.is_nan()).then_some(*number))
    }

    /// One of the numbers.
    pub fn number(&self, index: usize) -> Option<f64> {
        self.numbers().nth(index).flatten()
    }

    /// The first number: the metric's own score. NaN if it is undefined.
    pub fn score(&self) -> f64 {
        self.numbers[0]
    }

    /// The second number: for alignments, the similarity from 0 to 1.
    pub fn similarity(&self) -> Option<f64> {
        self.number(1)
    }

    /// The same result without its similarity.
    #[must_use]
    pub fn without_similarity(self) -> Self {
        Self::new(self.score(), None)
    }

    /// ScanMatch's score is also its similarity. A score below 0 (from large gap costs) is a similarity
    /// of 0.
    pub(crate) fn of_scanmatch(score: f64) -> Self {
        Self::new(score, Some(score.clamp(0.0, 1.0)))
    }
}

/// Undefined numbers are equal.
impl PartialEq for PairScore {
    fn eq(&self, other: &Self) -> bool {
        self.numbers().eq(other.numbers())
    }
}

impl fmt::Debug for PairScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.numbers()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undefined_numbers_keep_their_index() {
        let score = PairScore::from_numbers([None, Some(2.0), None]);
        assert_eq!(score.numbers().len(), 3);
        assert_eq!(
            [score.number(0), score.number(1), score.number(3)],
            [None, Some(2.0), None]
        );
        assert_eq!(score, PairScore::from_numbers([None, Some(2.0), None]));
        assert_ne!(score, PairScore::from_numbers([None, Some(2.0)]));
        assert_eq!(PairScore::new(1.0, None).numbers().len(), 2);
        assert_eq!(
            PairScore::from_numbers([Some(0.0); MAX_MEASURES + 3])
                .numbers()
                .len(),
            MAX_MEASURES
        );
    }
}

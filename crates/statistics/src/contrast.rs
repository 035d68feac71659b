//! The difference of two means as a linear function with integer coefficients.

use crate::StatisticsError;

/// (Mean over pairs with the same label) − (mean over pairs with different labels), for fixed numbers of such pairs.
///
/// The integer statistic is `different·Σ_same − same·Σ_different`, with both coefficients divided by their greatest
/// common divisor. Since the sum over all pairs does not change when labels are permuted, comparing permuted statistics
/// is the same as comparing permuted values of `Σ_same`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contrast {
    same: u64,
    different: u64,
}

/// The result of a permutation test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestResult {
    /// Which means are compared.
    pub contrast: Contrast,
    /// The observed sum over pairs with the same label.
    pub same: i64,
    /// The sum over all pairs.
    pub all: i64,
    /// The sum over pairs with the same label, for each permutation. Only a computation in the clear may keep these
    /// sums: they are linear equations in the values.
    pub permuted: Vec<i64>,
    /// Sums that differ by at most this count as equal, because values are rounded.
    pub tolerance: u64,
}

impl Contrast {
    /// A contrast for these numbers of pairs.
    pub fn new(same: u64, different: u64) -> Result<Self, StatisticsError> {
        match (same, different) {
            (0, _) => Err(StatisticsError::NoSameGroup),
            (_, 0) => Err(StatisticsError::NoDifferentGroups),
            _ => Ok(Self { same, different }),
        }
    }

    /// The number of pairs with the same label.
    pub fn same(&self) -> u64 {
        self.same
    }

    /// The number of pairs with different labels.
    pub fn different(&self) -> u64 {
        self.different
    }

    /// The coefficients of the sum over pairs with the same label and of the sum over pairs with different labels; the
    /// second product is subtracted.
    pub fn coefficients(&self) -> [u64; 2] {
        let divisor = greatest_common_divisor(self.same, self.different);
        [self.different / divisor, self.same / divisor]
    }

    /// The integer statistic.
    pub fn statistic(&self, same: i64, all: i64) -> i128 {
        let [of_same, of_different] = self.coefficients().map(i128::from);
        let (same, all) = (i128::from(same), i128::from(all));
        of_same * same - of_different * (all - same)
    }

    /// The difference of means that an integer statistic represents.
    #[allow(clippy::cast_precision_loss)] // the result is a floating-point number
    pub fn difference(&self, statistic: i128, unit: f64) -> f64 {
        let [of_same, _] = self.coefficients();
        statistic as f64 / (of_same as f64 * self.same as f64) * unit
    }
}

impl TestResult {
    /// The observed difference of means.
    pub fn difference(&self, unit: f64) -> f64 {
        let statistic = self.contrast.statistic(self.same, self.all);
        self.contrast.difference(statistic, unit)
    }

    /// The difference of means of each permutation.
    pub fn permuted_differences(&self, unit: f64) -> impl Iterator<Item = f64> {
        self.permuted.iter().map(move |&same| {
            let statistic = self.contrast.statistic(same, self.all);
            self.contrast.difference(statistic, unit)
        })
    }

    /// How many permutations give at least the observed statistic.
    pub fn count(&self) -> u64 {
        let least = self.same.saturating_sub_unsigned(self.tolerance);
        let extreme = self.permuted.iter().filter(|&&same| same >= least);
        extreme.count() as u64
    }

    /// The one-sided p value.
    pub fn p_value(&self) -> f64 {
        p_value(self.count(), self.permuted.len() as u64)
    }
}

/// The p value of a permutation test in which `count` of `permutations` are at least as extreme as the observation. The
/// observed labels count as one more permutation, so it is never 0.
#[allow(clippy::cast_precision_loss)] // the result is a floating-point number
pub fn p_value(count: u64, permutations: u64) -> f64 {
    (count as f64 + 1.0) / (permutations as f64 + 1.0)
}

fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_statistic_is_a_difference_of_means() {
        // Mean 5 over 4 pairs, mean 3 over 6 pairs.
        let contrast = Contrast::new(4, 6).unwrap();
        assert_eq!(contrast.coefficients(), [3, 2]);
        let statistic = contrast.statistic(20, 38);
        assert_eq!(statistic, 3 * 20 - 2 * 18);
        assert!((contrast.difference(statistic, 0.5) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn both_kinds_of_pairs_are_needed() {
        assert_eq!(Contrast::new(0, 6), Err(StatisticsError::NoSameGroup));
        assert_eq!(Contrast::new(4, 0), Err(StatisticsError::NoDifferentGroups));
    }

    #[test]
    fn ties_count_as_extreme() {
        let mut result = TestResult {
            contrast: Contrast::new(1, 2).unwrap(),
            same: 7,
            all: 10,
            permuted: vec![5, 6, 7, 8],
            tolerance: 0,
        };
        assert_eq!(result.count(), 2);
        assert!((result.p_value() - 0.6).abs() < 1e-15);
        result.tolerance = 1;
        assert_eq!(result.count(), 3);
    }
}

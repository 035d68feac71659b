//! Fixed-point numbers, and the bound within which no sum wraps.

use crate::StatisticsError;

/// Sums stay below this in absolute value, so that a difference of two still fits into 64 bits.
const LIMIT: u128 = 1 << 62;

/// The largest useful number of fractional bits: values come from double-precision numbers.
const MAX_FRACTION_BITS: u32 = 40;

/// The fewest fractional bits: the error of a value is at most 2⁻²⁵.
const MIN_FRACTION_BITS: u32 = 24;

/// Checks that a sum cannot wrap: `terms` values of at most `largest` in absolute value, each with a coefficient of at
/// most `coefficient` in absolute value.
pub fn check_sum(terms: u64, largest: u64, coefficient: u64) -> Result<(), StatisticsError> {
    let sum = u128::from(terms)
        .checked_mul(coefficient.into())
        .and_then(|sum| sum.checked_mul(largest.into()));
    match sum.is_some_and(|sum| sum < LIMIT) {
        true => Ok(()),
        false => Err(StatisticsError::TooManyPairs {
            terms: terms.saturating_mul(coefficient),
            largest,
        }),
    }
}

/// Checks that these values can be added up.
pub(crate) fn check_values<'a>(
    values: impl IntoIterator<Item = &'a i64>,
) -> Result<(), StatisticsError> {
    let (mut terms, mut largest) = (0, 0);
    for value in values {
        terms += 1;
        largest = value.unsigned_abs().max(largest);
    }
    check_sum(terms, largest, 1)
}

/// A fixed-point format: integers with a number of fractional bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedPoint {
    bits: u32,
}

impl FixedPoint {
    /// The format with the most fractional bits, from 24 to 40, for which the sum of `terms` values of at most
    /// `largest` in absolute value cannot wrap.
    pub fn fitting(terms: u64, largest: f64) -> Result<Self, StatisticsError> {
        let fits = |bits: &u32| {
            let largest = (Self { bits: *bits }).value(largest.abs());
            largest.is_ok_and(|largest| check_sum(terms, largest.unsigned_abs(), 1).is_ok())
        };
        let bits = (MIN_FRACTION_BITS..=MAX_FRACTION_BITS).rev().find(fits);
        match bits {
            Some(bits) => Ok(Self { bits }),
            None if !largest.is_finite() => Err(StatisticsError::Value),
            None => Err(StatisticsError::TooManyPairs {
                terms,
                largest: Self { bits: 0 }.value(largest.abs())?.unsigned_abs(),
            }),
        }
    }

    /// The nearest integer.
    #[allow(clippy::cast_possible_truncation)] // checked to be small
    pub fn value(self, number: f64) -> Result<i64, StatisticsError> {
        let scaled = (number / self.unit()).round();
        match scaled.abs() < LIMIT as f64 {
            true => Ok(scaled as i64),
            false => Err(StatisticsError::Value),
        }
    }

    /// The real number that a value of 1 represents.
    pub fn unit(self) -> f64 {
        1.0 / f64::from(1_u32 << (self.bits / 2)) / f64::from(1_u32 << (self.bits - self.bits / 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stay_below_two_to_the_62() {
        assert_eq!(check_sum(4, 1 << 59, 1), Ok(()));
        assert!(check_sum(8, 1 << 59, 1).is_err());
        assert!(check_sum(4, 1 << 59, 2).is_err());
        assert!(check_sum(u64::MAX, u64::MAX, u64::MAX).is_err());
    }

    #[test]
    fn values_have_as_many_bits_as_fit() {
        assert_eq!(FixedPoint::fitting(100, 1.0), Ok(FixedPoint { bits: 40 }));
        assert_eq!(
            FixedPoint::fitting(1 << 30, 1.0),
            Ok(FixedPoint { bits: 31 })
        );
        assert!(FixedPoint::fitting(1 << 30, 1e6).is_err());
        assert!(FixedPoint::fitting(1, f64::NAN).is_err());
        assert!(FixedPoint::fitting(1, 1e300).is_err());
    }

    #[test]
    fn values_are_rounded_to_the_nearest() {
        let point = FixedPoint { bits: 24 };
        assert_eq!(point.value(0.5), Ok(1 << 23));
        assert_eq!(point.value(-1.0), Ok(-(1 << 24)));
        let third = point.value(1.0 / 3.0).unwrap();
        assert!((third as f64 * point.unit() - 1.0 / 3.0).abs() <= point.unit() / 2.0);
        assert!(point.value(f64::INFINITY).is_err());
    }
}

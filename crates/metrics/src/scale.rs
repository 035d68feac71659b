//! Fixed-point numbers: converts decimals to the integers that every engine computes with.
//!
//! A decimal cost `v` becomes `round(v · K)`, halves away from zero, for a scale `K` that both sides agree on. The
//! error of a single cost is at most `1/(2K)`. An alignment of lengths `m` and `n` with `k` substitutions has `m − k`
//! deletions and `n − k` insertions, and the minimum over all alignments changes by no more than the worst alignment
//! does. With `w` for the smaller of `m` and `n`,
//!
//! ```text
//! |score(K) − score| ≤ max(m·d + n·i, w·s + (m−w)·d + (n−w)·i) / (2K)
//! ```
//!
//! where each of `s`, `d`, `i` is 1 if that kind of cost is not an integer multiple of `1/K`, and 0 otherwise.
//! ScanMatch divides by `T · max(m, n)`. Its error does not depend on the lengths (`scanmatch.rs`), so its scale can be
//! chosen by the error. All other metrics use the smallest power of ten that makes every cost an integer.

use crate::{MAX_COST, MetricError};

/// The scale for Needleman–Wunsch with irrational (Euclidean) distances.
pub const DEFAULT_SCALE: u32 = 10_000;

/// The scale for sums of Euclidean distances, as in dynamic time warping.
pub const DEFAULT_DISTANCE_SCALE: u32 = 100;

/// The largest scale.
pub const MAX_SCALE: u32 = 1_000_000;

/// Converts a cost or penalty to an integer.
pub(crate) fn cost(
    name: &'static str,
    value: f64,
    scale: impl Into<f64>,
) -> Result<u32, MetricError> {
    let scale = scale.into();
    if value < 0.0 {
        return Err(MetricError::Negative { name, value });
    }
    let signed = score(name, value, scale)?;
    u32::try_from(signed).map_err(|_| MetricError::TooLarge { name, value, scale })
}

/// Converts a signed score to an integer.
#[allow(clippy::cast_possible_truncation)] // the range is checked just before
pub(crate) fn score(
    name: &'static str,
    value: f64,
    scale: impl Into<f64>,
) -> Result<i32, MetricError> {
    let scale = scale.into();
    if !value.is_finite() {
        return Err(MetricError::NotFinite { name });
    }
    let scaled = (value * scale).round();
    if scaled.abs() > f64::from(MAX_COST) {
        return Err(MetricError::TooLarge { name, value, scale });
    }
    Ok(scaled as i32)
}

/// The scale to use: the given one, or the smallest power of ten that makes every value an integer. If there is none,
/// [`DEFAULT_SCALE`].
pub(crate) fn choose(
    requested: Option<u32>,
    values: impl IntoIterator<Item = f64>,
) -> Result<u32, MetricError> {
    if let Some(scale) = requested {
        return check(scale);
    }
    let mut scale = 1;
    for value in values {
        while !is_whole(value, scale) {
            scale *= 10;
            if scale > MAX_SCALE {
                return Ok(DEFAULT_SCALE);
            }
        }
    }
    Ok(scale)
}

/// Checks that a scale is within bounds.
pub(crate) fn check(scale: u32) -> Result<u32, MetricError> {
    if (1..=MAX_SCALE).contains(&scale) {
        Ok(scale)
    } else {
        Err(MetricError::Scale {
            scale: scale.into(),
        })
    }
}

/// Checks that a scale, which need not be an integer, is within bounds.
pub(crate) fn check_real(scale: f64) -> Result<f64, MetricError> {
    if scale > 0.0 && scale <= f64::from(MAX_SCALE) {
        Ok(scale)
    } else {
        Err(MetricError::Scale { scale })
    }
}

/// Whether `value` is an integer multiple of `1/scale`, up to the precision of a double.
pub(crate) fn is_whole(value: f64, scale: impl Into<f64>) -> bool {
    let scaled = value * scale.into();
    // A decimal's nearest double, and its product with the scale, each have a relative error of at most 2⁻⁵³.
    let tolerance = (4.0 * f64::EPSILON * scaled.abs()).max(1e-9);
    // Non-finite values are rejected when they are converted to costs. Here it is enough that the search terminates.
    !scaled.is_finite() || (scaled - scaled.round()).abs() <= tolerance
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_the_smallest_sufficient_power_of_ten() {
        let chosen = |values: &[f64]| choose(None, values.iter().copied()).unwrap();
        assert_eq!(chosen(&[]), 1);
        assert_eq!(chosen(&[3.0, -2.0, 0.0]), 1);
        assert_eq!(chosen(&[0.1, 0.25]), 100);
        assert_eq!(chosen(&[123_456.789]), 1000);
        assert_eq!(chosen(&[0.000_001]), MAX_SCALE);
        assert_eq!(chosen(&[1.0 / 3.0]), DEFAULT_SCALE);
        assert_eq!(chosen(&[f64::NAN, f64::INFINITY, 0.5]), 10);
        // However large a number is, a half is not an integer.
        assert_eq!(chosen(&[600_000_000.5]), 10);
    }

    #[test]
    fn invalid_numbers_are_named() {
        assert!(matches!(
            choose(Some(0), []),
            Err(MetricError::Scale { .. })
        ));
        assert!(check(MAX_SCALE + 1).is_err() && check(MAX_SCALE).is_ok());
        assert!(matches!(
            cost("gap", -0.1, 1),
            Err(MetricError::Negative { .. })
        ));
        for bad in [f64::NAN, f64::INFINITY] {
            assert!(matches!(
                cost("gap", bad, 1),
                Err(MetricError::NotFinite { .. })
            ));
        }
        let most = f64::from(MAX_COST);
        assert_eq!(cost("gap", most, 1), Ok(MAX_COST));
        assert_eq!(cost("gap", -0.0, 1), Ok(0));
        assert!(cost("gap", most + 1.0, 1).is_err() && score("score", -most - 1.0, 1).is_err());
    }
}

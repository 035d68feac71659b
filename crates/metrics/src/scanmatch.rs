//! What is specific to ScanMatch: its temporal binning, and which numbers make sense for it.

use crate::MetricError;

/// How often ScanMatch's temporal binning repeats the letter of a fixation: `round(duration / bin)`, halves away from
/// zero, so that a fixation shorter than half a bin disappears.
///
/// 0 if that is not a finite positive number: an invalid duration or bin must not fill the memory.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a float-to-integer cast saturates
pub fn temporal_repeats(duration_ms: f64, bin_ms: f64) -> usize {
    let repeats = (duration_ms / bin_ms).round();
    if repeats.is_finite() {
        repeats.max(0.0) as usize
    } else {
        0
    }
}

/// Whether threshold and gap make a metric with non-negative costs.
pub(crate) fn check(threshold: f64, gap: f64) -> Result<(), MetricError> {
    if !threshold.is_finite() || !gap.is_finite() {
        return Err(MetricError::NotFinite {
            name: "ScanMatch threshold or gap",
        });
    }
    if threshold <= 0.0 {
        return Err(MetricError::Threshold { threshold });
    }
    if gap > threshold / 2.0 {
        return Err(MetricError::GapAboveHalfThreshold { gap, threshold });
    }
    Ok(())
}

//! ScanMatch in double precision, as the original toolbox computes it.

use crate::{Distance, Grid, MetricError, Reading, Scanpath};

/// How often ScanMatch's temporal binning repeats the letter of a fixation: `round(duration / bin)`, halves away from
/// zero, so that a fixation shorter than half a bin disappears.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a float-to-integer cast saturates
pub fn temporal_repeats(duration_ms: f64, bin_ms: f64) -> usize {
    (duration_ms / bin_ms).round().max(0.0) as usize
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

/// The normalised score: the best alignment's sum of `T − d` and gaps, over `T · max(m, n)`.
#[allow(clippy::cast_precision_loss)] // lengths are far below 2⁵³
pub(crate) fn score(
    grid: &Grid,
    threshold: f64,
    gap: f64,
    a: &Scanpath,
    b: &Scanpath,
) -> Result<Reading, MetricError> {
    let longer = a.len().max(b.len());
    if longer == 0 {
        return Err(MetricError::EmptyScanMatch);
    }
    let mut row: Vec<f64> = (0..=b.len()).map(|j| j as f64 * gap).collect();
    for (i, &x) in a.letters().iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = (i + 1) as f64 * gap;
        let mut left = row[0];
        for (slot, &y) in row[1..].iter_mut().zip(b.letters()) {
            let pair = threshold - grid.distance(Distance::Euclidean, x, y);
            let best = (diagonal + pair).max(*slot + gap).max(left + gap);
            diagonal = *slot;
            *slot = best;
            left = best;
        }
    }
    let best = row.last().copied().unwrap_or_default();
    Ok(Reading::of_scanmatch(best / (threshold * longer as f64)))
}

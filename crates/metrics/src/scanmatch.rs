//! ScanMatch specifics: temporal binning, parameter checks, and the scale of its integers.
//!
//! # Integers
//! Let T be the threshold, g the gap score, L the larger of the lengths m and n, and C = T − 2g, the cost of an
//! insertion and a deletion together. With k pairs of letters at distances d, an alignment scores
//!
//! ```text
//! (Σ (T − d) + g·(m + n − 2k)) / (T·L)  =  (g·(m + n) + Σ (C − d)) / (T·L)
//! ```
//!
//! So with a scale K, only K·C has to be an integer, not the cost K·C/2 of one gap. The model charges ⌊K·C/2⌋ for
//! insertions and ⌈K·C/2⌉ for deletions, and the score corrects for the difference.
//!
//! # Error
//! Let ε be the largest error |round(K·d)/K − d| over all distances d < C. A pair with d ≥ C never pays off. Its
//! rounded cost is at least K·C, so it does not pay off in integers either. Both maxima are therefore attained by
//! alignments whose pairs all have d < C. Rounding changes the sum of such an alignment, and so the maximum, by at most
//! k·ε. As k ≤ min(m, n) ≤ L,
//!
//! ```text
//! |score(K) − score| ≤ k·ε / (T·L) ≤ ε / T          whatever the lengths
//! ```
//!
//! If K·C is not an integer, insertions and deletions both cost round(K·C/2). Let δ be the error of one gap, and let ε
//! cover all pairs that pay off either exactly or in integers. An alignment changes by at most k·ε + (m + n − 2k)·δ,
//! which is linear in k: at most 2L·δ for k = 0, and L·max(ε, δ) for k = min(m, n). So the bound is max(ε, 2δ) / T.
//!
//! The error of double precision itself, about 10⁻¹³ for long scanpaths, is not counted.
//!
//! # Automatic scale
//! A private engine's work per matrix cell grows with the bits of K·C. [`automatic_scale`] finds the fewest bits for
//! which some integer K·C keeps the error below the precision, and among the integers of that width takes the one with
//! the least error. It uses only correctly rounded operations, so two institutions find the same number on any machine.

use crate::{Distance, Grid, MAX_COST, MetricError, scale};

/// The default error bound for scores with the automatic scale.
pub const DEFAULT_PRECISION: f64 = 1e-3;

/// The smallest error bound that may be requested.
pub(crate) const MIN_PRECISION: f64 = 1e-6;

/// Up to this width of K·C, every integer is tried. Beyond it, the error is taken to be the rounding error alone.
const SEARCHED_BITS: u32 = 20;

/// How often ScanMatch's temporal binning repeats a fixation's letter: `round(duration / bin)`, halves away from zero.
/// A fixation shorter than half a bin disappears.
///
/// Returns 0 if the quotient is not finite and positive, so that an invalid duration or bin cannot exhaust memory.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a float-to-integer cast saturates
pub fn temporal_repeats(duration_ms: f64, bin_ms: f64) -> usize {
    let repeats = (duration_ms / bin_ms).round();
    if repeats.is_finite() {
        repeats.max(0.0) as usize
    } else {
        0
    }
}

/// Checks that threshold and gap give non-negative costs.
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

/// Insertion and deletion costs as integers.
pub(crate) struct Gaps {
    pub(crate) insert: u32,
    pub(crate) delete: u32,
    /// This many units of cost …
    pub(crate) units: f64,
    /// … are this many grid cells.
    pub(crate) cells: f64,
}

impl Gaps {
    pub(crate) fn new(threshold: f64, gap: f64, scale: f64) -> Result<Self, MetricError> {
        const NAME: &str = "ScanMatch gap cost";
        let both = threshold - 2.0 * gap;
        if scale::is_whole(both, scale) {
            let sum = scale::cost(NAME, both, scale)?;
            if sum > 0 {
                return Ok(Self {
                    insert: sum / 2,
                    delete: sum - sum / 2,
                    units: sum.into(),
                    cells: both,
                });
            }
        }
        let each = scale::cost(NAME, both / 2.0, scale)?;
        Ok(Self {
            insert: each,
            delete: each,
            units: scale,
            cells: 1.0,
        })
    }
}

/// The scale K with the fewest bits for K·C that keeps the error of every score below `precision`.
pub(crate) fn automatic_scale(
    grid: &Grid,
    threshold: f64,
    gap: f64,
    precision: f64,
) -> Result<f64, MetricError> {
    check(threshold, gap)?;
    if !(MIN_PRECISION..1.0).contains(&precision) {
        return Err(MetricError::Precision { precision });
    }
    let both = threshold - 2.0 * gap;
    if both <= 0.0 {
        // Gaps are free, so no pair pays off.
        return Ok(1.0);
    }
    let shares: Vec<f64> = distances(grid)
        .into_iter()
        .filter(|&distance| distance < both)
        .map(|distance| distance / both)
        .collect();
    // Errors below are in units of C.
    let tolerated = precision * (threshold / both);
    for bits in 1..=SEARCHED_BITS {
        let mut best = (tolerated, None);
        for sum in 1u32 << (bits - 1)..1 << bits {
            let sum = f64::from(sum);
            // Most integers are ruled out after a distance or two.
            let error = shares.iter().try_fold(0.0f64, |largest, share| {
                let error = ((share * sum).round() / sum - share).abs();
                (error < best.0).then_some(largest.max(error))
            });
            if let Some(error) = error {
                best = (error, Some(sum));
            }
        }
        if let (_, Some(sum)) = best {
            return Ok(sum / both);
        }
    }
    let sum = (0.5 / tolerated).floor() + 1.0;
    if sum > f64::from(MAX_COST) {
        return Err(MetricError::Precision { precision });
    }
    Ok(sum / both)
}

/// The largest error of a score with this scale.
pub(crate) fn error_bound(
    grid: &Grid,
    threshold: f64,
    gap: f64,
    scale: f64,
) -> Result<f64, MetricError> {
    check(threshold, gap)?;
    let Gaps {
        insert,
        delete,
        units,
        cells,
    } = Gaps::new(threshold, gap, scale)?;
    let both = threshold - 2.0 * gap;
    let rounded_both = (f64::from(insert) + f64::from(delete)) / units * cells;
    let of_gap = (rounded_both - both).abs() / 2.0;
    let of_distance = distances(grid)
        .into_iter()
        .map(|distance| (distance, (distance * scale).round() / units * cells))
        .filter(|&(distance, rounded)| distance < both || rounded < rounded_both)
        .map(|(distance, rounded)| (rounded - distance).abs())
        .fold(0.0, f64::max);
    Ok(of_distance.max(2.0 * of_gap) / threshold)
}

/// The distinct distances on a grid, ascending. Each occurs as a distance from the first cell.
fn distances(grid: &Grid) -> Vec<f64> {
    let cells = 0..=u16::try_from(grid.cells() - 1).unwrap_or(u16::MAX);
    let mut all: Vec<f64> = cells
        .map(|cell| grid.distance(Distance::Euclidean, 0, cell))
        .collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(columns: u32, rows: u32) -> Grid {
        Grid::new(columns, rows).unwrap()
    }

    /// The integer K·C and the error bound of the automatic scale.
    fn found(grid: &Grid, threshold: f64, gap: f64, precision: f64) -> (f64, f64) {
        let scale = automatic_scale(grid, threshold, gap, precision).unwrap();
        let bound = error_bound(grid, threshold, gap, scale).unwrap();
        (scale * (threshold - 2.0 * gap), bound)
    }

    #[test]
    fn the_scale_has_the_fewest_bits_and_the_least_error() {
        // Found by an independent search over all integers of each width.
        let cases = [
            ((8, 6), 3.5, 1e-3, 448.0, 5.10e-4),
            ((12, 8), 3.5, 1e-3, 448.0, 5.10e-4),
            ((8, 6), 3.5, 1e-4, 1512.0, 7.90e-5),
            ((12, 8), 5.0, 1e-3, 495.0, 7.49e-4),
            ((8, 6), 2.0, 1e-3, 58.0, 2.10e-4),
            ((12, 8), 7.07, 1e-3, 506.0, 8.51e-4),
        ];
        for ((columns, rows), threshold, precision, sum, error) in cases {
            let (found, bound) = found(&grid(columns, rows), threshold, 0.0, precision);
            assert!((found - sum).abs() < 1e-9, "{found}, not {sum}");
            assert!((bound / error - 1.0).abs() < 5e-3, "{bound}, not {error}");
        }
    }

    #[test]
    fn no_smaller_width_is_precise_enough() {
        for (threshold, gap) in [(3.5, 0.0), (2.6, -0.7), (5.0, 1.1)] {
            let grid = grid(9, 7);
            let (found, bound) = found(&grid, threshold, gap, 1e-3);
            assert!(bound < 1e-3);
            // The smallest number with as many bits.
            let mut smaller = 1u32;
            while f64::from(2 * smaller) <= found {
                smaller *= 2;
            }
            for sum in 1..smaller {
                let scale = f64::from(sum) / (threshold - 2.0 * gap);
                assert!(error_bound(&grid, threshold, gap, scale).unwrap() >= 1e-3);
            }
        }
    }

    #[test]
    fn extreme_numbers_have_a_scale_or_an_error() {
        let large = grid(256, 256);
        // Free gaps; no two letters similar; many distances; expensive gaps.
        for (threshold, gap) in [(3.5, 1.75), (0.5, 0.0), (300.0, 0.0), (1.0, -3e4)] {
            let (_, bound) = found(&large, threshold, gap, 1e-3);
            assert!(bound < 1e-3, "{threshold} {gap}: {bound}");
        }
        assert!(found(&grid(8, 6), 3.5, 0.0, MIN_PRECISION).1 < MIN_PRECISION);
        for precision in [0.0, -1.0, 1.0, f64::NAN, 1e-7] {
            assert_eq!(
                automatic_scale(&large, 3.5, 0.0, precision)
                    .map_err(|error| error.to_string().is_empty()),
                Err(false)
            );
        }
        assert!(automatic_scale(&large, 1.0, -1e12, 1e-3).is_err());
    }

    #[test]
    fn a_rounded_gap_is_part_of_the_bound() {
        // 7/2 · 3 = 10.5 is not an integer. Rounding errors such as that of √2 · 3 are smaller than that of the gap.
        let bound = error_bound(&grid(2, 1), 3.5, 0.0, 3.0).unwrap();
        assert!((bound - 0.5 / 3.0 / 3.5).abs() < 1e-12, "{bound}");
    }
}

//! ScanMatch's best sum in double precision, bit-identical to the textbook recurrence.

use super::Row;
use super::number::Number;
use super::profile::{GROUP, Profile};
use super::sweep::{SweepStep, Sweeper, window};
use super::values::Values;
use crate::Grid;

/// ScanMatch prepared for an alphabet.
pub(crate) struct DoubleKernel {
    gap: f64,
    pairs: Values<f64>,
}

impl DoubleKernel {
    pub(crate) fn new(grid: &Grid, threshold: f64, gap: f64, letters: u32) -> Self {
        Self {
            gap,
            pairs: Values::of_scanmatch(grid, threshold, letters).squared(letters),
        }
    }

    /// The best sums of the shared scanpath with each of the others.
    pub(crate) fn row(&self, row: Row<'_>, mut finished: impl FnMut(usize, f64)) {
        let profile = Profile::new(row, |a, b| self.pairs.get(a, b).to_bits());
        let layout = profile.layout();
        let rows = row.shared.len();
        let mut sweeper = Sweeper::new();
        for (index, &other) in row.others.iter().enumerate() {
            if rows == 0 || other.is_empty() {
                finished(index, multiple(rows + other.len(), self.gap));
                continue;
            }
            let mut sums = Sums {
                gap: self.gap,
                length: other.len(),
                padding: layout.padding,
                blank: 0,
                left: vec![0.0; layout.lanes],
                diagonal: vec![0.0; layout.lanes],
                above: vec![0.0; other.len() + 2 * GROUP],
            };
            for (column, above) in sums.above[GROUP..][..other.len()].iter_mut().enumerate() {
                *above = multiple(other.len() - column, self.gap);
            }
            sweeper.sweep(&profile, other, &mut sums, row.progress);
            finished(index, sums.above[GROUP]);
        }
    }
}

#[allow(clippy::cast_precision_loss)] // lengths are far below 2⁵³
fn multiple(count: usize, gap: f64) -> f64 {
    count as f64 * gap
}

/// The state of a sweep, as in Smith–Waterman. The borders are not zero and floating-point addition is not associative,
/// so lanes outside the matrix must stay unchanged.
struct Sums {
    gap: f64,
    length: usize,
    padding: usize,
    blank: usize,
    left: Vec<f64>,
    diagonal: Vec<f64>,
    above: Vec<f64>,
}

impl SweepStep<u64> for Sums {
    fn begin(&mut self, first_row: usize) {
        self.blank = self.padding.saturating_sub(first_row);
        for (lane, (left, diagonal)) in self.left.iter_mut().zip(&mut self.diagonal).enumerate() {
            let row = (first_row + lane).saturating_sub(self.padding);
            *left = multiple(row + 1, self.gap);
            *diagonal = multiple(row, self.gap);
        }
    }

    #[inline]
    fn step(&mut self, step: usize, values: &[[u64; GROUP]]) {
        let first = (step + 1).saturating_sub(self.length).max(self.blank);
        let last = (step + 1).min(self.left.len());
        if first >= last {
            return;
        }
        let start = window(step, self.length, first);
        let pairs = &values.as_flattened()[first..last];
        for (((left, diagonal), above), pair) in self.left[first..last]
            .iter_mut()
            .zip(&mut self.diagonal[first..last])
            .zip(&mut self.above[start..])
            .zip(pairs)
        {
            let up = *above;
            // Rounding preserves order, so the gap may be added once, after the comparison.
            let gapped = up.larger(*left) + self.gap;
            let best = (*diagonal + f64::from_bits(*pair)).larger(gapped);
            *diagonal = up;
            *left = best;
            *above = best;
        }
    }
}

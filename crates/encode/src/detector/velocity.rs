//! Computes speeds from positions, like pymovements' `pos2vel`: at a constant rate, sample by sample.

use super::{Point, VelocityMethod};
use std::collections::VecDeque;

/// Computes the speed at each sample as soon as all samples that it depends on are known.
#[derive(Debug)]
pub(super) struct VelocityFilter {
    method: VelocityMethod,
    rate_hz: f64,
    /// The weights of the samples in the window, for a polynomial.
    weights: Vec<f64>,
    /// How many samples on either side the speed depends on.
    reach: usize,
    /// The samples around the one whose speed is computed next.
    window: VecDeque<Entry>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    /// `None` before the start and after the end of the recording.
    time: Option<f64>,
    point: Option<Point>,
}

/// A sample with the speed of the eye; `speed` is `None` if it is unknown.
#[derive(Clone, Copy, Debug)]
pub(super) struct SpeedSample {
    pub(super) time: f64,
    pub(super) point: Option<Point>,
    pub(super) speed: Option<f64>,
}

impl VelocityFilter {
    pub(super) fn new(method: VelocityMethod, rate_hz: f64) -> Self {
        let (reach, weights) = match method {
            VelocityMethod::Preceding | VelocityMethod::Neighbors => (1, Vec::new()),
            VelocityMethod::FivePoint => (2, Vec::new()),
            VelocityMethod::SavitzkyGolay { window, degree } => {
                let reach = usize::from(window / 2);
                (reach, slope_weights(reach, usize::from(degree)))
            }
        };
        Self {
            method,
            rate_hz,
            weights,
            reach,
            window: VecDeque::with_capacity(2 * reach + 1),
        }
    }

    /// This many lost samples in a row have the same effect as any larger number.
    pub(super) fn longest_loss(&self) -> usize {
        2 * self.reach + 1
    }

    /// Takes the next sample; returns the one whose speed is now known.
    pub(super) fn push(&mut self, time: f64, point: Option<Point>) -> Option<SpeedSample> {
        if self.window.is_empty() {
            for _ in 0..self.reach {
                self.window.push_back(self.padding(point));
            }
        }
        self.enter(Entry {
            time: Some(time),
            point,
        })
    }

    /// Passes the remaining samples to `each` at the end of the recording.
    pub(super) fn finish(mut self, mut each: impl FnMut(SpeedSample)) {
        let Some(last) = self.window.back().copied() else {
            return;
        };
        let padding = self.padding(last.point);
        for _ in 0..self.reach {
            if let Some(moving) = self.enter(padding) {
                each(moving);
            }
        }
    }

    /// The padding before the start and after the end: no position or, for a polynomial, the position at that edge.
    fn padding(&self, edge: Option<Point>) -> Entry {
        let repeats_edge = matches!(self.method, VelocityMethod::SavitzkyGolay { .. });
        Entry {
            time: None,
            point: edge.filter(|_| repeats_edge),
        }
    }

    fn enter(&mut self, entry: Entry) -> Option<SpeedSample> {
        if self.window.len() > 2 * self.reach {
            self.window.pop_front();
        }
        self.window.push_back(entry);
        if self.window.len() <= 2 * self.reach {
            return None;
        }
        let centre = self.window[self.reach];
        Some(SpeedSample {
            time: centre.time?,
            point: centre.point,
            speed: self.speed(),
        })
    }

    /// The speed at the middle of the window.
    fn speed(&self) -> Option<f64> {
        let x = self.velocity(|point| point.measured.0)?;
        let y = self.velocity(|point| point.measured.1)?;
        Some((x * x + y * y).sqrt())
    }

    fn velocity(&self, coordinate: impl Fn(&Point) -> f64) -> Option<f64> {
        let at = |index: usize| self.window.get(index)?.point.as_ref().map(&coordinate);
        // The operations are in pymovements' order, so that results agree to the last digit.
        match self.method {
            VelocityMethod::Preceding => Some((at(1)? - at(0)?) * self.rate_hz),
            VelocityMethod::Neighbors => Some((at(2)? - at(0)?) * (self.rate_hz / 2.0)),
            VelocityMethod::FivePoint => {
                Some((at(4)? + at(3)? - at(1)? - at(0)?) * (self.rate_hz / 6.0))
            }
            VelocityMethod::SavitzkyGolay { .. } => {
                let mut sum = 0.0;
                for (index, weight) in self.weights.iter().enumerate() {
                    sum += at(index)? * weight;
                }
                Some(sum * self.rate_hz)
            }
        }
    }
}

/// The weights for samples at −reach, …, reach whose weighted sum is the slope at 0 of the polynomial that fits them
/// best.
///
/// With polynomials q₀, q₁, … that are orthonormal on these points, the slope is Σ qₖ′(0) · Σ qₖ(t)·p(t). Because the
/// points are symmetric, each polynomial follows from the previous two: b·qₖ₊₁ = t·qₖ − c·qₖ₋₁.
#[allow(clippy::cast_precision_loss)] // at most 999 samples
fn slope_weights(reach: usize, degree: usize) -> Vec<f64> {
    let times: Vec<f64> = (0..=2 * reach)
        .map(|index| index as f64 - reach as f64)
        .collect();
    let norm = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>().sqrt();
    let mut before = vec![0.0; times.len()];
    let mut values = vec![1.0 / (times.len() as f64).sqrt(); times.len()];
    let (mut slope_before, mut slope, mut at_zero_before, mut at_zero) = (0.0, 0.0, 0.0, values[0]);
    let mut length_before = 0.0;
    let mut weights = vec![0.0; times.len()];
    for _ in 0..degree {
        let next: Vec<f64> = (0..times.len())
            .map(|index| times[index] * values[index] - length_before * before[index])
            .collect();
        let length = norm(&next);
        if length == 0.0 {
            break;
        }
        let next_slope = (at_zero - length_before * slope_before) / length;
        let next_at_zero = -length_before * at_zero_before / length;
        before = values;
        values = next.into_iter().map(|value| value / length).collect();
        (slope_before, slope) = (slope, next_slope);
        (at_zero_before, at_zero) = (at_zero, next_at_zero);
        length_before = length;
        for (weight, value) in weights.iter_mut().zip(&values) {
            *weight += slope * value;
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tables of Savitzky and Golay (1964).
    #[test]
    fn published_weights_are_found() {
        for (reach, degree, expected, norm) in [
            (2, 2, vec![-2.0, -1.0, 0.0, 1.0, 2.0], 10.0),
            (3, 1, vec![-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0], 28.0),
            (2, 3, vec![1.0, -8.0, 0.0, 8.0, -1.0], 12.0),
            (
                3,
                4,
                vec![22.0, -67.0, -58.0, 0.0, 58.0, 67.0, -22.0],
                252.0,
            ),
        ] {
            for (found, expected) in slope_weights(reach, degree).iter().zip(expected) {
                assert!((found * norm - expected).abs() < 1e-12, "{reach}, {degree}");
            }
        }
    }
}

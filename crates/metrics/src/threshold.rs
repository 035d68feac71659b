//! One bit per pair: whether its score meets a threshold.
//!
//! The bit is defined by the number that the user would see: `score ≤ T` for a distance, `score ≥ T` for a similarity,
//! with the score as the metric prints it and both sides in double precision. So it never contradicts a list of scores,
//! and a threshold may have any number of decimals.
//!
//! An engine computes integers. A pair's score is monotonic in the raw result, so the raw results that meet the
//! threshold end at one integer, the [`Bound`], which is found by bisection. Comparing the raw result with it gives the
//! same bit.

use crate::{
    Comparison, CrqaMeasure, GlobalModel, Metric, MetricError, Model, PairScore, PathDivisor,
    RecurrenceModel, ScoreFormula,
};
use std::fmt;

/// A finite number that scores are compared with, in the metric's own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold(f64);

/// Never NaN.
impl Eq for Threshold {}

/// The raw results that meet a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// This result and smaller ones; −1 if there are none.
    AtMost(i64),
    /// This result and larger ones.
    AtLeast(i64),
}

impl Bound {
    /// Whether a raw result meets the threshold.
    pub fn admits(self, raw: i64) -> bool {
        match self {
            Bound::AtMost(bound) => raw <= bound,
            Bound::AtLeast(bound) => raw >= bound,
        }
    }
}

impl Threshold {
    /// A threshold, if the number is finite.
    pub fn new(value: f64) -> Result<Self, MetricError> {
        if !value.is_finite() {
            return Err(MetricError::NotFinite { name: "threshold" });
        }
        // −0 and 0 are the same threshold.
        Ok(Self(value + 0.0))
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether the score meets the threshold: at most the threshold for a distance, at least the threshold for a
    /// similarity.
    pub fn admits(self, metric: &Metric, pair_score: &PairScore) -> bool {
        self.admits_score(metric.is_distance(), pair_score.score())
    }

    fn admits_score(self, distance: bool, score: f64) -> bool {
        if distance {
            score <= self.0
        } else {
            score >= self.0
        }
    }

    /// Rejects a threshold that gives the same answer for every pair: it was probably meant for another metric.
    pub fn check(self, metric: &Metric) -> Result<(), MetricError> {
        let reason = match metric {
            metric if metric.is_distance() && self.0 < 0.0 => "no distance is below 0",
            Metric::ScanMatch { .. } if self.0 > 1.0 => "no ScanMatch score is above 1",
            Metric::ScanMatch { threshold, gap, .. }
                if self.0 <= least_scanmatch(*threshold, *gap) =>
            {
                "with this gap, no ScanMatch score is lower"
            }
            Metric::SmithWaterman { .. } if self.0 <= 0.0 => {
                "every Smith–Waterman score is at least 0"
            }
            Metric::SequenceScore if self.0 > 1.0 => "no sequence score is above 1",
            Metric::SequenceScore if self.0 <= 0.0 => "every sequence score is at least 0",
            Metric::Crqa(_) if self.0 > 100.0 => "no percentage is above 100",
            _ => return Ok(()),
        };
        Err(MetricError::TrivialThreshold {
            threshold: self.0,
            reason,
        })
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Comparison {
    /// Which raw results of scanpaths with `m` and `n` letters meet the threshold.
    pub fn bound(&self, threshold: Threshold, m: usize, n: usize) -> Result<Bound, MetricError> {
        // Errors about the lengths surface here; no read below fails.
        self.read(0, m, n)?;
        let near = |raw: i64| {
            self.read(raw, m, n)
                .is_ok_and(|pair_score| threshold.admits(self.metric(), &pair_score))
        };
        let times = |count: usize, cost: u32| i64::try_from(count as u64 * u64::from(cost));
        let too_long = |_| MetricError::TooLong { length: m.max(n) };
        Ok(match self.model() {
            Model::Global(model) => {
                let all_gaps = times(m, model.delete)
                    .and_then(|deleted| Ok(deleted + times(n, model.insert)?))
                    .map_err(too_long)?;
                Bound::AtMost(last(-1, all_gaps, near))
            }
            Model::Local(_) => {
                let best = times(m.min(n), self.largest()).map_err(too_long)?;
                Bound::AtLeast(last(-1, best, |raw| !near(raw)) + 1)
            }
            Model::Warping(_) => {
                let largest = times(m + n, self.largest()).map_err(too_long)?;
                Bound::AtMost(last(-1, largest, near))
            }
            Model::Bottleneck(model) | Model::Hausdorff(model) => {
                Bound::AtMost(last(-1, model.ranks.largest().into(), near))
            }
            Model::Recurrence(model) => bound_of_recurrence(model, m, n, near)?,
            Model::Reward(_) => {
                let largest = times(m + n, self.largest()).map_err(too_long)?;
                Bound::AtMost(last(-1, largest, near))
            }
            Model::Clear => return Err(MetricError::NoIntegers),
        })
    }

    /// The bound for an engine that hides the lengths. It applies to the *adjusted* result: the raw result or, for a
    /// maximised Needleman–Wunsch score, `per_letter·(m + n)` minus the raw result. [`Model::read_without_lengths`]
    /// takes the same number. ScanMatch divides by a length and has no such bound.
    pub fn bound_without_lengths(&self, threshold: Threshold) -> Result<Bound, MetricError> {
        /// The largest adjusted result: costs are at most 2³⁰ and lengths at most 2³¹.
        const MAX_ADJUSTED: i64 = 1 << 62;
        let distance = self.metric().is_distance();
        let near = |adjusted: i64| {
            let pair_score = self.model().read_without_lengths(adjusted);
            pair_score.is_ok_and(|pair_score| threshold.admits_score(distance, pair_score.score()))
        };
        self.model().read_without_lengths(0)?;
        if let Model::Recurrence(model) = self.model() {
            return bound_of_recurrence(model, 1, 1, near);
        }
        Ok(if distance {
            Bound::AtMost(last(-1, MAX_ADJUSTED, near))
        } else {
            Bound::AtLeast(last(-MAX_ADJUSTED - 1, MAX_ADJUSTED, |adjusted| !near(adjusted)) + 1)
        })
    }
}

impl Model {
    /// Computes the adjusted result, which [`Model::read_without_lengths`] takes, from a raw result and the lengths.
    #[allow(clippy::cast_possible_wrap)] // lengths are far below 2⁶³
    pub fn adjusted(&self, raw: i64, m: usize, n: usize) -> i64 {
        match self {
            Model::Global(GlobalModel {
                formula: ScoreFormula::Reward { per_letter, .. },
                ..
            }) => i64::from(*per_letter) * (m + n) as i64 - raw,
            _ => raw,
        }
    }

    /// The user's score when the lengths are hidden, from the adjusted result that
    /// [`Comparison::bound_without_lengths`] describes. There is no similarity, because it would reveal the lengths.
    #[allow(clippy::cast_precision_loss)] // results beyond 2⁵³ keep 53 significant bits
    pub fn read_without_lengths(&self, adjusted: i64) -> Result<PairScore, MetricError> {
        let scale = match self {
            Model::Local(model) => f64::from(model.scale),
            Model::Global(model) => match model.formula {
                ScoreFormula::Cost { scale } => f64::from(scale),
                ScoreFormula::Reward { scale, .. } => 2.0 * f64::from(scale),
                ScoreFormula::ScanMatch { .. } | ScoreFormula::CommonSubsequence => {
                    return Err(MetricError::NeedsLengths);
                }
            },
            Model::Warping(model) if model.divisor == PathDivisor::None => {
                return Ok(PairScore::single(adjusted as f64 / f64::from(model.scale)));
            }
            Model::Bottleneck(model) | Model::Hausdorff(model) => return model.read(adjusted),
            // Ratios of points do not depend on the lengths.
            Model::Recurrence(model) if !model.divides_by_length() => {
                return model.read(adjusted, 1, 1);
            }
            Model::Reward(model) if !model.divides() => return Ok(model.read(adjusted, 1, 1)),
            Model::Warping(_) | Model::Recurrence(_) | Model::Reward(_) => {
                return Err(MetricError::NeedsLengths);
            }
            Model::Clear => return Err(MetricError::NoIntegers),
        };
        Ok(PairScore::new(adjusted as f64 / scale, None))
    }
}

/// A number that no ScanMatch score is below: that of an alignment which consists of gaps only. Divided by the longer
/// length, there is at least one gap per letter, and there are at most two.
fn least_scanmatch(threshold: f64, gap: f64) -> f64 {
    let gaps = if gap > 0.0 { 1.0 } else { 2.0 };
    gaps * gap / threshold
}

/// The bound for a cross-recurrence analysis with a single measure that is defined for every pair.
fn bound_of_recurrence(
    model: &RecurrenceModel,
    m: usize,
    n: usize,
    near: impl Fn(i64) -> bool,
) -> Result<Bound, MetricError> {
    match model.measures[..] {
        [measure] if !model.has_undefined() => {
            // The largest integer of a ratio means undefined.
            let undefined = u64::from(measure != CrqaMeasure::Rec);
            let largest = i64::try_from(measure.largest(m, n) - undefined);
            let largest = largest.map_err(|_| MetricError::TooLong { length: m.max(n) })?;
            Ok(Bound::AtLeast(last(-1, largest, |raw| !near(raw)) + 1))
        }
        _ => Err(MetricError::OneMeasure),
    }
}

/// The last number above `low` and up to `high` for which `predicate` is true; `low` if there is none. Once the
/// predicate is false, it must stay false.
fn last(low: i64, high: i64, predicate: impl Fn(i64) -> bool) -> i64 {
    let (mut inside, mut outside) = (low, high + 1);
    // `midpoint` does not overflow, unlike the difference of the two numbers.
    while inside + 1 < outside {
        let middle = inside.midpoint(outside);
        if predicate(middle) {
            inside = middle;
        } else {
            outside = middle;
        }
    }
    inside
}

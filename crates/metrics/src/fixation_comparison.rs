//! A measure of fixations, with their own coordinates and durations: compare one pair, or many on all cores.

use crate::kernel::recurrence;
use crate::measures::{Factors, Plane, hausdorff, least_longest, least_sum, recurrence_rows};
use crate::{
    Alphabet, Crqa, Dtw, Fixations, Frechet, Hausdorff, Metric, MetricError, Notation, PairScore,
    Points, RecurrenceRule, RecurrentLines, Screen,
};
use rayon::prelude::*;
use std::sync::Arc;

/// A metric that [needs fixations](Metric::needs_fixations), with the screen that they were on.
#[derive(Clone, Debug, PartialEq)]
pub struct FixationComparison {
    metric: Metric,
    screen: Screen,
    /// For ScaSim.
    factors: Option<Arc<Factors>>,
}

impl FixationComparison {
    /// Checks that the metric's numbers make sense.
    pub fn new(metric: Metric, screen: Screen) -> Result<Self, MetricError> {
        if !metric.needs_fixations() {
            let metric = metric.name();
            return Err(MetricError::NeedsFixations { metric });
        }
        metric.model(&Alphabet::full(Notation::Numbers))?;
        let factors = match &metric {
            Metric::ScaSim(scasim) => Some(Arc::new(Factors::new(scasim.modulator))),
            _ => None,
        };
        Ok(Self {
            metric,
            screen,
            factors,
        })
    }

    /// The metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// Compares two scanpaths.
    pub fn compare(&self, a: &Fixations, b: &Fixations) -> Result<PairScore, MetricError> {
        let needs_points = !matches!(self.metric, Metric::ScaSim(_) | Metric::MultiMatch(_));
        if needs_points && (a.is_empty() || b.is_empty()) {
            let metric = self.metric.name();
            return Err(MetricError::EmptyScanpath { metric });
        }
        crate::model::check_lengths(a.len(), b.len())?;
        let planes = || [a, b].map(|fixations| Plane::new(fixations.list()));
        Ok(match &self.metric {
            Metric::ScaSim(scasim) => match &self.factors {
                Some(factors) => scasim.distance(factors, a.list(), b.list()),
                None => scasim.distance(&Factors::new(scasim.modulator), a.list(), b.list()),
            },
            Metric::MultiMatch(multimatch) => multimatch.compare(a.list(), b.list(), &self.screen),
            Metric::Dtw(Dtw { divisor, .. }) => {
                let [first, second] = planes();
                let sum = least_sum(&first, &second);
                PairScore::single(divisor.divide(sum, a.len(), b.len()))
            }
            Metric::Frechet(Frechet { .. }) => {
                let [first, second] = planes();
                PairScore::single(least_longest(&first, &second))
            }
            Metric::Hausdorff(Hausdorff { .. }) => {
                let [first, second] = planes();
                PairScore::single(hausdorff(&first, &second))
            }
            Metric::Crqa(
                crqa @ Crqa {
                    rule:
                        RecurrenceRule::Within {
                            points: Points::Fixations,
                            radius,
                        },
                    ..
                },
            ) => {
                let [first, second] = planes();
                let rows = recurrence_rows(&first, &second, *radius);
                let counted = recurrence::count(&rows, crqa.line);
                let lines = match crqa.has_lines() {
                    true => recurrence::lines(&rows, crqa.line),
                    false => RecurrentLines::default(),
                };
                crqa.exact(&counted, &lines, a.len(), b.len())
            }
            metric => {
                return Err(MetricError::NeedsFixations {
                    metric: metric.name(),
                });
            }
        })
    }

    /// Compares many pairs on all cores, in the order given; a pair has an index into `a` and one into `b`. `progress` is
    /// called with the number of finished matrix cells, from several threads.
    pub fn compare_pairs(
        &self,
        a: &[&Fixations],
        b: &[&Fixations],
        pairs: &[(usize, usize)],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<PairScore>, MetricError> {
        fn get<'a>(all: &[&'a Fixations], index: usize) -> Result<&'a Fixations, MetricError> {
            let count = all.len();
            let found = all.get(index).copied();
            found.ok_or(MetricError::NoSuchScanpath { index, count })
        }
        let compare = |&(i, j): &(usize, usize)| {
            let (first, second) = (get(a, i)?, get(b, j)?);
            let score = self.compare(first, second)?;
            progress(first.len() as u64 * second.len() as u64);
            Ok(score)
        };
        pairs.par_iter().map(compare).collect()
    }
}

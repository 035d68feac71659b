//! A metric of fixations with their original coordinates and durations: compares one pair, or many on all cores.

use crate::kernel::recurrence;
use crate::non_alignment::{
    Factors, GazeDirections, Plane, Saccades, frechet_distance, hausdorff, recurrence_rows,
    warping_distance,
};
use crate::{
    Alphabet, Crqa, Dtw, Fixations, Frechet, Hausdorff, Metric, MetricError, Notation, PairScore,
    Positions, RecurrenceRule, RecurrentLines, Screen,
};
use rayon::prelude::*;
use std::sync::Arc;

/// A metric that [needs fixations](Metric::needs_fixations), with the screen they were recorded on.
#[derive(Clone, Debug, PartialEq)]
pub struct FixationComparison {
    metric: Metric,
    screen: Screen,
    /// For ScaSim.
    factors: Option<Arc<Factors>>,
}

/// A scanpath in the form that the metric compares, prepared once for all pairs.
enum Prepared {
    Directions(GazeDirections),
    Saccades(Saccades),
    Points(Plane),
}

impl FixationComparison {
    /// Fails if the metric's parameters are invalid.
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
        self.check(a, b)?;
        self.compare_prepared(&self.prepare(a), &self.prepare(b), a.len(), b.len())
    }

    fn check(&self, a: &Fixations, b: &Fixations) -> Result<(), MetricError> {
        let needs_points = !matches!(self.metric, Metric::ScaSim(_) | Metric::MultiMatch(_));
        if needs_points && (a.is_empty() || b.is_empty()) {
            let metric = self.metric.name();
            return Err(MetricError::EmptyScanpath { metric });
        }
        crate::model::check_lengths(a.len(), b.len())
    }

    fn prepare(&self, fixations: &Fixations) -> Prepared {
        let list = fixations.list();
        match &self.metric {
            Metric::ScaSim(scasim) => Prepared::Directions(GazeDirections::new(&scasim.view, list)),
            Metric::MultiMatch(multimatch) => Prepared::Saccades(multimatch.saccades(list)),
            _ => Prepared::Points(Plane::new(list)),
        }
    }

    /// Compares two prepared scanpaths, whose lengths have been checked.
    fn compare_prepared(
        &self,
        a: &Prepared,
        b: &Prepared,
        m: usize,
        n: usize,
    ) -> Result<PairScore, MetricError> {
        Ok(match (&self.metric, a, b) {
            (Metric::ScaSim(scasim), Prepared::Directions(a), Prepared::Directions(b)) => {
                match &self.factors {
                    Some(factors) => scasim.distance(factors, a, b),
                    None => scasim.distance(&Factors::new(scasim.modulator), a, b),
                }
            }
            (Metric::MultiMatch(multimatch), Prepared::Saccades(a), Prepared::Saccades(b)) => {
                multimatch.compare(a, b, self.screen.diagonal())
            }
            (Metric::Dtw(Dtw { divisor, .. }), Prepared::Points(a), Prepared::Points(b)) => {
                PairScore::single(divisor.divide(warping_distance(a, b), m, n))
            }
            (Metric::Frechet(Frechet { .. }), Prepared::Points(a), Prepared::Points(b)) => {
                PairScore::single(frechet_distance(a, b))
            }
            (Metric::Hausdorff(Hausdorff { .. }), Prepared::Points(a), Prepared::Points(b)) => {
                PairScore::single(hausdorff(a, b))
            }
            (
                Metric::Crqa(
                    crqa @ Crqa {
                        rule:
                            RecurrenceRule::Within {
                                positions: Positions::Fixations,
                                radius,
                            },
                        ..
                    },
                ),
                Prepared::Points(a),
                Prepared::Points(b),
            ) => {
                let rows = recurrence_rows(a, b, *radius);
                let counted = recurrence::count(&rows, crqa.line);
                let lines = match crqa.has_lines() {
                    true => recurrence::lines(&rows, crqa.line),
                    false => RecurrentLines::default(),
                };
                crqa.exact(&counted, &lines, m, n)
            }
            (metric, ..) => {
                return Err(MetricError::NeedsFixations {
                    metric: metric.name(),
                });
            }
        })
    }

    /// Compares many pairs on all cores. Results are in the order of `pairs`; each pair is an index into `a` and one
    /// into `b`. `progress` is called from several threads with the number of finished matrix cells.
    pub fn compare_pairs(
        &self,
        a: &[&Fixations],
        b: &[&Fixations],
        pairs: &[(usize, usize)],
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<Vec<PairScore>, MetricError> {
        let first = self.prepare_used(a, pairs.iter().map(|pair| pair.0));
        let second = self.prepare_used(b, pairs.iter().map(|pair| pair.1));
        let compare = |&(i, j): &(usize, usize)| {
            let ((first, x), (second, y)) = (get(&first, a, i)?, get(&second, b, j)?);
            self.check(x, y)?;
            let score = self.compare_prepared(first, second, x.len(), y.len())?;
            progress(x.len() as u64 * y.len() as u64);
            Ok(score)
        };
        pairs.par_iter().map(compare).collect()
    }

    /// Prepares the scanpaths with these indices. Indices out of range are ignored.
    fn prepare_used(
        &self,
        all: &[&Fixations],
        used: impl Iterator<Item = usize>,
    ) -> Vec<Option<Prepared>> {
        let mut prepared: Vec<Option<Prepared>> = all.iter().map(|_| None).collect();
        for index in used {
            if let (Some(slot @ None), Some(fixations)) = (prepared.get_mut(index), all.get(index))
            {
                *slot = Some(self.prepare(fixations));
            }
        }
        prepared
    }
}

/// Looks up a scanpath, prepared and original.
fn get<'a>(
    prepared: &'a [Option<Prepared>],
    all: &[&'a Fixations],
    index: usize,
) -> Result<(&'a Prepared, &'a Fixations), MetricError> {
    let count = all.len();
    let found = prepared.get(index).and_then(Option::as_ref);
    let found = found.zip(all.get(index).copied());
    found.ok_or(MetricError::NoSuchScanpath { index, count })
}

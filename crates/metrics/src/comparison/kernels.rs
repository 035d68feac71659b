//! Selects the kernel for a metric.

use super::Comparison;
use crate::kernel::double::DoubleKernel;
use crate::kernel::global::{GlobalKernel, RewardKernel};
use crate::kernel::local::LocalKernel;
use crate::kernel::walk::WarpingKernel;
use crate::kernel::{Row, hausdorff, levenshtein, recurrence, subsequence, walk};
use crate::non_alignment::{Crqa, Dtw, PathDivisor, SubsMatch};
use crate::{Costs, Metric, MetricError, Model, PairScore, RankModel, RecurrenceModel};

/// Kernels that are prepared once for all pairs.
pub(super) struct Kernels {
    integer: IntegerKernel,
    exact: Option<ExactKernel>,
    largest: i64,
}

enum IntegerKernel {
    /// All edits cost the same.
    Levenshtein {
        cost: i64,
    },
    /// Replacing a letter never costs less than a deletion and an insertion.
    Subsequence {
        insert: i64,
        delete: i64,
    },
    Global(GlobalKernel),
    Local(LocalKernel),
    Warping(WarpingKernel),
    Bottleneck(RankModel),
    Hausdorff(RankModel),
    Recurrence(RecurrenceModel),
    Reward(RewardKernel),
    None,
}

/// Metrics that are computed in double precision in the clear unless integers are requested.
enum ExactKernel {
    /// As in the original toolbox.
    ScanMatch {
        threshold: f64,
        kernel: DoubleKernel,
    },
    Warping(PathDivisor, WarpingKernel),
    Recurrence(Crqa, RecurrenceModel),
    SubsMatch(SubsMatch),
}

impl Kernels {
    pub(super) fn new(metric: &Metric, model: &Model, letters: u32) -> Self {
        let integer = match model {
            Model::Local(model) => IntegerKernel::Local(LocalKernel::new(model, letters)),
            Model::Global(model) => match model.costs {
                Costs::Unit { mismatch }
                    if mismatch == model.insert && mismatch == model.delete =>
                {
                    IntegerKernel::Levenshtein {
                        cost: i64::from(mismatch),
                    }
                }
                Costs::Unit { mismatch }
                    if mismatch >= model.insert.saturating_add(model.delete)
                        && letters <= subsequence::MAX_LETTERS =>
                {
                    IntegerKernel::Subsequence {
                        insert: i64::from(model.insert),
                        delete: i64::from(model.delete),
                    }
                }
                _ => IntegerKernel::Global(GlobalKernel::new(model, letters)),
            },
            Model::Warping(model) => IntegerKernel::Warping(WarpingKernel::new(model, letters)),
            Model::Bottleneck(model) => IntegerKernel::Bottleneck(model.clone()),
            Model::Hausdorff(model) => IntegerKernel::Hausdorff(model.clone()),
            Model::Recurrence(model) => IntegerKernel::Recurrence(model.clone()),
            Model::Reward(model) => IntegerKernel::Reward(RewardKernel::new(model, letters)),
            Model::Clear => IntegerKernel::None,
        };
        let exact = match (metric, model) {
            (
                Metric::ScanMatch {
                    grid,
                    wrap,
                    threshold,
                    gap,
                    scale: None,
                },
                _,
            ) => Some(ExactKernel::ScanMatch {
                threshold: *threshold,
                kernel: DoubleKernel::new(&grid.with_wrap(*wrap), *threshold, *gap, letters),
            }),
            (
                Metric::Dtw(Dtw {
                    scale: None,
                    divisor,
                    ..
                }),
                Model::Warping(model),
            ) => {
                let kernel = WarpingKernel::new(model, letters);
                Some(ExactKernel::Warping(*divisor, kernel))
            }
            (Metric::Crqa(crqa), Model::Recurrence(model)) if !crqa.rounded || crqa.has_lines() => {
                Some(ExactKernel::Recurrence(crqa.clone(), model.clone()))
            }
            (Metric::SubsMatch(subsmatch), _) => Some(ExactKernel::SubsMatch(*subsmatch)),
            _ => None,
        };
        Self {
            integer,
            exact,
            largest: model.largest(letters),
        }
    }

    /// The largest cost or score of a pair of letters.
    pub(super) fn largest(&self) -> i64 {
        self.largest
    }

    /// Computes the user's numbers for the shared scanpath with each of the others.
    pub(super) fn scores(
        &self,
        comparison: &Comparison,
        row: Row<'_>,
        mut finished: impl FnMut(usize, Result<PairScore, MetricError>),
    ) {
        match &self.exact {
            None => self.raw(row, |index, raw| {
                let (m, n) = row.lengths(index);
                finished(index, raw.and_then(|raw| comparison.read(raw, m, n)));
            }),
            Some(ExactKernel::ScanMatch { threshold, kernel }) => kernel.row(row, |index, sum| {
                let (m, n) = row.lengths(index);
                finished(index, Ok(scanmatch(sum, *threshold, m.max(n))));
            }),
            Some(ExactKernel::Warping(divisor, kernel)) => kernel.exact_row(row, |index, sum| {
                let (m, n) = row.lengths(index);
                finished(index, Ok(PairScore::single(divisor.divide(sum, m, n))));
            }),
            Some(ExactKernel::Recurrence(crqa, model)) => {
                recurrence::row(model, row, |index, counted, lines| {
                    let (m, n) = row.lengths(index);
                    finished(index, Ok(crqa.exact(&counted, &lines, m, n)));
                });
            }
            Some(ExactKernel::SubsMatch(subsmatch)) => {
                let shared = subsmatch.grams(row.shared);
                for (index, other) in row.others.iter().enumerate() {
                    let similarity = shared.similarity(&subsmatch.grams(other));
                    (row.progress)(row.cells(index));
                    finished(index, Ok(PairScore::from_numbers([similarity])));
                }
            }
        }
    }

    /// Computes the raw results for the shared scanpath with each of the others.
    #[allow(clippy::cast_possible_wrap)] // a distance is at most `MAX_LENGTH`
    pub(super) fn raw(
        &self,
        row: Row<'_>,
        mut finished: impl FnMut(usize, Result<i64, MetricError>),
    ) {
        let mut finish = |index: usize, raw: i64| finished(index, Ok(raw));
        match &self.integer {
            IntegerKernel::Levenshtein { cost } => {
                levenshtein::row(row, |index, edits| {
                    (row.progress)(row.cells(index));
                    finish(index, edits as i64 * cost);
                });
            }
            IntegerKernel::Subsequence { insert, delete } => {
                subsequence::row(row, |index, common| {
                    let (m, n) = row.lengths(index);
                    let (deleted, inserted) = (m - common, n - common);
                    finish(index, deleted as i64 * delete + inserted as i64 * insert);
                });
            }
            IntegerKernel::Global(kernel) => kernel.row(row, finish),
            IntegerKernel::Local(kernel) => kernel.row(row, finish),
            IntegerKernel::Warping(kernel) => kernel.row(row, finish),
            IntegerKernel::Bottleneck(model) => walk::bottlenecks(model, row, finish),
            IntegerKernel::Hausdorff(model) => hausdorff::row(model, row, finish),
            IntegerKernel::Recurrence(model) => recurrence::row(model, row, |index, counted, _| {
                let (m, n) = row.lengths(index);
                finished(index, model.raw(&counted, m, n));
            }),
            IntegerKernel::Reward(kernel) => kernel.row(row, finish),
            IntegerKernel::None => {
                (0..row.others.len())
                    .for_each(|index| finished(index, Err(MetricError::NoIntegers)));
            }
        }
    }
}

/// The caller rules out a threshold of 0 and two empty scanpaths.
#[allow(clippy::cast_precision_loss)] // lengths are far below 2⁵³
fn scanmatch(sum: f64, threshold: f64, longer: usize) -> PairScore {
    PairScore::of_scanmatch(sum / (threshold * longer as f64))
}

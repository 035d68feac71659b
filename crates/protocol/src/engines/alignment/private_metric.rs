//! Which circuit computes a metric, and how its output becomes the raw result.
//!
//! All of this follows from the agreed metric and the lengths, so both sides compute the same. Costs are first divided
//! by their common divisor, because the width of a matrix cell, and so its whole cost, depends on their size.
//!
//! With hidden lengths, every scanpath is filled up with a padding letter, which is not in the alphabet. Substituting padding
//! for anything costs as much as a deletion and an insertion. (In a local alignment its score is so low that it is never
//! used.) So padding changes no difference between neighbouring cells, and the sum of the last row is the same as without
//! padding. Warping, Fréchet and Hausdorff distances need at least one letter of padding at the end of every scanpath
//! ([`ends_in_padding`]); their cells define what it costs. In a recurrence plot, padding has no points.

pub(in crate::engines) use super::circuit::Circuit;

use super::entries::{Entries, gcd};
use crate::Job;
use subtle::{ConditionallySelectable, ConstantTimeEq};
use veilpath_metrics::{
    CrqaMeasure, Metric, Model, RankModel, RewardModel, Scanpath, ScoreFormula, Undefined,
};
use veilpath_mpc::alignment::Fold;
use veilpath_mpc::circuit::cells::{
    ClippedCell, DifferenceCell, FrechetCell, HausdorffCell, LocalCell, SavingCell, UnitCell,
    WarpingCell,
};
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::circuit::recurrence::{RecurrenceOutput, RecurrenceOutputs};
use veilpath_mpc::ot::lookup::MAX_STRIPS;
use veilpath_mpc::wavefront::{STRIP_ROWS, Shape};

/// A metric in the form that `garbled` and `shares` compute.
#[derive(Clone, Debug)]
pub(crate) struct PrivateMetric {
    pub(super) kind: RecurrenceKind,
    /// The common divisor of all costs.
    pub(super) divisor: u64,
    alphabet: u32,
    pub(super) padding: Option<Padding>,
    /// The distance of each rank, in [`UNITS`], if numbers are ranks.
    pub(super) distances: Vec<u64>,
    /// The duration of each letter, divided like rewards, if durations are added.
    durations: Vec<u64>,
}

/// Fixed-point units per distance in group answers. A power of two, so that scaling by it does not round.
pub(crate) const UNITS: f64 = 65_536.0;

/// The largest lengths among some pairs, as far as a circuit depends on them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::engines) struct MaxLengths {
    /// The longest among the shorter scanpaths of each pair.
    pub(super) shorter: u32,
    /// The longest among the longer scanpaths of each pair.
    pub(super) longer: u32,
}

impl MaxLengths {
    /// The lengths of one pair.
    pub(in crate::engines) fn of(rows: u32, columns: u32) -> Self {
        Self {
            shorter: rows.min(columns),
            longer: rows.max(columns),
        }
    }

    /// The largest lengths of two sets of pairs together.
    pub(in crate::engines) fn max(self, other: Self) -> Self {
        Self {
            shorter: self.shorter.max(other.shorter),
            longer: self.longer.max(other.longer),
        }
    }
}

/// The recurrence of a metric. Costs and scores are divided by the common divisor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RecurrenceKind {
    /// Gaps of 1, substitutions of 0 or 1.
    Unit,
    /// Gaps of 1, substitutions of 0, 1 or 2.
    Clipped,
    /// Any global alignment.
    Difference { insert: u64, delete: u64 },
    /// A local alignment; `best` is the largest score of two letters.
    Local { gap: u64, best: u64 },
    /// Durations that an alignment with free gaps leaves unrewarded; `largest` is the largest duration and reward.
    Reward { largest: u64 },
    /// Dynamic time warping; `largest` is the largest distance of two letters.
    Warping { largest: u64 },
    /// The discrete Fréchet distance; `largest` is the largest rank of a distance.
    Frechet { largest: u64 },
    /// The Hausdorff distance; `largest` is the largest rank of a distance.
    Hausdorff { largest: u64 },
    /// A recurrence plot.
    CrossRecurrence(RecurrenceOutputs),
}

/// How lengths are hidden.
#[derive(Clone, Copy, Debug)]
pub(super) struct Padding {
    /// The padded length of every scanpath.
    pub(super) length: u32,
    /// What each letter adds to a maximised score, divided like costs; `None` if the result is a cost.
    pub(super) reward: Option<u64>,
}

impl PrivateMetric {
    /// The metric of a job.
    pub(crate) fn of(job: &Job<'_>) -> Self {
        Self::new(
            job.comparison.model(),
            job.comparison.alphabet().size(),
            job.pad_to.and_then(|length| u32::try_from(length).ok()),
        )
    }

    pub(crate) fn new(model: &Model, alphabet: u32, padding: Option<u32>) -> Self {
        let entries = Entries::new(model, alphabet);
        let reward = match model {
            Model::Global(global) => match global.formula {
                ScoreFormula::Reward { per_letter, .. } => Some(u64::from(per_letter)),
                _ => None,
            },
            _ => None,
        };
        let ranks = |model: &RankModel| entries.largest(model.ranks.largest().into(), 1);
        let (kind, divisor) = match model {
            Model::Global(costs) => {
                let (insert, delete) = (u64::from(costs.insert), u64::from(costs.delete));
                // Rewards that are added inside the circuit are divided as well.
                let rewards = padding.and(reward).unwrap_or(0);
                let gap_divisor = gcd(rewards, gcd(insert, delete));
                let divisor = entries.divisor(gap_divisor, insert + delete);
                let (insert, delete) = (insert / divisor, delete / divisor);
                let largest = entries.largest(insert + delete, divisor);
                let kind = match (insert, delete) {
                    (1, 1) if largest <= 1 && padding.is_none() => RecurrenceKind::Unit,
                    (1, 1) => RecurrenceKind::Clipped,
                    _ => RecurrenceKind::Difference { insert, delete },
                };
                (kind, divisor)
            }
            Model::Local(local) => {
                let gap = u64::from(local.gap);
                let divisor = entries.divisor(gap, 2 * gap);
                let best = local.scores.largest().max(0).unsigned_abs();
                let kind = RecurrenceKind::Local {
                    gap: gap / divisor,
                    best: u64::from(best) / divisor,
                };
                (kind, divisor)
            }
            Model::Reward(rewards) => {
                let duration_divisor = durations(rewards, alphabet).into_iter().fold(0, gcd);
                let divisor = entries.divisor(duration_divisor, u64::MAX);
                let largest = u64::from(rewards.largest()) / divisor;
                (RecurrenceKind::Reward { largest }, divisor)
            }
            Model::Warping(warping) => {
                let divisor = entries.divisor(0, u64::MAX);
                let max_cost = u64::from(warping.largest(alphabet)) / divisor;
                let largest = entries.largest(max_cost, divisor);
                (RecurrenceKind::Warping { largest }, divisor)
            }
            Model::Bottleneck(model) => {
                let largest = ranks(model);
                (RecurrenceKind::Frechet { largest }, 1)
            }
            Model::Hausdorff(model) => {
                let largest = ranks(model);
                (RecurrenceKind::Hausdorff { largest }, 1)
            }
            Model::Recurrence(model) => {
                let outputs: Vec<_> = model.measures.iter().map(output_of).collect();
                let undefined_is_zero = model.undefined == Undefined::Zero;
                let outputs =
                    RecurrenceOutputs::new(&outputs, model.line as usize, undefined_is_zero);
                (RecurrenceKind::CrossRecurrence(outputs), 1)
            }
            // Rejected before anything is computed: `Engine::can_compute`.
            Model::Clear => (RecurrenceKind::Unit, 1),
        };
        Self {
            kind,
            divisor,
            alphabet,
            padding: padding.map(|length| Padding {
                length,
                reward: reward.map(|reward| reward / divisor),
            }),
            distances: match (model, kind) {
                (Model::Bottleneck(model), RecurrenceKind::Frechet { largest })
                | (Model::Hausdorff(model), RecurrenceKind::Hausdorff { largest }) => {
                    distances(model, largest)
                }
                _ => Vec::new(),
            },
            durations: match model {
                Model::Reward(rewards) => {
                    let all = durations(rewards, alphabet).into_iter();
                    all.map(|duration| duration / divisor).collect()
                }
                _ => Vec::new(),
            },
        }
    }

    /// What a scanpath adds to the result apart from its alignment: 1, or the duration, for each letter.
    pub(in crate::engines) fn weight(&self, scanpath: &Scanpath) -> u64 {
        match self.kind {
            RecurrenceKind::Reward { .. } => {
                // Reads all durations for each letter, so that no address depends on a letter.
                let duration = |letter: &u16| {
                    let durations = (0..).zip(&self.durations);
                    durations.fold(0, |found, (number, duration): (u64, &u64)| {
                        let is_equal = number.ct_eq(&u64::from(*letter));
                        u64::conditional_select(&found, duration, is_equal)
                    })
                };
                scanpath.letters().iter().map(duration).sum()
            }
            _ => scanpath.len() as u64,
        }
    }

    /// Whether the result of a pair follows from the lengths. It does if a scanpath is empty, unless the other one's durations are
    /// added.
    pub(crate) fn follows_from_lengths(&self, rows: u32, columns: u32) -> bool {
        (rows == 0 || columns == 0) && !matches!(self.kind, RecurrenceKind::Reward { .. })
    }

    /// The cost for the entry of two letters, divided by the common divisor; rewards are saved costs.
    pub(super) fn cost(&self, entry: i64) -> i64 {
        match self.kind {
            RecurrenceKind::Reward { largest } => {
                i64::try_from(largest).unwrap_or(i64::MAX) - entry
            }
            _ => entry,
        }
    }

    /// The size of the alphabet, including padding.
    pub(in crate::engines) fn alphabet_size(&self) -> usize {
        self.alphabet as usize + usize::from(self.padding.is_some())
    }

    /// The padding letter, which is not in the alphabet.
    pub(in crate::engines) fn padding_letter(&self) -> usize {
        self.alphabet as usize
    }

    pub(in crate::engines) fn divisor(&self) -> u64 {
        self.divisor
    }

    /// The circuit for matrices of scanpaths up to these lengths.
    pub(in crate::engines) fn circuit(&self, max_lengths: MaxLengths) -> Circuit {
        let padded = self.padding.is_some();
        match self.kind {
            RecurrenceKind::Unit => Circuit::Unit(UnitCell),
            RecurrenceKind::Clipped => Circuit::Clipped(ClippedCell),
            RecurrenceKind::Difference { insert, delete } if is_wide(insert + delete) => {
                Circuit::Saving(SavingCell::new(insert + delete))
            }
            RecurrenceKind::Difference { insert, delete } => {
                Circuit::Difference(DifferenceCell::new(insert + delete))
            }
            RecurrenceKind::Reward { largest } if is_wide(largest) => {
                Circuit::Saving(SavingCell::new(largest))
            }
            RecurrenceKind::Reward { largest } => Circuit::Difference(DifferenceCell::new(largest)),
            RecurrenceKind::Local { gap, best } => {
                let largest = u64::from(max_lengths.shorter) * best;
                Circuit::Local(LocalCell::new(largest, best, gap))
            }
            RecurrenceKind::Warping { largest } => {
                // Padding adds nothing to a sum.
                let longer = self
                    .padding
                    .map_or(max_lengths.longer, |padding| padding.length);
                Circuit::Warping(WarpingCell::new(largest, longer.into(), padded))
            }
            RecurrenceKind::Frechet { largest } => {
                Circuit::Frechet(FrechetCell::new(largest, padded))
            }
            RecurrenceKind::Hausdorff { largest } => {
                Circuit::Hausdorff(HausdorffCell::new(largest, padded))
            }
            RecurrenceKind::CrossRecurrence(outputs) => Circuit::Recurrence(outputs.cell()),
        }
    }

    /// How the columns of a matrix become one number.
    pub(in crate::engines) fn fold(&self) -> Fold {
        match self.kind {
            RecurrenceKind::Local { .. } => Fold::Max,
            RecurrenceKind::Difference { insert, delete } if is_wide(insert + delete) => {
                Fold::Unwrap
            }
            RecurrenceKind::Reward { largest } if is_wide(largest) => Fold::Unwrap,
            RecurrenceKind::Warping { .. } | RecurrenceKind::Frechet { .. } => Fold::Last,
            RecurrenceKind::Hausdorff { .. } => Fold::Max,
            RecurrenceKind::CrossRecurrence(outputs) => Fold::Recurrence(outputs),
            _ => Fold::Sum,
        }
    }
}

/// Whether 5·w + 2 gates are fewer than 6·w − 2, where an insertion plus a deletion has w bits.
fn is_wide(insertion_and_deletion: u64) -> bool {
    bits_for(insertion_and_deletion) >= 5
}

/// Whether hidden lengths need one letter more than the longest scanpath has, so that every scanpath ends in padding.
pub(crate) fn ends_in_padding(metric: &Metric) -> bool {
    matches!(
        metric,
        Metric::Dtw(_) | Metric::Frechet(_) | Metric::Hausdorff(_)
    )
}

/// The distances of all ranks up to the largest, in [`UNITS`].
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // distances on a grid
fn distances(model: &RankModel, largest: u64) -> Vec<u64> {
    let ranks = 0..=u32::try_from(largest).unwrap_or(u32::MAX);
    let distances = ranks.map_while(|rank| model.ranks.distance(rank));
    distances
        .map(|distance| (distance * UNITS).round() as u64)
        .collect()
}

/// The durations of an alphabet's letters.
fn durations(rewards: &RewardModel, alphabet: u32) -> Vec<u64> {
    let letters = (0..alphabet).filter_map(|letter| u16::try_from(letter).ok());
    letters
        .map(|letter| rewards.duration(letter).into())
        .collect()
}

fn output_of(measure: &CrqaMeasure) -> RecurrenceOutput {
    match measure {
        CrqaMeasure::Rec => RecurrenceOutput::Points,
        CrqaMeasure::Det => RecurrenceOutput::Diagonals,
        CrqaMeasure::Lam => RecurrenceOutput::RowsAndColumns,
        CrqaMeasure::LamRows => RecurrenceOutput::Rows,
        CrqaMeasure::LamColumns => RecurrenceOutput::Columns,
        CrqaMeasure::Corm => RecurrenceOutput::Centre,
        // Rejected before anything is computed: `Engine::can_compute`.
        CrqaMeasure::Line(_) => RecurrenceOutput::Points,
    }
}

pub(in crate::engines) fn shape(rows: u32, columns: u32) -> Shape {
    Shape {
        rows: rows as usize,
        columns: columns as usize,
    }
}

/// The longest scanpath that the look-up can index.
pub(in crate::engines) const MAX_LOOKUP_LENGTH: u32 = MAX_STRIPS * STRIP_ROWS as u32;

//! The metrics.

mod alignments;
mod serialized;

use crate::model::{Costs, GlobalModel, Model, ScoreFormula};
use crate::non_alignment::{
    Crqa, Dtw, DurationDivisor, Frechet, Hausdorff, MultiMatch, PathDivisor, Positions,
    RecurrenceRule, ScaSim, SubsMatch, distance_scale, dtw_model, ranks_of,
};
use crate::{
    Alphabet, Grid, Measure, MeasureKind, MetricError, Substitution, Symmetry, Table, scanmatch,
};
use alignments::{cost_model, local_model, scanmatch_model, score_model};
use serde::{Deserialize, Serialize};
use serialized::SerializedMetric;

/// A metric and its parameters. Both sides of a comparison must use the same ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", from = "SerializedMetric")]
pub enum Metric {
    /// The number of insertions, deletions and replacements (Levenshtein distance, by the Wagner–Fischer algorithm).
    Levenshtein,
    /// The minimum total cost of an alignment.
    NeedlemanWunsch {
        /// Replacement costs.
        substitution: Substitution,
        /// The cost of a letter that only the second scanpath has.
        insert: f64,
        /// The cost of a letter that only the first scanpath has.
        delete: f64,
        /// The fixed-point scale; `None` selects the smallest power of ten that makes all costs integers.
        scale: Option<u32>,
    },
    /// The best total score of an alignment: rewards for equal letters, penalties for everything else.
    // It shares its serialized name with the variant above; the fields tell them apart.
    #[serde(rename = "needleman-wunsch")]
    NeedlemanWunschScore {
        /// The reward of equal letters.
        #[serde(rename = "match")]
        reward: f64,
        /// The penalty of different letters, as a positive number.
        mismatch: f64,
        /// The penalty of a gap, as a positive number.
        gap: f64,
        /// The fixed-point scale.
        scale: Option<u32>,
    },
    /// The best score of an alignment between a part of one scanpath and a part of the other.
    SmithWaterman {
        /// Scores of letter pairs.
        scoring: LocalScoring,
        /// The penalty of a gap, as a positive number.
        gap: f64,
        /// The fixed-point scale.
        scale: Option<u32>,
    },
    /// ScanMatch (Cristino et al. 2010) with Euclidean distances on a grid.
    #[serde(rename = "scanmatch")]
    ScanMatch {
        /// The grid of the letters.
        grid: Grid,
        /// Whether the left and right edges are joined.
        wrap: bool,
        /// Two grid cells closer than this distance (in cells) count as similar.
        threshold: f64,
        /// What a gap adds to the score: at most half the threshold, usually 0 or less.
        gap: f64,
        /// The fixed-point scale, which need not be an integer. `None` means double precision in the clear, as in
        /// the original; secure engines then use integers with the [automatic scale](Metric::with_automatic_scale).
        scale: Option<f64>,
    },
    /// The longest common subsequence, divided by the length of the longer scanpath.
    SequenceScore,
    /// Dynamic time warping.
    Dtw(Dtw),
    /// Discrete Fréchet distance.
    Frechet(Frechet),
    /// Hausdorff distance.
    Hausdorff(Hausdorff),
    /// Cross-recurrence quantification.
    Crqa(Crqa),
    /// ScaSim (von der Malsburg and Vasishth 2011).
    #[serde(rename = "scasim")]
    ScaSim(ScaSim),
    /// MultiMatch (Dewhurst et al. 2012).
    #[serde(rename = "multimatch")]
    MultiMatch(MultiMatch),
    /// SubsMatch (Kübler et al. 2014) on letters.
    #[serde(rename = "subsmatch")]
    SubsMatch(SubsMatch),
}

/// Scores of letter pairs for Smith–Waterman.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum LocalScoring {
    /// One reward and one penalty.
    Unit {
        /// The reward of equal letters.
        #[serde(rename = "match")]
        reward: f64,
        /// The penalty of different letters, as a positive number.
        mismatch: f64,
    },
    /// A table of signed scores.
    Table {
        /// The scores.
        table: Table,
    },
}

impl Metric {
    /// The name used in options and results.
    pub fn name(&self) -> &'static str {
        match self {
            Metric::Levenshtein => "levenshtein",
            Metric::NeedlemanWunsch { .. } | Metric::NeedlemanWunschScore { .. } => {
                "needleman-wunsch"
            }
            Metric::SmithWaterman { .. } => "smith-waterman",
            Metric::ScanMatch { .. } => "scanmatch",
            Metric::SequenceScore => "sequence-score",
            Metric::Dtw(_) => "dtw",
            Metric::Frechet(_) => "frechet",
            Metric::Hausdorff(_) => "hausdorff",
            Metric::Crqa(_) => "crqa",
            Metric::ScaSim(_) => "scasim",
            Metric::MultiMatch(_) => "multimatch",
            Metric::SubsMatch(_) => "subsmatch",
        }
    }

    /// Whether a smaller score means more similar.
    pub fn is_distance(&self) -> bool {
        matches!(
            self,
            Metric::Levenshtein
                | Metric::NeedlemanWunsch { .. }
                | Metric::Dtw(_)
                | Metric::Frechet(_)
                | Metric::Hausdorff(_)
                | Metric::ScaSim(_)
        )
    }

    /// Whether the score depends on each scanpath's total duration, even if the other scanpath is empty.
    pub fn adds_durations(&self) -> bool {
        matches!(self, Metric::ScaSim(_))
    }

    /// Whether the metric aligns letters. If so, it has a score and a similarity.
    pub fn is_alignment(&self) -> bool {
        matches!(
            self,
            Metric::Levenshtein
                | Metric::NeedlemanWunsch { .. }
                | Metric::NeedlemanWunschScore { .. }
                | Metric::SmithWaterman { .. }
                | Metric::ScanMatch { .. }
        )
    }

    /// The measures that it gives for a pair, in the order of [`PairScore::numbers`](crate::PairScore::numbers).
    pub fn measures(&self) -> Vec<Measure> {
        let measure = |name, kind, may_be_undefined| Measure {
            name,
            kind,
            may_be_undefined,
            symmetry: self.score_symmetry(),
        };
        let score = match self.is_distance() {
            true => MeasureKind::Distance,
            false => MeasureKind::Similarity,
        };
        match self {
            Metric::Crqa(crqa) => crqa.measures(),
            Metric::MultiMatch(multimatch) => multimatch.measures(),
            Metric::ScaSim(scasim) => {
                let may_be_undefined = scasim.divisor != DurationDivisor::None;
                vec![measure("score", score, may_be_undefined)]
            }
            Metric::SequenceScore => vec![measure("score", MeasureKind::Fraction, false)],
            Metric::SubsMatch(_) => vec![measure("score", MeasureKind::Fraction, true)],
            metric if metric.is_alignment() => vec![
                measure("score", score, false),
                measure("similarity", MeasureKind::Fraction, true),
            ],
            _ => vec![measure("score", score, false)],
        }
    }

    /// What happens to the score and the similarity when the two scanpaths are swapped.
    fn score_symmetry(&self) -> Symmetry {
        let is_symmetric = match self {
            Metric::NeedlemanWunsch {
                substitution,
                insert,
                delete,
                ..
            } => {
                let table = match substitution {
                    Substitution::Table { table } => Some(table),
                    _ => None,
                };
                insert == delete && table.is_none_or(Table::is_symmetric)
            }
            Metric::SmithWaterman {
                scoring: LocalScoring::Table { table },
                ..
            } => table.is_symmetric(),
            _ => true,
        };
        match is_symmetric {
            true => Symmetry::Symmetric,
            false => Symmetry::Asymmetric,
        }
    }

    /// Whether the metric compares fixations as they are, without rounding them to letters.
    pub fn needs_fixations(&self) -> bool {
        match self {
            Metric::MultiMatch(_) => true,
            Metric::ScaSim(scasim) => scasim.classes.is_none(),
            metric => metric.positions() == Some(Positions::Fixations),
        }
    }

    /// Whether the metric compares fixations, rounded or not.
    pub fn compares_fixations(&self) -> bool {
        self.needs_fixations() || self.quantisation().is_some()
    }

    /// The positions of the letters, for metrics that compare positions.
    pub fn positions(&self) -> Option<Positions> {
        match self {
            Metric::Dtw(Dtw { positions, .. })
            | Metric::Frechet(Frechet { positions })
            | Metric::Hausdorff(Hausdorff { positions })
            | Metric::Crqa(Crqa {
                rule: RecurrenceRule::Within { positions, .. },
                ..
            }) => Some(*positions),
            _ => None,
        }
    }

    /// Whether the left and right edges of the stimulus are joined, as in a panorama.
    pub fn wraps(&self) -> bool {
        match self {
            Metric::ScanMatch { wrap, .. }
            | Metric::NeedlemanWunsch {
                substitution: Substitution::Grid { wrap, .. },
                ..
            } => *wrap,
            _ => matches!(self.positions(), Some(Positions::Grid { wrap: true, .. })),
        }
    }

    /// The number of letters in the metric's grid or table; `None` if the metric works with any alphabet.
    pub fn letters(&self) -> Option<u32> {
        match self {
            Metric::NeedlemanWunsch {
                substitution: Substitution::Grid { grid, .. },
                ..
            }
            | Metric::ScanMatch { grid, .. } => Some(grid.cells()),
            Metric::NeedlemanWunsch {
                substitution: Substitution::Table { table },
                ..
            }
            | Metric::SmithWaterman {
                scoring: LocalScoring::Table { table },
                ..
            } => Some(table.size()),
            Metric::ScaSim(ScaSim {
                classes: Some(classes),
                ..
            }) => u32::try_from(classes.letters()).ok(),
            _ => self.positions()?.grid().map(|grid| grid.cells()),
        }
    }

    /// The same metric in integers. ScanMatch without a scale gets the scale that is cheapest for engines while keeping
    /// the error of every score below `precision`.
    pub fn with_automatic_scale(self, precision: f64) -> Result<Self, MetricError> {
        match self {
            Metric::ScanMatch {
                grid,
                wrap,
                threshold,
                gap,
                scale: None,
            } => {
                let on_grid = grid.with_wrap(wrap);
                let scale = scanmatch::automatic_scale(&on_grid, threshold, gap, precision)?;
                Ok(Metric::ScanMatch {
                    grid,
                    wrap,
                    threshold,
                    gap,
                    scale: Some(scale),
                })
            }
            Metric::Dtw(dtw) if dtw.positions != Positions::Fixations => Ok(Metric::Dtw(Dtw {
                scale: dtw.scale.or(Some(distance_scale(&dtw.positions))),
                ..dtw
            })),
            Metric::Crqa(crqa) => Ok(Metric::Crqa(Crqa {
                rounded: true,
                ..crqa
            })),
            metric => Ok(metric),
        }
    }

    /// The largest difference between a score in the metric's integers and one in double precision, if it does not
    /// depend on the lengths.
    pub fn error_bound(&self) -> Option<f64> {
        match self {
            Metric::ScanMatch {
                grid,
                wrap,
                threshold,
                gap,
                scale: Some(scale),
            } => scanmatch::error_bound(&grid.with_wrap(*wrap), *threshold, *gap, *scale).ok(),
            // Half a unit per step, and there are fewer steps than the sum of both lengths.
            Metric::Dtw(Dtw {
                divisor: PathDivisor::Lengths,
                scale: Some(scale),
                ..
            }) => Some(0.5 / f64::from(*scale)),
            // Half of 0.01 %.
            Metric::Crqa(crqa) if crqa.rounded => Some(0.005),
            _ => None,
        }
    }

    /// The integers that every engine computes with.
    pub fn model(&self, alphabet: &Alphabet) -> Result<Model, MetricError> {
        match self {
            Metric::Levenshtein => Ok(Model::Global(GlobalModel {
                insert: 1,
                delete: 1,
                costs: Costs::Unit { mismatch: 1 },
                formula: ScoreFormula::Cost { scale: 1 },
            })),
            Metric::NeedlemanWunsch {
                substitution,
                insert,
                delete,
                scale,
            } => cost_model(alphabet, substitution, *insert, *delete, *scale),
            Metric::NeedlemanWunschScore {
                reward,
                mismatch,
                gap,
                scale,
            } => score_model(*reward, *mismatch, *gap, *scale),
            Metric::SmithWaterman {
                scoring,
                gap,
                scale,
            } => local_model(alphabet, scoring, *gap, *scale),
            Metric::ScanMatch {
                grid,
                wrap,
                threshold,
                gap,
                scale,
            } => scanmatch_model(alphabet, grid.with_wrap(*wrap), *threshold, *gap, *scale),
            Metric::SequenceScore => Ok(Model::Global(GlobalModel {
                insert: 1,
                delete: 1,
                costs: Costs::Unit { mismatch: 2 },
                formula: ScoreFormula::CommonSubsequence,
            })),
            Metric::Dtw(dtw) => dtw_model(dtw, alphabet),
            Metric::Frechet(Frechet { positions }) => {
                Ok(ranks_of(positions, alphabet)?.map_or(Model::Clear, Model::Bottleneck))
            }
            Metric::Hausdorff(Hausdorff { positions }) => {
                Ok(ranks_of(positions, alphabet)?.map_or(Model::Clear, Model::Hausdorff))
            }
            Metric::Crqa(crqa) => crqa.model(alphabet),
            Metric::ScaSim(scasim) => scasim.model(alphabet),
            Metric::MultiMatch(multimatch) => {
                multimatch.check()?;
                Ok(Model::Clear)
            }
            Metric::SubsMatch(subsmatch) => {
                subsmatch.check()?;
                Ok(Model::Clear)
            }
        }
    }
}

//! The metrics.

mod serialized;

use crate::model::{Costs, GlobalModel, LocalModel, Model, ScoreFormula, Scores};
use crate::scale::{self, DEFAULT_SCALE};
use crate::scanmatch::{self, DEFAULT_PRECISION, Gaps};
use crate::{Alphabet, Distance, Grid, MetricError, Substitution, Table};
use serde::{Deserialize, Serialize};
use serialized::SerializedMetric;

/// A metric with its numbers. Both sides of a comparison must use the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", from = "SerializedMetric")]
pub enum Metric {
    /// The number of insertions, deletions and replacements (Levenshtein; Wagner–Fischer's algorithm).
    Levenshtein,
    /// The least total cost of an alignment.
    NeedlemanWunsch {
        /// Costs of replacements.
        substitution: Substitution,
        /// The cost of a letter that only the second scanpath has.
        insert: f64,
        /// The cost of a letter that only the first scanpath has.
        delete: f64,
        /// The fixed-point scale; `None` selects the smallest power of ten that makes all costs integers.
        scale: Option<u32>,
    },
    /// The greatest total score of an alignment: rewards for equal letters, penalties for all else.
    // In results it has the same name as the variant above; its numbers distinguish it.
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
    /// The greatest score of an alignment of a part of one scanpath with a part of the other.
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
        /// Whether left and right are joined.
        wrap: bool,
        /// Two grid cells closer than this distance (in cells) count as similar.
        threshold: f64,
        /// What a gap adds to the score; 0 or less.
        gap: f64,
        /// The fixed-point scale, which need not be an integer. `None`: in double precision, as the original; secure engines then
        /// compute in integers of the [automatic scale](Metric::with_automatic_scale).
        scale: Option<f64>,
    },
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
    /// The name in options and results.
    pub fn name(&self) -> &'static str {
        match self {
            Metric::Levenshtein => "levenshtein",
            Metric::NeedlemanWunsch { .. } | Metric::NeedlemanWunschScore { .. } => {
                "needleman-wunsch"
            }
            Metric::SmithWaterman { .. } => "smith-waterman",
            Metric::ScanMatch { .. } => "scanmatch",
        }
    }

    /// Whether a smaller score means more alike.
    pub fn is_distance(&self) -> bool {
        matches!(self, Metric::Levenshtein | Metric::NeedlemanWunsch { .. })
    }

    /// How many letters the metric's grid or table has; `None` if any alphabet is possible.
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
            _ => None,
        }
    }

    /// The same metric in integers: ScanMatch without a scale gets the one with which an engine has the least to do and no score is
    /// off by `precision` or more.
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
            metric => Ok(metric),
        }
    }

    /// The largest difference between a score with the metric's scale and one in double precision, for ScanMatch with a scale.
    pub fn error_bound(&self) -> Option<f64> {
        match self {
            Metric::ScanMatch {
                grid,
                wrap,
                threshold,
                gap,
                scale: Some(scale),
            } => scanmatch::error_bound(&grid.with_wrap(*wrap), *threshold, *gap, *scale).ok(),
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
        }
    }
}

fn cost_model(
    alphabet: &Alphabet,
    substitution: &Substitution,
    insert: f64,
    delete: f64,
    requested: Option<u32>,
) -> Result<Model, MetricError> {
    let gaps = [insert, delete];
    let (scale, costs) = match substitution {
        Substitution::Unit { mismatch } => {
            let scale = scale::choose(requested, gaps.into_iter().chain([*mismatch]))?;
            let mismatch = scale::cost("mismatch cost", *mismatch, scale)?;
            (scale, Costs::Unit { mismatch })
        }
        Substitution::Index => {
            let scale = scale::choose(requested, gaps)?;
            scale::cost("index distance", f64::from(alphabet.size() - 1), scale)?;
            (scale, Costs::Index { step: scale })
        }
        Substitution::Grid {
            grid,
            wrap,
            distance,
        } => {
            fits_grid(alphabet, grid)?;
            let scale = match (requested, distance) {
                (None, Distance::Euclidean) => DEFAULT_SCALE,
                _ => scale::choose(requested, gaps)?,
            };
            let costs = grid_costs(grid.with_wrap(*wrap), *distance, scale.into())?;
            (scale, costs)
        }
        Substitution::Table { table } => {
            fits_table(alphabet, table)?;
            // A table may be larger than the alphabet; entries that no letter can reach must not change scale or
            // similarity.
            let used = table.first(alphabet.size());
            let scale = scale::choose(requested, gaps.into_iter().chain(used.clone()))?;
            let costs = used
                .map(|value| scale::cost("substitution cost", value, scale))
                .collect::<Result<_, _>>()?;
            (
                scale,
                Costs::Table {
                    size: alphabet.size(),
                    costs,
                },
            )
        }
    };
    Ok(Model::Global(GlobalModel {
        insert: scale::cost("insertion cost", insert, scale)?,
        delete: scale::cost("deletion cost", delete, scale)?,
        costs,
        formula: ScoreFormula::Cost { scale },
    }))
}

/// A maximised score as a minimum cost: subtract half the reward from each letter of an alignment, so that equal
/// letters cost 0, different ones `reward + mismatch` and a gap `reward / 2 + gap`; the scale is doubled to keep the
/// half an integer.
fn score_model(
    reward: f64,
    mismatch: f64,
    gap: f64,
    requested: Option<u32>,
) -> Result<Model, MetricError> {
    let scale = scale::choose(requested, [reward, mismatch, gap])?;
    let per_letter = scale::cost("match reward", reward, scale)?;
    let penalty = scale::cost("mismatch penalty", mismatch, scale)?;
    let gap_penalty = scale::cost("gap penalty", gap, scale)?;
    // Errors name the user's numbers, not the sums computed from them.
    let within = |name, cost: u64, value| {
        u32::try_from(cost)
            .ok()
            .filter(|&cost| cost <= crate::MAX_COST)
            .ok_or(MetricError::TooLarge {
                name,
                value,
                scale: scale.into(),
            })
    };
    let (twice_mismatch, twice_gap) = (2 * u64::from(penalty), 2 * u64::from(gap_penalty));
    let replaced = within(
        "sum of twice the match reward and twice the mismatch penalty",
        2 * u64::from(per_letter) + twice_mismatch,
        2.0 * (reward + mismatch),
    )?;
    let skipped = within(
        "sum of the match reward and twice the gap penalty",
        u64::from(per_letter) + twice_gap,
        reward + 2.0 * gap,
    )?;
    Ok(Model::Global(GlobalModel {
        insert: skipped,
        delete: skipped,
        costs: Costs::Unit { mismatch: replaced },
        formula: ScoreFormula::Reward { per_letter, scale },
    }))
}

fn local_model(
    alphabet: &Alphabet,
    scoring: &LocalScoring,
    gap: f64,
    requested: Option<u32>,
) -> Result<Model, MetricError> {
    let (scale, scores) = match scoring {
        LocalScoring::Unit { reward, mismatch } => {
            let scale = scale::choose(requested, [*reward, *mismatch, gap])?;
            (
                scale,
                Scores::Unit {
                    reward: scale::cost("match reward", *reward, scale)?,
                    mismatch: scale::cost("mismatch penalty", *mismatch, scale)?,
                },
            )
        }
        LocalScoring::Table { table } => {
            fits_table(alphabet, table)?;
            let used = table.first(alphabet.size());
            let scale = scale::choose(requested, used.clone().chain([gap]))?;
            let scores = used
                .map(|value| scale::score("substitution score", value, scale))
                .collect::<Result<_, _>>()?;
            (
                scale,
                Scores::Table {
                    size: alphabet.size(),
                    scores,
                },
            )
        }
    };
    Ok(Model::Local(LocalModel {
        gap: scale::cost("gap penalty", gap, scale)?,
        scores,
        scale,
    }))
}

/// ScanMatch maximises `Σ (T − d) + Σ g`, which is `(T/2)(m+n)` minus the least cost with substitution cost `d` and gap
/// cost `T/2 − g`.
fn scanmatch_model(
    alphabet: &Alphabet,
    grid: Grid,
    threshold: f64,
    gap: f64,
    requested: Option<f64>,
) -> Result<Model, MetricError> {
    scanmatch::check(threshold, gap)?;
    fits_grid(alphabet, &grid)?;
    let scale = match requested {
        Some(scale) => scale::check_real(scale)?,
        None => scanmatch::automatic_scale(&grid, threshold, gap, DEFAULT_PRECISION)?,
    };
    let gaps = Gaps::new(threshold, gap, scale)?;
    Ok(Model::Global(GlobalModel {
        insert: gaps.insert,
        delete: gaps.delete,
        costs: grid_costs(grid, Distance::Euclidean, scale)?,
        formula: ScoreFormula::ScanMatch {
            threshold,
            units: gaps.units,
            cells: gaps.cells,
        },
    }))
}

fn grid_costs(grid: Grid, distance: Distance, scale: f64) -> Result<Costs, MetricError> {
    let farthest = crate::model::farthest(&grid, distance, grid.cells());
    scale::cost("largest distance on the grid", farthest, scale)?;
    Ok(Costs::Grid {
        grid,
        distance,
        scale,
    })
}

fn fits_grid(alphabet: &Alphabet, grid: &Grid) -> Result<(), MetricError> {
    if alphabet.size() <= grid.cells() {
        return Ok(());
    }
    Err(MetricError::GridTooSmall {
        alphabet: alphabet.to_string(),
        grid: grid.to_string(),
        cells: grid.cells(),
    })
}

fn fits_table(alphabet: &Alphabet, table: &Table) -> Result<(), MetricError> {
    if alphabet.size() <= table.size() {
        return Ok(());
    }
    Err(MetricError::TableTooSmall {
        table: table.size(),
        alphabet: alphabet.to_string(),
    })
}

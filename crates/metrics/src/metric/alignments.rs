//! Alignment metrics in integers.

use super::LocalScoring;
use crate::model::{Costs, GlobalModel, LocalModel, Model, ScoreFormula, Scores, fits_grid};
use crate::scale::{self, DEFAULT_SCALE};
use crate::scanmatch::{self, DEFAULT_PRECISION, Gaps};
use crate::{Alphabet, Distance, Grid, MetricError, Substitution, Table};

pub(super) fn cost_model(
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
            // A table may be larger than the alphabet. Entries that no letter can reach must not affect scale or
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

/// Turns a maximised score into a minimum cost. Half the reward is subtracted from each letter of an alignment, so that
/// equal letters cost 0, different ones `reward + mismatch`, and a gap `reward / 2 + gap`. The scale is doubled to keep
/// the half an integer.
pub(super) fn score_model(
    reward: f64,
    mismatch: f64,
    gap: f64,
    requested: Option<u32>,
) -> Result<Model, MetricError> {
    let scale = scale::choose(requested, [reward, mismatch, gap])?;
    let per_letter = scale::cost("match reward", reward, scale)?;
    let penalty = scale::cost("mismatch penalty", mismatch, scale)?;
    let gap_penalty = scale::cost("gap penalty", gap, scale)?;
    // Errors name the user's parameters, not the sums derived from them.
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

pub(super) fn local_model(
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

/// ScanMatch maximises `Σ (T − d) + Σ g`, which is `(T/2)(m+n)` minus the minimum cost with substitution cost `d` and
/// gap cost `T/2 − g`.
pub(super) fn scanmatch_model(
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

fn fits_table(alphabet: &Alphabet, table: &Table) -> Result<(), MetricError> {
    if alphabet.size() <= table.size() {
        return Ok(());
    }
    Err(MetricError::TableTooSmall {
        table: table.size(),
        alphabet: alphabet.in_words(),
    })
}

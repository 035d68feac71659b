//! Merges the tiles of a plan.
//!
//! Apart from its cost, the result equals that of one run of the whole plan. Nothing in it says that it was computed in
//! tiles. Files come from many machines, so each way in which they can fail to be the tiles of one plan has its own
//! error.

use crate::{
    Cost, MAX_PAIRS, Outcome, PairResult, PairRule, PlanTile, Results, RevealTo, ScanpathId,
};
use std::collections::BTreeMap;

/// Why tiles cannot be merged. Outcomes are numbered from 0, in the given order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MergeError {
    /// There are no tiles.
    #[error("there are no tiles to merge")]
    NoTiles,
    /// An outcome is not a tile.
    #[error("this is the result of a whole plan, or a merged one, not a tile")]
    NotATile {
        /// Which outcome.
        outcome: usize,
    },
    /// A tile of a plan with a different number of tiles.
    #[error("this is one of {found} tiles, but the first file is one of {expected}")]
    TileCountMismatch {
        /// Which outcome.
        outcome: usize,
        /// Its number of tiles.
        found: u32,
        /// The number of tiles of the first outcome.
        expected: u32,
    },
    /// A tile of another plan.
    #[error(
        "this tile belongs to a different plan from the first file's: they disagree on {field}"
    )]
    PlanMismatch {
        /// Which outcome.
        outcome: usize,
        /// The field that differs.
        field: &'static str,
    },
    /// The session that computed a tile was interrupted.
    #[error("this tile has {results} of {pairs} results: its session was interrupted")]
    Incomplete {
        /// Which outcome.
        outcome: usize,
        /// The results that it has.
        results: u64,
        /// Its pairs.
        pairs: u64,
    },
    /// A tile with a pair that is not in its plan.
    #[error("this tile has a pair that is not in its plan")]
    PairNotInPlan {
        /// Which outcome.
        outcome: usize,
    },
    /// Two different results for the same tile.
    #[error("this file and another one have different results for tile {tile}")]
    Conflict {
        /// Which outcome.
        outcome: usize,
        /// The other outcome.
        other: usize,
        /// The number of the tile.
        tile: u32,
    },
    /// Some tiles have no result.
    #[error("{} of {count} tiles missing: {}", missing.len(), first_few(missing))]
    Missing {
        /// Their numbers.
        missing: Vec<u32>,
        /// The number of tiles of the plan.
        count: u32,
    },
    /// The tiles do not have the pairs of their plan.
    #[error("the tiles have {found} different pairs, but their plan has {pairs}")]
    PairCount {
        /// The number of different pairs of all tiles.
        found: u64,
        /// The number of pairs of the plan.
        pairs: u64,
    },
    /// The merged result would not fit the memory of a common machine.
    #[error(
        "the plan has {pairs} pairs; one result has at most {limit}, so use its tiles separately"
    )]
    TooManyPairs {
        /// The pairs of the plan.
        pairs: u64,
        /// The largest number of pairs to merge.
        limit: u64,
    },
}

/// Merges all tiles of a plan, in any order, into the outcome of the whole plan. The same tile may occur twice.
pub fn merge(outcomes: Vec<Outcome>) -> Result<Outcome, MergeError> {
    let first = outcomes.first().ok_or(MergeError::NoTiles)?;
    let plan = tile_of(first, 0)?.clone();
    if plan.pairs > MAX_PAIRS {
        return Err(MergeError::TooManyPairs {
            pairs: plan.pairs,
            limit: MAX_PAIRS,
        });
    }
    let withheld = is_withheld(&outcomes);
    let mut tiles: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, outcome) in outcomes.iter().enumerate() {
        let found = tile_of(outcome, at)?;
        check(first, &plan, outcome, found, at)?;
        check_pairs(outcome, withheld, at)?;
        let tile = found.tile.index();
        if let Some(other) = tiles.insert(tile, at)
            && outcomes[other].results != outcome.results
        {
            return Err(MergeError::Conflict {
                outcome: at,
                other,
                tile,
            });
        }
    }
    let count = plan.tile.count();
    let missing: Vec<u32> = (1..=count)
        .filter(|tile| !tiles.contains_key(tile))
        .collect();
    if !missing.is_empty() {
        return Err(MergeError::Missing { missing, count });
    }
    let tiles: Vec<&Outcome> = tiles.values().map(|&at| &outcomes[at]).collect();
    let compared: u64 = tiles
        .iter()
        .map(|tile| tile.pairs)
        .fold(0, u64::saturating_add);
    let mut pairs: Vec<PairResult<'_>> =
        tiles.iter().flat_map(|tile| tile.results.iter()).collect();
    pairs.sort_by_key(|pair| (pair.a, pair.b));
    let has_results = !pairs.is_empty();
    let distinct = pairs
        .chunk_by(|one, next| (one.a, one.b) == (next.a, next.b))
        .count() as u64;
    if compared != plan.pairs || has_results && distinct != compared {
        return Err(MergeError::PairCount {
            found: if has_results { distinct } else { compared },
            pairs: plan.pairs,
        });
    }
    let mut results = Results::new(first.results.measures().to_vec());
    for pair in pairs {
        results.push(pair.a, pair.b, pair.values);
    }
    let cost = tiles
        .iter()
        .map(|tile| tile.cost)
        .fold(Cost::default(), add);
    let mut merged = first.clone();
    (merged.results, merged.cost, merged.tile, merged.pairs) = (results, cost, None, plan.pairs);
    Ok(merged)
}

fn tile_of(outcome: &Outcome, at: usize) -> Result<&PlanTile, MergeError> {
    let not_a_tile = MergeError::NotATile { outcome: at };
    outcome.tile.as_ref().ok_or(not_a_tile)
}

/// Checks that an outcome is a complete tile of the same plan as the first.
fn check(
    first: &Outcome,
    plan: &PlanTile,
    outcome: &Outcome,
    found: &PlanTile,
    at: usize,
) -> Result<(), MergeError> {
    if found.tile.count() != plan.tile.count() {
        return Err(MergeError::TileCountMismatch {
            outcome: at,
            found: found.tile.count(),
            expected: plan.tile.count(),
        });
    }
    let same = [
        (
            "the cohorts, the settings or the number of pairs",
            found.agreement == plan.agreement && found.pairs == plan.pairs,
        ),
        ("what was computed", outcome.spec == first.spec),
        ("the names of the cohorts", outcome.names == first.names),
        ("the cohorts", outcome.a == first.a && outcome.b == first.b),
        ("the cohorts", outcome.one_cohort == first.one_cohort),
        (
            "the measures",
            outcome.results.measures() == first.results.measures(),
        ),
        ("what was revealed", outcome.revealed == first.revealed),
        ("the error bound", outcome.error_bound == first.error_bound),
        ("the answers", outcome.answers == first.answers),
    ];
    if let Some((field, _)) = same.into_iter().find(|(_, same)| !same) {
        return Err(MergeError::PlanMismatch { outcome: at, field });
    }
    Ok(())
}

/// Whether the results are for the other side only.
fn is_withheld(outcomes: &[Outcome]) -> bool {
    let compared = outcomes.iter().find(|outcome| outcome.pairs > 0);
    compared.is_none_or(|it| it.is_withheld() && it.spec.reveal_to != RevealTo::Both)
}

/// Checks that a tile has a result for each of its pairs, and only pairs of its plan.
fn check_pairs(outcome: &Outcome, withheld: bool, at: usize) -> Result<(), MergeError> {
    let (results, pairs) = (outcome.results.len() as u64, outcome.pairs);
    if results != pairs && !(withheld && results == 0) {
        return Err(MergeError::Incomplete {
            outcome: at,
            results,
            pairs,
        });
    }
    let Outcome { a, b, spec, .. } = outcome;
    let has_stimuli = |ids: &[ScanpathId]| ids.iter().any(|id| id.stimulus.is_some());
    let by_stimulus = spec.pair_rule == PairRule::SameStimulus && has_stimuli(a) && has_stimuli(b);
    let differs = |pair: PairResult<'_>| match (a.get(pair.a), b.get(pair.b)) {
        (Some(one), Some(other)) => by_stimulus && one.stimulus != other.stimulus,
        _ => true,
    };
    match outcome.results.iter().any(differs) {
        true => Err(MergeError::PairNotInPlan { outcome: at }),
        false => Ok(()),
    }
}

fn add(a: Cost, b: Cost) -> Cost {
    Cost {
        seconds: a.seconds + b.seconds,
        bytes_sent: a.bytes_sent.saturating_add(b.bytes_sent),
        bytes_received: a.bytes_received.saturating_add(b.bytes_received),
        rounds: a.rounds.saturating_add(b.rounds),
        cells: a.cells.saturating_add(b.cells),
        pairs_from_journal: a.pairs_from_journal.saturating_add(b.pairs_from_journal),
    }
}

/// The first numbers, as ranges.
fn first_few(numbers: &[u32]) -> String {
    const SHOWN: usize = 8;
    let runs: Vec<&[u32]> = numbers.chunk_by(|one, next| one + 1 == *next).collect();
    let run = |run: &&[u32]| match run {
        [only] => only.to_string(),
        [first, .., last] => format!("{first}–{last}"),
        [] => String::new(),
    };
    let shown: Vec<String> = runs.iter().take(SHOWN).map(run).collect();
    let more = if runs.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests;

//! A metric in integers: what every engine, plain or secure, computes.
//!
//! An engine computes one integer per pair, the *raw* result: the minimum cost of a global alignment, the best score of
//! a local one, the rank of a distance, or several small numbers packed into one. The raw result and the two lengths
//! determine the user's number ([`Model::read`]). So a secure engine that reveals the raw result reveals exactly what
//! the score reveals.

mod reading;

use crate::non_alignment::{RankModel, RecurrenceModel, RewardModel, WarpingModel};
use crate::{Alphabet, Distance, Grid, MAX_LENGTH, MetricError};

/// A metric in integers.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// A minimum over global alignments.
    Global(GlobalModel),
    /// A maximum over local alignments.
    Local(LocalModel),
    /// The minimum sum of distances over walks along both scanpaths (dynamic time warping).
    Warping(WarpingModel),
    /// The smallest maximum distance over walks along both scanpaths (discrete Fréchet distance).
    Bottleneck(RankModel),
    /// The largest distance to the nearest letter of the other scanpath.
    Hausdorff(RankModel),
    /// Counts of letter pairs that recur.
    Recurrence(RecurrenceModel),
    /// The durations that an alignment with free gaps leaves unrewarded (ScaSim).
    Reward(RewardModel),
    /// No integer form: the metric is computed in the clear only.
    Clear,
}

/// Costs of a global alignment.
#[derive(Clone, Debug, PartialEq)]
pub struct GlobalModel {
    /// The cost of a letter that only the second scanpath has.
    pub insert: u32,
    /// The cost of a letter that only the first scanpath has.
    pub delete: u32,
    /// Replacement costs.
    pub costs: Costs,
    /// How to convert the minimum cost to the user's score.
    pub formula: ScoreFormula,
}

/// Scores of a local alignment.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalModel {
    /// The penalty of a gap.
    pub gap: u32,
    /// Scores of letter pairs.
    pub scores: Scores,
    /// The fixed-point scale.
    pub scale: u32,
}

/// Replacement costs, scaled.
#[derive(Clone, Debug, PartialEq)]
pub enum Costs {
    /// 0 for equal letters, else `mismatch`.
    Unit {
        /// The cost of any two different letters.
        mismatch: u32,
    },
    /// `step` times the difference of the cell numbers.
    Index {
        /// The cost between neighbouring cell numbers.
        step: u32,
    },
    /// `round(scale · distance)`.
    Grid {
        /// The grid.
        grid: Grid,
        /// How distance is measured.
        distance: Distance,
        /// The fixed-point scale.
        scale: f64,
    },
    /// Stored row by row. The row is the first side's letter.
    Table {
        /// The number of rows, and of columns.
        size: u32,
        /// The costs.
        costs: Vec<u32>,
    },
}

/// Scores of letter pairs, scaled.
#[derive(Clone, Debug, PartialEq)]
pub enum Scores {
    /// `reward` for equal letters, `−mismatch` for others.
    Unit {
        /// For equal letters.
        reward: u32,
        /// For different ones, as a positive number.
        mismatch: u32,
    },
    /// Stored row by row. The row is the first side's letter.
    Table {
        /// The number of rows, and of columns.
        size: u32,
        /// The scores.
        scores: Vec<i32>,
    },
}

/// How to convert the minimum cost of a global alignment to the user's score.
#[derive(Clone, Debug, PartialEq)]
pub enum ScoreFormula {
    /// The cost itself, unscaled.
    Cost {
        /// The fixed-point scale.
        scale: u32,
    },
    /// A maximised score: `(per_letter·(m+n) − cost) / (2·scale)`.
    Reward {
        /// The scaled reward of a match. Each letter contributes half of it.
        per_letter: u32,
        /// The fixed-point scale of the rewards. Costs use twice this scale.
        scale: u32,
    },
    /// The longest common subsequence, `(m + n − cost) / 2`, divided by `max(m, n)`.
    CommonSubsequence,
    /// `((T/2)(m+n) − cost·cells/units) / (T·max(m, n))`, where each gap counts as half the cost of an insertion plus a
    /// deletion.
    ScanMatch {
        /// T.
        threshold: f64,
        /// This many units of cost …
        units: f64,
        /// … are this many grid cells.
        cells: f64,
    },
}

impl Costs {
    /// The cost of replacing `a` (first side) by `b` (second side).
    pub fn cost(&self, a: u16, b: u16) -> u32 {
        match self {
            Costs::Unit { mismatch } => {
                if a == b {
                    0
                } else {
                    *mismatch
                }
            }
            Costs::Index { step } => u32::from(a.abs_diff(b)) * step,
            Costs::Grid {
                grid,
                distance,
                scale,
            } => rounded(grid.distance(*distance, a, b) * scale),
            Costs::Table { size, costs } => costs[table_index(*size, a, b)],
        }
    }

    /// The largest cost of any two letters of an alphabet with `letters` letters.
    pub fn largest(&self, letters: u32) -> u32 {
        match self {
            Costs::Unit { mismatch } if letters > 1 => *mismatch,
            Costs::Unit { .. } => 0,
            Costs::Index { step } => letters.saturating_sub(1).saturating_mul(*step),
            Costs::Grid {
                grid,
                distance,
                scale,
            } => rounded(farthest(grid, *distance, letters) * scale),
            Costs::Table { size, costs } => costs
                .chunks(*size as usize)
                .take(letters as usize)
                .flat_map(|row| row.iter().take(letters as usize))
                .copied()
                .max()
                .unwrap_or(0),
        }
    }
}

impl Scores {
    /// The score of `a` (first side) aligned with `b` (second side).
    #[allow(clippy::cast_possible_wrap)] // scaled values are at most `MAX_COST`, far below 2³¹
    pub fn score(&self, a: u16, b: u16) -> i32 {
        match self {
            Scores::Unit { reward, mismatch } => {
                if a == b {
                    *reward as i32
                } else {
                    -(*mismatch as i32)
                }
            }
            Scores::Table { size, scores } => scores[table_index(*size, a, b)],
        }
    }

    /// The largest score of any two letters.
    pub fn largest(&self) -> i32 {
        match self {
            Scores::Unit { .. } => self.score(0, 0),
            Scores::Table { scores, .. } => scores.iter().copied().max().unwrap_or(0),
        }
    }
}

impl GlobalModel {
    /// The largest cost that scanpaths of these lengths can have: either all possible replacements at the highest cost,
    /// or deleting and inserting everything, whichever is less.
    pub fn worst(&self, m: usize, n: usize, letters: u32) -> u64 {
        self.worst_with_largest(m, n, self.costs.largest(letters).into())
    }

    /// Whether the score of two empty scanpaths would be 0/0.
    pub(crate) fn divides_by_length(&self) -> bool {
        matches!(
            self.formula,
            ScoreFormula::ScanMatch { .. } | ScoreFormula::CommonSubsequence
        )
    }

    fn worst_with_largest(&self, m: usize, n: usize, largest: u64) -> u64 {
        let gaps = |m: usize, n: usize| {
            m as u64 * u64::from(self.delete) + n as u64 * u64::from(self.insert)
        };
        let replaced = m.min(n);
        let replacing = replaced as u64 * largest + gaps(m - replaced, n - replaced);
        replacing.min(gaps(m, n))
    }
}

pub(crate) fn check_lengths(m: usize, n: usize) -> Result<(), MetricError> {
    let length = m.max(n);
    if length > MAX_LENGTH {
        return Err(MetricError::TooLong { length });
    }
    Ok(())
}

/// The largest distance between the first `letters` cells of a grid.
pub(crate) fn farthest(grid: &Grid, distance: Distance, letters: u32) -> f64 {
    let (across, down) = farthest_offset(grid, letters);
    let cell = down * grid.columns() + across;
    grid.distance(distance, 0, u16::try_from(cell).unwrap_or(u16::MAX))
}

/// The largest column and row offsets between any two of the first `letters` cells of a grid.
pub(crate) fn farthest_offset(grid: &Grid, letters: u32) -> (u32, u32) {
    let last = letters.clamp(1, grid.cells()) - 1;
    let (columns, down) = (grid.columns(), last / grid.columns());
    // With two rows or more, both the first cell of the last row and the last cell of the first row exist.
    let across = if down > 0 { columns - 1 } else { last };
    let across = if grid.wrap() {
        across.min(columns / 2)
    } else {
        across
    };
    (across, down)
}

/// Checks that a grid has a cell for each letter.
pub(crate) fn fits_grid(alphabet: &Alphabet, grid: &Grid) -> Result<(), MetricError> {
    if alphabet.size() <= grid.cells() {
        return Ok(());
    }
    Err(MetricError::GridTooSmall {
        alphabet: alphabet.in_words(),
        grid: grid.to_string(),
        cells: grid.cells(),
    })
}

fn table_index(size: u32, a: u16, b: u16) -> usize {
    usize::from(a) * size as usize + usize::from(b)
}

/// Ranges are checked when a model is created.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn rounded(value: f64) -> u32 {
    value.round() as u32
}

#[cfg(test)]
mod tests {
    use crate::{Alphabet, Comparison, Metric, Scanpath};

    #[test]
    fn levenshtein_similarity_does_not_depend_on_the_size_of_the_alphabet() {
        let similarity = |letters: u32| {
            let alphabet = Alphabet::letters(letters).unwrap();
            let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
            let path = |length| Scanpath::new(vec![0; length]);
            comparison.compare(&path(3), &path(4)).unwrap().similarity()
        };
        assert_eq!(similarity(1), Some(0.75));
        assert_eq!(similarity(1), similarity(52));
    }
}

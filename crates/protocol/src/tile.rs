//! Parts of one plan that are computed separately, on machines that need not know of each other.
//!
//! A plan of many pairs is cut into *tiles*: blocks of rows (scanpaths of the first side) and columns (scanpaths of the second).
//! Both sides derive the same tiles from the stimuli and the lengths (padded if lengths are hidden), on which they agree anyway.
//! So nothing more is sent and nothing more is revealed. Tiles depend on nothing else, so a tile that is computed again has the
//! same pairs.
//!
//! The plan is halved recursively until every part is one tile. Each cut divides the matrix cells in proportion to the number of tiles
//! on either side of it. A cut goes through the side of a block with more letters, because a tile sends the letters of all its rows and
//! columns, and square tiles send the fewest. Tiles differ in size by up to a row or column for each cut. A plan with hardly more pairs
//! than tiles may have tiles without pairs; they are computed like any other.

use crate::{PairCount, PairRule, Spec, pairs::by_stimulus};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;
use veilpath_metrics::Cohort;

/// The largest number of tiles in a plan.
pub const MAX_TILES: u32 = 1 << 16;

/// One of several parts of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tile {
    index: u32,
    count: u32,
}

/// A text that is not a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a tile and the number of tiles, as in 3/8, with at most {MAX_TILES} tiles")]
pub struct TileError;

/// A tile, and the plan that it is a part of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanTile {
    /// The tile.
    pub tile: Tile,
    /// Identifies the tiles that belong together: between two sides the id of their agreement; for local tiles a digest of
    /// both cohorts and the settings. 64 hexadecimal digits.
    pub agreement: String,
    /// The number of pairs of the whole plan.
    pub pairs: u64,
}

/// The pairs of a plan or of a tile as blocks, without listing them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PairBlocks(Vec<Block>);

/// A block of pairs: every row with every column.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Block {
    /// Ascending indices of the first side's scanpaths.
    rows: Vec<usize>,
    /// Ascending indices of the second side's scanpaths.
    columns: Vec<usize>,
}

impl Tile {
    /// Tile number `index`, from 1, of `count`.
    pub fn new(index: u32, count: u32) -> Result<Self, TileError> {
        match (1..=count).contains(&index) && count <= MAX_TILES {
            true => Ok(Self { index, count }),
            false => Err(TileError),
        }
    }

    /// Its number, from 1.
    pub fn index(self) -> u32 {
        self.index
    }

    /// The number of tiles.
    pub fn count(self) -> u32 {
        self.count
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

impl FromStr for Tile {
    type Err = TileError;

    fn from_str(text: &str) -> Result<Self, TileError> {
        let (index, count) = text.split_once('/').ok_or(TileError)?;
        let number = |text: &str| match text.bytes().all(|byte| byte.is_ascii_digit()) {
            true => text.parse().map_err(|_| TileError),
            false => Err(TileError),
        };
        Self::new(number(index)?, number(count)?)
    }
}

impl TryFrom<String> for Tile {
    type Error = TileError;

    fn try_from(text: String) -> Result<Self, TileError> {
        text.parse()
    }
}

impl From<Tile> for String {
    fn from(tile: Tile) -> Self {
        tile.to_string()
    }
}

impl PairBlocks {
    /// The pairs of two cohorts: those that [`pairs_of`](crate::pairs_of) lists.
    pub fn of(rule: PairRule, a: &Cohort, b: &Cohort) -> Self {
        let by_stimulus = by_stimulus(rule, a, b);
        let mut blocks: Vec<Block> = Vec::new();
        let mut block_of: HashMap<Option<&str>, usize> = HashMap::new();
        for (row, entry) in a.entries.iter().enumerate() {
            let stimulus = entry.stimulus.as_deref().filter(|_| by_stimulus);
            let at = *block_of.entry(stimulus).or_insert_with(|| {
                blocks.push(Block {
                    rows: Vec::new(),
                    columns: Vec::new(),
                });
                blocks.len() - 1
            });
            blocks[at].rows.push(row);
        }
        for (column, entry) in b.entries.iter().enumerate() {
            let stimulus = entry.stimulus.as_deref().filter(|_| by_stimulus);
            if let Some(&at) = block_of.get(&stimulus) {
                blocks[at].columns.push(column);
            }
        }
        blocks.retain(|block| !block.columns.is_empty());
        Self(blocks)
    }

    /// The number of pairs.
    pub fn pairs(&self) -> u64 {
        let pairs =
            |block: &Block| (block.rows.len() as u64).saturating_mul(block.columns.len() as u64);
        self.0.iter().map(pairs).fold(0, u64::saturating_add)
    }

    /// The number of pairs and of their matrix cells. Other fields are not counted.
    pub fn count(&self, a: &Cohort, b: &Cohort) -> PairCount {
        let letters = |cohort: &Cohort, indices: &[usize]| -> u64 {
            let entries = indices
                .iter()
                .filter_map(|&index| cohort.entries.get(index));
            entries.map(|entry| entry.scanpath.len() as u64).sum()
        };
        let cells = |block: &Block| {
            let columns = letters(b, &block.columns);
            letters(a, &block.rows).saturating_mul(columns)
        };
        PairCount {
            pairs: self.pairs(),
            cells: self.0.iter().map(cells).fold(0, u64::saturating_add),
            ..PairCount::default()
        }
    }

    /// The pairs, in the order of the first side's scanpaths and then of the second's.
    pub fn list(&self) -> Vec<(usize, usize)> {
        // A row is in only one block, because the parts of a block that is cut by columns go to different tiles.
        let mut rows: Vec<(usize, &[usize])> = Vec::new();
        for block in &self.0 {
            rows.extend(block.rows.iter().map(|&row| (row, &block.columns[..])));
        }
        rows.sort_unstable_by_key(|(row, _)| *row);
        let mut pairs = Vec::with_capacity(usize::try_from(self.pairs()).unwrap_or(0));
        for (row, columns) in rows {
            pairs.extend(columns.iter().map(|&column| (row, column)));
        }
        pairs
    }

    /// The scanpaths of the first side that are in a pair, in ascending order.
    pub fn rows(&self) -> Vec<usize> {
        sorted(self.0.iter().flat_map(|block| &block.rows))
    }

    /// The scanpaths of the second side that are in a pair, in ascending order.
    pub fn columns(&self) -> Vec<usize> {
        sorted(self.0.iter().flat_map(|block| &block.columns))
    }

    /// How many scanpaths of the second side each scanpath of the first is compared with, and the other way round. Only scanpaths
    /// for which the two functions are true count.
    pub fn comparisons(
        &self,
        [a, b]: [usize; 2],
        counts: [&dyn Fn(usize) -> bool; 2],
    ) -> [Vec<u64>; 2] {
        let mut comparisons = [vec![0; a], vec![0; b]];
        for block in &self.0 {
            let sides = [&block.rows, &block.columns];
            let counted = [0, 1].map(|side: usize| {
                let counted = sides[side].iter().filter(|&&index| counts[side](index));
                counted.count() as u64
            });
            for (side, others) in [(0, counted[1]), (1, counted[0])] {
                for &index in sides[side].iter().filter(|&&index| counts[side](index)) {
                    if let Some(sum) = comparisons[side].get_mut(index) {
                        *sum += others;
                    }
                }
            }
        }
        comparisons
    }

    /// One tile of these pairs. `lengths` has the length of each scanpath of both sides, as both sides see it.
    pub fn tile(&self, lengths: [&[u64]; 2], tile: Tile) -> Self {
        let weights = Weights(lengths);
        let (mut blocks, mut first, mut count) = (self.0.clone(), 1, tile.count);
        while count > 1 {
            let before = count / 2;
            let (start, end) = split(blocks, &weights, before, count);
            if tile.index - first < before {
                (blocks, count) = (start, before);
            } else {
                (blocks, first, count) = (end, first + before, count - before);
            }
        }
        Self(blocks)
    }
}

/// The scanpath lengths from which a plan's tiles are derived: letters or fixations, whichever are compared, and padded if
/// lengths are hidden.
pub fn tile_lengths(spec: &Spec, cohort: &Cohort) -> Vec<u64> {
    let fixations = spec.metric.needs_fixations();
    let lengths = cohort.entries.iter().map(|entry| match &entry.fixations {
        Some(points) if fixations => points.len() as u64,
        _ => entry.scanpath.len() as u64,
    });
    let padded = |length| spec.pad_to.map_or(length, u64::from);
    lengths.map(padded).collect()
}

/// The sizes of rows and columns. An alignment matrix has one row and one column more than the scanpaths have letters, so even
/// an empty scanpath weighs something.
struct Weights<'a>([&'a [u64]; 2]);

impl Weights<'_> {
    fn side(&self, side: usize, indices: &[usize]) -> u128 {
        indices.iter().map(|&index| self.one(side, index)).sum()
    }

    fn one(&self, side: usize, index: usize) -> u128 {
        u128::from(self.0[side].get(index).copied().unwrap_or(0)) + 1
    }

    fn block(&self, block: &Block) -> u128 {
        self.side(0, &block.rows) * self.side(1, &block.columns)
    }
}

/// Splits blocks into two parts, with the matrix cells of `before` tiles and of the rest of `count` tiles.
fn split(
    blocks: Vec<Block>,
    weights: &Weights<'_>,
    before: u32,
    count: u32,
) -> (Vec<Block>, Vec<Block>) {
    let all: u128 = blocks.iter().map(|block| weights.block(block)).sum();
    let mut rest = all * u128::from(before) / u128::from(count);
    let (mut start, mut end): (Vec<Block>, Vec<Block>) = (Vec::new(), Vec::new());
    let mut blocks = blocks.into_iter().peekable();
    while let Some(block) = blocks.next() {
        let weight = weights.block(&block);
        if weight <= rest {
            rest -= weight;
            start.push(block);
            continue;
        }
        // Neither part is left without pairs.
        let must = [start.is_empty(), blocks.peek().is_none()];
        let (first, second) = cut(block, weights, rest, must);
        start.extend(first);
        end.extend(second);
        end.extend(blocks);
        break;
    }
    (start, end)
}

/// Cuts a block in two, so that the first part has about this weight. A part that must not be empty gets a pair, if the
/// block has two.
fn cut(
    block: Block,
    weights: &Weights<'_>,
    target: u128,
    must: [bool; 2],
) -> (Option<Block>, Option<Block>) {
    let sides = [&block.rows, &block.columns].map(Vec::len);
    let letters = [
        weights.side(0, &block.rows),
        weights.side(1, &block.columns),
    ];
    let side = match (sides, letters[0] >= letters[1]) {
        ([1, _], _) => 1,
        ([_, 1], _) => 0,
        (_, true) => 0,
        (_, false) => 1,
    };
    let indices = [&block.rows, &block.columns][side];
    let other = letters[1 - side];
    let (mut at, mut sum) = (0, 0);
    for &index in indices {
        let next: u128 = sum + weights.one(side, index) * other;
        // Stops at the cut that is nearer to the target.
        if sum >= target || next > target && next - target > target - sum {
            break;
        }
        (at, sum) = (at + 1, next);
    }
    let min_cut = usize::from(must[0]);
    let max_cut = indices.len() - usize::from(must[1]).min(indices.len());
    let at = at.min(max_cut).max(min_cut.min(max_cut));
    let Block {
        mut rows,
        mut columns,
    } = block;
    let second = match side {
        0 => Block {
            rows: rows.split_off(at),
            columns: columns.clone(),
        },
        _ => Block {
            columns: columns.split_off(at),
            rows: rows.clone(),
        },
    };
    let filled =
        |block: Block| (!block.rows.is_empty() && !block.columns.is_empty()).then_some(block);
    (filled(Block { rows, columns }), filled(second))
}

fn sorted<'a>(indices: impl Iterator<Item = &'a usize>) -> Vec<usize> {
    let mut all: Vec<usize> = indices.copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests;

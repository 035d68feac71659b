//! The letters of both sides, prepared for looking up the costs of their pairs.

use super::group::{CostSource, LetterTables};
use super::line_lookup::{
    LineBlocks, LineCosts, LineEntries, LineSeeds, LineTrees, MIN_CELLS_PER_LINE,
};
use super::lookup::{MAX_ALPHABET_SIZE, Table, Trees};
use super::packing::Words;
use super::rounds::{Task, run};
use super::seeds::{PuncturedSeeds, SeedRequest, WholeSeeds};
use super::session::{Party, SharesSession};
use crate::error::MpcError;
use crate::kernel::Kernel;
use std::ops::Range;
use std::rc::Rc;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The letters of a stage, scanpath by scanpath.
#[derive(Clone, Copy, Debug)]
pub struct LetterLists<'a> {
    /// Own letters, with all scanpaths concatenated.
    pub own: &'a [usize],
    /// The length of each own scanpath.
    pub own_lengths: &'a [usize],
    /// The length of each of the other side's scanpaths.
    pub their_lengths: &'a [usize],
    /// The number of cells in all matrices that will use these letters.
    pub cells: u64,
    /// The side whose letters have the trees, if several letters share one.
    pub tree_owner: Party,
}

/// The letters of both sides, ready to be looked up.
pub struct LetterLookup {
    pub(super) own: Zeroizing<Vec<usize>>,
    pub(super) own_table: Table,
    pub(super) their_table: Table,
    pub(super) trees: LookupTrees,
}

/// The trees of a stage.
pub(super) enum LookupTrees {
    /// A tree for each letter.
    PerLetter {
        own: Trees,
        own_rows: Words,
        theirs: Trees,
    },
    /// Trees for several lines each: cheaper per cell if entries have one bit.
    PerLineBlock(LineTrees),
}

impl LetterLookup {
    /// The data that look-ups read.
    pub(super) fn tables(&self, kernel: Kernel) -> LetterTables<'_> {
        LetterTables {
            kernel,
            own: &self.own,
            own_table: &self.own_table,
            their_table: &self.their_table,
        }
    }

    /// Where the costs of some matrices come from. `precomputed` has the costs that were looked up in advance.
    pub(super) fn source<'a>(
        &'a self,
        precomputed: Option<&'a [LineCosts]>,
        range: &Range<usize>,
    ) -> CostSource<'a> {
        match (&self.trees, precomputed) {
            (_, Some(precomputed)) => CostSource::Precomputed(&precomputed[range.clone()]),
            (LookupTrees::PerLineBlock(_), None) => CostSource::Precomputed(&[]),
            (
                LookupTrees::PerLetter {
                    own,
                    own_rows,
                    theirs,
                },
                None,
            ) => CostSource::Trees {
                own,
                own_rows,
                theirs,
            },
        }
    }
}

/// The most cells of a matrix whose costs are looked up before the first step: 32 MiB.
const MAX_LINE_TREE_CELLS: u64 = 1 << 28;

/// Whether lines share trees, for the number of cells and lines of a stage and the cells of its largest matrix.
pub(crate) fn uses_line_trees(entry_bits: usize, cells: u64, lines: u64, largest: u64) -> bool {
    entry_bits == 1
        && cells >= lines.saturating_mul(MIN_CELLS_PER_LINE)
        && largest <= MAX_LINE_TREE_CELLS
}

/// Trees that are made together.
const TREES_AT_ONCE: usize = 256;

/// Tree messages in flight: each has up to 60 kB.
const TASKS: usize = 8;

impl SharesSession {
    /// Prepares the letters of both sides for look-ups. `entry` is the public table, indexed by the host's letter and
    /// the joining side's.
    pub fn letters(
        &mut self,
        lists: LetterLists<'_>,
        alphabet: usize,
        entry_bits: usize,
        entry: impl Fn(usize, usize) -> u64,
        channel: &mut dyn Channel,
    ) -> Result<LetterLookup, MpcError> {
        let LetterLists {
            own,
            own_lengths,
            their_lengths,
            cells,
            tree_owner,
        } = lists;
        if !(1..=MAX_ALPHABET_SIZE).contains(&alphabet) {
            return Err(MpcError::Misuse(
                "the alphabet is too large to be looked up",
            ));
        }
        let by_host = Table::new(alphabet, alphabet, entry_bits, &entry);
        let by_join = Table::new(alphabet, alphabet, entry_bits, |join, host| {
            entry(host, join)
        });
        let (own_table, their_table) = match self.party {
            Party::Host => (by_host, by_join),
            Party::Join => (by_join, by_host),
        };
        let theirs: usize = their_lengths.iter().sum();
        let own_lines = tree_owner == self.party;
        let lines = if own_lines { own.len() } else { theirs };
        let kernel = self.kernel;
        let longest = |lengths: &[usize]| lengths.iter().max().map_or(0, |length| *length as u64);
        let largest = longest(own_lengths).saturating_mul(longest(their_lengths));
        let trees = if uses_line_trees(entry_bits, cells, lines as u64, largest) {
            let (blocks, seeds);
            if own_lines {
                blocks = LineBlocks::new(self.tree_levels.count(), own_lengths);
                let entries = LineEntries::new(&own_table, own, own_lengths, &blocks);
                let (own, _) = self.seeds(&entries.leaves, 0, blocks.lines, channel)?;
                seeds = LineSeeds::Own {
                    entries,
                    seeds: own,
                };
            } else {
                blocks = LineBlocks::new(self.tree_levels.count(), their_lengths);
                let trees = blocks.count() * their_table.streams();
                let (_, theirs) = self.seeds(&[], trees, blocks.lines, channel)?;
                seeds = LineSeeds::Theirs(theirs);
            }
            LookupTrees::PerLineBlock(LineTrees {
                rows_are_lines: own_lines == (self.party.is_host()),
                blocks,
                seeds,
            })
        } else {
            let (own_seeds, their_seeds) = self.seeds(own, theirs, own_table.levels, channel)?;
            LookupTrees::PerLetter {
                own: Trees::punctured(kernel, &own_seeds, own),
                own_rows: rows(&own_table, own),
                theirs: Trees::whole(kernel, &their_seeds),
            }
        };
        Ok(LetterLookup {
            own: Zeroizing::new(own.to_vec()),
            own_table,
            their_table,
            trees,
        })
    }

    /// Makes trees that lack these leaves for this side, and `theirs` trees for the other.
    fn seeds(
        &mut self,
        own: &[usize],
        theirs: usize,
        levels: usize,
        channel: &mut dyn Channel,
    ) -> Result<(PuncturedSeeds, WholeSeeds), MpcError> {
        let kernel = self.kernel;
        let firsts = (0..own.len().max(theirs)).step_by(TREES_AT_ONCE);
        let tasks = firsts.map(|first| {
            let gates = self.gates();
            let end = own.len().min(first + TREES_AT_ONCE);
            let request = SeedRequest {
                levels,
                first,
                own: own.get(first..end).unwrap_or_default(),
                theirs: theirs.saturating_sub(first).min(TREES_AT_ONCE),
            };
            Task {
                rounds: Rc::clone(&gates.rounds),
                future: Box::pin(async move {
                    gates.rounds.reserve(request.demand()).await;
                    gates.seeds(kernel, &request).await
                }),
            }
        });
        let transfers = own.len().max(theirs) * levels;
        self.pool.borrow_mut().expect(transfers);
        let parts = run(tasks, TASKS, &self.pool, channel)?;
        self.pool.borrow_mut().erase_surplus()?;
        let (own, theirs): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        Ok((
            PuncturedSeeds::joined(levels, &own),
            WholeSeeds::joined(levels, &theirs),
        ))
    }
}

/// The table rows of letters, concatenated.
pub(super) fn rows(table: &Table, letters: &[usize]) -> Words {
    let mut rows = Zeroizing::new(Vec::with_capacity(letters.len() * (table.streams() + 1)));
    for letter in letters {
        rows.extend_from_slice(&table.row(*letter));
    }
    rows
}

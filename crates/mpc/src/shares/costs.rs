//! Estimates what comparisons cost: messages, transfers and bytes. Both directions cost the same.

use super::compare::{clamp_cost, clamp_lists};
use super::grouping::group_count;
use super::letters::uses_line_trees;
use super::line_lookup::MESSAGE_BITS;
use super::list_costs::diagonal_runs;
use super::lookup::SEGMENT;
use super::matrix_recurrence::MatrixRecurrence;
use super::session::{Outputs, Party};
use crate::ot::correlated::messages::{seed_bytes, transfer_bytes};
use crate::ot::correlated::{MAX_BATCH, TreeLevels};

/// Bytes of base transfers and of the start of the hash keys, each way.
const BASE_BYTES: u64 = 8_300;

/// Matrices that are compared together, ordered by the host's scanpaths.
#[derive(Clone, Copy, Debug)]
pub struct Matrices {
    /// The number of matrices.
    pub count: u64,
    /// How many of the joining side's scanpaths each of the host's is compared with.
    pub per_host_scanpath: u64,
    /// Letters of the host's scanpaths, on average.
    pub rows: usize,
    /// Letters of the joining side's scanpaths, on average.
    pub columns: usize,
    /// The length of the host's longest scanpath.
    pub longest_rows: usize,
    /// The length of the joining side's longest scanpath.
    pub longest_columns: usize,
    /// How costs are looked up.
    pub letters: StageLetters,
    /// The recurrence.
    pub cell: MatrixRecurrence,
    /// Bits of the sum with terms, as in [`super::Finish`].
    pub term_bits: usize,
    /// The outputs.
    pub outputs: Outputs,
}

/// The letters of a stage.
#[derive(Clone, Copy, Debug)]
pub struct StageLetters {
    /// Letters of the alphabet.
    alphabet: usize,
    /// Letters of both sides.
    count: u64,
    /// Set if lines share trees.
    lines: Option<LineLetters>,
}

/// The letters of the lines, if lines share trees.
#[derive(Clone, Copy, Debug)]
pub struct LineLetters {
    /// The side that has these letters.
    pub party: Party,
    /// The number of these letters in a stage.
    pub count: u64,
    /// The levels of a tree, and how many lines share it.
    pub tree_levels: TreeLevels,
}

/// The cost of deriving a leaf or an inner node again, in stream blocks: each has its own key schedule, and so has each
/// leaf's stream.
const REDERIVED: u64 = 12;

/// The traffic of [`super::SharesSession::align`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlignmentCost {
    /// Sequential messages, summed over all groups.
    pub exchanges: u64,
    /// Groups that advance at the same time.
    pub in_flight: u64,
    /// Transfers in each direction.
    pub transfers: u64,
    /// Bytes in each direction, without those of transfers.
    pub bytes: u64,
    /// Stream blocks that each side computes to look up costs.
    pub stream_blocks: u64,
}

impl Matrices {
    /// The cost of comparing these matrices.
    pub fn cost(&self) -> AlignmentCost {
        let (count, cell) = (self.count, self.cell.cost());
        let (shorter, longer) = (
            self.rows.min(self.columns) as u64,
            self.rows.max(self.columns) as u64,
        );
        if shorter == 0 || count == 0 {
            return AlignmentCost::default();
        }
        let streams = self.letters.streams();
        let inline_streams = match self.letters.lines {
            Some(_) => 0,
            None => streams,
        };
        let [groups, in_flight] = group_count(
            count,
            self.rows,
            self.columns,
            self.cell,
            inline_streams as usize,
        );
        let in_group = count.div_ceil(groups);
        let steps = self.steps(in_group);
        let all_steps = groups.saturating_mul(steps);
        let cells = count.saturating_mul(shorter).saturating_mul(longer);
        let used = cells.saturating_mul(cell.cots as u64) / 2;
        let lists = all_steps.saturating_mul(self.lists());
        // A list takes a multiple of 64 transfers.
        let rounding = match used / lists {
            short @ ..32 => 64 - short,
            _ => 32,
        };
        let lookup = self.lookup(cells);
        AlignmentCost {
            exchanges: groups
                .saturating_mul(self.exchanges(steps, longer))
                .saturating_add(lookup.messages),
            in_flight,
            transfers: used
                .saturating_add(lists.saturating_mul(rounding))
                .saturating_add(count.saturating_mul(longer)),
            bytes: (cells.saturating_mul(cell.bits as u64) / 16)
                .saturating_add(lookup.bits / 16)
                .saturating_add(lists),
            stream_blocks: lookup.stream_blocks,
        }
    }

    /// The cost of [`super::SharesSession::diagonal_runs`] in these matrices.
    pub fn cost_of_runs(&self, min_length: usize) -> AlignmentCost {
        let cells = self.count.saturating_mul(self.rows as u64);
        let lookup = self.lookup(cells.saturating_mul(self.columns as u64));
        let inline_streams = match self.letters.lines {
            Some(_) => 0,
            None => self.letters.streams() as usize,
        };
        diagonal_runs(
            self.count,
            [self.rows, self.columns],
            min_length,
            inline_streams,
        )
        .then(AlignmentCost {
            exchanges: lookup.messages,
            bytes: lookup.bits / 16,
            stream_blocks: lookup.stream_blocks,
            ..AlignmentCost::default()
        })
    }

    /// The traffic and work of looking up the costs of all cells.
    fn lookup(&self, cells: u64) -> LookupCost {
        let streams = self.letters.streams();
        if let Some(lines) = self.letters.lines {
            let (each, scanpaths) = match lines.party {
                Party::Host => (
                    self.rows,
                    self.count.div_ceil(self.per_host_scanpath.max(1)),
                ),
                Party::Join => (self.columns, self.count.min(self.per_host_scanpath)),
            };
            // The last block of a scanpath may have fewer lines.
            let blocks = each.div_ceil(lines.tree_levels.count()) as u64;
            let bits = (cells / (each.max(1) as u64) * blocks).saturating_mul(streams);
            let messages = (bits / MESSAGE_BITS as u64).max(scanpaths);
            // A message covers about one scanpath, and requires deriving its leaves again.
            let trees = messages.max(scanpaths.saturating_mul(blocks)) * streams;
            return LookupCost {
                messages,
                bits,
                stream_blocks: (bits.saturating_mul(1 << lines.tree_levels.count())
                    / SEGMENT as u64)
                    .saturating_add(trees.saturating_mul(REDERIVED << lines.tree_levels.count())),
            };
        }
        let segments =
            |lines: usize, positions: usize| lines as u64 * positions.div_ceil(SEGMENT) as u64;
        // The lines are the rows of every other matrix.
        let segments = segments(self.rows, self.columns) + segments(self.columns, self.rows);
        LookupCost {
            messages: 0,
            bits: cells.saturating_mul(streams),
            stream_blocks: self
                .count
                .saturating_mul(segments)
                .saturating_mul((streams + 1).next_power_of_two() * streams)
                / 2,
        }
    }

    /// Steps of a group of this many matrices, which is as many as its largest has.
    #[allow(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss
    )] // an estimate
    fn steps(&self, in_group: u64) -> u64 {
        // The expected largest of `count` lengths that are spread evenly around the mean.
        let largest = |mean: usize, longest: usize, count: u64| {
            let above = longest.saturating_sub(mean) as f64;
            mean as u64 + (above * (count - 1) as f64 / (count + 1) as f64) as u64
        };
        let join_scanpaths = in_group.min(self.per_host_scanpath).max(1);
        let host_scanpaths = in_group.div_ceil(join_scanpaths);
        let rows = largest(self.rows, self.longest_rows, host_scanpaths);
        let columns = largest(self.columns, self.longest_columns, join_scanpaths);
        (rows + columns).saturating_sub(1).max(1)
    }

    /// Sequential messages of a group.
    fn exchanges(&self, steps: u64, positions: u64) -> u64 {
        let width = self.cell.width();
        let bits = self.cell.result_bits(self.rows, self.columns);
        let bits = bits.max(self.term_bits);
        let clamp = clamp_cost(width).exchanges as u64;
        let widened = u64::from(bits > width);
        // The first costs are looked up and turned into numbers before the first step.
        let around_steps = match self.cell {
            MatrixRecurrence::Unit if self.letters.lines.is_some() => 1,
            MatrixRecurrence::Unit => 2,
            MatrixRecurrence::Difference { .. }
            | MatrixRecurrence::Warping { .. }
            | MatrixRecurrence::Frechet { .. } => 2 + widened,
            MatrixRecurrence::Local { .. } => 2 + clamp * (1 + levels(positions)) + widened,
        };
        let output = match self.outputs {
            Outputs::Numbers => 1 + levels(bits as u64),
            // A clamp without the final product.
            Outputs::AtLeast => clamp_cost(bits).exchanges as u64 - 1,
        };
        let of_steps = steps.saturating_mul(self.cell.cost().exchanges as u64);
        of_steps.saturating_add(around_steps + output)
    }

    /// Lists of transfers that a step uses in each direction.
    fn lists(&self) -> u64 {
        let clamps = match self.cell {
            MatrixRecurrence::Unit => return 3,
            MatrixRecurrence::Difference { .. } | MatrixRecurrence::Warping { .. } => 2,
            MatrixRecurrence::Frechet { .. } => 3,
            MatrixRecurrence::Local { .. } => 4,
        };
        let lists = clamps * clamp_lists(self.cell.width()) + self.cell.entry_bits();
        lists.div_ceil(2) as u64
    }
}

/// The traffic of look-ups, beyond the messages of steps.
struct LookupCost {
    messages: u64,
    /// Both directions together.
    bits: u64,
    stream_blocks: u64,
}

impl StageLetters {
    /// `count` letters of both sides, in a stage with this many cells; the largest matrix has `largest` of them.
    pub fn new(
        alphabet: usize,
        count: u64,
        lines: LineLetters,
        cells: u64,
        largest: u64,
        cell: MatrixRecurrence,
    ) -> Self {
        let shared = uses_line_trees(cell.entry_bits(), cells, lines.count, largest);
        Self {
            alphabet,
            count,
            lines: shared.then_some(lines),
        }
    }

    fn streams(&self) -> u64 {
        self.alphabet.saturating_sub(1) as u64
    }

    /// Whether lines share trees.
    pub fn uses_line_trees(&self) -> bool {
        self.lines.is_some()
    }

    /// Transfers in each direction to make the trees, and bytes besides the transfers.
    pub fn cost(&self) -> (u64, u64) {
        let (levels, trees) = match self.lines {
            // One side has all letters of lines, and transfers are made in both directions.
            Some(lines) => {
                let trees = lines.count.saturating_mul(self.streams());
                (
                    lines.tree_levels.count() as u64,
                    trees / lines.tree_levels.count() as u64,
                )
            }
            // Each side has half of the trees.
            None => (levels(self.alphabet as u64).max(1), self.count / 2),
        };
        let bits = levels + 256 * (levels - 1);
        (trees.saturating_mul(levels), trees.saturating_mul(bits) / 8)
    }
}

/// Batches, in each direction, of a session that uses this many transfers.
pub fn batches(transfers: u64) -> u64 {
    transfers.div_ceil(BATCH).max(1)
}

/// Bytes of a batch, each way.
pub fn batch_bytes(tree_levels: TreeLevels) -> u64 {
    transfer_bytes(MAX_BATCH, tree_levels) as u64
}

/// Transfers of a batch, each way.
pub const BATCH: u64 = MAX_BATCH as u64;

/// Bytes to start a session, each way.
pub fn start_bytes(tree_levels: TreeLevels) -> u64 {
    BASE_BYTES + seed_bytes(tree_levels) as u64
}

/// Levels of a binary tree with this many leaves.
fn levels(leaves: u64) -> u64 {
    u64::from(leaves.max(1).next_power_of_two().trailing_zeros())
}

//! Divides the pairs into portions. Both sides compute the same schedule from the lengths.

use crate::engines::alignment::private_metric::{MaxLengths, PrivateMetric};
use crate::{Job, Role, TreeLevels};
use std::collections::BTreeSet;
use std::ops::Range;
use veilpath_mpc::shares::MatrixRecurrence;

/// Memory for everything in flight.
const IN_FLIGHT_BYTES: u64 = 96 << 20;

/// Memory for a transfer of a cell on an anti-diagonal while it is in flight: its block, its pads, and its part of messages and
/// numbers.
pub(super) const TRANSFER_BYTES: u64 = 48;

/// Limits on the pairs that are compared together and whose results are stored together. With more pairs, more work shares each
/// message's latency, but more is lost if the connection breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PortionLimits {
    /// Cells on an anti-diagonal of all matrices, which are in flight.
    pub(super) in_flight: u64,
    /// Cells of all matrices.
    pub(super) cells: u64,
    /// Rows and columns of all matrices.
    pub(super) edges: u64,
    /// Letters that need trees.
    pub(super) letters: u64,
    pub(super) pairs: usize,
}

impl PortionLimits {
    /// Without a cell, nothing is looked up: each comparison takes a few numbers for each letter of the alphabet.
    pub(super) fn new(cell: Option<&MatrixRecurrence>, letters: usize, levels: TreeLevels) -> Self {
        let Some(cell) = cell else {
            return Self {
                in_flight: u64::MAX,
                cells: u64::MAX,
                edges: u64::MAX,
                letters: u64::MAX,
                pairs: 1 << 12,
            };
        };
        let bytes_per_cell = TRANSFER_BYTES * cell.cost().cots as u64;
        let in_flight = (IN_FLIGHT_BYTES / bytes_per_cell.max(1)).clamp(1 << 13, 3 << 15);
        Self {
            in_flight,
            // Square matrices have two edges for each cell in flight.
            edges: (3 * in_flight).min(3 << 16),
            letters: TREE_BYTES / letter_bytes(cell, letters),
            // Deep trees are chosen on slow connections, where results are stored more often.
            cells: match levels {
                TreeLevels::Four => 1 << 24,
                TreeLevels::Eight => 1 << 23,
            },
            pairs: 1 << 14,
        }
    }

    /// The number of pairs in a portion whose matrices have this shape.
    pub(super) fn pairs_of(&self, rows: u64, columns: u64) -> u64 {
        let by_cells = self.cells / rows.saturating_mul(columns).max(1);
        let in_flight = self.in_flight / rows.min(columns).max(1);
        let by_edges = self.edges / (rows + columns).max(1);
        in_flight
            .min(by_cells)
            .min(by_edges)
            .clamp(1, self.pairs as u64)
    }
}

/// The largest size of a stage's trees, unless a single pair needs more.
pub(super) const TREE_BYTES: u64 = 40 << 20;

/// Memory for a letter of either side, in an alphabet of `letters`: its leaves and seeds, or its part of the seeds of several
/// letters. Seeds briefly exist in two copies.
pub(super) fn letter_bytes(cell: &MatrixRecurrence, letters: usize) -> u64 {
    let leaves = 16 * letters.next_power_of_two().max(2) as u64;
    // The letter's row of costs.
    let own = leaves + 8 * letters as u64 + 256;
    match cell.entry_bits() {
        1 => own.max(40 * letters as u64),
        _ => own,
    }
}

/// The schedule of a run.
pub(super) struct Schedule {
    host_lengths: Vec<u32>,
    join_lengths: Vec<u32>,
    /// Pairs whose results do not follow from the lengths, in the agreed order.
    pub(super) pending: Vec<usize>,
    pub(super) stages: Vec<Stage>,
}

/// Portions that share letter trees.
#[derive(Default)]
pub(super) struct Stage {
    /// Each side's scanpaths, and the position of their letters in the stage.
    pub(super) host_scanpaths: Vec<(usize, Range<usize>)>,
    pub(super) join_scanpaths: Vec<(usize, Range<usize>)>,
    /// Ranges of [`Schedule::pending`].
    pub(super) portions: Vec<Range<usize>>,
    /// The largest lengths among its pairs.
    pub(super) max_lengths: MaxLengths,
    /// The host's and the joining side's letters, summed over all portions.
    letters: [u64; 2],
}

impl Stage {
    /// The side whose letters have the trees, if several letters share one: the side with fewer letters, summed over all
    /// portions.
    pub(super) fn tree_owner(&self) -> Role {
        match self.letters[0] <= self.letters[1] {
            true => Role::Host,
            false => Role::Join,
        }
    }

    /// Where the letters of a scanpath are.
    pub(super) fn letters_of(&self, role: Role, scanpath: usize) -> Range<usize> {
        let all = match role {
            Role::Host => &self.host_scanpaths,
            Role::Join => &self.join_scanpaths,
        };
        let found = all.binary_search_by_key(&scanpath, |(number, _)| *number);
        found.map_or(0..0, |at| all[at].1.clone())
    }
}

impl Schedule {
    pub(super) fn new(
        job: &Job<'_>,
        scoring: &PrivateMetric,
        own: Vec<u32>,
        theirs: Vec<u32>,
    ) -> Self {
        let (host_lengths, join_lengths) = match job.role {
            Role::Host => (own, theirs),
            Role::Join => (theirs, own),
        };
        let mut schedule = Self {
            host_lengths,
            join_lengths,
            pending: Vec::new(),
            stages: Vec::new(),
        };
        schedule.pending = (0..job.pairs.len())
            .filter(|&pair| {
                let (rows, columns) = schedule.lengths(job, pair);
                !scoring.follows_from_lengths(rows, columns)
            })
            .collect();
        schedule.stages = schedule.stages(job, scoring);
        schedule
    }

    /// The lengths of a pair.
    pub(super) fn lengths(&self, job: &Job<'_>, pair: usize) -> (u32, u32) {
        let (host, join) = job.pairs[pair];
        (self.host_lengths[host], self.join_lengths[join])
    }

    /// Cells of all matrices of a stage.
    pub(super) fn cells(&self, job: &Job<'_>, stage: &Stage) -> u64 {
        let pairs = stage
            .portions
            .iter()
            .flat_map(|portion| &self.pending[portion.clone()]);
        pairs.fold(0, |sum, &pair| {
            let (rows, columns) = self.lengths(job, pair);
            sum.saturating_add(u64::from(rows) * u64::from(columns))
        })
    }

    fn portions(&self, job: &Job<'_>, limits: PortionLimits) -> Vec<Range<usize>> {
        let mut portions = Vec::new();
        let (mut first, mut in_flight, mut cells, mut edges) = (0, 0, 0, 0);
        let (mut host_scanpaths, mut join_scanpaths, mut letters) =
            (BTreeSet::new(), BTreeSet::new(), 0);
        for (index, &pair) in self.pending.iter().enumerate() {
            let (rows, columns) = self.lengths(job, pair);
            let more_in_flight = u64::from(rows.min(columns));
            let more = u64::from(rows) * u64::from(columns);
            let more_edges = u64::from(rows) + u64::from(columns);
            let (host, join) = job.pairs[pair];
            let new = |is_known: bool, length: u32| if is_known { 0 } else { u64::from(length) };
            let more_letters = new(host_scanpaths.contains(&host), rows)
                + new(join_scanpaths.contains(&join), columns);
            let full = in_flight + more_in_flight > limits.in_flight
                || cells + more > limits.cells
                || edges + more_edges > limits.edges
                || letters + more_letters > limits.letters
                || index - first == limits.pairs;
            if first < index && full {
                portions.push(first..index);
                (first, in_flight, cells, edges, letters) = (index, 0, 0, 0, 0);
                host_scanpaths.clear();
                join_scanpaths.clear();
            }
            in_flight += more_in_flight;
            cells += more;
            edges += more_edges;
            letters += new(!host_scanpaths.insert(host), rows)
                + new(!join_scanpaths.insert(join), columns);
        }
        if first < self.pending.len() {
            portions.push(first..self.pending.len());
        }
        portions
    }

    fn stages(&self, job: &Job<'_>, scoring: &PrivateMetric) -> Vec<Stage> {
        let mut stages = Vec::new();
        let mut stage = Stage::default();
        let (mut host_scanpaths, mut join_scanpaths) = (BTreeSet::new(), BTreeSet::new());
        let max_lengths = |pairs: &[usize]| {
            let pairs = pairs.iter().map(|&pair| {
                let (rows, columns) = self.lengths(job, pair);
                MaxLengths::of(rows, columns)
            });
            pairs.fold(MaxLengths::of(1, 1), MaxLengths::max)
        };
        let cell = scoring.on_shares(max_lengths(&self.pending)).cell;
        let limits = PortionLimits::new(cell.as_ref(), scoring.alphabet_size(), job.tree_levels);
        for portion in self.portions(job, limits) {
            let pairs = self.pending[portion.clone()]
                .iter()
                .map(|&pair| job.pairs[pair]);
            let (new_host_scanpaths, new_join_scanpaths): (BTreeSet<usize>, BTreeSet<usize>) =
                pairs.unzip();
            let letters = [
                letters_of(&new_host_scanpaths, &self.host_lengths),
                letters_of(&new_join_scanpaths, &self.join_lengths),
            ];
            let all_host_scanpaths: BTreeSet<usize> =
                host_scanpaths.union(&new_host_scanpaths).copied().collect();
            let all_join_scanpaths: BTreeSet<usize> =
                join_scanpaths.union(&new_join_scanpaths).copied().collect();
            let all = letters_of(&all_host_scanpaths, &self.host_lengths)
                + letters_of(&all_join_scanpaths, &self.join_lengths);
            if !stage.portions.is_empty() && all > limits.letters {
                stages.push(self.with_letter_ranges(
                    std::mem::take(&mut stage),
                    &host_scanpaths,
                    &join_scanpaths,
                ));
                (host_scanpaths, join_scanpaths) = (new_host_scanpaths, new_join_scanpaths);
            } else {
                (host_scanpaths, join_scanpaths) = (all_host_scanpaths, all_join_scanpaths);
            }
            stage.max_lengths = stage
                .max_lengths
                .max(max_lengths(&self.pending[portion.clone()]));
            for (sum, more) in stage.letters.iter_mut().zip(letters) {
                *sum += more;
            }
            stage.portions.push(portion);
        }
        if !stage.portions.is_empty() {
            stages.push(self.with_letter_ranges(stage, &host_scanpaths, &join_scanpaths));
        }
        stages
    }

    fn with_letter_ranges(
        &self,
        mut stage: Stage,
        host_scanpaths: &BTreeSet<usize>,
        join_scanpaths: &BTreeSet<usize>,
    ) -> Stage {
        let ranges = |scanpaths: &BTreeSet<usize>, lengths: &[u32]| {
            let mut next = 0;
            let ranges = scanpaths.iter().map(|&scanpath| {
                let start = next;
                next += lengths[scanpath] as usize;
                (scanpath, start..next)
            });
            ranges.collect()
        };
        stage.host_scanpaths = ranges(host_scanpaths, &self.host_lengths);
        stage.join_scanpaths = ranges(join_scanpaths, &self.join_lengths);
        stage
    }
}

/// The letters of scanpaths.
fn letters_of(scanpaths: &BTreeSet<usize>, lengths: &[u32]) -> u64 {
    let lengths = scanpaths.iter().map(|&scanpath| lengths[scanpath]);
    lengths.map(u64::from).sum()
}

//! What a job will cost.

use super::super::garbled::scoring::Scoring;
use super::schedule::{PORTION_CELLS, PORTION_PAIRS};
use crate::estimate::Costs;
use crate::{JobSize, Work};
use veilpath_metrics::Comparison;
use veilpath_mpc::shares::{GROUPS, group_count};

/// Bits of a transfer on the wire, with trees of four levels.
const TRANSFER_BITS: u64 = 32;

/// Bytes to start a stage, each way.
const START_BYTES: u64 = 13_000;

/// Seconds of a transfer with its pads, and of the rest of a cell, with both sides on the two cores of one machine.
const TRANSFER_SECONDS: f64 = 45e-9;
const CELL_SECONDS: f64 = 300e-9;

/// Base transfers of both directions.
const STAGE_SECONDS: f64 = 0.06;

/// Exchanges that overlap with nothing: lengths, base transfers, trees of letters.
const START_WAITS: u64 = 6;

/// Exchanges of a portion's end: sums, bits of outputs, opening.
const PORTION_WAITS: u64 = 10;

/// What a job will cost. All comparisons count as the mean one.
#[allow(clippy::cast_precision_loss)] // an estimate
pub(crate) fn costs(comparison: &Comparison, work: &Work) -> Costs {
    let padding = work.padded.then_some(1);
    let scoring = Scoring::new(comparison.model(), comparison.alphabet().size(), padding);
    let (rows, columns) = work.mean_matrix();
    let shorter = rows.min(columns);
    let cell = scoring
        .on_shares(u32::try_from(shorter).unwrap_or(u32::MAX))
        .cell
        .cost();
    if work.cells == 0 {
        return Costs {
            waits: 1,
            ..Costs::default()
        };
    }
    let letters = scoring.letters() as u64;
    let levels = u64::from(letters.next_power_of_two().trailing_zeros().max(1));
    let of_cell = cell.cots as u64 * TRANSFER_BITS + cell.bits as u64 + letters - 1;
    let of_letter = levels * (TRANSFER_BITS + 1) + 256 * (levels - 1);
    let of_letters = (work.host_letters + work.join_letters).saturating_mul(of_letter);
    let bits = work
        .cells
        .saturating_mul(of_cell)
        .saturating_add(of_letters);
    // Half of it each way.
    let bytes = (bits / 16).saturating_add(START_BYTES);
    let pairs_in_portion = (PORTION_CELLS / shorter.max(1)).clamp(1, PORTION_PAIRS as u64);
    let portions = work.pairs.div_ceil(pairs_in_portion);
    let size = |letters: u64| usize::try_from(letters).unwrap_or(usize::MAX);
    let groups = group_count(work.pairs, size(rows), size(columns), size(letters));
    let in_flight = groups.div_ceil(portions).clamp(1, GROUPS as u64);
    let steps = (rows + columns).saturating_mul(groups);
    Costs {
        bytes_to_host: bytes,
        bytes_to_join: bytes,
        waits: START_WAITS + portions * PORTION_WAITS,
        // A message takes half a round trip, and one more for the transfers of a step.
        exchanges: steps.saturating_mul(cell.exchanges as u64 + 1) / 2,
        in_flight: in_flight as f64,
        setup: STAGE_SECONDS,
        computing: work.cells as f64 * (cell.cots as f64 * TRANSFER_SECONDS + CELL_SECONDS),
    }
}

/// Bytes of a group in flight: transfers, pads and messages.
const WORKING_BYTES: u64 = 48 << 20;

/// An upper bound of the memory of a side: trees of letters, the costs and the state of a portion's matrices.
pub(crate) fn memory(comparison: &Comparison, pad_to: Option<u32>, size: &JobSize) -> u64 {
    let scoring = Scoring::new(comparison.model(), comparison.alphabet().size(), pad_to);
    let longest = size.host.longest.max(size.join.longest);
    let shorter = size.host.longest.min(size.join.longest);
    let cell = scoring
        .on_shares(u32::try_from(shorter).unwrap_or(u32::MAX))
        .cell;
    let letters = scoring.letters() as u64;
    let tree = 16 * letters.next_power_of_two();
    let all = size.host.letters.saturating_add(size.join.letters);
    let in_stage =
        all.min(super::schedule::TREE_BYTES / tree + size.host.longest + size.join.longest);
    // While trees are joined, there are two copies.
    let trees = in_stage.saturating_mul(2 * tree);
    let lines = PORTION_CELLS
        .saturating_add(longest)
        .min(size.pairs.saturating_mul(longest));
    let line = 16 * cell.entry_bits() as u64 + 64;
    let indicators = letters.saturating_mul(16);
    let pairs = size.pairs.min(PORTION_PAIRS as u64);
    let tiles = pairs.saturating_mul(longest.div_ceil(128));
    trees
        .saturating_add(lines.saturating_mul(line))
        .saturating_add(
            tiles
                .min(PORTION_CELLS / 16 + longest.div_ceil(128))
                .saturating_mul(indicators),
        )
        .saturating_add(WORKING_BYTES)
}

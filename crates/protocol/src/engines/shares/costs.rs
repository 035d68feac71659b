//! What a job will cost.

use super::schedule::{PortionLimits, TRANSFER_BYTES, letter_bytes};
use crate::engines::alignment::scoring::Scoring;
use crate::estimate::Costs;
use crate::{JobError, JobSize, Reveal, Spec, TreeLevels, Work};
use veilpath_metrics::Comparison;
use veilpath_mpc::shares::costs::{
    AlignmentCost, BATCH, Letters, Lines, Matrices, batch_bytes, batches, start_bytes,
};
use veilpath_mpc::shares::{Outputs, Party, fits};

/// Seconds of computing, with both sides on the two cores of one machine with AES instructions. Uses and cells are fitted to one
/// run of `veilpath bench network` with Levenshtein on a busy machine; the others are approximate and not fitted.
/// `cargo bench -p veilpath-mpc --bench cots` measures transfers and `veilpath bench cell --engine shares` whole cells;
/// `veilpath bench network` shows estimates beside measured times.
mod seconds {
    use crate::TreeLevels;

    /// Making a transfer.
    pub(super) fn per_transfer(levels: TreeLevels) -> f64 {
        match levels {
            TreeLevels::Four => 10e-9,
            TreeLevels::Eight => 34e-9,
        }
    }

    /// Using a transfer: its pads, and its part of messages.
    pub(super) const PER_USE: f64 = 20e-9;

    /// The rest of a matrix cell.
    pub(super) const PER_CELL: f64 = 70e-9;

    /// A block of a stream for looking up costs, and each bit of an entry that it is added to.
    pub(super) const PER_STREAM: f64 = 1.5e-9;
    pub(super) const PER_STREAM_BIT: f64 = 0.5e-9;

    /// A block of a stream of which several lines share the tree.
    pub(super) const PER_LINE_STREAM: f64 = 1.5e-9;

    /// A message: waking up for it, encrypting and decrypting it.
    pub(super) const PER_EXCHANGE: f64 = 20e-6;

    /// Base transfers of both directions.
    pub(super) const PER_STAGE: f64 = 0.06;
}

/// Rounds that overlap with nothing. All take half a round trip, because both sides send at the same time; those of base
/// transfers take a whole one, and count twice.
const JOB_WAITS: u64 = 2;
const STAGE_WAITS: u64 = 6;
const PORTION_WAITS: u64 = 1;

/// What a job will cost. All comparisons count as the mean one.
#[allow(clippy::cast_precision_loss)] // an estimate
pub(crate) fn costs(comparison: &Comparison, work: &Work, levels: TreeLevels) -> Costs {
    let padding = work.padded.then_some(1);
    let scoring = Scoring::new(comparison.model(), comparison.alphabet().size(), padding);
    let (rows, columns) = work.mean_matrix();
    let shorter = rows.min(columns);
    if work.cells == 0 {
        return Costs {
            waits: 1,
            ..Costs::default()
        };
    }
    let cell = scoring
        .on_shares(u32::try_from(shorter).unwrap_or(u32::MAX))
        .cell;
    let size = |letters: u64| usize::try_from(letters).unwrap_or(usize::MAX);
    let limits = PortionLimits::new(&cell, scoring.letters(), levels);
    let pairs_in_portion = limits.pairs_of(rows, columns);
    let portions = work.pairs.div_ceil(pairs_in_portion);
    let (stages, letters) = stages(
        limits.letters,
        work,
        portions,
        pairs_in_portion,
        [rows, columns],
    );
    let lines = {
        let group_bits = levels.group_bits();
        let in_portion = pairs_in_portion.min(work.pairs);
        let joins = work.pairs.div_ceil(work.host_scanpaths.max(1));
        let of_host = in_portion.div_ceil(joins.max(1)).saturating_mul(rows);
        let of_join = in_portion.min(joins).saturating_mul(columns);
        let host_letters = work.host_letters / stages;
        match of_host <= of_join {
            true => Lines {
                party: Party::Host,
                count: host_letters,
                group_bits,
            },
            false => Lines {
                party: Party::Join,
                count: (letters / stages).saturating_sub(host_letters),
                group_bits,
            },
        }
    };
    let letters = Letters::new(
        scoring.letters(),
        letters / stages,
        lines,
        work.cells / stages,
        work.host_longest.saturating_mul(work.join_longest),
        cell,
    );
    let portion = |pairs: u64| {
        let matrices = Matrices {
            count: pairs,
            rows: size(rows),
            columns: size(columns),
            per_host_scanpath: work.pairs.div_ceil(work.host_scanpaths.max(1)),
            longest_rows: size(work.host_longest),
            longest_columns: size(work.join_longest),
            letters,
            cell,
            term_bits: scoring.settling().map_or(0, |settling| settling.width),
            outputs: match work.reveal {
                Reveal::Score => Outputs::Numbers,
                Reveal::Threshold(_) => Outputs::AtLeast,
            },
        };
        matrices.cost()
    };
    let (whole, rest) = (work.pairs / pairs_in_portion, work.pairs % pairs_in_portion);
    let (portion, last) = (portion(pairs_in_portion.min(work.pairs)), portion(rest));
    let sum = |part: fn(&AlignmentCost) -> u64| {
        part(&portion)
            .saturating_mul(whole)
            .saturating_add(part(&last))
    };
    let (letter_transfers, letter_bytes) = letters.cost();
    let transfers =
        sum(|cost| cost.transfers).saturating_add(letter_transfers.saturating_mul(stages));
    let batches = batches(transfers / stages).saturating_mul(stages);
    let group_bits = levels.group_bits();
    let bytes = sum(|cost| cost.bytes)
        .saturating_add(letter_bytes.saturating_mul(stages))
        .saturating_add(batches.saturating_mul(batch_bytes(group_bits)))
        .saturating_add(stages.saturating_mul(start_bytes(group_bits)));
    let exchanges = sum(|cost| cost.exchanges);
    let in_flight = portion.in_flight.max(last.in_flight);
    let of_stream = match letters.uses_line_trees() {
        true => seconds::PER_LINE_STREAM,
        false => seconds::PER_STREAM + seconds::PER_STREAM_BIT * cell.entry_bits() as f64,
    };
    Costs {
        bytes_to_host: bytes,
        bytes_to_join: bytes,
        waits: JOB_WAITS
            .saturating_add(stages.saturating_mul(STAGE_WAITS))
            .saturating_add(portions.saturating_mul(PORTION_WAITS)),
        exchanges,
        one_way: true,
        in_flight: in_flight as f64,
        setup: stages as f64 * seconds::PER_STAGE,
        computing: batches.saturating_mul(2 * BATCH) as f64 * seconds::per_transfer(levels)
            + 2.0 * transfers as f64 * seconds::PER_USE
            + work.cells as f64 * seconds::PER_CELL
            + sum(|cost| cost.stream_blocks) as f64 * of_stream
            + exchanges as f64 * seconds::PER_EXCHANGE,
    }
}

/// How many stages there will be, and the letters of both sides in all of them.
fn stages(
    most: u64,
    work: &Work,
    portions: u64,
    pairs_in_portion: u64,
    [rows, columns]: [u64; 2],
) -> (u64, u64) {
    let all = work.host_letters.saturating_add(work.join_letters);
    if all <= most {
        return (1, all);
    }
    // Pairs are sorted by scanpaths of the host, so that a stage has some of these and those that they are compared with.
    let in_portion = pairs_in_portion.saturating_mul(rows + columns).min(all);
    let of_hosts = most.saturating_sub(work.join_letters.min(in_portion));
    let stages = match of_hosts {
        0 => portions,
        of_hosts => work.host_letters.div_ceil(of_hosts).clamp(1, portions),
    };
    let letters = stages.saturating_mul(work.join_letters.min(in_portion));
    (stages, letters.saturating_add(work.host_letters))
}

/// Whether the alphabet can be looked up, and the messages of the largest matrix fit the buffers of a channel.
pub(crate) fn check(spec: &Spec, size: &JobSize) -> Result<(), JobError> {
    let letters = spec.alphabet.size();
    // Such a job is refused for another reason.
    let Ok(comparison) = Comparison::new(spec.metric.clone(), spec.alphabet) else {
        return Ok(());
    };
    let scoring = Scoring::new(comparison.model(), letters, spec.pad_to);
    super::check_letters(scoring.letters())?;
    let [host, join] = [size.host.longest, size.join.longest]
        .map(|longest| u32::try_from(longest).unwrap_or(u32::MAX));
    let cell = scoring.on_shares(host.min(join).max(1)).cell;
    match fits(host as usize, join as usize, cell, scoring.letters()) {
        true => Ok(()),
        false => Err(JobError::PairTooLarge { host, join }),
    }
}

/// Bytes beside those of cells in flight: batches of transfers that are made before they are needed, and buffers of the connection.
const WORKING_BYTES: u64 = 28 << 20;

/// Bytes of the costs of all matrices of a portion that are looked up at once: of the largest that may be, and of lines that
/// begin a new word.
const MAX_COST_BYTES: u64 = 36 << 20;

/// Bytes of a position while its differences become a result.
const POSITION_BYTES: u64 = 200;

/// An upper bound of the memory of a side: trees of letters, the costs and the state of a portion's matrices.
pub(crate) fn memory(comparison: &Comparison, pad_to: Option<u32>, size: &JobSize) -> u64 {
    let scoring = Scoring::new(comparison.model(), comparison.alphabet().size(), pad_to);
    let longest = size.host.longest.saturating_add(size.join.longest);
    let shorter = size.host.longest.min(size.join.longest);
    let cell = scoring
        .on_shares(u32::try_from(shorter.max(1)).unwrap_or(u32::MAX))
        .cell;
    let letters = scoring.letters();
    let limits = PortionLimits::new(&cell, letters, TreeLevels::Four);
    let all = size.host.letters.saturating_add(size.join.letters);
    let in_stage = all.min(limits.letters.saturating_add(longest));
    let in_flight = size
        .pairs
        .saturating_mul(shorter)
        .min(limits.in_flight.saturating_add(shorter));
    let edges = size
        .pairs
        .saturating_mul(longest)
        .min(limits.edges.saturating_add(longest));
    let (of_edge, costs) = match cell.entry_bits() as u64 {
        1 => {
            let cells = size.host.longest.saturating_mul(size.join.longest);
            let all = size.pairs.saturating_mul(cells / 8 + 8 * longest);
            (POSITION_BYTES, all.min(MAX_COST_BYTES))
        }
        bits => (POSITION_BYTES.max(16 * bits + 64), 0),
    };
    let indicators = edges / 128 + size.pairs.min(limits.pairs as u64);
    in_stage
        .saturating_mul(letter_bytes(&cell, letters))
        .saturating_add(in_flight.saturating_mul(TRANSFER_BYTES * cell.cost().cots as u64))
        .saturating_add(edges.saturating_mul(of_edge))
        .saturating_add(costs)
        .saturating_add(match cell.entry_bits() {
            1 => 0,
            _ => indicators.saturating_mul(16 * letters as u64),
        })
        .saturating_add(WORKING_BYTES)
}

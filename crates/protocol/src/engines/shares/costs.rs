//! Estimates a job's cost.

use super::non_alignment_costs;
use super::schedule::{PortionLimits, TRANSFER_BYTES, letter_bytes};
use crate::engines::alignment::on_shares::Method;
use crate::engines::alignment::private_metric::{MaxLengths, PrivateMetric};
use crate::estimate::JobCosts;
use crate::{JobError, JobSize, Reveal, Spec, TreeLevels, Workload};
use veilpath_metrics::Comparison;
use veilpath_mpc::shares::costs::{
    AlignmentCost, BATCH, LineLetters, Matrices, StageLetters, batch_bytes, batches, start_bytes,
};
use veilpath_mpc::shares::{MatrixRecurrence, Outputs, Party};

/// Seconds of computation, with both sides on the two cores of one machine with AES instructions. The constants for uses and
/// cells are fitted to one run of `veilpath bench network` with Levenshtein on a busy machine; the others are approximate and
/// not fitted. `cargo bench -p veilpath-mpc --bench cots` measures transfers and `veilpath bench cell --engine shares` whole
/// cells; `veilpath bench network` shows estimates beside measured times.
mod seconds {
    use crate::TreeLevels;

    /// Generating a transfer.
    pub(super) fn per_transfer(levels: TreeLevels) -> f64 {
        match levels {
            TreeLevels::Four => 10e-9,
            TreeLevels::Eight => 34e-9,
        }
    }

    /// Using a transfer: its pads, and its part of the messages.
    pub(super) const PER_USE: f64 = 20e-9;

    /// The rest of a matrix cell.
    pub(super) const PER_CELL: f64 = 70e-9;

    /// The rest of a matrix cell, if 64 cells share a word.
    pub(super) const PER_BIT: f64 = 15e-9;

    /// Reading an entry of the alphabet's table, for every letter of a scanpath.
    pub(super) const PER_ENTRY: f64 = 0.5e-9;

    /// A block of a look-up stream, and each bit of an entry to which it is added.
    pub(super) const PER_STREAM: f64 = 1.5e-9;
    pub(super) const PER_STREAM_BIT: f64 = 0.5e-9;

    /// A block of a stream whose tree several letters share.
    pub(super) const PER_LINE_STREAM: f64 = 1.5e-9;

    /// A message: waking up, encrypting and decrypting.
    pub(super) const PER_EXCHANGE: f64 = 20e-6;

    /// Base transfers of both directions.
    pub(super) const PER_STAGE: f64 = 0.06;
}

/// Rounds that overlap with nothing. A round takes half a round trip, because both sides send at the same time. A round
/// of base transfers takes a whole one and counts twice.
const JOB_WAITS: u64 = 2;
const STAGE_WAITS: u64 = 6;
const PORTION_WAITS: u64 = 1;

/// The estimated costs of a job. All comparisons count as the mean one.
#[allow(clippy::cast_precision_loss)] // an estimate
pub(crate) fn costs(comparison: &Comparison, work: &Workload, levels: TreeLevels) -> JobCosts {
    let (rows, columns) = work.mean_matrix();
    let letters = |length: u64| u32::try_from(length).unwrap_or(u32::MAX);
    let max_lengths = MaxLengths::of(letters(rows), letters(columns));
    let padding = work.padded.then(|| letters(rows.max(columns)));
    let scoring = PrivateMetric::new(comparison.model(), comparison.alphabet().size(), padding);
    if work.cells == 0 {
        return JobCosts {
            waits: 1,
            ..JobCosts::default()
        };
    }
    let on_shares = scoring.on_shares(max_lengths);
    // The entries that are looked up, if there are any.
    let cell = on_shares.cell.unwrap_or(MatrixRecurrence::Unit);
    let size = |letters: u64| usize::try_from(letters).unwrap_or(usize::MAX);
    let limits = PortionLimits::new(on_shares.cell.as_ref(), scoring.alphabet_size(), levels);
    let stages = Stages::new(&limits, work, [rows, columns]);
    let (pairs_in_portion, portions) = (stages.pairs_in_portion, stages.portions);
    let (stages, letters) = (stages.count, stages.letters);
    let line_letters = {
        let tree_levels = levels.of_transfers();
        let in_portion = pairs_in_portion.min(work.pairs);
        let join_scanpaths = work.pairs.div_ceil(work.host_scanpaths.max(1));
        let host_letters_in_portion = in_portion
            .div_ceil(join_scanpaths.max(1))
            .saturating_mul(rows);
        let join_letters_in_portion = in_portion.min(join_scanpaths).saturating_mul(columns);
        let host_letters = work.host_letters / stages;
        match host_letters_in_portion <= join_letters_in_portion {
            true => LineLetters {
                party: Party::Host,
                count: host_letters,
                tree_levels,
            },
            false => LineLetters {
                party: Party::Join,
                count: (letters / stages).saturating_sub(host_letters),
                tree_levels,
            },
        }
    };
    let letters = StageLetters::new(
        scoring.alphabet_size(),
        letters / stages,
        line_letters,
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
            term_bits: scoring.adjusted_bits(max_lengths),
            outputs: match work.reveal {
                Reveal::Score | Reveal::Group(_) => Outputs::Numbers,
                Reveal::Threshold(_) => Outputs::AtLeast,
            },
        };
        let cost = match on_shares.method {
            Method::Matrix { .. } => matrices.cost(),
            Method::Hausdorff { largest } => {
                non_alignment_costs::hausdorff(pairs, &scoring, largest, matrices.outputs)
            }
            Method::CrossRecurrence(outputs) => {
                non_alignment_costs::cross_recurrences(&matrices, &scoring, &outputs, work.reveal)
            }
        };
        cost.then(non_alignment_costs::distances(pairs, &scoring, work.reveal))
    };
    let (whole, rest) = (work.pairs / pairs_in_portion, work.pairs % pairs_in_portion);
    let (portion, last) = (portion(pairs_in_portion.min(work.pairs)), portion(rest));
    let sum = |part: fn(&AlignmentCost) -> u64| {
        part(&portion)
            .saturating_mul(whole)
            .saturating_add(part(&last))
    };
    let (letter_transfers, letter_bytes) = match on_shares.cell {
        Some(_) => letters.cost(),
        None => (0, 0),
    };
    let transfers =
        sum(|cost| cost.transfers).saturating_add(letter_transfers.saturating_mul(stages));
    let batches = batches(transfers / stages).saturating_mul(stages);
    let tree_levels = levels.of_transfers();
    let bytes = sum(|cost| cost.bytes)
        .saturating_add(letter_bytes.saturating_mul(stages))
        .saturating_add(batches.saturating_mul(batch_bytes(tree_levels)))
        .saturating_add(stages.saturating_mul(start_bytes(tree_levels)));
    let exchanges = sum(|cost| cost.exchanges);
    let in_flight = portion.in_flight.max(last.in_flight);
    let seconds_per_block = match letters.uses_line_trees() {
        true => seconds::PER_LINE_STREAM,
        false => seconds::PER_STREAM + seconds::PER_STREAM_BIT * cell.entry_bits() as f64,
    };
    JobCosts {
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
            + match on_shares.method {
                Method::Matrix { .. } => work.cells as f64 * seconds::PER_CELL,
                _ => {
                    let entries = (scoring.alphabet_size() as f64).powi(2);
                    let letters = work.host_letters.saturating_add(work.join_letters);
                    let cells = if on_shares.cell.is_some() {
                        work.cells
                    } else {
                        0
                    };
                    letters as f64 * entries * seconds::PER_ENTRY + cells as f64 * seconds::PER_BIT
                }
            }
            + sum(|cost| cost.stream_blocks) as f64 * seconds_per_block
            + exchanges as f64 * seconds::PER_EXCHANGE,
    }
}

/// Bytes per matrix cell in both directions, for many comparisons of scanpaths with this many letters, without those that start a
/// session.
#[cfg(test)]
#[allow(clippy::cast_precision_loss)]
pub(super) fn bytes_per_cell(
    comparison: &Comparison,
    pairs: u64,
    length: u64,
    levels: TreeLevels,
) -> f64 {
    let cohort = pairs.isqrt();
    let of = |cohort: u64| Workload {
        pairs: cohort * cohort,
        cells: cohort * cohort * length * length,
        newly_paired: cohort,
        host_scanpaths: cohort,
        join_scanpaths: cohort,
        host_letters: cohort * length,
        join_letters: cohort * length,
        host_longest: length,
        join_longest: length,
        alphabet: comparison.alphabet().size().into(),
        ..Workload::default()
    };
    let work = of(cohort);
    let costs = costs(comparison, &work, levels);
    (costs.bytes_to_host + costs.bytes_to_join) as f64 / work.cells as f64
}

/// How many stages a job will have.
#[cfg(test)]
pub(super) fn stages(comparison: &Comparison, work: &Workload, levels: TreeLevels) -> u64 {
    let scoring = PrivateMetric::new(comparison.model(), comparison.alphabet().size(), None);
    let (rows, columns) = work.mean_matrix();
    let letters = |length: u64| u32::try_from(length).unwrap_or(u32::MAX);
    let on_shares = scoring.on_shares(MaxLengths::of(letters(rows), letters(columns)));
    let limits = PortionLimits::new(on_shares.cell.as_ref(), scoring.alphabet_size(), levels);
    Stages::new(&limits, work, [rows, columns]).count
}

/// The stages of a schedule, estimated from the size of a job.
struct Stages {
    count: u64,
    portions: u64,
    pairs_in_portion: u64,
    /// Letters of both sides, summed over all stages.
    letters: u64,
}

impl Stages {
    /// Pairs are sorted by the host's scanpath, so a stage has some of the host's scanpaths and those that they are
    /// compared with.
    fn new(limits: &PortionLimits, work: &Workload, [rows, columns]: [u64; 2]) -> Self {
        let pairs = work.pairs.max(1);
        let per_host = work.pairs.div_ceil(work.host_scanpaths.max(1)).max(1);
        let join_letters = |pairs_in_stage: u64| {
            let new = saturating_product(pairs_in_stage, work.newly_paired, pairs);
            let letters = columns.saturating_mul(per_host.min(pairs_in_stage).saturating_add(new));
            letters
                .min(columns.saturating_mul(pairs_in_stage))
                .min(work.join_letters)
        };
        let letters = |pairs_in_stage: u64| {
            let host_letters = saturating_product(pairs_in_stage, rows, per_host).max(rows);
            host_letters.saturating_add(join_letters(pairs_in_stage))
        };
        // The largest number of pairs whose letters fit a stage, found by bisection.
        let (mut fit, mut too_many) = (1, work.pairs.saturating_add(1).max(2));
        while too_many - fit > 1 {
            let middle = fit + (too_many - fit) / 2;
            match letters(middle) <= limits.letters {
                true => fit = middle,
                false => too_many = middle,
            }
        }
        let pairs_in_portion = limits.pairs_of(rows, columns).min(fit);
        let pairs_in_stage = fit - fit % pairs_in_portion;
        let count = match fit >= work.pairs {
            true => 1,
            false => work.pairs.div_ceil(pairs_in_stage).max(1),
        };
        Self {
            count,
            portions: work.pairs.div_ceil(pairs_in_portion),
            pairs_in_portion,
            letters: match count {
                1 => work.host_letters.saturating_add(work.join_letters),
                count => join_letters(pairs_in_stage)
                    .saturating_mul(count)
                    .saturating_add(work.host_letters),
            },
        }
    }
}

/// `a · b / c`, saturating.
fn saturating_product(a: u64, b: u64, c: u64) -> u64 {
    let quotient = u128::from(a) * u128::from(b) / u128::from(c.max(1));
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

/// Checks that the alphabet is small enough to look up, and that the largest matrix's messages fit a channel's buffers.
pub(crate) fn check(spec: &Spec, size: &JobSize) -> Result<(), JobError> {
    let letters = spec.alphabet.size();
    // Such a job is rejected elsewhere.
    let Ok(comparison) = Comparison::new(spec.metric.clone(), spec.alphabet) else {
        return Ok(());
    };
    let scoring = PrivateMetric::new(comparison.model(), letters, spec.pad_to);
    super::check_alphabet_size(scoring.alphabet_size())?;
    let [host, join] = [size.host.longest, size.join.longest]
        .map(|longest| u32::try_from(longest).unwrap_or(u32::MAX));
    scoring.check_output(host, join)?;
    match scoring.fits_shares(host.max(1), join.max(1)) {
        true => Ok(()),
        false => Err(JobError::PairTooLarge { host, join }),
    }
}

/// Memory beyond that of cells in flight: batches of transfers that are generated in advance, and the connection's
/// buffers.
const WORKING_BYTES: u64 = 28 << 20;

/// Memory for the costs of all matrices of a portion that are looked up at once, for the largest possible portion and with
/// every line of a matrix starting a new word.
const MAX_COST_BYTES: u64 = 36 << 20;

/// Memory for each pair of letters of the alphabet, in the input table and in the look-up table.
const PAIR_OF_LETTERS_BYTES: u64 = 24;

/// Memory for all lists of numbers that are computed at the same time, and for one of their numbers.
const LISTS_BYTES: u64 = 96 << 20;
const LISTED_NUMBER_BYTES: u64 = 1536;

/// How many numbers are kept per letter of the alphabet and pair of a portion.
fn numbers_per_letter(method: Method) -> u64 {
    match method {
        Method::Matrix { .. } => 0,
        Method::Hausdorff { .. } => 2,
        Method::CrossRecurrence(_) => 6,
    }
}

/// Memory for a position while its differences become a result.
const POSITION_BYTES: u64 = 200;

/// An upper bound on a side's memory: letter trees, costs, and the state of a portion's matrices.
pub(crate) fn memory(comparison: &Comparison, pad_to: Option<u32>, size: &JobSize) -> u64 {
    let scoring = PrivateMetric::new(comparison.model(), comparison.alphabet().size(), pad_to);
    let longest = size.host.longest.saturating_add(size.join.longest);
    let shorter = size.host.longest.min(size.join.longest);
    let length = |length: u64| u32::try_from(length.max(1)).unwrap_or(u32::MAX);
    let max_lengths = MaxLengths::of(length(size.host.longest), length(size.join.longest));
    let on_shares = scoring.on_shares(max_lengths);
    let letters = scoring.alphabet_size();
    let limits = PortionLimits::new(on_shares.cell.as_ref(), letters, TreeLevels::Four);
    let pairs = size.pairs.min(limits.pairs as u64);
    // The numbers for each letter of the alphabet: a side's own, and those of a portion's pairs.
    let numbers = 8 * numbers_per_letter(on_shares.method) * letters as u64;
    let per_letter = pairs.saturating_mul(numbers);
    let per_letter = per_letter.saturating_add(PAIR_OF_LETTERS_BYTES * (letters as u64).pow(2));
    let Some(cell) = on_shares.cell else {
        let lists = pairs.saturating_mul(LISTED_NUMBER_BYTES * letters as u64);
        return per_letter
            .saturating_add(lists.min(LISTS_BYTES))
            .saturating_add(WORKING_BYTES);
    };
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
    let (bytes_per_edge, costs) = match cell.entry_bits() as u64 {
        1 => {
            let cells = size.host.longest.saturating_mul(size.join.longest);
            let all = size.pairs.saturating_mul(cells / 8 + 8 * longest);
            (POSITION_BYTES, all.min(MAX_COST_BYTES))
        }
        bits => (POSITION_BYTES.max(16 * bits + 64), 0),
    };
    // Each matrix has indicators for its positions, 128 at a time.
    let shortest = size.host.shortest.saturating_add(size.join.shortest);
    let indicators = edges / 128 + pairs.min(edges / shortest.max(1));
    in_stage
        .saturating_mul(letter_bytes(&cell, letters))
        .saturating_add(in_flight.saturating_mul(TRANSFER_BYTES * cell.cost().cots as u64))
        .saturating_add(edges.saturating_mul(bytes_per_edge))
        .saturating_add(costs)
        .saturating_add(per_letter)
        .saturating_add(match cell.entry_bits() {
            1 => 0,
            _ => indicators.saturating_mul(16 * letters as u64),
        })
        .saturating_add(WORKING_BYTES)
}

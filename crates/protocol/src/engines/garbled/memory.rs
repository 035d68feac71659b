//! How much memory a run needs, from the lengths alone.
//!
//! During a sweep, both sides keep a few labels for each column, and results for each row that is done and, for the
//! mean distance from the main diagonal, for each diagonal. Afterwards they keep the results of columns, and work on the
//! results. The numbers below are those of a 64-bit allocator, which adds 8 bytes to an allocation and rounds it up to a
//! multiple of 16.

use super::hello;
use super::schedule::PortionLimits;
use crate::JobSize;
use crate::engines::alignment::private_metric::{Circuit, MaxLengths, PrivateMetric};
use veilpath_metrics::Comparison;
use veilpath_mpc::alignment::{Fold, rows_in_lockstep};
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::wavefront::STRIP_ROWS;

/// Memory that a pair may take on a side, for the keys of the evaluator's letters and the state of the matrix.
pub(super) const MAX_PAIR_BYTES: u64 = 2 << 30;

/// The size of a worker thread's buffers.
const THREAD_BYTES: u64 = 8 << 20;

/// The size of the keys that the garbler caches instead of deriving them again.
const CACHED_KEY_BYTES: u64 = 64 << 20;

/// A label, or a block.
const LABEL: u64 = 16;

/// An entry in a list of lists.
const LIST: u64 = 24;

/// The bytes of an allocation.
fn allocated(bytes: u64) -> u64 {
    (bytes + 8).next_multiple_of(16)
}

/// The bytes of a list of labels of its own.
fn number(labels: u64) -> u64 {
    LIST + allocated(LABEL * labels)
}

/// What a side keeps, in bytes.
pub(super) struct StateBytes {
    /// For a letter of the evaluator: the labels of its bits, and the letter itself.
    letter: u64,
    /// For a column of a matrix.
    column: u64,
    /// For a row of a matrix.
    row: u64,
    /// For a diagonal of a matrix.
    diagonal: u64,
}

impl StateBytes {
    /// The bytes with these circuits, for matrices of at most these sizes.
    pub(super) fn new(scoring: &PrivateMetric, circuit: &Circuit, rows: u64, columns: u64) -> Self {
        let letters = scoring.alphabet_size() as u64;
        let bits = u64::from(u64::BITS - letters.saturating_sub(1).leading_zeros());
        let fold = scoring.fold();
        let (result, row_result) = (circuit.result_wires(), circuit.row_result_wires());
        // Shares of the looked-up values of a strip. Their list may be twice as long as needed.
        let share_bits = rows.min(STRIP_ROWS as u64) * circuit.input_wires();
        let share = LIST + number(share_bits.div_ceil(8 * LABEL));
        let down = LABEL * circuit.down_wires();
        let result = number(result as u64);
        // Shares of two strips at a time; or those of the last one, and the results while they are copied or folded.
        let strips = rows.div_ceil(STRIP_ROWS as u64).min(2);
        let sweeping = strips * share + down;
        let copied = share + down + result + LIST;
        let folded = share + working(fold, result);
        let row = match row_result {
            0 => 0,
            wires => working(fold, number(wires as u64)),
        };
        let diagonal = match circuit.counts_diagonals() {
            false => 0,
            // The list of tallies is copied.
            true => 2 * LIST + tally(rows.min(columns)),
        };
        Self {
            letter: LABEL * bits + 32,
            column: sweeping.max(copied).max(folded),
            row,
            diagonal,
        }
    }

    /// The bytes of some rows, columns and as many diagonals.
    fn of_matrices(&self, rows: u64, columns: u64) -> u64 {
        let diagonals = rows.saturating_add(columns);
        rows.saturating_mul(self.row)
            .saturating_add(columns.saturating_mul(self.column))
            .saturating_add(diagonals.saturating_mul(self.diagonal))
    }

    /// The bytes of one pair.
    pub(super) fn of_pair(&self, rows: u64, columns: u64) -> u64 {
        let keys = columns.saturating_mul(self.letter);
        keys.saturating_add(self.of_matrices(rows, columns))
    }
}

/// The bytes for each result while all of them become one number; each takes `result` at first.
fn working(fold: Fold, result: u64) -> u64 {
    // Adding a bit: three bits go into a gate, and two come out, in lists by gate and then by sum.
    const ADDING: u64 = 3 * LABEL + 8;
    match fold {
        // Results are replaced by lists of all bits with the same weight, which take less.
        Fold::Sum => result + result.max(ADDING),
        // The highest bit of each, that of the one before, and a list of one bit that says whether they differ.
        Fold::Unwrap => result + (2 * LABEL + number(1)).max(LABEL + ADDING),
        // Pairs of results, the larger of each pair, and a new list of them.
        Fold::Max => result + LABEL + (result + LIST) / 2,
        Fold::Last => result,
        // Ends of lines are added in small pieces.
        Fold::Recurrence(_) => result,
    }
}

/// The bytes of the counter of a diagonal with this many cells: at most two bits of each weight.
fn tally(cells: u64) -> u64 {
    // Counts of three and more have another weight.
    let weights = (bits_for(cells.saturating_add(1)) as u64 - 1).max(1);
    let list = match weights {
        1 => allocated(LIST),
        _ => allocated(LIST * weights.next_power_of_two().max(4)),
    };
    list + weights * allocated(2 * LABEL)
}

/// An upper bound on a side's memory: the keys of the evaluator's letters that are in use at the same time, and each
/// thread's matrices that are swept in lockstep.
pub(crate) fn memory(comparison: &Comparison, pad_to: Option<u32>, size: &JobSize) -> u64 {
    let scoring = PrivateMetric::new(comparison.model(), comparison.alphabet().size(), pad_to);
    let (rows, columns) = (size.host.longest, size.join.longest);
    let [host, join] = [rows, columns].map(|longest| u32::try_from(longest).unwrap_or(u32::MAX));
    let circuit = scoring.circuit(MaxLengths::of(host, join));
    let limits = PortionLimits::default();
    // A portion ends with the pair that exceeds its gate limit. With an empty scanpath, a matrix counts as one row.
    let cells = limits.portion_gates / circuit.and_gates().max(1);
    let shortest = |side: u64| match scoring.follows_from_lengths(0, 1) {
        true => side.max(1),
        false => 1,
    };
    let in_portion = |longest: u64, shortest: u64| {
        let all = (cells / shortest).saturating_add(longest);
        all.min(size.pairs.saturating_mul(longest))
    };
    let all_columns = in_portion(columns, shortest(size.host.shortest));
    let all_rows = in_portion(rows, shortest(size.join.shortest));
    let lockstep = rows_in_lockstep(usize::try_from(circuit.input_wires()).unwrap_or(usize::MAX));
    let lockstep = (lockstep as u64).max(STRIP_ROWS as u64);
    let strip_rows = STRIP_ROWS as u64;
    let matrices = lockstep / shortest(size.host.shortest).min(strip_rows);
    let swept_columns = all_columns.min(matrices.saturating_mul(columns));
    let swept_rows = all_rows.min(lockstep.saturating_mul(rows.div_ceil(strip_rows)));
    let letters = limits
        .letters
        .saturating_add(all_columns)
        .min(size.join.letters);
    let bytes = StateBytes::new(&scoring, &circuit, rows, columns);
    let keys = letters.saturating_mul(bytes.letter);
    let alphabet = scoring.alphabet_size() as u64;
    let cached = letters.saturating_mul(16 * alphabet).min(CACHED_KEY_BYTES);
    // The table of inputs, unless they are computed on demand.
    let table = 8 * alphabet.pow(2).min(1 << 20);
    let matrices = bytes.of_matrices(swept_rows, swept_columns);
    let thread = matrices.saturating_add(THREAD_BYTES + table);
    // A thread has at least a pair.
    let threads = (hello::threads_of_this_machine() as u64).min(size.pairs.max(1));
    keys.saturating_add(cached)
        .saturating_add(thread.saturating_mul(threads))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::tests::{LETTERS, non_alignment_metrics};
    use crate::memory::SideSize;
    use veilpath_metrics::{
        Alphabet, Crqa, CrqaMeasure, Grid, Hausdorff, Metric, Positions, RecurrenceRule, Undefined,
    };

    fn crqa(measures: &[CrqaMeasure]) -> Metric {
        Metric::Crqa(Crqa {
            rule: RecurrenceRule::SameLetter,
            line: 2,
            measures: measures.to_vec(),
            undefined: Undefined::Zero,
            rounded: true,
        })
    }

    fn mebibytes(metric: &Metric, pairs: u64, [host, join]: [SideSize; 2]) -> u64 {
        let comparison =
            Comparison::new(metric.clone(), Alphabet::letters(LETTERS).unwrap()).unwrap();
        memory(&comparison, None, &JobSize { pairs, host, join }) >> 20
    }

    #[test]
    fn rows_and_diagonals_of_a_long_scanpath_need_memory() {
        let of_one = |length| SideSize::of(std::iter::once(length));
        let needed = |metric: &Metric, rows| mebibytes(metric, 1, [rows, 2].map(of_one));
        let positions = Positions::Grid {
            grid: Grid::new(4, 3).unwrap(),
            wrap: false,
        };
        let hausdorff = Metric::Hausdorff(Hausdorff { positions });
        assert!(needed(&hausdorff, 2_000_000) > 250);
        assert!(needed(&crqa(&[CrqaMeasure::Corm]), 3_000_000) > 350);
        assert!(needed(&crqa(&[CrqaMeasure::Det]), 5_000_000) > 260);
        // Only counts of the whole matrix.
        assert!(needed(&crqa(&[CrqaMeasure::Rec]), 5_000_000) < 20);
        assert!(needed(&Metric::Levenshtein, 5_000_000) < 20);
    }

    #[test]
    fn many_small_matrices_need_little_memory() {
        let side = || SideSize::of((0..266).map(|at| at % 60));
        for metric in non_alignment_metrics() {
            let needed = mebibytes(&metric, 266 * 266, [side(), side()]);
            assert!(needed < 120, "{metric:?}: {needed} MiB");
        }
        let needed = mebibytes(&crqa(&CrqaMeasure::ALL), 266 * 266, [side(), side()]);
        assert!(needed < 120, "{needed} MiB");
    }
}

//! The cost of metrics without a matrix recurrence.

use crate::Reveal;
use crate::engines::alignment::on_shares::{Widths, divisor_bits, has_diagonals};
use crate::engines::alignment::private_metric::PrivateMetric;
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::circuit::recurrence::{RecurrenceOutput, RecurrenceOutputs};
use veilpath_mpc::shares::Outputs;
use veilpath_mpc::shares::costs::{AlignmentCost, Matrices};
use veilpath_mpc::shares::list_costs::{
    additive_from_xor, inner_products, largest_chosen, not_negative, quotients, xor_from_additive,
};

/// The cost of Hausdorff distances for this many pairs.
pub(super) fn hausdorff(
    pairs: u64,
    scoring: &PrivateMetric,
    largest: u64,
    outputs: Outputs,
) -> AlignmentCost {
    let alphabet = scoring.padding_letter();
    largest_chosen(pairs, alphabet, bits_for(largest), outputs)
}

/// The cost of converting ranks to distances, in group answers.
pub(super) fn distances(pairs: u64, scoring: &PrivateMetric, reveal: Reveal) -> AlignmentCost {
    let (Reveal::Group(_), Some(distances)) = (reveal, scoring.distances()) else {
        return AlignmentCost::default();
    };
    let largest = distances.len() as u64 - 1;
    let bits = bits_for(largest);
    let comparisons = not_negative(pairs.saturating_mul(largest), bits);
    additive_from_xor(pairs, bits).then(comparisons)
}

/// The cost of cross-recurrence for matrices of this shape.
pub(super) fn cross_recurrences(
    matrices: &Matrices,
    scoring: &PrivateMetric,
    outputs: &RecurrenceOutputs,
    reveal: Reveal,
) -> AlignmentCost {
    use RecurrenceOutput::{Centre, Columns, Points, Rows, RowsAndColumns};
    let has = |any: &[RecurrenceOutput]| outputs.iter().any(|output| any.contains(&output));
    let length = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let (rows, columns) = (length(matrices.rows), length(matrices.columns));
    let (pairs, alphabet) = (matrices.count, scoring.padding_letter());
    let widths = Widths::of(rows, columns);
    let cell_bits = widths.cells;
    let sums = |widths: Widths| inner_products(pairs, widths.inner_product(alphabet));
    let mut all = sums(widths);
    let mut add = |more: AlignmentCost| all = all.then(more);
    if has(&[Rows, RowsAndColumns]) {
        add(sums(widths));
    }
    if has(&[Columns, RowsAndColumns]) {
        add(sums(widths));
    }
    if has(&[Centre]) {
        add(sums(widths.row_centres()));
        add(sums(widths.column_centres()));
    }
    if has(&[Points]) {
        add(xor_from_additive(pairs, cell_bits));
    }
    let fractions = outputs.iter().filter(|output| *output != Points).count() as u64;
    if fractions > 0 {
        let (divisor, bits) = divisor_bits(outputs, rows, columns);
        add(quotients(pairs.saturating_mul(fractions), divisor, bits));
        add(not_negative(pairs, cell_bits));
    }
    if has_diagonals(outputs) {
        add(matrices.cost_of_runs(outputs.shortest()));
    }
    if matches!(reveal, Reveal::Threshold(_)) {
        let bits = scoring.output_bits(rows, columns).min(63);
        add(additive_from_xor(pairs, bits).then(not_negative(pairs, bits)));
    }
    all
}

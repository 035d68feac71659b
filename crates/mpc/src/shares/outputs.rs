//! Computes halves of outputs from the last lines of matrices.

use super::cells::{self, Local};
use super::couplings::{self, Coupling, Total};
use super::gates::Gates;
use super::group::Group;
use super::matrix_recurrence::MatrixRecurrence;
use super::packing::{Words, words};
use super::session::Party;
use super::session::{Finish, MatrixInput, Outputs};
use super::unit;
use crate::bits::mask;
use crate::error::MpcError;
use zeroize::Zeroizing;

/// Bits of a group's numbers: of the largest result, or of the sum with terms.
pub(crate) fn number_bits(
    cell: MatrixRecurrence,
    comparisons: &[MatrixInput],
    finish: Finish,
) -> usize {
    let results = comparisons
        .iter()
        .map(|comparison| cell.result_bits(comparison.rows.len(), comparison.columns.len()));
    results.max().unwrap_or(0).max(finish.term_bits)
}

/// The results of a group's matrices plus terms, shared modulo 2^(bits + 1).
pub(crate) async fn numbers(
    gates: &Gates,
    group: &mut Group<'_>,
    cell: MatrixRecurrence,
    comparisons: &[MatrixInput],
    finish: Finish,
    on_cells: &dyn Fn(usize),
) -> Result<Words, MpcError> {
    let modulus = number_bits(cell, comparisons, finish) + 1;
    let width = cell.width();
    let results = match cell {
        MatrixRecurrence::Unit => {
            let [minus, plus] = unit::unit(gates, group, on_cells).await?;
            let count = minus.len();
            let mut bits = Zeroizing::new(Vec::with_capacity(2 * count));
            bits.extend_from_slice(&minus);
            bits.extend_from_slice(&plus);
            gates
                .rounds
                .reserve(gates.numbers_demand(2 * count, 1))
                .await;
            let bits = gates.numbers_from_bits(&bits, 1, modulus).await?;
            // The result is the sum of h + 1 over all columns. If the lines are columns, it is computed from the sum
            // over all rows.
            let own = u64::from(gates.party.is_host());
            let sums = group.positions_of().zip(group.matrices());
            words(sums.map(|(range, matrix)| {
                let (lines, positions) = (matrix.lines.len(), matrix.positions.len());
                let constant = match matrix.rows_are_lines {
                    true => positions as u64,
                    false => (positions + 2 * lines).wrapping_sub(2 * positions) as u64,
                };
                range.fold(constant.wrapping_mul(own), |sum, at| {
                    sum.wrapping_add(bits[count + at]).wrapping_sub(bits[at])
                })
            }))
        }
        MatrixRecurrence::Difference { .. } => {
            let to_next_line = cells::difference(gates, group, width, on_cells).await?;
            let to_next_line = widened(gates, to_next_line, width, modulus).await?;
            let sum = |sum: u64, at: usize| sum.wrapping_add(to_next_line[at]);
            words(group.positions_of().map(|range| range.fold(0, sum)))
        }
        MatrixRecurrence::Local {
            largest: _,
            largest_entry: _,
            gap,
        } => {
            let local = Local {
                width,
                input_width: cell.entry_bits(),
                gap,
            };
            let best = cells::local(gates, group, local, on_cells).await?;
            let lists = group
                .positions_of()
                .map(|range| Zeroizing::new(best[range].to_vec()));
            let best = cells::largest(gates, lists.collect(), width).await?;
            widened(gates, best, width, modulus).await?
        }
        MatrixRecurrence::Warping { .. } | MatrixRecurrence::Frechet { .. } => {
            let (total, padded) = match cell {
                MatrixRecurrence::Warping { padded, .. } => (Total::Sum, padded),
                _ => (Total::Largest, false),
            };
            let coupling = Coupling {
                total,
                width,
                input_width: cell.number_bits(),
                padded,
            };
            let totals = couplings::coupling(gates, group, coupling, on_cells).await?;
            widened(gates, totals, width, modulus).await?
        }
    };
    let numbers = results.iter().zip(comparisons).map(|(result, comparison)| {
        let result = result << u32::from(finish.doubled);
        let result = if finish.subtract {
            result.wrapping_neg()
        } else {
            result
        };
        result.wrapping_add(comparison.term) & mask(modulus)
    });
    Ok(words(numbers))
}

/// Converts numbers below 2^width to the modulus 2^modulus.
async fn widened(
    gates: &Gates,
    numbers: Words,
    width: usize,
    modulus: usize,
) -> Result<Words, MpcError> {
    if modulus == width + 1 {
        return Ok(numbers);
    }
    gates
        .rounds
        .reserve(gates.widen_demand(numbers.len()))
        .await;
    gates.widen(&numbers, width, modulus).await
}

/// This side's halves of the outputs, for numbers of `bits` bits that are shared modulo 2^(bits + 1).
pub(crate) async fn output(
    gates: &Gates,
    numbers: &[u64],
    bits: usize,
    bounds: impl ExactSizeIterator<Item = u64>,
    outputs: Outputs,
) -> Result<Words, MpcError> {
    match outputs {
        Outputs::Numbers => {
            gates
                .rounds
                .reserve(gates.bits_demand(numbers.len(), bits))
                .await;
            let numbers = words(numbers.iter().map(|number| number & mask(bits)));
            gates.bits_from_numbers(&numbers, bits).await
        }
        Outputs::AtLeast => {
            gates
                .rounds
                .reserve(gates.sign_demand(numbers.len(), bits, Party::Host))
                .await;
            // No number exceeds this, so no number reaches a larger bound either.
            let max_bound = 1u64.checked_shl(bits as u32).unwrap_or(u64::MAX);
            let own = u64::from(gates.party.is_host());
            let differences = numbers.iter().zip(bounds).map(|(number, bound)| {
                let bound = bound.min(max_bound).wrapping_mul(own);
                number.wrapping_sub(bound) & mask(bits + 1)
            });
            gates
                .not_negative(&words(differences), bits, Party::Host)
                .await
        }
    }
}

//! How to compute a metric on shares.

use super::circuit::Circuit;
use super::private_metric::{MaxLengths, PrivateMetric, RecurrenceKind};
use veilpath_mpc::circuit::cells::{
    DifferenceCell, FrechetCell, HausdorffCell, LocalCell, UnitCell, WarpingCell,
};
use veilpath_mpc::circuit::numbers::bits_for;
use veilpath_mpc::circuit::recurrence::{RecurrenceOutput, RecurrenceOutputs};
use veilpath_mpc::shares::{InnerProduct, MatrixRecurrence, matrix_fits, runs_fit};

/// A metric on shares.
#[derive(Clone, Copy, Debug)]
pub(in crate::engines) struct OnShares {
    pub(in crate::engines) method: Method,
    /// The matrix cell, if the method uses matrices.
    pub(in crate::engines) cell: Option<MatrixRecurrence>,
    /// The circuit that encodes two letters as a cell's input. Only its encoding is used, not its gates; where `garbled` has
    /// another circuit for the same costs, that encodes them differently.
    pub(in crate::engines) circuit: Circuit,
}

/// The method of computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines) enum Method {
    /// A recurrence along the anti-diagonals of matrices.
    Matrix {
        /// Whether the sweep counts savings: the result is 2 for each column minus its number.
        counts_savings: bool,
    },
    /// A maximum over the letters of the alphabet. Numbers are at most `largest`.
    Hausdorff { largest: u64 },
    /// Diagonal runs in matrices, and sums over the letters of the alphabet.
    CrossRecurrence(RecurrenceOutputs),
}

impl PrivateMetric {
    /// The computation on shares for matrices of scanpaths up to these lengths.
    pub(in crate::engines) fn on_shares(&self, max_lengths: MaxLengths) -> OnShares {
        let matrix = |cell: MatrixRecurrence, circuit: Circuit| OnShares {
            method: Method::Matrix {
                // The circuit's numbers count costs; the recurrence on shares counts savings.
                counts_savings: self.kind == RecurrenceKind::Clipped,
            },
            cell: Some(cell),
            circuit,
        };
        let difference = |sum: u64| {
            let cell = MatrixRecurrence::Difference {
                insertion_and_deletion: sum,
            };
            matrix(cell, Circuit::Difference(DifferenceCell::new(sum)))
        };
        let padded = self.padding.is_some();
        match self.kind {
            RecurrenceKind::Unit => matrix(MatrixRecurrence::Unit, Circuit::Unit(UnitCell)),
            RecurrenceKind::Clipped => difference(2),
            RecurrenceKind::Difference { insert, delete } => difference(insert + delete),
            RecurrenceKind::Reward { largest } => difference(largest),
            RecurrenceKind::Local { gap, best } => {
                let largest = u64::from(max_lengths.shorter) * best;
                let gap = gap.min(largest);
                let cell = MatrixRecurrence::Local {
                    largest,
                    largest_entry: best.saturating_add(gap.saturating_mul(2)),
                    gap,
                };
                matrix(cell, Circuit::Local(LocalCell::new(largest, best, gap)))
            }
            RecurrenceKind::Warping { largest } => {
                // Padding adds nothing to a sum.
                let longer = self
                    .padding
                    .map_or(max_lengths.longer, |padding| padding.length);
                let longer = u64::from(longer.max(1));
                let cell = MatrixRecurrence::Warping {
                    largest: largest.saturating_mul(longer),
                    largest_entry: largest,
                    padded,
                };
                let circuit = WarpingCell::new(largest, longer, padded);
                matrix(cell, Circuit::Warping(circuit))
            }
            RecurrenceKind::Frechet { largest } => {
                let cell = MatrixRecurrence::Frechet {
                    largest: largest.saturating_add(padded.into()),
                };
                matrix(cell, Circuit::Frechet(FrechetCell::new(largest, padded)))
            }
            RecurrenceKind::Hausdorff { largest } => OnShares {
                method: Method::Hausdorff { largest },
                cell: None,
                circuit: Circuit::Hausdorff(HausdorffCell::new(largest, padded)),
            },
            RecurrenceKind::CrossRecurrence(outputs) => OnShares {
                method: Method::CrossRecurrence(outputs),
                cell: has_diagonals(&outputs).then_some(MatrixRecurrence::Unit),
                circuit: Circuit::Recurrence(outputs.cell()),
            },
        }
    }

    /// Whether a pair of these lengths can be compared: numbers fit 64 bits, the alphabet is small enough to look up, and
    /// messages fit a channel's buffers.
    pub(in crate::engines) fn fits_shares(&self, rows: u32, columns: u32) -> bool {
        let on_shares = self.on_shares(MaxLengths::of(rows, columns));
        let (m, n) = (rows as usize, columns as usize);
        match (on_shares.method, on_shares.cell) {
            (Method::Matrix { .. }, Some(cell)) => matrix_fits(m, n, cell, self.alphabet_size()),
            (Method::CrossRecurrence(outputs), cell) => {
                let (divisor, quotient) = divisor_bits(&outputs, rows, columns);
                divisor + quotient <= 64 && (cell.is_none() || runs_fit(m, n, self.alphabet_size()))
            }
            _ => true,
        }
    }
}

/// Whether diagonal lines are counted.
pub(in crate::engines) fn has_diagonals(outputs: &RecurrenceOutputs) -> bool {
    outputs
        .iter()
        .any(|output| output == RecurrenceOutput::Diagonals)
}

/// Bits of a matrix's cell count.
pub(in crate::engines) fn cell_bits(rows: u32, columns: u32) -> usize {
    bits_of(u128::from(rows) * u128::from(columns))
}

/// Bits of the sum of all matrix cells' distances from a corner.
pub(in crate::engines) fn centre_bits(rows: u32, columns: u32) -> usize {
    let longest = 2 * u128::from(rows.max(columns).saturating_sub(1));
    bits_of(u128::from(rows) * u128::from(columns) * longest)
}

/// Widths of the numbers in a recurrence plot, in bits.
#[derive(Clone, Copy, Debug)]
pub(in crate::engines) struct Widths {
    /// For the largest number of rows, of columns and of cells.
    pub(in crate::engines) rows: usize,
    pub(in crate::engines) columns: usize,
    pub(in crate::engines) cells: usize,
    /// For the sum of all cells' distances from a corner.
    pub(in crate::engines) centres: usize,
}

impl Widths {
    /// The widths for matrices of this shape.
    pub(in crate::engines) fn of(rows: u32, columns: u32) -> Self {
        Self {
            rows: bits_for(rows.into()),
            columns: bits_for(columns.into()),
            cells: cell_bits(rows, columns),
            centres: centre_bits(rows, columns),
        }
    }

    /// The sum over all letters of the product of both sides' counts.
    pub(in crate::engines) fn inner_product(self, alphabet: usize) -> InnerProduct {
        let bits = [self.rows, self.columns];
        InnerProduct {
            each: alphabet,
            bits,
            width: self.cells.max(bits[0]).max(bits[1]),
        }
    }

    /// The same widths with the host's positions instead of counts.
    pub(in crate::engines) fn row_centres(self) -> Self {
        Self {
            rows: self.rows + self.rows.max(self.columns),
            cells: self.centres,
            ..self
        }
    }

    /// The same widths with the joining side's positions instead of counts.
    pub(in crate::engines) fn column_centres(self) -> Self {
        Self {
            columns: 2 * self.columns,
            cells: self.centres,
            ..self
        }
    }
}

/// Bits that fit every divisor of a fraction of points, and bits of the quotients.
pub(in crate::engines) fn divisor_bits(
    outputs: &RecurrenceOutputs,
    rows: u32,
    columns: u32,
) -> (usize, usize) {
    // Counts are divided by twice the number of points; the count of rows and columns by four times that number.
    let point_bits = cell_bits(rows, columns) + 2;
    match outputs
        .iter()
        .any(|output| output == RecurrenceOutput::Centre)
    {
        true => (point_bits.max(centre_bits(rows, columns)), CENTRE_BITS),
        false => (point_bits, FRACTION_BITS),
    }
}

/// Bits of a fraction of points, and of a centre.
const FRACTION_BITS: usize = 14;
const CENTRE_BITS: usize = 15;

fn bits_of(largest: u128) -> usize {
    (u128::BITS - largest.leading_zeros()).max(1) as usize
}

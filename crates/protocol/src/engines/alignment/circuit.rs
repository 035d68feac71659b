//! The circuit of a matrix cell, and its input for two letters.

use veilpath_mpc::circuit::cells::{
    Cell, ClippedCell, Counter, DifferenceCell, FrechetCell, HausdorffCell, LocalCell,
    RecurrenceCell, SavingCell, UnitCell, WarpingCell,
};

/// The cell circuit of some comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engines) enum Circuit {
    Unit(UnitCell),
    Clipped(ClippedCell),
    Difference(DifferenceCell),
    Saving(SavingCell),
    Local(LocalCell),
    Warping(WarpingCell),
    Frechet(FrechetCell),
    Hausdorff(HausdorffCell),
    Recurrence(RecurrenceCell),
}

/// Evaluates an expression with the cell of any circuit variant.
macro_rules! with_cell {
    ($circuit:expr, $cell:ident => $value:expr) => {
        match $circuit {
            Circuit::Unit($cell) => $value,
            Circuit::Clipped($cell) => $value,
            Circuit::Difference($cell) => $value,
            Circuit::Saving($cell) => $value,
            Circuit::Local($cell) => $value,
            Circuit::Warping($cell) => $value,
            Circuit::Frechet($cell) => $value,
            Circuit::Hausdorff($cell) => $value,
            Circuit::Recurrence($cell) => $value,
        }
    };
}

pub(in crate::engines) use with_cell;

impl Circuit {
    /// AND gates of a cell, including its counters, which take one per bit.
    pub(in crate::engines) fn and_gates(&self) -> u64 {
        with_cell!(self, cell => (cell.and_gates() + cell.counters().len()) as u64)
    }

    /// Wires in a column's result.
    pub(in crate::engines) fn result_wires(&self) -> usize {
        with_cell!(self, cell => cell.result_wires())
    }

    /// Wires in a row's result.
    pub(in crate::engines) fn row_result_wires(&self) -> usize {
        with_cell!(self, cell => cell.row_result_wires())
    }

    /// Whether bits are counted for each diagonal separately.
    pub(in crate::engines) fn counts_diagonals(&self) -> bool {
        with_cell!(self, cell => cell.counters().contains(&Counter::Diagonals))
    }

    /// Input wires of a cell.
    pub(in crate::engines) fn input_wires(&self) -> u64 {
        with_cell!(self, cell => cell.input_wires() as u64)
    }

    /// Wires from a cell to the one below.
    pub(in crate::engines) fn down_wires(&self) -> u64 {
        with_cell!(self, cell => cell.down_wires() as u64)
    }

    /// The input for the entry of two letters, divided by the common divisor.
    pub(super) fn input(&self, entry: i64) -> u64 {
        match self {
            Circuit::Unit(cell) => cell.input(entry == 0),
            Circuit::Clipped(cell) => cell.input(entry.unsigned_abs()),
            Circuit::Difference(cell) => cell.input(entry.unsigned_abs()),
            Circuit::Saving(cell) => cell.input(entry.unsigned_abs()),
            Circuit::Local(cell) => cell.input(entry),
            Circuit::Warping(cell) => cell.input(entry.unsigned_abs()),
            Circuit::Frechet(cell) => cell.input(entry.unsigned_abs()),
            Circuit::Hausdorff(cell) => cell.input(entry.unsigned_abs()),
            Circuit::Recurrence(cell) => cell.input(entry != 0),
        }
    }

    /// The input for padding and a letter, or for padding and padding. In alignments it is a substitution that never pays off.
    pub(super) fn input_of_padding(&self, both: bool) -> u64 {
        match self {
            // Never padded: two different letters cost less than two gaps with this circuit.
            Circuit::Unit(cell) => cell.input(false),
            Circuit::Clipped(cell) => cell.input(2),
            Circuit::Difference(_) | Circuit::Saving(_) | Circuit::Local(_) => 0,
            Circuit::Warping(cell) => cell.input_of_padding(both),
            Circuit::Frechet(cell) => cell.input_of_padding(both),
            Circuit::Hausdorff(cell) => cell.input_of_padding(both),
            Circuit::Recurrence(cell) => cell.input(false),
        }
    }
}

//! One cell of a matrix of two strings as a circuit: an alignment, a warping, a distance between sets, or a recurrence plot.
//!
//! In alignments a wire's width depends on the costs and not on the lengths, except for the local cell: the others
//! store differences of neighbours instead of the matrix itself (an idea from Hyyrö's and Myers' bit-parallel edit
//! distance), or the matrix modulo a power of two. Warping has no such bound of differences, so its wires have the
//! width of the result.
//!
//! What a party sees of a cell is the same for all of them: the evaluator one label per wire and the tables, the garbler nothing. The
//! circuit depends on what both agreed on and on the lengths, never on letters.

mod clipped;
mod difference;
mod frechet;
mod hausdorff;
mod local;
#[cfg(test)]
mod measure_tests;
mod recurrence;
mod saving;
#[cfg(test)]
mod tests;
mod unit;
mod warping;

pub use clipped::ClippedCell;
pub use difference::DifferenceCell;
pub use frechet::FrechetCell;
pub use hausdorff::HausdorffCell;
pub use local::LocalCell;
pub use recurrence::{RecurrenceCell, RecurrenceLines};
pub use saving::SavingCell;
pub use unit::UnitCell;
pub use warping::WarpingCell;

use super::{Bundle, Circuit, Clear};

/// Which bits of cells are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Those of the whole matrix.
    Matrix,
    /// Those of each diagonal: of the cells with the same difference between column and row.
    Diagonals,
}

/// The circuit of a cell: wires along the row, wires down the column, and, as input, a function of both letters: a
/// substitution cost, a distance, or a bit. Gates and widths are public; they follow from the agreed costs.
pub trait Cell {
    /// Wires from a cell to its right neighbour.
    fn across_wires(&self) -> usize;

    /// Wires from a cell to the one below.
    fn down_wires(&self) -> usize;

    /// Input wires: what this row's letter and this column's give.
    fn input_wires(&self) -> usize;

    /// The value of each wire along the row at the first column.
    fn left_border(&self, wire: usize) -> bool;

    /// The value of each wire along the row at the first column of the first row.
    fn corner(&self, wire: usize) -> bool {
        self.left_border(wire)
    }

    /// The value of each wire down the column at the first row.
    fn upper_border(&self, wire: usize) -> bool;

    /// The counters of the cell, over many cells.
    fn counters(&self) -> &[Counter] {
        &[]
    }

    /// Replaces the incoming wires by the outgoing ones. The input is consumed. The wires along the row are followed by
    /// one more for each counter, for the bit that it counts.
    fn run<C: Circuit>(
        &self,
        circuit: &mut C,
        across: &mut [Bundle<C::Label>],
        down: &mut [Bundle<C::Label>],
        input: &mut [Bundle<C::Label>],
    );

    /// Bits of the number that a column gives below its last cell.
    fn result_wires(&self) -> usize;

    /// That number, from the wires below the last cell of a column. No gates.
    fn result<C: Circuit>(
        &self,
        circuit: &C,
        down: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    );

    /// Bits of the number that a row gives after its last cell.
    fn row_result_wires(&self) -> usize {
        0
    }

    /// That number, from the wires after the last cell of a row. No gates.
    fn row_result<C: Circuit>(
        &self,
        circuit: &C,
        across: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        let _ = (circuit, across, result);
    }

    /// AND gates of a cell, counted by running it. Counters take less than one more for each bit.
    fn and_gates(&self) -> usize {
        let mut circuit = Clear::new();
        circuit.set_lanes(1);
        let wires = |count| vec![Bundle::<bool>::default(); count];
        self.run(
            &mut circuit,
            &mut wires(self.across_wires() + self.counters().len()),
            &mut wires(self.down_wires()),
            &mut wires(self.input_wires()),
        );
        circuit.and_gates()
    }
}

//! One cell of a matrix over two strings, as a circuit: an alignment, a warping, a distance between sets, or a
//! recurrence plot.
//!
//! In alignments, wire widths depend on the costs and not on the lengths, except in the local cell. The other cells
//! store differences of neighbours instead of the matrix itself (an idea from Hyyrö's and Myers' bit-parallel edit
//! distance), or the matrix modulo a power of two. Warping has no such bound on differences, so its wires are as wide
//! as the result.
//!
//! What the parties see is the same for all cells: the evaluator sees one label per wire and the tables, the garbler
//! nothing. The circuit depends on the agreed parameters and on the lengths, never on letters.

mod clipped;
mod difference;
mod frechet;
mod hausdorff;
mod local;
#[cfg(test)]
mod non_alignment_tests;
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
pub use recurrence::{CountedRuns, RecurrenceCell};
pub use saving::SavingCell;
pub use unit::UnitCell;
pub use warping::WarpingCell;

use super::{Bundle, Circuit, Clear};

/// Which bits of cells are counted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// All bits of the matrix.
    Matrix,
    /// The bits of each diagonal: those of the cells with the same difference between column and row.
    Diagonals,
}

/// The circuit of a cell: wires along the row, wires down the column, and as input a function of both letters (a
/// substitution cost, a distance, or a bit). Gates and widths are public: they follow from the agreed costs.
pub trait Cell {
    /// Wires from a cell to its right neighbour.
    fn across_wires(&self) -> usize;

    /// Wires from a cell to the one below.
    fn down_wires(&self) -> usize;

    /// Wires of the input, which depends on the row's and the column's letter.
    fn input_wires(&self) -> usize;

    /// The value of each wire along the row at the first column.
    fn left_border(&self, wire: usize) -> bool;

    /// The value of each wire along the row at the first column of the first row.
    fn corner(&self, wire: usize) -> bool {
        self.left_border(wire)
    }

    /// The value of each wire down the column at the first row.
    fn upper_border(&self, wire: usize) -> bool;

    /// The counters to which every cell contributes a bit.
    fn counters(&self) -> &[Counter] {
        &[]
    }

    /// Replaces the incoming wires by the outgoing ones. The input is consumed. After the wires along the row comes one
    /// more for each counter, with the bit to count.
    fn run<C: Circuit>(
        &self,
        circuit: &mut C,
        across: &mut [Bundle<C::Label>],
        down: &mut [Bundle<C::Label>],
        input: &mut [Bundle<C::Label>],
    );

    /// Bits of a column's result.
    fn result_wires(&self) -> usize;

    /// A column's result, from the wires below its last cell. No gates.
    fn result<C: Circuit>(
        &self,
        circuit: &C,
        down: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    );

    /// Bits of a row's result.
    fn row_result_wires(&self) -> usize {
        0
    }

    /// A row's result, from the wires after its last cell. No gates.
    fn row_result<C: Circuit>(
        &self,
        circuit: &C,
        across: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        let _ = (circuit, across, result);
    }

    /// AND gates of a cell, counted by running it. Counting takes less than one more gate per counted bit.
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

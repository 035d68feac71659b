//! One cell of an alignment matrix as a circuit.
//!
//! A wire's width depends on the costs and not on the lengths, except for the local cell: the others store differences of
//! neighbours instead of the matrix itself (an idea of Hyyrö's and Myers' bit-parallel edit distance), or the matrix modulo
//! a power of two.

mod clipped;
mod difference;
mod local;
mod saving;
#[cfg(test)]
mod tests;
mod unit;

pub use clipped::ClippedCell;
pub use difference::DifferenceCell;
pub use local::LocalCell;
pub use saving::SavingCell;
pub use unit::UnitCell;

use super::{Bundle, Circuit, Clear};

/// The circuit of a cell: wires along the row, wires down the column, and the substitution cost as input. Gates and
/// widths are public; they follow from the agreed costs.
pub trait Cell {
    /// Wires from a cell to its right neighbour.
    fn across_wires(&self) -> usize;

    /// Wires from a cell to the one below.
    fn down_wires(&self) -> usize;

    /// Input wires: the cost of substituting this row's letter by this column's.
    fn input_wires(&self) -> usize;

    /// The value of each wire along the row at the first column.
    fn left_border(&self, wire: usize) -> bool;

    /// The value of each wire down the column at the first row.
    fn upper_border(&self, wire: usize) -> bool;

    /// Replaces the incoming wires by the outgoing ones. The input is consumed.
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

    /// AND gates of a cell, counted by running it.
    fn and_gates(&self) -> usize {
        let mut circuit = Clear::new();
        circuit.set_lanes(1);
        let wires = |count| vec![Bundle::<bool>::default(); count];
        self.run(
            &mut circuit,
            &mut wires(self.across_wires()),
            &mut wires(self.down_wires()),
            &mut wires(self.input_wires()),
        );
        circuit.and_gates()
    }
}

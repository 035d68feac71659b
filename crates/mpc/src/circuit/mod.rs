//! Circuits, written once and run in three ways: in the clear, by the garbler, by the evaluator.
//!
//! A [`Circuit`] works on bundles of [`LANES`] wires. The lanes belong to independent cells, all at the same position
//! in the same circuit ("in lockstep"), so a gadget is written as if for one cell and still keeps the AES unit busy.

pub mod adders;
pub mod cells;
mod clear;
pub mod numbers;
pub mod quotients;
pub mod recurrence;
pub mod reduce;
pub mod tables;

pub use clear::Clear;

use crate::error::MpcError;
use veilpath_channel::Channel;
use zeroize::Zeroize;

/// Wires that go through a gate together. Keys of gates and the order of tables depend on it, so it is part of the wire
/// format.
pub const LANES: usize = 8;

/// One wire of each of [`LANES`] independent cells.
pub type Bundle<L> = [L; LANES];

/// Computes gates, in the clear, as garbler or as evaluator. The tables that [`Circuit::and`] produces or consumes are
/// sent or received by [`TwoPartyCircuit`], so gadgets neither fail nor block.
pub trait Circuit {
    /// This side's label of one wire.
    type Label: Copy + Default + Zeroize;

    /// A wire with a value that both sides know.
    fn constant(&self, bit: bool) -> Self::Label;

    /// How many lanes of the following bundles are used; the others cost no traffic.
    fn set_lanes(&mut self, lanes: usize);

    /// Exclusive or: free.
    fn xor(&self, a: &Bundle<Self::Label>, b: &Bundle<Self::Label>) -> Bundle<Self::Label>;

    /// Negation: free.
    fn not(&self, a: &Bundle<Self::Label>) -> Bundle<Self::Label>;

    /// Conjunction: two ciphertexts per lane.
    fn and(&mut self, a: &Bundle<Self::Label>, b: &Bundle<Self::Label>) -> Bundle<Self::Label>;

    /// The same constant in all lanes.
    fn constants(&self, bit: bool) -> Bundle<Self::Label> {
        [self.constant(bit); LANES]
    }
}

/// A circuit that two parties compute over a channel. Both make the same calls in the same order.
pub trait TwoPartyCircuit: Circuit {
    /// Call before running this many gates (over all lanes): the evaluator receives their tables.
    fn prepare(&mut self, and_gates: usize, channel: &mut dyn Channel) -> Result<(), MpcError>;

    /// Call after running gates: the garbler sends tables. An evaluator that ran out of tables returns an error
    /// here.
    fn finish_gates(&mut self, channel: &mut dyn Channel) -> Result<(), MpcError>;
}

//! Aligning many pairs of strings of which each side knows one: everything of this crate put together.
//!
//! ```text
//! garbler (rows, tables of costs)                                        evaluator (columns, letters)
//!   start:    base transfers and seed trees (≈ 7 kB)       ◀────────▶
//!             where tweaks start                           ─────────▶
//!   letters:  transfers for the bits of all letters        ◀─────────     4 bytes per bit
//!   align:    for every slab of anti-diagonals
//!               columns of masked costs                    ─────────▶     N·w/8 bytes per cell
//!               transfers for the bits of her shares       ◀─────────     4·w bytes per cell
//!               tables                                     ─────────▶     32 bytes per AND gate
//!             sums or maxima of the last rows: tables      ─────────▶
//!   reveal:   colours of outputs                           ◀────────▶     one bit each, in the direction of who may know
//! ```
//!
//! Columns and transfers run [`LOOKAHEAD`] slabs ahead of the tables, so that neither side waits for a round trip per slab.
//!
//! # Who learns what
//!
//! Against semi-honest parties, with 128 bits: both learn the shapes, and whoever is shown an output learns it. The garbler sees the evaluator's
//! bits only as corrections under streams that he does not have; the evaluator sees entries that are masked by the garbler's share or encrypted under keys
//! that she does not have, one label per wire, and tables. All of it can be simulated from the own input, the shapes and
//! the outputs. Nothing here holds against a party that breaks the protocol on purpose.

mod evaluator;
mod garbler;
mod plan;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod view_tests;

pub use evaluator::{EvaluatorComparison, EvaluatorSession};
pub use garbler::{GarblerComparison, GarblerSession};
pub use plan::LOOKAHEAD;

use crate::circuit::Party;
use crate::circuit::reduce::{Number, maxima, sums};
use crate::error::GarbleError;
use crate::transport::Transport;

/// How the results of a matrix's columns become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Their sum: global alignments.
    Sum,
    /// The largest: local alignments.
    Max,
}

impl Fold {
    fn run<P: Party>(
        self,
        party: &mut P,
        transport: &mut impl Transport,
        results: Vec<Vec<Number<P::Label>>>,
    ) -> Result<Vec<Number<P::Label>>, GarbleError> {
        match self {
            Self::Sum => sums(party, transport, results),
            Self::Max => maxima(party, transport, results),
        }
    }
}

/// The value of decoded bits, lowest first; the first 64 of them count.
fn value_of(bits: impl Iterator<Item = bool>) -> u64 {
    bits.take(64)
        .enumerate()
        .fold(0, |sum, (at, bit)| sum | u64::from(bit) << at)
}

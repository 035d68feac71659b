//! Half gates (Zahur, Rosulek and Evans, Eurocrypt 2015): two ciphertexts per AND, XOR and NOT for free.
//!
//! ```text
//! garbler                                                     evaluator
//!   16 bytes, the hash key (once)               ────────────▶
//!   tables: 32 bytes per AND gate and lane      ────────────▶   in the order of the gates, lanes in order
//!   colours of output wires, if the evaluator   ────────────▶
//!   may learn them
//!                                               ◀────────────   colours of output wires, if the garbler may learn them
//! ```
//!
//! The evaluator sees one label per wire, tables, and the colours of outputs. Under the assumption on the hash (see
//! [`crate::hash`]) this can be simulated from the outputs.

mod evaluator;
mod garbler;
pub mod messages;
#[cfg(test)]
mod tests;

pub use evaluator::Evaluator;
pub use garbler::Garbler;

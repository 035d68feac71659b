//! Half gates (Zahur, Rosulek and Evans, Eurocrypt 2015): two ciphertexts per AND, XOR and NOT for free.
//!
//! ```text
//! garbler                                                     evaluator
//!   the 16 bytes where the tweaks start (once)  ────────────▶
//!   tables: 32 bytes per AND gate and lane      ────────────▶   in the order of the gates, lanes in order
//!   colours of output wires, if he may know     ────────────▶
//!                                               ◀────────────   colours of output wires, if she may know
//! ```
//!
//! The evaluator sees one label per wire, tables, and the colours of outputs. Under the assumption on the hash (see
//! [`crate::hash`]) that can be simulated from the outputs alone.

mod evaluator;
mod garbler;
pub mod messages;
#[cfg(test)]
mod tests;

pub use evaluator::Evaluator;
pub use garbler::Garbler;

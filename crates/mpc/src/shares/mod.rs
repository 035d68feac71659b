//! Aligns many pairs of strings on secret shares. A gate takes a few *bits* instead of the 32 bytes of a garbled one,
//! but each layer of gates takes an exchange of messages. This pays off when many comparisons advance together.
//!
//! ```text
//! host (rows)                                                             joining side (columns)
//!   start:    base transfers and seed trees, both ways      ◀────────▶     25 kB
//!   letters:  trees                                         ◀────────▶     see below
//!   align:    for every anti-diagonal of all matrices
//!               indicators of letters, masked               ◀────────▶     see below
//!               corrections and masked numbers              ◀────────▶     18 bits per cell with unit costs, 202 with nine bits
//!               transfers                                   ◀────────▶     31 or 15 bits each; 6 or 39 per cell
//!             sums or maxima, and bits of outputs           ◀────────▶
//! ```
//!
//! Costs are looked up in one of two ways, for an alphabet of N letters:
//!
//! | message | a tree per letter | a tree per block of 4 or 8 lines |
//! |---|---|---|
//! | trees | 160 bytes per letter, if N = 64 | 24·(N − 1) or 28·(N − 1) bytes per line |
//! | indicators | N − 1 bits per cell | N − 1 bits per 4 or 8 cells |
//!
//! | module | its job |
//! |---|---|
//! | `rounds`, `packing` | many tasks over one channel; numbers of a few bits in messages |
//! | `pool`, `batch_queue` | correlated transfers in both directions |
//! | `gates`, `compare`, `quotients`, `convert` | products, comparisons, divisions, and conversions between XOR and additive sharing |
//! | `seeds`, `lookup`, `line_lookup`, `letters` | substitution costs of letters that neither side reveals: seed trees, one for each letter or for several lines |
//! | `unit`, `bits`, `cells`, `couplings`, `group` | matrices that advance together by anti-diagonals |
//! | `runs`, `sets` | metrics without a matrix recurrence: diagonal runs, and sums and maxima over letters |
//! | `grouping` | how many matrices advance at once |
//! | `matrix_recurrence`, `outputs` | what a cell computes and costs; from the last lines of matrices to halves of outputs |
//! | `session` | a session of two parties, from letters to halves of outputs |
//! | `arithmetic` | computations on results before anything is opened |
//! | `costs`, `list_costs` | cost estimates |
//!
//! # Who learns what
//! If both sides follow the protocol, both learn the shapes (the number of strings and the length of each), and nothing
//! else until the caller opens outputs, of which each side has a half. **Simulator.** Everything that a side receives
//! is one of these:
//!
//! - messages of [`crate::ot::correlated`], which that module simulates;
//! - a bit or index plus a random choice u about which this side, as the sender of the transfer, has no information:
//!   uniform;
//! - a number plus a pad (or the difference of two pads) of a transfer of which this side chose another pad:
//!   indistinguishable from uniform by [`crate::ot::pads`], as each pad is used once. Where a bit is multiplied several
//!   times (`Gates::multiply`), its correction is sent once, and each product uses its own bit of the pad;
//! - corrections of a seed tree, and indicators masked by the stream of its missing leaf: pseudorandom, as that leaf
//!   is.
//!
//! So a simulator sends uniform bits of the public sizes. Shares of every intermediate value are uniform, as each
//! product adds a fresh pad to one of them. Halves of outputs are XOR shares of the last products of an adder,
//! comparison or division, so one half alone is uniform, too. No step has an error, so outputs are always right, and at
//! the opening the simulator sends the side's own half plus the output.
//!
//! **Bound.** The simulated view differs from the real one by at most the sum of these, against 2⁸⁰ calls to AES:
//!
//! | part | advantage |
//! |---|---|
//! | base and correlated transfers | as in [`crate::ot`] |
//! | pads, and keys of seed trees | 2⁻⁴¹ ([`crate::ot::pads`]) |
//! | blocks of a stream never repeat, uniform ones may | 2⁻⁴⁶ for 2⁵¹ blocks, 2⁻³⁷ for the largest session |
//! | a missing leaf, or a node above it, is guessed | 2⁻⁴⁶ for each stage |
//!
//! - **Streams.** Within the session limits, a leaf encrypts fewer than (2²⁸/128 + 2²⁰)·2¹⁰ < 2³² blocks: for a
//!   cohort's letters, 128 at a time, of at most 2²⁰ scanpaths, and for each column of the table. So b blocks of all
//!   missing leaves give an advantage of at most 2³²·b/2¹²⁹, and b < 2⁶⁰.
//! - **Guesses.** Every AES input contains the number of its tree or letter. So a call under a guessed key tests at
//!   most three secrets of a stage, a node of a letter's tree and a node and a leaf of the transfers: 3·2⁸⁰/2¹²⁸. The
//!   numbers are the same in every stage, so the advantages of stages add up.
//!
//! Metrics without a matrix recurrence (`runs`, `sets`, `quotients`) consist of the same products and comparisons. What
//! a side counts in its own scanpath enters them only as a factor. Their sizes depend on the alphabet and on lengths,
//! not on what occurs in a scanpath.
//!
//! Until outputs are opened, **a malicious party** on either side also gets only such messages. Transfers are proven
//! against malicious parties ([`crate::ot`]): choices are uniform to a sender, and pads that it did not choose are
//! pseudorandom to a receiver, unless it guesses bits of the offset. A tree that it receives lacks a leaf, because each
//! level is a transfer. The honest side uses every choice, pad and place of a stream once, sends a fixed number of
//! bits, and compares nothing with a secret except in the transfer checks. So the simulator is the same, up to the
//! opening.
//!
//! But **nothing authenticates shares**. A malicious party can enter any value into any product or comparison, in any
//! cell, or make trees that do not match. It can so change the function that is computed, and with it the outputs of
//! both sides. As with garbled circuits, it learns one output of the agreed size per comparison. But here *either* side
//! can change every gate, while a malicious evaluator of a garbled circuit can only change looked-up costs.

#[cfg(test)]
mod alignment_tests;
mod arithmetic;
#[cfg(test)]
mod arithmetic_tests;
mod batch_queue;
mod cells;
#[cfg(test)]
mod cheating_tests;
mod compare;
mod convert;
pub mod costs;
#[cfg(test)]
mod count_tests;
mod couplings;
mod gates;
mod group;
mod grouping;
mod letters;
mod line_lookup;
pub mod list_costs;
mod lookup;
mod matrix_recurrence;
#[cfg(test)]
mod non_alignment_tests;
mod outputs;
mod packing;
mod pool;
mod quotients;
mod rounds;
mod runs;
mod seeds;
mod session;
#[cfg(test)]
mod session_tests;
mod sets;
#[cfg(test)]
mod tests;
mod unit;

pub use arithmetic::{Factors, Products};
pub use compare::GadgetCost;
pub use grouping::matrix_fits;
pub use letters::{LetterLists, LetterLookup};
pub use lookup::MAX_ALPHABET_SIZE;
pub use matrix_recurrence::MatrixRecurrence;
pub use runs::runs_fit;
pub use session::{Finish, MatrixInput, Outputs, Party, SharesSession};
pub use sets::{ChosenNumbers, InnerProduct};

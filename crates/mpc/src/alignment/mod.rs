//! Aligns many pairs of strings, where each side knows one string of every pair. This module combines the whole crate.
//!
//! ```text
//! garbler (rows, tables of costs)                                        evaluator (columns, letters)
//!   start:    base transfers and seed trees (≈ 12 kB)      ◀────────▶
//!             hash key                                     ─────────▶
//!   letters:  transfers for the bits of all letters        ◀─────────     4 bytes per bit
//!   align:    for every span of anti-diagonals
//!               columns of masked costs                    ─────────▶     N·w/8 bytes per cell
//!               transfers for the evaluator's shares       ◀─────────     4·w bytes per cell
//!               tables                                     ─────────▶     32 bytes per AND gate
//!             sums or maxima of the last rows: tables      ─────────▶
//!   reveal:   colours of outputs                           ◀────────▶     one bit each, to the side that may learn it
//! ```
//!
//! ```
//! use veilpath_mpc::Kernel;
//! use veilpath_mpc::alignment::*;
//! use veilpath_mpc::circuit::cells::UnitCell;
//! use veilpath_channel::memory_pair;
//!
//! let letters = |word: &str| word.bytes().map(|b| usize::from(b - b'a')).collect::<Vec<_>>();
//! let (ours, theirs) = (letters("kitten"), letters("sitting"));
//! let (rows, columns) = (ours.len(), theirs.len()); // lengths are public
//!
//! let (mut channel, mut other_channel) = memory_pair();
//! let garbler = std::thread::spawn(move || {
//!     // The input of the cell, by the garbler's letter and the evaluator's.
//!     let table: Vec<Vec<u64>> = (0..26)
//!         .map(|x| (0..26).map(|y| UnitCell.input(x == y)).collect())
//!         .collect();
//!     let mut session = GarblerSession::start(Kernel::best(), &mut rand::rng(), &mut channel)?;
//!     let letters = session.letters(26, columns, &mut channel)?;
//!     let comparison = GarblerComparison {
//!         rows: ours.iter().map(|&letter| &table[letter][..]).collect::<Vec<_>>(),
//!         columns: 0..columns,
//!     };
//!     let sums = session.align(&UnitCell, Fold::Sum, &letters, &[comparison], &mut channel, &|_| ())?;
//!     session.reveal_to_peer(&sums, &mut channel)
//! });
//!
//! let channel = &mut other_channel;
//! let mut session = EvaluatorSession::start(Kernel::best(), &mut rand::rng(), channel)?;
//! let letters = session.letters(26, &theirs, channel)?;
//! let comparison = EvaluatorComparison { rows, columns: 0..columns };
//! let sums = session.align(&UnitCell, Fold::Sum, &letters, &[comparison], channel, &|_| ())?;
//! let sum = session.decode(&sums, channel)?[0] as usize;
//! garbler.join().unwrap()?;
//! assert_eq!(rows + sum - columns, 3);
//! # Ok::<(), veilpath_mpc::MpcError>(())
//! ```
//!
//! Columns and transfers run [`LOOKAHEAD`] spans ahead of the tables, so neither side waits for a round trip per span.
//!
//! # Who learns what
//!
//! If both sides follow the protocol, both learn the shapes (the number of strings and the length of each), and each
//! side learns the outputs that are revealed to it. The garbler sees the evaluator's bits only as corrections, masked
//! by streams that it does not have. The evaluator sees entries that are masked by the garbler's share or encrypted
//! under keys that it does not have, one label per wire, and tables. All of this can be simulated from the party's own
//! input, the shapes and the outputs.
//!
//! **A malicious evaluator** learns nothing about Δ that it did not guess, and no second label of a wire, because the
//! transfers are checked before anything that uses them is sent ([`crate::ot::correlated`]). It commits to one letter
//! per column. But its shares of the costs are not authenticated: it can flip bits of its choice in the looked-up input
//! of any cell, and so evaluate the alignment with other costs in these cells. It can also change the output that the
//! garbler learns. Whatever it does, it learns one output of the agreed size per comparison.
//!
//! **A malicious garbler** learns nothing from the transfers. But it can garble another circuit, or one that fails only
//! for some inputs. The outputs that the evaluator learns or returns can then be wrong, or reveal something about the
//! evaluator's letters other than the agreed score. Whether the evaluator finds an output out of range then also
//! depends on its letters.
//!
#![doc = include_str!("messages.md")]

#[cfg(test)]
mod attack_tests;
#[cfg(test)]
mod cheating_tests;
mod evaluator;
mod garbler;
#[cfg(test)]
mod non_alignment_tests;
mod schedule;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod thread_tests;
#[cfg(test)]
mod view_tests;

pub use evaluator::{EvaluatorComparison, EvaluatorSession};
pub use garbler::{GarblerComparison, GarblerSession, Rows};
pub use schedule::{LOOKAHEAD, rows_in_lockstep, span_count};

use crate::circuit::TwoPartyCircuit;
use crate::circuit::recurrence::RecurrenceOutputs;
use crate::circuit::reduce::{Number, maxima, sums, unwrapped};
use crate::error::MpcError;
use crate::wavefront::SweepOutput;
use veilpath_channel::Channel;

/// How a matrix's column results become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Their sum: global alignments as differences.
    Sum,
    /// The last one, with the modulus removed: global alignments as savings.
    Unwrap,
    /// The largest column or row result: local alignments, distances between sets.
    Max,
    /// The last one: warping.
    Last,
    /// The counters instead of the column results: recurrence plots.
    Recurrence(RecurrenceOutputs),
}

impl Fold {
    pub(crate) fn run<C: TwoPartyCircuit>(
        self,
        circuit: &mut C,
        channel: &mut dyn Channel,
        swept: Vec<SweepOutput<C::Label>>,
    ) -> Result<Vec<Number<C::Label>>, MpcError> {
        let zero = circuit.constant(false);
        let swept = swept.into_iter();
        let last = |mut swept: SweepOutput<C::Label>| swept.columns.pop();
        match self {
            Self::Sum => sums(circuit, channel, swept.map(|swept| swept.columns).collect()),
            Self::Unwrap => unwrapped(circuit, channel, swept.map(|swept| swept.columns).collect()),
            Self::Max => {
                let both =
                    |swept: SweepOutput<C::Label>| swept.columns.into_iter().chain(swept.rows);
                let results = swept.map(|swept| both(swept).collect());
                maxima(circuit, channel, results.collect())
            }
            Self::Recurrence(outputs) => outputs.run(circuit, channel, swept.collect()),
            Self::Last => Ok(swept
                .map(|swept| last(swept).unwrap_or_else(|| Number::new(vec![zero])))
                .collect()),
        }
    }
}

/// The value of decoded bits, lowest first; bits after the first 64 are ignored.
fn value_of(bits: impl Iterator<Item = bool>) -> u64 {
    bits.take(64)
        .enumerate()
        .fold(0, |sum, (at, bit)| sum | u64::from(bit) << at)
}

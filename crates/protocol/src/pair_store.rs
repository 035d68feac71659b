//! What a run asks of its caller before it sends anything about a pair: to store results, to count what the other side
//! learns, and to refuse.
//!
//! An engine accesses no files. Each method is called *before* the messages that it is about, and an error stops the run
//! before they are sent.

use crate::{Answer, ProtocolError};

/// Stores and counts the pairs of a run (indices into the agreed list). Several threads may use it at once. The default
/// methods do nothing.
///
/// # Halves
/// A **half** is one side's share of a pair's output. One half alone is random, both together are the output:
///
/// - with `garbled` and `shares`, their XOR is the output;
/// - with `paillier`, if a group answer is computed, their sum modulo 2⁶⁴ is the raw result;
/// - otherwise, a pair has no halves.
///
/// Halves of different runs do not fit together.
pub trait PairStore: Sync {
    /// These pairs start: the next messages depend on their letters.
    fn start(&self, pairs: &[usize]) -> Result<(), Refused> {
        let _ = pairs;
        Ok(())
    }

    /// This side has opened the outputs of these pairs, and the next messages depend on them: counts the pairs like
    /// [`PairStore::start`] and stores what was opened, in one durable step. A pair that was counted without being stored
    /// would have to be opened, and counted, again.
    fn start_opened(&self, pairs: &[usize], opened: &[Opened]) -> Result<(), Refused> {
        self.start(pairs)?;
        let half = |(&pair, opened): (&usize, &Opened)| match *opened {
            Opened::Half(half) => Some((pair, half)),
            Opened::Answer(_) | Opened::OutOfRange => None,
        };
        let (pairs, halves): (Vec<usize>, Vec<u64>) =
            pairs.iter().zip(opened).filter_map(half).unzip();
        match pairs.is_empty() {
            true => Ok(()),
            false => self.store_halves(&pairs, &halves),
        }
    }

    /// Makes this side's halves of these outputs durable.
    fn store_halves(&self, pairs: &[usize], halves: &[u64]) -> Result<(), Refused> {
        let _ = (pairs, halves);
        Ok(())
    }

    /// The other side is about to learn these pairs: this side's halves are sent next.
    fn release(&self, pairs: &[usize]) -> Result<(), Refused> {
        let _ = pairs;
        Ok(())
    }

    /// The output of this pair is not a possible result. The other side must not notice before the run is over, because
    /// what is possible depends on this side's scanpaths.
    fn reject(&self, pair: usize) {
        let _ = pair;
    }
}

/// Stores nothing and refuses nothing.
impl PairStore for () {}

/// What a side that opens outputs alone finds in one. Not `Debug`: a half is secret.
#[derive(Clone, Copy)]
pub enum Opened {
    /// The answer for the pair.
    Answer(Answer),
    /// This side's half of the output.
    Half(u64),
    /// A number that is not a possible result. There is nothing to store, but the other side learns this from the error.
    OutOfRange,
}

/// The store refused the next step, or could not write. It knows why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

impl From<Refused> for ProtocolError {
    fn from(Refused: Refused) -> Self {
        ProtocolError::Refused
    }
}

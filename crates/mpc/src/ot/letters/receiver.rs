//! The receiver, which has the letters: the evaluator.

use super::{LETTERS_PER_BATCH, bits_per_letter, check_alphabet, derive_key};
use crate::block::Block;
use crate::error::MpcError;
use crate::ot::{Bits, CorrelatedReceiver};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The receiver's keys for a run of letters, and the letters themselves.
pub struct ReceiverLetterKeys {
    alphabet: usize,
    first_column: u64,
    letters: Zeroizing<Vec<usize>>,
    keys: Zeroizing<Vec<Block>>,
}

/// Gets one key per letter. Both sides number columns in the same way.
pub fn receive(
    alphabet: usize,
    letters: &[usize],
    first_column: u64,
    correlated: &mut impl CorrelatedReceiver,
    channel: &mut dyn Channel,
) -> Result<ReceiverLetterKeys, MpcError> {
    check_alphabet(alphabet)?;
    if letters.iter().any(|&letter| letter >= alphabet) {
        return Err(MpcError::Misuse("a letter is not in the alphabet"));
    }
    let bits = bits_per_letter(alphabet);
    let mut keys = Zeroizing::new(Vec::with_capacity(letters.len()));
    correlated.announce(letters.len() * bits);
    for batch in letters.chunks(LETTERS_PER_BATCH) {
        let mut choices = Bits::with_capacity(batch.len() * bits);
        for letter in batch {
            choices.push_low_bits(*letter as u64, bits);
        }
        let labels = correlated.receive(&choices, channel)?;
        for (at, letter) in batch.iter().enumerate() {
            let number = first_column.wrapping_add(keys.len() as u64);
            let labels = labels[at * bits..(at + 1) * bits].iter();
            let labels = labels.map(|label| label.0);
            keys.push(derive_key(number, *letter, alphabet, labels));
        }
    }
    Ok(ReceiverLetterKeys {
        alphabet,
        first_column,
        keys,
        letters: Zeroizing::new(letters.to_vec()),
    })
}

impl ReceiverLetterKeys {
    /// The number of letters.
    pub fn count(&self) -> usize {
        self.letters.len()
    }

    /// The size N of the alphabet.
    pub fn alphabet(&self) -> usize {
        self.alphabet
    }

    /// The number of a column in the session.
    pub(crate) fn column_number(&self, column: usize) -> u64 {
        self.first_column.wrapping_add(column as u64)
    }

    /// Key and letter of a column.
    pub(crate) fn key(&self, column: usize) -> Result<(Block, usize), MpcError> {
        match (self.keys.get(column), self.letters.get(column)) {
            (Some(key), Some(letter)) => Ok((*key, *letter)),
            _ => Err(MpcError::Misuse("no such letter of this side")),
        }
    }
}

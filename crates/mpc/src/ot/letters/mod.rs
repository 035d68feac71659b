//! One key out of N for every letter of the receiver: 1-out-of-N transfers of random keys.
//!
//! ```text
//! sender                                      receiver (letters)
//!                ⌈log₂ N⌉ correlated transfers per letter, with the letter's bits
//!   N keys per letter                           the key of each letter
//! ```
//!
//! The key of letter k in column j is one hash over all bit labels of k together, and over k and j: SHA-256(domain ‖ j
//! ‖ k ‖ N ‖ label₀ ‖ label₁ ‖ …). Hashing the labels one by one and adding the hashes would leave the N keys linearly
//! related, so that three of them give a fourth. The receiver knows all labels of its own letter; every other letter's
//! hash covers a label that contains Δ. If SHA-256 is a random oracle, the other keys are random to the receiver.
//!
//! Keys are derived once per letter and serve all comparisons with it (see [`super::lookup`]); columns are numbered
//! over the whole session.

mod receiver;
mod sender;

pub use receiver::{ReceiverLetterKeys, receive};
pub use sender::{SenderLetterKeys, send};

use crate::block::Block;
use crate::error::MpcError;
use sha2::{Digest, Sha256};
use zeroize::Zeroize;

/// The largest alphabet: 2¹⁶ letters and one for padding, few enough for the pads of [`super::lookup`].
pub const MAX_ALPHABET: usize = (1 << 16) + 1;

/// Letters that are transferred at a time. The sender allocates memory as transfers arrive, not as they are announced.
/// Part of the wire format, as every batch is padded to whole blocks.
const LETTERS_PER_BATCH: usize = 1 << 12;

/// Transfers per letter: ⌈log₂ N⌉.
pub fn bits_per_letter(alphabet: usize) -> usize {
    (usize::BITS - alphabet.saturating_sub(1).leading_zeros()) as usize
}

fn check_alphabet(alphabet: usize) -> Result<(), MpcError> {
    match alphabet {
        1..=MAX_ALPHABET => Ok(()),
        _ => Err(MpcError::Misuse("an alphabet has 1 to 65,537 letters")),
    }
}

fn derive_key(
    column: u64,
    letter: usize,
    alphabet: usize,
    labels: impl Iterator<Item = Block>,
) -> Block {
    let mut digest = Sha256::new();
    digest.update(b"veilpath letter, version 1");
    digest.update(column.to_le_bytes());
    digest.update((letter as u32).to_le_bytes());
    digest.update((alphabet as u32).to_le_bytes());
    for label in labels {
        digest.update(label.to_bytes());
    }
    let mut hash: [u8; 32] = digest.finalize().into();
    let mut key = [0; 16];
    key.copy_from_slice(&hash[..16]);
    hash.zeroize();
    Block::from_bytes(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Delta;
    use crate::ot::ideal::ideal_pair;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use veilpath_channel::memory_pair;

    #[test]
    fn the_receiver_gets_the_key_of_its_letter_and_all_keys_differ() {
        let (mut channel, _peer) = memory_pair();
        for alphabet in [1, 2, 3, 4, 5, 52, 64, 65] {
            let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
            let (mut sender, mut receiver) = ideal_pair(Arc::clone(&delta), 4);
            let letters: Vec<usize> = (0..9).map(|i| i * 7 % alphabet).collect();
            let sent = send(alphabet, 9, 100, &delta, &mut sender, &mut channel).unwrap();
            let received = receive(alphabet, &letters, 100, &mut receiver, &mut channel).unwrap();
            let mut seen = BTreeSet::new();
            for (column, letter) in letters.iter().enumerate() {
                let keys = sent.keys(column).unwrap();
                assert_eq!(keys.len(), alphabet);
                assert_eq!(keys[*letter], received.key(column).unwrap().0);
                assert_eq!(received.key(column).unwrap().1, *letter);
                seen.extend(keys.iter().map(|key| key.to_bytes()));
            }
            assert_eq!(seen.len(), 9 * alphabet);
            assert!(sent.keys(9).is_err());
            assert!(received.key(9).is_err());
        }
    }

    #[test]
    fn keys_of_many_batches_agree() {
        let (mut channel, _peer) = memory_pair();
        let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
        let (mut sender, mut receiver) = ideal_pair(Arc::clone(&delta), 4);
        let letters: Vec<usize> = (0..2 * LETTERS_PER_BATCH + 5).map(|i| i * 7 % 3).collect();
        let sent = send(3, letters.len(), 0, &delta, &mut sender, &mut channel).unwrap();
        let received = receive(3, &letters, 0, &mut receiver, &mut channel).unwrap();
        for column in [
            0,
            LETTERS_PER_BATCH - 1,
            LETTERS_PER_BATCH,
            2 * LETTERS_PER_BATCH + 4,
        ] {
            let (key, letter) = received.key(column).unwrap();
            assert_eq!(sent.keys(column).unwrap()[letter], key);
        }
    }

    #[test]
    fn invalid_letters_are_refused() {
        let (mut channel, _peer) = memory_pair();
        let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
        let (mut sender, mut receiver) = ideal_pair(Arc::clone(&delta), 4);
        let refused = receive(5, &[0, 5], 0, &mut receiver, &mut channel);
        assert!(matches!(refused, Err(MpcError::Misuse(_))));
        let refused = send(0, 5, 0, &delta, &mut sender, &mut channel);
        assert!(matches!(refused, Err(MpcError::Misuse(_))));
    }

    #[test]
    fn bits_are_counted() {
        let bits = [1, 2, 3, 4, 5, 52, 64, 65].map(bits_per_letter);
        assert_eq!(bits, [0, 1, 2, 2, 3, 6, 6, 7]);
    }
}

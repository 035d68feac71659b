//! Oblivious transfer: how the evaluator gets the labels of its bits without revealing the bits.
//!
//! | layer | what it gives | how | bytes per transfer |
//! |---|---|---|---|
//! | [`base`] | 128 random transfers, once per stage | elliptic curve (Masny and Rindal) | 64 |
//! | [`correlated`] | any number of transfers whose two messages differ by the garbling offset: wire labels | SoftSpoken (Roy, CRYPTO 2022), of which IKNP is the case k = 1, with its checks | 16/k |
//! | [`cot`] | correlated transfers with random choices, in bulk | an interface; today [`correlated`] | 16/k − 1/8 |
//! | [`pads`] | 1 of 2^m random words | one hash over a combination of m correlated transfers | 0 |
//! | [`letters`] | 1 of N keys per letter | one hash over the ⌈log₂ N⌉ transfers of the letter's bits | 0 |
//! | [`lookup`] | the entry of a table for a hidden letter, shared between the sides | the keys of `letters` as pads | N·w/8 per cell |
//!
//! With garbled circuits, the garbler is always the sender and the evaluator the receiver (except in [`base`]). Secret
//! sharing needs COTs in both directions. Upper layers use the correlated transfers through traits, so that tests can
//! replace them by ideal ones (module `ideal`, with the feature of that name).
//!
//! # What is proven
//! If SHA-256 and SHA-512 are random oracles, AES-128 is an ideal cipher, and the gap Diffie–Hellman problem is hard in
//! Ristretto255, the prime-order group over Curve25519:
//!
//! - **Against a malicious receiver** (the evaluator, or either side of `shares`), [`base`], [`correlated`],
//!   [`pads`] and [`letters`] give it one label of each wire, one pad of each transfer and one key of each
//!   letter; the others are indistinguishable from random ones. It learns about Δ what it guesses and no more: a guess
//!   that is right for a fraction 2⁻ᵐ of all Δ passes the checks with that probability, and a wrong one ends the
//!   session before anything that depends on the transfers is sent. (Worker threads share Δ, and the others may still send
//!   until all have stopped: less than one bit for eight threads.) Such a guess gains nothing: it weakens the bound for
//!   the remaining secrets by the factor 2ᵐ, but succeeds only with probability 2⁻ᵐ.
//! - **Against a malicious sender** (the garbler, or either side of `shares`), they hide the receiver's bits and
//!   letters.
//!
//! The modules give the arguments; [`pads`] has the proof for pads, in the ideal cipher model.
//!
//! # What is not proven
//! - [`lookup`] does not force the receiver to use the share that it got: a malicious evaluator can flip bits of its
//!   shares.
//! - Nothing forces a receiver to enter the same bit or letter in two transfers, or either side to continue with what a
//!   transfer gave it: shares are not authenticated ([`crate::shares`]).
//! - A malicious garbler can put any costs into a look-up, and garble any circuit on its result. See
//!   [`crate::alignment`].
//!
#![doc = include_str!("messages.md")]

pub mod base;
pub mod correlated;
pub mod cot;
#[cfg(any(test, feature = "ideal"))]
pub mod ideal;
pub mod letters;
pub mod lookup;
pub mod pads;

pub use cot::{CotReceiver, CotSender};

use crate::block::Block;
use crate::error::MpcError;
use crate::label::{ActiveLabel, ZeroLabel};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The side that knows the offset Δ.
pub trait CorrelatedSender {
    /// Announces that the next calls of [`CorrelatedSender::send`] will ask for `count` transfers in total, so that
    /// they can be made together. Both sides must announce the same.
    fn announce(&mut self, count: usize) {
        let _ = count;
    }

    /// The zero labels of the next `count` bits of the receiver.
    fn send(
        &mut self,
        count: usize,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ZeroLabel>>, MpcError>;
}

/// The side that knows the bits.
pub trait CorrelatedReceiver {
    /// As [`CorrelatedSender::announce`].
    fn announce(&mut self, count: usize) {
        let _ = count;
    }

    /// The labels of these bits.
    fn receive(
        &mut self,
        bits: &Bits,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError>;
}

/// A list of secret bits, packed, the first one lowest. Erased when dropped.
#[derive(Default)]
pub struct Bits {
    words: Zeroizing<Vec<u64>>,
    len: usize,
}

impl Bits {
    /// An empty list with room for this many bits.
    pub fn with_capacity(bits: usize) -> Self {
        Self {
            words: Zeroizing::new(Vec::with_capacity(bits.div_ceil(64))),
            len: 0,
        }
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends a bit. No branch depends on it.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        self.push_low_bits(u64::from(bit), 1);
    }

    /// Appends the lowest `count` bits of a word, lowest first. `count` is at most 64 and public, the word is not.
    #[inline]
    pub fn push_low_bits(&mut self, word: u64, count: usize) {
        if count == 0 {
            return;
        }
        let word = if count < 64 {
            word & ((1 << count) - 1)
        } else {
            word
        };
        let shift = self.len % 64;
        if shift == 0 {
            self.words.push(word);
        } else {
            if let Some(last) = self.words.last_mut() {
                *last |= word << shift;
            }
            if shift + count > 64 {
                self.words.push(word >> (64 - shift));
            }
        }
        self.len += count;
    }

    /// The bits, eight to a byte.
    #[cfg(any(test, feature = "ideal"))]
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        self.words.iter().flat_map(|word| word.to_le_bytes())
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut all = Self::default();
        for bit in bits {
            all.push(bit);
        }
        all
    }
}

/// `count` bits (at most 64) of a list of blocks, from position `at` on. Positions are public, values are not.
#[inline]
pub(crate) fn bits_at(blocks: &[Block], at: usize, count: usize) -> u64 {
    let word = |index: usize| {
        let block = blocks.get(index / 2).map_or([0; 2], |block| block.words());
        block[index % 2]
    };
    let (index, shift) = (at / 64, at % 64);
    let mut bits = word(index) >> shift;
    if shift + count > 64 {
        bits |= word(index + 1) << (64 - shift);
    }
    if count < 64 {
        bits &= (1 << count) - 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_packed_in_order() {
        let mut bits = Bits::with_capacity(100);
        assert!(bits.is_empty());
        let mut expected = Vec::new();
        let mut value = 0x9e37_79b9_7f4a_7c15_u64;
        for count in (0..=64).chain([64, 1, 63, 5]) {
            value = value.rotate_left(7).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits.push_low_bits(value, count);
            expected.extend((0..count).map(|at| value >> at & 1 == 1));
        }
        assert_eq!(bits.len(), expected.len());
        let bytes: Vec<u8> = bits.bytes().collect();
        for (at, bit) in expected.iter().enumerate() {
            assert_eq!(bytes[at / 8] >> (at % 8) & 1 == 1, *bit);
        }
        let again: Bits = expected.iter().copied().collect();
        assert!(again.bytes().eq(bytes));
    }
}

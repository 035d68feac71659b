//! Oblivious transfer: how the evaluator gets the labels of its bits without revealing the bits.
//!
//! | layer | what it gives | how | bytes per transfer |
//! |---|---|---|---|
//! | [`base`] | 128 random transfers, once per session | elliptic curve (Chou and Orlandi) | 32 |
//! | [`correlated`] | any number of transfers whose two messages differ by the garbling offset: wire labels | SoftSpoken (Roy, CRYPTO 2022), of which IKNP is the case k = 1 | 16/k |
//! | [`random`] | transfers of two independent random blocks | a hash over the correlated ones | 0 |
//! | [`letters`] | 1 of N keys per letter | one hash over the ⌈log₂ N⌉ transfers of the letter's bits | 0 |
//! | [`lookup`] | the entry of a table for a hidden letter, shared between the sides | the keys of `letters` as pads | N·w/8 per cell |
//!
//! All are secure against semi-honest parties, with 128 bits. The garbler is always the sender, the evaluator the
//! receiver (except in [`base`]). Upper layers use the correlated transfers through two traits, so that tests can
//! replace them by ideal ones (module `ideal`, with the feature of that name).

pub mod base;
pub mod correlated;
#[cfg(any(test, feature = "ideal"))]
pub mod ideal;
pub mod letters;
pub mod lookup;
pub mod random;

use crate::block::Block;
use crate::error::MpcError;
use crate::label::{ActiveLabel, ZeroLabel};
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The side that knows the offset Δ.
pub trait CorrelatedSender {
    /// The zero labels of the next `count` bits of the receiver.
    fn send(
        &mut self,
        count: usize,
        channel: &mut impl Channel,
    ) -> Result<Zeroizing<Vec<ZeroLabel>>, MpcError>;
}

/// The side that knows the bits.
pub trait CorrelatedReceiver {
    /// The labels of these bits.
    fn receive(
        &mut self,
        bits: &Bits,
        channel: &mut impl Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError>;
}

/// A list of secret bits, packed, the first one lowest. Erased when dropped.
#[derive(Default)]
pub struct Bits {
    words: Zeroizing<Vec<u64>>,
    len: usize,
}

impl Bits {
    /// No bits yet, and room for some.
    pub fn with_capacity(bits: usize) -> Self {
        Self {
            words: Zeroizing::new(Vec::with_capacity(bits.div_ceil(64))),
            len: 0,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds a bit at the end. No branch depends on it.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        self.push_low_bits(u64::from(bit), 1);
    }

    /// Adds the lowest `count` bits of a word, lowest first. `count` is at most 64 and public, the word is not.
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

    /// The bits, 128 to a block, filled up with zeros.
    pub(crate) fn blocks(&self) -> Zeroizing<Vec<Block>> {
        let pairs = self.words.chunks(2);
        let blocks = pairs.map(|pair| Block::from_words([pair[0], *pair.get(1).unwrap_or(&0)]));
        Zeroizing::new(blocks.collect())
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

//! Elements of `Z/m²` as two digits in base `m`.

use crypto_bigint::{BoxedUint, NonZero};
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::limbs;
use super::memory::Words;

/// `low + high·m` with both digits below `m`: a unique form for each element of `Z/m²`.
#[derive(Clone, PartialEq, Eq, Zeroize)]
pub(crate) struct Residue {
    /// The words of the low digit, then as many of the high digit.
    words: Words,
}

/// Its words are erased on drop.
impl ZeroizeOnDrop for Residue {}

impl Residue {
    /// From two digits below `m`, of equal length.
    pub(crate) fn from_digits(low: &[u64], high: &[u64]) -> Self {
        let mut words = Words::zeros(low.len() + high.len());
        let (first, second) = words.split_at_mut(low.len());
        first.copy_from_slice(low);
        second.copy_from_slice(high);
        Self { words }
    }

    /// From a low digit below `m`, from which `excess` times `m` was subtracted, and a high digit below `2m − 1` with a
    /// spare word.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn from_loose_high_digit(mut digits: Words, excess: u64, m: &[u64]) -> Self {
        let high = &mut digits[m.len()..];
        // m in the low digit is 1 in the high digit.
        limbs::add_small(high, excess);
        limbs::subtract_once(high, m);
        digits.truncate(2 * m.len());
        Self { words: digits }
    }

    /// The number 1 for a modulus of this many words.
    pub(crate) fn one(words: usize) -> Self {
        let mut one = Words::zeros(2 * words);
        one[0] = 1;
        Self { words: one }
    }

    /// Splits `value < m²`. Constant time in the value.
    pub(crate) fn from_uint(value: &BoxedUint, m: &NonZero<BoxedUint>, words: usize) -> Self {
        let (high, low) = value.div_rem(m);
        Self::from_digits(
            &limbs::from_uint(&low, words),
            &limbs::from_uint(&high, words),
        )
    }

    /// From a number of at most as many words as `m`. The highest bit of `m` is set, so one subtraction is enough.
    pub(crate) fn from_words(value: &[u64], m: &[u64]) -> Self {
        let mut words = Words::zeros(2 * m.len());
        words[..value.len()].copy_from_slice(value);
        words[m.len()] = limbs::subtract_once(&mut words[..m.len()], m);
        Self { words }
    }

    /// Adds an element of the same ring, in constant time.
    pub(crate) fn add(&mut self, other: &Self, m: &[u64]) {
        let (low, high) = self.words.split_at_mut(m.len());
        // m in the low digit is 1 in the high digit.
        let excess = limbs::add_mod(low, other.low(), 0, m);
        limbs::add_mod(high, other.high(), excess, m);
    }

    /// `low + high·m` as one number of twice as many words.
    pub(crate) fn joined(&self, m: &[u64]) -> Words {
        limbs::join_digits(self.low(), self.high(), m)
    }

    pub(crate) fn low(&self) -> &[u64] {
        &self.words[..self.words.len() / 2]
    }

    pub(crate) fn high(&self) -> &[u64] {
        &self.words[self.words.len() / 2..]
    }

    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }
}

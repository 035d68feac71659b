//! Numbers before encryption and after decryption.

use core::cmp::Ordering;

use crypto_bigint::{BoxedUint, Choice, CtEq};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::arith::{Words, limbs};

/// A signed integer. Erased when dropped; its value is never printed.
#[derive(Clone)]
pub struct Plaintext {
    words: Words,
    negative: bool,
}

impl Zeroize for Plaintext {
    fn zeroize(&mut self) {
        self.words.zeroize();
        self.negative.zeroize();
    }
}

/// Its words are erased on drop.
impl Drop for Plaintext {
    fn drop(&mut self) {
        self.negative.zeroize();
    }
}

impl ZeroizeOnDrop for Plaintext {}

impl Plaintext {
    /// A number from its sign and the words of its absolute value. The sign of zero is ignored.
    pub(crate) fn from_words(negative: bool, words: Words) -> Self {
        let is_zero = words.iter().fold(0, |all, word| all | word) == 0;
        Self {
            words,
            negative: negative & !is_zero,
        }
    }

    /// The words of its absolute value.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// A number that is not negative.
    pub fn from_uint(value: &BoxedUint) -> Self {
        Self::from_sign_and_magnitude(false, value)
    }

    /// A number from its sign and its absolute value. The sign of zero is ignored.
    pub fn from_sign_and_magnitude(negative: bool, magnitude: &BoxedUint) -> Self {
        let words = limbs::from_uint(magnitude, magnitude.bits_precision().div_ceil(64) as usize);
        Self::from_words(negative, words)
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        self.negative
    }

    /// The absolute value.
    pub fn magnitude(&self) -> BoxedUint {
        limbs::to_uint(&self.words)
    }

    /// The value, if it fits.
    pub fn to_i128(&self) -> Option<i128> {
        if self.words.iter().skip(2).any(|&word| word != 0) {
            return None;
        }
        let word = |index: usize| u128::from(self.words.get(index).copied().unwrap_or(0));
        let magnitude = word(0) | word(1) << 64;
        if self.negative {
            0i128.checked_sub_unsigned(magnitude)
        } else {
            i128::try_from(magnitude).ok()
        }
    }

    /// The value modulo 2⁶⁴, if it is from 0 to 2^`bits` − 1. The time depends on neither.
    pub fn low_word(&self, bits: u32) -> Option<u64> {
        let beyond = (0u32..)
            .zip(self.words.iter())
            .fold(0, |all, (index, word)| {
                let kept = bits.saturating_sub(64 * index);
                all | word.checked_shr(kept).unwrap_or(0)
            });
        let low = self.words.first().copied().unwrap_or(0);
        ((beyond == 0) & !self.negative).then_some(low)
    }

    /// Compares two numbers. The time reveals where they differ.
    pub fn cmp_vartime(&self, other: &Self) -> Ordering {
        let magnitudes = self.magnitude().cmp_vartime(other.magnitude());
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => magnitudes,
            (true, true) => magnitudes.reverse(),
        }
    }
}

impl PartialEq for Plaintext {
    /// Constant-time for numbers of equal precision.
    fn eq(&self, other: &Self) -> bool {
        let signs = Choice::from_u8_lsb(u8::from(self.negative == other.negative));
        (self.magnitude().ct_eq(&other.magnitude()) & signs).into()
    }
}

impl Eq for Plaintext {}

impl core::fmt::Debug for Plaintext {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Plaintext(secret)")
    }
}

impl From<u64> for Plaintext {
    fn from(value: u64) -> Self {
        Self {
            words: Words::copy(&[value]),
            negative: false,
        }
    }
}

impl<const WORDS: usize> From<[u64; WORDS]> for Plaintext {
    /// The least significant word comes first.
    fn from(words: [u64; WORDS]) -> Self {
        Self {
            words: Words::copy(&words),
            negative: false,
        }
    }
}

impl From<i64> for Plaintext {
    fn from(value: i64) -> Self {
        Self {
            words: Words::copy(&[value.unsigned_abs()]),
            negative: value < 0,
        }
    }
}

impl From<u128> for Plaintext {
    fn from(value: u128) -> Self {
        Self::from_uint(&BoxedUint::from(value))
    }
}

impl From<i128> for Plaintext {
    fn from(value: i128) -> Self {
        Self::from_sign_and_magnitude(value < 0, &BoxedUint::from(value.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_low_word_is_that_of_numbers_in_range() {
        let low = |words: [u64; 3], bits| Plaintext::from(words).low_word(bits);
        assert_eq!(low([5, 0, 0], 64), Some(5));
        assert_eq!(low([5, 1, 0], 64), None);
        assert_eq!(low([5, 1, 0], 65), Some(5));
        assert_eq!(low([5, 2, 0], 65), None);
        assert_eq!(low([7, u64::MAX, u64::MAX], 192), Some(7));
        assert_eq!(low([7, u64::MAX, u64::MAX], 191), None);
        assert_eq!(low([0; 3], 0), Some(0));
        assert_eq!(Plaintext::from(-5_i64).low_word(64), None);
    }
}

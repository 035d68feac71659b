//! Exponents with a public length and a secret value.

use crypto_bigint::BoxedUint;
use zeroize::ZeroizeOnDrop;

use super::limbs;
use super::memory::Words;

/// A non-negative exponent below `2^bits`.
pub(crate) struct Exponent {
    words: Words,
    bits: u32,
}

/// Its words are erased on drop.
impl ZeroizeOnDrop for Exponent {}

impl Exponent {
    /// The low `bits` bits of a number.
    pub(crate) fn new(value: &BoxedUint, bits: u32) -> Self {
        Self::from_words(limbs::from_uint(value, bits.div_ceil(64) as usize), bits)
    }

    /// The low `bits` bits of these words.
    pub(crate) fn from_words(mut words: Words, bits: u32) -> Self {
        words.truncate(bits.div_ceil(64) as usize);
        if !bits.is_multiple_of(64)
            && let Some(top) = words.last_mut()
        {
            *top &= (1 << (bits % 64)) - 1;
        }
        Self { words, bits }
    }

    /// The words of the value.
    pub(crate) fn words(&self) -> &[u64] {
        &self.words
    }

    /// The value.
    pub(crate) fn to_uint(&self) -> BoxedUint {
        limbs::to_uint(&self.words)
    }

    /// The public bound on the length.
    pub(crate) fn bits(&self) -> u32 {
        self.bits
    }

    /// `width` bits from position `start`.
    pub(crate) fn window(&self, start: usize, width: u32) -> u64 {
        limbs::bits_at(&self.words, start, width)
    }
}

//! Factors that multiply encrypted numbers.

use crypto_bigint::BoxedUint;

use crate::arith::{Exponent, Words, limbs};
use crate::error::{Misuse, Result};

/// A non-negative factor. Its declared length is public and determines the running time; its value stays secret.
pub struct Scalar(Exponent);

impl Scalar {
    /// A factor below `2^bits`.
    pub fn new(value: &BoxedUint, bits: u32) -> Result<Self> {
        if !limbs::fits(value.as_words(), bits) {
            return Err(Misuse::ScalarLength { bits }.into());
        }
        Ok(Self(Exponent::new(value, bits)))
    }

    /// The factor below `2^bits` with these words.
    pub(crate) fn of_words(words: Words, bits: u32) -> Self {
        Self(Exponent::from_words(words, bits))
    }

    /// The declared length.
    pub fn bits(&self) -> u32 {
        self.0.bits()
    }

    pub(crate) fn exponent(&self) -> &Exponent {
        &self.0
    }

    pub(crate) fn to_uint(&self) -> BoxedUint {
        self.0.to_uint()
    }
}

impl From<u64> for Scalar {
    fn from(value: u64) -> Self {
        Self(Exponent::new(&BoxedUint::from(value), u64::BITS))
    }
}

impl From<u128> for Scalar {
    fn from(value: u128) -> Self {
        Self(Exponent::new(&BoxedUint::from(value), u128::BITS))
    }
}

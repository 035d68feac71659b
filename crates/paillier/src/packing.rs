//! Several small numbers in one plaintext.
//!
//! Slot `k` of a layout with slots of `L` bits contains `valueₖ·2^(L·k)`. Values are never negative and never reach
//! `2^L`, so no slot carries into the next. All slots together stay below half of the modulus, so the sum is never read
//! as negative. If a value is known only encrypted, its bound is computed from the bounds of its parts.

use crypto_bigint::{BoxedUint, ConcatenatingMul};
use zeroize::Zeroizing;

use crate::arith::{Words, limbs};
use crate::error::{Misuse, Result};
use crate::key_size::KeySize;
use crate::plaintext::Plaintext;

/// The largest value that a number can take. Bounds combine like the numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound(BoxedUint);

impl Bound {
    /// At most this value.
    pub fn at_most(largest: &BoxedUint) -> Self {
        Self(largest.clone())
    }

    /// Below `2^bits`.
    pub fn of_bits(bits: u32) -> Self {
        let ones = BoxedUint::max(bits);
        Self(ones.unbounded_shr(ones.bits_precision() - bits))
    }

    /// The bound of a sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self(self.0.concatenating_add(&other.0))
    }

    /// The bound of a product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self(self.0.concatenating_mul(&other.0))
    }

    /// Bits that the number may have.
    pub fn bits(&self) -> u32 {
        self.0.bits_vartime()
    }
}

/// The number of slots and their width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotLayout {
    slots: u32,
    slot_bits: u32,
}

impl SlotLayout {
    /// A layout with this many slots, if they fit under a key of this size: `slots·slot_bits < κ − 1`.
    pub fn new(size: KeySize, slots: u32, slot_bits: u32) -> Result<Self> {
        let fits = slots
            .checked_mul(slot_bits)
            .is_some_and(|total| total < size.bits() - 1);
        if slots == 0 || slot_bits == 0 || !fits {
            return Err(Misuse::SlotsDoNotFit {
                slots,
                slot_bits,
                bits: size.bits(),
            }
            .into());
        }
        Ok(Self { slots, slot_bits })
    }

    /// A layout with as many slots of this width as fit under a key of this size.
    pub fn with_max_slots(size: KeySize, slot_bits: u32) -> Result<Self> {
        let slots = (size.bits() - 2).checked_div(slot_bits).unwrap_or(0);
        Self::new(size, slots, slot_bits)
    }

    /// The number of slots.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// The bits of each slot.
    pub fn slot_bits(&self) -> u32 {
        self.slot_bits
    }

    /// The position of a slot: the power of two that its value is multiplied by.
    pub fn shift_bits(&self, slot: u32) -> u32 {
        self.slot_bits * slot
    }

    /// Packs these values into one plaintext, the first in the lowest slot. Unused slots are zero.
    pub fn pack(&self, values: &[BoxedUint]) -> Result<Plaintext> {
        self.check_count(values.len())?;
        let total = self.slots * self.slot_bits;
        let mut packed = Words::zeros(total.div_ceil(64) as usize);
        for (slot, value) in (0..).zip(values) {
            if !limbs::fits(value.as_words(), self.slot_bits) {
                return Err(Misuse::SlotOverflow {
                    bits: value.bits(),
                    slot_bits: self.slot_bits,
                }
                .into());
            }
            let words = limbs::from_uint(value, self.slot_bits.div_ceil(64) as usize);
            let (first, shift) = (self.shift_bits(slot) / 64, self.shift_bits(slot) % 64);
            for (index, word) in (first as usize..).zip(words.iter()) {
                packed[index] |= word << shift;
                if let Some(next) = packed.get_mut(index + 1) {
                    *next |= (word >> 1) >> (63 - shift);
                }
            }
        }
        Ok(Plaintext::from_words(false, packed))
    }

    /// The values of all slots, the lowest first.
    pub fn unpack(&self, plaintext: &Plaintext) -> Result<Vec<BoxedUint>> {
        let (values, fits) = self.unpack_low(plaintext);
        if !fits {
            return Err(Misuse::SlotOverflow {
                bits: Zeroizing::new(plaintext.magnitude()).bits(),
                slot_bits: self.slot_bits,
            }
            .into());
        }
        Ok(values)
    }

    /// As [`Self::unpack`], ignoring the sign and everything beyond the slots. Also returns whether the plaintext fits,
    /// for callers that must not fail early.
    pub fn unpack_low(&self, plaintext: &Plaintext) -> (Vec<BoxedUint>, bool) {
        let words = plaintext.words();
        let fits = !plaintext.is_negative() & limbs::fits(words, self.slots * self.slot_bits);
        let value = |slot: u32| {
            let mut value = Words::zeros(self.slot_bits.div_ceil(64) as usize);
            let mut left = self.slot_bits;
            for word in value.iter_mut() {
                let start = self.shift_bits(slot) + self.slot_bits - left;
                *word = limbs::bits_at(words, start as usize, left.min(64));
                left = left.saturating_sub(64);
            }
            limbs::to_uint(&value)
        };
        ((0..self.slots).map(value).collect(), fits)
    }

    fn check_count(&self, count: usize) -> Result<()> {
        if count > self.slots as usize {
            return Err(Misuse::Lengths {
                left: count,
                right: self.slots as usize,
            }
            .into());
        }
        Ok(())
    }
}

//! Wire labels and the offset between them.
//!
//! Free XOR (Kolesnikov and Schneider, ICALP 2008): the label for 1 is the label for 0 plus the garbler's offset Δ.
//! The garbler's and the evaluator's labels are different types, so that code cannot confuse them: a party with both
//! labels of a wire knows Δ, and with it all secrets.

use crate::block::Block;
use crate::kernel::AsBlock;
use rand::CryptoRng;
use std::ops::{BitXor, BitXorAssign};
use zeroize::{DefaultIsZeroes, Zeroize};

/// The garbler's secret offset. Its lowest bit is 1, so the two labels of a wire differ in colour. Erased when dropped.
pub struct Delta(Block);

impl Delta {
    /// A fresh offset: 127 random bits.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        Self(Block::new(random_block(rng).value() | 1))
    }

    /// The offset as a block, for masking.
    pub(crate) fn block(&self) -> Block {
        self.0
    }
}

impl Drop for Delta {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// The garbler's part of a wire: the label for 0.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct ZeroLabel(pub(crate) Block);

/// The evaluator's part of a wire: the label of its value, which reveals nothing about that value.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct ActiveLabel(pub(crate) Block);

impl ZeroLabel {
    /// A fresh label.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        Self(random_block(rng))
    }

    /// The label of `bit` on this wire. No branch depends on the bit.
    pub fn of(self, bit: bool, delta: &Delta) -> ActiveLabel {
        ActiveLabel(self.0 ^ (Block::mask(bit) & delta.block()))
    }

    /// The zero label of the wire that carries this wire's value plus `bit`; the evaluator's label stays the same.
    /// No branch depends on the bit.
    pub fn flipped(self, bit: bool, delta: &Delta) -> Self {
        Self(self.of(bit, delta).0)
    }

    /// The colour of the label for 0. Together with the colour of an [`ActiveLabel`] it gives the wire's value, so it
    /// is revealed only for outputs.
    pub fn colour(self) -> bool {
        self.0.low_bit()
    }
}

impl ActiveLabel {
    /// The colour, which is the value plus a bit that only the garbler knows.
    pub fn colour(self) -> bool {
        self.0.low_bit()
    }
}

macro_rules! label_arithmetic {
    ($($label:ident),*) => {$(
        impl BitXor for $label {
            type Output = Self;
            #[inline]
            fn bitxor(self, other: Self) -> Self {
                Self(self.0 ^ other.0)
            }
        }

        impl BitXorAssign for $label {
            #[inline]
            fn bitxor_assign(&mut self, other: Self) {
                self.0 ^= other.0;
            }
        }

        impl AsBlock for $label {
            #[inline]
            fn block(self) -> Block {
                self.0
            }
        }

        impl DefaultIsZeroes for $label {}
    )*};
}

label_arithmetic!(ZeroLabel, ActiveLabel);

/// 128 fresh bits.
pub(crate) fn random_block(rng: &mut impl CryptoRng) -> Block {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    let block = Block::from_bytes(bytes);
    bytes.zeroize();
    block
}

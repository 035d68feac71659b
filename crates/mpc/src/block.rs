//! 128 bits: the size of a wire label, an AES block and an AES key.

use std::ops::{BitAnd, BitXor, BitXorAssign};
use zeroize::DefaultIsZeroes;

/// 128 bits. Blocks may be secret, so they have no `Debug`, and only tests can compare them.
///
/// Two words instead of one `u128`, because compilers keep the former in vector registers.
#[derive(Clone, Copy, Default)]
#[cfg_attr(test, derive(PartialEq, Eq, Debug))]
#[repr(C, align(16))]
pub struct Block([u64; 2]);

/// Bytes of a block on the wire.
pub const BLOCK_BYTES: usize = 16;

impl Block {
    /// All bits zero.
    pub const ZERO: Self = Self([0; 2]);

    /// The block with this value; byte 0 on the wire is the lowest.
    pub const fn new(value: u128) -> Self {
        Self([value as u64, (value >> 64) as u64])
    }

    /// The value that [`Block::new`] takes.
    pub const fn value(self) -> u128 {
        self.0[0] as u128 | (self.0[1] as u128) << 64
    }

    /// The lower and the higher half.
    #[inline]
    pub(crate) const fn words(self) -> [u64; 2] {
        self.0
    }

    /// From the lower and the higher half.
    #[inline]
    pub(crate) const fn from_words(words: [u64; 2]) -> Self {
        Self(words)
    }

    /// Reads the wire form.
    #[inline]
    pub const fn from_bytes(bytes: [u8; BLOCK_BYTES]) -> Self {
        Self::new(u128::from_le_bytes(bytes))
    }

    /// The wire form: little-endian on every platform.
    #[inline]
    pub const fn to_bytes(self) -> [u8; BLOCK_BYTES] {
        self.value().to_le_bytes()
    }

    /// The lowest bit, which carries the colour of a label (point-and-permute).
    pub const fn low_bit(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// All ones when the lowest bit is set, else all zeros. No branch depends on the bit.
    #[inline]
    pub(crate) const fn low_bit_mask(self) -> Self {
        let word = (self.0[0] & 1).wrapping_neg();
        Self([word, word])
    }

    /// All ones for `true`, all zeros for `false`. Hidden from the compiler, which would otherwise turn a loop that
    /// uses the mask into a branch.
    #[inline]
    pub(crate) fn mask(bit: bool) -> Self {
        let word = std::hint::black_box(u64::from(bit).wrapping_neg());
        Self([word, word])
    }

    /// The linear orthomorphism σ(L‖R) = (L⊕R)‖L: both σ and x ↦ σ(x)⊕x are permutations. This keeps a hash of the form
    /// E(σ(x))⊕σ(x) safe when it masks the offset Δ itself (circular correlation robustness).
    #[inline]
    pub(crate) const fn orthomorphism(self) -> Self {
        Self([self.0[1], self.0[0] ^ self.0[1]])
    }
}

impl BitXor for Block {
    type Output = Self;
    #[inline]
    fn bitxor(self, other: Self) -> Self {
        Self([self.0[0] ^ other.0[0], self.0[1] ^ other.0[1]])
    }
}

impl BitXorAssign for Block {
    #[inline]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl BitAnd for Block {
    type Output = Self;
    #[inline]
    fn bitand(self, other: Self) -> Self {
        Self([self.0[0] & other.0[0], self.0[1] & other.0[1]])
    }
}

impl DefaultIsZeroes for Block {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_orthomorphism_mixes_the_halves_as_defined() {
        let (left, right) = (0x0123_4567_89ab_cdef_u64, 0xfedc_ba98_7654_3210_u64);
        let block = Block::new(u128::from(left) << 64 | u128::from(right));
        let expected = u128::from(left ^ right) << 64 | u128::from(left);
        assert_eq!(block.orthomorphism(), Block::new(expected));
    }

    #[test]
    fn the_orthomorphism_and_its_sum_with_the_identity_are_invertible() {
        // Linear maps of 128 bits: invertible when the images of the unit vectors have full rank.
        for plus_identity in [false, true] {
            let mut rows: Vec<u128> = (0..128)
                .map(|bit| {
                    let unit = Block::new(1 << bit);
                    let image = unit.orthomorphism();
                    (if plus_identity { image ^ unit } else { image }).value()
                })
                .collect();
            let mut rank = 0;
            for bit in 0..128 {
                if let Some(at) = (rank..128).find(|&row| rows[row] >> bit & 1 == 1) {
                    rows.swap(rank, at);
                    for row in 0..128 {
                        if row != rank && rows[row] >> bit & 1 == 1 {
                            rows[row] ^= rows[rank];
                        }
                    }
                    rank += 1;
                }
            }
            assert_eq!(rank, 128);
        }
    }

    #[test]
    fn masks_follow_the_bit() {
        assert_eq!(Block::new(6).low_bit_mask(), Block::ZERO);
        assert_eq!(Block::new(7).low_bit_mask(), Block::new(u128::MAX));
        assert_eq!(Block::mask(true), Block::new(u128::MAX));
        assert_eq!(Block::mask(false), Block::ZERO);
        assert_eq!(Block::from_bytes(Block::new(77).to_bytes()), Block::new(77));
    }
}

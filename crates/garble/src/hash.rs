//! The hash that garbling stands on: AES under a key of its own for every half gate.
//!
//! H(x, i) = E(kᵢ, σ(x)) ⊕ σ(x) with kᵢ = s + i, E being AES-128, σ a linear orthomorphism, s a public start that the
//! garbler draws afresh for every session, and i a counter that never repeats. This is the construction of Guo, Katz, Wang, Weng and Yu, "Better
//! concrete security for half-gates garbling (in the multi-instance setting)", CRYPTO 2020.
//!
//! # Bound
//!
//! Garbling is secure when H is a circular correlation robust hash for the offset Δ: nobody tells H(x⊕Δ, i) ⊕ b·Δ from
//! random for x, i, b of his choice. With E an ideal cipher, an attacker who makes p calls to AES, against a session of
//! q half gates, in which no key serves more than μ of them, succeeds with probability at most about
//!
//! > 2·μ·(p + q) / 2¹²⁷
//!
//! (127 bits, as the lowest bit of Δ is 1). Within a session μ = 1, since i counts. The largest session in sight – 2³³ matrix cells
//! of 52 gates, some hundred terabytes of tables – has q < 2⁴⁰: 2⁸⁰ calls to AES succeed with probability 2⁻⁴⁶,
//! and the number of gates does not appear but as q·2⁻¹²⁶ < 2⁻⁸⁶. Over N sessions of one attacker the starts s are
//! random, so μ stays below 4 as long as N·q < 2⁹⁰.
//!
//! A hash with one fixed AES key (the tweaked TMMO of Guo, Katz, Wang and Yu, S&P 2020) loses a factor q instead: about 2·p·q/2¹²⁷, or
//! 2⁻⁷ for the same session and attacker, because every call to AES can be compared with every gate. It is up to twice
//! as fast to compute, but gates are bound by the line – 32 bytes each – long before they are bound by AES, so
//! the better bound is free. A bare π(x)⊕x would be broken at once: for b = 1 a table would give E(x⊕Δ)⊕x, which decrypts to Δ.

use crate::aes_kernel::Kernel;
use crate::block::Block;

/// Hashes blocks under counting tweaks.
#[derive(Clone, Copy)]
pub struct TweakedHash {
    kernel: Kernel,
    start: u128,
}

impl TweakedHash {
    /// A hash whose keys count from `start` on. The start is public, random, and of one use.
    pub fn new(kernel: Kernel, start: Block) -> Self {
        Self {
            kernel,
            start: start.value(),
        }
    }

    /// The key of tweak `i`.
    #[inline]
    pub(crate) fn key(&self, tweak: u64) -> Block {
        Block::new(self.start.wrapping_add(u128::from(tweak)))
    }

    /// H(x, i) for each block; `keys` come from [`TweakedHash::key`], `mapped` is σ of the blocks.
    #[inline]
    pub(crate) fn hash_mapped(&self, keys: &[Block], mapped: &[Block], hashes: &mut [Block]) {
        hashes.copy_from_slice(mapped);
        self.kernel.encrypt_rekeyed(keys, [&mut *hashes]);
        for (hash, mapped) in hashes.iter_mut().zip(mapped) {
            *hash ^= *mapped;
        }
    }

    /// H(x, i) and H(x⊕Δ, i) for each block, given σ of the blocks and of Δ.
    #[inline]
    pub(crate) fn hash_both_mapped(
        &self,
        keys: &[Block],
        mapped: &[Block],
        mapped_delta: Block,
        zeros: &mut [Block],
        ones: &mut [Block],
    ) {
        zeros.copy_from_slice(mapped);
        for (one, mapped) in ones.iter_mut().zip(mapped) {
            *one = *mapped ^ mapped_delta;
        }
        self.kernel.encrypt_rekeyed(keys, [&mut *zeros, &mut *ones]);
        for ((zero, one), mapped) in zeros.iter_mut().zip(ones).zip(mapped) {
            *zero ^= *mapped;
            *one ^= *mapped ^ mapped_delta;
        }
    }

    /// H of one block.
    pub(crate) fn hash(&self, block: Block, tweak: u64) -> Block {
        let mut hash = [Block::ZERO];
        self.hash_mapped(&[self.key(tweak)], &[block.orthomorphism()], &mut hash);
        hash[0]
    }
}

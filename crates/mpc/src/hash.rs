//! The garbling hash: AES under a separate key for every half gate.
//!
//! H(x, i) = E(kᵢ, σ(x)) ⊕ σ(x) with kᵢ = s ⊕ i, where E is AES-128, σ is a linear orthomorphism, s is a public *hash
//! key* that the garbler draws afresh for every session, and i is a counter that never repeats. This is the
//! construction of Guo, Katz, Wang, Weng and Yu, "Better concrete security for half-gates garbling (in the
//! multi-instance setting)", CRYPTO 2020.
//!
//! # Bound
//!
//! Garbling is secure if H is a circular correlation robust hash for the offset Δ: H(x⊕Δ, i) ⊕ b·Δ is
//! indistinguishable from random for x, i, b of the attacker's choice. With E an ideal cipher, an attacker that makes
//! p calls to AES, against a session of q half gates in which no key serves more than μ of them, succeeds with
//! probability at most about
//!
//! > 2·μ·(p + q) / 2¹²⁷
//!
//! (127 bits, as the lowest bit of Δ is 1): a call to AES under one of the keys meets one unknown point, not all of
//! them. The paper proves a bound of this form for the hash in the ideal-cipher model, with terms in μ·p and (μ −
//! 1)·q; the bound above is larger, which leaves room for the step from the hash to garbling. Within
//! a session μ = 1: i counts, and each worker thread has its own bits of i.
//!
//! **The largest session that the limits allow** – 2²⁸ letters on either side, all compared with all, 2⁵⁶ matrix cells
//! of at most 620 AND gates with two half gates each – has q < 2⁶⁷ (the counter of each thread has room for 2⁶⁸). An
//! attacker with 2⁸⁰ calls to AES succeeds with probability below 2⁻⁴⁵, to which the gates themselves contribute 2⁻⁵⁹.
//! No connection can carry such a session: one that runs at a gigabyte per second for a year has q = 2⁵¹. Hash keys of
//! different sessions are random: among 2³⁰ such year-long sessions, with 2⁸¹ keys in all, the probability that any key
//! serves five half gates is 2⁻¹¹³. So μ ≤ 4, and the 2⁸⁰ calls succeed against any of them with probability 2⁻⁴².
//!
//! A hash with one fixed AES key (the tweaked TMMO of Guo, Katz, Wang and Yu, S&P 2020) loses a factor q instead,
//! because every call to AES meets every gate. Its bound is about 2·p·q/2¹²⁷: meaningless for the year-long session and
//! the same attacker (2⁵), and 2⁻⁶ for a session of 2⁴⁰ half gates. It would take about half as many vector
//! instructions. But re-keyed gates already produce 2.5 gigabytes of tables per second and core if the processor has
//! VAES, more than an encrypted connection carries, so the better bound costs little.
//! A bare π(x)⊕x would be broken at once: for b = 1 a table would give E(x⊕Δ)⊕x, which decrypts to Δ.

use crate::block::Block;
use crate::circuit::LANES;
use crate::kernel::{AsBlock, Garbled, Gate, HashedPoints, Kernel, Lanes, Tables};
use crate::worker_thread::WorkerThread;

/// Hashes labels under keys that never repeat.
#[derive(Clone, Copy)]
pub struct TweakedHash {
    kernel: Kernel,
    hash_key: Block,
}

impl TweakedHash {
    /// A hash whose AES keys are `hash_key` plus the tweak. The hash key is public, random, and used once.
    pub fn new(kernel: Kernel, hash_key: Block) -> Self {
        Self { kernel, hash_key }
    }

    /// The hash of a worker thread: no other thread has its keys.
    pub(crate) fn for_thread(&self, thread: WorkerThread) -> Self {
        Self {
            kernel: self.kernel,
            hash_key: self.hash_key ^ Block::new(thread.tweak_base()),
        }
    }

    /// The base key of the gate with this number. The keys of its half gates in all lanes count from it.
    fn gate_key(&self, gate: u64) -> Block {
        self.hash_key ^ Block::new(u128::from(gate) * (2 * LANES) as u128)
    }

    /// Garbles the AND gate with this number.
    #[inline]
    pub(crate) fn garble<L: AsBlock>(
        &self,
        gate: u64,
        a: &[L; LANES],
        b: &[L; LANES],
        delta: Block,
        lanes: usize,
    ) -> Garbled {
        let key = self.gate_key(gate);
        self.kernel.garble(&Gate { key, a, b }, delta, lanes)
    }

    /// Evaluates the AND gate with this number.
    #[inline]
    pub(crate) fn evaluate<L: AsBlock>(
        &self,
        gate: u64,
        a: &[L; LANES],
        b: &[L; LANES],
        tables: &Tables,
        lanes: usize,
    ) -> Lanes {
        let key = self.gate_key(gate);
        self.kernel.evaluate(&Gate { key, a, b }, tables, lanes)
    }

    /// H(x, i) for all blocks, with tweaks that count from `first`.
    pub(crate) fn hash_all(&self, first: u64, blocks: &mut [Block]) {
        const AT_ONCE: usize = 64;
        let mut tweak = first;
        for chunk in blocks.chunks_mut(AT_ONCE) {
            let mut keys = [Block::ZERO; AT_ONCE];
            let mut hashes = [Block::ZERO; AT_ONCE];
            for ((key, hash), block) in keys.iter_mut().zip(&mut hashes).zip(chunk.iter_mut()) {
                *key = self.hash_key ^ Block::new(u128::from(tweak));
                *block = block.orthomorphism();
                *hash = *block;
                tweak = tweak.wrapping_add(1);
            }
            self.kernel
                .encrypt_rekeyed(&keys[..chunk.len()], &mut hashes);
            for (block, hash) in chunk.iter_mut().zip(hashes) {
                *block ^= hash;
            }
        }
    }

    /// The lower halves of H(x ⊕ o, i), for each combination x of `blocks_each` blocks and each multiple o of an
    /// offset, given as σ(o). The hashes of a combination are adjacent. Tweaks count from `first`, one for each
    /// combination.
    pub(crate) fn hash_low_words(
        &self,
        first: u64,
        (blocks, blocks_each): (&[Block], usize),
        multiples: &[Block],
        words: &mut [u64],
    ) {
        let points = HashedPoints {
            hash_key: self.hash_key,
            first,
            blocks,
            blocks_each,
            multiples,
        };
        self.kernel.hash_low_words(&points, words);
    }
}

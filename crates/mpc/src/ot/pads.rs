//! Pads from COTs: 1-out-of-2^m transfers of random words, for m from 1 to 5.
//!
//! A transfer uses m COTs. With v_j, w_j and u_j as the parts of COT number j < m, the sender has Q = Σ Xʲ·v_j and the
//! receiver W = Σ Xʲ·w_j = Q ⊕ r·Δ, in GF(2¹²⁸), where r = Σ u_j·Xʲ is the receiver's random choice. An index z of m
//! bits is the polynomial with these coefficients. Transfer number i has the pads
//!
//! > P_z = H(Q ⊕ z·Δ, i), z = 0, …, 2^m − 1,
//!
//! cut to their lowest 64 bits. The sender computes all of them, the receiver only P_r = H(W, i). Each pad is one hash:
//! sums of the hashes of single COTs would make the pads of a transfer linearly dependent.
//!
//! A receiver that wants index x sends x ⊕ r, and the sender masks message z with the pad z ⊕ (x ⊕ r).
//!
//! # Assumption
//! H is the garbling hash, H(x, i) = E(s ⊕ i, σ(x)) ⊕ σ(x) ([`crate::hash`]). It must be *tweakable correlation robust
//! for the functions Δ ↦ y·Δ*, y ≠ 0 of degree below 5. That is, for a uniform Δ, an oracle that answers (W, y, i) with
//! H(W ⊕ y·Δ, i) is indistinguishable from one that answers with uniform blocks, if each (y, i) is asked once and all
//! queries with the same i have the same W. For y = 1 this is the usual notion. The functions are bijective, as y has
//! an inverse, so y·Δ is as hard to guess as Δ.
//!
//! **It holds in the ideal cipher model.** An attacker with p calls to E or its inverse, against q transfers with
//! distinct tweaks, has an advantage of at most
//!
//! > 2·(2^m − 1)·p / 2¹²⁷ + q·2^(2m−1) / 2¹²⁸.
//!
//! Proof. Compare the attacker's view in the real world with one in which the answers P are uniform and independent of
//! E, and Δ is drawn at the end. Fix i, and so a key k and a block W. Its points σ(W ⊕ y·Δ) are different for different
//! y, as σ is a bijection and Δ ≠ 0 (its lowest bit is 1). Their images in the real world are P ⊕ σ(W ⊕ y·Δ). Consider
//! a view that ends with a Δ for which no point is the input of a call under k, no image is the output of one, and no
//! two images of a transfer are equal. Such a view is at least as probable in the real world: there the images are
//! drawn from the values of E(k, ·) not used yet, of which there are at most 2¹²⁸. So the advantage is at most the
//! probability of all other views, in the ideal world. A call with input x and output c meets a point or an image of y
//! only if Δ = y⁻¹·(W ⊕ σ⁻¹(x)) or Δ = y⁻¹·(W ⊕ σ⁻¹(c ⊕ P)). For each of the 2^m − 1 polynomials y, these are two of
//! the 2¹²⁷ values that Δ may have, and only for the one transfer with the key of the call. Two images of a transfer
//! are equal with probability 2⁻¹²⁸, as the answers are uniform. ∎ (If up to μ transfers share a key, the terms get a
//! factor of about μ.)
//!
//! **Keys do not repeat.** The sender draws s in every stage for the transfers that it sends, so a receiver cannot make
//! two stages share keys, and μ is as in [`crate::hash`]. A malicious receiver can give the transfers that *it* sends
//! the same keys. But it knows their Δ, so what is hashed there counts among its own calls.
//!
//! **So the pads that were not chosen are pseudorandom to the receiver**, even to a malicious one. The checks of
//! [`super::correlated`] leave it with w_j and u_j such that v_j = w_j ⊕ u_j·Δ ⊕ e_j, where e_j depends only on bits of
//! Δ that it has guessed, and so is known to it. With W = Σ Xʲ·(w_j ⊕ e_j) and r = Σ u_j·Xʲ, we have Q = W ⊕ r·Δ and
//! P_z = H(W ⊕ (z ⊕ r)·Δ, i). For z ≠ r the polynomial y = z ⊕ r is not zero, and different z have different y. So the
//! pads z ≠ r of transfer i are the answers to the queries (W, y, i), and all are indistinguishable from uniform blocks
//! given everything that the receiver has. The bound holds for any W of the attacker's choice. m' guessed bits of Δ
//! raise the first term by a factor of 2^m', but such a guess succeeds with probability 2⁻ᵐ' and ends the session
//! otherwise, so the bound does not change. With m = 5, 2⁷⁰ transfers (more than the largest session has) and 2⁸⁰ calls
//! to AES, the advantage is below 2⁻⁴¹. The sender receives only x ⊕ r, in which r is uniform.
//!
//! No branch or address depends on blocks, choices or pads.

use super::cot::check_lengths;
use crate::block::Block;
use crate::error::MpcError;
use crate::field::times_x;
use crate::hash::TweakedHash;
use crate::label::Delta;
use zeroize::{Zeroize, Zeroizing};

/// The most COTs that a transfer may use.
pub const MAX_CHOICE_BITS: usize = 5;

/// How many transfers' bits are packed at a time.
const AT_ONCE: usize = 64;

/// The sender's part: all pads.
pub struct PadSender {
    hash: TweakedHash,
    /// σ(z·Δ) for all indices z.
    multiples: Zeroizing<Vec<Block>>,
    next: u64,
}

/// The receiver's part: the pad of its choice.
pub struct PadReceiver {
    hash: TweakedHash,
    next: u64,
}

impl PadSender {
    /// Both sides start with the same hash and the same number for the first transfer. Transfers are counted from
    /// there. No number may be used twice with the same hash, neither by another sender nor in the other direction.
    pub fn new(hash: TweakedHash, delta: &Delta, first: u64) -> Self {
        let mut multiples = Zeroizing::new(Vec::with_capacity(1 << MAX_CHOICE_BITS));
        multiples.push(Block::ZERO);
        // σ is linear.
        let mut power = delta.block();
        for bit in 0..MAX_CHOICE_BITS {
            for z in 0..1 << bit {
                let sum = multiples[z] ^ power.orthomorphism();
                multiples.push(sum);
            }
            power = times_x(power);
        }
        power.zeroize();
        Self {
            hash,
            multiples,
            next: first,
        }
    }

    /// The pads of transfers with `choice_bits` COTs each: 2^m adjacent pads for each transfer.
    pub fn pads(
        &mut self,
        choice_bits: usize,
        v: &[Block],
        pads: &mut [u64],
    ) -> Result<(), MpcError> {
        let count = check(choice_bits, v, pads.len(), 1 << choice_bits.min(63))?;
        let multiples = &self.multiples[..1 << choice_bits];
        self.hash
            .hash_low_words(self.next, (v, choice_bits), multiples, pads);
        self.next = self.next.wrapping_add(count as u64);
        Ok(())
    }

    /// The lowest bits of the pads of transfers with one COT each, 64 to a word: those for 0 and those for 1.
    pub fn bits(
        &mut self,
        v: &[Block],
        zeros: &mut [u64],
        ones: &mut [u64],
    ) -> Result<(), MpcError> {
        check_lengths(zeros, v)?;
        check_lengths(ones, v)?;
        let mut pads = Zeroizing::new([0; 2 * AT_ONCE]);
        for ((v, zeros), ones) in v.chunks(AT_ONCE).zip(zeros).zip(ones) {
            let pads = &mut pads[..2 * v.len()];
            self.pads(1, v, pads)?;
            let (pairs, _) = pads.as_chunks::<2>();
            [*zeros, *ones] = [0, 1].map(|index| pack(pairs.iter().map(|pair| pair[index])));
        }
        Ok(())
    }
}

impl PadReceiver {
    /// As [`PadSender::new`].
    pub fn new(hash: TweakedHash, first: u64) -> Self {
        Self { hash, next: first }
    }

    /// The pads of the random choices of transfers with `choice_bits` COTs each.
    pub fn pads(
        &mut self,
        choice_bits: usize,
        w: &[Block],
        pads: &mut [u64],
    ) -> Result<(), MpcError> {
        let count = check(choice_bits, w, pads.len(), 1)?;
        self.hash
            .hash_low_words(self.next, (w, choice_bits), &[Block::ZERO], pads);
        self.next = self.next.wrapping_add(count as u64);
        Ok(())
    }

    /// The lowest bits of the pads of transfers with one COT each, 64 to a word.
    pub fn bits(&mut self, w: &[Block], bits: &mut [u64]) -> Result<(), MpcError> {
        check_lengths(bits, w)?;
        let mut pads = Zeroizing::new([0; AT_ONCE]);
        for (w, bits) in w.chunks(AT_ONCE).zip(bits) {
            let pads = &mut pads[..w.len()];
            self.pads(1, w, pads)?;
            *bits = pack(pads.iter().copied());
        }
        Ok(())
    }
}

/// The lowest bits of up to 64 words.
#[inline]
fn pack(words: impl Iterator<Item = u64>) -> u64 {
    words
        .enumerate()
        .fold(0, |bits, (at, word)| bits | (word & 1) << at)
}

/// The number of transfers for these COTs.
fn check(
    choice_bits: usize,
    blocks: &[Block],
    pads: usize,
    pads_each: usize,
) -> Result<usize, MpcError> {
    if !(1..=MAX_CHOICE_BITS).contains(&choice_bits) {
        return Err(MpcError::Misuse("a transfer uses one to five COTs"));
    }
    let count = blocks.len() / choice_bits;
    if count * choice_bits != blocks.len() || count * pads_each != pads {
        return Err(MpcError::Misuse("COTs and pads do not belong together"));
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::ot::ideal::ideal_pair;
    use crate::ot::{CotReceiver, CotSender};
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use veilpath_channel::memory_pair;

    const START: Block = Block::new(0x1234_5678_9abc_def0_0fed_cba9_8765_4321);

    struct Cots {
        delta: Arc<Delta>,
        v: Vec<Block>,
        u: Vec<u64>,
        w: Vec<Block>,
    }

    fn cots(count: usize) -> Cots {
        let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
        let (mut sender, mut receiver) = ideal_pair(Arc::clone(&delta), 4);
        let (mut channel, _peer) = memory_pair();
        let mut v = vec![Block::ZERO; count];
        let (mut u, mut w) = (vec![0; count.div_ceil(64)], v.clone());
        sender.extend(&mut v, &mut channel).unwrap();
        receiver.extend(&mut u, &mut w, &mut channel).unwrap();
        Cots { delta, v, u, w }
    }

    fn bit(u: &[u64], at: usize) -> usize {
        (u[at / 64] >> (at % 64)) as usize & 1
    }

    /// z·Δ, bit by bit.
    fn times(z: usize, delta: Block) -> Block {
        let (mut sum, mut power) = (Block::ZERO, delta);
        for bit in 0..MAX_CHOICE_BITS {
            if z >> bit & 1 == 1 {
                sum ^= power;
            }
            power = times_x(power);
        }
        sum
    }

    #[test]
    fn pads_are_the_defined_hashes_on_every_kernel() {
        for choice_bits in 1..=MAX_CHOICE_BITS {
            for count in [1, 3, 64, 65, 131] {
                let dealt = cots(count * choice_bits);
                let number = 1 << 40;
                for kernel in Kernel::available() {
                    let hash = TweakedHash::new(kernel, START);
                    let mut sender = PadSender::new(hash, &dealt.delta, number);
                    let mut receiver = PadReceiver::new(hash, number);
                    let mut all = vec![0; count << choice_bits];
                    let mut chosen = vec![0; count];
                    // Two calls, to check that numbering continues.
                    let first = count / 2;
                    let (v, w) = (&dealt.v, &dealt.w);
                    for part in [0..first, first..count] {
                        let blocks = part.start * choice_bits..part.end * choice_bits;
                        let pads = &mut all[part.start << choice_bits..part.end << choice_bits];
                        sender.pads(choice_bits, &v[blocks.clone()], pads).unwrap();
                        let pads = &mut chosen[part];
                        receiver.pads(choice_bits, &w[blocks], pads).unwrap();
                    }
                    let mut seen = BTreeSet::new();
                    for transfer in 0..count {
                        let mut sum = Block::ZERO;
                        let mut choice = 0;
                        for j in 0..choice_bits {
                            let at = transfer * choice_bits + j;
                            sum ^= (0..j).fold(v[at], |block, _| times_x(block));
                            choice |= bit(&dealt.u, at) << j;
                        }
                        let pads = &all[transfer << choice_bits..][..1 << choice_bits];
                        for (z, pad) in pads.iter().enumerate() {
                            let point = (sum ^ times(z, dealt.delta.block())).orthomorphism();
                            let mut image = [point];
                            let key = START ^ Block::new(u128::from(number + transfer as u64));
                            Kernel::portable().encrypt_rekeyed(&[key], &mut image);
                            assert_eq!(*pad, (image[0] ^ point).words()[0], "{}", kernel.name());
                            assert!(seen.insert(*pad), "a pad was used twice");
                        }
                        assert_eq!(chosen[transfer], pads[choice]);
                    }
                }
            }
        }
    }

    #[test]
    fn bits_are_those_of_the_pads() {
        for count in [1, 63, 64, 200] {
            let Cots { delta, v, u, w } = cots(count);
            let hash = TweakedHash::new(Kernel::best(), START);
            let mut pads = vec![0; 2 * count];
            let mut sender = PadSender::new(hash, &delta, 9);
            sender.pads(1, &v, &mut pads).unwrap();
            let mut lists = vec![vec![0; count.div_ceil(64)]; 3];
            let [zeros, ones, chosen] = lists.get_disjoint_mut([0, 1, 2]).unwrap();
            let mut sender = PadSender::new(hash, &delta, 9);
            sender.bits(&v, zeros, ones).unwrap();
            let mut receiver = PadReceiver::new(hash, 9);
            receiver.bits(&w, chosen).unwrap();
            for at in 0..count {
                assert_eq!(bit(zeros, at), pads[2 * at] as usize & 1);
                assert_eq!(bit(ones, at), pads[2 * at + 1] as usize & 1);
                let expected = [bit(zeros, at), bit(ones, at)][bit(&u, at)];
                assert_eq!(bit(chosen, at), expected);
            }
            let all: Vec<usize> = (count..zeros.len() * 64).map(|at| bit(zeros, at)).collect();
            assert!(all.iter().all(|bit| *bit == 0), "unused bits");
        }
    }

    #[test]
    fn lists_of_other_lengths_are_refused() {
        let Cots { delta, v, .. } = cots(6);
        let hash = TweakedHash::new(Kernel::best(), START);
        let mut sender = PadSender::new(hash, &delta, 0);
        let mut receiver = PadReceiver::new(hash, 0);
        for (choice_bits, pads) in [(0, 6), (6, 64), (4, 16), (3, 15), (64, 0), (2, 13)] {
            let refused = sender.pads(choice_bits, &v, &mut vec![0; pads]);
            assert!(matches!(refused, Err(MpcError::Misuse(_))));
        }
        for (choice_bits, pads) in [(0, 6), (6, 1), (4, 1), (3, 1), (usize::MAX, 0)] {
            let refused = receiver.pads(choice_bits, &v, &mut vec![0; pads]);
            assert!(matches!(refused, Err(MpcError::Misuse(_))));
        }
        assert!(receiver.bits(&v, &mut [0; 2]).is_err());
        assert!(sender.bits(&v, &mut [0], &mut []).is_err());
    }
}

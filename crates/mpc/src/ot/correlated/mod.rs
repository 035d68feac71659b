//! Any number of correlated transfers with the garbling offset, from 128 base transfers, secure against a malicious
//! party on either side.
//!
//! ```text
//! receiver (bits x)                                              sender (offset Δ)
//!   base transfers, as their sender             ◀───────────▶     … with the bits of Δ as choices
//!   corrections of the seed trees, and a check  ────────────▶     5 kilobytes, once
//!   for every batch of up to 32,640 transfers:
//!     for every chunk: u₀ ⊕ uᵢ of each tree i   ────────────▶     (128/k − 1) bits per transfer
//!     proof of consistency                      ────────────▶     48 bytes, and a block of transfers to mask it
//!   for every transfer: x ⊕ u₀                  ────────────▶     one bit
//!   labels tⱼ = qⱼ ⊕ xⱼ·Δ                                          zero labels qⱼ
//! ```
//!
//! SoftSpoken (Roy, CRYPTO 2022) with the repetition code. The bits of Δ are split into 128/k groups. For a group with
//! the value δ both sides have 2^k seeds, except that the sender lacks number δ (a seed tree punctured at δ). With r_y
//! the stream of seed y, the receiver computes u = ⊕ r_y, and v_b = ⊕ of the r_y with bit b of y set. The sender, which
//! numbers seeds by y ⊕ δ, computes the same sums w_b = v_b ⊕ δ_b·u without the missing one. Once the u of all groups
//! are corrected to that of the first, the columns w_b and v_b are those of labels that differ by u·Δ. The random
//! choices u become the bits x when the sender swaps labels. With k = 1 this is the extension of Ishai, Kilian, Nissim
//! and Petrank (CRYPTO 2003). Traffic falls with k, and AES work grows with 2^k/k: k = 4 sends 4 bytes per transfer for
//! twice the AES of k = 1. The sums are computed as the streams are generated, so streams take no memory.
//!
//! [`super::cot`] returns the random choices u themselves, without the swap.
//!
//! # Malicious senders
//! The sender sees each uᵢ only under the stream of the seed that it does not have, whatever Δ it chose. The sum of the
//! choices in a proof is masked by a block of transfers that has no other use. The sums of the rows follow from it and
//! from what the sender knows. So the sender learns nothing about x. In the base transfers it is the receiver, and they
//! are secure against a malicious one ([`super::base`]).
//!
//! # Malicious receivers
//! A receiver can deviate in three places.
//!
//! - **Trees.** [`seed_check`](self) ends the session unless the sender's leaves are those to which the receiver is
//!   committed.
//! - **Corrections.** Let uᵢ be what tree i was corrected to. For row b of tree i, the sender compares the sum of its
//!   row with that of the receiver's. These are Σχⱼ·qⱼ and Σχⱼ·vⱼ over the blocks of 128 transfers, in GF(2¹²⁸), and
//!   must differ by δ_b·x̃ for the x̃ of the proof. They do for every value of δ if Σχⱼ·uᵢ,ⱼ = x̃, and otherwise only
//!   for the one value of the group's k bits that the receiver assumed. Whatever x̃ is, the trees whose sums are x̃
//!   have the same uᵢ: two different ones have the same sum with probability 2⁻¹²⁸, as the last block in which they
//!   differ has a uniform coefficient that was not known when the difference was made. (The masking block has the
//!   coefficient 1. It is fixed before all coefficients, and a difference in it alone is always seen.) So a batch in
//!   which d trees differ from the others passes only if the receiver guessed k·d bits of Δ, with probability 2⁻ᵏᵈ,
//!   plus at most 2⁻¹²⁸. A receiver that guessed them learns nothing new. (It is one bit less if one of the trees
//!   belongs to the group of the lowest bit of Δ, which is public.) The 2⁻¹²⁸ holds although many pairs of trees could
//!   collide. Let there be m different uᵢ.
//!
//!   1. Two of them collide if their difference sums to 0. Then all differences that are multiples of it sum to 0, too:
//!      together, these are one event.
//!   2. If all differences are multiples of one, there is no other event.
//!   3. Otherwise each event leaves out at least one uᵢ, whose bits must be guessed: if it leaves out j, 4j − 1 bits or
//!      more, since k ≥ 4 and at most one bit is public.
//!   4. At most C(m,2)/C(m−j,2) events leave out j, and the sum of C(m,2)/C(m−j,2)·2^(1−4j) over j is below 1.
//!   5. Two independent events have another factor of 2⁻¹²⁸.
//!
//! - **Swaps.** Whatever bits it sends are a valid choice of some x. They come after the check, which does not cover
//!   them.
//!
//! The coefficients χ come from a hash of the base transfers, the message about the seed trees, and all corrections and
//! proofs of this worker thread so far (Fiat and Shamir; in the paper the sender draws them), so the check needs no
//! round trip. A receiver that computes p hashes to find errors that pass succeeds with probability at most p/2¹²⁸.
//! Each check of a chunk covers the chunks before it: errors made after a coefficient is known do not cancel earlier
//! ones, because the last error has coefficients of its own.
//!
//! What remains is a guess: with probability 2⁻ᵐ all checks pass and the receiver knows m bits of Δ; otherwise the
//! session has ended. In this sense Δ keeps its 127 bits whatever a receiver does: an attack on the garbling hash that
//! succeeds with probability ε against a uniform Δ succeeds with 2⁻ᵐ·(2ᵐ·ε) = ε. This is the leakage under which
//! SoftSpoken proves its transfers; it replaces the lemma of Keller, Orsini and Scholl (CRYPTO 2015), whose proof
//! failed. A new stage has a new Δ, so guesses do not add up over stages or sessions.
//!
//! **A failed check tells the receiver that its guess was wrong**, and nothing else: there is one answer for all trees,
//! or for a batch. The offset about which it learned this is not used again, with one exception: threads share it, and
//! each of them can reject a guess of k bits or more before all have stopped. What they send in the meantime uses an
//! offset of which the receiver can exclude one value in 2ᵏ per thread. That is less than log₂(16/15)·32 ≈ 3 bits with
//! k = 4 and 32 threads, or one bit with the eight threads of the `garbled` engine.
//!
//! **The labels are used directly**, correlated by Δ, and the receiver can choose its t. Anything built on them needs a
//! hash that is circular correlation robust for such labels, with a tweak per use. Garbling uses [`crate::hash`], whose
//! bound holds for labels of the attacker's choice. [`super::pads`] uses the same hash, and [`super::letters`] uses
//! SHA-256 over labels, column and letter.
//!
//! **The check costs** 544 bytes for every batch of up to [`MAX_BATCH`] transfers, and at most 3 % of the CPU time of a
//! comparison over TLS with the smallest circuit, as measured by `cost_tests.rs`. The check of the trees is a part of
//! the start of a stage.
//!
//! Seeds are secret, so the sender's tree is stored by y ⊕ δ from the start: no address depends on Δ.

mod check;
pub mod messages;
mod ready;
mod receiver;
mod scratch;
mod seed_check;
mod sender;
pub(crate) mod tree;

pub use receiver::Receiver;
pub use sender::Sender;

/// k of the module documentation: the levels of a seed tree, and how many bits of Δ share it. Both sides must use the
/// same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLevels(usize);

impl TreeLevels {
    /// The extension of Ishai, Kilian, Nissim and Petrank: 16 bytes per transfer, the least AES work.
    pub const ONE: Self = Self(1);
    /// 8 bytes per transfer, with the same AES work as one.
    pub const TWO: Self = Self(2);
    /// 4 bytes per transfer: the default.
    pub const FOUR: Self = Self(4);
    /// 2 bytes per transfer, for slow connections: eight times the AES work of four.
    pub const EIGHT: Self = Self(8);

    pub(crate) fn count(self) -> usize {
        self.0
    }

    /// How many trees there are.
    fn trees(self) -> usize {
        128 / self.0
    }
}

impl Default for TreeLevels {
    fn default() -> Self {
        Self::FOUR
    }
}

/// Transfers that are computed at a time, so that the rows of a tree fit the L1 cache.
pub const CHUNK: usize = 8192;

/// The most transfers that are checked at a time: with the block that masks the proof, four chunks.
pub const MAX_BATCH: usize = 4 * CHUNK - 128;

#[cfg(test)]
pub(crate) mod attack_tests;
#[cfg(test)]
mod cost_tests;
#[cfg(test)]
mod tests;

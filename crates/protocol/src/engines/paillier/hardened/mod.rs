//! The hardened variant: the paper's protocol with different masks, which hide ratios and ties from the key holder.
//!
//! In the paper, one multiplier hides all candidates of a cell, and the ratios of their differences remain visible. In
//! this variant, the matrix owner draws an order π for each cell and sends in this order:
//!
//! - for every two candidates y_i, y_j with i < j the number `ρ·d + r` with `d = w·(y_i − y_j) + π(i) − π(j)`, each with its own ρ and
//!   its own r from 0 to ρ − 1, where w is the number of candidates and π(i) the place of y_i before they were reordered. d is never
//!   0: of equal candidates, the one with the smaller place counts as the smaller. So a tie looks like any other outcome, and all w!
//!   orders are equally likely whatever the candidates;
//! - every candidate under its own pad, `z_i = y_i + p_i` with p_i longer than any candidate by σ bits.
//!
//! The key holder sees which candidate is the least. The order is random to it, so it learns nothing from that. It
//! replies with E(z_m) of the least one and E(β_i) for all but the last, where β_m = 1 and all others are 0. The matrix
//! owner removes the pad: `M = z_m − p_last + Σ β_i·(p_last − p_i)`. Its exponents are as short as the pads; the
//! paper's unmasking by a⁻¹ mod n, most of the work of a cell, is not needed.
//!
//! # The multipliers
//! ρ is log-uniform over [2^F, 2^(F+R)). From a value v that it sees, the key holder knows that `v/(d+1) < ρ ≤ v/d`
//! (for d above 0), and each such ρ explains v with exactly one r. If ρ were ever small, that interval would contain a
//! few integers or none, and v would determine d: with ρ = 1 it *is* d. But |d| < 2^y, so the interval contains about
//! ρ/d > 2^(F−y) integers. With F = y + σ, the number of integers and the length of the interval differ by a fraction
//! of 2^−σ, and neither multiples nor remainders reveal more. The length itself contributes ∫ dρ/ρ² = 1/v for every d,
//! as long as the interval lies within the range of ρ. So **only the two ends of that range leak**: a v below 2^F·d or
//! above 2^(F+R) rules out differences. A difference falls there with a probability of about y/R, and then narrows d to
//! about an octave. Many views of the same letters add up. The audit measures this leakage.
//!
//! # Statistical distance
//! A pad hides its candidate up to 2^−(σ+1), as a candidate is shorter than 2^y/w. A difference is within 2^−σ of what its
//! interval gives, as above. A set of three candidates has 3 differences and 3 pads, together within 4.5·2^−σ, and one of four
//! has 6 and 4, together within 8·2^−σ; a session of T sets is within T times that. **σ = 43 + ⌈log₂ T⌉ for three and 44 + ⌈log₂ T⌉
//! for four candidates keep a whole session within 1.125·2⁻⁴¹**, apart from the two ends of the range of ρ. (ρ and r are drawn up to
//! 2⁻¹²⁰.) With the randomness of ciphertexts, which is within 0.75·2⁻⁴¹, everything stays below 2⁻⁴⁰.
//!
//! # Slots
//! All slots have S = 255 bits, for any costs: 2, 4, 8, 12 and 16 slots fit below n/2 for keys of 512, 1024, 2048, 3072
//! and 4096 bits, and numbers stay within 256 bits. A cell of three candidates has four slots. One more bit would halve
//! the number of cells per ciphertext. With 170 bits, or three cells per ciphertext of 2048 bits, there would be little
//! more than half as many octaves, and the traffic would shrink by only a twentieth, because most of it is replies.
//! Three padded candidates of y + σ + 2 bits share a slot if y + σ ≤ 83, otherwise two, and then a cell has one more
//! slot. `R = S − 1 − y − F = 254 − 2·y − σ` must be at least 127. For a million cells σ is 63 for three candidates
//! and 64 for four, and costs with y up to 32 or 31 bits can be masked; in the largest session σ is 100 or 101, and y is at most
//! 13, enough for a Levenshtein distance of 2,700 letters.

mod key_holder;
mod matrix_owner;
#[cfg(any(test, feature = "watch"))]
mod steps;

pub(super) use matrix_owner::{CellSecrets, Pads};
#[cfg(test)]
pub(super) use matrix_owner::{below, log_uniform};
#[cfg(any(test, feature = "watch"))]
pub use steps::{HardenedSecrets, HardenedSet, HardenedSteps};

use super::masking::{BatchLayout, excess_bits};
#[cfg(any(test, feature = "watch"))]
use super::watch::HardenedMaskRanges;
use crate::{JobError, ProtocolError};
use crypto_bigint::{BoxedUint, U256};
use veilpath_paillier::{Bound, KeySize, TermShape};

/// S.
const SLOT_BITS: u32 = 255;
/// The least R.
const MIN_OCTAVES: u32 = 127;
/// Padded candidates in a slot, if they fit.
const MAX_IN_SLOT: usize = 3;
/// Padded candidates in a slot, if fewer fit.
const MIN_IN_SLOT: usize = 2;
/// A set with this many candidates counts as this many masks: differences and pads. The power of two keeps σ whole.
const fn masks_per_set(width: usize) -> u64 {
    match width {
        ..4 => 8,
        _ => 16,
    }
}

/// The parameters of the hardened masks: the widths of a cell's numbers and where they are placed, equal on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct HardenedParameters {
    /// Candidates of a cell.
    width: usize,
    /// Bits of a pad, and F: both are σ bits longer than what they hide.
    pad_bits: u32,
    /// Padded candidates in a slot.
    padded_in_slot: usize,
    /// y: the largest number of bits of w·(y_i − y_j) + π(i) − π(j), and of the next integer, which the noise r can
    /// approach.
    difference_bits: u32,
}

impl HardenedParameters {
    /// For cells with `width` candidates from 0 to `largest`, in a session with this many candidate sets.
    pub(super) fn new(
        width: usize,
        largest: u64,
        candidate_sets: u64,
    ) -> Result<Self, ProtocolError> {
        // |d| ≤ w·X + w − 1.
        let width_bound = Bound::at_most(&BoxedUint::from(width as u64));
        let candidate = Bound::at_most(&BoxedUint::from(largest.saturating_add(1)));
        let difference_bits = candidate.times(&width_bound).bits();
        let pad_bits =
            difference_bits + excess_bits(candidate_sets.saturating_mul(masks_per_set(width)));
        let fits = |padded: usize| padded as u32 * (pad_bits + 2) <= SLOT_BITS;
        let padded_in_slot = if fits(MAX_IN_SLOT) {
            MAX_IN_SLOT
        } else {
            MIN_IN_SLOT
        };
        let masked = 1 + difference_bits + pad_bits + MIN_OCTAVES;
        if !fits(padded_in_slot) || masked > SLOT_BITS {
            return Err(ProtocolError::Job(JobError::CostsTooLargeToMask));
        }
        Ok(Self {
            width,
            pad_bits,
            padded_in_slot,
            difference_bits,
        })
    }

    /// F: every multiplier is at least two to this power.
    fn floor_bits(&self) -> u32 {
        self.pad_bits
    }

    /// F + R: every multiplier is less than two to this power.
    fn factor_bits(&self) -> u32 {
        SLOT_BITS - 1 - self.difference_bits
    }

    /// Where a batch's numbers are placed.
    pub(super) fn layout(
        &self,
        size: KeySize,
        packing: bool,
    ) -> Result<BatchLayout, ProtocolError> {
        BatchLayout::of(size, SLOT_BITS, self.slots(), packing)
    }

    /// The ranges of the masks, with which an audit reads the slots.
    #[cfg(any(test, feature = "watch"))]
    pub(super) fn mask_ranges(&self) -> HardenedMaskRanges {
        HardenedMaskRanges {
            floor_bits: self.floor_bits(),
            factor_bits: self.factor_bits(),
            bias_bits: self.bias_bits(),
        }
    }

    /// Ciphertexts in the reply for a cell.
    pub(super) fn reply_ciphertexts(&self) -> usize {
        self.width
    }

    /// The number of differences in a cell.
    fn pairs(&self) -> usize {
        self.width * (self.width - 1) / 2
    }

    fn slots(&self) -> usize {
        self.pairs() + self.width.div_ceil(self.padded_in_slot)
    }

    /// Bits between the padded candidates of a slot.
    fn padded_bits(&self) -> u32 {
        self.pad_bits + 2
    }

    /// Bits of w·ρ.
    fn scalar_bits(&self) -> u32 {
        self.factor_bits() + usize::BITS - self.width.leading_zeros()
    }

    /// −2^bits < ρ·d + r < 2^bits.
    fn bias_bits(&self) -> u32 {
        self.factor_bits() + self.difference_bits
    }

    /// Added to differences, so that no slot is negative.
    fn bias(&self) -> U256 {
        U256::ONE.shl_vartime(self.bias_bits())
    }

    /// The two candidates of each difference, in slot order.
    fn compared(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let width = self.width;
        (0..width).flat_map(move |i| (i + 1..width).map(move |j| (i, j)))
    }

    /// The public shape of one ciphertext's sum.
    fn terms(&self, layout: &BatchLayout, ciphertext: usize) -> Vec<TermShape> {
        let mut terms = Vec::new();
        for (slot, (_, position)) in (0u32..).zip(layout.slot_entries(ciphertext)) {
            let shift_bits = layout.slots().shift_bits(slot);
            if position < self.pairs() {
                terms.push(TermShape {
                    scalar_bits: self.scalar_bits(),
                    shift_bits,
                });
            } else {
                terms.extend((0..self.padded_in_slot as u32).map(|k| TermShape {
                    scalar_bits: 1,
                    shift_bits: shift_bits + k * self.padded_bits(),
                }));
            }
        }
        terms
    }
}

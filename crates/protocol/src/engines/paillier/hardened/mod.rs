//! The hardened variant: the paper's protocol with other masks, which show Alice neither ratios nor ties.
//!
//! In the paper one multiplier hides all candidates of a cell, and the ratios of their differences shine through. Here Bob
//! sends, in an order π that he draws for each cell,
//!
//! - for every two candidates y_i, y_j with i < j the number `ρ·d + r` with `d = w·(y_i − y_j) + π(i) − π(j)`, each with its own ρ and
//!   its own r from 0 to ρ − 1, where w is the number of candidates. d is never 0: of equal candidates the one that comes
//!   first before π is the less, so that a tie looks like any other outcome, and all w! orders are equally likely whatever
//!   the candidates. r keeps everything from being a multiple of ρ. ρ is log-uniform over [1, 2^R): the size of `ρ·d + r`
//!   then has the same distribution for all d, but at the two ends of the range;
//! - every candidate under a pad of its own, `z_i = y_i + p_i` with p_i longer than any candidate by σ bits.
//!
//! Alice sees which candidate is the least, in an order that is random to her, so she learns nothing from that. She answers
//! with E(z_m) of the least one and E(β_i) for all but the last, where β_m = 1 and all others are 0. Bob takes
//! the pad off: `M = z_m − p_last + Σ β_i·(p_last − p_i)`. His exponents are as short as the pads; the paper's unmasking by
//! a⁻¹ mod n, most of the work of a cell, is not needed.
//!
//! What is left to Alice is the size of the differences as far as the ends of ρ's range show it: about log₂ of the largest
//! difference in R of what a size would tell. The audit measures it.

mod alice;
mod bob;

#[cfg(test)]
pub(super) use bob::log_uniform;
pub(super) use bob::{Multipliers, Pads};

use super::masking::{Layout, STATISTICAL_BITS};
use super::watch::HardenedMasks;
use crate::ProtocolError;
use crypto_bigint::{BoxedUint, U256};
use veilpath_paillier::{Bound, KeySize, TermShape};

/// R at least.
const FACTOR_BITS: u32 = 128;
/// Padded candidates in a slot.
const PADDED_IN_SLOT: usize = 3;

/// How long the numbers of a cell are and where they stand, equal on both sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Candidates of a cell.
    width: usize,
    /// R.
    factor_bits: u32,
    /// Bits of a pad.
    pad_bits: u32,
    /// Bits of a difference times w.
    candidate_bits: u32,
    slot_bits: u32,
}

impl Shape {
    /// For cells of so many candidates from 0 to `largest`.
    pub(super) fn new(width: usize, largest: u64) -> Result<Self, ProtocolError> {
        // Room for w·(y_i − y_j) + π(i) − π(j), and for the noise below the next one.
        let width_bound = Bound::at_most(&BoxedUint::from(width as u64));
        let candidate = Bound::at_most(&BoxedUint::from(largest.saturating_add(1)));
        let candidate_bits = candidate.times(&width_bound).bits();
        let pad_bits = candidate_bits + STATISTICAL_BITS;
        let padded = PADDED_IN_SLOT as u32 * (pad_bits + 2);
        let slot_bits = padded.max(FACTOR_BITS + candidate_bits + 1);
        if slot_bits > U256::BITS {
            return Err(ProtocolError::Job("the costs are too large to be masked"));
        }
        Ok(Self {
            width,
            // What the pads leave free makes the multipliers longer.
            factor_bits: slot_bits - candidate_bits - 1,
            pad_bits,
            candidate_bits,
            slot_bits,
        })
    }

    /// Where the numbers of a batch are.
    pub(super) fn layout(&self, size: KeySize, packing: bool) -> Result<Layout, ProtocolError> {
        Layout::of(size, self.slot_bits, self.slots(), packing)
    }

    /// What an audit needs to read the slots.
    pub(super) fn masks(&self) -> HardenedMasks {
        HardenedMasks {
            factor_bits: self.factor_bits,
            bias_bits: self.factor_bits + self.candidate_bits,
        }
    }

    /// Ciphertexts in the answer for a cell.
    pub(super) fn replies(&self) -> usize {
        self.width
    }

    /// Differences of a cell.
    fn pairs(&self) -> usize {
        self.width * (self.width - 1) / 2
    }

    fn slots(&self) -> usize {
        self.pairs() + self.width.div_ceil(PADDED_IN_SLOT)
    }

    /// Bits between the padded candidates of a slot.
    fn padded_bits(&self) -> u32 {
        self.pad_bits + 2
    }

    /// Bits of w·ρ.
    fn scalar_bits(&self) -> u32 {
        self.factor_bits + usize::BITS - self.width.leading_zeros()
    }

    /// Added to differences, so that no slot is negative.
    fn bias(&self) -> U256 {
        U256::ONE.shl_vartime(self.factor_bits + self.candidate_bits)
    }

    /// The candidates of each difference, in the order of the slots.
    fn compared(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let width = self.width;
        (0..width).flat_map(move |i| (i + 1..width).map(move |j| (i, j)))
    }

    /// The public shape of one ciphertext's sum.
    fn terms(&self, layout: &Layout, ciphertext: usize) -> Vec<TermShape> {
        let mut terms = Vec::new();
        for (slot, (_, place)) in (0u32..).zip(layout.places(ciphertext)) {
            let shift_bits = layout.slots().shift_bits(slot);
            if place < self.pairs() {
                terms.push(TermShape {
                    scalar_bits: self.scalar_bits(),
                    shift_bits,
                });
            } else {
                terms.extend((0..PADDED_IN_SLOT as u32).map(|k| TermShape {
                    scalar_bits: 1,
                    shift_bits: shift_bits + k * self.padded_bits(),
                }));
            }
        }
        terms
    }
}

//! The arithmetic of the paper's steps 2 to 4 and 6: masks, their ranges, and the slots of masked values in
//! ciphertexts.
//!
//! With T = Σ xₗ, each option of step 2 and the affine transformation of step 3 together are one linear form,
//!
//! ```text
//! option 1:  x″ = a·x + b         a = ρ₁·ρ₂        b = ρ₂·δ₁ + δ₂
//! option 2:  x″ = a·x − ρ₂·T + b  a = (ρ₁+1)·ρ₂
//! ```
//!
//! so with t = 0 or ρ₂ both are `a·x − t·T + b`, and step 6 is `x = (x″ + t·T − b) / a`. The paper's step 6 writes an
//! inverse where this sum has to be *added*; its appendix writes ⊕ρ₂ for ⊗ρ₂ and omits ρ₁ in option 1.
//!
//! # Ranges
//! Exactness must not depend on luck, so ranges follow from the largest candidate X of `bx` bits: δ₁ has exactly
//! r₁+bx+2+σ bits, so that ρ₁·x − (x₂+x₃) + δ₁ is positive; δ₂ has r₂ bits more. The masked value then has at most
//! r₁+r₂+bx+σ+3 bits, and all slots of a ciphertext together stay below n/2.
//!
//! # Statistical distance
//! The masks hide the size of the candidates, not their differences (see the engine's module documentation). Let two sets of
//! candidates have the same differences. Under the same ρ₁, ρ₂, δ₁ and option, their masked values differ by the same
//! number, which is below 2^(r₁+r₂+bx+1). δ₂ is uniform over 2^(r₂+r₁+bx+2+σ) numbers, so the two views are within 2^−(σ+1)
//! of each other. A session has S candidate sets, and distances add up, so **σ = 40 + ⌈log₂ S⌉: all sets of a session
//! together are within 2⁻⁴¹**, whatever its size. Both sides know S from the lengths. The largest session (2²⁸ letters on
//! each side, so at most 2⁵⁶ cells and 2⁵⁷ sets) has σ = 97 and values of bx + 164 bits, which fit every key.
//!
//! r₁ and r₂ do not matter here. A product ρ₁·ρ₂ of any length hides the size of the differences only roughly, because
//! a uniform number is most likely close to the end of its range. With 32 bits each, as many cells fit into a
//! ciphertext as with 40 bits and σ = 40.

use super::order::{Order, permutation};
use crate::{JobError, ProtocolError};
use crypto_bigint::{BoxedUint, U256};
use rand::{CryptoRng, RngExt};
use veilpath_paillier::{Bound, KeySize, Plaintext, Scalar, SlotLayout, TermShape};
use zeroize::Zeroizing;

const RHO_1_BITS: u32 = 32;
const RHO_2_BITS: u32 = 32;
/// Additive masks hide values up to a statistical distance of 2^−`STATISTICAL_BITS`, for a whole session.
const STATISTICAL_BITS: u32 = 40;

/// The public bit length of `a`.
pub(super) const FACTOR_BITS: u32 = RHO_1_BITS + RHO_2_BITS;
/// The public bit length of `t`.
pub(super) const SUM_FACTOR_BITS: u32 = RHO_2_BITS;

/// σ: by how many bits a mask is longer than what it hides, in a session with this many masks.
pub(super) fn excess_bits(masks: u64) -> u32 {
    let log = u64::BITS - masks.max(1).saturating_sub(1).leading_zeros();
    STATISTICAL_BITS + log
}

/// The bit lengths of the random numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ranges {
    delta_1_bits: u32,
    delta_2_bits: u32,
    value_bits: u32,
}

impl Ranges {
    /// The ranges for candidates from 0 to `largest`, in a session with this many candidate sets.
    pub(super) fn new(largest: u64, candidate_sets: u64) -> Result<Self, ProtocolError> {
        let candidate = Bound::at_most(&BoxedUint::from(largest));
        let delta_1_bits = RHO_1_BITS + candidate.bits() + 2 + excess_bits(candidate_sets);
        let delta_2_bits = RHO_2_BITS + delta_1_bits;
        let one = Bound::of_bits(1);
        let first = Bound::of_bits(RHO_1_BITS).plus(&one).times(&candidate);
        let masked = first
            .plus(&Bound::of_bits(delta_1_bits))
            .times(&Bound::of_bits(RHO_2_BITS))
            .plus(&Bound::of_bits(delta_2_bits));
        if masked.bits() > U256::BITS {
            return Err(ProtocolError::Job(JobError::CostsTooLargeToMask));
        }
        Ok(Self {
            delta_1_bits,
            delta_2_bits,
            value_bits: masked.bits(),
        })
    }

    /// L: the largest bit length of a masked value.
    pub(super) fn value_bits(&self) -> u32 {
        self.value_bits
    }
}

/// The secrets of one cell: the numbers in `x″ = a·x − t·T + b`, and the order in which the values are sent.
pub(super) struct Mask {
    pub(super) a: Scalar,
    pub(super) t: Scalar,
    b: Zeroizing<U256>,
    pub(super) order: Order,
}

/// The random numbers of one cell, as the paper names them.
pub(super) struct MaskSecrets {
    pub(super) rho_1: Zeroizing<u64>,
    pub(super) rho_2: Zeroizing<u64>,
    pub(super) delta_1: Zeroizing<U256>,
    pub(super) delta_2: Zeroizing<U256>,
    /// 1 for option 2 of step 2, else 0. An integer, so that nothing branches on it.
    pub(super) option: Zeroizing<u64>,
}

impl MaskSecrets {
    /// Draws ρ₁, ρ₂, δ₁, δ₂ and the option of step 2. ρ₁, ρ₁+1 and ρ₂ have inverses modulo n: no honest key has such
    /// small factors, and a dishonest one is detected when the inverse is computed.
    pub(super) fn draw<R: CryptoRng + ?Sized>(ranges: &Ranges, rng: &mut R) -> Self {
        let mut delta_1 = random_bits(ranges.delta_1_bits, rng);
        // The top bit keeps every masked value positive.
        *delta_1 |= U256::ONE.shl_vartime(ranges.delta_1_bits - 1);
        Self {
            rho_1: Zeroizing::new(rng.random_range(1..1u64 << RHO_1_BITS)),
            rho_2: Zeroizing::new(rng.random_range(1..1u64 << RHO_2_BITS)),
            delta_1,
            delta_2: random_bits(ranges.delta_2_bits, rng),
            option: Zeroizing::new(u64::from(rng.random::<bool>())),
        }
    }
}

impl Mask {
    /// Steps 2 to 4: draws the mask of one cell with `width` candidates, and the permutation π.
    pub(super) fn draw<R: CryptoRng + ?Sized>(
        ranges: &Ranges,
        width: usize,
        rng: &mut R,
    ) -> Result<Self, ProtocolError> {
        Self::new(&MaskSecrets::draw(ranges, rng), permutation(width, rng))
    }

    /// The linear form of these numbers.
    pub(super) fn new(numbers: &MaskSecrets, order: Order) -> Result<Self, ProtocolError> {
        let (rho_1, rho_2, option) = (&*numbers.rho_1, &*numbers.rho_2, &*numbers.option);
        let a = Zeroizing::new(BoxedUint::from(
            u128::from(*rho_2) * u128::from(rho_1 + option),
        ));
        let t = Zeroizing::new(BoxedUint::from(rho_2 * option));
        let factor = U256::from_u64(*rho_2);
        let scaled = Zeroizing::new(numbers.delta_1.wrapping_mul(&factor));
        Ok(Self {
            a: Scalar::new(&a, FACTOR_BITS)?,
            t: Scalar::new(&t, SUM_FACTOR_BITS)?,
            b: Zeroizing::new(scaled.wrapping_add(&numbers.delta_2)),
            order,
        })
    }

    /// `b`, to be added to a slot.
    pub(super) fn offset(&self) -> BoxedUint {
        BoxedUint::from(&*self.b)
    }

    /// `−b`, for step 6.
    pub(super) fn minus_offset(&self) -> Plaintext {
        Plaintext::from_sign_and_magnitude(true, &Zeroizing::new(self.offset()))
    }
}

/// A uniform number below `2^bits`.
pub(super) fn random_bits<R: CryptoRng + ?Sized>(bits: u32, rng: &mut R) -> Zeroizing<U256> {
    let mut bytes = Zeroizing::new([0; U256::BYTES]);
    rng.fill_bytes(&mut *bytes);
    Zeroizing::new(U256::from_le_slice(&*bytes).shr_vartime(U256::BITS - bits))
}

/// Where a batch's masked values are placed: `cells` cells share a group of `ciphertexts` ciphertexts.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchLayout {
    slots: SlotLayout,
    width: usize,
    pub(super) cells: usize,
    pub(super) ciphertexts: usize,
}

impl BatchLayout {
    /// Packs as many whole cells into a ciphertext as fit. If none fits, or without packing, a cell takes several
    /// ciphertexts.
    pub(super) fn new(
        size: KeySize,
        ranges: &Ranges,
        width: usize,
        packing: bool,
    ) -> Result<Self, ProtocolError> {
        Self::of(size, ranges.value_bits(), width, packing)
    }

    /// The same for cells of `width` slots of this many bits.
    pub(super) fn of(
        size: KeySize,
        bits: u32,
        width: usize,
        packing: bool,
    ) -> Result<Self, ProtocolError> {
        let refused = || ProtocolError::DoesNotFit {
            needed: bits,
            key_bits: size.bits(),
        };
        let widest = SlotLayout::with_max_slots(size, bits).map_err(|_| refused())?;
        let slots = if packing { widest.slots() as usize } else { 1 };
        let cells = (slots / width).max(1);
        let used = slots.min(cells * width);
        let used_slots = u32::try_from(used).map_err(|_| refused())?;
        Ok(Self {
            slots: SlotLayout::new(size, used_slots, bits).map_err(|_| refused())?,
            width,
            cells,
            ciphertexts: (cells * width).div_ceil(used),
        })
    }

    /// Slots of each ciphertext.
    pub(super) fn slots(&self) -> &SlotLayout {
        &self.slots
    }

    /// The number of slots of a cell.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// The number of ciphertexts for this many cells.
    pub(super) fn ciphertexts_for(&self, cells: usize) -> usize {
        cells.div_ceil(self.cells) * self.ciphertexts
    }

    /// The slots of one ciphertext of a group: for each, the cell in the group and the position in its order.
    pub(super) fn slot_entries(&self, ciphertext: usize) -> impl Iterator<Item = (usize, usize)> {
        let slots = self.slots.slots() as usize;
        let (start, all, width) = (ciphertext * slots, self.cells * self.width, self.width);
        (start..(start + slots).min(all)).map(move |at| (at / width, at % width))
    }

    /// The public shape of one ciphertext's sum: in each slot a candidate to the power a, and the precomputed T to the
    /// power −t.
    pub(super) fn shape(&self, ciphertext: usize) -> Vec<TermShape> {
        let count = u32::try_from(self.slot_entries(ciphertext).count()).unwrap_or(0);
        let term = |slot, scalar_bits| TermShape {
            scalar_bits,
            shift_bits: self.slots.shift_bits(slot),
        };
        (0..count)
            .flat_map(|slot| [term(slot, FACTOR_BITS), term(slot, 1)])
            .collect()
    }
}

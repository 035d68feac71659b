//! Eight residues at a time with AVX-512 IFMA: one residue per 64-bit lane, radix 2^52.
//!
//! `VPMADD52LUQ`/`VPMADD52HUQ` multiply eight pairs of 52-bit limbs and add one half of each product to a 64-bit
//! accumulator, so twelve bits of head-room absorb the carries of a whole column. One such instruction retires per
//! cycle on current hardware, and this code is arranged to keep that unit busy. It computes four rows of a product in
//! one sweep, so that a loaded limb feeds eight multiplications. It reduces both digits together, so that one hides the
//! latency of the other.
//!
//! With `H` limbs per digit a product costs 10·H² and a squaring 7·H² of these instructions (see [`super`]).
// The one place with unsafe code: aligned vector loads and stores, prefetching, and the call from ordinary code
// into functions compiled for AVX-512, which is sound only after the run-time check in `Ifma::new`.
#![allow(unsafe_code)]

mod product;
mod reduce;
mod select;

use core::arch::x86_64::{
    __m512i, _MM_HINT_T1, _mm_prefetch, _mm512_load_si512, _mm512_store_si512,
};

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::kernel::{BatchKernel, Digits};
use super::limbs;
use super::memory::{Buffer, Words};
use super::residue::Residue;

const LANES: usize = 8;
const RADIX_BITS: u32 = 52;
const LIMB_MASK: u64 = (1 << RADIX_BITS) - 1;
/// Bits by which the Montgomery radix must exceed the modulus so that no product needs a final subtraction:
/// with R ≥ 16·m both digits of every product stay below 1.2·m.
const SPARE_BITS: u32 = 4;

/// Stands for a number of limbs that is known only at run time.
const ANY: usize = 0;

/// A digit whose length is known at compile time, unless it is [`ANY`].
#[inline]
fn of_length<const H: usize>(digit: &[Lanes]) -> &[Lanes] {
    if H == ANY { digit } else { &digit[..H] }
}

/// One limb of eight residues.
#[derive(Clone, Copy, Zeroize)]
#[repr(C, align(64))]
pub(super) struct Lanes([u64; LANES]);

impl Lanes {
    pub(super) const ZERO: Self = Self([0; LANES]);

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn get(&self) -> __m512i {
        // SAFETY: `self` is a valid reference to 64 bytes aligned to 64.
        unsafe { _mm512_load_si512(self.0.as_ptr().cast()) }
    }

    #[target_feature(enable = "avx512f,avx512ifma")]
    #[inline]
    fn set(&mut self, value: __m512i) {
        // SAFETY: `self` is a valid exclusive reference to 64 bytes aligned to 64.
        unsafe { _mm512_store_si512(self.0.as_mut_ptr().cast(), value) }
    }

    /// Prefetches a cache line that will be read one product later.
    #[inline]
    fn prefetch(&self) {
        // SAFETY: prefetching affects only the cache, and the reference is valid anyway.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(self.0.as_ptr().cast()) }
    }
}

/// Eight residues: `H` limbs of the low digits, then `H` limbs of the high digits.
pub(crate) struct Element(Buffer<Lanes>);

/// Column accumulators of the two digits of a product.
pub(crate) struct Scratch {
    low: Buffer<Lanes>,
    high: Buffer<Lanes>,
}

/// Tables that all lanes share, laid out so that one permutation looks up eight lanes at once:
/// window, then limb, then entry.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct SharedTables {
    entries: Vec<Lanes>,
    /// Vectors that hold the entries of one limb of one window.
    vectors_per_limb: usize,
}

/// Arithmetic modulo `m²` on eight lanes.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Ifma {
    limbs: usize,
    /// The modulus `m` in every lane.
    modulus: Vec<Lanes>,
    /// The modulus in radix 2^64, to make results canonical.
    modulus_words: Vec<u64>,
    /// `−m⁻¹ mod 2^52`.
    negated_inverse: u64,
    /// `(1 − R) mod m`: turns the complement of the low quotient into its negative.
    complement_offset: Vec<Lanes>,
    /// `R² mod m²`.
    radix_squared: Vec<Lanes>,
    /// 1, outside and inside the Montgomery domain.
    plain_one: Vec<Lanes>,
    montgomery_one: Vec<Lanes>,
}

impl Ifma {
    /// Whether this CPU has the instructions.
    pub(crate) fn is_available() -> bool {
        std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512ifma")
    }

    /// `None` on a CPU without the instructions.
    pub(crate) fn new(modulus: &[u64]) -> Option<Self> {
        if !Self::is_available() {
            return None;
        }
        let bits = limbs::bit_length_vartime(modulus) + SPARE_BITS;
        let limb_count = bits.div_ceil(RADIX_BITS) as usize;
        let radix_bits = RADIX_BITS * u32::try_from(limb_count).ok()?;
        let radix = limbs::MontgomeryConstants::new(modulus, radix_bits)?;
        let spread = |words: &[u64]| -> Vec<Lanes> {
            to_radix_52(words, limb_count)
                .map(|limb| Lanes([limb; LANES]))
                .collect()
        };
        let spread_residue = |residue: &Residue| -> Vec<Lanes> {
            let mut digits = spread(residue.low());
            digits.extend(spread(residue.high()));
            digits
        };
        Some(Self {
            limbs: limb_count,
            modulus: spread(modulus),
            modulus_words: modulus.to_vec(),
            negated_inverse: limbs::negated_inverse_of_odd(modulus[0]) & LIMB_MASK,
            complement_offset: spread(&radix.one_minus_radix),
            radix_squared: spread_residue(&radix.radix_squared),
            plain_one: spread_residue(&Residue::one(modulus.len())),
            montgomery_one: spread_residue(&radix.radix),
        })
    }
}

impl BatchKernel for Ifma {
    type Element = Element;
    type Scratch = Scratch;
    type SharedTables = SharedTables;
    const LANES: usize = LANES;

    fn look_up_cost(&self) -> u32 {
        // Measured. Tables are read from the L2 cache, and their size grows more slowly than the work of a product.
        450 / u32::try_from(self.limbs).unwrap_or(u32::MAX)
    }

    fn scratch(&self) -> Scratch {
        Scratch {
            low: Buffer::zeros(2 * self.limbs),
            high: Buffer::zeros(2 * self.limbs),
        }
    }

    fn one(&self) -> Element {
        Element(Buffer::copy(&self.montgomery_one))
    }

    fn load(&self, residues: &[&Residue]) -> Element {
        let mut element = Element(Buffer::copy(&self.plain_one));
        let (low, high) = element.0.split_at_mut(self.limbs);
        // Limb by limb, because eight lanes share a cache line.
        for (index, (low, high)) in low.iter_mut().zip(high).enumerate() {
            let start = index * RADIX_BITS as usize;
            let lanes = low.0.iter_mut().zip(&mut high.0);
            for ((low, high), residue) in lanes.zip(residues) {
                *low = limbs::bits_at(residue.low(), start, RADIX_BITS);
                *high = limbs::bits_at(residue.high(), start, RADIX_BITS);
            }
        }
        element
    }

    fn store(&self, element: &Element, count: usize) -> Vec<Residue> {
        let (low, high) = element.0.split_at(self.limbs);
        let words = self.modulus_words.len();
        (0..count.min(LANES))
            .map(|lane| {
                // Both digits in one allocation, with a spare word behind each while it may exceed the modulus.
                let mut digits = Words::zeros(2 * words + 1);
                from_radix_52(low.iter().map(|l| l.0[lane]), &mut digits[..=words]);
                let excess = limbs::subtract_once(&mut digits[..=words], &self.modulus_words);
                from_radix_52(high.iter().map(|l| l.0[lane]), &mut digits[words..]);
                Residue::from_loose_high_digit(digits, excess, &self.modulus_words)
            })
            .collect()
    }

    fn enter_montgomery(&self, element: &mut Element, scratch: &mut Scratch) {
        // SAFETY: an `Ifma` exists only if `new` detected the instructions.
        unsafe { product::multiply(self, &mut element.0, &self.radix_squared, scratch) }
    }

    fn leave_montgomery(&self, element: &mut Element, scratch: &mut Scratch) {
        // SAFETY: an `Ifma` exists only if `new` detected the instructions.
        unsafe { product::multiply(self, &mut element.0, &self.plain_one, scratch) }
    }

    fn multiply(&self, element: &mut Element, factor: &Element, scratch: &mut Scratch) {
        // SAFETY: an `Ifma` exists only if `new` detected the instructions.
        unsafe { product::multiply(self, &mut element.0, &factor.0, scratch) }
    }

    fn square(&self, element: &mut Element, scratch: &mut Scratch) {
        // SAFETY: an `Ifma` exists only if `new` detected the instructions.
        unsafe { product::square(self, &mut element.0, scratch) }
    }

    fn copy(&self, element: &Element) -> Element {
        Element(Buffer::copy(&element.0))
    }

    fn select(&self, table: &[Element], digits: &Digits, out: &mut Element) {
        // SAFETY: an `Ifma` exists only if `new` detected the instructions.
        unsafe { select::select(table, &Lanes(*digits), &mut out.0) }
    }

    fn new_shared_tables(&self, windows: usize, entries: usize) -> SharedTables {
        let vectors_per_limb = entries.div_ceil(2 * LANES) * 2;
        SharedTables {
            entries: vec![Lanes::ZERO; windows * 2 * self.limbs * vectors_per_limb],
            vectors_per_limb,
        }
    }

    fn set_shared(
        &self,
        tables: &mut SharedTables,
        first_window: usize,
        entry: usize,
        element: &Element,
    ) {
        let (vectors, limbs) = (tables.vectors_per_limb, 2 * self.limbs);
        let windows = tables.entries.len() / (vectors * limbs);
        for lane in 0..LANES.min(windows.saturating_sub(first_window)) {
            let window =
                &mut tables.entries[(first_window + lane) * limbs * vectors..][..limbs * vectors];
            for (slots, limb) in window.chunks_exact_mut(vectors).zip(element.0.iter()) {
                slots[entry / LANES].0[entry % LANES] = limb.0[lane];
            }
        }
    }

    fn select_shared(
        &self,
        tables: &SharedTables,
        window: usize,
        digits: &Digits,
        out: &mut Element,
    ) {
        let stride = 2 * self.limbs * tables.vectors_per_limb;
        let (table, later) = tables.entries[window * stride..].split_at(stride);
        let (vectors, digits) = (tables.vectors_per_limb, Lanes(*digits));
        // SAFETY: an `Ifma` exists only if `new` detected the instructions.
        unsafe { select::select_shared(table, later, vectors, &digits, &mut out.0) }
    }
}

/// The words of a number as `count` limbs of 52 bits.
fn to_radix_52(words: &[u64], count: usize) -> impl Iterator<Item = u64> + '_ {
    (0..count).map(move |limb| limbs::bits_at(words, limb * RADIX_BITS as usize, RADIX_BITS))
}

/// The inverse of [`to_radix_52`], into memory that holds zeros.
fn from_radix_52(limbs: impl Iterator<Item = u64>, out: &mut [u64]) {
    for (index, limb) in limbs.enumerate() {
        let (word, shift) = (index * 52 / 64, index * 52 % 64);
        if word < out.len() {
            out[word] |= limb << shift;
        }
        if shift > 12 && word + 1 < out.len() {
            out[word + 1] |= limb >> (64 - shift);
        }
    }
}

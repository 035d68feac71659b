//! Eight residues at a time with AVX-512 IFMA: one residue per 64-bit lane, radix 2^52.
//!
//! `VPMADD52LUQ`/`VPMADD52HUQ` multiply eight pairs of 52-bit limbs and add one half of each product
//! to a 64-bit accumulator, so twelve bits of head-room swallow the carries of a whole column. One such
//! instruction retires per cycle on current hardware; everything here is arranged to keep that one
//! unit busy: four rows of a product are taken in one sweep, so that a loaded limb feeds eight multiplications, and
//! the reductions of both digits advance together, so that one hides the latency of the other.
//!
//! With `H` limbs per digit a product costs 10·H² and a squaring 7·H² of these instructions (see [`super`]).
// The one place with unsafe code: aligned vector loads and stores, and the call from ordinary code
// into functions compiled for AVX-512, which is sound only after the run-time check in `Ifma::new`.
#![allow(unsafe_code)]

use core::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_load_si512,
    _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_mask_mov_epi64, _mm512_or_si512, _mm512_permutex2var_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64,
    _mm512_store_si512, _mm512_sub_epi64,
};

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::kernel::{BatchKernel, Digits};
use super::limbs;
use super::residue::Residue;

const LANES: usize = 8;
const RADIX_BITS: u32 = 52;
const LIMB_MASK: u64 = (1 << RADIX_BITS) - 1;
/// Bits by which the Montgomery radix must exceed the modulus so that no product needs a final subtraction:
/// with R ≥ 16·m both digits of every product stay below 1.2·m.
const SPARE_BITS: u32 = 4;

/// One limb of eight residues.
#[derive(Clone, Copy, Zeroize)]
#[repr(C, align(64))]
struct Lanes([u64; LANES]);

impl Lanes {
    const ZERO: Self = Self([0; LANES]);

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
}

/// Eight residues: `H` limbs of the low digits, then `H` limbs of the high digits.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Element(Vec<Lanes>);

/// Column accumulators of the two digits of a product.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Scratch {
    low: Vec<Lanes>,
    high: Vec<Lanes>,
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
            to_radix_52(words, limb_count).map(|limb| Lanes([limb; LANES])).collect()
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

    fn scratch(&self) -> Scratch {
        Scratch { low: vec![Lanes::ZERO; 2 * self.limbs], high: vec![Lanes::ZERO; 2 * self.limbs] }
    }

    fn one(&self) -> Element {
        Element(self.montgomery_one.clone())
    }

    fn load(&self, residues: &[&Residue]) -> Element {
        let mut element = Element(self.plain_one.clone());
        for (lane, residue) in residues.iter().enumerate().take(LANES) {
            let (low, high) = element.0.split_at_mut(self.limbs);
            for (slot, limb) in low.iter_mut().zip(to_radix_52(residue.low(), self.limbs)) {
                slot.0[lane] = limb;
            }
            for (slot, limb) in high.iter_mut().zip(to_radix_52(residue.high(), self.limbs)) {
                slot.0[lane] = limb;
            }
        }
        element
    }

    fn store(&self, element: &Element, count: usize) -> Vec<Residue> {
        let (low, high) = element.0.split_at(self.limbs);
        let words = self.modulus_words.len();
        let digit = |limbs: &[Lanes], lane: usize| from_radix_52(limbs.iter().map(|l| l.0[lane]), words);
        (0..count.min(LANES))
            .map(|lane| Residue::from_loose_digits(digit(low, lane), digit(high, lane), &self.modulus_words))
            .collect()
    }

    fn enter_montgomery(&self, element: &mut Element, scratch: &mut Scratch) {
        // SAFETY: an `Ifma` exists only where `new` found the instructions.
        unsafe { multiply(self, &mut element.0, &self.radix_squared, scratch) }
    }

    fn leave_montgomery(&self, element: &mut Element, scratch: &mut Scratch) {
        // SAFETY: an `Ifma` exists only where `new` found the instructions.
        unsafe { multiply(self, &mut element.0, &self.plain_one, scratch) }
    }

    fn multiply(&self, element: &mut Element, factor: &Element, scratch: &mut Scratch) {
        // SAFETY: an `Ifma` exists only where `new` found the instructions.
        unsafe { multiply(self, &mut element.0, &factor.0, scratch) }
    }

    fn square(&self, element: &mut Element, scratch: &mut Scratch) {
        // SAFETY: an `Ifma` exists only where `new` found the instructions.
        unsafe { square(self, &mut element.0, scratch) }
    }

    fn copy(&self, element: &Element) -> Element {
        Element(element.0.clone())
    }

    fn select(&self, table: &[Element], digits: &Digits, out: &mut Element) {
        // SAFETY: an `Ifma` exists only where `new` found the instructions.
        unsafe { select(table, &Lanes(*digits), &mut out.0) }
    }

    fn new_shared_tables(&self, windows: usize, entries: usize) -> SharedTables {
        let vectors_per_limb = entries.div_ceil(2 * LANES) * 2;
        SharedTables { entries: vec![Lanes::ZERO; windows * 2 * self.limbs * vectors_per_limb], vectors_per_limb }
    }

    fn set_shared(&self, tables: &mut SharedTables, first_window: usize, entry: usize, element: &Element) {
        let (vectors, limbs) = (tables.vectors_per_limb, 2 * self.limbs);
        let windows = tables.entries.len() / (vectors * limbs);
        for lane in 0..LANES.min(windows.saturating_sub(first_window)) {
            let window = &mut tables.entries[(first_window + lane) * limbs * vectors..][..limbs * vectors];
            for (slots, limb) in window.chunks_exact_mut(vectors).zip(&element.0) {
                slots[entry / LANES].0[entry % LANES] = limb.0[lane];
            }
        }
    }

    fn select_shared(&self, tables: &SharedTables, window: usize, digits: &Digits, out: &mut Element) {
        let stride = 2 * self.limbs * tables.vectors_per_limb;
        let window = &tables.entries[window * stride..][..stride];
        // SAFETY: an `Ifma` exists only where `new` found the instructions.
        unsafe { select_shared(window, tables.vectors_per_limb, &Lanes(*digits), &mut out.0) }
    }
}

/// `a ← a·b / R`, in the digits of [`super`]: the low digit is the reduction of `a₀b₀`, whose quotient the
/// high digit `a₀b₁ + a₁b₀` then takes over.
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply(ring: &Ifma, a: &mut [Lanes], b: &[Lanes], scratch: &mut Scratch) {
    let (a_low, a_high) = a.split_at_mut(ring.limbs);
    let (b_low, b_high) = b.split_at(ring.limbs);
    accumulate_product::<true>(&mut scratch.low, a_low, b_low);
    accumulate_product::<true>(&mut scratch.high, a_low, b_high);
    accumulate_product::<false>(&mut scratch.high, a_high, b_low);
    reduce(ring, scratch, a_low, a_high);
}

/// `a ← a² / R`: one squaring and one product of single digits instead of three products.
#[target_feature(enable = "avx512f,avx512ifma")]
fn square(ring: &Ifma, a: &mut [Lanes], scratch: &mut Scratch) {
    let (a_low, a_high) = a.split_at_mut(ring.limbs);
    double(a_high);
    accumulate_product::<true>(&mut scratch.high, a_low, a_high);
    scratch.low.fill(Lanes::ZERO);
    accumulate_cross_products(&mut scratch.low, a_low);
    for (columns, limb) in scratch.low.chunks_exact_mut(2).zip(a_low.iter()) {
        let limb = limb.get();
        let (even, odd) = (_mm512_slli_epi64::<1>(columns[0].get()), _mm512_slli_epi64::<1>(columns[1].get()));
        columns[0].set(_mm512_madd52lo_epu64(even, limb, limb));
        columns[1].set(_mm512_madd52hi_epu64(odd, limb, limb));
    }
    reduce(ring, scratch, a_low, a_high);
}

/// `a ← 2a`. The head-room takes the extra bit.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn double(a: &mut [Lanes]) {
    let mask = _mm512_set1_epi64(LIMB_MASK.cast_signed());
    let mut carry = _mm512_setzero_si512();
    for limb in a {
        let value = limb.get();
        limb.set(_mm512_or_si512(_mm512_and_si512(_mm512_slli_epi64::<1>(value), mask), carry));
        carry = _mm512_srli_epi64::<51>(value);
    }
}

/// `acc += a·b` for equal lengths; with `FRESH`, `acc = a·b`, whatever was there.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_product<const FRESH: bool>(acc: &mut [Lanes], a: &[Lanes], b: &[Lanes]) {
    if FRESH {
        acc[..a.len()].fill(Lanes::ZERO);
    }
    let (fours, rest) = b.as_chunks::<4>();
    for (index, rows) in fours.iter().enumerate() {
        let acc = &mut acc[4 * index..];
        if FRESH {
            acc[a.len()..a.len() + 4].fill(Lanes::ZERO);
        }
        accumulate_four_rows(acc, a, rows);
    }
    for (index, row) in rest.iter().enumerate() {
        let acc = &mut acc[4 * fours.len() + index..];
        if FRESH {
            acc[a.len()] = Lanes::ZERO;
        }
        accumulate_row(acc, a, row);
    }
}

/// `acc += Σ_{i<j} aᵢaⱼ`, each pair once; the caller doubles the sum.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_cross_products(acc: &mut [Lanes], a: &[Lanes]) {
    let mut first = 0;
    while first < a.len() {
        let rows = if a.len() - first > 4 { 4 } else { 1 };
        for i in first..first + rows {
            for j in i + 1..first + rows {
                let (x, y) = (a[i].get(), a[j].get());
                let (low, high) = (acc[i + j].get(), acc[i + j + 1].get());
                acc[i + j].set(_mm512_madd52lo_epu64(low, x, y));
                acc[i + j + 1].set(_mm512_madd52hi_epu64(high, x, y));
            }
        }
        let beyond = first + rows;
        match a[first..].first_chunk::<4>() {
            Some(block) if rows == 4 => accumulate_four_rows(&mut acc[first + beyond..], &a[beyond..], block),
            _ => accumulate_row(&mut acc[first + beyond..], &a[beyond..], &a[first]),
        }
        first = beyond;
    }
}

/// `acc += a·rows`, where the columns that the four rows share slide through registers.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_four_rows(acc: &mut [Lanes], a: &[Lanes], rows: &[Lanes; 4]) {
    let [row0, row1, row2, row3] = [rows[0].get(), rows[1].get(), rows[2].get(), rows[3].get()];
    let acc = &mut acc[..a.len() + 4];
    // Named one by one: as an array the compiler would keep them in memory.
    let (mut open0, mut open1, mut open2, mut open3) = (acc[0].get(), acc[1].get(), acc[2].get(), acc[3].get());
    for (j, limb) in a.iter().enumerate() {
        let limb = limb.get();
        open0 = _mm512_madd52lo_epu64(open0, limb, row0);
        open1 = _mm512_madd52lo_epu64(open1, limb, row1);
        open2 = _mm512_madd52lo_epu64(open2, limb, row2);
        open3 = _mm512_madd52lo_epu64(open3, limb, row3);
        let entering = _mm512_madd52hi_epu64(acc[j + 4].get(), limb, row3);
        acc[j].set(open0);
        open0 = _mm512_madd52hi_epu64(open1, limb, row0);
        open1 = _mm512_madd52hi_epu64(open2, limb, row1);
        open2 = _mm512_madd52hi_epu64(open3, limb, row2);
        open3 = entering;
    }
    let end = &mut acc[a.len()..];
    end[0].set(open0);
    end[1].set(open1);
    end[2].set(open2);
    end[3].set(open3);
}

/// `acc += a·row`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_row(acc: &mut [Lanes], a: &[Lanes], row: &Lanes) {
    let row = row.get();
    let acc = &mut acc[..=a.len()];
    let mut open = acc[0].get();
    for (j, limb) in a.iter().enumerate() {
        let limb = limb.get();
        acc[j].set(_mm512_madd52lo_epu64(open, limb, row));
        open = _mm512_madd52hi_epu64(acc[j + 1].get(), limb, row);
    }
    acc[a.len()].set(open);
}

/// Montgomery reduction of both digits at once, the quotient of the low digit subtracted from the high one.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce(ring: &Ifma, scratch: &mut Scratch, low: &mut [Lanes], high: &mut [Lanes]) {
    let fours = ring.limbs / 4;
    for block in 0..fours {
        reduce_rows::<4>(ring, 4 * block, scratch);
    }
    for row in 4 * fours..ring.limbs {
        reduce_rows::<1>(ring, row, scratch);
    }
    carry(&scratch.low[ring.limbs..], &scratch.high[ring.limbs..], low, high);
}

/// Clears the `ROWS` lowest columns that are left, starting at `first`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce_rows<const ROWS: usize>(ring: &Ifma, first: usize, scratch: &mut Scratch) {
    let zero = _mm512_setzero_si512();
    let modulus = &ring.modulus[..];
    let count = modulus.len();
    let low = &mut scratch.low[first..first + count + ROWS];
    let high = &mut scratch.high[first..first + count + ROWS];
    let mask = _mm512_set1_epi64(LIMB_MASK.cast_signed());
    let (mut low_quotient, mut high_quotient) = ([zero; ROWS], [zero; ROWS]);
    let (mut low_carry, mut high_carry) = (zero, zero);

    // The quotients, one column after the other: the only part where latency counts.
    for column in 0..ROWS {
        let (quotient, carry) = next_quotient(ring, column, &low_quotient, low[column].get(), low_carry);
        low_quotient[column] = quotient;
        low_carry = carry;
        let complement = _mm512_sub_epi64(mask, quotient);
        let offset = _mm512_add_epi64(ring.complement_offset[first + column].get(), high[column].get());
        let carry = _mm512_add_epi64(high_carry, complement);
        let (quotient, carry) = next_quotient(ring, column, &high_quotient, offset, carry);
        high_quotient[column] = quotient;
        high_carry = carry;
    }
    low[ROWS].set(_mm512_add_epi64(low[ROWS].get(), low_carry));
    high[ROWS].set(_mm512_add_epi64(high[ROWS].get(), high_carry));

    // The limbs of the modulus that the open columns still need, youngest first.
    let mut recent = [zero; ROWS];
    for k in 0..ROWS {
        recent[k] = modulus[ROWS - 1 - k].get();
    }
    for column in ROWS..count {
        let newest = modulus[column].get();
        let (mut low_sum, mut high_sum) = (low[column].get(), high[column].get());
        low_sum = _mm512_madd52lo_epu64(low_sum, low_quotient[0], newest);
        high_sum = _mm512_madd52lo_epu64(high_sum, high_quotient[0], newest);
        for k in 0..ROWS {
            low_sum = _mm512_madd52hi_epu64(low_sum, low_quotient[k], recent[k]);
            high_sum = _mm512_madd52hi_epu64(high_sum, high_quotient[k], recent[k]);
        }
        for k in 1..ROWS {
            low_sum = _mm512_madd52lo_epu64(low_sum, low_quotient[k], recent[k - 1]);
            high_sum = _mm512_madd52lo_epu64(high_sum, high_quotient[k], recent[k - 1]);
        }
        low[column].set(low_sum);
        high[column].set(high_sum);
        for k in (1..ROWS).rev() {
            recent[k] = recent[k - 1];
        }
        recent[0] = newest;
    }
    for beyond in 0..ROWS {
        let (mut low_sum, mut high_sum) = (low[count + beyond].get(), high[count + beyond].get());
        for k in beyond..ROWS {
            low_sum = _mm512_madd52hi_epu64(low_sum, low_quotient[k], recent[k - beyond]);
            high_sum = _mm512_madd52hi_epu64(high_sum, high_quotient[k], recent[k - beyond]);
        }
        for k in beyond + 1..ROWS {
            low_sum = _mm512_madd52lo_epu64(low_sum, low_quotient[k], recent[k - beyond - 1]);
            high_sum = _mm512_madd52lo_epu64(high_sum, high_quotient[k], recent[k - beyond - 1]);
        }
        low[count + beyond].set(low_sum);
        high[count + beyond].set(high_sum);
    }
}

/// The quotient that clears a column, given those of the columns before it, and the carry out of the column.
/// What depends on the latest quotient is added last and apart, so that the chain from one to the next stays short.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn next_quotient<const ROWS: usize>(
    ring: &Ifma,
    column: usize,
    quotients: &[__m512i; ROWS],
    start: __m512i,
    carry: __m512i,
) -> (__m512i, __m512i) {
    let zero = _mm512_setzero_si512();
    let modulus = &ring.modulus[..];
    let (mut even, mut odd) = (start, carry);
    for k in 0..column {
        even = _mm512_madd52lo_epu64(even, quotients[k], modulus[column - k].get());
    }
    let mut sum = zero;
    for k in 0..column {
        sum = _mm512_madd52hi_epu64(sum, quotients[k], modulus[column - 1 - k].get());
    }
    odd = _mm512_add_epi64(odd, sum);
    let sum = _mm512_add_epi64(even, odd);
    let inverse = _mm512_set1_epi64(ring.negated_inverse.cast_signed());
    let quotient = _mm512_madd52lo_epu64(zero, sum, inverse);
    let cleared = _mm512_madd52lo_epu64(sum, quotient, modulus[0].get());
    (quotient, _mm512_srli_epi64::<52>(cleared))
}

/// Carries the columns of both digits into 52-bit limbs. The values fit, so nothing is left at the end.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn carry(low_columns: &[Lanes], high_columns: &[Lanes], low: &mut [Lanes], high: &mut [Lanes]) {
    let mask = _mm512_set1_epi64(LIMB_MASK.cast_signed());
    let (mut low_carry, mut high_carry) = (_mm512_setzero_si512(), _mm512_setzero_si512());
    let columns = low_columns.iter().zip(high_columns);
    for ((low, high), (low_column, high_column)) in low.iter_mut().zip(high).zip(columns) {
        let low_sum = _mm512_add_epi64(low_column.get(), low_carry);
        let high_sum = _mm512_add_epi64(high_column.get(), high_carry);
        low.set(_mm512_and_si512(low_sum, mask));
        high.set(_mm512_and_si512(high_sum, mask));
        low_carry = _mm512_srli_epi64::<52>(low_sum);
        high_carry = _mm512_srli_epi64::<52>(high_sum);
    }
}

/// Each lane takes its own entry; every entry is read, whatever the digits.
#[target_feature(enable = "avx512f,avx512ifma")]
fn select(table: &[Element], digits: &Lanes, out: &mut [Lanes]) {
    const BLOCK: usize = 10;
    let digits = digits.get();
    let mut first = 0;
    while first < out.len() {
        let width = BLOCK.min(out.len() - first);
        let mut chosen = [_mm512_setzero_si512(); BLOCK];
        let mut index = _mm512_setzero_si512();
        for entry in table {
            let hit = _mm512_cmpeq_epi64_mask(digits, index);
            if let Some(limbs) = entry.0[first..].first_chunk::<BLOCK>() {
                for (slot, limb) in chosen.iter_mut().zip(limbs) {
                    *slot = _mm512_mask_mov_epi64(*slot, hit, limb.get());
                }
            } else {
                for (slot, limb) in chosen.iter_mut().zip(&entry.0[first..]) {
                    *slot = _mm512_mask_mov_epi64(*slot, hit, limb.get());
                }
            }
            index = _mm512_add_epi64(index, _mm512_set1_epi64(1));
        }
        for (slot, limb) in out[first..first + width].iter_mut().zip(chosen) {
            slot.set(limb);
        }
        first += width;
    }
}

/// Each lane takes its own entry of one shared table: sixteen entries per permutation, every one of them read.
#[target_feature(enable = "avx512f,avx512ifma")]
fn select_shared(window: &[Lanes], vectors_per_limb: usize, digits: &Lanes, out: &mut [Lanes]) {
    let digits = digits.get();
    let group = _mm512_srli_epi64::<4>(digits);
    for (slot, entries) in out.iter_mut().zip(window.chunks_exact(vectors_per_limb)) {
        let mut chosen = _mm512_setzero_si512();
        let mut index = _mm512_setzero_si512();
        for pair in entries.chunks_exact(2) {
            let hit = _mm512_cmpeq_epi64_mask(group, index);
            let found = _mm512_permutex2var_epi64(pair[0].get(), digits, pair[1].get());
            chosen = _mm512_mask_mov_epi64(chosen, hit, found);
            index = _mm512_add_epi64(index, _mm512_set1_epi64(1));
        }
        slot.set(chosen);
    }
}

/// The words of a number as `count` limbs of 52 bits.
fn to_radix_52(words: &[u64], count: usize) -> impl Iterator<Item = u64> + '_ {
    (0..count).map(move |limb| limbs::bits_at(words, limb * RADIX_BITS as usize, RADIX_BITS))
}

/// The inverse of [`to_radix_52`], into one word more than the modulus has: the value may exceed it.
fn from_radix_52(limbs: impl Iterator<Item = u64>, words: usize) -> Vec<u64> {
    let mut out = vec![0; words + 1];
    for (index, limb) in limbs.enumerate() {
        let (word, shift) = (index * 52 / 64, index * 52 % 64);
        if word < out.len() {
            out[word] |= limb << shift;
        }
        if shift > 12 && word + 1 < out.len() {
            out[word + 1] |= limb >> (64 - shift);
        }
    }
    out
}

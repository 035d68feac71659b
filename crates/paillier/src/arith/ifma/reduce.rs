//! Montgomery reduction of eight residues.
#![deny(unsafe_code)]

use core::arch::x86_64::{
    __m512i, _mm512_add_epi64, _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64, _mm512_sub_epi64,
};

use super::{Ifma, LIMB_MASK, Lanes, Scratch, of_length};

/// Montgomery reduction of both digits at once, with the quotient of the low digit subtracted from the high one.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
pub(super) fn reduce<const H: usize>(
    ring: &Ifma,
    scratch: &mut Scratch,
    low: &mut [Lanes],
    high: &mut [Lanes],
) {
    let fours = ring.limbs / 4;
    for block in 0..fours {
        reduce_rows::<4, H>(ring, 4 * block, scratch);
    }
    let left = ring.limbs % 4;
    if left >= 2 {
        reduce_rows::<2, H>(ring, 4 * fours, scratch);
    }
    if left % 2 == 1 {
        reduce_rows::<1, H>(ring, ring.limbs - 1, scratch);
    }
    carry(
        &scratch.low[ring.limbs..],
        &scratch.high[ring.limbs..],
        low,
        high,
    );
}

/// Clears the `ROWS` lowest remaining columns, starting at `first`.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn reduce_rows<const ROWS: usize, const H: usize>(
    ring: &Ifma,
    first: usize,
    scratch: &mut Scratch,
) {
    let zero = _mm512_setzero_si512();
    let modulus = of_length::<H>(&ring.modulus);
    let count = modulus.len();
    let low = &mut scratch.low[first..first + count + ROWS];
    let high = &mut scratch.high[first..first + count + ROWS];
    let mask = _mm512_set1_epi64(LIMB_MASK.cast_signed());
    let (mut low_quotient, mut high_quotient) = ([zero; ROWS], [zero; ROWS]);
    let (mut low_carry, mut high_carry) = (zero, zero);

    // The quotients, column by column. Only this part is bound by latency.
    for column in 0..ROWS {
        let (quotient, carry) =
            next_quotient(ring, column, &low_quotient, low[column].get(), low_carry);
        low_quotient[column] = quotient;
        low_carry = carry;
        let complement = _mm512_sub_epi64(mask, quotient);
        let offset = _mm512_add_epi64(
            ring.complement_offset[first + column].get(),
            high[column].get(),
        );
        let carry = _mm512_add_epi64(high_carry, complement);
        let (quotient, carry) = next_quotient(ring, column, &high_quotient, offset, carry);
        high_quotient[column] = quotient;
        high_carry = carry;
    }
    low[ROWS].set(_mm512_add_epi64(low[ROWS].get(), low_carry));
    high[ROWS].set(_mm512_add_epi64(high[ROWS].get(), high_carry));

    // The limbs of the modulus that the open columns still need, newest first.
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

/// The quotient that clears a column, given those of the columns before it, and the carry out of the column. The term
/// with the latest quotient is added last and separately, which keeps the dependency chain short.
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

/// Carries the columns of both digits into 52-bit limbs. The values fit, so there is no final carry.
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

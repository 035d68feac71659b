//! Products and squares of eight residues.
#![deny(unsafe_code)]

use core::arch::x86_64::{
    _mm512_and_si512, _mm512_madd52hi_epu64, _mm512_madd52lo_epu64, _mm512_or_si512,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_slli_epi64, _mm512_srli_epi64,
};

use super::reduce::reduce;
use super::{ANY, Ifma, LIMB_MASK, Lanes, Scratch, of_length};

/// Calls a function with the digit lengths of short keys as constants, so that the compiler unrolls it, or with any
/// length.
macro_rules! by_length {
    ($ring:expr, $function:ident($($argument:expr),*)) => {
        match $ring.limbs {
            5 => $function::<5>($($argument),*),
            10 => $function::<10>($($argument),*),
            20 => $function::<20>($($argument),*),
            _ => $function::<ANY>($($argument),*),
        }
    };
}

/// `a ← a·b / R`, in the digits of [`super`]: the low digit is the reduction of `a₀b₀`, whose quotient is subtracted
/// from the high digit `a₀b₁ + a₁b₀`.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn multiply(ring: &Ifma, a: &mut [Lanes], b: &[Lanes], scratch: &mut Scratch) {
    by_length!(ring, multiply_digits(ring, a, b, scratch));
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_digits<const H: usize>(
    ring: &Ifma,
    a: &mut [Lanes],
    b: &[Lanes],
    scratch: &mut Scratch,
) {
    let (a_low, a_high) = a.split_at_mut(ring.limbs);
    let (b_low, b_high) = b.split_at(ring.limbs);
    accumulate_product::<true, H>(&mut scratch.low, a_low, b_low);
    accumulate_product::<true, H>(&mut scratch.high, a_low, b_high);
    accumulate_product::<false, H>(&mut scratch.high, a_high, b_low);
    reduce::<H>(ring, scratch, a_low, a_high);
}

/// `a ← a² / R`: one squaring and one product of single digits instead of three products.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn square(ring: &Ifma, a: &mut [Lanes], scratch: &mut Scratch) {
    by_length!(ring, square_digits(ring, a, scratch));
}

#[target_feature(enable = "avx512f,avx512ifma")]
fn square_digits<const H: usize>(ring: &Ifma, a: &mut [Lanes], scratch: &mut Scratch) {
    let (a_low, a_high) = a.split_at_mut(ring.limbs);
    double(a_high);
    accumulate_product::<true, H>(&mut scratch.high, a_low, a_high);
    scratch.low.fill(Lanes::ZERO);
    accumulate_cross_products::<H>(&mut scratch.low, a_low);
    for (columns, limb) in scratch.low.chunks_exact_mut(2).zip(a_low.iter()) {
        let limb = limb.get();
        let (even, odd) = (
            _mm512_slli_epi64::<1>(columns[0].get()),
            _mm512_slli_epi64::<1>(columns[1].get()),
        );
        columns[0].set(_mm512_madd52lo_epu64(even, limb, limb));
        columns[1].set(_mm512_madd52hi_epu64(odd, limb, limb));
    }
    reduce::<H>(ring, scratch, a_low, a_high);
}

/// `a ← 2a`. The head-room absorbs the extra bit.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn double(a: &mut [Lanes]) {
    let mask = _mm512_set1_epi64(LIMB_MASK.cast_signed());
    let mut carry = _mm512_setzero_si512();
    for limb in a {
        let value = limb.get();
        limb.set(_mm512_or_si512(
            _mm512_and_si512(_mm512_slli_epi64::<1>(value), mask),
            carry,
        ));
        carry = _mm512_srli_epi64::<51>(value);
    }
}

/// `acc += a·b` for equal lengths; with `FRESH`, `acc = a·b`, whatever the old content.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_product<const FRESH: bool, const H: usize>(
    acc: &mut [Lanes],
    a: &[Lanes],
    b: &[Lanes],
) {
    let (a, b) = (of_length::<H>(a), of_length::<H>(b));
    if FRESH {
        acc[..a.len()].fill(Lanes::ZERO);
    }
    let (fours, rest) = b.as_chunks::<4>();
    for (index, rows) in fours.iter().enumerate() {
        let acc = &mut acc[4 * index..];
        if FRESH {
            acc[a.len()..a.len() + 4].fill(Lanes::ZERO);
        }
        accumulate_four_rows::<H>(acc, a, rows);
    }
    let (twos, rest) = rest.as_chunks::<2>();
    for rows in twos {
        let acc = &mut acc[4 * fours.len()..];
        if FRESH {
            acc[a.len()..a.len() + 2].fill(Lanes::ZERO);
        }
        accumulate_two_rows(acc, a, rows);
    }
    for row in rest {
        let acc = &mut acc[b.len() - 1..];
        if FRESH {
            acc[a.len()] = Lanes::ZERO;
        }
        accumulate_row(acc, a, row);
    }
}

/// `acc += Σ_{i<j} aᵢaⱼ`, each pair once; the caller doubles the sum.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_cross_products<const H: usize>(acc: &mut [Lanes], a: &[Lanes]) {
    let a = of_length::<H>(a);
    let (fours, rest) = a.as_chunks::<4>();
    for (index, block) in fours.iter().enumerate() {
        let first = 4 * index;
        accumulate_cross_products_of_four(&mut acc[2 * first..], block);
        accumulate_four_rows::<ANY>(&mut acc[2 * first + 4..], &a[first + 4..], block);
    }
    for (index, row) in rest.iter().enumerate() {
        let first = 4 * fours.len() + index;
        accumulate_row(&mut acc[2 * first + 1..], &a[first + 1..], row);
    }
}

/// The six pairs of one block, in registers: in memory, each would wait for the one before it.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_cross_products_of_four(acc: &mut [Lanes], block: &[Lanes; 4]) {
    let [x0, x1, x2, x3] = [
        block[0].get(),
        block[1].get(),
        block[2].get(),
        block[3].get(),
    ];
    let acc = &mut acc[1..7];
    acc[0].set(_mm512_madd52lo_epu64(acc[0].get(), x0, x1));
    let column = _mm512_madd52hi_epu64(acc[1].get(), x0, x1);
    acc[1].set(_mm512_madd52lo_epu64(column, x0, x2));
    let column = _mm512_madd52hi_epu64(acc[2].get(), x0, x2);
    let column = _mm512_madd52lo_epu64(column, x0, x3);
    acc[2].set(_mm512_madd52lo_epu64(column, x1, x2));
    let column = _mm512_madd52hi_epu64(acc[3].get(), x0, x3);
    let column = _mm512_madd52hi_epu64(column, x1, x2);
    acc[3].set(_mm512_madd52lo_epu64(column, x1, x3));
    let column = _mm512_madd52hi_epu64(acc[4].get(), x1, x3);
    acc[4].set(_mm512_madd52lo_epu64(column, x2, x3));
    acc[5].set(_mm512_madd52hi_epu64(acc[5].get(), x2, x3));
}

/// `acc += a·rows`, where the columns that the four rows share slide through registers.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_four_rows<const H: usize>(acc: &mut [Lanes], a: &[Lanes], rows: &[Lanes; 4]) {
    let a = of_length::<H>(a);
    let [row0, row1, row2, row3] = [rows[0].get(), rows[1].get(), rows[2].get(), rows[3].get()];
    let acc = &mut acc[..a.len() + 4];
    // Separate variables, because the compiler would keep an array in memory.
    let (mut open0, mut open1, mut open2, mut open3) =
        (acc[0].get(), acc[1].get(), acc[2].get(), acc[3].get());
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

/// As [`accumulate_four_rows`], with two rows.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn accumulate_two_rows(acc: &mut [Lanes], a: &[Lanes], rows: &[Lanes; 2]) {
    let [row0, row1] = [rows[0].get(), rows[1].get()];
    let acc = &mut acc[..a.len() + 2];
    let (mut open0, mut open1) = (acc[0].get(), acc[1].get());
    for (j, limb) in a.iter().enumerate() {
        let limb = limb.get();
        open0 = _mm512_madd52lo_epu64(open0, limb, row0);
        open1 = _mm512_madd52lo_epu64(open1, limb, row1);
        let entering = _mm512_madd52hi_epu64(acc[j + 2].get(), limb, row1);
        acc[j].set(open0);
        open0 = _mm512_madd52hi_epu64(open1, limb, row0);
        open1 = entering;
    }
    acc[a.len()].set(open0);
    acc[a.len() + 1].set(open1);
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

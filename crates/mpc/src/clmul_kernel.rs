//! Products in GF(2¹²⁸) with x86-64 carry-less multiplication: VPCLMULQDQ and PCLMULQDQ.
//!
//! One of the crate's five files with unsafe code. The tokens of [`crate::aes_kernel`] prove that the instructions were
//! detected. Tests compare both paths with the portable one in [`crate::field`].
//!
//! No branch or address depends on the operands.
#![allow(unsafe_code)]

use crate::aes_kernel::{AesNi, Vaes512, load};
use crate::block::Block;
use crate::field::reduce;
use core::arch::x86_64::*;

/// A sum of products of 128-bit factors, before reduction: the parts that start at bits 0, 64 and 128.
struct Sum {
    low: __m128i,
    middle: __m128i,
    high: __m128i,
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_512(blocks: &[Block; 4]) -> __m512i {
    // SAFETY: four blocks are 64 readable bytes, and the load is unaligned.
    unsafe { _mm512_loadu_si512(blocks.as_ptr().cast()) }
}

impl Sum {
    #[inline]
    #[target_feature(enable = "sse2,pclmulqdq")]
    fn zero() -> Self {
        let zero = _mm_setzero_si128();
        Self {
            low: zero,
            middle: zero,
            high: zero,
        }
    }

    #[inline]
    #[target_feature(enable = "sse2,pclmulqdq")]
    fn add_products(&mut self, coefficients: &[Block], row: &[Block]) {
        for (a, b) in coefficients.iter().zip(row) {
            let (a, b) = (load(a), load(b));
            self.low = _mm_xor_si128(self.low, _mm_clmulepi64_si128::<0x00>(a, b));
            self.high = _mm_xor_si128(self.high, _mm_clmulepi64_si128::<0x11>(a, b));
            self.middle = _mm_xor_si128(self.middle, _mm_clmulepi64_si128::<0x01>(a, b));
            self.middle = _mm_xor_si128(self.middle, _mm_clmulepi64_si128::<0x10>(a, b));
        }
    }

    #[inline]
    #[target_feature(enable = "sse2,pclmulqdq")]
    fn reduced(self) -> Block {
        let [low, middle, high] = [self.low, self.middle, self.high].map(|half| words(half));
        reduce([low[0], low[1] ^ middle[0], high[0] ^ middle[1], high[1]])
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn words(vector: __m128i) -> [u64; 2] {
    let high = _mm_unpackhi_epi64(vector, vector);
    [vector, high].map(|half| _mm_cvtsi128_si64(half).cast_unsigned())
}

/// The sum of the four lanes.
#[inline]
#[target_feature(enable = "avx512f")]
fn sum_lanes(vector: __m512i) -> __m128i {
    let [first, second] = [
        _mm512_extracti32x4_epi32::<0>(vector),
        _mm512_extracti32x4_epi32::<1>(vector),
    ];
    let [third, fourth] = [
        _mm512_extracti32x4_epi32::<2>(vector),
        _mm512_extracti32x4_epi32::<3>(vector),
    ];
    _mm_xor_si128(_mm_xor_si128(first, second), _mm_xor_si128(third, fourth))
}

#[target_feature(enable = "sse2,pclmulqdq")]
fn add_products_128(coefficients: &[Block], rows: &[Block], sums: &mut [Block]) {
    for (row, sum) in rows.chunks_exact(coefficients.len()).zip(sums) {
        let mut products = Sum::zero();
        products.add_products(coefficients, row);
        *sum ^= products.reduced();
    }
}

#[target_feature(enable = "avx512f,vpclmulqdq,pclmulqdq")]
fn add_products_512(coefficients: &[Block], rows: &[Block], sums: &mut [Block]) {
    let (by_four, last_coefficients) = coefficients.as_chunks::<4>();
    for (row, sum) in rows.chunks_exact(coefficients.len()).zip(sums) {
        let (row, last) = row.as_chunks::<4>();
        let zero = _mm512_setzero_si512();
        let (mut low, mut middle, mut high) = (zero, zero, zero);
        for (a, b) in by_four.iter().zip(row) {
            let (a, b) = (load_512(a), load_512(b));
            low = _mm512_xor_si512(low, _mm512_clmulepi64_epi128::<0x00>(a, b));
            high = _mm512_xor_si512(high, _mm512_clmulepi64_epi128::<0x11>(a, b));
            middle = _mm512_xor_si512(middle, _mm512_clmulepi64_epi128::<0x01>(a, b));
            middle = _mm512_xor_si512(middle, _mm512_clmulepi64_epi128::<0x10>(a, b));
        }
        let mut products = Sum {
            low: sum_lanes(low),
            middle: sum_lanes(middle),
            high: sum_lanes(high),
        };
        products.add_products(last_coefficients, last);
        *sum ^= products.reduced();
    }
}

impl Vaes512 {
    pub(crate) fn add_products(self, coefficients: &[Block], rows: &[Block], sums: &mut [Block]) {
        // SAFETY: the token proves that the instructions were detected.
        unsafe { add_products_512(coefficients, rows, sums) }
    }
}

impl AesNi {
    pub(crate) fn add_products(self, coefficients: &[Block], rows: &[Block], sums: &mut [Block]) {
        // SAFETY: the token proves that the instructions were detected.
        unsafe { add_products_128(coefficients, rows, sums) }
    }
}

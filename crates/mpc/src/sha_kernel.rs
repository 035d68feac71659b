//! SHA-256's compression function on sixteen chains, with AVX-512.
//!
//! One of the crate's five files with unsafe code. The token of [`crate::aes_kernel`] proves that the instructions were
//! detected. Tests compare the result with that of one chain after the other in [`crate::chain_hash`].
#![allow(unsafe_code)]

use crate::aes_kernel::Vaes512;
use crate::chain_hash::{CONSTANTS, GROUP_BYTES, Words};
use core::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx512f")]
fn load(words: &[u8; 64]) -> __m512i {
    // SAFETY: 64 readable bytes, and the load is unaligned.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn load_state(words: &Words) -> __m512i {
    // SAFETY: sixteen words are 64 readable bytes, and the load is unaligned.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_state(words: &mut Words, vector: __m512i) {
    // SAFETY: sixteen words are 64 writable bytes, and the store is unaligned.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), vector) }
}

/// The XOR of three vectors.
#[inline]
#[target_feature(enable = "avx512f")]
fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_ternarylogic_epi32::<0x96>(a, b, c)
}

#[inline]
#[target_feature(enable = "avx512f")]
fn add3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
    _mm512_add_epi32(_mm512_add_epi32(a, b), c)
}

#[target_feature(enable = "avx512f")]
fn compress(states: &mut [Words; 8], groups: &[[u8; GROUP_BYTES]]) {
    let mut chain = [_mm512_setzero_si512(); 8];
    for (vector, words) in chain.iter_mut().zip(&*states) {
        *vector = load_state(words);
    }
    for group in groups {
        let mut schedule = [_mm512_setzero_si512(); 16];
        for (vector, words) in schedule.iter_mut().zip(group.as_chunks::<64>().0) {
            *vector = load(words);
        }
        let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = chain;
        for constants in CONSTANTS.as_chunks::<16>().0 {
            for round in 0..16 {
                let word = schedule[round];
                let s1 = xor3(
                    _mm512_ror_epi32::<6>(e),
                    _mm512_ror_epi32::<11>(e),
                    _mm512_ror_epi32::<25>(e),
                );
                // Bits of f where e is 1, and of g elsewhere.
                let choice = _mm512_ternarylogic_epi32::<0xca>(e, f, g);
                let constant = _mm512_set1_epi32(constants[round].cast_signed());
                let first = add3(add3(h, s1, choice), constant, word);
                let s0 = xor3(
                    _mm512_ror_epi32::<2>(a),
                    _mm512_ror_epi32::<13>(a),
                    _mm512_ror_epi32::<22>(a),
                );
                let majority = _mm512_ternarylogic_epi32::<0xe8>(a, b, c);
                (h, g, f) = (g, f, e);
                e = _mm512_add_epi32(d, first);
                (d, c, b) = (c, b, a);
                a = add3(first, s0, majority);
                // The word of the round that comes sixteen later; the last ones are not used.
                let (w15, w2) = (schedule[(round + 1) % 16], schedule[(round + 14) % 16]);
                let t0 = xor3(
                    _mm512_ror_epi32::<7>(w15),
                    _mm512_ror_epi32::<18>(w15),
                    _mm512_srli_epi32::<3>(w15),
                );
                let t1 = xor3(
                    _mm512_ror_epi32::<17>(w2),
                    _mm512_ror_epi32::<19>(w2),
                    _mm512_srli_epi32::<10>(w2),
                );
                schedule[round] = _mm512_add_epi32(add3(word, t0, schedule[(round + 9) % 16]), t1);
            }
        }
        for (vector, word) in chain.iter_mut().zip([a, b, c, d, e, f, g, h]) {
            *vector = _mm512_add_epi32(*vector, word);
        }
    }
    for (words, vector) in states.iter_mut().zip(chain) {
        store_state(words, vector);
    }
}

impl Vaes512 {
    pub(crate) fn compress_chains(self, states: &mut [Words; 8], groups: &[[u8; GROUP_BYTES]]) {
        // SAFETY: the token proves that the instructions were detected.
        unsafe { compress(states, groups) }
    }
}

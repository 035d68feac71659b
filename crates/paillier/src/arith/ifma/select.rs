//! Table look-ups that read every entry, whatever the index.
#![deny(unsafe_code)]

use core::arch::x86_64::{
    _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi64_mask, _mm512_mask_mov_epi64,
    _mm512_maskz_set1_epi64, _mm512_or_si512, _mm512_permutex2var_epi64, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_srli_epi64,
};
use core::hint::black_box;

use super::{Element, Lanes};

/// Limbs that are selected at a time: as many as leave enough free registers.
const MAX_LIMBS: usize = 20;
/// The limbs of the shortest elements, modulo the square of a prime of 256 bits.
const MIN_LIMBS: usize = 10;

/// Each lane takes its own entry. Every entry is read, whatever the digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn select(table: &[Element], digits: &Lanes, out: &mut [Lanes]) {
    let (mut first, count) = (0, out.len());
    while count - first >= MAX_LIMBS {
        select_limbs::<MAX_LIMBS>(table, digits, first, out);
        first += MAX_LIMBS;
    }
    while count - first >= MIN_LIMBS {
        select_limbs::<MIN_LIMBS>(table, digits, first, out);
        first += MIN_LIMBS;
    }
    while first < count {
        select_limbs::<1>(table, digits, first, out);
        first += 1;
    }
}

/// Selects `N` limbs. `N` is a constant, so that the selected limbs stay in registers. In memory they would be written
/// by masked stores, whose time may depend on the mask, and so on the digits.
#[target_feature(enable = "avx512f,avx512ifma")]
#[inline]
fn select_limbs<const N: usize>(
    table: &[Element],
    digits: &Lanes,
    first: usize,
    out: &mut [Lanes],
) {
    let digits = digits.get();
    let mut chosen = [_mm512_setzero_si512(); N];
    let mut index = _mm512_setzero_si512();
    for entry in table {
        let hit = _mm512_cmpeq_epi64_mask(digits, index);
        // All ones in the lanes that select this entry. The barrier keeps the compiler from using masked loads instead.
        let mask = black_box(_mm512_maskz_set1_epi64(hit, -1));
        let limbs = &entry.0[first..first + N];
        for (slot, limb) in chosen.iter_mut().zip(limbs) {
            *slot = _mm512_or_si512(*slot, _mm512_and_si512(limb.get(), mask));
        }
        index = _mm512_add_epi64(index, _mm512_set1_epi64(1));
    }
    for (slot, limb) in out[first..first + N].iter_mut().zip(chosen) {
        slot.set(limb);
    }
}

/// Each lane takes its own entry of one shared table: sixteen entries per permutation, and every entry is read.
///
/// The tables of all windows together do not fit the caches, so the start of `later`, the next table, is prefetched.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn select_shared(
    table: &[Lanes],
    later: &[Lanes],
    vectors_per_limb: usize,
    digits: &Lanes,
    out: &mut [Lanes],
) {
    let digits = digits.get();
    let group = _mm512_srli_epi64::<4>(digits);
    for (limb, entries) in table.chunks_exact(vectors_per_limb).enumerate() {
        let mut chosen = _mm512_setzero_si512();
        let mut index = _mm512_setzero_si512();
        for pair in entries.chunks_exact(2) {
            let hit = _mm512_cmpeq_epi64_mask(group, index);
            let found = _mm512_permutex2var_epi64(pair[0].get(), digits, pair[1].get());
            chosen = _mm512_mask_mov_epi64(chosen, hit, found);
            index = _mm512_add_epi64(index, _mm512_set1_epi64(1));
        }
        out[limb].set(chosen);
        if let Some(soon) = later.get(limb * vectors_per_limb..(limb + 1) * vectors_per_limb) {
            soon.iter().for_each(Lanes::prefetch);
        }
    }
}

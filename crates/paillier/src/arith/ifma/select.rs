//! Table look-ups that read every entry, whatever is looked for.
#![deny(unsafe_code)]

use core::arch::x86_64::{
    _mm512_add_epi64, _mm512_cmpeq_epi64_mask, _mm512_mask_mov_epi64, _mm512_permutex2var_epi64,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_srli_epi64,
};

use super::{Element, Lanes};

/// Each lane takes its own entry; every entry is read, whatever the digits.
#[target_feature(enable = "avx512f,avx512ifma")]
pub(super) fn select(table: &[Element], digits: &Lanes, out: &mut [Lanes]) {
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
///
/// The tables of all windows together outgrow the caches, so the start of `later`, the next table, is fetched along.
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

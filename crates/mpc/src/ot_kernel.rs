//! The bulk work of correlated transfers in vector registers, with VAES-512 and AES-NI: sums over the streams of a seed
//! tree, computed as the streams are generated, and pad hashes.
//!
//! One of the crate's five files with unsafe code. The tokens of [`crate::aes_kernel`] prove that the instructions were
//! detected. Streams never reach memory: with k = 8 a tree has 256, and writing and adding them would take several
//! times as long as AES. Tests compare both paths with [`crate::aes_portable`].
//!
//! No branch or address depends on keys or blocks.
#![allow(unsafe_code)]

use crate::aes_kernel::{
    AesNi, Vaes512, aes_ni, load, load_128, load_512 as gather_512, store_128, store_512, vaes512,
};
use crate::block::Block;
use crate::clmul_kernel::load_512;
use crate::field::OVERFLOW;
use crate::kernel::{HashedPoints, StreamSums};
use crate::transpose_kernel::transpose_blocks;
use core::arch::x86_64::*;
use zeroize::Zeroize;

/// Vectors of each stream that are generated at a time.
const VECTORS: usize = 4;

#[inline]
#[target_feature(enable = "avx512f")]
fn splat_512(block: &Block) -> __m512i {
    _mm512_broadcast_i32x4(load(block))
}

#[inline]
#[target_feature(enable = "avx512f")]
fn store_words(words: &mut [u64; 8], value: __m512i) {
    // SAFETY: 64 writable bytes, valid for every bit pattern, and the store is unaligned.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), value) }
}

/// Stores the lower halves of the four blocks in each vector. The halves of one block position form a row, and rows are
/// `stride` words apart. With fewer than eight vectors, rows are adjacent.
#[inline]
#[target_feature(enable = "avx512f")]
fn put_words_512<const VECTORS: usize>(
    vectors: &[__m512i; VECTORS],
    words: &mut [u64],
    stride: usize,
) {
    let (rows, _) = words.as_chunks_mut::<8>();
    if VECTORS == 1 {
        let mut row = [0; 8];
        store_words(
            &mut row,
            _mm512_maskz_compress_epi64(0b0101_0101, vectors[0]),
        );
        words[..4].copy_from_slice(&row[..4]);
        return;
    }
    let mut pairs = [_mm512_setzero_si512(); 4];
    for i in 0..VECTORS / 2 {
        pairs[i] = _mm512_unpacklo_epi64(vectors[2 * i], vectors[2 * i + 1]);
    }
    if VECTORS == 2 {
        store_words(&mut rows[0], pairs[0]);
    } else if VECTORS == 4 {
        let first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
        let last = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
        store_words(
            &mut rows[0],
            _mm512_permutex2var_epi64(pairs[0], first, pairs[1]),
        );
        store_words(
            &mut rows[1],
            _mm512_permutex2var_epi64(pairs[0], last, pairs[1]),
        );
    } else {
        let blocks = transpose_blocks(pairs);
        for i in 0..4 {
            store_words(&mut rows[i * stride / 8], blocks[i]);
        }
    }
}

#[inline]
#[target_feature(enable = "sse2")]
fn put_words_128<const VECTORS: usize>(
    vectors: &[__m128i; VECTORS],
    words: &mut [u64],
    _stride: usize,
) {
    for (word, vector) in words.iter_mut().zip(vectors) {
        *word = _mm_cvtsi128_si64(*vector).cast_unsigned();
    }
}

macro_rules! kernel {
    (
        $name:ident, $token:ident, $aes:ident, $features:literal, $vector:ty, $width:literal, $load:ident, $store:ident,
        $splat:ident, $gather:ident, $put_words:ident, $zero:ident, $add:ident, $subtract:ident, $xor:ident, $and:ident,
        $shift_left:ident, $shift_right:ident, $low_halves:ident, $high_halves:ident, $enc:ident, $enc_last:ident
    ) => {
        mod $name {
            use super::*;

            /// Blocks of each stream that are generated at a time.
            const GROUP: usize = VECTORS * $width;

            type Vectors = [$vector; VECTORS];

            /// The offsets from the counter of a group's first block.
            const COUNTS: [[Block; $width]; VECTORS] = {
                let mut counts = [[Block::ZERO; $width]; VECTORS];
                let mut at = 0;
                while at < GROUP {
                    counts.as_flattened_mut()[at] = Block::new(at as u128);
                    at += 1;
                }
                counts
            };

            #[inline]
            #[target_feature(enable = $features)]
            fn add(sum: &mut Vectors, vectors: &Vectors) {
                for i in 0..VECTORS {
                    sum[i] = $xor(sum[i], vectors[i]);
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn counters(first: Block) -> Vectors {
                let mut vectors = [$splat(&first); VECTORS];
                for i in 0..VECTORS {
                    vectors[i] = $add(vectors[i], $load(&COUNTS[i]));
                }
                vectors
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn encrypt(keys: &[Block; 11], counters: &Vectors) -> Vectors {
                let mut states = *counters;
                add(&mut states, &[$splat(&keys[0]); VECTORS]);
                for key in &keys[1..10] {
                    let key = $splat(key);
                    for i in 0..VECTORS {
                        states[i] = $enc(states[i], key);
                    }
                }
                let key = $splat(&keys[10]);
                for i in 0..VECTORS {
                    states[i] = $enc_last(states[i], key);
                }
                states
            }

            /// Adds vectors to the blocks at the same index. The last group of a row can be shorter. No array index is
            /// a variable, because the vectors would then leave their registers.
            #[inline]
            #[target_feature(enable = $features)]
            fn add_to(sums: &mut [Block], vectors: &Vectors) {
                if let Ok(sums) = <&mut [Block; GROUP]>::try_from(&mut *sums) {
                    let (sums, _) = sums.as_chunks_mut::<$width>();
                    for i in 0..VECTORS {
                        let sum = $xor($load(&sums[i]), vectors[i]);
                        $store(&mut sums[i], sum);
                    }
                    return;
                }
                let mut blocks = [[Block::ZERO; $width]; VECTORS];
                for i in 0..VECTORS {
                    $store(&mut blocks[i], vectors[i]);
                }
                for (sum, block) in sums.iter_mut().zip(blocks.as_flattened()) {
                    *sum ^= *block;
                }
            }

            /// Four leaves at a time (two, if there are no more) stay in registers. If the loop were unrolled further,
            /// the compiler would move all additions to the end, and keep the blocks in memory until then.
            #[target_feature(enable = $features)]
            fn sum_streams<const LEAVES: usize>(keys: &[[Block; 11]], out: &mut StreamSums<'_>) {
                let width = out.width;
                let (keys, _) = keys.as_chunks::<LEAVES>();
                let low_bits = LEAVES.ilog2() as usize;
                let high_bits = keys.len().ilog2() as usize;
                for first in (0..width).step_by(GROUP) {
                    let range = first..width.min(first + GROUP);
                    let counters = counters(out.counter(first));
                    let mut low = [[$zero(); VECTORS]; 2];
                    for (number, keys) in keys.iter().enumerate() {
                        let mut sum = [$zero(); VECTORS];
                        // The first leaf counts only in the total, which the side that lacks this leaf does not need.
                        if number != 0 || out.total.is_some() {
                            sum = encrypt(&keys[0], &counters);
                        }
                        let blocks = encrypt(&keys[1], &counters);
                        add(&mut sum, &blocks);
                        add(&mut low[0], &blocks);
                        if LEAVES == 4 {
                            let blocks = encrypt(&keys[2], &counters);
                            add(&mut sum, &blocks);
                            add(&mut low[1], &blocks);
                            let blocks = encrypt(&keys[3], &counters);
                            add(&mut sum, &blocks);
                            add(&mut low[0], &blocks);
                            add(&mut low[1], &blocks);
                        }
                        for bit in 0..high_bits {
                            if number >> bit & 1 == 1 {
                                let row = (low_bits + bit) * width;
                                add_to(&mut out.sums[row + range.start..row + range.end], &sum);
                            }
                        }
                        if let Some(total) = &mut out.total {
                            add_to(&mut total[range.clone()], &sum);
                        }
                    }
                    add_to(&mut out.sums[range.clone()], &low[0]);
                    if LEAVES == 4 {
                        add_to(
                            &mut out.sums[width + range.start..width + range.end],
                            &low[1],
                        );
                    }
                }
            }

            /// X times each block, as [`crate::field::times_x`].
            #[inline]
            #[target_feature(enable = $features)]
            fn times_x(blocks: $vector) -> $vector {
                let carries = $shift_right::<63>(blocks);
                let shifted = $xor($shift_left::<1>(blocks), $low_halves($zero(), carries));
                let overflow = $subtract($zero(), $high_halves(carries, $zero()));
                $xor(shifted, $and(overflow, $splat(&OVERFLOW)))
            }

            /// The points of a vector: each is Σ Xʲ·b_j over its blocks b.
            #[inline]
            #[target_feature(enable = $features)]
            fn combined(blocks: &[Block], each: usize) -> $vector {
                if let Ok(blocks) = blocks.try_into() {
                    return $load(blocks);
                }
                let mut sum = $zero();
                for j in (0..each).rev() {
                    let list = $gather(&std::array::from_fn(|at| blocks[at * each + j]));
                    sum = $xor(times_x(sum), list);
                }
                sum
            }

            /// Hashes `KEYS` vectors of points, `MULTIPLES` multiples at a time.
            #[inline]
            #[target_feature(enable = $features)]
            fn hash_points<const MULTIPLES: usize, const KEYS: usize>(
                points: &HashedPoints<'_>,
                first: u64,
                blocks: &[Block],
                words: &mut [u64],
            ) {
                let stride = points.multiples.len();
                let each = points.blocks_each;
                let mut mapped = [$zero(); KEYS];
                for (mapped, blocks) in mapped.iter_mut().zip(blocks.chunks_exact($width * each)) {
                    *mapped = $aes::orthomorphism(combined(blocks, each));
                }
                let (hash_key, tweak) = ($splat(&points.hash_key), Block::from_words([first, 0]));
                let (multiples, _) = points.multiples.as_chunks::<MULTIPLES>();
                for (part, multiples) in multiples.iter().enumerate() {
                    let mut keys = [hash_key; KEYS];
                    let mut states = [[$zero(); MULTIPLES]; KEYS];
                    for i in 0..KEYS {
                        keys[i] = $xor(hash_key, $add($splat(&tweak), $load(&COUNTS[i])));
                        for j in 0..MULTIPLES {
                            states[i][j] = $xor(mapped[i], $splat(&multiples[j]));
                        }
                    }
                    $aes::rounds(&mut keys, &mut states);
                    for i in 0..KEYS {
                        for j in 0..MULTIPLES {
                            let point = $xor(mapped[i], $splat(&multiples[j]));
                            states[i][j] = $xor(states[i][j], point);
                        }
                        let at = i * $width * stride + part * MULTIPLES;
                        $put_words(&states[i], &mut words[at..], stride);
                    }
                }
            }

            #[target_feature(enable = $features)]
            fn hash<const MULTIPLES: usize, const KEYS: usize>(
                points: &HashedPoints<'_>,
                words: &mut [u64],
            ) {
                let at_once = KEYS * $width;
                let blocks_at_once = at_once * points.blocks_each;
                let words_at_once = at_once * points.multiples.len();
                let lists = points.blocks.chunks(blocks_at_once);
                for (number, (blocks, words)) in
                    lists.zip(words.chunks_mut(words_at_once)).enumerate()
                {
                    let first = points.first.wrapping_add((number * at_once) as u64);
                    if blocks.len() == blocks_at_once {
                        hash_points::<MULTIPLES, KEYS>(points, first, blocks, words);
                        continue;
                    }
                    // Pads the last list.
                    let mut padded = vec![Block::ZERO; blocks_at_once];
                    let mut hashes = vec![0; words_at_once];
                    padded[..blocks.len()].copy_from_slice(blocks);
                    hash_points::<MULTIPLES, KEYS>(points, first, &padded, &mut hashes);
                    words.copy_from_slice(&hashes[..words.len()]);
                    padded.zeroize();
                    hashes.zeroize();
                }
            }

            impl $token {
                pub(crate) fn sum_streams(self, keys: &[[Block; 11]], out: &mut StreamSums<'_>) {
                    // SAFETY: the token proves that the instructions were detected.
                    unsafe {
                        match keys.len() {
                            2 => sum_streams::<2>(keys, out),
                            _ => sum_streams::<4>(keys, out),
                        }
                    }
                }

                pub(crate) fn hash_low_words(self, points: &HashedPoints<'_>, words: &mut [u64]) {
                    // SAFETY: the token proves that the instructions were detected.
                    unsafe {
                        match points.multiples.len() {
                            1 => hash::<1, 4>(points, words),
                            2 => hash::<2, 4>(points, words),
                            4 => hash::<4, 2>(points, words),
                            _ => hash::<8, 1>(points, words),
                        }
                    }
                }
            }
        }
    };
}

kernel!(
    wide,
    Vaes512,
    vaes512,
    "avx512f,avx512bw,vaes",
    __m512i,
    4,
    load_512,
    store_512,
    splat_512,
    gather_512,
    put_words_512,
    _mm512_setzero_si512,
    _mm512_add_epi64,
    _mm512_sub_epi64,
    _mm512_xor_si512,
    _mm512_and_si512,
    _mm512_slli_epi64,
    _mm512_srli_epi64,
    _mm512_unpacklo_epi64,
    _mm512_unpackhi_epi64,
    _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128
);

kernel!(
    narrow,
    AesNi,
    aes_ni,
    "aes,ssse3",
    __m128i,
    1,
    load_128,
    store_128,
    load,
    load_128,
    put_words_128,
    _mm_setzero_si128,
    _mm_add_epi64,
    _mm_sub_epi64,
    _mm_xor_si128,
    _mm_and_si128,
    _mm_slli_epi64,
    _mm_srli_epi64,
    _mm_unpacklo_epi64,
    _mm_unpackhi_epi64,
    _mm_aesenc_si128,
    _mm_aesenclast_si128
);

//! The bulk of correlated transfers in vector registers, with VAES-512 and AES-NI: the streams of a tree of seeds, added up
//! while they are made, and the hashes of pads.
//!
//! One of the files of the crate with unsafe code, beside [`crate::aes_kernel`], whose tokens prove that the instructions
//! were detected. Streams never reach memory: with k = 8 a tree has 256, and writing and adding them takes several times as
//! long as AES. Tests compare both paths with [`crate::aes_portable`].
//!
//! No branch or address depends on keys or blocks.
#![allow(unsafe_code)]

use crate::aes_kernel::{AesNi, Vaes512, aes_ni, load, load_128, store_128, store_512, vaes512};
use crate::block::Block;
use crate::clmul_kernel::load_512;
use crate::kernel::{HashedPoints, StreamSums};
use core::arch::x86_64::*;

/// Vectors of each stream that are made at a time.
const VECTORS: usize = 4;

#[inline]
#[target_feature(enable = "avx512f")]
fn splat_512(block: &Block) -> __m512i {
    _mm512_broadcast_i32x4(load(block))
}

macro_rules! kernel {
    (
        $name:ident, $token:ident, $aes:ident, $features:literal, $vector:ty, $width:literal, $load:ident, $store:ident,
        $splat:ident, $zero:ident, $add:ident, $xor:ident, $enc:ident, $enc_last:ident
    ) => {
        mod $name {
            use super::*;

            /// Blocks of each stream that are made at a time.
            const GROUP: usize = VECTORS * $width;

            type Vectors = [$vector; VECTORS];

            /// What is added to the counter of a group's first block.
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

            /// Adds vectors to the blocks at their place. The last group of a row can be shorter. No place in an array depends on
            /// a variable: vectors would leave their registers.
            #[inline]
            #[target_feature(enable = $features)]
            fn add_to(places: &mut [Block], vectors: &Vectors) {
                if let Ok(places) = <&mut [Block; GROUP]>::try_from(&mut *places) {
                    let (places, _) = places.as_chunks_mut::<$width>();
                    for i in 0..VECTORS {
                        let sum = $xor($load(&places[i]), vectors[i]);
                        $store(&mut places[i], sum);
                    }
                    return;
                }
                let mut blocks = [[Block::ZERO; $width]; VECTORS];
                for i in 0..VECTORS {
                    $store(&mut blocks[i], vectors[i]);
                }
                for (place, block) in places.iter_mut().zip(blocks.as_flattened()) {
                    *place ^= *block;
                }
            }

            /// Four leaves at a time (two, if there are no more) stay in registers. A longer piece of code without a loop would let
            /// the compiler put all its additions last, and the blocks into memory until then.
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
                        // The first leaf is in no sum but the total, which the side without it does not need.
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

            /// Hashes at `OFFSETS` offsets from each block, `KEYS` vectors of blocks at a time.
            #[target_feature(enable = $features)]
            fn hash<const OFFSETS: usize, const KEYS: usize>(
                points: &HashedPoints<'_>,
                offsets: &[Block],
                words: &mut [u64],
            ) {
                let (offsets, _) = offsets.as_chunks::<OFFSETS>();
                let stride = points.offsets.len();
                let chunk = KEYS * $width;
                for (number, blocks) in points.blocks.chunks(chunk).enumerate() {
                    let first = number * chunk;
                    // A last chunk that is not full is copied into a full one.
                    let mut padded = [[Block::ZERO; $width]; KEYS];
                    padded.as_flattened_mut()[..blocks.len()].copy_from_slice(blocks);
                    let mut mapped = [$zero(); KEYS];
                    for i in 0..KEYS {
                        mapped[i] = $aes::orthomorphism($load(&padded[i]));
                    }
                    for (part, offsets) in offsets.iter().enumerate() {
                        let mut keys = [$zero(); KEYS];
                        let mut states = [[$zero(); OFFSETS]; KEYS];
                        for i in 0..KEYS {
                            keys[i] = $load(&std::array::from_fn(|at| {
                                points.key(first + i * $width + at)
                            }));
                            for j in 0..OFFSETS {
                                let offset = $aes::orthomorphism($splat(&offsets[j]));
                                states[i][j] = $xor(mapped[i], offset);
                            }
                        }
                        let inputs = states;
                        $aes::rounds(&mut keys, &mut states);
                        for i in 0..KEYS {
                            let mut hashes = [[Block::ZERO; $width]; OFFSETS];
                            for j in 0..OFFSETS {
                                $store(&mut hashes[j], $xor(states[i][j], inputs[i][j]));
                            }
                            let lists = words.chunks_exact_mut(stride);
                            let lists = lists.skip(first + i * $width).take($width);
                            for (lane, list) in lists.enumerate() {
                                for j in 0..OFFSETS {
                                    list[part * OFFSETS + j] = hashes[j][lane].words()[0];
                                }
                            }
                        }
                    }
                }
            }

            impl $token {
                pub(crate) fn sum_streams(self, keys: &[[Block; 11]], out: &mut StreamSums<'_>) {
                    // SAFETY: there is a token only where the instructions were detected.
                    unsafe {
                        match keys.len() {
                            2 => sum_streams::<2>(keys, out),
                            _ => sum_streams::<4>(keys, out),
                        }
                    }
                }

                pub(crate) fn hash_low_words(self, points: &HashedPoints<'_>, words: &mut [u64]) {
                    // SAFETY: there is a token only where the instructions were detected.
                    unsafe {
                        match points.offsets.len() {
                            1 => hash::<1, 4>(points, points.offsets, words),
                            2 => hash::<2, 4>(points, points.offsets, words),
                            4 => hash::<4, 2>(points, points.offsets, words),
                            _ => hash::<8, 1>(points, points.offsets, words),
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
    _mm512_setzero_si512,
    _mm512_add_epi64,
    _mm512_xor_si512,
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
    _mm_setzero_si128,
    _mm_add_epi64,
    _mm_xor_si128,
    _mm_aesenc_si128,
    _mm_aesenclast_si128
);

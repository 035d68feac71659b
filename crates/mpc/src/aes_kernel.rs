//! AES and half gates in x86-64 vector registers: VAES-512 and AES-NI.
//!
//! One of the crate's five files with unsafe code. The safe interface consists of the types [`Vaes512`] and [`AesNi`].
//! A value of either type proves that its instructions were detected, including those of [`crate::clmul_kernel`],
//! [`crate::ot_kernel`], [`crate::sha_kernel`] and [`crate::transpose_kernel`]. The kernel implements half gates as a
//! whole, because moving labels out of the vector registers between hash and table costs more than AES does. Gate round
//! keys are computed on the fly and never reach memory. The choice of path affects only speed: tests compare both with
//! the portable implementation, [`crate::aes_portable`].
//!
//! No branch or address depends on keys or blocks.
#![allow(unsafe_code)]

use crate::block::Block;
use crate::circuit::LANES;
use crate::kernel::{AsBlock, Garbled, Gate, Lanes, Tables, lane_tweak};
use core::arch::x86_64::*;

/// Proof that this processor has VAES, VPCLMULQDQ, GFNI and byte permutations on 512-bit vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Vaes512(());

/// Proof that this processor has AES-NI and PCLMULQDQ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AesNi(());

impl Vaes512 {
    pub(crate) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("vaes")
            && is_x86_feature_detected!("vpclmulqdq")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("gfni"))
        .then_some(Self(()))
    }
}

impl AesNi {
    pub(crate) fn detect() -> Option<Self> {
        (is_x86_feature_detected!("aes")
            && is_x86_feature_detected!("pclmulqdq")
            && is_x86_feature_detected!("ssse3"))
        .then_some(Self(()))
    }
}

/// The round constants of the AES-128 key schedule.
const ROUND_CONSTANTS: [i32; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// Copies the last column, rotated by one byte, into all four columns.
const LAST_COLUMN_ROTATED: i32 = 0x0c0f_0e0d;

const LANE_TWEAKS: Lanes = {
    let mut tweaks = [Block::ZERO; LANES];
    let mut lane = 0;
    while lane < LANES {
        tweaks[lane] = Block::new(lane_tweak(lane) as u128);
        lane += 1;
    }
    tweaks
};

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn load(block: &Block) -> __m128i {
    // SAFETY: a block is 16 readable bytes, and the load is unaligned.
    unsafe { _mm_loadu_si128(std::ptr::from_ref(block).cast()) }
}

/// Loads block by block: the labels were just stored that way, and one wide load would have to wait for all the stores.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn load_512(blocks: &[Block; 4]) -> __m512i {
    let first = _mm512_castsi128_si512(load(&blocks[0]));
    let second = _mm512_inserti32x4::<1>(first, load(&blocks[1]));
    let third = _mm512_inserti32x4::<2>(second, load(&blocks[2]));
    _mm512_inserti32x4::<3>(third, load(&blocks[3]))
}

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn load_128(blocks: &[Block; 1]) -> __m128i {
    load(&blocks[0])
}

#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn store_512(blocks: &mut [Block; 4], value: __m512i) {
    // SAFETY: 64 writable bytes, valid for every bit pattern, and the store is unaligned.
    unsafe { _mm512_storeu_si512(blocks.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "sse2")]
pub(crate) fn store_128(blocks: &mut [Block; 1], value: __m128i) {
    // SAFETY: 16 writable bytes, valid for every bit pattern, and the store is unaligned.
    unsafe { _mm_storeu_si128(blocks.as_mut_ptr().cast(), value) }
}

/// The kernel for vectors of `$width` blocks. The instruction sets differ only in names, so the code is written once.
macro_rules! kernel {
    (
        $name:ident, $token:ident, $features:literal, $vector:ty, $width:literal, $load:ident, $store:ident,
        $zero:ident, $set_words:ident, $xor:ident, $and:ident, $subtract:ident, $swap:ident,
        $low_halves:ident, $high_halves:ident, $shift:ident, $shuffle:ident, $enc:ident, $enc_last:ident
    ) => {
        pub(crate) mod $name {
            use super::*;

            /// Label vectors in flight. Each uses two keys and up to four blocks.
            const AT_ONCE: usize = 2;

            /// Evaluation has half as many blocks per key, so more keys fit.
            const EVALUATE_AT_ONCE: usize = if $width == 1 { 4 } else { 2 };

            /// The next round key. The last round of AES applies the S-box; its row shift does nothing, as all
            /// columns are equal.
            #[inline]
            #[target_feature(enable = $features)]
            fn next_key(key: $vector, round_constant: i32) -> $vector {
                let rotated = $shuffle(key, $set_words(LAST_COLUMN_ROTATED));
                let mixed = $enc_last(rotated, $set_words(round_constant));
                let sums = $xor(key, $shift::<4>(key));
                $xor($xor(sums, $shift::<8>(sums)), mixed)
            }

            /// Encrypts the states of each key. Round keys are computed on the fly.
            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) fn rounds<const KEYS: usize, const STATES: usize>(
                keys: &mut [$vector; KEYS],
                states: &mut [[$vector; STATES]; KEYS],
            ) {
                for i in 0..KEYS {
                    for j in 0..STATES {
                        states[i][j] = $xor(states[i][j], keys[i]);
                    }
                }
                for round in 0..9 {
                    for i in 0..KEYS {
                        keys[i] = next_key(keys[i], ROUND_CONSTANTS[round]);
                        for j in 0..STATES {
                            states[i][j] = $enc(states[i][j], keys[i]);
                        }
                    }
                }
                for i in 0..KEYS {
                    keys[i] = next_key(keys[i], ROUND_CONSTANTS[9]);
                    for j in 0..STATES {
                        states[i][j] = $enc_last(states[i][j], keys[i]);
                    }
                }
            }

            #[inline]
            #[target_feature(enable = $features)]
            pub(crate) fn orthomorphism(x: $vector) -> $vector {
                // (L‖R) ↦ (R‖L) ⊕ (L‖0).
                $xor($swap::<0b01_00_11_10>(x), $high_halves($zero(), x))
            }

            /// All ones where the lowest bit of a block is set.
            #[inline]
            #[target_feature(enable = $features)]
            fn low_bit_mask(x: $vector) -> $vector {
                let bit = $and(x, splat(Block::new(1)));
                $subtract($zero(), $low_halves(bit, bit))
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn splat(block: Block) -> $vector {
                $load(&[block; $width])
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn at<L: AsBlock>(lanes: &[L], vector: usize) -> $vector {
                let (vectors, _) = lanes.as_chunks::<$width>();
                $load(&vectors[vector].map(AsBlock::block))
            }

            #[inline]
            #[target_feature(enable = $features)]
            fn put(lanes: &mut [Block], vector: usize, value: $vector) {
                let (vectors, _) = lanes.as_chunks_mut::<$width>();
                $store(&mut vectors[vector], value);
            }

            #[target_feature(enable = $features)]
            fn garble<L: AsBlock>(gate: &Gate<'_, L>, delta: Block, lanes: usize) -> Garbled {
                let mut garbled = Garbled::default();
                let (gate_key, one) = (splat(gate.key), splat(Block::new(1)));
                let delta = splat(delta);
                let mapped_delta = orthomorphism(delta);
                for first in (0..lanes.div_ceil($width)).step_by(AT_ONCE) {
                    let mut keys = [$zero(); 2 * AT_ONCE];
                    let mut mapped = [$zero(); 2 * AT_ONCE];
                    let mut states = [[$zero(); 2]; 2 * AT_ONCE];
                    for i in 0..AT_ONCE {
                        keys[2 * i] = $xor(gate_key, at(&LANE_TWEAKS, first + i));
                        keys[2 * i + 1] = $xor(keys[2 * i], one);
                        mapped[2 * i] = orthomorphism(at(gate.a, first + i));
                        mapped[2 * i + 1] = orthomorphism(at(gate.b, first + i));
                    }
                    for i in 0..2 * AT_ONCE {
                        states[i] = [mapped[i], $xor(mapped[i], mapped_delta)];
                    }
                    rounds(&mut keys, &mut states);
                    for i in 0..AT_ONCE {
                        let (a, b) = (at(gate.a, first + i), at(gate.b, first + i));
                        let (mask_a, mask_b) = (low_bit_mask(a), low_bit_mask(b));
                        let [a0, a1] = states[2 * i];
                        let [b0, b1] = states[2 * i + 1];
                        // The XOR of both labels' hashes, in which σ(x) cancels.
                        let both_a = $xor($xor(a0, a1), mapped_delta);
                        let both_b = $xor($xor(b0, b1), mapped_delta);
                        let garbler_half = $xor(both_a, $and(mask_b, delta));
                        let half_a = $xor($xor(a0, mapped[2 * i]), $and(mask_a, garbler_half));
                        let half_b = $xor($xor(b0, mapped[2 * i + 1]), $and(mask_b, both_b));
                        put(&mut garbled.tables.garbler_half, first + i, garbler_half);
                        put(
                            &mut garbled.tables.evaluator_half,
                            first + i,
                            $xor(both_b, a),
                        );
                        put(&mut garbled.zero, first + i, $xor(half_a, half_b));
                    }
                }
                garbled
            }

            #[target_feature(enable = $features)]
            fn evaluate<L: AsBlock>(gate: &Gate<'_, L>, tables: &Tables, lanes: usize) -> Lanes {
                let mut out = [Block::ZERO; LANES];
                let (gate_key, one) = (splat(gate.key), splat(Block::new(1)));
                for first in (0..lanes.div_ceil($width)).step_by(EVALUATE_AT_ONCE) {
                    let mut keys = [$zero(); 2 * EVALUATE_AT_ONCE];
                    let mut states = [[$zero(); 1]; 2 * EVALUATE_AT_ONCE];
                    for i in 0..EVALUATE_AT_ONCE {
                        keys[2 * i] = $xor(gate_key, at(&LANE_TWEAKS, first + i));
                        keys[2 * i + 1] = $xor(keys[2 * i], one);
                        states[2 * i] = [orthomorphism(at(gate.a, first + i))];
                        states[2 * i + 1] = [orthomorphism(at(gate.b, first + i))];
                    }
                    let mapped = states;
                    rounds(&mut keys, &mut states);
                    for i in 0..EVALUATE_AT_ONCE {
                        let (a, b) = (at(gate.a, first + i), at(gate.b, first + i));
                        let garbler_half = at(&tables.garbler_half, first + i);
                        let evaluator_half = at(&tables.evaluator_half, first + i);
                        let hash_a = $xor(states[2 * i][0], mapped[2 * i][0]);
                        let hash_b = $xor(states[2 * i + 1][0], mapped[2 * i + 1][0]);
                        let half_a = $xor(hash_a, $and(low_bit_mask(a), garbler_half));
                        let half_b = $xor(hash_b, $and(low_bit_mask(b), $xor(evaluator_half, a)));
                        put(&mut out, first + i, $xor(half_a, half_b));
                    }
                }
                out
            }

            #[target_feature(enable = $features)]
            fn encrypt_rekeyed(keys: &[Block], blocks: &mut [Block]) {
                const CHUNK: usize = 4 * $width;
                for (keys, blocks) in keys.chunks(CHUNK).zip(blocks.chunks_mut(CHUNK)) {
                    // Pads the last chunk if it is not full.
                    let mut padded = [[Block::ZERO; CHUNK]; 2];
                    padded[0][..keys.len()].copy_from_slice(keys);
                    padded[1][..blocks.len()].copy_from_slice(blocks);
                    let (mut keys, mut states) = ([$zero(); 4], [[$zero(); 1]; 4]);
                    for i in 0..4 {
                        keys[i] = at(&padded[0], i);
                        states[i] = [at(&padded[1], i)];
                    }
                    rounds(&mut keys, &mut states);
                    for i in 0..4 {
                        put(&mut padded[1], i, states[i][0]);
                    }
                    blocks.copy_from_slice(&padded[1][..blocks.len()]);
                }
            }

            #[target_feature(enable = $features)]
            fn round_keys(key: Block) -> [Block; 11] {
                let mut keys = [key; 11];
                let mut current = splat(key);
                for round in 0..10 {
                    current = next_key(current, ROUND_CONSTANTS[round]);
                    let mut copies = [Block::ZERO; $width];
                    $store(&mut copies, current);
                    keys[round + 1] = copies[0];
                }
                keys
            }

            #[target_feature(enable = $features)]
            fn encrypt(round_keys: &[Block; 11], blocks: &mut [Block]) {
                const CHUNK: usize = 8 * $width;
                let mut keys = [$zero(); 11];
                for i in 0..11 {
                    keys[i] = splat(round_keys[i]);
                }
                let (whole, rest) = blocks.as_chunks_mut::<CHUNK>();
                let mut padded = [Block::ZERO; CHUNK];
                padded[..rest.len()].copy_from_slice(rest);
                for chunk in whole
                    .iter_mut()
                    .chain((!rest.is_empty()).then_some(&mut padded))
                {
                    let mut states = [$zero(); 8];
                    for i in 0..8 {
                        states[i] = $xor(at(chunk, i), keys[0]);
                    }
                    for round in 1..10 {
                        for state in &mut states {
                            *state = $enc(*state, keys[round]);
                        }
                    }
                    for i in 0..8 {
                        put(chunk, i, $enc_last(states[i], keys[10]));
                    }
                }
                rest.copy_from_slice(&padded[..rest.len()]);
            }

            impl $token {
                #[inline]
                pub(crate) fn garble<L: AsBlock>(
                    self,
                    gate: &Gate<'_, L>,
                    delta: Block,
                    lanes: usize,
                ) -> Garbled {
                    // SAFETY: the token proves that the instructions were detected.
                    unsafe { garble(gate, delta, lanes) }
                }

                #[inline]
                pub(crate) fn evaluate<L: AsBlock>(
                    self,
                    gate: &Gate<'_, L>,
                    tables: &Tables,
                    lanes: usize,
                ) -> Lanes {
                    // SAFETY: the token proves that the instructions were detected.
                    unsafe { evaluate(gate, tables, lanes) }
                }

                pub(crate) fn encrypt_rekeyed(self, keys: &[Block], blocks: &mut [Block]) {
                    // SAFETY: the token proves that the instructions were detected.
                    unsafe { encrypt_rekeyed(keys, blocks) }
                }

                pub(crate) fn round_keys(self, key: Block) -> [Block; 11] {
                    // SAFETY: the token proves that the instructions were detected.
                    unsafe { round_keys(key) }
                }

                pub(crate) fn encrypt(self, round_keys: &[Block; 11], blocks: &mut [Block]) {
                    // SAFETY: the token proves that the instructions were detected.
                    unsafe { encrypt(round_keys, blocks) }
                }
            }
        }
    };
}

kernel!(
    vaes512,
    Vaes512,
    "avx512f,avx512bw,vaes",
    __m512i,
    4,
    load_512,
    store_512,
    _mm512_setzero_si512,
    _mm512_set1_epi32,
    _mm512_xor_si512,
    _mm512_and_si512,
    _mm512_sub_epi64,
    _mm512_shuffle_epi32,
    _mm512_unpacklo_epi64,
    _mm512_unpackhi_epi64,
    _mm512_bslli_epi128,
    _mm512_shuffle_epi8,
    _mm512_aesenc_epi128,
    _mm512_aesenclast_epi128
);

kernel!(
    aes_ni,
    AesNi,
    "aes,ssse3",
    __m128i,
    1,
    load_128,
    store_128,
    _mm_setzero_si128,
    _mm_set1_epi32,
    _mm_xor_si128,
    _mm_and_si128,
    _mm_sub_epi64,
    _mm_shuffle_epi32,
    _mm_unpacklo_epi64,
    _mm_unpackhi_epi64,
    _mm_slli_si128,
    _mm_shuffle_epi8,
    _mm_aesenc_si128,
    _mm_aesenclast_si128
);

//! Transposes squares of 128 by 128 bits with AVX-512 and GFNI, four adjacent squares at a time.
//!
//! One of the crate's five files with unsafe code. The token of [`crate::aes_kernel`] proves that the instructions were
//! detected. Tests compare it with [`crate::transpose`].
//!
//! No branch or address depends on the bits.
#![allow(unsafe_code)]

use crate::aes_kernel::{Vaes512, store_512};
use crate::block::Block;
use crate::clmul_kernel::load_512;
use core::arch::x86_64::*;
use zeroize::Zeroize;

/// Eight bit squares of 8 by 8 bits.
type BitSquares = [Block; 4];

/// For each square, the bit squares of its left and its right half: a list for every eight rows.
type Squares = [[[BitSquares; 16]; 2]; 4];

/// The identity. Multiplying a bit square (a bit matrix whose lowest row is the highest byte) by it transposes the bit
/// square.
const UNIT_BIT_SQUARE: i64 = 0x8040_2010_0804_0201_u64.cast_signed();

/// The permutation from eight rows of 16 bytes, the first four in the first vector, to the bit squares of eight byte
/// columns.
const fn to_bit_squares(first_column: usize) -> [u8; 64] {
    let mut from = [0; 64];
    let mut at = 0;
    while at < 64 {
        let (column, row) = (first_column + at / 8, 7 - at % 8);
        from[at] = (row * 16 + column) as u8;
        at += 1;
    }
    from
}

/// The permutation from 16 bit squares in a column to four of the eight rows of 16 bytes that they form when
/// transposed.
const fn from_bit_squares(first_row: usize) -> [u8; 64] {
    let mut from = [0; 64];
    let mut at = 0;
    while at < 64 {
        let (row, bit_square) = (first_row + at / 16, at % 16);
        from[at] = (bit_square * 8 + row) as u8;
        at += 1;
    }
    from
}

const TO_BIT_SQUARES: [[u8; 64]; 2] = [to_bit_squares(0), to_bit_squares(8)];
const FROM_BIT_SQUARES: [[u8; 64]; 2] = [from_bit_squares(0), from_bit_squares(4)];

#[inline]
#[target_feature(enable = "avx512f")]
fn load_bytes(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 readable bytes, and the load is unaligned.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// Transposes a square of four by four blocks.
#[inline]
#[target_feature(enable = "avx512f")]
pub(crate) fn transpose_blocks([a, b, c, d]: [__m512i; 4]) -> [__m512i; 4] {
    let even = [
        _mm512_shuffle_i32x4::<0b10_00_10_00>(a, b),
        _mm512_shuffle_i32x4::<0b10_00_10_00>(c, d),
    ];
    let odd = [
        _mm512_shuffle_i32x4::<0b11_01_11_01>(a, b),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(c, d),
    ];
    [
        _mm512_shuffle_i32x4::<0b10_00_10_00>(even[0], even[1]),
        _mm512_shuffle_i32x4::<0b10_00_10_00>(odd[0], odd[1]),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(even[0], even[1]),
        _mm512_shuffle_i32x4::<0b11_01_11_01>(odd[0], odd[1]),
    ]
}

/// Transposes a square of eight by eight words.
#[inline]
#[target_feature(enable = "avx512f")]
fn transpose_words(rows: &[BitSquares]) -> [__m512i; 8] {
    let mut even = [_mm512_setzero_si512(); 4];
    let mut odd = even;
    for (at, pair) in rows.as_chunks::<2>().0.iter().enumerate().take(4) {
        let (first, second) = (load_512(&pair[0]), load_512(&pair[1]));
        even[at] = _mm512_unpacklo_epi64(first, second);
        odd[at] = _mm512_unpackhi_epi64(first, second);
    }
    let (even, odd) = (transpose_blocks(even), transpose_blocks(odd));
    [
        even[0], odd[0], even[1], odd[1], even[2], odd[2], even[3], odd[3],
    ]
}

/// Transposes each bit square of up to four squares in place.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_bit_squares(rows: &[Block], width: usize, first: usize, squares: &mut Squares) {
    let unit = _mm512_set1_epi64(UNIT_BIT_SQUARE);
    let to_bit_squares = [
        load_bytes(&TO_BIT_SQUARES[0]),
        load_bytes(&TO_BIT_SQUARES[1]),
    ];
    for (eight, rows) in rows.chunks_exact(8 * width).take(16).enumerate() {
        let mut vectors = [_mm512_setzero_si512(); 8];
        for (vector, row) in vectors.iter_mut().zip(rows.chunks_exact(width)) {
            let row = &row[first..];
            *vector = match row.first_chunk() {
                Some(blocks) => load_512(blocks),
                None => {
                    let mut blocks = [Block::ZERO; 4];
                    blocks[..row.len()].copy_from_slice(row);
                    load_512(&blocks)
                }
            };
        }
        let [a, b, c, d, e, f, g, h] = vectors;
        let upper = transpose_blocks([a, b, c, d]);
        let lower = transpose_blocks([e, f, g, h]);
        for square in 0..4 {
            for half in 0..2 {
                let bit_squares =
                    _mm512_permutex2var_epi8(upper[square], to_bit_squares[half], lower[square]);
                let turned = _mm512_gf2p8affine_epi64_epi8::<0>(unit, bit_squares);
                store_512(&mut squares[square][half][eight], turned);
            }
        }
    }
}

/// Moves the bit squares of a square to their final places.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
fn move_bit_squares(square: &[[BitSquares; 16]; 2], columns: &mut [Block]) {
    let from_bit_squares = [
        load_bytes(&FROM_BIT_SQUARES[0]),
        load_bytes(&FROM_BIT_SQUARES[1]),
    ];
    for (half, columns) in square.iter().zip(columns.chunks_exact_mut(64)) {
        let (upper, lower) = (transpose_words(&half[..8]), transpose_words(&half[8..]));
        let (columns, _) = columns.as_chunks_mut::<4>();
        let (columns, _) = columns.as_chunks_mut::<2>();
        for (at, columns) in columns.iter_mut().enumerate().take(8) {
            for part in 0..2 {
                let moved = _mm512_permutex2var_epi8(upper[at], from_bit_squares[part], lower[at]);
                store_512(&mut columns[part], moved);
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,gfni")]
fn transpose_columns(rows: &[Block], width: usize, columns: &mut [Block]) {
    let mut squares: Squares = [[[[Block::ZERO; 4]; 16]; 2]; 4];
    for (number, columns) in columns.chunks_mut(4 * 128).enumerate() {
        transpose_bit_squares(rows, width, 4 * number, &mut squares);
        for (square, columns) in squares.iter().zip(columns.chunks_exact_mut(128)) {
            move_bit_squares(square, columns);
        }
    }
    for bit_squares in squares.as_flattened_mut().as_flattened_mut() {
        bit_squares.zeroize();
    }
}

impl Vaes512 {
    pub(crate) fn transpose_columns(self, rows: &[Block], width: usize, columns: &mut [Block]) {
        // SAFETY: the token proves that the instructions were detected.
        unsafe { transpose_columns(rows, width, columns) }
    }
}

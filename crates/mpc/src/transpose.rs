//! Transposing squares of 128 by 128 bits.

use crate::block::Block;
use zeroize::Zeroize;

/// Bit j of row r becomes bit r of block j; both numbers are counted from the lowest bit.
pub(crate) fn transpose(rows: &mut [[u64; 2]; 128]) {
    for row in 0..64 {
        let (upper, lower) = rows.split_at_mut(64);
        std::mem::swap(&mut upper[row][1], &mut lower[row][0]);
    }
    transpose_within::<32>(rows, 0x0000_0000_ffff_ffff);
    transpose_within::<16>(rows, 0x0000_ffff_0000_ffff);
    transpose_within::<8>(rows, 0x00ff_00ff_00ff_00ff);
    transpose_within::<4>(rows, 0x0f0f_0f0f_0f0f_0f0f);
    transpose_within::<2>(rows, 0x3333_3333_3333_3333);
    transpose_within::<1>(rows, 0x5555_5555_5555_5555);
}

/// Swaps the off-diagonal squares of side `SIDE` in every word.
#[inline(always)]
fn transpose_within<const SIDE: usize>(rows: &mut [[u64; 2]; 128], low: u64) {
    for group in rows.chunks_exact_mut(2 * SIDE) {
        let (upper, lower) = group.split_at_mut(SIDE);
        for (upper, lower) in upper.iter_mut().zip(lower) {
            for word in 0..2 {
                let change = (upper[word] >> SIDE ^ lower[word]) & low;
                lower[word] ^= change;
                upper[word] ^= change << SIDE;
            }
        }
    }
}

/// The columns of 128 rows of `width` blocks, as many as fit into `columns`: 128 for each block.
pub(crate) fn transpose_columns(rows: &[Block], width: usize, columns: &mut [Block]) {
    // Four blocks of a row at a time: they share a cache line, and the rows' stride is too regular for many lines to
    // stay cached.
    let mut squares = [[[0; 2]; 128]; 4];
    for (number, columns) in columns.chunks_mut(4 * 128).enumerate() {
        let first = 4 * number;
        let count = columns.len() / 128;
        for (number, row) in rows.chunks_exact(width).enumerate() {
            for (square, block) in squares.iter_mut().zip(&row[first..first + count]) {
                square[number] = block.words();
            }
        }
        for (square, columns) in squares.iter_mut().zip(columns.chunks_exact_mut(128)) {
            transpose(square);
            for (column, words) in columns.iter_mut().zip(square.iter()) {
                *column = Block::from_words(*words);
            }
        }
    }
    squares.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn transposing_moves_every_bit() {
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let rows: [[u64; 2]; 128] = std::array::from_fn(|_| [rng.next_u64(), rng.next_u64()]);
        let mut turned = rows;
        transpose(&mut turned);
        let bit =
            |rows: &[[u64; 2]; 128], row: usize, at: usize| rows[row][at / 64] >> (at % 64) & 1;
        for row in 0..128 {
            for at in 0..128 {
                assert_eq!(bit(&rows, row, at), bit(&turned, at, row));
            }
        }
    }

    #[test]
    fn all_kernels_transpose_columns_equally() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        for width in [1, 2, 3, 4, 5, 9, 64] {
            let mut block = || Block::from_words([rng.next_u64(), rng.next_u64()]);
            let rows: Vec<Block> = (0..128 * width).map(|_| block()).collect();
            for used in [0, 1, width / 2, width - 1, width] {
                for kernel in Kernel::available() {
                    let mut columns = vec![Block::ZERO; used * 128];
                    kernel.transpose_columns(&rows, width, &mut columns);
                    for (at, column) in columns.iter().enumerate() {
                        let bits = (0..128).map(|row| rows[row * width + at / 128].value());
                        let bits = bits.map(|bits| bits >> (at % 128) & 1);
                        let expected = bits.rev().fold(0, |column, bit| column << 1 | bit);
                        assert_eq!(column.value(), expected, "{} {width}", kernel.name());
                    }
                }
            }
        }
    }
}

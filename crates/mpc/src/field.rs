//! GF(2¹²⁸), for the consistency check of transfers: bit i of a block is the coefficient of xⁱ, modulo
//! x¹²⁸ + x⁷ + x² + x + 1.
//!
//! [`crate::Kernel::add_products`] is the interface. This module has the arithmetic that all kernels share, and the
//! portable path. That path multiplies secret rows by public coefficients without carry-less multiplication and without
//! an address that depends on a secret: it applies the matrix of a coefficient to all rows at once, and bytes of the
//! *public* matrix choose where a column of secret bits is added (the method of four Russians).

use crate::block::Block;
use crate::transpose::transpose;
use zeroize::Zeroizing;

/// x¹²⁸, reduced.
pub(crate) const OVERFLOW: Block = Block::new(0b1000_0111);

/// 1, as a coefficient.
pub(crate) const ONE: Block = Block::new(1);

/// A product of 256 bits, lowest word first, modulo the polynomial.
#[inline]
pub(crate) const fn reduce(mut words: [u64; 4]) -> Block {
    let mut at = 3;
    while at >= 2 {
        let high = words[at];
        words[at - 1] ^= high >> 63 ^ high >> 62 ^ high >> 57;
        words[at - 2] ^= high ^ high << 1 ^ high << 2 ^ high << 7;
        at -= 1;
    }
    Block::from_words([words[0], words[1]])
}

/// x times a block. No branch depends on it.
#[inline]
pub(crate) const fn times_x(block: Block) -> Block {
    let [low, high] = block.words();
    let carry = (high >> 63).wrapping_neg() & OVERFLOW.words()[0];
    Block::from_words([low << 1 ^ carry, high << 1 | low >> 63])
}

/// Rows that are multiplied together, as many as a block has bits. Fewer rows are multiplied one by one.
const ROWS: usize = 128;

/// Adds to each sum the products of its row with the coefficients. Rows have as many blocks as there are coefficients.
pub(crate) fn add_products(coefficients: &[Block], rows: &[Block], sums: &mut [Block]) {
    let width = coefficients.len();
    let squares = rows.len() / (ROWS * width);
    let (in_squares, rows) = rows.split_at(squares * ROWS * width);
    let (sums_of_squares, sums) = sums.split_at_mut(squares * ROWS);
    add_products_of_squares(coefficients, in_squares, sums_of_squares);
    for (row, sum) in rows.chunks_exact(width).zip(sums) {
        let mut products = Block::ZERO;
        for bit in (0..128).rev() {
            products = times_x(products);
            for (coefficient, block) in coefficients.iter().zip(row) {
                products ^= *block & Block::mask(coefficient.value() >> bit & 1 == 1);
            }
        }
        *sum ^= products;
    }
}

fn add_products_of_squares(coefficients: &[Block], rows: &[Block], sums: &mut [Block]) {
    let width = coefficients.len();
    let mut sums_by_byte = Zeroizing::new(vec![Block::ZERO; 16 * 256]);
    for (rows, sums) in rows
        .chunks_exact(ROWS * width)
        .zip(sums.chunks_exact_mut(ROWS))
    {
        sums_by_byte.fill(Block::ZERO);
        let mut square = Zeroizing::new([[0; 2]; ROWS]);
        for (at, coefficient) in coefficients.iter().enumerate() {
            for (words, row) in square.iter_mut().zip(rows.chunks_exact(width)) {
                *words = row[at].words();
            }
            transpose(&mut square);
            let mut coefficient = *coefficient;
            for column in square.iter() {
                // Byte b of the public coefficient times xʲ says to which of the sums 8·b to 8·b + 7 column j belongs.
                for (sums_by_byte, byte) in sums_by_byte
                    .chunks_exact_mut(256)
                    .zip(coefficient.to_bytes())
                {
                    sums_by_byte[usize::from(byte)] ^= Block::from_words(*column);
                }
                coefficient = times_x(coefficient);
            }
        }
        for (words, sums_by_byte) in square
            .chunks_exact_mut(8)
            .zip(sums_by_byte.chunks_exact(256))
        {
            for (bit, words) in words.iter_mut().enumerate() {
                let chosen = sums_by_byte.iter().enumerate();
                let chosen = chosen.filter(|(byte, _)| byte >> bit & 1 == 1);
                *words = chosen
                    .fold(Block::ZERO, |sum, (_, block)| sum ^ *block)
                    .words();
            }
        }
        transpose(&mut square);
        for (sum, words) in sums.iter_mut().zip(square.iter()) {
            *sum ^= Block::from_words(*words);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    fn product(a: Block, b: Block) -> Block {
        let (mut sum, mut power) = (Block::ZERO, a);
        for bit in 0..128 {
            if b.value() >> bit & 1 == 1 {
                sum ^= power;
            }
            power = times_x(power);
        }
        sum
    }

    fn block(rng: &mut ChaCha20Rng) -> Block {
        Block::from_words([rng.next_u64(), rng.next_u64()])
    }

    #[test]
    fn the_polynomial_is_the_one_of_gcm() {
        // x¹²⁷ · x = x⁷ + x² + x + 1, and squaring 128 times changes nothing.
        assert_eq!(times_x(Block::new(1 << 127)), Block::new(0b1000_0111));
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        let start = block(&mut rng);
        let end = (0..128).fold(start, |power, _| product(power, power));
        assert_eq!(start, end);
        assert_eq!(product(start, ONE), start);
    }

    #[test]
    fn all_kernels_sum_the_same_products() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        for (count, width) in [
            (1, 1),
            (3, 2),
            (128, 64),
            (128, 5),
            (129, 7),
            (0, 3),
            (2, 0),
        ] {
            let coefficients: Vec<Block> = (0..width).map(|_| block(&mut rng)).collect();
            let rows: Vec<Block> = (0..count * width).map(|_| block(&mut rng)).collect();
            let before: Vec<Block> = (0..count).map(|_| block(&mut rng)).collect();
            let mut expected = before.clone();
            for (row, sum) in expected.iter_mut().enumerate() {
                for (at, coefficient) in coefficients.iter().enumerate() {
                    *sum ^= product(rows[row * width + at], *coefficient);
                }
            }
            for kernel in Kernel::available() {
                let mut sums = before.clone();
                kernel.add_products(&coefficients, &rows, &mut sums);
                assert_eq!(sums, expected, "{} {count}×{width}", kernel.name());
            }
        }
    }
}

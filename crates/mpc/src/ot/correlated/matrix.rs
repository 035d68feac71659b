//! Sums over the streams of a tree, and turning 128 rows into labels.

use super::GroupBits;
use crate::block::Block;
use crate::transpose::transpose;
use zeroize::{Zeroize, Zeroizing};

/// Room for the streams of one tree and the rows of all, kept from chunk to chunk.
#[derive(Default)]
pub(super) struct Scratch {
    streams: Zeroizing<Vec<Block>>,
    rows: Zeroizing<Vec<Block>>,
}

impl Scratch {
    /// Streams of all leaves and 128 rows, each `width` blocks wide. Their content is undefined.
    pub(super) fn of_width(
        &mut self,
        width: usize,
        group_bits: GroupBits,
    ) -> (&mut [Block], &mut [Block]) {
        let (streams, rows) = (group_bits.leaves() * width, 128 * width);
        if self.rows.len() < rows {
            self.streams = Zeroizing::new(vec![Block::ZERO; streams]);
            self.rows = Zeroizing::new(vec![Block::ZERO; rows]);
        }
        (&mut self.streams[..streams], &mut self.rows[..rows])
    }
}

/// Sums `1 << sums.len()/width` rows of `width` blocks. `sums` gets, for each bit b of a row's number, the sum of the
/// rows with that bit set; the sum of all rows ends up in the first row. The other rows are overwritten.
pub(super) fn sum_rows(rows: &mut [Block], width: usize, sums: &mut [Block]) {
    let mut count = rows.len() / width;
    for sum in sums.chunks_exact_mut(width) {
        sum.fill(Block::ZERO);
        for pair in 0..count / 2 {
            // Row 2p and 2p + 1 become row p.
            let (front, back) = rows.split_at_mut(2 * pair * width);
            let (even, odd) = back[..2 * width].split_at(width);
            for (sum, odd) in sum.iter_mut().zip(odd) {
                *sum ^= *odd;
            }
            if pair == 0 {
                let (even, odd) = back[..2 * width].split_at_mut(width);
                for (even, odd) in even.iter_mut().zip(odd.iter()) {
                    *even ^= *odd;
                }
            } else {
                let place = &mut front[pair * width..(pair + 1) * width];
                for ((place, even), odd) in place.iter_mut().zip(even).zip(odd) {
                    *place = *even ^ *odd;
                }
            }
        }
        count /= 2;
    }
}

/// The labels of the first blocks of 128 rows of `width` blocks: 128 for each block.
pub(super) fn columns(rows: &[Block], width: usize, labels: &mut [Block]) {
    // Four blocks of a row at a time: they share a cache line, and the rows' stride is too regular for many lines to
    // stay cached.
    let mut squares = [[[0; 2]; 128]; 4];
    for (number, labels) in labels.chunks_mut(4 * 128).enumerate() {
        let first = 4 * number;
        let count = labels.len() / 128;
        for (number, row) in rows.chunks_exact(width).enumerate() {
            for (square, block) in squares.iter_mut().zip(&row[first..first + count]) {
                square[number] = block.words();
            }
        }
        for (square, labels) in squares.iter_mut().zip(labels.chunks_exact_mut(128)) {
            transpose(square);
            for (label, words) in labels.iter_mut().zip(square.iter()) {
                *label = Block::from_words(*words);
            }
        }
    }
    squares.zeroize();
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    #[test]
    fn rows_are_summed_by_the_bits_of_their_numbers() {
        let mut rng = ChaCha20Rng::seed_from_u64(2);
        for bits in 1..=4 {
            let width = 3;
            let rows: Vec<Block> = (0..width << bits)
                .map(|_| Block::new(u128::from(rng.next_u64())))
                .collect();
            let mut sums = vec![Block::ZERO; bits * width];
            let mut used = rows.clone();
            sum_rows(&mut used, width, &mut sums);
            for at in 0..width {
                let sum = |chosen: &dyn Fn(usize) -> bool| {
                    (0..1 << bits)
                        .filter(|&row| chosen(row))
                        .fold(Block::ZERO, |sum, row| sum ^ rows[row * width + at])
                };
                assert_eq!(used[at], sum(&|_| true));
                for bit in 0..bits {
                    assert_eq!(sums[bit * width + at], sum(&|row| row >> bit & 1 == 1));
                }
            }
        }
    }
}

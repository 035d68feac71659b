//! The discrete Fréchet distance: 6·w gates, where the rank of a distance has w bits.

use super::Cell;
use crate::circuit::numbers::{bits_for, max_assign, min_assign};
use crate::circuit::{Bundle, Circuit};

/// X(i,j) = max(d, min(X(i−1,j−1), X(i−1,j), X(i,j−1))), with the corner X(0,0) = 0 and all other borders infinite.
///
/// Only the order of distances matters, so d is the rank of the distance among all distances that occur.
///
/// - input: d, w bits;
/// - along the row: X(i,j), X(i−1,j);
/// - down the column: X(i,j);
/// - result of a column: X(m,j); the last one is the rank of the result.
///
/// The border is 2^w − 1, at least as large as every rank. This suffices, because every cell has a neighbour that is
/// the corner or inside the matrix.
///
/// **Padding** is a letter at rank 0 from itself and at rank 2^w − 1, which exceeds all others, from every other
/// letter. If both strings end in at least one padding letter, X(m,n) reaches the last cell: the first cell where
/// padding meets padding has X(m,n) to its upper left, and 2^w − 1 above and to its left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrechetCell {
    width: usize,
}

impl FrechetCell {
    /// The cell for ranks up to `largest_rank`, which count from 0.
    pub fn new(largest_rank: u64, padded: bool) -> Self {
        Self {
            width: bits_for(largest_rank.saturating_add(padded.into())),
        }
    }

    /// The input for the rank of a distance.
    pub fn input(&self, rank: u64) -> u64 {
        rank
    }

    /// The input for padding against padding (`both_padded`), or against a letter.
    pub fn input_of_padding(&self, both_padded: bool) -> u64 {
        input_of_padding(self.width, both_padded)
    }
}

/// 0 for padding against padding, and 2^w − 1 for padding against a letter.
pub(super) fn input_of_padding(width: usize, both_padded: bool) -> u64 {
    let largest = u64::MAX >> (64 - width.clamp(1, 64));
    if both_padded { 0 } else { largest }
}

impl Cell for FrechetCell {
    fn across_wires(&self) -> usize {
        2 * self.width
    }

    fn down_wires(&self) -> usize {
        self.width
    }

    fn input_wires(&self) -> usize {
        self.width
    }

    fn left_border(&self, _: usize) -> bool {
        true
    }

    fn corner(&self, wire: usize) -> bool {
        wire < self.width
    }

    fn upper_border(&self, _: usize) -> bool {
        true
    }

    fn run<C: Circuit>(
        &self,
        circuit: &mut C,
        across: &mut [Bundle<C::Label>],
        down: &mut [Bundle<C::Label>],
        input: &mut [Bundle<C::Label>],
    ) {
        let (left, diagonal) = across.split_at_mut(self.width);
        min_assign(circuit, left, down);
        min_assign(circuit, left, diagonal);
        max_assign(circuit, left, input);
        diagonal.copy_from_slice(down);
        down.copy_from_slice(left);
    }

    fn result_wires(&self) -> usize {
        self.width
    }

    fn result<C: Circuit>(
        &self,
        _: &C,
        down: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        result.copy_from_slice(down);
    }
}

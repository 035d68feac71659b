//! The Hausdorff distance: 4·w gates, where the rank of a distance has w bits.

use super::Cell;
use super::frechet::input_of_padding;
use crate::circuit::numbers::{bits_for, min_assign};
use crate::circuit::{Bundle, Circuit};

/// The smallest distance of each row and of each column. The result is the largest of these. Only the order of
/// distances matters, so the cell uses their ranks.
///
/// - input: the rank, w bits;
/// - along the row: the minimum of the row so far;
/// - down the column: the minimum of the column so far;
/// - result of a row or a column: its minimum.
///
/// **Padding** is a letter at rank 0 from itself and at rank 2^w − 1, which exceeds all others, from every other
/// letter. So it does not change the minimum of another letter. If both strings have at least one padding letter, its
/// own minima are 0 and do not change the maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HausdorffCell {
    width: usize,
}

impl HausdorffCell {
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

impl Cell for HausdorffCell {
    fn across_wires(&self) -> usize {
        self.width
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
        min_assign(circuit, across, input);
        min_assign(circuit, down, input);
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

    fn row_result_wires(&self) -> usize {
        self.width
    }

    fn row_result<C: Circuit>(
        &self,
        _: &C,
        across: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        result.copy_from_slice(across);
    }
}

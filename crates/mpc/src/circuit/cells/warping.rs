//! Dynamic time warping: 5·w − 1 gates, where the largest sum has w bits.

use super::Cell;
use crate::circuit::numbers::{add_assign, bits_for, min_assign};
use crate::circuit::{Bundle, Circuit};

/// X(i,j) = d + min(X(i−1,j−1), X(i−1,j), X(i,j−1)), with the corner X(0,0) = 0 and all other borders infinite.
///
/// - input: d, and with padding one more bit, which says whether exactly one of the two letters is padding;
/// - along the row: X(i,j), X(i−1,j);
/// - down the column: X(i,j);
/// - result of a column: X(m,j); the last one is the result.
///
/// **Width.** The shortest path to (i,j) has max(i,j) cells, so X(i,j) ≤ max(m,n)·D, where D is the largest distance; w
/// is the number of bits of that bound. The border is 2^w − 1, at least as large as every X. Every cell has a neighbour
/// that is the corner or inside the matrix, so a minimum never needs a larger border, and nothing is added to the
/// border itself.
///
/// **Padding** is a letter at distance 0 from itself. Cells where it meets another letter are set to 2^w − 1 (w more
/// gates). If both strings end in at least one padding letter, the first cell where padding meets padding has X(m,n) to
/// its upper left and the border value above and to its left, so X(m,n) reaches the last cell through the rest of the
/// padding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpingCell {
    width: usize,
    distance_width: usize,
    padded: bool,
}

impl WarpingCell {
    /// The cell for distances up to `largest_distance` and strings up to a length of `longest`. Divide all distances by
    /// their greatest common divisor first.
    pub fn new(largest_distance: u64, longest: u64, padded: bool) -> Self {
        let width = bits_for(largest_distance.saturating_mul(longest));
        Self {
            width,
            distance_width: bits_for(largest_distance).min(width),
            padded,
        }
    }

    /// The input for a distance.
    pub fn input(&self, distance: u64) -> u64 {
        distance
    }

    /// The input for padding against padding (`both_padded`), or against a letter.
    pub fn input_of_padding(&self, both_padded: bool) -> u64 {
        u64::from(!both_padded) << self.distance_width
    }
}

impl Cell for WarpingCell {
    fn across_wires(&self) -> usize {
        2 * self.width
    }

    fn down_wires(&self) -> usize {
        self.width
    }

    fn input_wires(&self) -> usize {
        self.distance_width + usize::from(self.padded)
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
        let (distance, meets_padding) = input.split_at(self.distance_width);
        min_assign(circuit, left, down);
        min_assign(circuit, left, diagonal);
        add_assign(circuit, left, distance);
        if let [meets_padding] = meets_padding {
            let letters = circuit.not(meets_padding);
            for x in left.iter_mut() {
                let zero = circuit.and(&letters, &circuit.not(x));
                *x = circuit.not(&zero);
            }
        }
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

//! Local alignment: at most 10·w − 2 gates, where the largest score has w bits.

use super::Cell;
use crate::circuit::numbers::{
    add_assign, add_constant_assign, bits_for, max_assign, saturating_subtract_constant_assign,
};
use crate::circuit::{Bundle, Circuit};

/// Smith–Waterman with one gap penalty g: M(i,j) = max(0, M(i−1,j−1) + s, M(i−1,j) − g, M(i,j−1) − g). The score is the
/// largest M anywhere. Its position stays hidden: every column has its own maximum, and the circuit takes the maximum
/// of these.
///
/// - input: T = max(0, s + 2·g) (a substitution worse than two gaps never pays off);
/// - along the row: M(i,j), M(i−1,j);
/// - down the column: M(i,j), the column's maximum so far;
/// - result of a column: its maximum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalCell {
    width: usize,
    input_width: usize,
    gap: u64,
}

impl LocalCell {
    /// The cell for scores up to `largest_score` (for example the shorter length times the best substitution),
    /// substitutions up to `best_substitution` and this gap penalty.
    pub fn new(largest_score: u64, best_substitution: u64, gap: u64) -> Self {
        // A gap that costs more than the largest score never pays off.
        let gap = gap.min(largest_score);
        let margin = gap.saturating_mul(2);
        let width = bits_for(largest_score.saturating_add(margin));
        Self {
            width,
            input_width: bits_for(best_substitution.saturating_add(margin)).min(width),
            gap,
        }
    }

    /// The input for a substitution that scores `substitution`: T above.
    pub fn input(&self, substitution: i64) -> u64 {
        let raised = i128::from(substitution) + 2 * i128::from(self.gap);
        let max_input = u128::MAX >> (128 - self.input_width.min(64));
        u128::try_from(raised).map_or(0, |raised| raised.min(max_input) as u64)
    }
}

impl Cell for LocalCell {
    fn across_wires(&self) -> usize {
        2 * self.width
    }

    fn down_wires(&self) -> usize {
        2 * self.width
    }

    fn input_wires(&self) -> usize {
        self.input_width
    }

    fn left_border(&self, _: usize) -> bool {
        false
    }

    fn upper_border(&self, _: usize) -> bool {
        false
    }

    fn run<C: Circuit>(
        &self,
        circuit: &mut C,
        across: &mut [Bundle<C::Label>],
        down: &mut [Bundle<C::Label>],
        input: &mut [Bundle<C::Label>],
    ) {
        let (left, diagonal) = across.split_at_mut(self.width);
        let (up, best) = down.split_at_mut(self.width);
        // All three candidates are raised by 2·g, so that none is negative: M = max(2g, diagonal + T, max(up, left) +
        // g) − 2g.
        add_assign(circuit, diagonal, input);
        max_assign(circuit, left, up);
        add_constant_assign(circuit, left, self.gap);
        max_assign(circuit, left, diagonal);
        saturating_subtract_constant_assign(circuit, left, 2 * self.gap);
        diagonal.copy_from_slice(up);
        up.copy_from_slice(left);
        max_assign(circuit, best, up);
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
        result.copy_from_slice(&down[self.width..]);
    }
}

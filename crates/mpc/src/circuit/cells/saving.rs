//! Any costs, with fewer gates for wide ones: 5·w + 2, where the sum of an insertion and a deletion has w bits.

use super::Cell;
use crate::circuit::numbers::{add_assign, bits_for, precedes, select_assign};
use crate::circuit::{Bundle, Circuit};

/// Global alignment with any substitution table. With C = c_ins + c_del and S the substitution cost, a cell holds
/// U(i,j) = i·c_del + j·c_ins − M(i,j), which is what substitutions save compared with gaps alone:
///
/// ```text
/// U(i,j) = max(U(i−1,j), U(i,j−1), U(i−1,j−1) + T),   T = max(0, C − S),   U(i,0) = U(0,j) = 0
/// ```
///
/// - input: T, w bits (a substitution that costs more than a deletion plus an insertion never pays off);
/// - along the row: U(i,j), then U(i−1,j), each modulo 2^(w+1);
/// - down the column: U(i,j) modulo 2^(w+1);
/// - result of a column: the same. The last row rises by at most C from column to column, so [`unwrapped`] recovers its
///   last number, and the distance is m·c_del + n·c_ins minus that number (m rows, n columns).
///
/// All three candidates are between U(i−1,j−1) and U(i−1,j−1) + C: U never falls along a row or down a column, and one
/// more letter saves at most C. So two of them differ by at most C < 2^w, and the sign of their difference modulo
/// 2^(w+1) says which is larger.
///
/// [`unwrapped`]: crate::circuit::reduce::unwrapped
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SavingCell {
    insertion_and_deletion: u64,
    width: usize,
}

impl SavingCell {
    /// The cell for insertions and deletions that together cost `insertion_and_deletion`. Divide all costs by their
    /// greatest common divisor first: the width depends only on this sum.
    pub fn new(insertion_and_deletion: u64) -> Self {
        Self {
            insertion_and_deletion,
            width: bits_for(insertion_and_deletion),
        }
    }

    /// The input for a substitution of this cost: T = max(0, C − S). An extra letter whose input is 0 against every
    /// letter serves as padding: it changes no result and hides the length.
    pub fn input(&self, substitution: u64) -> u64 {
        self.insertion_and_deletion.saturating_sub(substitution)
    }
}

impl Cell for SavingCell {
    fn across_wires(&self) -> usize {
        2 * (self.width + 1)
    }

    fn down_wires(&self) -> usize {
        self.width + 1
    }

    fn input_wires(&self) -> usize {
        self.width
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
        let (left, diagonal) = across.split_at_mut(self.width + 1);
        let up = down;
        add_assign(circuit, diagonal, input);
        let up_is_larger = precedes(circuit, left, up);
        select_assign(circuit, &up_is_larger, left, up);
        let diagonal_is_larger = precedes(circuit, left, diagonal);
        select_assign(circuit, &diagonal_is_larger, left, diagonal);
        diagonal.copy_from_slice(up);
        up.copy_from_slice(left);
    }

    fn result_wires(&self) -> usize {
        self.width + 1
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

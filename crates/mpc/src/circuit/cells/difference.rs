//! Any costs, with fewer gates for narrow ones: 6·w − 2, where the sum of an insertion and a deletion has w bits.

use super::Cell;
use crate::circuit::numbers::{bits_for, max_assign, next_carry};
use crate::circuit::{Bundle, Circuit};

/// Global alignment with any substitution table. With C = c_ins + c_del and S the substitution cost:
///
/// - input: T = max(0, C − S), w bits (a substitution that costs more than a deletion plus an insertion never pays
///   off);
/// - along the row: V = C − (M(i,j) − M(i−1,j) + c_ins), in 0..=C;
/// - down the column: H = C − (M(i,j) − M(i,j−1) + c_del), in 0..=C;
/// - result of a column: H, so the distance is m·c_del + n·c_ins minus the sum of the results (m rows, n columns).
///
/// With t = max(T, V, H), the new H is t − V and the new V is t − H.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DifferenceCell {
    insertion_and_deletion: u64,
    width: usize,
}

impl DifferenceCell {
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

impl Cell for DifferenceCell {
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
        max_assign(circuit, input, across);
        max_assign(circuit, input, down);
        // Both subtractions t + ¬x + 1, interleaved bit by bit: each needs what the other overwrites.
        let mut carry_h = circuit.constants(true);
        let mut carry_v = circuit.constants(true);
        let last = self.width.saturating_sub(1);
        for (at, ((t, v), h)) in input.iter().zip(across).zip(down).enumerate() {
            let (not_v, not_h) = (circuit.not(v), circuit.not(h));
            *h = circuit.xor(&circuit.xor(t, &not_v), &carry_h);
            *v = circuit.xor(&circuit.xor(t, &not_h), &carry_v);
            if at < last {
                carry_h = next_carry(circuit, t, &not_v, Some(&carry_h));
                carry_v = next_carry(circuit, t, &not_h, Some(&carry_v));
            }
        }
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

//! Gaps of 1 and substitutions of 0, 1 or 2: five gates.

use super::Cell;
use crate::circuit::{Bundle, Circuit};

/// Every insertion and deletion costs 1, a substitution 0, 1 or 2 (larger costs never pay off).
///
/// - input: [cost ≥ 1], [cost ≥ 2];
/// - along the row: v + 1 as the sum of two bits, v = M(i,j) − M(i−1,j);
/// - down the column: h + 1 as the sum of two bits of which the first is the larger, h = M(i,j) − M(i,j−1);
/// - result of a column: h + 1, so the distance is m − n plus the sum of the results (m rows, n columns).
///
/// No cost sets the second input bit without the first. A cheating party can still do so, and then the differences are
/// meaningless. A check would add a sixth gate to every cell and gain little, because such a party can also provide
/// costs other than the agreed ones. Either way, it gets one number per pair, with no more bits than the output has.
/// That is what the limits on comparisons count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClippedCell;

impl ClippedCell {
    /// The input for a substitution of this cost; 2 is also the input of padding.
    pub fn input(&self, substitution: u64) -> u64 {
        u64::from(substitution >= 1) | u64::from(substitution >= 2) << 1
    }
}

impl Cell for ClippedCell {
    fn across_wires(&self) -> usize {
        2
    }

    fn down_wires(&self) -> usize {
        2
    }

    fn input_wires(&self) -> usize {
        2
    }

    fn left_border(&self, _: usize) -> bool {
        true
    }

    fn upper_border(&self, _: usize) -> bool {
        true
    }

    #[inline]
    fn run<C: Circuit>(
        &self,
        circuit: &mut C,
        across: &mut [Bundle<C::Label>],
        down: &mut [Bundle<C::Label>],
        input: &mut [Bundle<C::Label>],
    ) {
        let ([u1, u2], [h1, h2], [s1, s2]) = (across, down, input) else {
            return;
        };
        let x1 = circuit.and(h1, s1);
        let x2 = circuit.and(h2, s2);
        let uneven = circuit.xor(u1, u2);
        let a = circuit.and(&uneven, &circuit.xor(u1, &x1));
        let b = circuit.and(u1, &circuit.xor(&x1, &a));
        let d2 = circuit.and(&x2, &circuit.xor(u2, &a));
        let d1 = circuit.xor(&a, &b);
        let q = circuit.xor(u1, &b);
        *u1 = circuit.not(&circuit.xor(h1, &d1));
        *u2 = circuit.not(&circuit.xor(h2, &d2));
        let rest = circuit.xor(&circuit.xor(&q, &uneven), &circuit.xor(&d1, &d2));
        *h1 = circuit.not(&q);
        *h2 = circuit.not(&rest);
    }

    fn result_wires(&self) -> usize {
        2
    }

    fn result<C: Circuit>(
        &self,
        circuit: &C,
        down: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        if let ([h1, h2], [low, high]) = (down, result) {
            *low = circuit.xor(h1, h2);
            *high = *h2;
        }
    }
}

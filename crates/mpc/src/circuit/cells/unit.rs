//! Unit costs: three gates.

use super::Cell;
use crate::circuit::{Bundle, Circuit};

/// Levenshtein: every insertion, deletion and substitution costs 1.
///
/// - input: e = [letters are equal];
/// - along the row: v = M(i,j) − M(i−1,j) as two bits (m, p) with v = p − m;
/// - down the column: h = M(i,j) − M(i,j−1) as (m, p) = ([h = −1], [h = +1]);
/// - result of a column: h + 1, so the distance is m − n plus the sum of the results (m rows, n columns).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitCell;

impl UnitCell {
    /// The input for two letters.
    pub fn input(&self, equal: bool) -> u64 {
        u64::from(equal)
    }
}

impl Cell for UnitCell {
    fn across_wires(&self) -> usize {
        2
    }

    fn down_wires(&self) -> usize {
        2
    }

    fn input_wires(&self) -> usize {
        1
    }

    fn left_border(&self, wire: usize) -> bool {
        wire == 1
    }

    fn upper_border(&self, wire: usize) -> bool {
        wire == 1
    }

    #[inline]
    fn run<C: Circuit>(
        &self,
        circuit: &mut C,
        across: &mut [Bundle<C::Label>],
        down: &mut [Bundle<C::Label>],
        input: &mut [Bundle<C::Label>],
    ) {
        let ([mv, pv], [mh, ph], [equal]) = (across, down, input) else {
            return;
        };
        let falls_and_equal = circuit.and(mh, equal);
        let equal = circuit.xor(equal, &falls_and_equal);
        let diagonal = circuit.xor(mh, &equal);
        let uneven = circuit.xor(mv, pv);
        let g2 = circuit.and(&uneven, &circuit.xor(mv, &diagonal));
        let g3 = circuit.and(mv, &g2);
        *mv = *ph;
        *pv = circuit.not(&circuit.xor(&equal, &g3));
        *mh = circuit.xor(&g2, &g3);
        *ph = circuit.not(&circuit.xor(&circuit.xor(&uneven, &diagonal), &g2));
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
        if let ([mh, ph], [low, high]) = (down, result) {
            *low = circuit.not(&circuit.xor(mh, ph));
            *high = *ph;
        }
    }
}

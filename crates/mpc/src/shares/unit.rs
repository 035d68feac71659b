//! Alignment with unit costs, on bits.
//!
//! Differences of neighbours are −1, 0 or 1 and have two bits, m and p, which mean −1 and +1. With n = ¬[letters are
//! equal] and the differences v along the line and h to the next line, the three products n·¬m_v·¬m_h, n·p_v·¬m_h and
//! n·¬m_v·p_h determine the new differences.
//!
//! Each line of a matrix has one bit per plane: the differences that enter its cell of the step. v comes from the same
//! line, h from the line before, so h moves by one line after every step. For products, the bits of the lines with a
//! cell in the step are packed without gaps, across all matrices.

use super::gates::Gates;
use super::group::{Group, Matrix};
use super::packing::{Words, words};
use super::rounds::join2;
use super::session::Party;
use crate::bits::{Bits, copy_bits};
use crate::error::MpcError;
use zeroize::Zeroizing;

/// The bits of differences along the line and to the next line, as planes.
#[derive(Clone, Copy)]
enum Plane {
    MinusAlong,
    PlusAlong,
    MinusToNext,
    PlusToNext,
}

use Plane::{MinusAlong, MinusToNext, PlusAlong, PlusToNext};

/// The differences of a group, for each line.
struct LineStates<'a> {
    matrices: &'a [Matrix],
    /// Where the words of each matrix begin; the last entry is the end.
    offsets: Vec<usize>,
    planes: [Words; 4],
    /// 1 at the first side, whose share includes the constants.
    one: u64,
}

impl<'a> LineStates<'a> {
    fn new(matrices: &'a [Matrix], party: Party) -> Self {
        let one = u64::from(party.is_host());
        let mut offsets = vec![0];
        let mut end = 0;
        for matrix in matrices {
            end += matrix.lines.len().div_ceil(64);
            offsets.push(end);
        }
        let plane = |bit: u64| Zeroizing::new(vec![bit.wrapping_neg(); end]);
        // Differences at the borders are 1.
        Self {
            matrices,
            offsets,
            planes: [plane(0), plane(one), plane(0), plane(one)],
            one,
        }
    }

    /// The bits of a step's cells.
    fn packed(&self, plane: Plane, step: usize, count: usize) -> Words {
        let plane = &self.planes[plane as usize];
        let mut bits = Bits::with_capacity(count);
        for (matrix, start) in self.matrices.iter().zip(&self.offsets) {
            let lines = matrix.lines_of_step(step);
            bits.extend(&plane[*start..], lines.start, lines.len());
        }
        bits.into_words()
    }

    fn replace(&mut self, plane: Plane, step: usize, bits: &[u64]) {
        let plane = &mut self.planes[plane as usize];
        let mut from = 0;
        for (matrix, start) in self.matrices.iter().zip(&self.offsets) {
            let lines = matrix.lines_of_step(step);
            copy_bits(bits, from, &mut plane[*start..], lines.start, lines.len());
            from += lines.len();
        }
    }

    /// Moves the differences that leave the cells to the next lines. Those that leave the last lines are stored by
    /// position.
    fn move_down(&mut self, step: usize, below: &mut [Words; 2]) {
        let mut first_position = 0;
        for (number, matrix) in self.matrices.iter().enumerate() {
            let lines = matrix.lines_of_step(step);
            let range = self.offsets[number]..self.offsets[number + 1];
            for (plane, (edge, below)) in [MinusToNext, PlusToNext]
                .into_iter()
                .zip([0, self.one].into_iter().zip(below.iter_mut()))
            {
                let words = &mut self.planes[plane as usize][range.clone()];
                if !lines.is_empty() && lines.end == matrix.lines.len() {
                    let last = lines.end - 1;
                    below[first_position + step - last] = words[last / 64] >> (last % 64) & 1;
                }
                let mut entering = edge;
                for word in words {
                    let leaving = *word >> 63;
                    *word = *word << 1 | entering;
                    entering = leaving;
                }
            }
            first_position += matrix.positions.len();
        }
    }
}

/// Runs all cells and returns h below the last line of every position: both bits, XOR-shared.
pub(crate) async fn unit(
    gates: &Gates,
    group: &mut Group<'_>,
    on_cells: &dyn Fn(usize),
) -> Result<[Words; 2], MpcError> {
    let mut states = LineStates::new(group.matrices(), gates.party);
    let positions = group.positions();
    let mut below = [0, 1].map(|_| Zeroizing::new(vec![0; positions]));
    // ¬ flips only the first side's share.
    let not = states.one.wrapping_neg();
    let flipped = |plane: &Words| words(plane.iter().map(|word| word ^ not));
    group.look_up(0).await?;
    for step in 0..group.steps() {
        let count = group.count(step);
        gates.rounds.reserve(Gates::cross_demand(count) * 3).await;
        let unequal = flipped(&group.packed_costs(step));
        let [mv, pv, mh, ph] = [MinusAlong, PlusAlong, MinusToNext, PlusToNext]
            .map(|plane| states.packed(plane, step, count));
        let (not_mv, not_mh) = (flipped(&mv), flipped(&mh));
        let (planes, plane): ([&[u64]; 2], [&[u64]; 1]) = ([&not_mv, &pv], [&ph]);
        let products = join2(
            gates.and_planes(&not_mh, &planes, count),
            gates.and_planes(&not_mv, &plane, count),
        );
        let (looked_up, (first, second)) = join2(group.look_up(step + 1), products).await;
        looked_up?;
        let (first, second) = (first?, second?);
        let products = [&first[0][..], &first[1][..], &second[0][..]];
        let products = gates.and_planes(&unequal, &products, count).await?;
        let [t0, t1, t2] = [0, 1, 2].map(|at| &products[at]);
        let xor = |a: &Words, b: &Words| words(a.iter().zip(b.iter()).map(|(a, b)| a ^ b));
        let (minus_to_next_line, minus_along_line) = (xor(&pv, t1), xor(&ph, t2));
        // The two constants of the formulas, ¬t0 and ¬, cancel.
        let plus = |old: [&Words; 2], minus: &Words| {
            words((0..minus.len()).map(|at| old[0][at] ^ old[1][at] ^ t0[at] ^ minus[at]))
        };
        states.replace(PlusAlong, step, &plus([&mh, &ph], &minus_along_line));
        states.replace(PlusToNext, step, &plus([&mv, &pv], &minus_to_next_line));
        states.replace(MinusAlong, step, &minus_along_line);
        states.replace(MinusToNext, step, &minus_to_next_line);
        states.move_down(step, &mut below);
        on_cells(count);
    }
    Ok(below)
}

//! Recurrence plots. For runs of at least two points: one gate to count the points, and three for each direction of
//! runs.

use super::{Cell, Counter};
use crate::circuit::{Bundle, Circuit};

/// Cross-recurrence: c = 1 where the plot has a point. For each direction, the cell counts the points in runs of at
/// least L points, which recurrence analysis calls lines.
///
/// - input: c;
/// - along the row, down the column: what the runs need to know of the last L points, see below;
/// - counted: c, then the bits of each direction.
///
/// **Runs.** Let s(k) = 1 if point k of a row, a column or a diagonal and the L − 1 points before it are all 1. It
/// takes ⌈log₂ L⌉ gates: the conjunction of 2·a points combines that of the last a points and that of the a points
/// before, and the two may overlap. A run of r ≥ L points has s = 1 at exactly its last r − L + 1 points.
///
/// - *L > 2*: the cell counts s and t(k) = s(k) ∧ ¬s(k−1), which is 1 once per run. Each run adds r − L + 1 + (L − 1) =
///   r to Σ s + (L − 1)·Σ t, so this is the number of points in runs.
/// - *L = 2*: the cell counts only p(k) = s(k) ∨ s(k−1). A run has s = 1 at its last r − 1 points, so p = 1 there and
///   at the point after it: r points. If the row, column or diagonal ends with the run, there is no point after it.
///   Then s = 1 at the end, and this bit is the result of the row or column. So the number of points in runs is Σ p
///   plus the sum of these results. For diagonals, the wires along a row carry the s of the row above. So the results
///   of rows have the ends of diagonals above the last row, those of columns the ends in it, and none is counted twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecurrenceCell {
    runs: CountedRuns,
    /// The first is for all points, the others for runs.
    counters: [Counter; MAX_COUNTERS],
    counter_count: usize,
}

/// One for all points, and at most two for each direction of runs.
const MAX_COUNTERS: usize = 1 + 3 * 2;

/// The runs whose points are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedRuns {
    /// L, at least 2.
    pub shortest: usize,
    /// Runs along diagonals.
    pub diagonals: bool,
    /// Runs along rows.
    pub rows: bool,
    /// Runs down columns.
    pub columns: bool,
}

impl CountedRuns {
    /// Bits that are counted per direction.
    pub fn counters(&self) -> usize {
        if self.shortest == 2 { 1 } else { 2 }
    }

    /// Whether the result of a row or column includes the bit of a run that ends there.
    pub fn have_ends(&self) -> bool {
        self.shortest == 2
    }
}

impl RecurrenceCell {
    /// The cell for these runs. If `by_diagonals`, points are counted for each diagonal separately.
    pub fn new(runs: CountedRuns, by_diagonals: bool) -> Self {
        let runs = CountedRuns {
            shortest: runs.shortest.max(2),
            ..runs
        };
        let mut counters = [Counter::Matrix; MAX_COUNTERS];
        if by_diagonals {
            counters[0] = Counter::Diagonals;
        }
        let directions = [runs.diagonals, runs.rows, runs.columns];
        let directions = directions
            .into_iter()
            .filter(|is_counted| *is_counted)
            .count();
        Self {
            runs,
            counters,
            counter_count: 1 + directions * runs.counters(),
        }
    }

    /// The runs.
    pub fn runs(&self) -> &CountedRuns {
        &self.runs
    }

    /// The input for two letters.
    pub fn input(&self, recurrent: bool) -> u64 {
        recurrent.into()
    }

    /// State wires of one direction: the previous points, and s of the last one.
    fn state(&self, is_counted: bool) -> usize {
        if is_counted { self.runs.shortest } else { 0 }
    }

    fn ends(&self, is_counted: bool) -> usize {
        usize::from(is_counted && self.runs.have_ends())
    }

    /// Extends a run by a point, and writes the bits to count.
    fn extend<C: Circuit>(
        &self,
        circuit: &mut C,
        state: &mut [Bundle<C::Label>],
        point: &Bundle<C::Label>,
        counted_bits: &mut [Bundle<C::Label>],
    ) {
        let Some((before, mut history)) = state.split_last_mut() else {
            return;
        };
        let (mut all, mut length) = (*point, 1);
        while length < self.runs.shortest {
            let more = length.min(self.runs.shortest - length);
            let (latest, rest) = history.split_at_mut(more);
            history = rest;
            let oldest = latest[more - 1];
            latest.rotate_right(1);
            latest[0] = all;
            all = circuit.and(&all, &oldest);
            length += more;
        }
        let not_before = circuit.not(before);
        match counted_bits {
            [either] => {
                let neither = circuit.and(&circuit.not(&all), &not_before);
                *either = circuit.not(&neither);
            }
            [long, starts] => {
                *long = all;
                *starts = circuit.and(&all, &not_before);
            }
            _ => (),
        }
        *before = all;
    }
}

impl Cell for RecurrenceCell {
    fn across_wires(&self) -> usize {
        self.state(self.runs.diagonals) + self.state(self.runs.rows)
    }

    fn down_wires(&self) -> usize {
        self.state(self.runs.diagonals) + self.state(self.runs.columns)
    }

    fn input_wires(&self) -> usize {
        1
    }

    fn left_border(&self, _: usize) -> bool {
        false
    }

    fn upper_border(&self, _: usize) -> bool {
        false
    }

    fn counters(&self) -> &[Counter] {
        &self.counters[..self.counter_count]
    }

    fn run<C: Circuit>(
        &self,
        circuit: &mut C,
        across: &mut [Bundle<C::Label>],
        down: &mut [Bundle<C::Label>],
        input: &mut [Bundle<C::Label>],
    ) {
        let (across, counted_bits) = across.split_at_mut(self.across_wires());
        let ([point], [points, counted_bits @ ..]) = (input, counted_bits) else {
            return;
        };
        *points = *point;
        let of_diagonals = self.state(self.runs.diagonals);
        let (up_left, row) = across.split_at_mut(of_diagonals);
        let (up, column) = down.split_at_mut(of_diagonals);
        let mut counted_bits = counted_bits.chunks_exact_mut(self.runs.counters());
        if self.runs.diagonals
            && let Some(counted_bits) = counted_bits.next()
        {
            self.extend(circuit, up_left, point, counted_bits);
            // This cell's upper neighbour is the next cell's upper-left neighbour.
            up_left.swap_with_slice(up);
        }
        if self.runs.rows
            && let Some(counted_bits) = counted_bits.next()
        {
            self.extend(circuit, row, point, counted_bits);
        }
        if self.runs.columns
            && let Some(counted_bits) = counted_bits.next()
        {
            self.extend(circuit, column, point, counted_bits);
        }
    }

    fn result_wires(&self) -> usize {
        self.ends(self.runs.diagonals) + self.ends(self.runs.columns)
    }

    fn result<C: Circuit>(
        &self,
        _: &C,
        down: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        copy_ends(down, self.runs.shortest, result);
    }

    fn row_result_wires(&self) -> usize {
        self.ends(self.runs.diagonals) + self.ends(self.runs.rows)
    }

    fn row_result<C: Circuit>(
        &self,
        _: &C,
        across: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        copy_ends(across, self.runs.shortest, result);
    }
}

/// The last wire of each direction.
fn copy_ends<L: Copy>(wires: &[L], of_direction: usize, ends: &mut [L]) {
    for (end, state) in ends.iter_mut().zip(wires.chunks_exact(of_direction)) {
        if let Some(last) = state.last() {
            *end = *last;
        }
    }
}

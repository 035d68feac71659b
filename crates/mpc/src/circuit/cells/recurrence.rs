//! Recurrence plots. For lines of at least two points: one gate to count the points, and three for each direction of
//! lines.

use super::{Cell, Counter};
use crate::circuit::{Bundle, Circuit};

/// Cross-recurrence: c = 1 where the plot has a point. For each direction, the cell counts the points on lines, which
/// are runs of at least L points.
///
/// - input: c;
/// - along the row, down the column: what the lines need to know of the last L points, see below;
/// - counted: c, then the bits of each direction.
///
/// **Lines.** Let s(k) = 1 if point k of a row, a column or a diagonal and the L − 1 points before it are all 1. It
/// takes ⌈log₂ L⌉ gates: the conjunction of 2·a points combines that of the last a points and that of the a points
/// before, and the two may overlap. A run of r ≥ L points has s = 1 at exactly its last r − L + 1 points.
///
/// - *L > 2*: the cell counts s and t(k) = s(k) ∧ ¬s(k−1), which is 1 once per run. Each run adds r − L + 1 + (L − 1) =
///   r to Σ s + (L − 1)·Σ t, so this is the number of points on lines.
/// - *L = 2*: the cell counts only p(k) = s(k) ∨ s(k−1). A run has s = 1 at its last r − 1 points, so p = 1 there and
///   at the point after it: r points. If the row, column or diagonal ends with the run, there is no point after it.
///   Then s = 1 at the end, and this bit is the result of the row or column. So the number of points on lines is Σ p
///   plus the sum of these results. For diagonals, the wires along a row carry the s of the row above. So the results
///   of rows have the ends of diagonals above the last row, those of columns the ends in it, and none is counted twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecurrenceCell {
    lines: LineCounters,
    /// The first is for all points, the others for lines.
    counters: [Counter; MAX_COUNTERS],
    counted: usize,
}

/// One for all points, and at most two for each direction of lines.
const MAX_COUNTERS: usize = 1 + 3 * 2;

/// The lines that are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCounters {
    /// L, at least 2.
    pub shortest: usize,
    /// Diagonal lines.
    pub diagonals: bool,
    /// Lines along rows.
    pub rows: bool,
    /// Lines down columns.
    pub columns: bool,
}

impl LineCounters {
    /// Bits that are counted per direction.
    pub fn counters(&self) -> usize {
        if self.shortest == 2 { 1 } else { 2 }
    }

    /// Whether the result of a row or column includes the bit of a line that ends there.
    pub fn have_ends(&self) -> bool {
        self.shortest == 2
    }
}

impl RecurrenceCell {
    /// The cell for these lines. If `by_diagonals`, points are counted for each diagonal separately.
    pub fn new(lines: LineCounters, by_diagonals: bool) -> Self {
        let lines = LineCounters {
            shortest: lines.shortest.max(2),
            ..lines
        };
        let mut counters = [Counter::Matrix; MAX_COUNTERS];
        if by_diagonals {
            counters[0] = Counter::Diagonals;
        }
        let directions = [lines.diagonals, lines.rows, lines.columns];
        let directions = directions.into_iter().filter(|counted| *counted).count();
        Self {
            lines,
            counters,
            counted: 1 + directions * lines.counters(),
        }
    }

    /// The lines.
    pub fn lines(&self) -> &LineCounters {
        &self.lines
    }

    /// The input for two letters.
    pub fn input(&self, recurrent: bool) -> u64 {
        recurrent.into()
    }

    /// State wires of one direction: the previous points, and s of the last one.
    fn state(&self, counted: bool) -> usize {
        if counted { self.lines.shortest } else { 0 }
    }

    fn ends(&self, counted: bool) -> usize {
        usize::from(counted && self.lines.have_ends())
    }

    /// Extends a line by a point, and writes the bits to count.
    fn extend<C: Circuit>(
        &self,
        circuit: &mut C,
        state: &mut [Bundle<C::Label>],
        point: &Bundle<C::Label>,
        counted: &mut [Bundle<C::Label>],
    ) {
        let Some((before, mut history)) = state.split_last_mut() else {
            return;
        };
        let (mut all, mut length) = (*point, 1);
        while length < self.lines.shortest {
            let more = length.min(self.lines.shortest - length);
            let (line, rest) = history.split_at_mut(more);
            history = rest;
            let oldest = line[more - 1];
            line.rotate_right(1);
            line[0] = all;
            all = circuit.and(&all, &oldest);
            length += more;
        }
        let not_before = circuit.not(before);
        match counted {
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
        self.state(self.lines.diagonals) + self.state(self.lines.rows)
    }

    fn down_wires(&self) -> usize {
        self.state(self.lines.diagonals) + self.state(self.lines.columns)
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
        &self.counters[..self.counted]
    }

    fn run<C: Circuit>(
        &self,
        circuit: &mut C,
        across: &mut [Bundle<C::Label>],
        down: &mut [Bundle<C::Label>],
        input: &mut [Bundle<C::Label>],
    ) {
        let (across, counted) = across.split_at_mut(self.across_wires());
        let ([point], [points, counted @ ..]) = (input, counted) else {
            return;
        };
        *points = *point;
        let of_diagonals = self.state(self.lines.diagonals);
        let (up_left, row) = across.split_at_mut(of_diagonals);
        let (up, column) = down.split_at_mut(of_diagonals);
        let mut counted = counted.chunks_exact_mut(self.lines.counters());
        if self.lines.diagonals
            && let Some(counted) = counted.next()
        {
            self.extend(circuit, up_left, point, counted);
            // This cell's upper neighbour is the next cell's upper-left neighbour.
            up_left.swap_with_slice(up);
        }
        if self.lines.rows
            && let Some(counted) = counted.next()
        {
            self.extend(circuit, row, point, counted);
        }
        if self.lines.columns
            && let Some(counted) = counted.next()
        {
            self.extend(circuit, column, point, counted);
        }
    }

    fn result_wires(&self) -> usize {
        self.ends(self.lines.diagonals) + self.ends(self.lines.columns)
    }

    fn result<C: Circuit>(
        &self,
        _: &C,
        down: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        copy_ends(down, self.lines.shortest, result);
    }

    fn row_result_wires(&self) -> usize {
        self.ends(self.lines.diagonals) + self.ends(self.lines.rows)
    }

    fn row_result<C: Circuit>(
        &self,
        circuit: &C,
        across: &[Bundle<C::Label>],
        result: &mut [Bundle<C::Label>],
    ) {
        let _ = circuit;
        copy_ends(across, self.lines.shortest, result);
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

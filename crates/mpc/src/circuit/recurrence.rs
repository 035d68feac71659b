//! Turns the counts of a recurrence plot into the agreed numbers, packed into one.
//!
//! With C points, the circuit computes the fraction P / (k·C) in hundredths of a percent, rounded: ⌊(20,000·P + k·C) /
//! (2·k·C)⌋, where k is a public factor. So it reveals neither P nor C unless that was agreed.

use super::TwoPartyCircuit;
use super::adders::{Multiple, RunningSums, sums_of_weights, weighted_sums};
use super::cells::{CountedRuns, RecurrenceCell};
use super::numbers::bits_for;
use super::quotients::quotients;
use super::reduce::{Number, Pair};
use crate::error::MpcError;
use crate::wavefront::{Shape, SweepOutput};
use veilpath_channel::Channel;
use zeroize::Zeroize;

/// A number of a recurrence plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecurrenceOutput {
    /// C, the points.
    Points,
    /// The fraction of points in diagonal runs.
    Diagonals,
    /// The mean of the fractions in runs along rows and down columns.
    RowsAndColumns,
    /// The fraction of points in runs along rows.
    Rows,
    /// The fraction of points in runs down columns.
    Columns,
    /// The mean distance of points from the main diagonal: Σ (column − row) / ((max(m, n) − 1)·C), plus 1 so that it is
    /// not negative.
    Centre,
}

/// The largest fraction: one, in hundredths of a percent.
pub const WHOLE: u64 = 10_000;

impl RecurrenceOutput {
    /// The number of variants.
    const COUNT: usize = 6;

    /// The largest value in a matrix of this shape. For a fraction, the next number means "undefined".
    pub fn largest(self, shape: Shape) -> u64 {
        match self {
            Self::Points => (shape.rows as u64).saturating_mul(shape.columns as u64),
            Self::Centre => 2 * WHOLE,
            _ => WHOLE,
        }
    }

    /// Bits of the packed number that it takes.
    pub fn bits(self, shape: Shape) -> usize {
        bits_for(self.largest(shape) + u64::from(self != Self::Points))
    }
}

/// The numbers of a recurrence plot to output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecurrenceOutputs {
    /// In the order of their bits, from the lowest.
    chosen: [Option<RecurrenceOutput>; RecurrenceOutput::COUNT],
    shortest: usize,
    undefined_is_zero: bool,
}

impl RecurrenceOutputs {
    /// Packs these numbers, each once and the first in the lowest bits. Runs have at least `shortest` points. A
    /// fraction is undefined if there is no point. It then counts as 0 (the centre: as the main diagonal), or is the
    /// number after the largest.
    pub fn new(outputs: &[RecurrenceOutput], shortest: usize, undefined_is_zero: bool) -> Self {
        Self {
            chosen: std::array::from_fn(|at| outputs.get(at).copied()),
            shortest: shortest.max(2),
            undefined_is_zero,
        }
    }

    /// The least number of points of a run.
    pub fn shortest(&self) -> usize {
        self.shortest
    }

    /// The number that represents an undefined fraction.
    pub fn undefined(&self, output: RecurrenceOutput) -> u64 {
        let largest = output.largest(Shape {
            rows: 0,
            columns: 0,
        });
        match (self.undefined_is_zero, output) {
            (false, _) => largest + 1,
            (true, RecurrenceOutput::Centre) => WHOLE,
            (true, _) => 0,
        }
    }

    /// The numbers in the order of their bits, the lowest first.
    pub fn iter(&self) -> impl Iterator<Item = RecurrenceOutput> + use<> {
        self.chosen.into_iter().flatten()
    }

    /// Whether a packed number is possible for a matrix of this shape.
    pub fn accept(&self, packed: u64, shape: Shape) -> bool {
        let mut rest = u128::from(packed);
        let fits = self.iter().all(|output| {
            let bits = output.bits(shape);
            let value = rest & ((1 << bits) - 1);
            rest >>= bits;
            let undefined = output != RecurrenceOutput::Points && !self.undefined_is_zero;
            value <= u128::from(output.largest(shape) + u64::from(undefined))
        });
        fits && rest == 0
    }

    /// The cell that counts what these numbers need.
    pub fn cell(&self) -> RecurrenceCell {
        let any = |outputs: &[RecurrenceOutput]| self.iter().any(|it| outputs.contains(&it));
        let both = RecurrenceOutput::RowsAndColumns;
        let runs = CountedRuns {
            shortest: self.shortest,
            diagonals: any(&[RecurrenceOutput::Diagonals]),
            rows: any(&[RecurrenceOutput::Rows, both]),
            columns: any(&[RecurrenceOutput::Columns, both]),
        };
        RecurrenceCell::new(runs, any(&[RecurrenceOutput::Centre]))
    }

    /// The packed numbers of all matrices.
    pub fn run<C: TwoPartyCircuit>(
        &self,
        circuit: &mut C,
        channel: &mut dyn Channel,
        swept: Vec<SweepOutput<C::Label>>,
    ) -> Result<Vec<Number<C::Label>>, MpcError> {
        let shapes: Vec<Shape> = swept.iter().map(|swept| swept.shape).collect();
        let mut counts = Counts::new(circuit, channel, &self.cell(), swept)?;
        for (points, shape) in counts.points.iter_mut().zip(&shapes) {
            points.truncate(RecurrenceOutput::Points.bits(*shape));
        }
        // Allocated at full size: growing would leave copies in freed memory.
        let all_bits = |shape: &Shape| self.iter().map(|output| output.bits(*shape)).sum();
        let empty = |shape| Number::new(Vec::with_capacity(all_bits(shape)));
        let mut packed: Vec<Number<C::Label>> = shapes.iter().map(empty).collect();
        for output in self.iter() {
            let values = match output {
                RecurrenceOutput::Points => counts.points.clone(),
                _ => self.fractions(circuit, channel, output, &counts, &shapes)?,
            };
            let zero = circuit.constant(false);
            for ((packed, value), shape) in packed.iter_mut().zip(values).zip(&shapes) {
                let bits = value.iter().copied().chain(std::iter::repeat(zero));
                packed.extend(bits.take(output.bits(*shape)));
            }
        }
        Ok(packed)
    }

    /// ⌊(20,000·P + k·C) / (2·k·C)⌋ for all matrices.
    fn fractions<C: TwoPartyCircuit>(
        &self,
        circuit: &mut C,
        channel: &mut dyn Channel,
        output: RecurrenceOutput,
        counts: &Counts<C::Label>,
        shapes: &[Shape],
    ) -> Result<Vec<Number<C::Label>>, MpcError> {
        // (x / 2^a) / y is x / (2^a·y), rounded down as well, so powers of two only shift.
        let of_shape = |shape: &Shape| match output {
            RecurrenceOutput::RowsAndColumns => 2,
            RecurrenceOutput::Centre => shape.rows.max(shape.columns).saturating_sub(1) as u64,
            _ => 1,
        };
        let factors: Vec<u64> = shapes.iter().map(of_shape).collect();
        let shifts: Vec<u32> = factors.iter().map(|k| k.trailing_zeros() % 64).collect();
        let numerators: Vec<Vec<Multiple<'_, C::Label>>> = (0..shapes.len())
            .map(|at| {
                let mut terms = vec![(&counts.points[at][..], factors[at])];
                for part in counts.parts(output) {
                    terms.push((&part[at][..], 2 * WHOLE));
                }
                terms
            })
            .collect();
        let mut numerators = weighted_sums(circuit, channel, &numerators)?;
        for (numerator, shift) in numerators.iter_mut().zip(&shifts) {
            let dropped = (*shift as usize + 1).min(numerator.len());
            numerator.drain(..dropped);
        }
        let denominators: Vec<Vec<Multiple<'_, C::Label>>> = counts
            .points
            .iter()
            .zip(factors.iter().zip(&shifts))
            .map(|(points, (factor, shift))| vec![(&points[..], factor >> shift)])
            .collect();
        let denominators = weighted_sums(circuit, channel, &denominators)?;
        let pairs: Vec<Pair<'_, C::Label>> = numerators
            .iter()
            .zip(&denominators)
            .map(|(x, y)| (&x[..], &y[..]))
            .collect();
        let largest = output.largest(Shape {
            rows: 0,
            columns: 0,
        });
        let of_zero = self.undefined(output);
        quotients(circuit, channel, &pairs, bits_for(largest + 1), of_zero)
    }
}

/// The counts of all matrices. The list of a direction that was not counted is empty.
struct Counts<L: Zeroize> {
    points: Vec<Number<L>>,
    diagonals: Vec<Number<L>>,
    rows: Vec<Number<L>>,
    columns: Vec<Number<L>>,
    /// Σ (column − row + max(m, n) − 1) over all points.
    centre: Vec<Number<L>>,
}

/// How many diagonals are counted at a time: enough to fill the lanes.
const DIAGONALS_AT_A_TIME: usize = 1 << 14;

impl<L: Copy + Default + Zeroize> Counts<L> {
    fn new<C: TwoPartyCircuit<Label = L>>(
        circuit: &mut C,
        channel: &mut dyn Channel,
        cell: &RecurrenceCell,
        mut swept: Vec<SweepOutput<L>>,
    ) -> Result<Self, MpcError> {
        let runs = cell.runs();
        let mut next = Next::default();
        let mut of_runs = |is_counted: bool, ends: [bool; 2]| match is_counted {
            true => next.direction(circuit, channel, runs, &swept, ends),
            false => Ok(RunningSums::new(0)),
        };
        let diagonals = of_runs(runs.diagonals, [true, true])?;
        let rows = of_runs(runs.rows, [true, false])?;
        let columns = of_runs(runs.columns, [false, true])?;
        let [points, centre] = points_and_centre(circuit, channel, &mut swept)?;
        drop(swept);
        Ok(Self {
            points: points.finish(circuit, channel)?,
            diagonals: diagonals.finish(circuit, channel)?,
            rows: rows.finish(circuit, channel)?,
            columns: columns.finish(circuit, channel)?,
            centre: centre.finish(circuit, channel)?,
        })
    }

    /// The counts that add up to P.
    fn parts(&self, output: RecurrenceOutput) -> Vec<&[Number<L>]> {
        match output {
            RecurrenceOutput::Points => Vec::new(),
            RecurrenceOutput::Diagonals => vec![&self.diagonals],
            RecurrenceOutput::RowsAndColumns => vec![&self.rows, &self.columns],
            RecurrenceOutput::Rows => vec![&self.rows],
            RecurrenceOutput::Columns => vec![&self.columns],
            RecurrenceOutput::Centre => vec![&self.centre],
        }
    }
}

/// What the next direction of runs has in a matrix's output.
struct Next {
    counter: usize,
    row_end: usize,
    column_end: usize,
}

impl Default for Next {
    fn default() -> Self {
        Self {
            // The first is for all points.
            counter: 1,
            row_end: 0,
            column_end: 0,
        }
    }
}

impl Next {
    /// The points in runs of the next direction. `ends` says whether they end at the end of a row, and of a column.
    fn direction<C: TwoPartyCircuit>(
        &mut self,
        circuit: &mut C,
        channel: &mut dyn Channel,
        runs: &CountedRuns,
        swept: &[SweepOutput<C::Label>],
        ends: [bool; 2],
    ) -> Result<RunningSums<C::Label>, MpcError> {
        let mut sums = RunningSums::new(swept.len());
        for (matrix, swept) in swept.iter().enumerate() {
            let factors = [1, runs.shortest as u64 - 1];
            for (counter, factor) in (self.counter..).zip(&factors[..runs.counters()]) {
                for tally in swept.counters.get(counter).into_iter().flatten() {
                    for (weight, bits) in tally.iter().enumerate() {
                        for bit in bits.iter() {
                            sums.add(circuit, channel, matrix, (&[*bit], factor << weight))?;
                        }
                    }
                }
            }
            if runs.have_ends() {
                let rows = swept.rows.iter().filter(|_| ends[0]);
                let rows = rows.filter_map(|row| row.get(self.row_end));
                let columns = swept.columns.iter().filter(|_| ends[1]);
                let columns = columns.filter_map(|column| column.get(self.column_end));
                for end in rows.chain(columns) {
                    sums.add(circuit, channel, matrix, (&[*end], 1))?;
                }
            }
        }
        self.counter += runs.counters();
        self.row_end += usize::from(ends[0]);
        self.column_end += usize::from(ends[1]);
        Ok(sums)
    }
}

/// The points, and their sum weighted by the distance of their diagonal from the lowest that could be. Takes the first
/// counter of each matrix.
fn points_and_centre<C: TwoPartyCircuit>(
    circuit: &mut C,
    channel: &mut dyn Channel,
    swept: &mut [SweepOutput<C::Label>],
) -> Result<[RunningSums<C::Label>; 2], MpcError> {
    let [mut points, mut centre] = [(), ()].map(|()| RunningSums::new(swept.len()));
    let tallies = |(matrix, swept): (usize, &mut SweepOutput<C::Label>)| {
        let Shape { rows, columns } = swept.shape;
        let tallies = swept.counters.first_mut();
        let tallies = tallies.map(std::mem::take).unwrap_or_default();
        let by_diagonal = tallies.len() > 1;
        // The first diagonal is that of the lower left corner: its points are m − 1 rows below the main diagonal.
        let first = rows.max(columns) - rows;
        let place = move |at: usize| (matrix, u64::from(by_diagonal) * (first + at) as u64);
        let places = (0..tallies.len()).map(place);
        places.zip(tallies)
    };
    let mut tallies = swept.iter_mut().enumerate().flat_map(tallies);
    loop {
        let next = tallies.by_ref().take(DIAGONALS_AT_A_TIME);
        let (places, weights): (Vec<_>, Vec<_>) = next.unzip();
        if places.is_empty() {
            return Ok([points, centre]);
        }
        let counts = sums_of_weights(circuit, channel, weights)?;
        for ((matrix, factor), count) in places.into_iter().zip(counts) {
            points.add(circuit, channel, matrix, (&count, 1))?;
            centre.add(circuit, channel, matrix, (&count, factor))?;
        }
    }
}

//! The sweep itself, the same for both parties and for plain bits.

use super::geometry::{Geometry, STRIP_ROWS, Shape};
use crate::circuit::adders::{BitsByWeight, Tallies};
use crate::circuit::cells::{Cell, Counter};
use crate::circuit::reduce::Number;
use crate::circuit::{Bundle, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// The state between the steps of a sweep: wires along the rows of the strip, and wires down all columns.
pub struct Sweep<'a, K, C: TwoPartyCircuit> {
    cell: &'a K,
    geometry: &'a Geometry,
    and_gates: usize,
    strip: usize,
    /// Wire by wire, the rows of all matrices one after the other. `row_offsets` says where each matrix begins.
    across: Zeroizing<Vec<C::Label>>,
    /// Wire by wire, the columns of all matrices one after the other.
    down: Zeroizing<Vec<C::Label>>,
    row_offsets: Vec<usize>,
    column_offsets: Vec<usize>,
    /// The results of rows of finished strips, matrix by matrix.
    rows: Vec<Vec<Number<C::Label>>>,
    tallies: Tallies<C::Label>,
    /// The first tally of each matrix and counter.
    tally_offsets: Vec<usize>,
    buffers: Buffers<C::Label>,
}

/// The output of one matrix.
pub struct SweepOutput<L: Zeroize> {
    /// The size of the matrix.
    pub shape: Shape,
    /// The results of its columns.
    pub columns: Vec<Number<L>>,
    /// The results of its rows.
    pub rows: Vec<Number<L>>,
    /// The tallies of each counter of the cell: one, or one for each diagonal from the lower left corner to the upper
    /// right.
    pub counters: Vec<Vec<BitsByWeight<L>>>,
}

/// Bundles of one cell, allocated once.
struct Buffers<L: Zeroize> {
    across: Zeroizing<Vec<Bundle<L>>>,
    down: Zeroizing<Vec<Bundle<L>>>,
    input: Zeroizing<Vec<Bundle<L>>>,
}

impl<'a, K: Cell, C: TwoPartyCircuit> Sweep<'a, K, C> {
    /// All matrices at their upper borders.
    pub fn new(cell: &'a K, geometry: &'a Geometry, circuit: &C) -> Self {
        let column_offsets = offsets(geometry.shapes().iter().map(|shape| shape.columns));
        let row_offsets = offsets(
            geometry
                .shapes()
                .iter()
                .map(|shape| shape.rows.min(STRIP_ROWS)),
        );
        let columns = column_offsets.last().copied().unwrap_or(0);
        let rows = row_offsets.last().copied().unwrap_or(0);
        let down = (0..cell.down_wires()).flat_map(|wire| {
            std::iter::repeat_n(circuit.constant(cell.upper_border(wire)), columns)
        });
        let mut across = Vec::with_capacity(cell.across_wires() * rows);
        across.resize(cell.across_wires() * rows, circuit.constant(false));
        let bundles = |count| Zeroizing::new(vec![[C::Label::default(); LANES]; count]);
        let counters = |shape: &'a Shape| {
            let tallies = move |counter: &Counter| tallies_of(*counter, *shape);
            cell.counters().iter().map(tallies)
        };
        let tally_offsets = offsets(geometry.shapes().iter().flat_map(counters));
        let row_results = |shape: &Shape| match cell.row_result_wires() {
            0 => Vec::new(),
            _ => Vec::with_capacity(shape.rows),
        };
        let tallies = Tallies::new(tally_offsets.last().copied().unwrap_or(0));
        let mut sweep = Self {
            cell,
            geometry,
            and_gates: cell.and_gates(),
            strip: 0,
            across: Zeroizing::new(across),
            down: Zeroizing::new(down.collect()),
            row_offsets,
            column_offsets,
            rows: geometry.shapes().iter().map(row_results).collect(),
            tallies,
            tally_offsets,
            buffers: Buffers {
                across: bundles(cell.across_wires() + cell.counters().len()),
                down: bundles(cell.down_wires()),
                input: bundles(cell.input_wires()),
            },
        };
        sweep.start_strip(0, circuit);
        sweep
    }

    /// Starts a strip: its rows begin at the left border. Strips must be started in order.
    pub fn start_strip(&mut self, strip: usize, circuit: &C) {
        if strip > self.strip {
            self.store_rows(circuit);
        }
        self.strip = strip;
        let rows = self.row_offsets.last().copied().unwrap_or(0).max(1);
        for (wire, across) in self.across.chunks_exact_mut(rows).enumerate() {
            across.fill(circuit.constant(self.cell.left_border(wire)));
            if strip == 0 {
                for first in &self.row_offsets {
                    if let Some(label) = across.get_mut(*first) {
                        *label = circuit.constant(self.cell.corner(wire));
                    }
                }
            }
        }
    }

    /// Runs the cells of a step. `inputs` has their input wires, cell by cell in the order of [`Geometry::cells`].
    pub fn step(
        &mut self,
        step: usize,
        inputs: &[C::Label],
        circuit: &mut C,
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        let width = self.cell.input_wires();
        let count = self.geometry.cells_in_step(self.strip, step);
        if inputs.len() != count * width {
            return Err(MpcError::Misuse("a step needs the inputs of all its cells"));
        }
        circuit.prepare(count * self.and_gates, channel)?;
        let mut rest = inputs;
        let (mut lanes, mut positions) = (0, CellPositions::default());
        for comparison in 0..self.geometry.shapes().len() {
            let (row_offset, column_offset) = (
                self.row_offsets[comparison],
                self.column_offsets[comparison] + step,
            );
            for row in self.geometry.rows_of_step(self.strip, step, comparison) {
                positions.rows[lanes] = row_offset + row;
                positions.columns[lanes] = column_offset - row;
                positions.comparisons[lanes] = comparison;
                lanes += 1;
                if lanes == LANES {
                    rest = self.run_bundle(&positions, LANES, rest, circuit);
                    lanes = 0;
                }
            }
        }
        if lanes > 0 {
            self.run_bundle(&positions, lanes, rest, circuit);
        }
        circuit.finish_gates(channel)?;
        self.tallies.add_pending(circuit, channel)
    }

    /// Runs the cell in some lanes and returns the remaining inputs. Inlined twice, once with the usual number of lanes
    /// as a constant.
    #[inline(always)]
    fn run_bundle<'i>(
        &mut self,
        positions: &CellPositions,
        lanes: usize,
        inputs: &'i [C::Label],
        circuit: &mut C,
    ) -> &'i [C::Label] {
        let rows = self.row_offsets.last().copied().unwrap_or(0);
        let columns = self.column_offsets.last().copied().unwrap_or(0);
        let (at_rows, at_columns) = (&positions.rows[..lanes], &positions.columns[..lanes]);
        let Buffers {
            across,
            down,
            input,
        } = &mut self.buffers;
        gather(&self.across, rows, at_rows, across);
        gather(&self.down, columns, at_columns, down);
        let width = input.len();
        let (inputs, rest) = inputs.split_at(lanes * width);
        for (lane, inputs) in inputs.chunks_exact(width.max(1)).enumerate() {
            for (wire, label) in input.iter_mut().zip(inputs) {
                wire[lane] = *label;
            }
        }
        circuit.set_lanes(lanes);
        self.cell.run(circuit, across, down, input);
        scatter(&mut self.across, rows, at_rows, across);
        scatter(&mut self.down, columns, at_columns, down);
        if !self.cell.counters().is_empty() {
            self.count(positions, lanes);
        }
        rest
    }

    /// Adds the counted bits of a bundle to their tallies.
    fn count(&mut self, positions: &CellPositions, lanes: usize) {
        let counters = self.cell.counters();
        let counted = &self.buffers.across[self.cell.across_wires()..];
        for lane in 0..lanes {
            let comparison = positions.comparisons[lane];
            let first = comparison * counters.len();
            for (at, (counter, bits)) in counters.iter().zip(counted).enumerate() {
                let tally = match counter {
                    Counter::Matrix => 0,
                    Counter::Diagonals => {
                        let row = positions.rows[lane] - self.row_offsets[comparison];
                        let column = positions.columns[lane] - self.column_offsets[comparison];
                        let below = self.geometry.shapes()[comparison].rows
                            - (self.strip * STRIP_ROWS + row + 1);
                        below + column
                    }
                };
                self.tallies
                    .push(self.tally_offsets[first + at] + tally, bits[lane]);
            }
        }
    }

    /// Stores the row results of a finished strip.
    fn store_rows(&mut self, circuit: &C) {
        let wires = self.cell.row_result_wires();
        if wires == 0 {
            return;
        }
        let all = self.row_offsets.last().copied().unwrap_or(0);
        let mut result = vec![[C::Label::default(); LANES]; wires];
        for (comparison, numbers) in self.rows.iter_mut().enumerate() {
            let rows = self.geometry.rows(self.strip, comparison);
            for row in (0..rows).step_by(LANES) {
                let lanes = (rows - row).min(LANES);
                let first = self.row_offsets[comparison] + row;
                let indices: [usize; LANES] = std::array::from_fn(|lane| first + lane);
                gather(
                    &self.across,
                    all,
                    &indices[..lanes],
                    &mut self.buffers.across,
                );
                let across = &self.buffers.across[..self.cell.across_wires()];
                self.cell.row_result(circuit, across, &mut result);
                numbers.extend((0..lanes).map(|lane| number_of(&result, lane)));
            }
        }
    }

    /// The output of each matrix, after all its cells have run.
    pub fn finish(mut self, circuit: &C) -> Vec<SweepOutput<C::Label>> {
        self.store_rows(circuit);
        let mut columns = self.column_results(circuit).into_iter();
        let mut tallies = self.tallies.into_weights().into_iter();
        let mut swept = Vec::with_capacity(self.rows.len());
        for (shape, rows) in self.geometry.shapes().iter().zip(self.rows) {
            let counters = self.cell.counters().iter().map(|counter| {
                let count = tallies_of(*counter, *shape);
                tallies.by_ref().take(count).collect()
            });
            swept.push(SweepOutput {
                shape: *shape,
                counters: counters.collect(),
                columns: columns.by_ref().take(shape.columns).collect(),
                rows,
            });
        }
        swept
    }

    /// The results of all columns.
    fn column_results(&self, circuit: &C) -> Vec<Number<C::Label>> {
        let columns = self.column_offsets.last().copied().unwrap_or(0);
        let mut down = vec![[C::Label::default(); LANES]; self.cell.down_wires()];
        let mut result = vec![[C::Label::default(); LANES]; self.cell.result_wires()];
        let mut numbers = Vec::with_capacity(columns);
        for first in (0..columns).step_by(LANES) {
            let lanes = (columns - first).min(LANES);
            for (wire, down) in down.iter_mut().enumerate() {
                let start = wire * columns + first;
                down[..lanes].copy_from_slice(&self.down[start..start + lanes]);
            }
            self.cell.result(circuit, &down, &mut result);
            numbers.extend((0..lanes).map(|lane| number_of(&result, lane)));
        }
        numbers
    }
}

/// The number in a lane.
fn number_of<L: Copy + Zeroize>(wires: &[Bundle<L>], lane: usize) -> Number<L> {
    Zeroizing::new(wires.iter().map(|wire| wire[lane]).collect())
}

/// The number of tallies that a counter has in a matrix.
fn tallies_of(counter: Counter, shape: Shape) -> usize {
    match counter {
        Counter::Matrix => 1,
        Counter::Diagonals => (shape.rows + shape.columns).saturating_sub(1),
    }
}

/// The positions of a bundle's cells, among all rows of the strip and all columns.
#[derive(Default)]
struct CellPositions {
    rows: [usize; LANES],
    columns: [usize; LANES],
    comparisons: [usize; LANES],
}

/// Gathers the wires at these indices, from planes of `size` each, into bundles.
#[inline(always)]
fn gather<L: Copy>(planes: &[L], size: usize, indices: &[usize], bundles: &mut [Bundle<L>]) {
    for (plane, bundle) in planes.chunks_exact(size.max(1)).zip(bundles) {
        for (lane, index) in bundle.iter_mut().zip(indices) {
            *lane = plane[*index];
        }
    }
}

/// Scatters the wires of bundles back to their indices.
#[inline(always)]
fn scatter<L: Copy>(planes: &mut [L], size: usize, indices: &[usize], bundles: &[Bundle<L>]) {
    for (plane, bundle) in planes.chunks_exact_mut(size.max(1)).zip(bundles) {
        for (lane, index) in bundle.iter().zip(indices) {
            plane[*index] = *lane;
        }
    }
}

/// The start of each part if parts of these sizes follow each other; the last entry is their total.
pub(crate) fn offsets(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0];
    let mut next = 0;
    for size in sizes {
        next += size;
        offsets.push(next);
    }
    offsets
}

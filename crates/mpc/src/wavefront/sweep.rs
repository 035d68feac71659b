//! The sweep itself, the same for both parties and for plain bits.

use super::geometry::{Geometry, STRIP_ROWS};
use crate::circuit::cells::Cell;
use crate::circuit::reduce::Number;
use crate::circuit::{Bundle, LANES, Party};
use crate::error::MpcError;
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// The state between the steps of a sweep: wires along the rows of the strip, and wires down all columns.
pub struct Sweep<'a, K, P: Party> {
    cell: &'a K,
    geometry: &'a Geometry,
    and_gates: usize,
    strip: usize,
    /// Wire by wire, the rows of all matrices one after the other. `row_offsets` says where those of a matrix begin.
    across: Zeroizing<Vec<P::Label>>,
    /// Wire by wire, the columns of all matrices one after the other.
    down: Zeroizing<Vec<P::Label>>,
    row_offsets: Vec<usize>,
    column_offsets: Vec<usize>,
    buffers: Buffers<P::Label>,
}

/// Bundles of one cell, allocated once.
struct Buffers<L: Zeroize> {
    across: Zeroizing<Vec<Bundle<L>>>,
    down: Zeroizing<Vec<Bundle<L>>>,
    input: Zeroizing<Vec<Bundle<L>>>,
}

impl<'a, K: Cell, P: Party> Sweep<'a, K, P> {
    /// All matrices at their upper borders.
    pub fn new(cell: &'a K, geometry: &'a Geometry, party: &P) -> Self {
        let column_offsets = offsets(geometry.shapes().iter().map(|shape| shape.columns));
        let row_offsets = offsets(
            geometry
                .shapes()
                .iter()
                .map(|shape| shape.rows.min(STRIP_ROWS)),
        );
        let columns = column_offsets.last().copied().unwrap_or(0);
        let rows = row_offsets.last().copied().unwrap_or(0);
        let down = (0..cell.down_wires())
            .flat_map(|wire| std::iter::repeat_n(party.constant(cell.upper_border(wire)), columns));
        let mut across = Vec::with_capacity(cell.across_wires() * rows);
        across.resize(cell.across_wires() * rows, party.constant(false));
        let bundles = |count| Zeroizing::new(vec![[P::Label::default(); LANES]; count]);
        let mut sweep = Self {
            cell,
            geometry,
            and_gates: cell.and_gates(),
            strip: 0,
            across: Zeroizing::new(across),
            down: Zeroizing::new(down.collect()),
            row_offsets,
            column_offsets,
            buffers: Buffers {
                across: bundles(cell.across_wires()),
                down: bundles(cell.down_wires()),
                input: bundles(cell.input_wires()),
            },
        };
        sweep.start_strip(0, party);
        sweep
    }

    /// Continues with a strip: its rows start at the left border. Strips are in order.
    pub fn start_strip(&mut self, strip: usize, party: &P) {
        self.strip = strip;
        let rows = self.row_offsets.last().copied().unwrap_or(0).max(1);
        for (wire, across) in self.across.chunks_exact_mut(rows).enumerate() {
            across.fill(party.constant(self.cell.left_border(wire)));
        }
    }

    /// Runs the cells of a step. `inputs` has their input wires, cell by cell in the order of [`Geometry::cells`].
    pub fn step(
        &mut self,
        step: usize,
        inputs: &[P::Label],
        party: &mut P,
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        let width = self.cell.input_wires();
        let count = self.geometry.cells_in_step(self.strip, step);
        if inputs.len() != count * width {
            return Err(MpcError::Misuse("a step needs the inputs of all its cells"));
        }
        party.prepare(count * self.and_gates, channel)?;
        let mut rest = inputs;
        let (mut lanes, mut places) = (0, Places::default());
        for comparison in 0..self.geometry.shapes().len() {
            let (row_offset, column_offset) = (
                self.row_offsets[comparison],
                self.column_offsets[comparison] + step,
            );
            for row in self.geometry.rows_of_step(self.strip, step, comparison) {
                places.rows[lanes] = row_offset + row;
                places.columns[lanes] = column_offset - row;
                lanes += 1;
                if lanes == LANES {
                    rest = self.run_bundle(&places, LANES, rest, party);
                    lanes = 0;
                }
            }
        }
        if lanes > 0 {
            self.run_bundle(&places, lanes, rest, party);
        }
        party.settle(channel)
    }

    /// Runs the cell in some lanes and returns the inputs that are left for others. Inlined twice, once with the usual number of lanes
    /// as a constant.
    #[inline(always)]
    fn run_bundle<'i>(
        &mut self,
        places: &Places,
        lanes: usize,
        inputs: &'i [P::Label],
        party: &mut P,
    ) -> &'i [P::Label] {
        let rows = self.row_offsets.last().copied().unwrap_or(0);
        let columns = self.column_offsets.last().copied().unwrap_or(0);
        let (at_rows, at_columns) = (&places.rows[..lanes], &places.columns[..lanes]);
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
        party.set_lanes(lanes);
        self.cell.run(party, across, down, input);
        scatter(&mut self.across, rows, at_rows, across);
        scatter(&mut self.down, columns, at_columns, down);
        rest
    }

    /// The numbers that the columns of each matrix give below its last row.
    pub fn results(&self, party: &P) -> Vec<Vec<Number<P::Label>>> {
        let columns = self.column_offsets.last().copied().unwrap_or(0);
        let mut down = vec![[P::Label::default(); LANES]; self.cell.down_wires()];
        let mut result = vec![[P::Label::default(); LANES]; self.cell.result_wires()];
        let mut numbers = Vec::with_capacity(columns);
        for first in (0..columns).step_by(LANES) {
            let lanes = (columns - first).min(LANES);
            for (wire, down) in down.iter_mut().enumerate() {
                let place = wire * columns + first;
                down[..lanes].copy_from_slice(&self.down[place..place + lanes]);
            }
            self.cell.result(party, &down, &mut result);
            let number =
                |lane: usize| Zeroizing::new(result.iter().map(|wire| wire[lane]).collect());
            numbers.extend((0..lanes).map(number));
        }
        let mut numbers = numbers.into_iter();
        let shapes = self.geometry.shapes().iter();
        shapes
            .map(|shape| numbers.by_ref().take(shape.columns).collect())
            .collect()
    }
}

/// Where the cells of a bundle are, among all rows of the strip and all columns.
#[derive(Default)]
struct Places {
    rows: [usize; LANES],
    columns: [usize; LANES],
}

/// Takes the wires at these places, out of planes of `size` each, into bundles.
#[inline(always)]
fn gather<L: Copy>(planes: &[L], size: usize, places: &[usize], bundles: &mut [Bundle<L>]) {
    for (plane, bundle) in planes.chunks_exact(size.max(1)).zip(bundles) {
        for (lane, place) in bundle.iter_mut().zip(places) {
            *lane = plane[*place];
        }
    }
}

/// Puts the wires of bundles back in their places.
#[inline(always)]
fn scatter<L: Copy>(planes: &mut [L], size: usize, places: &[usize], bundles: &[Bundle<L>]) {
    for (plane, bundle) in planes.chunks_exact_mut(size.max(1)).zip(bundles) {
        for (lane, place) in bundle.iter().zip(places) {
            plane[*place] = *lane;
        }
    }
}

/// Where each part begins if parts of these sizes follow each other; the last one is their total.
fn offsets(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut offsets = vec![0];
    let mut next = 0;
    for size in sizes {
        next += size;
        offsets.push(next);
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::Clear;
    use crate::circuit::cells::{LocalCell, UnitCell};
    use crate::circuit::reduce::{maxima, sums};
    use crate::wavefront::Shape;
    use veilpath_channel::memory_pair;

    fn value(number: &[bool]) -> usize {
        number
            .iter()
            .rev()
            .fold(0, |sum, bit| sum * 2 + usize::from(*bit))
    }

    fn letters(seed: usize, count: usize) -> Vec<usize> {
        (0..count)
            .map(|i| (i * i * 31 + i * seed + seed * 7) / 5 % 4)
            .collect()
    }

    fn sweep<K: Cell>(
        cell: &K,
        pairs: &[(Vec<usize>, Vec<usize>)],
        input: impl Fn(usize, usize) -> u64,
    ) -> Vec<Vec<Number<bool>>> {
        let (mut channel, _peer) = memory_pair();
        let shapes = pairs.iter().map(|(a, b)| Shape {
            rows: a.len(),
            columns: b.len(),
        });
        let geometry = Geometry::new(shapes.collect());
        let mut party = Clear::new();
        let mut sweep = Sweep::new(cell, &geometry, &party);
        for strip in 0..geometry.strips() {
            sweep.start_strip(strip, &party);
            for step in 0..geometry.steps(strip) {
                let inputs: Vec<bool> = geometry
                    .cells(strip, step)
                    .flat_map(|at| {
                        let (a, b) = &pairs[at.comparison];
                        let value = input(a[strip * STRIP_ROWS + at.row], b[at.column]);
                        (0..cell.input_wires()).map(move |bit| value >> bit & 1 == 1)
                    })
                    .collect();
                sweep.step(step, &inputs, &mut party, &mut channel).unwrap();
            }
        }
        let cells: usize = pairs.iter().map(|(a, b)| a.len() * b.len()).sum();
        assert_eq!(party.and_gates(), cells * cell.and_gates());
        sweep.results(&party)
    }

    fn pairs() -> Vec<(Vec<usize>, Vec<usize>)> {
        let sizes = [
            (0, 4),
            (4, 0),
            (1, 1),
            (30, 17),
            (129, 40),
            (20, 200),
            (300, 260),
            (128, 3),
        ];
        let sizes = sizes.iter().enumerate();
        sizes
            .map(|(i, &(m, n))| (letters(i, m), letters(i + 50, n)))
            .collect()
    }

    #[test]
    fn matrices_of_all_sizes_are_swept_together() {
        let (mut channel, _peer) = memory_pair();
        let results = sweep(&UnitCell, &pairs(), |x, y| UnitCell.input(x == y));
        let totals = sums(&mut Clear::new(), &mut channel, results).unwrap();
        for ((a, b), total) in pairs().iter().zip(totals) {
            let mut row: Vec<usize> = (0..=b.len()).collect();
            for (i, x) in a.iter().enumerate() {
                let mut diagonal = std::mem::replace(&mut row[0], i + 1);
                for (j, y) in b.iter().enumerate() {
                    let best = (diagonal + usize::from(x != y))
                        .min(row[j] + 1)
                        .min(row[j + 1] + 1);
                    diagonal = std::mem::replace(&mut row[j + 1], best);
                }
            }
            assert_eq!(a.len() + value(&total), b.len() + row[b.len()]);
        }
    }

    #[test]
    fn the_largest_cell_is_found_in_any_strip() {
        let (mut channel, _peer) = memory_pair();
        let cell = LocalCell::new(600, 2, 3);
        let score = |x: usize, y: usize| if x == y { 2 } else { -1 };
        let results = sweep(&cell, &pairs(), |x, y| cell.input(score(x, y)));
        let totals = maxima(&mut Clear::new(), &mut channel, results).unwrap();
        for ((a, b), total) in pairs().iter().zip(totals) {
            let mut row = vec![0; b.len() + 1];
            let mut most = 0;
            for x in a {
                let mut diagonal = 0;
                for (j, y) in b.iter().enumerate() {
                    let best = (diagonal + score(*x, *y))
                        .max(row[j] - 3)
                        .max(row[j + 1] - 3)
                        .max(0);
                    diagonal = std::mem::replace(&mut row[j + 1], best);
                    most = most.max(best);
                }
            }
            assert_eq!(i64::try_from(value(&total)), Ok(most));
        }
    }

    #[test]
    fn a_step_with_too_few_inputs_is_refused() {
        let (mut channel, _peer) = memory_pair();
        let geometry = Geometry::new(vec![Shape {
            rows: 2,
            columns: 2,
        }]);
        let mut party = Clear::new();
        let mut sweep = Sweep::new(&UnitCell, &geometry, &party);
        let refused = sweep.step(1, &[true], &mut party, &mut channel);
        assert!(matches!(refused, Err(MpcError::Misuse(_))));
    }
}

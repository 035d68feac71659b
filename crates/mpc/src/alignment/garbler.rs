//! The garbler, which has the rows and the cost tables.

use super::schedule::{self, DiagonalSpan, Group, LOOKAHEAD};
use super::{Fold, value_of};
use crate::bits::bits_at;
use crate::circuit::cells::Cell;
use crate::circuit::reduce::{Number, public_number};
use crate::error::MpcError;
use crate::half_gates::Garbler;
use crate::half_gates::messages::{receive_bits, send_bits};
use crate::kernel::Kernel;
use crate::label::{Delta, ZeroLabel};
use crate::ot::CorrelatedSender;
use crate::ot::correlated::{Sender, TreeLevels};
use crate::ot::letters::{self, SenderLetterKeys};
use crate::ot::lookup::{ColumnShare, PadPosition, StripTable, write_column};
use crate::prg::Prg;
use crate::wavefront::{STRIP_ROWS, Shape, Sweep, SweepOutput};
use crate::worker_thread::{CreatedThreads, WorkerThread};
use rand::CryptoRng;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use veilpath_channel::Channel;

/// The garbler's side of a session: one offset, one set of base transfers, any number of comparisons.
pub struct GarblerSession<O = Sender> {
    kernel: Kernel,
    delta: Arc<Delta>,
    garbler: Garbler,
    correlated: O,
    randomness: Prg,
    columns: u64,
    comparisons: u32,
    threads: CreatedThreads,
}

/// The garbler's string in the form that look-ups need: for each of its letters, the cell input for every letter of the
/// alphabet. Rows are read strip by strip, so a large alphabet needs no table of all pairs.
pub trait Rows {
    /// The number of letters.
    fn count(&self) -> usize;

    /// Writes the inputs of a row, indexed by the evaluator's letter.
    fn fill(&self, row: usize, inputs: &mut [u64]);
}

/// Rows of an existing table.
impl Rows for Vec<&[u64]> {
    fn count(&self) -> usize {
        self.len()
    }

    fn fill(&self, row: usize, inputs: &mut [u64]) {
        let costs = self.get(row).copied().unwrap_or_default();
        for (input, cost) in inputs.iter_mut().zip(costs) {
            *input = *cost;
        }
    }
}

/// One comparison, from the garbler's point of view.
pub struct GarblerComparison<R> {
    /// Its own string.
    pub rows: R,
    /// The evaluator's letters, as a range of the sent letters.
    pub columns: Range<usize>,
}

impl GarblerSession<Sender> {
    /// Draws the offset and runs the base transfers.
    pub fn start(
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut dyn Channel,
    ) -> Result<Self, MpcError> {
        let delta = Arc::new(Delta::random(rng));
        let tree_levels = TreeLevels::default();
        let correlated = Sender::start(Arc::clone(&delta), tree_levels, kernel, rng, channel)?;
        Self::with_transfers(kernel, delta, correlated, rng, channel)
    }

    /// The part of the session that runs on another worker thread, with its own channel. Only the first thread creates
    /// parts, one for each other thread. All parts share the letter keys.
    pub fn for_thread(&mut self, thread: WorkerThread) -> Result<Self, MpcError> {
        self.threads.claim(thread)?;
        Ok(Self {
            kernel: self.kernel,
            delta: Arc::clone(&self.delta),
            garbler: self.garbler.for_thread(thread),
            correlated: self.correlated.for_thread(thread),
            randomness: Prg::new(self.kernel, self.randomness.next_block()),
            columns: thread.first_column(),
            comparisons: thread.first_comparison(),
            threads: CreatedThreads::all_claimed(),
        })
    }
}

impl<O: CorrelatedSender> GarblerSession<O> {
    /// A session that uses the given transfers, whose offset is `delta`.
    pub fn with_transfers(
        kernel: Kernel,
        delta: Arc<Delta>,
        correlated: O,
        rng: &mut impl CryptoRng,
        channel: &mut dyn Channel,
    ) -> Result<Self, MpcError> {
        let garbler = Garbler::start(Arc::clone(&delta), kernel, rng, channel)?;
        channel.flush()?;
        Ok(Self {
            kernel,
            delta,
            garbler,
            correlated,
            randomness: Prg::from_rng(kernel, rng),
            columns: 0,
            comparisons: 0,
            threads: CreatedThreads::default(),
        })
    }

    /// Makes keys for `count` letters of the evaluator. They serve any number of comparisons.
    pub fn letters(
        &mut self,
        alphabet: usize,
        count: usize,
        channel: &mut dyn Channel,
    ) -> Result<SenderLetterKeys, MpcError> {
        self.garbler.finish(channel)?;
        let first = self.columns;
        self.columns += count as u64;
        letters::send(
            alphabet,
            count,
            first,
            &self.delta,
            &mut self.correlated,
            channel,
        )
    }

    /// Aligns many pairs and folds each matrix into one number. Calls `on_cells` with the number of matrix cells
    /// finished since the last call, because a long string takes minutes.
    pub fn align<K: Cell, R: Rows>(
        &mut self,
        cell: &K,
        fold: Fold,
        letters: &SenderLetterKeys,
        comparisons: &[GarblerComparison<R>],
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<Number<ZeroLabel>>, MpcError> {
        let width = cell.input_wires();
        let shapes: Vec<Shape> = comparisons
            .iter()
            .map(|comparison| Shape {
                rows: comparison.rows.count(),
                columns: comparison.columns.len(),
            })
            .collect();
        schedule::check(&shapes, self.comparisons, width)?;
        let mut ends = comparisons.iter().map(|comparison| comparison.columns.end);
        if ends.any(|end| end > letters.count()) {
            return Err(MpcError::Misuse(
                "a comparison refers to letters that do not exist",
            ));
        }
        self.garbler.finish(channel)?;
        let groups = schedule::groups(shapes, width, letters.alphabet());
        let mut upcoming = schedule::all_spans(&groups, width);
        let mut ahead = SentAhead {
            cell,
            letters,
            comparisons,
            first_number: self.comparisons,
            strips: VecDeque::new(),
            message: Vec::new(),
            spans: 0,
        };
        self.comparisons += comparisons.len() as u32;
        self.correlated.announce(schedule::wires(&groups, width));
        let mut numbers = Vec::with_capacity(comparisons.len());
        for group in &groups {
            let results = self.sweep(group, &mut upcoming, &mut ahead, channel, on_cells)?;
            numbers.extend(fold.run(&mut self.garbler, channel, results)?);
            // Columns of the next group must not overtake these tables.
            self.garbler.finish(channel)?;
        }
        Ok(numbers)
    }

    fn sweep<'g, K: Cell, R: Rows>(
        &mut self,
        group: &'g Group,
        upcoming: &mut impl Iterator<Item = (&'g Group, DiagonalSpan)>,
        ahead: &mut SentAhead<'_, K, R>,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<SweepOutput<ZeroLabel>>, MpcError> {
        let geometry = &group.geometry;
        let width = ahead.cell.input_wires();
        let mut sweep = Sweep::new(ahead.cell, geometry, &self.garbler);
        for span in schedule::spans(geometry, width) {
            while ahead.spans <= LOOKAHEAD {
                let Some((group, later)) = upcoming.next() else {
                    break;
                };
                ahead.send(self, group, &later, channel)?;
            }
            ahead.spans -= 1;
            let shares = ahead.shares(group, &span)?;
            if span.steps.start == 0 {
                sweep.start_strip(span.strip, &self.garbler);
            }
            let mut labels = self.correlated.send(span.cells * width, channel)?;
            let mut rest = &mut labels[..];
            for step in span.steps.clone() {
                let count = geometry.cells_in_step(span.strip, step) * width;
                let (inputs, later) = std::mem::take(&mut rest).split_at_mut(count);
                rest = later;
                // The wire carries the sum of both shares: the garbler's is folded into the zero label.
                let cells = geometry.cells(span.strip, step);
                for (at, inputs) in cells.zip(inputs.chunks_exact_mut(width.max(1))) {
                    let share = &shares[at.comparison][at.column];
                    let bits = bits_at(&share[..], at.row * width, width);
                    for (wire, label) in inputs.iter_mut().enumerate() {
                        *label = label.flipped(bits >> wire & 1 == 1, &self.delta);
                    }
                }
                sweep.step(step, inputs, &mut self.garbler, channel)?;
            }
            self.garbler.finish(channel)?;
            on_cells(span.cells);
        }
        Ok(sweep.finish(&self.garbler))
    }

    /// Wires for the garbler's own bits. The evaluator gets the labels, which reveal nothing.
    pub fn own_bits(
        &mut self,
        bits: &[bool],
        channel: &mut dyn Channel,
    ) -> Result<Number<ZeroLabel>, MpcError> {
        self.garbler.finish(channel)?;
        let mut wires = Number::new(Vec::with_capacity(bits.len()));
        for bit in bits {
            let zero = ZeroLabel(self.randomness.next_block());
            channel.send(&zero.of(*bit, &self.delta).0.to_bytes())?;
            wires.push(zero);
        }
        channel.flush()?;
        Ok(wires)
    }

    /// Wires for the evaluator's bits, whose labels the evaluator gets by transfer.
    pub fn peer_bits(
        &mut self,
        count: usize,
        channel: &mut dyn Channel,
    ) -> Result<Number<ZeroLabel>, MpcError> {
        // Send all pending tables before blocking: the evaluator may be waiting for them.
        self.garbler.finish(channel)?;
        self.correlated.send(count, channel)
    }

    /// Wires for a number that both sides know.
    pub fn public_number(&self, value: u64, width: usize) -> Number<ZeroLabel> {
        public_number(&self.garbler, value, width)
    }

    /// The underlying garbler, to run circuits on the results of [`GarblerSession::align`]; see
    /// [`crate::circuit::reduce`].
    pub fn circuit(&mut self) -> &mut Garbler {
        &mut self.garbler
    }

    /// This side's halves of numbers: a number is the XOR of both sides' halves, and either half alone is random. The
    /// call sends all pending tables, so that the evaluator can compute its own halves. A number may have up to 64
    /// bits.
    pub fn halves(
        &mut self,
        numbers: &[Number<ZeroLabel>],
        channel: &mut dyn Channel,
    ) -> Result<Vec<u64>, MpcError> {
        self.garbler.finish(channel)?;
        channel.flush()?;
        let half = |number: &Number<ZeroLabel>| value_of(number.iter().map(|wire| wire.colour()));
        Ok(numbers.iter().map(half).collect())
    }

    /// Reveals numbers to the evaluator, and only to it.
    pub fn reveal_to_peer(
        &mut self,
        numbers: &[Number<ZeroLabel>],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        self.garbler.finish(channel)?;
        let wires = numbers.iter().flat_map(|number| number.iter());
        send_bits(wires.map(|wire| wire.colour()), channel)?;
        Ok(channel.flush()?)
    }

    /// Learns numbers from the evaluator, which learns nothing. A number may have up to 64 bits.
    pub fn decode(
        &mut self,
        numbers: &[Number<ZeroLabel>],
        channel: &mut dyn Channel,
    ) -> Result<Vec<u64>, MpcError> {
        self.garbler.finish(channel)?;
        let wires = numbers.iter().map(|number| number.len()).sum();
        let mut colours = receive_bits(wires, channel)?.into_iter();
        Ok(numbers
            .iter()
            .map(|number| {
                let bits = number.iter().zip(colours.by_ref());
                value_of(bits.map(|(wire, colour)| wire.colour() ^ colour))
            })
            .collect())
    }
}

/// Data sent ahead of the tables: columns of masked costs. Stores the garbler's shares until their cells are garbled.
struct SentAhead<'a, K, R> {
    cell: &'a K,
    letters: &'a SenderLetterKeys,
    comparisons: &'a [GarblerComparison<R>],
    first_number: u32,
    strips: VecDeque<Strip>,
    message: Vec<u8>,
    /// Spans whose columns have been sent and whose cells have not been garbled.
    spans: usize,
}

/// A strip in progress: the tables of all comparisons, and the shares of the columns so far.
struct Strip {
    /// The first comparison of the group, and the strip. Both increase as the work proceeds.
    position: (usize, usize),
    tables: Vec<StripTable>,
    shares: Vec<Vec<ColumnShare>>,
}

impl<K: Cell, R: Rows> SentAhead<'_, K, R> {
    fn send<O>(
        &mut self,
        session: &mut GarblerSession<O>,
        group: &Group,
        span: &DiagonalSpan,
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        if span.steps.start == 0 {
            let strip = self.start_strip(group, span.strip)?;
            self.strips.push_back(strip);
        }
        self.spans += 1;
        let Some(strip) = self.strips.back_mut() else {
            return Err(MpcError::Misuse("a strip was not started"));
        };
        for step in span.steps.clone() {
            self.message.clear();
            for comparison in group.geometry.entering(span.strip, step) {
                let number = group.first + comparison;
                let position = PadPosition {
                    comparison: self.first_number + number as u32,
                    strip: span.strip as u32,
                };
                let share = write_column(
                    session.kernel,
                    &mut strip.tables[comparison],
                    self.letters,
                    self.comparisons[number].columns.start + step,
                    position,
                    &mut session.randomness,
                    &mut self.message,
                )?;
                strip.shares[comparison].push(share);
            }
            channel.send(&self.message)?;
        }
        Ok(channel.flush()?)
    }

    fn start_strip(&self, group: &Group, number: usize) -> Result<Strip, MpcError> {
        let first = number * STRIP_ROWS;
        let alphabet = self.letters.alphabet();
        let comparisons = &self.comparisons[group.first..group.first + group.len()];
        let tables = comparisons.iter().enumerate().map(|(at, comparison)| {
            let rows = group.geometry.rows(number, at);
            let fill = |row: usize, inputs: &mut [u64]| comparison.rows.fill(first + row, inputs);
            StripTable::new(alphabet, self.cell.input_wires(), rows, fill)
        });
        Ok(Strip {
            position: (group.first, number),
            tables: tables.collect::<Result<_, _>>()?,
            shares: comparisons.iter().map(|_| Vec::new()).collect(),
        })
    }

    /// The shares that a span needs; those of earlier strips are dropped.
    fn shares(
        &mut self,
        group: &Group,
        span: &DiagonalSpan,
    ) -> Result<&[Vec<ColumnShare>], MpcError> {
        let position = (group.first, span.strip);
        while self
            .strips
            .front()
            .is_some_and(|strip| strip.position < position)
        {
            self.strips.pop_front();
        }
        match self.strips.front() {
            Some(strip) => Ok(&strip.shares),
            None => Err(MpcError::Misuse("a strip was not started")),
        }
    }
}

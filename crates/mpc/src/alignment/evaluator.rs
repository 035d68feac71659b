//! The evaluator, which has the columns and their letters.

use super::schedule::{self, DiagonalSpan, Group, LOOKAHEAD};
use super::{Fold, value_of};
use crate::bits::bits_at;
use crate::block::{BLOCK_BYTES, Block};
use crate::circuit::cells::Cell;
use crate::circuit::reduce::{Number, public_number};
use crate::error::MpcError;
use crate::half_gates::Evaluator;
use crate::half_gates::messages::{receive_bits, send_bits};
use crate::kernel::Kernel;
use crate::label::ActiveLabel;
use crate::ot::correlated::{Receiver, TreeLevels};
use crate::ot::letters::{self, ReceiverLetterKeys};
use crate::ot::lookup::messages::column_bytes;
use crate::ot::lookup::{ColumnShare, PadPosition, read_column};
use crate::ot::{Bits, CorrelatedReceiver};
use crate::wavefront::{Shape, Sweep, SweepOutput};
use crate::worker_thread::{CreatedThreads, WorkerThread};
use rand::CryptoRng;
use std::collections::VecDeque;
use std::ops::Range;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The evaluator's side of a session.
pub struct EvaluatorSession<O = Receiver> {
    kernel: Kernel,
    evaluator: Evaluator,
    correlated: O,
    columns: u64,
    comparisons: u32,
    threads: CreatedThreads,
}

/// One comparison, from the evaluator's point of view.
#[derive(Clone, Debug)]
pub struct EvaluatorComparison {
    /// The length of the garbler's string.
    pub rows: usize,
    /// The evaluator's own letters, as a range of the received letters.
    pub columns: Range<usize>,
}

impl EvaluatorSession<Receiver> {
    /// Runs the base transfers.
    pub fn start(
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut dyn Channel,
    ) -> Result<Self, MpcError> {
        let correlated = Receiver::start(TreeLevels::default(), kernel, rng, channel)?;
        Self::with_transfers(kernel, correlated, channel)
    }

    /// The part of the session that runs on another worker thread, with its own channel. Only the first thread creates
    /// parts, one for each other thread. All parts share the letter keys.
    pub fn for_thread(&mut self, thread: WorkerThread) -> Result<Self, MpcError> {
        self.threads.claim(thread)?;
        Ok(Self {
            kernel: self.kernel,
            evaluator: self.evaluator.for_thread(thread),
            correlated: self.correlated.for_thread(thread),
            columns: thread.first_column(),
            comparisons: thread.first_comparison(),
            threads: CreatedThreads::all_claimed(),
        })
    }
}

impl<O: CorrelatedReceiver> EvaluatorSession<O> {
    /// A session that uses the given transfers.
    pub fn with_transfers(
        kernel: Kernel,
        correlated: O,
        channel: &mut dyn Channel,
    ) -> Result<Self, MpcError> {
        Ok(Self {
            kernel,
            evaluator: Evaluator::start(kernel, channel)?,
            correlated,
            columns: 0,
            comparisons: 0,
            threads: CreatedThreads::default(),
        })
    }

    /// Gets one key for each own letter. The keys serve any number of comparisons.
    pub fn letters(
        &mut self,
        alphabet: usize,
        letters: &[usize],
        channel: &mut dyn Channel,
    ) -> Result<ReceiverLetterKeys, MpcError> {
        let first = self.columns;
        self.columns += letters.len() as u64;
        letters::receive(alphabet, letters, first, &mut self.correlated, channel)
    }

    /// Aligns many pairs and folds each matrix into one number. Calls `on_cells` with the number of matrix cells
    /// finished since the last call, because a long string takes minutes.
    pub fn align<K: Cell>(
        &mut self,
        cell: &K,
        fold: Fold,
        letters: &ReceiverLetterKeys,
        comparisons: &[EvaluatorComparison],
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<Number<ActiveLabel>>, MpcError> {
        let width = cell.input_wires();
        let shapes: Vec<Shape> = comparisons
            .iter()
            .map(|comparison| Shape {
                rows: comparison.rows,
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
        let groups = schedule::groups(shapes, width, letters.alphabet());
        let mut upcoming = schedule::all_spans(&groups, width);
        let mut ahead = ReceivedAhead {
            width,
            letters,
            comparisons,
            first_number: self.comparisons,
            shares: Vec::new(),
            labels: VecDeque::new(),
            message: Vec::new(),
        };
        self.comparisons += comparisons.len() as u32;
        self.correlated.announce(schedule::wires(&groups, width));
        let mut numbers = Vec::with_capacity(comparisons.len());
        for group in &groups {
            let results = self.sweep(cell, group, &mut upcoming, &mut ahead, channel, on_cells)?;
            numbers.extend(fold.run(&mut self.evaluator, channel, results)?);
        }
        Ok(numbers)
    }

    fn sweep<'g, K: Cell>(
        &mut self,
        cell: &K,
        group: &'g Group,
        upcoming: &mut impl Iterator<Item = (&'g Group, DiagonalSpan)>,
        ahead: &mut ReceivedAhead<'_>,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<SweepOutput<ActiveLabel>>, MpcError> {
        let geometry = &group.geometry;
        let mut sweep = Sweep::new(cell, geometry, &self.evaluator);
        for span in schedule::spans(geometry, ahead.width) {
            while ahead.labels.len() <= LOOKAHEAD {
                let Some((group, later)) = upcoming.next() else {
                    break;
                };
                ahead.receive(self, group, &later, channel)?;
            }
            if span.steps.start == 0 {
                sweep.start_strip(span.strip, &self.evaluator);
            }
            let labels = ahead.labels.pop_front().unwrap_or_default();
            let mut rest = &labels[..];
            for step in span.steps.clone() {
                let count = geometry.cells_in_step(span.strip, step) * ahead.width;
                let (inputs, later) = rest.split_at(count.min(rest.len()));
                rest = later;
                sweep.step(step, inputs, &mut self.evaluator, channel)?;
            }
            on_cells(span.cells);
        }
        Ok(sweep.finish(&self.evaluator))
    }

    /// Wires for the evaluator's own bits. Their labels arrive by transfer, so the garbler does not see the bits.
    pub fn own_bits(
        &mut self,
        bits: &Bits,
        channel: &mut dyn Channel,
    ) -> Result<Number<ActiveLabel>, MpcError> {
        self.correlated.receive(bits, channel)
    }

    /// Wires for the garbler's bits.
    pub fn peer_bits(
        &mut self,
        count: usize,
        channel: &mut dyn Channel,
    ) -> Result<Number<ActiveLabel>, MpcError> {
        let mut bytes = [0; BLOCK_BYTES];
        let mut wires = Number::new(Vec::with_capacity(count));
        for _ in 0..count {
            channel.receive(&mut bytes)?;
            wires.push(ActiveLabel(Block::from_bytes(bytes)));
        }
        Ok(wires)
    }

    /// Wires for a number that both sides know.
    pub fn public_number(&self, value: u64, width: usize) -> Number<ActiveLabel> {
        public_number(&self.evaluator, value, width)
    }

    /// The underlying evaluator, to run circuits on the results of [`EvaluatorSession::align`]; see
    /// [`crate::circuit::reduce`].
    pub fn circuit(&mut self) -> &mut Evaluator {
        &mut self.evaluator
    }

    /// This side's halves of numbers; see [`super::GarblerSession::halves`].
    pub fn halves(&self, numbers: &[Number<ActiveLabel>]) -> Vec<u64> {
        let half = |number: &Number<ActiveLabel>| value_of(number.iter().map(|wire| wire.colour()));
        numbers.iter().map(half).collect()
    }

    /// Reveals numbers to the garbler, and only to it.
    pub fn reveal_to_peer(
        &mut self,
        numbers: &[Number<ActiveLabel>],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        let wires = numbers.iter().flat_map(|number| number.iter());
        send_bits(wires.map(|wire| wire.colour()), channel)?;
        Ok(channel.flush()?)
    }

    /// Learns numbers from the garbler, which learns nothing. A number may have up to 64 bits.
    pub fn decode(
        &mut self,
        numbers: &[Number<ActiveLabel>],
        channel: &mut dyn Channel,
    ) -> Result<Vec<u64>, MpcError> {
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

/// Data received ahead of the tables: columns of masked costs, and the labels of the evaluator's shares.
struct ReceivedAhead<'a> {
    width: usize,
    letters: &'a ReceiverLetterKeys,
    comparisons: &'a [EvaluatorComparison],
    first_number: u32,
    shares: Vec<Vec<ColumnShare>>,
    labels: VecDeque<Zeroizing<Vec<ActiveLabel>>>,
    message: Vec<u8>,
}

impl ReceivedAhead<'_> {
    fn receive<O: CorrelatedReceiver>(
        &mut self,
        session: &mut EvaluatorSession<O>,
        group: &Group,
        span: &DiagonalSpan,
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        let geometry = &group.geometry;
        if span.steps.start == 0 {
            // All cells of the previous strip have their labels.
            self.shares = (0..group.len()).map(|_| Vec::new()).collect();
        }
        let mut bits = Bits::with_capacity(span.cells * self.width);
        for step in span.steps.clone() {
            for comparison in geometry.entering(span.strip, step) {
                let rows = geometry.rows(span.strip, comparison);
                let bytes = column_bytes(self.letters.alphabet(), rows, self.width);
                self.message.resize(bytes, 0);
                channel.receive(&mut self.message)?;
                let number = group.first + comparison;
                let position = PadPosition {
                    comparison: self.first_number + number as u32,
                    strip: span.strip as u32,
                };
                let share = read_column(
                    session.kernel,
                    rows,
                    self.width,
                    self.letters,
                    self.comparisons[number].columns.start + step,
                    position,
                    &self.message,
                )?;
                self.shares[comparison].push(share);
            }
            for at in geometry.cells(span.strip, step) {
                let share = &self.shares[at.comparison][at.column];
                bits.push_low_bits(
                    bits_at(&share[..], at.row * self.width, self.width),
                    self.width,
                );
            }
        }
        let labels = session.correlated.receive(&bits, channel)?;
        self.labels.push_back(labels);
        Ok(())
    }
}

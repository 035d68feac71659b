//! Sessions of two parties: from letters to halves of outputs.

use super::gates::Gates;
use super::group::{Group, Matrix};
use super::grouping::{groups, max_active, message_bytes};
use super::letters::{LetterLookup, LookupTrees};
use super::line_lookup::{LineCosts, LineLookup, lookup_batches};
use super::lookup::{MAX_MATRICES, MAX_POSITIONS};
use super::matrix_recurrence::MatrixRecurrence;
use super::outputs::{number_bits, numbers, output};
use super::pool::{Hashes, Pool};
use super::rounds::{Rounds, Task, run};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::{Delta, random_block};
use crate::ot::correlated::{Receiver, Sender, TreeLevels};
use rand::CryptoRng;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use veilpath_channel::Channel;

/// Which of the two sides this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// The side with the rows.
    Host,
    /// The side with the columns.
    Join,
}

impl Party {
    /// Its place in lists with the host first.
    pub(super) fn index(self) -> usize {
        match self {
            Self::Host => 0,
            Self::Join => 1,
        }
    }

    /// Whether it is the host.
    pub(super) fn is_host(self) -> bool {
        self == Self::Host
    }

    /// This party if `number` is even, else the other one.
    pub(super) fn alternate(self, number: usize) -> Self {
        match (self.index() + number) % 2 {
            0 => Self::Host,
            _ => Self::Join,
        }
    }
}

/// The inputs of one matrix.
#[derive(Clone, Debug)]
pub struct MatrixInput {
    /// The range of the host's letters in its list.
    pub rows: Range<usize>,
    /// The range of the joining side's letters in its list.
    pub columns: Range<usize>,
    /// This side's term, which is added to the result or to its negative (see [`Finish`]).
    pub term: u64,
    /// The bound of [`Outputs::AtLeast`].
    pub at_least: u64,
}

/// The kind of outputs of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// The number itself.
    Numbers,
    /// Whether the number is at least a bound.
    AtLeast,
}

/// How the results of matrices become outputs.
#[derive(Clone, Copy, Debug)]
pub struct Finish {
    /// Whether the result is subtracted from the terms of both sides, instead of added.
    pub subtract: bool,
    /// Whether the result counts twice.
    pub doubled: bool,
    /// Bits of the sum, if terms are not zero.
    pub term_bits: usize,
    /// The kind of outputs.
    pub outputs: Outputs,
}

/// One side's part of a session.
pub struct SharesSession {
    pub(super) party: Party,
    pub(super) kernel: Kernel,
    pub(super) pool: Rc<RefCell<Pool>>,
    /// How many comparisons have been numbered.
    pub(super) matrices: u64,
    /// The levels of the transfers' seed trees, and how many lines share a tree, if any do.
    pub(super) tree_levels: TreeLevels,
    /// Where the unused streams of the line trees begin.
    line_streams: u64,
}

impl SharesSession {
    /// Runs the base transfers in both directions.
    pub fn start(
        party: Party,
        tree_levels: TreeLevels,
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut dyn Channel,
    ) -> Result<Self, MpcError> {
        let delta = Arc::new(Delta::random(rng));
        // Each side draws the hash key for the transfers that it sends, because the key protects its own offset.
        let own_hash_key = random_block(rng);
        channel.send(&own_hash_key.to_bytes())?;
        channel.flush()?;
        let mut bytes = [0; BLOCK_BYTES];
        channel.receive(&mut bytes)?;
        let their_hash_key = Block::from_bytes(bytes);
        let (sender, receiver);
        match party {
            Party::Host => {
                sender = Sender::start(delta, tree_levels, kernel, rng, channel)?;
                receiver = Receiver::start(tree_levels, kernel, rng, channel)?;
            }
            Party::Join => {
                receiver = Receiver::start(tree_levels, kernel, rng, channel)?;
                sender = Sender::start(delta, tree_levels, kernel, rng, channel)?;
            }
        }
        let hashes = |hash_key| Hashes::new(kernel, hash_key);
        let pool = Pool::new(
            sender,
            receiver,
            hashes(own_hash_key),
            hashes(their_hash_key),
        );
        Ok(Self {
            party,
            kernel,
            pool: Rc::new(RefCell::new(pool)),
            matrices: 0,
            tree_levels,
            line_streams: 0,
        })
    }

    pub(super) fn gates(&self) -> Gates {
        Gates {
            rounds: Rc::new(Rounds::default()),
            pool: Rc::clone(&self.pool),
            party: self.party,
        }
    }

    /// Compares, and returns this side's halves of the outputs: an output is the XOR of both halves. No matrix may be
    /// empty.
    pub fn align(
        &mut self,
        cell: MatrixRecurrence,
        letters: &LetterLookup,
        comparisons: &[MatrixInput],
        finish: Finish,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<u64>, MpcError> {
        if number_bits(cell, comparisons, finish).max(cell.width()) >= 64 {
            return Err(MpcError::Misuse("results have more than 63 bits"));
        }
        let matrices = self.matrices(letters, comparisons)?;
        let streams = letters.own_table.streams();
        let precomputed = self.look_up_lines(letters, &matrices, channel)?;
        let inline_streams = if precomputed.is_some() { 0 } else { streams };
        let groups = groups(&matrices, cell, inline_streams)?;
        let tables = &letters.tables(self.kernel);
        let tasks = groups.iter().map(|range| {
            let gates = self.gates();
            let (matrices, comparisons) = (&matrices[range.clone()], &comparisons[range.clone()]);
            let source = letters.source(precomputed.as_deref(), range);
            Task {
                rounds: Rc::clone(&gates.rounds),
                future: Box::pin(async move {
                    let mut group = Group::new(gates.clone(), tables, source, matrices);
                    let numbers = numbers(&gates, &mut group, cell, comparisons, finish, on_cells);
                    let bits = number_bits(cell, comparisons, finish);
                    let bounds = comparisons.iter().map(|comparison| comparison.at_least);
                    output(&gates, &numbers.await?, bits, bounds, finish.outputs).await
                }),
            }
        });
        let largest = groups.iter().map(|range| {
            let own = matrices[range.clone()].iter();
            own.map(|matrix| message_bytes(matrix, cell, inline_streams))
                .sum()
        });
        let active = max_active(largest.max().unwrap_or(0));
        let cells = matrices
            .iter()
            .map(|matrix| matrix.lines.len() * matrix.positions.len());
        let transfers = cells.sum::<usize>().saturating_mul(cell.cost().cots) / 2;
        self.pool.borrow_mut().expect(transfers);
        let halves = run(tasks, active, &self.pool, channel)?;
        Ok(halves
            .iter()
            .flat_map(|halves| halves.iter().copied())
            .collect())
    }

    /// The matrices of comparisons, with new numbers. Number and position select the streams of look-ups, so both are
    /// limited.
    pub(super) fn matrices(
        &mut self,
        letters: &LetterLookup,
        comparisons: &[MatrixInput],
    ) -> Result<Vec<Matrix>, MpcError> {
        let first = self.matrices;
        let longest = |it: &MatrixInput| it.rows.len().max(it.columns.len());
        let fit = comparisons.iter().all(|it| longest(it) <= MAX_POSITIONS);
        if !fit || comparisons.len() as u64 > MAX_MATRICES.saturating_sub(first) {
            return Err(MpcError::Misuse(
                "a matrix is too long, or a session has too many",
            ));
        }
        self.matrices += comparisons.len() as u64;
        let matrices = comparisons.iter().enumerate().map(|(at, comparison)| {
            let number = first + at as u64;
            let rows_are_lines = match &letters.trees {
                LookupTrees::PerLetter { .. } => number.is_multiple_of(2),
                LookupTrees::PerLineBlock(trees) => trees.rows_are_lines,
            };
            Matrix::new(self.party, number, rows_are_lines, comparison)
        });
        Ok(matrices.collect())
    }

    /// Looks up all costs if lines share trees.
    pub(super) fn look_up_lines(
        &mut self,
        letters: &LetterLookup,
        matrices: &[Matrix],
        channel: &mut dyn Channel,
    ) -> Result<Option<Vec<LineCosts>>, MpcError> {
        let LookupTrees::PerLineBlock(trees) = &letters.trees else {
            return Ok(None);
        };
        let streams = letters.own_table.streams();
        let batches = lookup_batches(matrices, trees, streams, &mut self.line_streams)?;
        let costs = RefCell::new(matrices.iter().map(LineCosts::new).collect::<Vec<_>>());
        let lookup = LineLookup {
            kernel: self.kernel,
            trees,
            matrices,
            letters: &letters.own,
            table: &letters.own_table,
        };
        let (lookup, all) = (&lookup, &costs);
        let tasks = batches.iter().map(|batch| {
            let gates = self.gates();
            Task {
                rounds: Rc::clone(&gates.rounds),
                future: Box::pin(async move { lookup.run(&gates, batch, all).await }),
            }
        });
        let largest = batches.iter().map(|batch| batch.bytes(streams)).max();
        run(tasks, max_active(largest.unwrap_or(0)), &self.pool, channel)?;
        Ok(Some(costs.into_inner()))
    }
}

//! Sessions of two parties: from letters to halves of outputs.

use super::gates::Gates;
use super::group::{Group, Letters, Matrix};
use super::lookup::{MAX_LETTERS, TILE, Table, Trees, tile_bytes};
use super::outputs::{number_bits, numbers, output};
use super::pool::{Hashes, Pool};
use super::recurrence::Cell;
use super::rounds::{Program, Rounds, run};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::MpcError;
use crate::hash::TweakedHash;
use crate::kernel::Kernel;
use crate::label::{Delta, random_block};
use crate::ot::correlated::{GroupBits, Receiver, Sender};
use rand::CryptoRng;
use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use veilpath_channel::{Channel, UNREAD_BYTES};
use zeroize::Zeroizing;

/// Which of the two sides this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// The side with the rows.
    Host,
    /// The side with the columns.
    Join,
}

/// One comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Where the host's letters are in its list.
    pub rows: Range<usize>,
    /// Where the joining side's letters are in its list.
    pub columns: Range<usize>,
    /// What this side adds to the result, or to the negated one (see [`Finish`]).
    pub term: u64,
    /// The bound of [`Outputs::AtLeast`].
    pub at_least: u64,
}

/// What comes out of comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// The number itself.
    Numbers,
    /// Whether it is at least a bound.
    AtLeast,
}

/// How the results of matrices become outputs.
#[derive(Clone, Copy, Debug)]
pub struct Finish {
    /// Whether the result is subtracted from the terms of both sides, instead of added.
    pub subtract: bool,
    /// Bits of the sum, if terms are not zero.
    pub term_bits: usize,
    /// What comes out.
    pub outputs: Outputs,
}

/// One side's part of a session.
pub struct SharesSession {
    party: usize,
    kernel: Kernel,
    pool: Rc<RefCell<Pool>>,
    matrices: u64,
}

/// The letters of both sides, ready to be looked up.
pub struct SharedLetters {
    own: Zeroizing<Vec<usize>>,
    own_trees: Trees,
    their_trees: Trees,
    own_table: Table,
    their_table: Table,
}

/// Letters whose trees are made together.
const LETTERS_AT_ONCE: usize = 256;

/// Cells of an anti-diagonal that advance together.
const GROUP_CELLS: usize = 8192;

/// Programs that are active at the same time.
pub const GROUPS: usize = 8;

/// Bytes that all active groups may have sent and the other side not received.
const UNREAD: usize = UNREAD_BYTES / 2;

impl SharesSession {
    /// Makes the base transfers of both directions.
    pub fn start(
        party: Party,
        group_bits: GroupBits,
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut impl Channel,
    ) -> Result<Self, MpcError> {
        let delta = Arc::new(Delta::random(rng));
        let (sender, receiver, start);
        match party {
            Party::Host => {
                start = random_block(rng);
                channel.send(&start.to_bytes())?;
                channel.flush()?;
                sender = Sender::start(delta, group_bits, kernel, rng, channel)?;
                receiver = Receiver::start(group_bits, kernel, rng, channel)?;
            }
            Party::Join => {
                let mut bytes = [0; BLOCK_BYTES];
                channel.receive(&mut bytes)?;
                start = Block::from_bytes(bytes);
                receiver = Receiver::start(group_bits, kernel, rng, channel)?;
                sender = Sender::start(delta, group_bits, kernel, rng, channel)?;
            }
        }
        // The counters of tweaks have 64 bits.
        let hash = |number: u128| TweakedHash::new(kernel, start ^ Block::new(number << 96));
        let hashes = |direction: u128| Hashes {
            pads: hash(2 * direction),
            keys: hash(2 * direction + 1),
        };
        let (party, to_join, to_host) = match party {
            Party::Host => (0, 0, 1),
            Party::Join => (1, 1, 0),
        };
        let pool = Pool::new(sender, receiver, hashes(to_join), hashes(to_host));
        Ok(Self {
            party,
            kernel,
            pool: Rc::new(RefCell::new(pool)),
            matrices: 0,
        })
    }

    fn gates(&self) -> Gates {
        Gates {
            rounds: Rc::new(Rounds::default()),
            pool: Rc::clone(&self.pool),
            party: self.party,
        }
    }

    /// Prepares letters of both sides for look-ups. `entry` is the public table, by the host's letter and the joining side's.
    pub fn letters(
        &mut self,
        own: &[usize],
        theirs: usize,
        alphabet: usize,
        entry_bits: usize,
        entry: impl Fn(usize, usize) -> u64,
        channel: &mut impl Channel,
    ) -> Result<SharedLetters, MpcError> {
        if !(1..=MAX_LETTERS).contains(&alphabet) {
            return Err(MpcError::Misuse(
                "the alphabet is too large to be looked up",
            ));
        }
        let by_host = Table::new(alphabet, alphabet, entry_bits, &entry);
        let by_join = Table::new(alphabet, alphabet, entry_bits, |join, host| {
            entry(host, join)
        });
        let (own_table, their_table) = match self.party {
            0 => (by_host, by_join),
            _ => (by_join, by_host),
        };
        let levels = own_table.levels;
        let mut own_parts = own.chunks(LETTERS_AT_ONCE);
        let rounds = own.len().max(theirs).div_ceil(LETTERS_AT_ONCE);
        let kernel = self.kernel;
        let programs = (0..rounds).map(|round| {
            let own = own_parts.next().unwrap_or_default();
            let theirs = theirs
                .saturating_sub(round * LETTERS_AT_ONCE)
                .min(LETTERS_AT_ONCE);
            let gates = self.gates();
            Program {
                rounds: Rc::clone(&gates.rounds),
                future: Box::pin(async move {
                    let demand = Gates::trees_demand(own.len(), levels, theirs, levels);
                    gates.rounds.reserve(demand).await;
                    gates.trees(kernel, own, levels, theirs, levels).await
                }),
            }
        });
        let parts = run(programs, 2, &self.pool, channel)?;
        let (own_parts, their_parts): (Vec<Trees>, Vec<Trees>) =
            parts.into_iter().map(|[own, theirs]| (own, theirs)).unzip();
        Ok(SharedLetters {
            own: Zeroizing::new(own.to_vec()),
            own_trees: Trees::joined(levels, &own_parts),
            their_trees: Trees::joined(levels, &their_parts),
            own_table,
            their_table,
        })
    }

    /// Compares, and returns this side's halves of the outputs: an output is the exclusive or of both halves. No matrix is
    /// empty.
    pub fn align(
        &mut self,
        cell: Cell,
        letters: &SharedLetters,
        comparisons: &[Comparison],
        finish: Finish,
        channel: &mut impl Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Vec<u64>, MpcError> {
        let letters = Letters {
            kernel: self.kernel,
            own: &letters.own,
            own_trees: &letters.own_trees,
            their_trees: &letters.their_trees,
            own_table: &letters.own_table,
            their_table: &letters.their_table,
        };
        if number_bits(cell, comparisons, finish).max(cell.width()) >= 64 {
            return Err(MpcError::Misuse("results have more than 63 bits"));
        }
        let first = self.matrices;
        self.matrices += comparisons.len() as u64;
        let streams = letters.own_table.streams();
        let matrices: Vec<Matrix> = comparisons
            .iter()
            .enumerate()
            .map(|(at, comparison)| matrix(self.party, first + at as u64, comparison))
            .collect();
        let groups = groups(&matrices, streams)?;
        let letters = &letters;
        let programs = groups.iter().map(|range| {
            let gates = self.gates();
            let (matrices, comparisons) = (&matrices[range.clone()], &comparisons[range.clone()]);
            Program {
                rounds: Rc::clone(&gates.rounds),
                future: Box::pin(async move {
                    let mut group = Group::new(gates.clone(), letters, matrices);
                    let numbers = numbers(&gates, &mut group, cell, comparisons, finish, on_cells);
                    output(&gates, &numbers.await?, cell, comparisons, finish).await
                }),
            }
        });
        let largest = groups
            .iter()
            .map(|range| weight(&matrices[range.clone()], streams));
        let at_once = (UNREAD / largest.max().unwrap_or(1).max(1)).clamp(1, GROUPS);
        let halves = run(programs, at_once, &self.pool, channel)?;
        Ok(halves
            .iter()
            .flat_map(|halves| halves.iter().copied())
            .collect())
    }
}

/// Rows are the lines of every other matrix.
fn matrix(party: usize, number: u64, comparison: &Comparison) -> Matrix {
    let rows_are_lines = number.is_multiple_of(2);
    let (lines, positions) = match rows_are_lines {
        true => (&comparison.rows, &comparison.columns),
        false => (&comparison.columns, &comparison.rows),
    };
    Matrix {
        rows_are_lines,
        own_lines: rows_are_lines == (party == 0),
        lines: lines.clone(),
        positions: positions.clone(),
        number,
    }
}

/// An upper bound of the bytes of a group's messages.
fn weight(matrices: &[Matrix], streams: usize) -> usize {
    let weight = |matrix: &Matrix| {
        let cells = matrix.lines.len().min(matrix.positions.len());
        let tiles = cells / TILE + 1;
        tiles * tile_bytes(streams, matrix.positions.len().min(TILE)) + cells * 4
    };
    matrices.iter().map(weight).sum()
}

/// How many groups matrices of this shape form, for estimates.
pub fn group_count(matrices: u64, rows: usize, columns: usize, alphabet: usize) -> u64 {
    let matrix = Matrix {
        rows_are_lines: true,
        own_lines: true,
        lines: 0..rows,
        positions: 0..columns,
        number: 0,
    };
    let own = weight(&[matrix], alphabet.saturating_sub(1)).max(1);
    let by_bytes = UNREAD / GROUPS / own;
    let in_group = by_bytes.min(GROUP_CELLS / rows.min(columns).max(1)).max(1);
    matrices.div_ceil(in_group as u64)
}

/// Matrices that advance together: enough for large messages, few enough for the channel's buffers.
fn groups(matrices: &[Matrix], streams: usize) -> Result<Vec<Range<usize>>, MpcError> {
    let mut groups = Vec::new();
    let (mut first, mut cells, mut bytes) = (0, 0, 0);
    for (at, matrix) in matrices.iter().enumerate() {
        let own = weight(std::slice::from_ref(matrix), streams);
        if own > UNREAD {
            return Err(MpcError::Misuse(
                "a matrix is too large for a channel's buffers",
            ));
        }
        let more = matrix.lines.len().min(matrix.positions.len());
        if first < at && (cells + more > GROUP_CELLS || bytes + own > UNREAD / GROUPS) {
            groups.push(first..at);
            (first, cells, bytes) = (at, 0, 0);
        }
        cells += more;
        bytes += own;
    }
    if first < matrices.len() {
        groups.push(first..matrices.len());
    }
    Ok(groups)
}

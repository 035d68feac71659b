//! Diagonal runs of ones in bit tables, as in recurrence plots: how many cells belong to runs of at least L cells.
//!
//! No cell depends on the result of another, so all cells of a matrix are computed together, line by line and 64
//! positions to a word. Let s₁ be the looked-up bits and s_k(i, j) = s₁(i, j)·s_{k−1}(i − 1, j − 1), which is 1 if a
//! run of k cells ends at (i, j). A cell belongs to a run of L if one of s_L(i, j) … s_L(i + L − 1, j + L − 1) is 1.
//! The ones among these are neighbours, and s_{L+1} marks where two of them meet. So there is one more 1 among them
//! than among s_{L+1}(i + 1, j + 1) … s_{L+1}(i + L − 1, j + L − 1), or none at all, and the bit is the XOR of all of
//! these. The XOR is free. Then the bits are counted: b₀ ⊕ b₁ = b₀ + b₁ − 2·b₀·b₁.
//!
//! All products of a cell have the factor s₁, and so share one transfer in each direction ([`Gates::multiply`]).

use super::gates::{Factor, Gates, Multiplier};
use super::group::{Group, Matrix};
use super::grouping::{GROUP_BYTES, MAX_UNREAD, max_active};
use super::letters::LetterLookup;
use super::packing::{Words, words};
use super::pool::Demand;
use super::rounds::{Task, join2, run};
use super::session::{MatrixInput, SharesSession};
use crate::bits::mask;
use crate::bits::{Bits, bits_at, copy_bits};
use crate::circuit::numbers::bits_for;
use crate::error::MpcError;
use std::collections::VecDeque;
use std::ops::Range;
use std::rc::Rc;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// Bits per cell in one message, including look-ups of this many streams.
fn message_bits(streams: usize, bits: usize) -> usize {
    streams.max(bits + 2)
}

/// Bits of the cell count of the largest matrix.
fn count_bits(cells: impl Iterator<Item = usize>) -> usize {
    bits_for(cells.max().unwrap_or(0) as u64)
}

/// Cells that are computed together, unless a single line has more.
pub(super) fn cells_at_once(streams: usize, bits: usize) -> usize {
    GROUP_BYTES * 8 / message_bits(streams, bits)
}

/// Whether a line of the matrix fits the buffers of a channel.
pub fn runs_fit(rows: usize, columns: usize, alphabet: usize) -> bool {
    let positions = rows.max(columns);
    let bits = count_bits([rows.saturating_mul(columns)].into_iter());
    positions.saturating_mul(message_bits(alphabet.saturating_sub(1), bits)) / 8 < MAX_UNREAD
}

impl SharesSession {
    /// For each comparison, how many cells with a table entry of 1 belong to diagonal runs of at least `min_length`
    /// such cells. `min_length` is at least 2. Shared modulo 2⁶⁴.
    pub fn diagonal_runs(
        &mut self,
        letters: &LetterLookup,
        comparisons: &[MatrixInput],
        min_length: usize,
        channel: &mut dyn Channel,
        on_cells: &dyn Fn(usize),
    ) -> Result<Words, MpcError> {
        let matrices = self.matrices(letters, comparisons)?;
        let precomputed = self.look_up_lines(letters, &matrices, channel)?;
        let streams = match precomputed {
            Some(_) => 0,
            None => letters.own_table.streams(),
        };
        let cells = |matrix: &Matrix| matrix.lines.len() * matrix.positions.len();
        let bits = count_bits(matrices.iter().map(cells));
        let at_once = cells_at_once(streams, bits);
        let longest = matrices.iter().map(|matrix| matrix.positions.len()).max();
        let largest = longest.unwrap_or(0).max(at_once) * message_bits(streams, bits) / 8;
        if largest > MAX_UNREAD || min_length < 2 {
            return Err(MpcError::Misuse("a line or a run has the wrong length"));
        }
        let tables = &letters.tables(self.kernel);
        let groups = groups(&matrices, at_once);
        let runs = Runs {
            min_length,
            bits,
            at_once,
        };
        let tasks = groups.iter().map(|range| {
            let gates = self.gates();
            let matrices = &matrices[range.clone()];
            let source = letters.source(precomputed.as_deref(), range);
            Task {
                rounds: Rc::clone(&gates.rounds),
                future: Box::pin(async move {
                    let group = Group::new(gates.clone(), tables, source, matrices);
                    runs.points(&gates, &group, on_cells).await
                }),
            }
        });
        let transfers = matrices.iter().map(|matrix| 3 * cells(matrix) / 2);
        self.pool.borrow_mut().expect(transfers.sum());
        let parts = run(tasks, max_active(largest), &self.pool, channel)?;
        let mut all = Zeroizing::new(Vec::with_capacity(comparisons.len()));
        for part in parts {
            all.extend_from_slice(&part);
        }
        Ok(all)
    }
}

/// Matrices whose cells are computed together.
fn groups(matrices: &[Matrix], at_once: usize) -> Vec<Range<usize>> {
    let mut groups = Vec::new();
    let (mut first, mut cells) = (0, 0);
    for (at, matrix) in matrices.iter().enumerate() {
        let more = matrix.lines.len() * matrix.positions.len();
        if first < at && cells + more > at_once {
            groups.push(first..at);
            (first, cells) = (at, 0);
        }
        cells += more;
    }
    if first < matrices.len() {
        groups.push(first..matrices.len());
    }
    groups
}

/// The parameters of a count of runs.
#[derive(Clone, Copy)]
pub(super) struct Runs {
    /// L.
    pub(super) min_length: usize,
    /// Bits of the largest count.
    pub(super) bits: usize,
    /// Cells that are computed together.
    pub(super) at_once: usize,
}

/// A line of a matrix, and the start of its words among those that are computed together.
#[derive(Clone, Copy)]
struct MatrixLine {
    matrix: usize,
    line: usize,
    positions: usize,
    start: usize,
}

impl MatrixLine {
    fn words(&self) -> Range<usize> {
        self.start..self.start + self.positions.div_ceil(64)
    }

    /// Whether it has a line before it.
    fn follows(&self) -> bool {
        self.line > 0
    }
}

impl Runs {
    /// The number of cells in runs, for each matrix of a group.
    pub(super) async fn points(
        &self,
        gates: &Gates,
        group: &Group<'_>,
        on_cells: &dyn Fn(usize),
    ) -> Result<Words, MpcError> {
        let matrices = group.matrices();
        let mut counts = Zeroizing::new(vec![0u64; matrices.len()]);
        // s₁ … s_L of the previous line, and what is known so far about which cells of the latest lines belong to runs.
        let mut before: Vec<Words> = Vec::new();
        let mut open: VecDeque<Words> = VecDeque::new();
        for lines in self.line_batches(matrices) {
            let line_ids: Vec<_> = lines.iter().map(|line| (line.matrix, line.line)).collect();
            let bits = group.line_bits(&line_ids).await?;
            let runs = self.ends(gates, &lines, bits, &mut before).await?;
            let cells = lines.iter().map(|line| line.positions).sum();
            // Each new line completes one line, in order; the last line of a matrix completes all that remain.
            let capacity = cells + open.iter().map(|line| line.len() * 64).sum::<usize>();
            let mut complete = Bits::with_capacity(capacity);
            let mut owners = Vec::new();
            for line in &lines {
                self.add(line, &runs, &mut open);
                let last = line.line + 1 == matrices[line.matrix].lines.len();
                let rest = if last { 0 } else { self.min_length - 1 };
                while open.len() > rest {
                    if let Some(bits) = open.pop_front() {
                        complete.extend(&bits, 0, line.positions);
                        owners.push((line.matrix, line.positions));
                    }
                }
            }
            self.count(gates, &complete.into_words(), &owners, &mut counts)
                .await?;
            on_cells(cells);
        }
        gates.rounds.reserve(gates.widen_demand(counts.len())).await;
        gates.widen(&counts, self.bits, 64).await
    }

    /// Lines of all matrices that are computed together.
    fn line_batches(&self, matrices: &[Matrix]) -> Vec<Vec<MatrixLine>> {
        let mut line_batches = Vec::new();
        let (mut lines, mut cells, mut start) = (Vec::new(), 0, 0);
        for (number, matrix) in matrices.iter().enumerate() {
            let positions = matrix.positions.len();
            for line in 0..matrix.lines.len() {
                if cells > 0 && cells + positions > self.at_once {
                    line_batches.push(std::mem::take(&mut lines));
                    (cells, start) = (0, 0);
                }
                let line = MatrixLine {
                    matrix: number,
                    line,
                    positions,
                    start,
                };
                cells += positions;
                start = line.words().end;
                lines.push(line);
            }
        }
        if !lines.is_empty() {
            line_batches.push(lines);
        }
        line_batches
    }

    /// s_L and s_{L+1} of lines, given s₁. `before` has s₁ … s_L of the line before these; it is replaced by those of
    /// the last.
    async fn ends(
        &self,
        gates: &Gates,
        lines: &[MatrixLine],
        bits: Words,
        before: &mut Vec<Words>,
    ) -> Result<[Words; 2], MpcError> {
        let following = || lines.iter().enumerate().filter(|(_, line)| line.follows());
        let count = following().map(|(_, line)| line.positions - 1).sum();
        let factors = || {
            let mut factors = Bits::with_capacity(count);
            for (_, line) in following() {
                factors.extend(&bits[line.words()], 1, line.positions - 1);
            }
            factors.into_words()
        };
        let demand = Gates::cross_demand(count) * self.min_length.div_ceil(Multiplier::TIMES);
        gates.rounds.reserve(demand).await;
        let mut multiplier = None;
        let mut shorter = bits.clone();
        let mut latest = Vec::with_capacity(self.min_length);
        let record = |runs: &Words, latest: &mut Vec<Words>| {
            if let Some(line) = lines.last() {
                latest.push(Zeroizing::new(runs[line.words()].to_vec()));
            }
        };
        record(&shorter, &mut latest);
        for length in 2..=self.min_length + 1 {
            if (length - 2).is_multiple_of(Multiplier::TIMES) {
                multiplier = Some(gates.multiplier(factors(), count)?);
            }
            let mut ends = Bits::with_capacity(count);
            for (at, line) in following() {
                let above = match at.checked_sub(1) {
                    Some(above) => &shorter[lines[above].words()],
                    None => before.get(length - 2).map_or(&[][..], |words| words),
                };
                ends.extend(above, 0, line.positions - 1);
            }
            let products = match &mut multiplier {
                Some(multiplier) if count > 0 => {
                    gates.multiply(multiplier, &ends.into_words()).await?
                }
                _ => Words::default(),
            };
            let mut longer = Zeroizing::new(vec![0; bits.len()]);
            let mut from = 0;
            for (_, line) in following() {
                let more = line.positions - 1;
                copy_bits(&products[..], from, &mut longer[line.words()], 1, more);
                from += more;
            }
            if length <= self.min_length {
                record(&longer, &mut latest);
                shorter = longer;
            } else {
                *before = latest;
                return Ok([shorter, longer]);
            }
        }
        Err(MpcError::Misuse("runs have no cells"))
    }

    /// Adds the runs that end in a line to the bits of this line and the lines before it.
    fn add(&self, line: &MatrixLine, [ends, longer]: &[Words; 2], open: &mut VecDeque<Words>) {
        let words = line.words();
        open.push_back(Zeroizing::new(vec![0; words.len()]));
        let (ends, longer) = (&ends[words.clone()], &longer[words]);
        for (back, cells) in open.iter_mut().rev().enumerate() {
            if back >= line.positions {
                break;
            }
            let count = line.positions - back;
            for (at, cells) in cells.iter_mut().enumerate().take(count.div_ceil(64)) {
                let now = (count - at * 64).min(64);
                *cells ^= bits_at(ends, back + at * 64, now);
                if back > 0 {
                    *cells ^= bits_at(longer, back + at * 64, now);
                }
            }
        }
    }

    /// Adds XOR-shared bits to the counts of their matrices, modulo 2^(bits + 1).
    async fn count(
        &self,
        gates: &Gates,
        packed: &[u64],
        owners: &[(usize, usize)],
        counts: &mut [u64],
    ) -> Result<(), MpcError> {
        let all: usize = owners.iter().map(|(_, count)| count).sum();
        let bits = words((0..all).map(|at| packed[at / 64] >> (at % 64) & 1));
        // Half of the products in each direction.
        let (first, second) = bits.split_at(all / 2);
        let directions = [gates.party.is_host(), !gates.party.is_host()];
        let demand = [first.len(), second.len()]
            .into_iter()
            .zip(directions)
            .map(|(count, receives)| Gates::products_demand(count, receives));
        gates
            .rounds
            .reserve(demand.fold(Demand::default(), |sum, more| sum + more))
            .await;
        let factor = |own, receives| match receives {
            true => Factor::Bits(own),
            false => Factor::Numbers(own),
        };
        let (first, second) = join2(
            gates.products(factor(first, directions[0]), self.bits),
            gates.products(factor(second, directions[1]), self.bits),
        )
        .await;
        let (first, second) = (first?, second?);
        let mut products = first.iter().chain(second.iter());
        let mut bits = bits.iter();
        for (matrix, count) in owners {
            let sum = bits
                .by_ref()
                .zip(products.by_ref())
                .take(*count)
                .fold(0u64, |sum, (bit, product)| {
                    sum.wrapping_add(*bit).wrapping_sub(product << 1)
                });
            counts[*matrix] = counts[*matrix].wrapping_add(sum) & mask(self.bits + 1);
        }
        Ok(())
    }
}

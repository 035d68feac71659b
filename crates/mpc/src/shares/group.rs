//! Matrices that advance together, anti-diagonal by anti-diagonal.
//!
//! The *lines* of a matrix are its rows or its columns, whichever side's letters have trees ([`super::lookup`]);
//! *positions* count along them. Lines are the rows of every other matrix, so that both sides send the same amount,
//! unless lines share trees ([`super::line_lookup`]).
//! Cell (line i, position j) belongs to step i + j. Costs are looked up one step ahead, in the messages of the current
//! step, so look-ups cost no extra round.

use super::gates::Gates;
use super::line_lookup::LineCosts;
use super::lookup::{
    SEGMENT, SegmentPosition, SegmentShare, Table, Trees, indicators, prepare_segment,
    read_segment, receive_segment, segment_bytes, send_segment, write_segment,
};
use super::packing::{Reader, Words, Writer};
use super::session::MatrixInput;
use super::session::Party;
use crate::bits::Bits;
use crate::block::Block;
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::wavefront::offsets;
use std::ops::Range;
use zeroize::Zeroizing;

#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    /// Whether its lines are the rows, which are the host's letters.
    pub(crate) rows_are_lines: bool,
    /// Whether this side has the letters of the lines.
    pub(crate) own_lines: bool,
    /// The range of the lines' letters among those of their side.
    pub(crate) lines: Range<usize>,
    /// The range of the positions' letters among those of their side.
    pub(crate) positions: Range<usize>,
    /// A number that is unique in the session.
    pub(crate) number: u64,
}

impl Matrix {
    /// The matrix of a comparison.
    pub(crate) fn new(
        party: Party,
        number: u64,
        rows_are_lines: bool,
        comparison: &MatrixInput,
    ) -> Self {
        let (lines, positions) = match rows_are_lines {
            true => (&comparison.rows, &comparison.columns),
            false => (&comparison.columns, &comparison.rows),
        };
        Self {
            rows_are_lines,
            own_lines: rows_are_lines == party.is_host(),
            lines: lines.clone(),
            positions: positions.clone(),
            number,
        }
    }

    /// Steps until the last cell.
    pub(crate) fn steps(&self) -> usize {
        match (self.lines.len(), self.positions.len()) {
            (0, _) | (_, 0) => 0,
            (lines, positions) => lines + positions - 1,
        }
    }

    /// The lines that have a cell in a step; line i has it at position `step` − i.
    pub(crate) fn lines_of_step(&self, step: usize) -> Range<usize> {
        if self.steps() <= step {
            return 0..0;
        }
        (step + 1).saturating_sub(self.positions.len())..self.lines.len().min(step + 1)
    }

    /// Cells of the segment that begins at a position.
    fn segment_cells(&self, position: usize) -> usize {
        SEGMENT.min(self.positions.len() - position)
    }
}

/// A session's letters and cost tables.
pub(crate) struct LetterTables<'a> {
    pub(crate) kernel: Kernel,
    /// Own letters, of all scanpaths one after the other.
    pub(crate) own: &'a [usize],
    /// Costs, indexed by own letter and then by the other side's letter.
    pub(crate) own_table: &'a Table,
    pub(crate) their_table: &'a Table,
}

/// Where the costs of a group come from.
#[derive(Clone, Copy)]
pub(crate) enum CostSource<'a> {
    /// They are looked up step by step.
    Trees {
        /// The trees of own letters, each without the leaf of its letter.
        own: &'a Trees,
        /// The table rows of own letters.
        own_rows: &'a [u64],
        /// Whole trees of the other side's letters.
        theirs: &'a Trees,
    },
    /// They were looked up before the first step, for each matrix.
    Precomputed(&'a [LineCosts]),
}

/// Matrices of a group, and the costs that are looked up.
pub(crate) struct Group<'a> {
    gates: Gates,
    letters: &'a LetterTables<'a>,
    source: CostSource<'a>,
    matrices: &'a [Matrix],
    line_offsets: Vec<usize>,
    position_offsets: Vec<usize>,
    /// The current segment of each line.
    costs: Zeroizing<Vec<Block>>,
    /// The indicators of each matrix whose positions are this side's, segment by segment.
    indicators: Vec<Zeroizing<Vec<Block>>>,
}

impl<'a> Group<'a> {
    pub(crate) fn new(
        gates: Gates,
        letters: &'a LetterTables<'a>,
        source: CostSource<'a>,
        matrices: &'a [Matrix],
    ) -> Self {
        let line_offsets = offsets(matrices.iter().map(|matrix| matrix.lines.len()));
        let position_offsets = offsets(matrices.iter().map(|matrix| matrix.positions.len()));
        let (width, lines) = match source {
            CostSource::Trees { .. } => (letters.own_table.width, line_offsets.last().copied()),
            CostSource::Precomputed(_) => (0, None),
        };
        let indicators = matrices.iter().map(|matrix| {
            let own = match (source, matrix.own_lines) {
                (CostSource::Trees { .. }, false) => &letters.own[matrix.positions.clone()],
                _ => &[],
            };
            let mut all = Zeroizing::new(Vec::with_capacity(
                own.len().div_ceil(SEGMENT) * letters.their_table.streams(),
            ));
            for segment in own.chunks(SEGMENT) {
                all.extend_from_slice(&indicators(letters.their_table, segment));
            }
            all
        });
        Self {
            gates,
            letters,
            source,
            matrices,
            indicators: indicators.collect(),
            line_offsets,
            position_offsets,
            costs: Zeroizing::new(vec![Block::ZERO; lines.unwrap_or(0) * width]),
        }
    }

    /// Steps until the last cell of the largest matrix.
    pub(crate) fn steps(&self) -> usize {
        let steps = self.matrices.iter().map(Matrix::steps);
        steps.max().unwrap_or(0)
    }

    /// Cells of a step.
    pub(crate) fn count(&self, step: usize) -> usize {
        let lines = self
            .matrices
            .iter()
            .map(|matrix| matrix.lines_of_step(step));
        lines.map(|lines| lines.len()).sum()
    }

    pub(crate) fn lines(&self) -> usize {
        self.line_offsets.last().copied().unwrap_or(0)
    }

    pub(crate) fn positions(&self) -> usize {
        self.position_offsets.last().copied().unwrap_or(0)
    }

    pub(crate) fn matrices(&self) -> &'a [Matrix] {
        self.matrices
    }

    /// The index of each matrix's first line among all lines.
    pub(crate) fn first_lines(&self) -> impl Iterator<Item = usize> + '_ {
        self.line_offsets.iter().take(self.matrices.len()).copied()
    }

    /// The positions of each matrix, as a range of all positions.
    pub(crate) fn positions_of(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.position_offsets
            .windows(2)
            .map(|ends| ends[0]..ends[1])
    }

    /// The cells of a step, as line and position among all of the group.
    pub(crate) fn cells(&self, step: usize) -> Vec<(usize, usize)> {
        let mut cells = Vec::new();
        for (number, matrix) in self.matrices.iter().enumerate() {
            let (lines, positions) = (self.line_offsets[number], self.position_offsets[number]);
            let of_step = matrix.lines_of_step(step);
            cells.extend(of_step.map(|line| (lines + line, positions + step - line)));
        }
        cells
    }

    /// The costs of a step's cells, shared bit by bit.
    pub(crate) fn costs(&self, step: usize) -> Words {
        let mut costs = Zeroizing::new(Vec::with_capacity(self.count(step)));
        self.for_each_cost(step, |cost| costs.push(cost));
        costs
    }

    /// The costs of a step's cells, 64 to a word. Only for costs of one bit.
    pub(crate) fn packed_costs(&self, step: usize) -> Words {
        let mut costs = Bits::with_capacity(self.count(step));
        let (mut word, mut filled) = (0, 0);
        self.for_each_cost(step, |cost| {
            word |= cost << filled;
            filled += 1;
            if filled == 64 {
                costs.push_low_bits(word, 64);
                (word, filled) = (0, 0);
            }
        });
        if filled > 0 {
            costs.push_low_bits(word, filled);
        }
        costs.into_words()
    }

    #[inline]
    fn for_each_cost(&self, step: usize, mut each: impl FnMut(u64)) {
        let width = self.letters.own_table.width;
        for (number, matrix) in self.matrices.iter().enumerate() {
            let lines = matrix.lines_of_step(step);
            match self.source {
                CostSource::Precomputed(costs) => {
                    let costs = &costs[number];
                    lines.for_each(|line| each(costs.get(line, step - line)));
                }
                CostSource::Trees { .. } => {
                    for line in lines {
                        let position = step - line;
                        let slot = self.line_offsets[number] + line;
                        let planes = &self.costs[slot * width..(slot + 1) * width];
                        let (word, bit) = (position % SEGMENT / 64, position % 64);
                        each(planes.iter().enumerate().fold(0, |cost, (plane, block)| {
                            cost | (block.words()[word] >> bit & 1) << plane
                        }));
                    }
                }
            }
        }
    }

    /// The segments whose first cell belongs to a step, as matrix, line and position.
    fn new_segments(&self, step: usize) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        let matrices = self.matrices.iter().enumerate();
        matrices.flat_map(move |(number, matrix)| {
            matrix
                .lines_of_step(step)
                .filter(move |line| (step - line).is_multiple_of(SEGMENT))
                .map(move |line| (number, line, step - line))
        })
    }

    /// Looks up the segments that begin in a step. They replace those that ended in the step before, so read those
    /// costs first.
    pub(crate) async fn look_up(&mut self, step: usize) -> Result<(), MpcError> {
        if matches!(self.source, CostSource::Precomputed(_)) {
            return Ok(());
        }
        let segments: Vec<_> = self.new_segments(step).collect();
        let shares = self.fetch(&segments).await?;
        for ((number, line, _), share) in segments.into_iter().zip(shares) {
            self.store_costs(number, line, &share);
        }
        Ok(())
    }

    /// The entries of whole lines, 64 positions to a word. Each line begins a new word. Only for entries of one bit.
    pub(crate) async fn line_bits(&self, lines: &[(usize, usize)]) -> Result<Words, MpcError> {
        let words_of = |number: usize| self.matrices[number].positions.len().div_ceil(64);
        let count = lines.iter().map(|(number, _)| words_of(*number)).sum();
        let mut bits = Zeroizing::new(Vec::with_capacity(count));
        if let CostSource::Precomputed(costs) = self.source {
            for (number, line) in lines {
                bits.extend_from_slice(costs[*number].line(*line));
            }
            return Ok(bits);
        }
        let segments: Vec<_> = lines
            .iter()
            .flat_map(|&(number, line)| {
                let positions = 0..self.matrices[number].positions.len();
                positions.step_by(SEGMENT).map(move |at| (number, line, at))
            })
            .collect();
        let shares = self.fetch(&segments).await?;
        for ((number, _, position), share) in segments.into_iter().zip(shares) {
            let used = self.matrices[number].segment_cells(position).div_ceil(64);
            bits.extend_from_slice(&share[0].words()[..used]);
        }
        Ok(bits)
    }

    /// Looks up segments, given as matrix, line and position.
    async fn fetch(
        &self,
        segments: &[(usize, usize, usize)],
    ) -> Result<Vec<SegmentShare>, MpcError> {
        let CostSource::Trees {
            own: own_trees,
            own_rows,
            theirs: their_trees,
        } = self.source
        else {
            return Ok(Vec::new());
        };
        let LetterTables {
            kernel,
            own_table,
            their_table,
            ..
        } = *self.letters;
        let (mut sent, mut received) = (0, 0);
        for (number, _, position) in segments {
            let matrix = &self.matrices[*number];
            let count = matrix.segment_cells(*position);
            match matrix.own_lines {
                true => received += segment_bytes(own_table.streams(), count),
                false => sent += segment_bytes(their_table.streams(), count),
            }
        }
        let mut message = Writer::with_capacity(sent);
        let mut shares = Vec::with_capacity(segments.len());
        for (number, line, position) in segments {
            let matrix = &self.matrices[*number];
            let segment_position = SegmentPosition {
                comparison: matrix.number,
                segment: position / SEGMENT,
            };
            let letter = matrix.lines.start + line;
            if matrix.own_lines {
                let (share, columns) =
                    prepare_segment(kernel, own_table, own_trees, letter, segment_position);
                shares.push((share, Some(columns)));
            } else {
                let streams = their_table.streams();
                let first = segment_position.segment * streams;
                let positions = &self.indicators[*number][first..first + streams];
                let (share, blocks) = send_segment(
                    kernel,
                    their_table,
                    their_trees,
                    letter,
                    segment_position,
                    positions,
                );
                write_segment(&blocks, matrix.segment_cells(*position), &mut message);
                shares.push((share, None));
            }
        }
        let answer = self.gates.rounds.exchange(message.finish(), received).await;
        let mut answer = Reader::new(&answer);
        let mut complete = Vec::with_capacity(segments.len());
        for ((number, line, position), (mut share, columns)) in segments.iter().zip(shares) {
            let matrix = &self.matrices[*number];
            if let Some(columns) = columns {
                let count = matrix.segment_cells(*position);
                let blocks = read_segment(own_table.streams(), count, &mut answer)?;
                let each = own_table.streams() + 1;
                let letter = matrix.lines.start + line;
                let row = &own_rows[letter * each..(letter + 1) * each];
                receive_segment(&mut share, row, &columns, &blocks);
            }
            complete.push(share);
        }
        Ok(complete)
    }

    fn store_costs(&mut self, matrix: usize, line: usize, share: &SegmentShare) {
        let first = (self.line_offsets[matrix] + line) * share.len();
        self.costs[first..first + share.len()].copy_from_slice(share);
    }
}

//! Look-ups of entries with one bit: N − 1 bits for *several* cells.
//!
//! The trees of [`super::lookup`] belong to a letter. Here a tree belongs to L lines, with letters a₀ … a_{L−1}, and to
//! a column x of the table. Its 2^L leaves are the values z that the bits z_i = T[a_i][x] ⊕ T[a_i][N − 1] can have, and
//! the lines' side lacks the leaf of its own z. Leaf y has a stream r_y. The other side sends, for every position, [b =
//! x] ⊕ u with u = ⊕_y r_y, and keeps v_i = ⊕_y y_i·r_y. The lines' side computes
//!
//! > ⊕_y (y_i ⊕ z_i)·r_y ⊕ z_i·([b = x] ⊕ u) = v_i ⊕ z_i·[b = x]
//!
//! without leaf z. Summed over all x < N − 1, plus T[a_i][N − 1], which the lines' side adds, these are shares of
//! T[a_i][b] for all L lines.
//!
//! **The lines' side** sees [b = x] under u, which contains the stream of the leaf that it does not have; no place of a
//! stream is used twice. **The other side** sees the bits of z masked by random choices.
//!
//! The number of lines is the number of levels of the transfers' seed trees, four or eight. Eight lines save traffic
//! and take more computing, as eight levels do.
//!
//! Trees cost more here (N − 1 transfers and up to 28·(N − 1) bytes per line), so they pay off if a line has many
//! cells. One list of positions can belong to many matrices with the same lines, so everything is looked up before the
//! first step. The lines belong to the side whose scanpaths change less often in the order of comparisons, because
//! leaves are derived again for every list.

use super::gates::Gates;
use super::group::Matrix;
use super::lookup::{Table, indicators};
use super::packing::{Reader, Words, Writer, list_bytes};
use super::seeds::{PuncturedSeeds, WholeSeeds};
use crate::bits::copy_bits;
use crate::block::Block;
use crate::error::MpcError;
use crate::kernel::{Kernel, StreamSums};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use zeroize::Zeroizing;

/// Cells per line from which these trees are cheaper than those of [`super::lookup`]: the extra cost, 28·(N − 1) bytes,
/// divided by the saving, 7/8·(N − 1) bits.
pub(crate) const MIN_CELLS_PER_LINE: u64 = 256;

/// Approximate bits of a message.
pub(crate) const MESSAGE_BITS: usize = 1 << 20;

/// How the letters of one side, scanpath by scanpath, form blocks of lines that share trees.
pub(crate) struct LineBlocks {
    /// Lines of a block: the levels of a tree. The last block of a scanpath may have fewer.
    pub(crate) lines: usize,
    /// The first letter and the first block of each scanpath.
    starts: Vec<(usize, usize)>,
    count: usize,
}

impl LineBlocks {
    pub(crate) fn new(lines: usize, lengths: &[usize]) -> Self {
        let mut starts = Vec::with_capacity(lengths.len());
        let (mut letters, mut count) = (0, 0);
        for length in lengths.iter().filter(|length| **length > 0) {
            starts.push((letters, count));
            letters += length;
            count += length.div_ceil(lines);
        }
        Self {
            lines,
            starts,
            count,
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The blocks of the scanpath with these letters.
    fn of(&self, lines: &Range<usize>) -> Result<Range<usize>, MpcError> {
        let found = self
            .starts
            .binary_search_by_key(&lines.start, |(start, _)| *start);
        let at = found.map_err(|_| MpcError::Misuse("lines are not those of a scanpath"))?;
        let first = self.starts[at].1;
        Ok(first..first + lines.len().div_ceil(self.lines))
    }
}

/// The table entries of own letters: the bits of a block's lines for every block and column but the last, and the
/// entries of the last column.
pub(crate) struct LineEntries {
    /// The leaves that this side's trees lack.
    pub(crate) leaves: Zeroizing<Vec<usize>>,
    last: Zeroizing<Vec<usize>>,
}

impl LineEntries {
    /// `letters` are those of scanpaths with these lengths. No address depends on a letter.
    pub(crate) fn new(
        table: &Table,
        letters: &[usize],
        lengths: &[usize],
        blocks: &LineBlocks,
    ) -> Self {
        let streams = table.streams();
        let mut leaves = Zeroizing::new(vec![0; blocks.count * streams]);
        let mut last = Zeroizing::new(vec![0; blocks.count]);
        let (mut block, mut rest) = (0, letters);
        for length in lengths {
            let (scanpath, others) = rest.split_at(*length);
            rest = others;
            for lines in scanpath.chunks(blocks.lines) {
                for (line, letter) in lines.iter().enumerate() {
                    let row = table.row(*letter);
                    let leaves = &mut leaves[block * streams..(block + 1) * streams];
                    let last_entry = row[streams] as usize & 1;
                    for (leaf, entry) in leaves.iter_mut().zip(row.iter()) {
                        *leaf |= (*entry as usize & 1 ^ last_entry) << line;
                    }
                    last[block] |= last_entry << line;
                }
                block += 1;
            }
        }
        Self { leaves, last }
    }
}

/// The trees of a stage, in which all lines are the same side's letters.
pub(crate) struct LineTrees {
    pub(crate) rows_are_lines: bool,
    pub(crate) blocks: LineBlocks,
    pub(crate) seeds: LineSeeds,
}

/// This side's seeds of the trees.
pub(crate) enum LineSeeds {
    /// The lines are its own.
    Own {
        entries: LineEntries,
        seeds: PuncturedSeeds,
    },
    /// The lines are the other side's.
    Theirs(WholeSeeds),
}

/// Positions of a matrix.
#[derive(Clone, Debug)]
struct Segment {
    matrix: usize,
    /// The first position, counted within the matrix.
    first: usize,
    count: usize,
}

/// The content of one message: blocks of the lines of a scanpath, and positions of matrices that have these lines.
#[derive(Clone, Debug)]
pub(crate) struct LookupBatch {
    blocks: Range<usize>,
    /// The first line of the first block, counted within the matrices.
    first_line: usize,
    segments: Vec<Segment>,
    positions: usize,
    /// Where its streams begin.
    stream_offset: u64,
}

impl LookupBatch {
    /// Bytes of its message.
    pub(crate) fn bytes(&self, streams: usize) -> usize {
        self.blocks.len() * streams * list_bytes(self.positions, 1)
    }

    fn width(&self) -> usize {
        self.positions.div_ceil(128)
    }
}

/// Divides the look-ups of matrices, in the same way on both sides. `next_offset` is where unused streams begin.
pub(crate) fn lookup_batches(
    matrices: &[Matrix],
    trees: &LineTrees,
    streams: usize,
    next_offset: &mut u64,
) -> Result<Vec<LookupBatch>, MpcError> {
    let mut by_lines: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, matrix) in matrices.iter().enumerate() {
        let numbers = by_lines.entry(matrix.lines.start).or_default();
        numbers.push(number);
    }
    let max_positions = (MESSAGE_BITS / streams.max(1)).max(128);
    let mut batches = Vec::new();
    for numbers in by_lines.values() {
        let blocks = trees.blocks.of(&matrices[numbers[0]].lines)?;
        for segments in segments(matrices, numbers, max_positions) {
            let positions: usize = segments.iter().map(|segment| segment.count).sum();
            let at_once = (max_positions / positions).max(1);
            for first in blocks.clone().step_by(at_once) {
                let batch = LookupBatch {
                    blocks: first..blocks.end.min(first + at_once),
                    first_line: (first - blocks.start) * trees.blocks.lines,
                    segments: segments.clone(),
                    positions,
                    stream_offset: *next_offset,
                };
                *next_offset += batch.width() as u64;
                batches.push(batch);
            }
        }
    }
    Ok(batches)
}

/// The positions of matrices, in parts of at most `max_positions`.
fn segments(matrices: &[Matrix], numbers: &[usize], max_positions: usize) -> Vec<Vec<Segment>> {
    let mut lists = Vec::new();
    let (mut list, mut remaining) = (Vec::new(), max_positions);
    for &matrix in numbers {
        let all = matrices[matrix].positions.len();
        let mut first = 0;
        while first < all {
            let count = remaining.min(all - first);
            list.push(Segment {
                matrix,
                first,
                count,
            });
            first += count;
            remaining -= count;
            if remaining == 0 {
                lists.push(std::mem::take(&mut list));
                remaining = max_positions;
            }
        }
    }
    if !list.is_empty() {
        lists.push(list);
    }
    lists
}

/// The costs of a matrix, bit by bit: all positions of a line, then those of the next line, which begins a new word.
pub(crate) struct LineCosts {
    words_each: usize,
    words: Words,
}

impl LineCosts {
    pub(crate) fn new(matrix: &Matrix) -> Self {
        let words_each = matrix.positions.len().div_ceil(64);
        Self {
            words_each,
            words: Zeroizing::new(vec![0; words_each * matrix.lines.len()]),
        }
    }

    /// The costs of a line, 64 to a word.
    pub(crate) fn line(&self, line: usize) -> &[u64] {
        &self.words[line * self.words_each..(line + 1) * self.words_each]
    }

    #[inline]
    pub(crate) fn get(&self, line: usize, position: usize) -> u64 {
        self.words[line * self.words_each + position / 64] >> (position % 64) & 1
    }
}

/// The data that look-ups read.
pub(crate) struct LineLookup<'a> {
    pub(crate) kernel: Kernel,
    pub(crate) trees: &'a LineTrees,
    pub(crate) matrices: &'a [Matrix],
    pub(crate) letters: &'a [usize],
    pub(crate) table: &'a Table,
}

/// Separates the streams of leaves from other uses. It is in the upper half of the AES input, together with the tree,
/// so a guessed leaf can only be checked against one tree.
const DOMAIN: u64 = 1 << 62;

impl LineLookup<'_> {
    /// Looks up the costs of a batch.
    pub(crate) async fn run(
        &self,
        gates: &Gates,
        batch: &LookupBatch,
        costs: &RefCell<Vec<LineCosts>>,
    ) -> Result<(), MpcError> {
        let shares = match &self.trees.seeds {
            LineSeeds::Own { entries, seeds } => self.receive(gates, batch, entries, seeds).await?,
            LineSeeds::Theirs(seeds) => self.send(gates, batch, seeds).await?,
        };
        let mut costs = costs.borrow_mut();
        let lines = self.matrices[batch.segments[0].matrix].lines.len();
        let rows = shares.chunks_exact(batch.width());
        for (line, row) in (batch.first_line..lines).zip(rows) {
            let row: Words = Zeroizing::new(row.iter().flat_map(|block| block.words()).collect());
            let mut from = 0;
            for segment in &batch.segments {
                let costs = &mut costs[segment.matrix];
                let start = line * costs.words_each;
                let to = &mut costs.words[start..start + costs.words_each];
                copy_bits(&row[..], from, to, segment.first, segment.count);
                from += segment.count;
            }
        }
        Ok(())
    }

    /// Adds the streams of a tree to the rows of its lines, and to the total.
    fn add_streams(
        &self,
        batch: &LookupBatch,
        tree: usize,
        leaves: &[Block],
        rows: &mut [Block],
        total: Option<&mut [Block]>,
    ) {
        self.kernel.leaf_schedules(leaves).sum_streams(StreamSums {
            first: Block::from_words([batch.stream_offset, DOMAIN | tree as u64]),
            width: batch.width(),
            sums: rows,
            total,
        });
    }

    /// The side with the lines.
    async fn receive(
        &self,
        gates: &Gates,
        batch: &LookupBatch,
        entries: &LineEntries,
        seeds: &PuncturedSeeds,
    ) -> Result<Zeroizing<Vec<Block>>, MpcError> {
        let (streams, width) = (self.table.streams(), batch.width());
        let lines = self.trees.blocks.lines;
        let mut shares = Zeroizing::new(vec![Block::ZERO; batch.blocks.len() * lines * width]);
        for (block, rows) in batch
            .blocks
            .clone()
            .zip(shares.chunks_exact_mut(lines * width))
        {
            for tree in block * streams..(block + 1) * streams {
                let leaves = seeds.leaves(self.kernel, tree, entries.leaves[tree]);
                self.add_streams(batch, tree, &leaves, rows, None);
            }
        }
        let answer = gates
            .rounds
            .exchange(Zeroizing::default(), batch.bytes(streams));
        let answer = answer.await;
        let mut answer = Reader::new(&answer);
        for (block, rows) in batch
            .blocks
            .clone()
            .zip(shares.chunks_exact_mut(lines * width))
        {
            let add = |rows: &mut [Block], leaf: usize, message: &[Block]| {
                for (line, row) in rows.chunks_exact_mut(width).enumerate() {
                    let mask = Block::mask(leaf >> line & 1 == 1);
                    for (share, block) in row.iter_mut().zip(message) {
                        *share ^= *block & mask;
                    }
                }
            };
            for tree in block * streams..(block + 1) * streams {
                let words = answer.bits(batch.positions)?;
                let message: Vec<Block> = words
                    .chunks(2)
                    .map(|pair| Block::from_words([pair[0], pair.get(1).copied().unwrap_or(0)]))
                    .collect();
                add(rows, entries.leaves[tree], &message);
            }
            add(rows, entries.last[block], &vec![Block::mask(true); width]);
        }
        Ok(shares)
    }

    /// The side with the positions.
    async fn send(
        &self,
        gates: &Gates,
        batch: &LookupBatch,
        seeds: &WholeSeeds,
    ) -> Result<Zeroizing<Vec<Block>>, MpcError> {
        let (streams, width) = (self.table.streams(), batch.width());
        let lines = self.trees.blocks.lines;
        let mut positions = Zeroizing::new(Vec::with_capacity(batch.positions));
        for segment in &batch.segments {
            let first = self.matrices[segment.matrix].positions.start + segment.first;
            positions.extend_from_slice(&self.letters[first..first + segment.count]);
        }
        // Indexed by column, and then by 128 positions.
        let mut masked = Zeroizing::new(vec![Block::ZERO; streams * width]);
        for (at, segment) in positions.chunks(128).enumerate() {
            for (column, block) in indicators(self.table, segment).iter().enumerate() {
                masked[column * width + at] = *block;
            }
        }
        let mut shares = Zeroizing::new(vec![Block::ZERO; batch.blocks.len() * lines * width]);
        let mut message = Writer::with_capacity(batch.bytes(streams));
        for (block, rows) in batch
            .blocks
            .clone()
            .zip(shares.chunks_exact_mut(lines * width))
        {
            for (column, indicators) in masked.chunks_exact(width).enumerate() {
                let tree = block * streams + column;
                let leaves = seeds.leaves(self.kernel, tree);
                let mut total = Zeroizing::new(indicators.to_vec());
                self.add_streams(batch, tree, &leaves, rows, Some(&mut total));
                let words: Words =
                    Zeroizing::new(total.iter().flat_map(|block| block.words()).collect());
                message.bits(&words, batch.positions);
            }
        }
        gates.rounds.exchange(message.finish(), 0).await;
        Ok(shares)
    }
}

//! The substitution costs of letters that neither side reveals, at N − 1 bits per cell.
//!
//! One side has a letter a for every *line* of a matrix, the other a letter b for every *position* along the lines. They want
//! shares of T[a][b] for all pairs, where T is public and has N columns.
//!
//! For its letter a the line's side has a tree of seeds from which leaf a is missing (as in [`crate::ot::correlated`]); the other
//! side has all leaves. Each leaf y has a stream of bits r_{y,x} for every column x of the table. The other side sends, for each
//! x and position, [b = x] ⊕ u_x with u_x = ⊕_y r_{y,x}, and keeps v = ⊕_{x,y} T[y][x]·r_{y,x}. The line's side computes
//!
//! > ⊕_{x,y} (T[y][x] ⊕ T[a][x])·r_{y,x} ⊕ ⊕_x T[a][x]·([b = x] ⊕ u_x) = v ⊕ T[a][b]
//!
//! without leaf a, whose coefficient is zero. As exactly one [b = x] is 1, the last column is expressed by the others, so
//! N − 1 bits are sent, however many bits an entry has.
//!
//! **The line's side** sees [b = x] under u_x, which contains the stream of the leaf that it does not have; no place of
//! a stream is used twice. **The other side** sees the bits of a under random choices. Entries of the table are rotated to the
//! letter by swaps that depend on its bits, so no address depends on a letter.

use super::packing::{Reader, Writer, list_bytes};
use super::seeds::{PuncturedSeeds, WholeSeeds};
use crate::block::Block;
use crate::error::MpcError;
use crate::kernel::Kernel;
use zeroize::Zeroizing;

/// Positions that are looked up at a time: the bits of a block.
pub(crate) const TILE: usize = 128;

/// A public table of costs, by the letter of a line and the letter of a position.
pub(crate) struct Table {
    /// Letters of a position.
    columns: usize,
    /// Levels of the trees: their leaves are the letters of a line, and some that are never used.
    pub(crate) levels: usize,
    /// Bits of an entry.
    pub(crate) width: usize,
    /// By line letter; the last column is added to all others.
    entries: Vec<u64>,
}

impl Table {
    pub(crate) fn new(
        rows: usize,
        columns: usize,
        width: usize,
        entry: impl Fn(usize, usize) -> u64,
    ) -> Self {
        // A tree has at least one level.
        let levels = rows.next_power_of_two().trailing_zeros().max(1) as usize;
        let last = columns - 1;
        let mut entries = vec![0; columns << levels];
        for (row, entries) in entries.chunks_exact_mut(columns).take(rows).enumerate() {
            entries[last] = entry(row, last);
            for column in 0..last {
                entries[column] = entry(row, column) ^ entries[last];
            }
        }
        Self {
            columns,
            levels,
            width,
            entries,
        }
    }

    /// Blocks that are sent for a tile.
    pub(crate) fn streams(&self) -> usize {
        self.columns - 1
    }

    fn leaves(&self) -> usize {
        1 << self.levels
    }

    /// The row of a letter: the last entry, and all others plus the last. No address depends on the letter.
    pub(crate) fn row(&self, letter: usize) -> Zeroizing<Vec<u64>> {
        let mut row = Zeroizing::new(vec![0; self.columns]);
        for (number, entries) in self.entries.chunks_exact(self.columns).enumerate() {
            let difference = (number ^ letter) as u64;
            let equal = ((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1);
            for (entry, other) in row.iter_mut().zip(entries) {
                *entry |= other & equal;
            }
        }
        row
    }

    /// The rows in the order y ⊕ letter, each but the first plus the first.
    fn rotated(&self, letter: usize) -> Zeroizing<Vec<u64>> {
        let mut rows = Zeroizing::new(self.entries.clone());
        for level in 0..self.levels {
            let swap = (letter as u64 >> level & 1).wrapping_neg();
            let size = self.columns << level;
            for pair in rows.chunks_exact_mut(2 * size) {
                let (low, high) = pair.split_at_mut(size);
                for (low, high) in low.iter_mut().zip(high) {
                    let difference = (*low ^ *high) & swap;
                    *low ^= difference;
                    *high ^= difference;
                }
            }
        }
        let (first, others) = rows.split_at_mut(self.columns);
        for row in others.chunks_exact_mut(self.columns) {
            for (entry, first) in row.iter_mut().zip(first.iter()) {
                *entry ^= first;
            }
        }
        rows
    }
}

/// The leaves of the trees of some letters.
#[derive(Default)]
pub(crate) struct Trees {
    levels: usize,
    leaves: Zeroizing<Vec<Block>>,
}

impl Trees {
    /// The trees without the leaves of these letters.
    pub(crate) fn punctured(kernel: Kernel, seeds: &PuncturedSeeds, letters: &[usize]) -> Self {
        let mut leaves = Zeroizing::new(Vec::with_capacity(letters.len() << seeds.levels()));
        for (tree, letter) in letters.iter().enumerate() {
            leaves.extend_from_slice(&seeds.leaves(kernel, tree, *letter));
        }
        Self {
            levels: seeds.levels(),
            leaves,
        }
    }

    /// Whole trees.
    pub(crate) fn whole(kernel: Kernel, seeds: &WholeSeeds) -> Self {
        let mut leaves = Zeroizing::new(Vec::with_capacity(seeds.count() << seeds.levels()));
        for tree in 0..seeds.count() {
            leaves.extend_from_slice(&seeds.leaves(kernel, tree));
        }
        Self {
            levels: seeds.levels(),
            leaves,
        }
    }

    fn of(&self, letter: usize) -> &[Block] {
        &self.leaves[letter << self.levels..(letter + 1) << self.levels]
    }
}

/// Where the streams of a tile are, so that no place is used twice.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    /// The number of the comparison in the session, below 2²⁸.
    pub(crate) comparison: u64,
    /// The tile along the line, below 2²⁰.
    pub(crate) tile: usize,
}

/// The most letters that a table may have: a stream has 16 bits for the column.
pub(crate) const MAX_LETTERS: usize = 1 << 10;

/// One line's costs for a tile of positions: `width` blocks, whose bits are the positions.
pub(crate) type Share = Zeroizing<Vec<Block>>;

/// The stream blocks of a leaf, one for each column but the last.
fn fill_streams(kernel: Kernel, leaf: Block, letter: usize, place: Place, blocks: &mut [Block]) {
    let first = place.comparison << 36 | (place.tile as u64) << 16;
    for (column, block) in blocks.iter_mut().enumerate() {
        *block = Block::from_words([first | column as u64, letter as u64 | 1 << 63]);
    }
    kernel.encrypt(&kernel.schedule(leaf), blocks);
}

/// Adds the blocks, times the bits of their entries.
#[inline]
fn accumulate(blocks: &[Block], entries: &[u64], share: &mut [Block]) {
    for (block, entry) in blocks.iter().zip(entries) {
        for (bit, sum) in share.iter_mut().enumerate() {
            *sum ^= *block & Block::mask(entry >> bit & 1 == 1);
        }
    }
}

/// The side with the positions: its share, and what it sends. `positions` has [b = x] for each column but the last, by
/// position.
pub(crate) fn send_tile(
    kernel: Kernel,
    table: &Table,
    trees: &Trees,
    letter: usize,
    place: Place,
    positions: &[Block],
) -> (Share, Zeroizing<Vec<Block>>) {
    let mut message = Zeroizing::new(positions.to_vec());
    let mut share = Zeroizing::new(vec![Block::ZERO; table.width]);
    let mut blocks = Zeroizing::new(vec![Block::ZERO; table.streams()]);
    let rows = table.entries.chunks_exact(table.columns);
    for (leaf, row) in trees.of(letter).iter().zip(rows) {
        fill_streams(kernel, *leaf, letter, place, &mut blocks);
        for (sum, block) in message.iter_mut().zip(blocks.iter()) {
            *sum ^= *block;
        }
        accumulate(&blocks, row, &mut share);
    }
    (share, message)
}

/// The side with the line's letter: its share before the message is known, and the row of its letter.
pub(crate) fn prepare_tile(
    kernel: Kernel,
    table: &Table,
    trees: &Trees,
    letter: usize,
    own: usize,
    place: Place,
) -> (Share, Zeroizing<Vec<u64>>) {
    let rotated = table.rotated(own);
    let mut share = Zeroizing::new(vec![Block::ZERO; table.width]);
    let mut blocks = Zeroizing::new(vec![Block::ZERO; table.streams()]);
    let mut rows = rotated.chunks_exact(table.columns);
    let own_row = Zeroizing::new(rows.next().unwrap_or_default().to_vec());
    for (leaf, row) in trees.of(letter)[1..table.leaves()].iter().zip(rows) {
        fill_streams(kernel, *leaf, letter, place, &mut blocks);
        accumulate(&blocks, row, &mut share);
    }
    (share, own_row)
}

/// Completes the share with the message.
pub(crate) fn receive_tile(share: &mut Share, own_row: &[u64], message: &[Block]) {
    accumulate(message, own_row, share);
    let all = [Block::mask(true)];
    accumulate(&all, &own_row[own_row.len() - 1..], share);
}

/// [b = x] for each column but the last, by position.
pub(crate) fn indicators(table: &Table, letters: &[usize]) -> Zeroizing<Vec<Block>> {
    let mut words = Zeroizing::new(vec![[0u64; 2]; table.streams()]);
    for (position, letter) in letters.iter().enumerate() {
        for (column, words) in words.iter_mut().enumerate() {
            // 1 exactly if they are equal.
            let difference = (*letter ^ column) as u64;
            let equal = 1 ^ (difference | difference.wrapping_neg()) >> 63;
            words[position / 64] |= equal << (position % 64);
        }
    }
    Zeroizing::new(
        words
            .iter()
            .map(|words| Block::from_words(*words))
            .collect(),
    )
}

/// Appends the first `count` bits of each block.
pub(crate) fn write_tile(blocks: &[Block], count: usize, message: &mut Writer) {
    message.numbers(blocks.iter().map(|block| block.words()[0]), count.min(64));
    if count > 64 {
        message.numbers(blocks.iter().map(|block| block.words()[1]), count - 64);
    }
}

/// Reads what [`write_tile`] wrote.
pub(crate) fn read_tile(
    streams: usize,
    count: usize,
    message: &mut Reader<'_>,
) -> Result<Zeroizing<Vec<Block>>, MpcError> {
    let low = message.numbers(streams, count.min(64))?;
    let high = match count {
        65.. => message.numbers(streams, count - 64)?,
        _ => Zeroizing::new(vec![0; streams]),
    };
    let blocks = low.iter().zip(high.iter());
    Ok(Zeroizing::new(
        blocks
            .map(|(low, high)| Block::from_words([*low, *high]))
            .collect(),
    ))
}

/// Bytes of a tile's message.
pub(crate) fn tile_bytes(streams: usize, count: usize) -> usize {
    list_bytes(streams, count.min(64)) + list_bytes(streams, count.saturating_sub(64))
}

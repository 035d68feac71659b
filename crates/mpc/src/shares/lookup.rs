//! Looks up the substitution costs of letters that neither side reveals, at N − 1 bits per cell.
//!
//! One side has a letter a for every *line* of a matrix, the other a letter b for every *position* along the lines.
//! They want shares of T[a][b] for all pairs, where T is public and has N columns.
//!
//! For its letter a, the line's side has a seed tree from which leaf a is missing (as in [`crate::ot::correlated`]);
//! the other side has all leaves. Each leaf y has a stream of bits r_{y,x} for every column x of the table but the
//! last, and r_{y,N−1} = ⊕_x r_{y,x}. With u_x = ⊕_y r_{y,x}, the other side sends m_x = [b = x] ⊕ u_x for each
//! position and x < N − 1, and keeps v = ⊕_{x,y} T[y][x]·r_{y,x}. As exactly one [b = x] is 1, m_{N−1} = 1 ⊕ ⊕_x m_x
//! follows. The line's side uses an arbitrary stream r' for the leaf that it does not have, and computes S and U_x like
//! v and u_x. Then
//!
//! > S ⊕ ⊕_x T[a][x]·(m_x ⊕ U_x) = v ⊕ T[a][b],
//!
//! because S ⊕ v and U_x ⊕ u_x differ only by leaf a: by ⊕_x T[a][x]·(r_{a,x} ⊕ r'_x), and by r_{a,x} ⊕ r'_x. So N − 1
//! bits are sent, however many bits an entry has.
//!
//! **The line's side** sees [b = x] under u_x, which contains the stream of the leaf that it does not have; no place of
//! a stream is used twice. **The other side** sees the bits of a masked by random choices. Swaps that depend on the
//! letter's bits bring leaves into order, and the letter's row is selected by masking the whole table, so no address
//! depends on a letter.

use super::packing::{Reader, Writer, list_bytes};
use super::seeds::{PuncturedSeeds, WholeSeeds};
use crate::block::Block;
use crate::error::MpcError;
use crate::kernel::Kernel;
use zeroize::Zeroizing;

/// Positions that are looked up at a time: the bits of a block.
pub(crate) const SEGMENT: usize = 128;

/// A public cost table, indexed by the letter of a line and the letter of a position.
pub(crate) struct Table {
    /// Letters of a position.
    columns: usize,
    /// Levels of the trees. Their leaves are the letters of a line, and some that are never used.
    pub(crate) levels: usize,
    /// Bits of an entry.
    pub(crate) width: usize,
    /// The distinct entries, and for each leaf the indices of its table entries among them.
    values: Vec<u64>,
    value_indices: Vec<u32>,
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
        let cells = (0..1 << levels).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let entries: Vec<u64> = cells
            .map(|(row, column)| if row < rows { entry(row, column) } else { 0 })
            .collect();
        let mut values = entries.clone();
        values.sort_unstable();
        values.dedup();
        let value_indices = entries
            .iter()
            .map(|entry| values.partition_point(|value| value < entry) as u32);
        Self {
            columns,
            levels,
            width,
            value_indices: value_indices.collect(),
            values,
        }
    }

    /// Blocks that are sent for a segment.
    pub(crate) fn streams(&self) -> usize {
        self.columns - 1
    }

    /// The table row of a letter. No address depends on the letter.
    pub(crate) fn row(&self, letter: usize) -> Zeroizing<Vec<u64>> {
        let mut row = Zeroizing::new(vec![0; self.columns]);
        for (number, entries) in self.value_indices.chunks_exact(self.columns).enumerate() {
            let difference = (number ^ letter) as u64;
            let equal = ((difference | difference.wrapping_neg()) >> 63).wrapping_sub(1);
            // Hidden from the compiler, which could otherwise branch on a mask that is all ones or all zeros.
            let equal = std::hint::black_box(equal);
            for (entry, other) in row.iter_mut().zip(entries) {
                *entry |= self.values[*other as usize] & equal;
            }
        }
        row
    }
}

/// The leaves of the trees of some letters.
#[derive(Default)]
pub(crate) struct Trees {
    levels: usize,
    leaves: Zeroizing<Vec<Block>>,
}

impl Trees {
    /// The trees without the leaves of these letters. The missing leaves are zero.
    pub(crate) fn punctured(kernel: Kernel, seeds: &PuncturedSeeds, letters: &[usize]) -> Self {
        let mut all = Zeroizing::new(Vec::with_capacity(letters.len() << seeds.levels()));
        for (tree, letter) in letters.iter().enumerate() {
            let mut leaves = seeds.leaves(kernel, tree, *letter);
            for level in 0..seeds.levels() {
                let swap = Block::mask(letter >> level & 1 == 1);
                for pair in leaves.chunks_exact_mut(2 << level) {
                    let (low, high) = pair.split_at_mut(1 << level);
                    for (low, high) in low.iter_mut().zip(high) {
                        let difference = (*low ^ *high) & swap;
                        *low ^= difference;
                        *high ^= difference;
                    }
                }
            }
            all.extend_from_slice(&leaves);
        }
        Self {
            levels: seeds.levels(),
            leaves: all,
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

/// The position of a segment's streams. No position is used twice.
#[derive(Clone, Copy)]
pub(crate) struct SegmentPosition {
    /// The number of the comparison in the session, below [`MAX_MATRICES`].
    pub(crate) comparison: u64,
    /// The segment along the line. A line has at most [`MAX_POSITIONS`] positions.
    pub(crate) segment: usize,
}

/// The most comparisons of a session, and positions of a matrix: stream counters have 28 bits for the one and 20 for
/// segments.
pub(crate) const MAX_MATRICES: u64 = 1 << 28;
pub(crate) const MAX_POSITIONS: usize = SEGMENT << 20;

/// The most letters of a table. The cost of look-ups grows with the square of their number, and stream counters have 16
/// bits for a column.
pub const MAX_ALPHABET_SIZE: usize = 1 << 10;

/// One line's costs for a segment of positions: `width` blocks with one bit per position.
pub(crate) type SegmentShare = Zeroizing<Vec<Block>>;

/// The stream blocks of a leaf, one for each column but the last.
fn fill_streams(
    kernel: Kernel,
    leaf: Block,
    letter: usize,
    position: SegmentPosition,
    blocks: &mut [Block],
) {
    let first = position.comparison << 36 | (position.segment as u64) << 16;
    for (column, block) in blocks.iter_mut().enumerate() {
        *block = Block::from_words([first | column as u64, letter as u64 | 1 << 63]);
    }
    kernel.encrypt(&kernel.schedule(leaf), blocks);
}

/// Adds the streams of a letter's leaves to sums: one for each bit of the entries, and one for each column but the
/// last.
fn sum_streams(
    kernel: Kernel,
    table: &Table,
    trees: &Trees,
    letter: usize,
    position: SegmentPosition,
    columns: &mut [Block],
) -> SegmentShare {
    let streams = table.streams();
    let mut blocks = Zeroizing::new(vec![Block::ZERO; streams]);
    let mut by_value = Zeroizing::new(vec![Block::ZERO; table.values.len()]);
    let rows = table.value_indices.chunks_exact(table.columns);
    for (leaf, row) in trees.of(letter).iter().zip(rows) {
        fill_streams(kernel, *leaf, letter, position, &mut blocks);
        let mut last = Block::ZERO;
        for ((block, number), column) in blocks.iter().zip(row).zip(columns.iter_mut()) {
            by_value[*number as usize] ^= *block;
            *column ^= *block;
            last ^= *block;
        }
        by_value[row[streams] as usize] ^= last;
    }
    let mut share = Zeroizing::new(vec![Block::ZERO; table.width]);
    for (value, sum) in table.values.iter().zip(by_value.iter()) {
        for (bit, share) in share.iter_mut().enumerate() {
            *share ^= *sum & Block::mask(value >> bit & 1 == 1);
        }
    }
    share
}

/// The side with the positions: returns its share and its message. `positions` has [b = x] for each column but the
/// last, by position.
pub(crate) fn send_segment(
    kernel: Kernel,
    table: &Table,
    trees: &Trees,
    letter: usize,
    position: SegmentPosition,
    positions: &[Block],
) -> (SegmentShare, Zeroizing<Vec<Block>>) {
    let mut message = Zeroizing::new(positions.to_vec());
    let share = sum_streams(kernel, table, trees, letter, position, &mut message);
    (share, message)
}

/// The side with the line's letter: returns its share before the message is known, and the sums of its columns.
pub(crate) fn prepare_segment(
    kernel: Kernel,
    table: &Table,
    trees: &Trees,
    letter: usize,
    position: SegmentPosition,
) -> (SegmentShare, Zeroizing<Vec<Block>>) {
    let mut columns = Zeroizing::new(vec![Block::ZERO; table.streams()]);
    let share = sum_streams(kernel, table, trees, letter, position, &mut columns);
    (share, columns)
}

/// Completes the share with the message. `row` is the table row of the line's letter.
pub(crate) fn receive_segment(
    share: &mut SegmentShare,
    row: &[u64],
    columns: &[Block],
    message: &[Block],
) {
    let mut last = Block::mask(true);
    let mut add = |block: Block, entry: u64| {
        for (bit, share) in share.iter_mut().enumerate() {
            *share ^= block & Block::mask(entry >> bit & 1 == 1);
        }
    };
    for ((message, column), entry) in message.iter().zip(columns).zip(row) {
        let block = *message ^ *column;
        last ^= block;
        add(block, *entry);
    }
    add(last, row[row.len() - 1]);
}

/// [b = x] for each column but the last, by position.
pub(crate) fn indicators(table: &Table, letters: &[usize]) -> Zeroizing<Vec<Block>> {
    let mut words = Zeroizing::new(vec![[0u64; 2]; table.streams()]);
    for (position, letter) in letters.iter().enumerate() {
        for (column, words) in words.iter_mut().enumerate() {
            // 1 if and only if they are equal.
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
pub(crate) fn write_segment(blocks: &[Block], count: usize, message: &mut Writer) {
    message.numbers(blocks.iter().map(|block| block.words()[0]), count.min(64));
    if count > 64 {
        message.numbers(blocks.iter().map(|block| block.words()[1]), count - 64);
    }
}

/// Reads what [`write_segment`] wrote.
pub(crate) fn read_segment(
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

/// Bytes of a segment's message.
pub(crate) fn segment_bytes(streams: usize, count: usize) -> usize {
    list_bytes(streams, count.min(64)) + list_bytes(streams, count.saturating_sub(64))
}

//! Looks up substitution costs without gates.
//!
//! ```text
//! sender (a table of costs for each of its rows)          receiver (a key for its column's letter)
//!   for every letter k: costs(k) ⊕ r ⊕ pad(k)   ───────▶    N · ⌈rows·w/8⌉ bytes per column and strip
//!   keeps r                                                  takes its letter's entry: costs ⊕ r
//! ```
//!
//! The two sides then have shares of the cost of each cell: w bits that look random to both. One correlated transfer
//! per bit turns the receiver's share into a wire; the sender folds its share into the wire's zero label. This works
//! for any table and any alphabet, without gates.
//!
//! The pad of an entry is AES under the letter's key (see [`super::letters`]: one hash over all bit labels, letter and
//! column) of a block that encodes column, letter, comparison, strip and block. No two blocks of a session are equal,
//! even under different keys. So pads never repeat, and a guessed key can be checked against one entry only. The
//! receiver sees its entry, which r makes uniform, and entries under keys that it does not have.

pub mod messages;
mod receiver;
mod sender;

pub use receiver::read_column;
pub use sender::StripTable;
pub(crate) use sender::write_column;

use crate::block::Block;
use zeroize::Zeroizing;

/// Shares of the costs in one column of a strip: `width` bits per row, row after row.
pub type ColumnShare = Zeroizing<Vec<Block>>;

/// Where in a session an entry belongs. Both sides count the same way.
#[derive(Clone, Copy)]
pub struct PadPosition {
    /// The number of the comparison in the session.
    pub comparison: u32,
    /// The strip of rows within the comparison.
    pub strip: u32,
}

/// The most strips of a comparison, so that strip and block fit 32 bits.
pub const MAX_STRIPS: u32 = 1 << 20;

/// The most blocks of a column in a strip.
pub(crate) const MAX_BLOCKS: usize = 1 << 12;

/// The AES input for a block of an entry: 44 bits for the column, 20 for the letter, 32 for the comparison, 20 for the
/// strip, 12 for the block.
fn pad_input(column: u64, letter: usize, position: PadPosition, block: usize) -> Block {
    let low = u64::from(position.comparison) << 32 | u64::from(position.strip) << 12 | block as u64;
    Block::from_words([low, column << 20 | letter as u64])
}

#[cfg(test)]
mod tests;

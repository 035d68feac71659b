//! Room for the rows of a chunk.

use crate::block::Block;
use zeroize::Zeroizing;

/// Kept from chunk to chunk, and erased when dropped.
#[derive(Default)]
pub(super) struct Scratch {
    blocks: Zeroizing<Vec<Block>>,
}

/// Rows of as many blocks as a chunk is wide.
pub(super) struct Rows<'a> {
    /// 128 rows, whose columns become labels.
    pub(super) rows: &'a mut [Block],
    /// The receiver's choices.
    pub(super) choices: &'a mut [Block],
    /// The choices of one tree.
    pub(super) total: &'a mut [Block],
}

impl Scratch {
    /// Rows of this width. They still have the content of the previous chunk.
    pub(super) fn of_width(&mut self, width: usize) -> Rows<'_> {
        let blocks = (128 + 2) * width;
        if self.blocks.len() < blocks {
            self.blocks = Zeroizing::new(vec![Block::ZERO; blocks]);
        }
        let (rows, rest) = self.blocks[..blocks].split_at_mut(128 * width);
        let (choices, total) = rest.split_at_mut(width);
        Rows {
            rows,
            choices,
            total,
        }
    }
}

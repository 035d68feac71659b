//! Bytes that have arrived in blocks and are read in pieces of other sizes.

use crate::{ChannelError, chunked_copy};

/// The block that is being read.
#[derive(Debug, Default)]
pub struct ReadBuffer {
    block: Vec<u8>,
    read: usize,
}

impl ReadBuffer {
    /// Fills the whole buffer. `next_block` waits for the next block whenever the last one is used up.
    pub fn fill(
        &mut self,
        buffer: &mut [u8],
        mut next_block: impl FnMut() -> Result<Vec<u8>, ChannelError>,
    ) -> Result<(), ChannelError> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.read == self.block.len() {
                self.block = next_block()?;
                self.read = 0;
            }
            let count = (self.block.len() - self.read).min(buffer.len() - filled);
            chunked_copy::copy(
                &self.block[self.read..self.read + count],
                &mut buffer[filled..filled + count],
            );
            filled += count;
            self.read += count;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_cross_blocks_and_empty_blocks() {
        let mut blocks = vec![vec![1, 2, 3], vec![], vec![4], vec![5, 6]].into_iter();
        let mut next_block = || blocks.next().ok_or(ChannelError::Closed);
        let mut unread = ReadBuffer::default();
        let mut piece = [0; 2];
        for expected in [[1, 2], [3, 4], [5, 6]] {
            unread.fill(&mut piece, &mut next_block).unwrap();
            assert_eq!(piece, expected);
        }
        assert_eq!(unread.fill(&mut [], &mut next_block), Ok(()));
        assert_eq!(
            unread.fill(&mut piece, &mut next_block),
            Err(ChannelError::Closed)
        );
    }
}

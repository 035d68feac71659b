//! The bytes of correlated transfers. Both sides can compute all lengths.

use super::{CHUNK, MAX_BATCH, TreeLevels};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::MpcError;
use veilpath_channel::Channel;

/// Bytes of the proof at the end of a batch: the sum of the choices, and a hash of the sums of all rows.
pub const PROOF_BYTES: usize = BLOCK_BYTES + 32;

/// Bytes that the receiver sends for `count` transfers announced at once, if none are left over from earlier.
pub fn transfer_bytes(count: usize, tree_levels: TreeLevels) -> usize {
    let batches = count.div_ceil(MAX_BATCH);
    // Each batch has a block of transfers that only mask its proof.
    let blocks = count.div_ceil(128) + batches;
    count.div_ceil(8) + corrections_bytes(blocks, tree_levels) + batches * PROOF_BYTES
}

/// Bytes that the receiver sends after the base transfers: corrections of the trees and their check.
pub fn seed_bytes(tree_levels: TreeLevels) -> usize {
    let blocks = corrections_per_tree(tree_levels) + 2;
    tree_levels.trees() * blocks * BLOCK_BYTES + 32
}

/// Blocks that correct a tree of seeds: two for each level below the first.
pub(super) fn corrections_per_tree(tree_levels: TreeLevels) -> usize {
    2 * (tree_levels.count() - 1)
}

/// Bytes that correct this many blocks of 128 transfers: every tree but the first is corrected to the first.
pub(super) fn corrections_bytes(blocks: usize, tree_levels: TreeLevels) -> usize {
    blocks * BLOCK_BYTES * (tree_levels.trees() - 1)
}

/// The chunks of a batch, in blocks of 128 transfers.
pub(super) fn chunks(blocks: usize) -> impl Iterator<Item = usize> {
    (0..blocks)
        .step_by(CHUNK / 128)
        .map(move |at| (blocks - at).min(CHUNK / 128))
}

pub(super) fn append_block(bytes: &mut Vec<u8>, block: Block) {
    bytes.extend_from_slice(&block.to_bytes());
}

/// The blocks of a message whose length is a multiple of the block size.
pub(super) fn blocks_of(bytes: &[u8]) -> Vec<Block> {
    let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
    blocks
        .iter()
        .map(|bytes| Block::from_bytes(*bytes))
        .collect()
}

pub(super) fn receive_bytes(count: usize, channel: &mut dyn Channel) -> Result<Vec<u8>, MpcError> {
    let mut bytes = vec![0; count];
    channel.receive(&mut bytes)?;
    Ok(bytes)
}

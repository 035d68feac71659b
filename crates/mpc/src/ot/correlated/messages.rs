//! The bytes of correlated transfers. All lengths follow from what both sides know.

use super::{CHUNK, GroupBits};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::MpcError;
use veilpath_channel::Channel;

/// Bytes that the receiver sends for `count` transfers.
pub fn extension_bytes(count: usize, group_bits: GroupBits) -> usize {
    let blocks: usize = chunks(count).sum();
    blocks * BLOCK_BYTES * group_bits.groups()
}

/// The chunks of `count` transfers, in blocks of 128 transfers.
pub(super) fn chunks(count: usize) -> impl Iterator<Item = usize> {
    let blocks = count.div_ceil(128);
    (0..blocks)
        .step_by(CHUNK / 128)
        .map(move |at| (blocks - at).min(CHUNK / 128))
}

pub(super) fn send_blocks(blocks: &[Block], channel: &mut impl Channel) -> Result<(), MpcError> {
    let mut bytes = Vec::with_capacity(blocks.len() * BLOCK_BYTES);
    for block in blocks {
        bytes.extend_from_slice(&block.to_bytes());
    }
    Ok(channel.send(&bytes)?)
}

pub(super) fn receive_blocks(
    count: usize,
    channel: &mut impl Channel,
) -> Result<Vec<Block>, MpcError> {
    let mut bytes = vec![0; count * BLOCK_BYTES];
    channel.receive(&mut bytes)?;
    let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
    Ok(blocks
        .iter()
        .map(|bytes| Block::from_bytes(*bytes))
        .collect())
}

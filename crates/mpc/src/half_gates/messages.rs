//! The bytes of garbled gates and of decoded outputs.

use crate::error::{Misbehaviour, MpcError};
use veilpath_channel::Channel;

/// Bytes of one AND gate in one lane. A gate sends the garbler's halves of its lanes, then the
/// evaluator's.
pub const TABLE_BYTES: usize = 32;

/// Sends bits, eight to a byte, the first one lowest.
pub fn send_bits(
    bits: impl IntoIterator<Item = bool>,
    channel: &mut dyn Channel,
) -> Result<(), MpcError> {
    Ok(channel.send(&pack_bits(bits))?)
}

/// Receives `count` bits.
pub fn receive_bits(count: usize, channel: &mut dyn Channel) -> Result<Vec<bool>, MpcError> {
    let bytes = receive_packed_bits(count, channel)?;
    Ok((0..count)
        .map(|at| bytes[at / 8] >> (at % 8) & 1 == 1)
        .collect())
}

/// The same, packed eight to a byte. Bits after the last one must be zero.
pub(crate) fn receive_packed_bits(
    count: usize,
    channel: &mut dyn Channel,
) -> Result<Vec<u8>, MpcError> {
    let mut bytes = vec![0; count.div_ceil(8)];
    channel.receive(&mut bytes)?;
    if !count.is_multiple_of(8) && bytes.last().is_some_and(|last| last >> (count % 8) != 0) {
        return Err(Misbehaviour::UnusedBits.into());
    }
    Ok(bytes)
}

/// Eight bits to a byte, the first one lowest.
pub(crate) fn pack_bits(bits: impl IntoIterator<Item = bool>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (at, bit) in bits.into_iter().enumerate() {
        if at % 8 == 0 {
            bytes.push(0);
        }
        if let Some(last) = bytes.last_mut() {
            *last |= u8::from(bit) << (at % 8);
        }
    }
    bytes
}

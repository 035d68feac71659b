//! The receiver, which has the letter: the evaluator.

use super::messages::{column_bytes, entry_bytes};
use super::{ColumnShare, MAX_BLOCKS, PadPosition, pad_input};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::ot::letters::ReceiverLetterKeys;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Reads the message of one column and returns the receiver's share of its costs. Reads the whole message, whatever the
/// letter.
pub fn read_column(
    kernel: Kernel,
    rows: usize,
    width: usize,
    letters: &ReceiverLetterKeys,
    column: usize,
    position: PadPosition,
    message: &[u8],
) -> Result<ColumnShare, MpcError> {
    let blocks = (rows * width).div_ceil(128);
    if message.len() != column_bytes(letters.alphabet(), rows, width) || blocks > MAX_BLOCKS {
        return Err(MpcError::Misuse("a column of the wrong length"));
    }
    let (key, letter) = letters.key(column)?;
    let bytes = entry_bytes(rows, width);
    let mut entry = Zeroizing::new(vec![0; blocks * BLOCK_BYTES]);
    for (number, candidate) in message.chunks_exact(bytes.max(1)).enumerate() {
        let mask = (number as u64)
            .ct_eq(&(letter as u64))
            .unwrap_u8()
            .wrapping_neg();
        for (chosen, byte) in entry.iter_mut().zip(candidate) {
            *chosen |= byte & mask;
        }
    }
    let mut share = Zeroizing::new(vec![Block::ZERO; blocks]);
    for (block, pad) in share.iter_mut().enumerate() {
        *pad = pad_input(letters.column_number(column), letter, position, block);
    }
    let keys = Zeroizing::new(vec![key; blocks]);
    kernel.encrypt_rekeyed(&keys, &mut share);
    for (share, entry) in share.iter_mut().zip(entry.as_chunks::<BLOCK_BYTES>().0) {
        *share ^= Block::from_bytes(*entry);
    }
    Ok(share)
}

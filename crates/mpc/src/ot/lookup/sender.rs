//! The sender, which has the tables: the garbler.

use super::messages::entry_bytes;
use super::{ColumnShare, MAX_BLOCKS, PadPosition, pad_input};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::ot::letters::SenderLetterKeys;
use crate::prg::Prg;
use zeroize::Zeroizing;

/// The costs of a strip of rows against every letter, packed as on the wire.
pub struct StripTable {
    rows: usize,
    width: usize,
    blocks: usize,
    entries: Zeroizing<Vec<Block>>,
    /// Room for the pads of all letters, reused from column to column.
    pads: Zeroizing<Vec<Block>>,
}

impl StripTable {
    /// Packs `width` bits of the cost of every row against every letter. `fill` writes the costs of a row, by letter.
    pub fn new(
        alphabet: usize,
        width: usize,
        rows: usize,
        fill: impl Fn(usize, &mut [u64]),
    ) -> Result<Self, MpcError> {
        let blocks = (rows * width).div_ceil(128);
        if width > 64 || blocks > MAX_BLOCKS {
            return Err(MpcError::Misuse("a strip is too high or too wide"));
        }
        let mut words = Zeroizing::new(vec![0u64; alphabet * blocks * 2]);
        let mut costs = Zeroizing::new(vec![0u64; alphabet]);
        for row in 0..rows {
            fill(row, &mut costs);
            let (index, shift) = (row * width / 64, row * width % 64);
            for (words, cost) in words.chunks_exact_mut(blocks * 2).zip(costs.iter()) {
                let cost = if width < 64 {
                    cost & ((1 << width) - 1)
                } else {
                    *cost
                };
                words[index] |= cost << shift;
                if shift + width > 64 {
                    words[index + 1] |= cost >> (64 - shift);
                }
            }
        }
        let (pairs, _) = words.as_chunks::<2>();
        Ok(Self {
            rows,
            width,
            blocks,
            pads: Zeroizing::new(vec![Block::ZERO; alphabet]),
            entries: Zeroizing::new(pairs.iter().map(|pair| Block::from_words(*pair)).collect()),
        })
    }

    /// Rows of the strip.
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// Appends the message of one column and returns the sender's share of its costs.
pub(crate) fn write_column(
    kernel: Kernel,
    table: &mut StripTable,
    letters: &SenderLetterKeys,
    column: usize,
    position: PadPosition,
    shares: &mut Prg,
    message: &mut Vec<u8>,
) -> Result<ColumnShare, MpcError> {
    let keys = letters.keys(column)?;
    let mut share = Zeroizing::new(vec![Block::ZERO; table.blocks]);
    shares.fill(&mut share);
    let bytes = entry_bytes(table.rows, table.width);
    let start = message.len();
    message.resize(start + keys.len() * bytes, 0);
    let pads = &mut table.pads;
    for (block, share) in share.iter().enumerate() {
        for (letter, pad) in pads.iter_mut().enumerate() {
            *pad = pad_input(letters.column_number(column), letter, position, block);
        }
        kernel.encrypt_rekeyed(&keys, pads);
        for (letter, pad) in pads.iter().enumerate() {
            let entry = (table.entries[letter * table.blocks + block] ^ *share ^ *pad).to_bytes();
            let length = (bytes - block * BLOCK_BYTES).min(BLOCK_BYTES);
            let at = start + letter * bytes + block * BLOCK_BYTES;
            match message[at..at + length].as_mut_array() {
                // A length known at compile time.
                Some(whole) => *whole = entry,
                None => message[at..at + length].copy_from_slice(&entry[..length]),
            }
        }
    }
    Ok(share)
}

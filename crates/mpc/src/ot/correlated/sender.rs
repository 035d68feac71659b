//! The side with the offset: the garbler.

use super::matrix::{self, Scratch};
use super::messages::{chunks, receive_blocks};
use super::{GroupBits, tree};
use crate::block::Block;
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::{Delta, ZeroLabel};
use crate::ot::{CorrelatedSender, base};
use crate::prg::Prg;
use crate::worker::Worker;
use rand::CryptoRng;
use std::sync::Arc;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// Produces labels for bits that it does not see. Has the seeds of all trees except one leaf each.
pub struct Sender {
    delta: Arc<Delta>,
    group_bits: GroupBits,
    trees: Vec<Vec<Prg>>,
    scratch: Scratch,
}

impl Sender {
    /// Makes the base transfers (as their receiver, choosing by the bits of Δ) and grows the punctured trees.
    pub fn start(
        delta: Arc<Delta>,
        group_bits: GroupBits,
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut impl Channel,
    ) -> Result<Self, MpcError> {
        // Level l of a tree belongs to the l-th highest bit of its group.
        let depth = group_bits.bits();
        let value = Zeroizing::new(delta.block().value());
        let choices: Zeroizing<[bool; base::COUNT]> = Zeroizing::new(std::array::from_fn(|at| {
            let (group, level) = (at / depth, at % depth);
            *value >> (group * depth + depth - 1 - level) & 1 == 1
        }));
        let keys = base::receive(&choices, rng, channel)?;
        let mut trees = Vec::with_capacity(group_bits.groups());
        for number in 0..group_bits.groups() {
            let corrections = receive_blocks(tree::corrections_per_tree(group_bits), channel)?;
            let levels = number * depth..(number + 1) * depth;
            let leaves = tree::grow_punctured(
                kernel,
                number,
                &keys[levels.clone()],
                &choices[levels],
                &corrections,
            );
            // Place 0 is the leaf that is missing; no sum needs it.
            let streams = leaves
                .iter()
                .skip(1)
                .map(|leaf| Prg::of_tree(kernel, *leaf, number));
            trees.push(streams.collect());
        }
        Ok(Self {
            delta,
            group_bits,
            trees,
            scratch: Scratch::default(),
        })
    }

    /// The transfers of another worker, from the same seeds. The first worker creates all others.
    pub(crate) fn for_worker(&self, worker: Worker) -> Self {
        let streams = |tree: &Vec<Prg>| tree.iter().map(|leaf| leaf.for_worker(worker)).collect();
        Self {
            delta: Arc::clone(&self.delta),
            group_bits: self.group_bits,
            trees: self.trees.iter().map(streams).collect(),
            scratch: Scratch::default(),
        }
    }
}

impl CorrelatedSender for Sender {
    fn send(
        &mut self,
        count: usize,
        channel: &mut impl Channel,
    ) -> Result<Zeroizing<Vec<ZeroLabel>>, MpcError> {
        let group_bits = self.group_bits.bits();
        let mut labels = Zeroizing::new(Vec::with_capacity(count.next_multiple_of(128)));
        for width in chunks(count) {
            let corrections = receive_blocks(self.group_bits.groups() * width, channel)?;
            let (streams, rows) = self.scratch.of_width(width, self.group_bits);
            let mut offset = Zeroizing::new(self.delta.block().value());
            let trees = self.trees.iter_mut().zip(corrections.chunks_exact(width));
            for ((tree, corrections), rows) in trees.zip(rows.chunks_exact_mut(group_bits * width))
            {
                streams[..width].fill(Block::ZERO);
                let places = streams.chunks_exact_mut(width).skip(1);
                for (leaf, stream) in tree.iter_mut().zip(places) {
                    leaf.fill(stream);
                }
                matrix::sum_rows(streams, width, rows);
                for row in rows.chunks_exact_mut(width) {
                    let mask = Block::mask(*offset & 1 == 1);
                    *offset >>= 1;
                    for (block, correction) in row.iter_mut().zip(corrections) {
                        *block ^= *correction & mask;
                    }
                }
            }
            matrix::columns(rows, width, |label| labels.push(ZeroLabel(label)));
        }
        labels.truncate(count);
        Ok(labels)
    }
}

//! The side with the bits: the evaluator.

use super::matrix::{self, Scratch};
use super::messages::{chunks, send_blocks};
use super::{GroupBits, tree};
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::ActiveLabel;
use crate::ot::{Bits, CorrelatedReceiver, base};
use crate::prg::Prg;
use crate::worker::Worker;
use rand::CryptoRng;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// Receives the labels of its bits. Has the seeds of all trees.
pub struct Receiver {
    group_bits: GroupBits,
    trees: Vec<Vec<Prg>>,
    scratch: Scratch,
}

impl Receiver {
    /// Makes the base transfers (as their sender) and grows the trees.
    pub fn start(
        group_bits: GroupBits,
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut impl Channel,
    ) -> Result<Self, MpcError> {
        let pairs = base::send(rng, channel)?;
        let mut trees = Vec::with_capacity(group_bits.groups());
        for (number, pairs) in pairs.chunks_exact(group_bits.bits()).enumerate() {
            let (leaves, corrections) = tree::grow(kernel, number, pairs);
            send_blocks(&corrections, channel)?;
            let streams = leaves
                .iter()
                .map(|leaf| Prg::of_tree(kernel, *leaf, number));
            trees.push(streams.collect());
        }
        channel.flush()?;
        Ok(Self {
            group_bits,
            trees,
            scratch: Scratch::default(),
        })
    }

    /// The transfers of another worker, from the same seeds. The first worker creates all others.
    pub(crate) fn for_worker(&self, worker: Worker) -> Self {
        let streams = |tree: &Vec<Prg>| tree.iter().map(|leaf| leaf.for_worker(worker)).collect();
        Self {
            group_bits: self.group_bits,
            trees: self.trees.iter().map(streams).collect(),
            scratch: Scratch::default(),
        }
    }
}

impl CorrelatedReceiver for Receiver {
    fn receive(
        &mut self,
        bits: &Bits,
        channel: &mut impl Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError> {
        let group_bits = self.group_bits.bits();
        let mut labels = Zeroizing::new(Vec::with_capacity(bits.len().next_multiple_of(128)));
        let choices = bits.blocks();
        let mut rest = &choices[..];
        for width in chunks(bits.len()) {
            let (choices, later) = rest.split_at(width);
            rest = later;
            let (streams, rows) = self.scratch.of_width(width, self.group_bits);
            let mut corrections = Vec::with_capacity(self.trees.len() * width);
            for (tree, rows) in self
                .trees
                .iter_mut()
                .zip(rows.chunks_exact_mut(group_bits * width))
            {
                for (leaf, stream) in tree.iter_mut().zip(streams.chunks_exact_mut(width)) {
                    leaf.fill(stream);
                }
                matrix::sum_rows(streams, width, rows);
                corrections.extend(
                    streams
                        .iter()
                        .zip(choices)
                        .map(|(sum, choice)| *sum ^ *choice),
                );
            }
            send_blocks(&corrections, channel)?;
            matrix::columns(rows, width, |label| labels.push(ActiveLabel(label)));
        }
        channel.flush()?;
        labels.truncate(bits.len());
        Ok(labels)
    }
}

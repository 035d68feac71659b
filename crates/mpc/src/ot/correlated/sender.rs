//! The sender, which has the offset: the garbler.

use super::check::{Sums, Transcript};
use super::messages::{
    PROOF_BYTES, blocks_of, chunks, corrections_bytes, corrections_per_tree, receive_bytes,
    seed_bytes,
};
use super::ready::{Demand, Ready, Step};
use super::scratch::Scratch;
use super::seed_check::SeedCheck;
use super::{MAX_BATCH, TreeLevels, tree};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::{Misbehaviour, MpcError};
use crate::half_gates::messages::receive_packed_bits;
use crate::kernel::Kernel;
use crate::label::{Delta, ZeroLabel};
use crate::ot::{CorrelatedSender, CotSender, base};
use crate::prg::TreeStreams;
use crate::worker_thread::WorkerThread;
use rand::CryptoRng;
use std::sync::Arc;
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// Produces labels for bits that it does not see. Has the seeds of all trees except one leaf each.
pub struct Sender {
    kernel: Kernel,
    delta: Arc<Delta>,
    tree_levels: TreeLevels,
    trees: Vec<TreeStreams>,
    /// The transcript before the first worker thread's messages, from which the transcripts of all threads start.
    root: Transcript,
    transcript: Transcript,
    demand: Demand,
    ready: Ready,
    /// Whether a check failed. Then there are no more transfers.
    failed: bool,
    scratch: Scratch,
}

impl Sender {
    /// Runs the base transfers (as their receiver, choosing by the bits of Δ), grows the punctured trees and checks
    /// them.
    pub fn start(
        delta: Arc<Delta>,
        tree_levels: TreeLevels,
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut dyn Channel,
    ) -> Result<Self, MpcError> {
        let choices = choices(&delta, tree_levels);
        let base = base::receive(&choices, rng, channel)?;
        let message = receive_bytes(seed_bytes(tree_levels), channel)?;
        Self::with_keys(delta, tree_levels, kernel, &base, &message)
    }

    /// As [`Sender::start`], given the keys of the base transfers and the receiver's message about the trees.
    pub(super) fn with_keys(
        delta: Arc<Delta>,
        tree_levels: TreeLevels,
        kernel: Kernel,
        base: &base::BaseKeys<Block>,
        message: &[u8],
    ) -> Result<Self, MpcError> {
        let depth = tree_levels.count();
        let choices = choices(&delta, tree_levels);
        let per_tree = corrections_per_tree(tree_levels);
        let blocks = blocks_of(message);
        let hash = &message[message.len().saturating_sub(32)..];
        let mut check = SeedCheck::new();
        let mut trees = Vec::with_capacity(tree_levels.trees());
        for (number, blocks) in blocks
            .chunks_exact(per_tree + 2)
            .take(tree_levels.trees())
            .enumerate()
        {
            let (corrections, sum) = blocks.split_at(per_tree);
            let levels = number * depth..(number + 1) * depth;
            let path = &choices[levels.clone()];
            let leaves =
                tree::grow_punctured(kernel, number, &base.keys[levels], path, corrections);
            let missing = path
                .iter()
                .fold(0, |number, bit| number << 1 | usize::from(*bit));
            check.add_punctured(number, &leaves, missing, [sum[0], sum[1]]);
            // The missing leaf is at index 0, which is empty; no sum needs it.
            trees.push(TreeStreams::new(kernel, &leaves, number));
        }
        if !check.accepts(hash) {
            return Err(Misbehaviour::InconsistentSeeds.into());
        }
        let root = Transcript::new(kernel, &base.transcript, message);
        Ok(Self::with_streams(
            delta,
            tree_levels,
            kernel,
            trees,
            root,
            WorkerThread::FIRST,
        ))
    }

    fn with_streams(
        delta: Arc<Delta>,
        tree_levels: TreeLevels,
        kernel: Kernel,
        trees: Vec<TreeStreams>,
        root: Transcript,
        thread: WorkerThread,
    ) -> Self {
        Self {
            kernel,
            delta,
            tree_levels,
            trees,
            transcript: root.for_thread(thread),
            root,
            demand: Demand::default(),
            ready: Ready::default(),
            failed: false,
            scratch: Scratch::default(),
        }
    }

    /// The transfers of another thread, from the same seeds. The first thread creates all others.
    pub(crate) fn for_thread(&self, thread: WorkerThread) -> Self {
        let trees = self.trees.iter().map(|tree| tree.for_thread(thread));
        Self::with_streams(
            Arc::clone(&self.delta),
            self.tree_levels,
            self.kernel,
            trees.collect(),
            self.root.clone(),
            thread,
        )
    }

    /// Makes and checks a batch for later. A failed check is final.
    fn refill(&mut self, count: usize, channel: &mut dyn Channel) -> Result<(), MpcError> {
        let mut ready = std::mem::take(&mut self.ready);
        ready.make_room(count);
        self.make(ready.last_mut(count), channel)?;
        self.ready = ready;
        Ok(())
    }

    /// Makes and checks a batch. Labels that were not checked must not be used, so a failed check is final.
    fn make(&mut self, labels: &mut [Block], channel: &mut dyn Channel) -> Result<(), MpcError> {
        if self.failed {
            return Err(MpcError::Misuse("transfers cannot go on after an error"));
        }
        self.failed = true;
        if let Err(error) = self.make_batch(labels, channel) {
            labels.zeroize();
            return Err(error);
        }
        self.failed = false;
        Ok(())
    }

    /// Makes transfers with random choices of the receiver, and checks that they are consistent.
    fn make_batch(
        &mut self,
        mut labels: &mut [Block],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        let levels = self.tree_levels.count();
        let mut sums = Sums::new(self.kernel);
        // The last block of the first chunk masks the proof and has no other use.
        let mut masks = 1;
        for width in chunks(labels.len() / 128 + 1) {
            let message = receive_bytes(corrections_bytes(width, self.tree_levels), channel)?;
            self.transcript.absorb(b"chunk", &message);
            let (corrections, _) = message.as_chunks::<BLOCK_BYTES>();
            // The first tree determines the choices and has no corrections.
            let corrections =
                std::iter::once(None).chain(corrections.chunks_exact(width).map(Some));
            let rows = self.scratch.of_width(width).rows;
            let mut offset = Zeroizing::new(self.delta.block().value());
            let rows_of_trees = rows.chunks_exact_mut(levels * width);
            for ((tree, corrections), rows) in
                self.trees.iter_mut().zip(corrections).zip(rows_of_trees)
            {
                rows.fill(Block::ZERO);
                for row in rows.chunks_exact_mut(width) {
                    // Hidden from the compiler, which could turn a bit that is constant over the row into a branch.
                    let bit = std::hint::black_box(*offset as u64 & 1);
                    let mask = Block::from_words([bit.wrapping_neg(); 2]);
                    *offset >>= 1;
                    let corrections = corrections.unwrap_or_default();
                    for (block, correction) in row.iter_mut().zip(corrections) {
                        *block = Block::from_bytes(*correction) & mask;
                    }
                }
                tree.add_sums(width, rows, None);
            }
            sums.add(&self.transcript, rows, &[]);
            let used = (width - masks) * 128;
            let columns = labels.split_off_mut(..used).unwrap_or_default();
            self.kernel.transpose_columns(rows, width, columns);
            masks = 0;
        }
        let mut proof = [0; PROOF_BYTES];
        channel.receive(&mut proof)?;
        if !sums.accepts(&self.transcript, self.delta.block(), &proof) {
            return Err(Misbehaviour::InconsistentTransfers.into());
        }
        self.transcript.absorb(b"proof", &proof);
        Ok(())
    }
}

/// The choices of the base transfers. Level l of a tree belongs to the l-th highest bit of its group.
pub(super) fn choices(delta: &Delta, tree_levels: TreeLevels) -> Zeroizing<[bool; base::COUNT]> {
    let depth = tree_levels.count();
    let value = Zeroizing::new(delta.block().value());
    Zeroizing::new(std::array::from_fn(|at| {
        let (group, level) = (at / depth, at % depth);
        *value >> (group * depth + depth - 1 - level) & 1 == 1
    }))
}

impl CorrelatedSender for Sender {
    fn announce(&mut self, count: usize) {
        self.demand.announce(count);
    }

    fn send(
        &mut self,
        count: usize,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ZeroLabel>>, MpcError> {
        while let Some(batch) = self.demand.next_batch(count, self.ready.left()) {
            self.refill(batch, channel)?;
        }
        self.demand.used(count);
        let swaps = receive_packed_bits(count, channel)?;
        let (_, labels) = self.ready.take(count);
        let labels = labels.iter().map(|label| ZeroLabel(*label));
        let mut swapped = Zeroizing::new(labels.collect::<Vec<_>>());
        for (labels, swaps) in swapped.chunks_mut(8).zip(swaps) {
            for (bit, label) in labels.iter_mut().enumerate() {
                *label = label.flipped(swaps >> bit & 1 == 1, &self.delta);
            }
        }
        Ok(swapped)
    }
}

impl CotSender for Sender {
    fn delta(&self) -> &Delta {
        &self.delta
    }

    fn batch(&self) -> usize {
        MAX_BATCH
    }

    fn extend(&mut self, v: &mut [Block], channel: &mut dyn Channel) -> Result<(), MpcError> {
        let mut rest = v;
        while !rest.is_empty() {
            match self.demand.next_step(rest.len(), self.ready.left()) {
                Step::Refill(batch) => self.refill(batch, channel)?,
                Step::InPlace(batch) => {
                    let out = rest.split_off_mut(..batch).unwrap_or_default();
                    self.make(out, channel)?;
                }
                Step::Take(count) => {
                    let out = rest.split_off_mut(..count).unwrap_or_default();
                    out.copy_from_slice(self.ready.take(count).1);
                }
            }
        }
        Ok(())
    }
}

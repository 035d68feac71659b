//! The receiver, which has the bits: the evaluator.

use super::check::{Sums, Transcript};
use super::messages::{append_block, chunks, corrections_bytes};
use super::ready::{Demand, Ready, Step, drop_first};
use super::scratch::{Rows, Scratch};
use super::seed_check::SeedCheck;
use super::{MAX_BATCH, TreeLevels, tree};
use crate::bits::{bits_at, copy_bits};
use crate::block::{BLOCK_BYTES, Block};
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::ActiveLabel;
use crate::ot::cot::check_lengths;
use crate::ot::{Bits, CorrelatedReceiver, CotReceiver, base};
use crate::prg::TreeStreams;
use crate::worker_thread::WorkerThread;
use rand::CryptoRng;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// Receives the labels of its bits. Has the seeds of all trees.
pub struct Receiver {
    kernel: Kernel,
    tree_levels: TreeLevels,
    trees: Vec<TreeStreams>,
    /// The transcript before the first worker thread's messages, from which the transcripts of all threads start.
    root: Transcript,
    transcript: Transcript,
    demand: Demand,
    ready: Ready,
    /// The random choices of the transfers that are ready, 128 to a block.
    choices: Zeroizing<Vec<Block>>,
    scratch: Scratch,
}

impl Receiver {
    /// Runs the base transfers (as their sender) and grows the trees.
    pub fn start(
        tree_levels: TreeLevels,
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut dyn Channel,
    ) -> Result<Self, MpcError> {
        let base = base::send(rng, channel)?;
        let (leaves, message) = grow_trees(kernel, tree_levels, &base.keys);
        channel.send(&message)?;
        channel.flush()?;
        let root = Transcript::new(kernel, &base.transcript, &message);
        Ok(Self::with_leaves(kernel, tree_levels, &leaves, root))
    }

    pub(super) fn with_leaves(
        kernel: Kernel,
        tree_levels: TreeLevels,
        leaves: &[Zeroizing<Vec<Block>>],
        root: Transcript,
    ) -> Self {
        let trees = leaves.iter().enumerate();
        let trees = trees.map(|(number, leaves)| TreeStreams::new(kernel, leaves, number));
        Self::with_streams(
            kernel,
            tree_levels,
            trees.collect(),
            root,
            WorkerThread::FIRST,
        )
    }

    fn with_streams(
        kernel: Kernel,
        tree_levels: TreeLevels,
        trees: Vec<TreeStreams>,
        root: Transcript,
        thread: WorkerThread,
    ) -> Self {
        Self {
            kernel,
            tree_levels,
            trees,
            transcript: root.for_thread(thread),
            root,
            demand: Demand::default(),
            ready: Ready::default(),
            choices: Zeroizing::default(),
            scratch: Scratch::default(),
        }
    }

    /// The transfers of another thread, from the same seeds. The first thread creates all others.
    pub(crate) fn for_thread(&self, thread: WorkerThread) -> Self {
        let trees = self.trees.iter().map(|tree| tree.for_thread(thread));
        Self::with_streams(
            self.kernel,
            self.tree_levels,
            trees.collect(),
            self.root.clone(),
            thread,
        )
    }

    /// Makes a batch for later.
    fn refill(&mut self, count: usize, channel: &mut dyn Channel) -> Result<(), MpcError> {
        let mut ready = std::mem::take(&mut self.ready);
        let mut choices = std::mem::take(&mut self.choices);
        let dropped = ready.make_room(count);
        drop_first(&mut choices, dropped, count / 128);
        let first = choices.len();
        choices.resize(first + count / 128, Block::ZERO);
        self.make_batch(ready.last_mut(count), &mut choices[first..], channel)?;
        self.ready = ready;
        self.choices = choices;
        Ok(())
    }

    /// Replaces the stream of one leaf. From now on this tree deviates, and the check fails unless the sender lacks
    /// that leaf.
    #[cfg(test)]
    pub(crate) fn corrupt_leaf(&mut self, tree: usize, leaf: usize) {
        self.trees[tree].replace(leaf, Block::new(0x1e));
    }

    /// Makes transfers with random choices, and proves that they are consistent.
    fn make_batch(
        &mut self,
        mut labels: &mut [Block],
        mut used_choices: &mut [Block],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        let levels = self.tree_levels.count();
        let mut sums = Sums::new(self.kernel);
        // The last block of the first chunk masks the proof and has no other use.
        let mut masks = 1;
        for width in chunks(labels.len() / 128 + 1) {
            let Rows {
                rows,
                choices,
                total,
            } = self.scratch.of_width(width);
            let mut corrections = vec![0; corrections_bytes(width, self.tree_levels)];
            let (blocks, _) = corrections.as_chunks_mut::<BLOCK_BYTES>();
            let mut trees = self.trees.iter_mut();
            let mut rows_of_trees = rows.chunks_exact_mut(levels * width);
            // The first tree determines the choices.
            if let (Some(tree), Some(rows)) = (trees.next(), rows_of_trees.next()) {
                rows.fill(Block::ZERO);
                choices.fill(Block::ZERO);
                tree.add_sums(width, rows, Some(choices));
            }
            let blocks = blocks.chunks_exact_mut(width);
            for ((tree, rows), blocks) in trees.zip(rows_of_trees).zip(blocks) {
                rows.fill(Block::ZERO);
                total.copy_from_slice(choices);
                tree.add_sums(width, rows, Some(total));
                for (block, correction) in blocks.iter_mut().zip(total.iter()) {
                    *block = correction.to_bytes();
                }
            }
            channel.send(&corrections)?;
            self.transcript.absorb(b"chunk", &corrections);
            sums.add(&self.transcript, rows, choices);
            let used = width - masks;
            masks = 0;
            let chunk_choices = used_choices.split_off_mut(..used).unwrap_or_default();
            chunk_choices.copy_from_slice(&choices[..used]);
            let columns = labels.split_off_mut(..used * 128).unwrap_or_default();
            self.kernel.transpose_columns(rows, width, columns);
        }
        let proof = sums.proof(&self.transcript);
        channel.send(&proof)?;
        self.transcript.absorb(b"proof", &proof);
        Ok(())
    }
}

/// The leaves of all trees, and the message with their corrections and their check.
pub(super) fn grow_trees(
    kernel: Kernel,
    tree_levels: TreeLevels,
    pairs: &[[Block; 2]],
) -> (Vec<Zeroizing<Vec<Block>>>, Vec<u8>) {
    let mut trees = Vec::with_capacity(tree_levels.trees());
    let mut message = Vec::new();
    let mut check = SeedCheck::new();
    for (number, pairs) in pairs.chunks_exact(tree_levels.count()).enumerate() {
        let (leaves, corrections) = tree::grow(kernel, number, pairs);
        let sum = check.add_whole(number, &leaves);
        for block in corrections.into_iter().chain(sum) {
            append_block(&mut message, block);
        }
        trees.push(leaves);
    }
    message.extend_from_slice(&check.hash());
    (trees, message)
}

impl CorrelatedReceiver for Receiver {
    fn announce(&mut self, count: usize) {
        self.demand.announce(count);
    }

    fn receive(
        &mut self,
        bits: &Bits,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError> {
        while let Some(count) = self.demand.next_batch(bits.len(), self.ready.left()) {
            self.refill(count, channel)?;
        }
        self.demand.used(bits.len());
        let (first, labels) = self.ready.take(bits.len());
        // The sender swaps the two labels of each transfer whose random choice differs from the bit.
        let mut swaps = Vec::with_capacity(bits.words().len() * 8);
        for (at, word) in bits.words().iter().enumerate() {
            let count = (bits.len() - at * 64).min(64);
            let swap = word ^ bits_at(&self.choices[..], first + at * 64, count);
            swaps.extend_from_slice(&swap.to_le_bytes());
        }
        swaps.truncate(bits.len().div_ceil(8));
        channel.send(&swaps)?;
        channel.flush()?;
        let labels = labels.iter().map(|label| ActiveLabel(*label));
        Ok(Zeroizing::new(labels.collect()))
    }
}

impl CotReceiver for Receiver {
    fn batch(&self) -> usize {
        MAX_BATCH
    }

    fn extend(
        &mut self,
        u: &mut [u64],
        w: &mut [Block],
        channel: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        check_lengths(u, w)?;
        u.fill(0);
        let mut rest = w;
        let mut done = 0;
        while !rest.is_empty() {
            match self.demand.next_step(rest.len(), self.ready.left()) {
                Step::Refill(batch) => self.refill(batch, channel)?,
                Step::InPlace(batch) => {
                    let out = rest.split_off_mut(..batch).unwrap_or_default();
                    let mut choices = Zeroizing::new(vec![Block::ZERO; batch / 128]);
                    self.make_batch(out, &mut choices, channel)?;
                    copy_bits(&choices[..], 0, u, done, batch);
                    done += batch;
                }
                Step::Take(count) => {
                    let out = rest.split_off_mut(..count).unwrap_or_default();
                    let (first, labels) = self.ready.take(count);
                    out.copy_from_slice(labels);
                    copy_bits(&self.choices[..], first, u, done, count);
                    done += count;
                }
            }
        }
        channel.flush()?;
        Ok(())
    }
}

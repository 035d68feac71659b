//! Many pseudorandom blocks from one seed: AES in counter mode.

use crate::block::Block;
use crate::kernel::{Kernel, LeafSchedules, Schedule, StreamSums};
use crate::worker_thread::WorkerThread;
use rand::CryptoRng;
use std::sync::Arc;

use crate::label::random_block;

/// A stream of pseudorandom blocks. If AES is a pseudorandom permutation, b blocks differ from random ones with
/// advantage at most b²/2¹²⁹. The longest streams are those of correlated transfers: a session that runs at a gigabyte
/// per second for a year uses 2⁴² blocks of one seed, which gives 2⁻⁴⁵.
pub(crate) struct Prg {
    kernel: Kernel,
    schedule: Schedule,
    domain: u64,
    counter: u64,
}

impl Prg {
    pub(crate) fn new(kernel: Kernel, seed: Block) -> Self {
        Self::of_tree(kernel, seed, 0)
    }

    /// The stream of a leaf. Streams of different trees encrypt different counters, so a guessed seed can only be
    /// checked against the leaves of one tree.
    pub(crate) fn of_tree(kernel: Kernel, seed: Block, tree: usize) -> Self {
        Self {
            kernel,
            schedule: kernel.schedule(seed),
            domain: tree as u64,
            counter: 0,
        }
    }

    pub(crate) fn from_rng(kernel: Kernel, rng: &mut impl CryptoRng) -> Self {
        Self::new(kernel, random_block(rng))
    }

    /// The next blocks of the stream.
    pub(crate) fn fill(&mut self, blocks: &mut [Block]) {
        for block in blocks.iter_mut() {
            *block = Block::from_words([self.counter, self.domain]);
            self.counter = self.counter.wrapping_add(1);
        }
        self.kernel.encrypt(&self.schedule, blocks);
    }

    /// The next block of the stream.
    pub(crate) fn next_block(&mut self) -> Block {
        let mut block = [Block::ZERO];
        self.fill(&mut block);
        block[0]
    }
}

/// The second word of the counter block for another worker thread.
fn for_thread(domain: u64, thread: WorkerThread) -> u64 {
    domain & u64::from(u32::MAX) | u64::from(thread.number()) << 32
}

/// The streams of the leaves of a tree, which advance together: those of [`Prg::of_tree`].
pub(crate) struct TreeStreams {
    schedules: Arc<LeafSchedules>,
    domain: u64,
    counter: u64,
}

impl TreeStreams {
    /// The number of leaves is a power of two, at least two.
    pub(crate) fn new(kernel: Kernel, leaves: &[Block], tree: usize) -> Self {
        Self {
            schedules: Arc::new(kernel.leaf_schedules(leaves)),
            domain: tree as u64,
            counter: 0,
        }
    }

    /// The streams of the same leaves for another thread, which encrypt counters that no other thread encrypts.
    pub(crate) fn for_thread(&self, thread: WorkerThread) -> Self {
        Self {
            schedules: Arc::clone(&self.schedules),
            domain: for_thread(self.domain, thread),
            counter: 0,
        }
    }

    /// Replaces the stream of one leaf. No other thread may exist yet.
    #[cfg(test)]
    pub(crate) fn replace(&mut self, leaf: usize, seed: Block) {
        let schedules = Arc::get_mut(&mut self.schedules).expect("one thread");
        schedules.replace(leaf, seed);
    }

    /// Adds the next blocks of the streams to rows of `width` blocks: to the row of each bit, the streams of the leaves
    /// whose numbers have it set, and to the total those of all leaves. Without a total, the first leaf is ignored.
    pub(crate) fn add_sums(
        &mut self,
        width: usize,
        sums: &mut [Block],
        total: Option<&mut [Block]>,
    ) {
        self.schedules.sum_streams(StreamSums {
            first: Block::from_words([self.counter, self.domain]),
            width,
            sums,
            total,
        });
        self.counter = self.counter.wrapping_add(width as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn stream(leaf: Block, tree: usize, thread: WorkerThread) -> Prg {
        Prg {
            domain: for_thread(tree as u64, thread),
            ..Prg::of_tree(Kernel::portable(), leaf, tree)
        }
    }

    #[test]
    fn no_two_threads_and_trees_share_a_block() {
        let mut seen = BTreeSet::new();
        for tree in 0..3 {
            let threads = [
                WorkerThread::FIRST,
                WorkerThread::new(1).unwrap(),
                WorkerThread::new(2).unwrap(),
            ];
            for mut stream in threads.map(|thread| stream(Block::new(7), tree, thread)) {
                let mut blocks = [Block::ZERO; 50];
                stream.fill(&mut blocks);
                seen.extend(blocks.map(Block::to_bytes));
            }
        }
        assert_eq!(seen.len(), 3 * 3 * 50);
    }

    #[test]
    fn streams_are_summed_by_the_bits_of_their_leaves() {
        for (bits, widths) in [(1, [1, 17]), (2, [3, 16]), (4, [64, 21]), (8, [5, 33])] {
            let leaves: Vec<Block> = (0..1 << bits).map(|leaf| Block::new(leaf + 9)).collect();
            let thread = WorkerThread::new(3).unwrap();
            let mut streams: Vec<Prg> =
                leaves.iter().map(|leaf| stream(*leaf, 5, thread)).collect();
            let trees = Kernel::available().into_iter();
            let mut trees: Vec<TreeStreams> = trees
                .map(|kernel| TreeStreams::new(kernel, &leaves, 5).for_thread(thread))
                .collect();
            for width in widths {
                let start: Vec<Block> = (0..(bits + 1) * width)
                    .map(|at| Block::new(at as u128))
                    .collect();
                let mut expected = start.clone();
                for (number, stream) in streams.iter_mut().enumerate() {
                    let mut blocks = vec![Block::ZERO; width];
                    stream.fill(&mut blocks);
                    for (row, sum) in expected.chunks_exact_mut(width).enumerate() {
                        // The last row is the total.
                        if row == bits || number >> row & 1 == 1 {
                            for (sum, block) in sum.iter_mut().zip(&blocks) {
                                *sum ^= *block;
                            }
                        }
                    }
                }
                for (number, tree) in trees.iter_mut().enumerate() {
                    let mut rows = start.clone();
                    let (sums, total) = rows.split_at_mut(bits * width);
                    tree.add_sums(width, sums, Some(total));
                    assert!(rows == expected, "kernel {number}, {bits} bits, {width}");
                }
            }
            // Without the total, the first leaf is in no sum.
            let sums_with = |leaves: &[Block]| {
                let mut sums = vec![Block::ZERO; bits * 18];
                TreeStreams::new(Kernel::best(), leaves, 0).add_sums(18, &mut sums, None);
                sums
            };
            let mut others = leaves.clone();
            others[0] = Block::ZERO;
            assert!(sums_with(&leaves) == sums_with(&others));
        }
    }
}

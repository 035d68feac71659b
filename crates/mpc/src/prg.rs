//! Many pseudorandom blocks from one seed: AES in counter mode.

use crate::block::Block;
use crate::kernel::{Kernel, Schedule};
use crate::worker::Worker;
use rand::CryptoRng;

use crate::label::random_block;

/// A stream of pseudorandom blocks. If AES is a pseudorandom permutation, b blocks differ from random ones with
/// advantage at most b²/2¹²⁹. The longest streams are those of correlated transfers: a session that uses a gigabyte
/// per second for a year uses 2⁴² blocks of one seed, 2⁻⁴⁵.
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

    /// The stream of a leaf. Streams of different trees encrypt different counters, so that a guessed seed can only be
    /// checked against the leaves of one tree.
    pub(crate) fn of_tree(kernel: Kernel, seed: Block, tree: usize) -> Self {
        Self {
            kernel,
            schedule: kernel.schedule(seed),
            domain: tree as u64,
            counter: 0,
        }
    }

    /// The same seed's stream for another worker: it encrypts counters that no other worker encrypts.
    pub(crate) fn for_worker(&self, worker: Worker) -> Self {
        Self {
            kernel: self.kernel,
            schedule: self.schedule.clone(),
            domain: self.domain & u64::from(u32::MAX) | u64::from(worker.number()) << 32,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn no_two_workers_and_trees_share_a_block() {
        let mut seen = BTreeSet::new();
        for tree in 0..3 {
            let first = Prg::of_tree(Kernel::best(), Block::new(7), tree);
            let workers = [
                Worker::FIRST,
                Worker::new(1).unwrap(),
                Worker::new(2).unwrap(),
            ];
            for mut stream in workers.map(|worker| first.for_worker(worker)) {
                let mut blocks = [Block::ZERO; 50];
                stream.fill(&mut blocks);
                seen.extend(blocks.map(Block::to_bytes));
            }
        }
        assert_eq!(seen.len(), 3 * 3 * 50);
    }
}

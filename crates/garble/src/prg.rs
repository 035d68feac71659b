//! Many pseudorandom blocks from one seed: AES in counter mode.

use crate::block::Block;
use crate::kernel::{Kernel, Schedule};
use rand::CryptoRng;

use crate::label::random_block;

/// A stream of pseudorandom blocks. Under the assumption that AES is a pseudorandom permutation, b blocks differ from random ones with
/// advantage at most b²/2¹²⁹; a session uses less than 2³⁶ of one seed.
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

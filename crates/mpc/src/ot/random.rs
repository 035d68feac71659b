//! Random transfers: the sender gets two independent random blocks, the receiver the one of its choice.
//!
//! The correlated transfers are hashed with a counter as tweak, which breaks the correlation (Ishai, Kilian, Nissim and
//! Petrank, CRYPTO 2003). The hash and its bound are those of garbling, but its start must be one that garbling does
//! not use.

use super::{Bits, CorrelatedReceiver, CorrelatedSender};
use crate::block::Block;
use crate::error::MpcError;
use crate::hash::TweakedHash;
use crate::label::Delta;
use veilpath_channel::Channel;
use zeroize::{Zeroize, Zeroizing};

/// The sender's part of random transfers.
pub struct RandomSender {
    hash: TweakedHash,
    done: u64,
}

/// The receiver's part of random transfers.
pub struct RandomReceiver {
    hash: TweakedHash,
    done: u64,
}

impl RandomSender {
    /// Both sides start with the same hash.
    pub fn new(hash: TweakedHash) -> Self {
        Self { hash, done: 0 }
    }

    /// `count` pairs of random blocks.
    pub fn send(
        &mut self,
        count: usize,
        delta: &Delta,
        correlated: &mut impl CorrelatedSender,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<[Block; 2]>>, MpcError> {
        let zeros = correlated.send(count, channel)?;
        let mut first: Vec<Block> = zeros.iter().map(|zero| zero.0).collect();
        let mut second: Vec<Block> = zeros.iter().map(|zero| zero.of(true, delta).0).collect();
        self.hash.hash_all(self.done, &mut first);
        self.hash.hash_all(self.done, &mut second);
        self.done = self.done.wrapping_add(count as u64);
        let pairs = first.iter().zip(&second).map(|(a, b)| [*a, *b]).collect();
        first.zeroize();
        second.zeroize();
        Ok(Zeroizing::new(pairs))
    }
}

impl RandomReceiver {
    /// Both sides start with the same hash.
    pub fn new(hash: TweakedHash) -> Self {
        Self { hash, done: 0 }
    }

    /// The block of each pair that the bit selects.
    pub fn receive(
        &mut self,
        bits: &Bits,
        correlated: &mut impl CorrelatedReceiver,
        channel: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<Block>>, MpcError> {
        let labels = correlated.receive(bits, channel)?;
        let mut blocks: Vec<Block> = labels.iter().map(|label| label.0).collect();
        self.hash.hash_all(self.done, &mut blocks);
        self.done = self.done.wrapping_add(bits.len() as u64);
        Ok(Zeroizing::new(blocks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Kernel;
    use crate::ot::ideal::ideal_pair;
    use rand::SeedableRng;
    use rand_chacha::ChaCha20Rng;
    use std::collections::BTreeSet;
    use std::sync::Arc;
    use veilpath_channel::memory_pair;

    #[test]
    fn the_receiver_gets_the_block_of_its_choice_and_all_blocks_differ() {
        let delta = Arc::new(Delta::random(&mut ChaCha20Rng::seed_from_u64(3)));
        let (mut dealt_to_sender, mut dealt_to_receiver) = ideal_pair(Arc::clone(&delta), 4);
        let (mut channel, _peer) = memory_pair();
        let hash = TweakedHash::new(Kernel::best(), Block::new(5));
        let (mut sender, mut receiver) = (RandomSender::new(hash), RandomReceiver::new(hash));
        let mut seen = BTreeSet::new();
        for round in 0..3 {
            let choices: Vec<bool> = (0..101).map(|i| i % (2 + round) == 0).collect();
            let pairs = sender
                .send(101, &delta, &mut dealt_to_sender, &mut channel)
                .unwrap();
            let bits = choices.iter().copied().collect();
            let got = receiver
                .receive(&bits, &mut dealt_to_receiver, &mut channel)
                .unwrap();
            for (at, choice) in choices.iter().enumerate() {
                assert_eq!(got[at], pairs[at][usize::from(*choice)]);
                seen.extend(pairs[at].map(Block::to_bytes));
            }
        }
        assert_eq!(seen.len(), 3 * 101 * 2);
    }
}

//! Ideal correlated transfers, as from a trusted dealer: no messages, no protection. They replace the real ones in
//! tests of the layers above, with the feature `ideal`.

use super::correlated::MAX_BATCH;
use super::cot::check_lengths;
use super::{Bits, CorrelatedReceiver, CorrelatedSender, CotReceiver, CotSender};
use crate::block::Block;
use crate::error::MpcError;
use crate::kernel::Kernel;
use crate::label::{ActiveLabel, Delta, ZeroLabel};
use crate::prg::Prg;
use std::sync::Arc;
use veilpath_channel::Channel;
use zeroize::Zeroizing;

/// The dealer's values for the sender.
pub struct IdealSender {
    labels: Prg,
    delta: Arc<Delta>,
}

/// The dealer's values for the receiver, which could read Δ from them (only in this stand-in).
pub struct IdealReceiver {
    labels: Prg,
    choices: Prg,
    delta: Arc<Delta>,
}

/// Deals to both sides.
pub fn ideal_pair(delta: Arc<Delta>, seed: u64) -> (IdealSender, IdealReceiver) {
    let prg = || Prg::new(Kernel::best(), Block::new(u128::from(seed)));
    (
        IdealSender {
            labels: prg(),
            delta: Arc::clone(&delta),
        },
        IdealReceiver {
            labels: prg(),
            choices: Prg::of_tree(Kernel::best(), Block::new(u128::from(seed)), 1),
            delta,
        },
    )
}

fn deal(labels: &mut Prg, count: usize) -> Vec<ZeroLabel> {
    let mut blocks = vec![Block::ZERO; count];
    labels.fill(&mut blocks);
    blocks.into_iter().map(ZeroLabel).collect()
}

impl CorrelatedSender for IdealSender {
    fn send(
        &mut self,
        count: usize,
        _: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ZeroLabel>>, MpcError> {
        Ok(Zeroizing::new(deal(&mut self.labels, count)))
    }
}

impl CorrelatedReceiver for IdealReceiver {
    fn receive(
        &mut self,
        bits: &Bits,
        _: &mut dyn Channel,
    ) -> Result<Zeroizing<Vec<ActiveLabel>>, MpcError> {
        let zeros = deal(&mut self.labels, bits.len());
        let choices = bits
            .bytes()
            .flat_map(|byte| (0..8).map(move |at| byte >> at & 1 == 1));
        let active = zeros
            .iter()
            .zip(choices)
            .map(|(zero, bit)| zero.of(bit, &self.delta));
        Ok(Zeroizing::new(active.collect()))
    }
}

impl CotSender for IdealSender {
    fn delta(&self) -> &Delta {
        &self.delta
    }

    fn batch(&self) -> usize {
        MAX_BATCH
    }

    fn extend(&mut self, v: &mut [Block], _: &mut dyn Channel) -> Result<(), MpcError> {
        self.labels.fill(v);
        Ok(())
    }
}

impl CotReceiver for IdealReceiver {
    fn batch(&self) -> usize {
        MAX_BATCH
    }

    fn extend(
        &mut self,
        u: &mut [u64],
        w: &mut [Block],
        _: &mut dyn Channel,
    ) -> Result<(), MpcError> {
        check_lengths(u, w)?;
        self.labels.fill(w);
        for (word, blocks) in u.iter_mut().zip(w.chunks_mut(64)) {
            *word = self.choices.next_block().words()[0] & u64::MAX >> (64 - blocks.len());
            for (at, block) in blocks.iter_mut().enumerate() {
                *block ^= Block::mask(*word >> at & 1 == 1) & self.delta.block();
            }
        }
        Ok(())
    }
}

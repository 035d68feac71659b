//! The garbler, which produces the tables.

use super::messages::TABLE_BYTES;
use crate::block::{BLOCK_BYTES, Block};
use crate::circuit::{Bundle, Circuit, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use crate::hash::TweakedHash;
use crate::kernel::Kernel;
use crate::label::{Delta, ZeroLabel, random_block};
use crate::worker_thread::WorkerThread;
use rand::CryptoRng;
use std::array::from_fn;
use std::sync::Arc;
use veilpath_channel::Channel;

/// Tables are sent in pieces of this size.
const SEND_BYTES: usize = 64 << 10;

/// Garbles circuits under one offset. Tweaks count the gates, so both sides must run the same gates in the same order.
pub struct Garbler {
    delta: Arc<Delta>,
    hash: TweakedHash,
    gates: u64,
    lane_gates: u64,
    lanes: usize,
    tables: Vec<u8>,
}

impl Garbler {
    /// Draws the hash key and sends it to the evaluator.
    pub fn start(
        delta: Arc<Delta>,
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        channel: &mut dyn Channel,
    ) -> Result<Self, MpcError> {
        let hash_key = random_block(rng);
        channel.send(&hash_key.to_bytes())?;
        Ok(Self::new(delta, kernel, hash_key))
    }

    /// A garbler whose evaluator already knows the hash key. A hash key is for one session only.
    pub fn new(delta: Arc<Delta>, kernel: Kernel, hash_key: Block) -> Self {
        Self::with_hash(delta, TweakedHash::new(kernel, hash_key))
    }

    /// The garbler of another worker thread, under the same offset. The first thread creates all others.
    pub(crate) fn for_thread(&self, thread: WorkerThread) -> Self {
        Self::with_hash(Arc::clone(&self.delta), self.hash.for_thread(thread))
    }

    fn with_hash(delta: Arc<Delta>, hash: TweakedHash) -> Self {
        Self {
            hash,
            delta,
            gates: 0,
            lane_gates: 0,
            lanes: LANES,
            tables: Vec::with_capacity(SEND_BYTES + LANES * TABLE_BYTES),
        }
    }

    /// The offset.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// AND gates so far, over all lanes.
    pub fn and_gates(&self) -> u64 {
        self.lane_gates
    }

    /// The tables that have been produced but not sent.
    pub fn tables(&self) -> &[u8] {
        &self.tables
    }

    /// Drops the tables, for a caller that sends them itself.
    pub fn clear_tables(&mut self) {
        self.tables.clear();
    }

    /// Sends the remaining tables and flushes the channel.
    pub fn finish(&mut self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        self.send_tables(channel)?;
        Ok(channel.flush()?)
    }

    fn send_tables(&mut self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        channel.send(&self.tables)?;
        self.tables.clear();
        Ok(())
    }
}

impl Circuit for Garbler {
    type Label = ZeroLabel;

    /// The evaluator's label of a constant is all zeros, so the label for 0 is 0 or Δ. That reveals nothing: the
    /// value is public, and the hash is secure for labels that the evaluator knows or chooses.
    fn constant(&self, bit: bool) -> ZeroLabel {
        ZeroLabel::default().flipped(bit, &self.delta)
    }

    fn set_lanes(&mut self, lanes: usize) {
        self.lanes = lanes.min(LANES);
    }

    #[inline]
    fn xor(&self, a: &Bundle<ZeroLabel>, b: &Bundle<ZeroLabel>) -> Bundle<ZeroLabel> {
        from_fn(|lane| a[lane] ^ b[lane])
    }

    #[inline]
    fn not(&self, a: &Bundle<ZeroLabel>) -> Bundle<ZeroLabel> {
        let delta = ZeroLabel(self.delta.block());
        from_fn(|lane| a[lane] ^ delta)
    }

    fn and(&mut self, a: &Bundle<ZeroLabel>, b: &Bundle<ZeroLabel>) -> Bundle<ZeroLabel> {
        let garbled = self
            .hash
            .garble(self.gates, a, b, self.delta.block(), self.lanes);
        self.gates += 1;
        self.lane_gates += self.lanes as u64;
        if self.lanes == LANES {
            // The common case, with a length known at compile time.
            push(&mut self.tables, &garbled.tables.garbler_half);
            push(&mut self.tables, &garbled.tables.evaluator_half);
        } else {
            push(&mut self.tables, &garbled.tables.garbler_half[..self.lanes]);
            push(
                &mut self.tables,
                &garbled.tables.evaluator_half[..self.lanes],
            );
        }
        garbled.zero.map(ZeroLabel)
    }
}

impl TwoPartyCircuit for Garbler {
    fn prepare(&mut self, _: usize, _: &mut dyn Channel) -> Result<(), MpcError> {
        Ok(())
    }

    fn finish_gates(&mut self, channel: &mut dyn Channel) -> Result<(), MpcError> {
        if self.tables.len() >= SEND_BYTES {
            self.send_tables(channel)?;
        }
        Ok(())
    }
}

#[inline]
fn push(tables: &mut Vec<u8>, blocks: &[Block]) {
    let start = tables.len();
    tables.resize(start + blocks.len() * BLOCK_BYTES, 0);
    let (slots, _) = tables[start..].as_chunks_mut::<BLOCK_BYTES>();
    for (slot, block) in slots.iter_mut().zip(blocks) {
        *slot = block.to_bytes();
    }
}

//! The evaluator, which consumes the tables.

use super::messages::TABLE_BYTES;
use crate::block::{BLOCK_BYTES, Block};
use crate::circuit::{Bundle, Circuit, LANES, TwoPartyCircuit};
use crate::error::MpcError;
use crate::hash::TweakedHash;
use crate::kernel::{Kernel, Lanes, Tables};
use crate::label::ActiveLabel;
use crate::worker_thread::WorkerThread;
use std::array::from_fn;
use veilpath_channel::Channel;

/// Evaluates garbled circuits, gate by gate in the garbler's order.
pub struct Evaluator {
    hash: TweakedHash,
    gates: u64,
    lane_gates: u64,
    lanes: usize,
    tables: Vec<u8>,
    used: usize,
    out_of_tables: bool,
}

impl Evaluator {
    /// Receives the hash key from the garbler.
    pub fn start(kernel: Kernel, channel: &mut dyn Channel) -> Result<Self, MpcError> {
        let mut hash_key = [0; BLOCK_BYTES];
        channel.receive(&mut hash_key)?;
        Ok(Self::new(kernel, Block::from_bytes(hash_key)))
    }

    /// An evaluator that already knows the hash key.
    pub fn new(kernel: Kernel, hash_key: Block) -> Self {
        Self::with_hash(TweakedHash::new(kernel, hash_key))
    }

    /// The evaluator of another worker thread. The first thread creates all others.
    pub(crate) fn for_thread(&self, thread: WorkerThread) -> Self {
        Self::with_hash(self.hash.for_thread(thread))
    }

    fn with_hash(hash: TweakedHash) -> Self {
        Self {
            hash,
            gates: 0,
            lane_gates: 0,
            lanes: LANES,
            tables: Vec::new(),
            used: 0,
            out_of_tables: false,
        }
    }

    /// AND gates so far, over all lanes.
    pub fn and_gates(&self) -> u64 {
        self.lane_gates
    }

    /// Adds tables that were received by other means than [`TwoPartyCircuit::prepare`].
    pub fn add_tables(&mut self, tables: &[u8]) {
        self.drop_used();
        self.tables.extend_from_slice(tables);
    }

    fn drop_used(&mut self) {
        self.tables.drain(..self.used);
        self.used = 0;
    }
}

impl Circuit for Evaluator {
    type Label = ActiveLabel;

    fn constant(&self, _: bool) -> ActiveLabel {
        ActiveLabel::default()
    }

    fn set_lanes(&mut self, lanes: usize) {
        self.lanes = lanes.min(LANES);
    }

    #[inline]
    fn xor(&self, a: &Bundle<ActiveLabel>, b: &Bundle<ActiveLabel>) -> Bundle<ActiveLabel> {
        from_fn(|lane| a[lane] ^ b[lane])
    }

    #[inline]
    fn not(&self, a: &Bundle<ActiveLabel>) -> Bundle<ActiveLabel> {
        *a
    }

    fn and(&mut self, a: &Bundle<ActiveLabel>, b: &Bundle<ActiveLabel>) -> Bundle<ActiveLabel> {
        let bytes = self.lanes * TABLE_BYTES;
        let Some(bytes) = self.tables.get(self.used..self.used + bytes) else {
            // The caller announced too few gates. Stored until `finish_gates`, so that gadgets need no error paths.
            self.out_of_tables = true;
            return [ActiveLabel::default(); LANES];
        };
        self.used += bytes.len();
        let mut tables = Tables::default();
        let (blocks, _) = bytes.as_chunks::<BLOCK_BYTES>();
        let (garbler_halves, evaluator_halves) = blocks.split_at(self.lanes);
        pull(garbler_halves, &mut tables.garbler_half);
        pull(evaluator_halves, &mut tables.evaluator_half);
        let out = self.hash.evaluate(self.gates, a, b, &tables, self.lanes);
        self.gates += 1;
        self.lane_gates += self.lanes as u64;
        out.map(ActiveLabel)
    }
}

impl TwoPartyCircuit for Evaluator {
    fn prepare(&mut self, and_gates: usize, channel: &mut dyn Channel) -> Result<(), MpcError> {
        let needed = and_gates * TABLE_BYTES;
        if self.tables.len() - self.used >= needed {
            return Ok(());
        }
        self.drop_used();
        let left = self.tables.len();
        self.tables.resize(needed, 0);
        Ok(channel.receive(&mut self.tables[left..])?)
    }

    fn finish_gates(&mut self, _: &mut dyn Channel) -> Result<(), MpcError> {
        if self.out_of_tables {
            return Err(MpcError::Misuse("more gates were evaluated than announced"));
        }
        Ok(())
    }
}

#[inline]
fn pull(from: &[[u8; BLOCK_BYTES]], to: &mut Lanes) {
    match <&[_; LANES]>::try_from(from) {
        // The common case, with a length known at compile time.
        Ok(all) => *to = all.map(Block::from_bytes),
        Err(_) => {
            for (to, from) in to.iter_mut().zip(from) {
                *to = Block::from_bytes(*from);
            }
        }
    }
}

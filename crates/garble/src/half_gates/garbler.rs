//! The side that makes the tables.

use super::messages::TABLE_BYTES;
use crate::aes_kernel::Kernel;
use crate::block::{BLOCK_BYTES, Block};
use crate::circuit::{Bundle, Circuit, LANES, Party};
use crate::error::GarbleError;
use crate::hash::TweakedHash;
use crate::label::{Delta, ZeroLabel, random_block};
use crate::transport::Transport;
use rand::CryptoRng;
use std::array::from_fn;
use std::sync::Arc;
use zeroize::Zeroize;

/// Tables travel when this much has come together.
const SEND_BYTES: usize = 64 << 10;

/// Garbles circuits under one offset. Gates get their tweaks by counting, so both sides must run the same gates in the
/// same order.
pub struct Garbler {
    delta: Arc<Delta>,
    hash: TweakedHash,
    mapped_delta: Block,
    half_gates: u64,
    lanes: usize,
    tables: Vec<u8>,
}

impl Garbler {
    /// Draws the start of the tweaks and tells the evaluator.
    pub fn start(
        delta: Arc<Delta>,
        kernel: Kernel,
        rng: &mut impl CryptoRng,
        transport: &mut impl Transport,
    ) -> Result<Self, GarbleError> {
        let tweak_start = random_block(rng);
        transport.send(&tweak_start.to_bytes())?;
        Ok(Self::new(delta, kernel, tweak_start))
    }

    /// A garbler whose evaluator knows the start of the tweaks already. A start is for one session only.
    pub fn new(delta: Arc<Delta>, kernel: Kernel, tweak_start: Block) -> Self {
        Self {
            hash: TweakedHash::new(kernel, tweak_start),
            mapped_delta: delta.block().orthomorphism(),
            delta,
            half_gates: 0,
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
        self.half_gates / 2
    }

    /// The tables made and not sent.
    pub fn tables(&self) -> &[u8] {
        &self.tables
    }

    /// Forgets the tables that were made, for whoever passes them on himself.
    pub fn clear_tables(&mut self) {
        self.tables.clear();
    }

    /// Sends what is left and makes sure that it is on its way.
    pub fn finish(&mut self, transport: &mut impl Transport) -> Result<(), GarbleError> {
        self.send_tables(transport)?;
        Ok(transport.flush()?)
    }

    fn send_tables(&mut self, transport: &mut impl Transport) -> Result<(), GarbleError> {
        transport.send(&self.tables)?;
        self.tables.clear();
        Ok(())
    }

    /// The gate in the first `lanes` lanes. Inlined with the usual number of lanes as a constant.
    #[inline(always)]
    fn and_in_lanes(
        &mut self,
        lanes: usize,
        a: &Bundle<ZeroLabel>,
        b: &Bundle<ZeroLabel>,
    ) -> Bundle<ZeroLabel> {
        let delta = self.delta.block();
        // The first half of each array is the garbler's half of the gates (hashes of a), the second the evaluator's (of b).
        let mut keys = [Block::ZERO; 2 * LANES];
        let mut mapped = [Block::ZERO; 2 * LANES];
        for lane in 0..lanes {
            let tweak = self.half_gates.wrapping_add(2 * lane as u64);
            keys[lane] = self.hash.key(tweak);
            keys[lanes + lane] = self.hash.key(tweak.wrapping_add(1));
            mapped[lane] = a[lane].0.orthomorphism();
            mapped[lanes + lane] = b[lane].0.orthomorphism();
        }
        self.half_gates = self.half_gates.wrapping_add(2 * lanes as u64);
        let mut zeros = [Block::ZERO; 2 * LANES];
        let mut ones = [Block::ZERO; 2 * LANES];
        self.hash.hash_both_mapped(
            &keys[..2 * lanes],
            &mapped[..2 * lanes],
            self.mapped_delta,
            &mut zeros[..2 * lanes],
            &mut ones[..2 * lanes],
        );

        let mut bytes = [0; LANES * TABLE_BYTES];
        let mut out = [ZeroLabel::default(); LANES];
        for lane in 0..lanes {
            let (a, b) = (a[lane].0, b[lane].0);
            let (ha0, ha1) = (zeros[lane], ones[lane]);
            let (hb0, hb1) = (zeros[lanes + lane], ones[lanes + lane]);
            let generator = ha0 ^ ha1 ^ (b.low_bit_mask() & delta);
            let evaluator = hb0 ^ hb1 ^ a;
            out[lane] = ZeroLabel(
                ha0 ^ (a.low_bit_mask() & generator) ^ hb0 ^ (b.low_bit_mask() & (evaluator ^ a)),
            );
            let table = &mut bytes[lane * TABLE_BYTES..(lane + 1) * TABLE_BYTES];
            table[..BLOCK_BYTES].copy_from_slice(&generator.to_bytes());
            table[BLOCK_BYTES..].copy_from_slice(&evaluator.to_bytes());
        }
        self.tables.extend_from_slice(&bytes[..lanes * TABLE_BYTES]);
        out
    }
}

impl Circuit for Garbler {
    type Label = ZeroLabel;

    /// The evaluator's label of a constant is all zeros, so the label for 0 is 0 or Δ. That shows her nothing: the
    /// value is public, and the hash is secure for labels that she knows or chooses.
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
        if self.lanes == LANES {
            self.and_in_lanes(LANES, a, b)
        } else {
            self.and_in_lanes(self.lanes, a, b)
        }
    }
}

impl Party for Garbler {
    fn prepare(&mut self, _: usize, _: &mut impl Transport) -> Result<(), GarbleError> {
        Ok(())
    }

    fn settle(&mut self, transport: &mut impl Transport) -> Result<(), GarbleError> {
        if self.tables.len() >= SEND_BYTES {
            self.send_tables(transport)?;
        }
        Ok(())
    }
}

impl Drop for Garbler {
    fn drop(&mut self) {
        self.mapped_delta.zeroize();
    }
}

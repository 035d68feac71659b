//! The side that uses the tables.

use super::messages::TABLE_BYTES;
use crate::aes_kernel::Kernel;
use crate::block::{BLOCK_BYTES, Block};
use crate::circuit::{Bundle, Circuit, LANES, Party};
use crate::error::GarbleError;
use crate::hash::TweakedHash;
use crate::label::ActiveLabel;
use crate::transport::Transport;
use std::array::from_fn;

/// Evaluates garbled circuits, gate by gate in the garbler's order.
pub struct Evaluator {
    hash: TweakedHash,
    half_gates: u64,
    lanes: usize,
    tables: Vec<u8>,
    used: usize,
    starved: bool,
}

impl Evaluator {
    /// Learns from the garbler where the tweaks start.
    pub fn start(kernel: Kernel, transport: &mut impl Transport) -> Result<Self, GarbleError> {
        let mut tweak_start = [0; BLOCK_BYTES];
        transport.receive(&mut tweak_start)?;
        Ok(Self::new(kernel, Block::from_bytes(tweak_start)))
    }

    /// An evaluator who knows the start of the tweaks already.
    pub fn new(kernel: Kernel, tweak_start: Block) -> Self {
        Self {
            hash: TweakedHash::new(kernel, tweak_start),
            half_gates: 0,
            lanes: LANES,
            tables: Vec::new(),
            used: 0,
            starved: false,
        }
    }

    /// AND gates so far, over all lanes.
    pub fn and_gates(&self) -> u64 {
        self.half_gates / 2
    }

    /// Takes over tables that came some other way than by [`Party::prepare`].
    pub fn add_tables(&mut self, tables: &[u8]) {
        self.drop_used();
        self.tables.extend_from_slice(tables);
    }

    fn drop_used(&mut self) {
        self.tables.drain(..self.used);
        self.used = 0;
    }

    #[inline(always)]
    fn and_in_lanes(
        &mut self,
        lanes: usize,
        a: &Bundle<ActiveLabel>,
        b: &Bundle<ActiveLabel>,
    ) -> Bundle<ActiveLabel> {
        let Some(tables) = self.tables.get(self.used..self.used + lanes * TABLE_BYTES) else {
            // The caller announced too few gates. Remembered until `settle`, so that gadgets need no error paths.
            self.starved = true;
            return [ActiveLabel::default(); LANES];
        };
        self.used += lanes * TABLE_BYTES;

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
        let mut hashes = [Block::ZERO; 2 * LANES];
        self.hash.hash_mapped(
            &keys[..2 * lanes],
            &mapped[..2 * lanes],
            &mut hashes[..2 * lanes],
        );

        let mut out = [ActiveLabel::default(); LANES];
        let (tables, _) = tables.as_chunks::<BLOCK_BYTES>();
        for lane in 0..lanes {
            let (a, b) = (a[lane].0, b[lane].0);
            let generator = Block::from_bytes(tables[2 * lane]);
            let evaluator = Block::from_bytes(tables[2 * lane + 1]);
            out[lane] = ActiveLabel(
                hashes[lane]
                    ^ (a.low_bit_mask() & generator)
                    ^ hashes[lanes + lane]
                    ^ (b.low_bit_mask() & (evaluator ^ a)),
            );
        }
        out
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
        if self.lanes == LANES {
            self.and_in_lanes(LANES, a, b)
        } else {
            self.and_in_lanes(self.lanes, a, b)
        }
    }
}

impl Party for Evaluator {
    fn prepare(
        &mut self,
        and_gates: usize,
        transport: &mut impl Transport,
    ) -> Result<(), GarbleError> {
        let wanted = and_gates * TABLE_BYTES;
        if self.tables.len() - self.used >= wanted {
            return Ok(());
        }
        self.drop_used();
        let had = self.tables.len();
        self.tables.resize(wanted, 0);
        Ok(transport.receive(&mut self.tables[had..])?)
    }

    fn settle(&mut self, _: &mut impl Transport) -> Result<(), GarbleError> {
        if self.starved {
            return Err(GarbleError::Misuse(
                "more gates were evaluated than announced",
            ));
        }
        Ok(())
    }
}

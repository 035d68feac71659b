//! A generator that shows what was drawn: whether every stage has its own offset.

use rand::{Rng, SeedableRng, TryCryptoRng, TryRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeSet;
use std::convert::Infallible;

/// Remembers everything that was drawn.
pub(crate) struct RecordingRng {
    rng: ChaCha20Rng,
    draws: Vec<Vec<u8>>,
}

impl RecordingRng {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rng: ChaCha20Rng::seed_from_u64(seed),
            draws: Vec::new(),
        }
    }

    /// Checks that this many stages have each drawn an offset and then the secrets of all base transfers.
    pub(crate) fn assert_offsets(&self, stages: usize) {
        // Each stage draws the same number of bytes, and its offset first.
        let lengths: Vec<usize> = self.draws.iter().map(Vec::len).collect();
        let of_stage = lengths.len() / stages;
        assert!(of_stage > 256, "two draws for each base transfer");
        let chunks = lengths.chunks(of_stage);
        assert!(chunks.clone().all(|stage| stage == &lengths[..of_stage]));
        assert_eq!((chunks.len(), lengths[0]), (stages, 16));
        let offsets: BTreeSet<&Vec<u8>> = self.draws.iter().step_by(of_stage).collect();
        assert_eq!(offsets.len(), stages);
    }
}

impl TryRng for RecordingRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.rng.fill_bytes(bytes);
        self.draws.push(bytes.to_vec());
        Ok(())
    }
}

impl TryCryptoRng for RecordingRng {}

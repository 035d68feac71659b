//! The paper's engine.

mod agreement;
mod cell;
mod key_holder;
mod masking;
mod matrix;
mod matrix_owner;
mod messages;
mod order;
mod recurrence;
mod substitutions;
#[cfg(test)]
mod tests;
mod workers;

pub(crate) use key_holder::host;
pub(crate) use matrix_owner::join;
pub use order::candidate_counts;

use crate::{ProtocolError, Revealed};
use serde::Serialize;
use veilpath_paillier::KeySize;

/// How the engine runs. Both sides must agree on all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PaillierOptions {
    #[serde(rename = "key_bits")]
    key_size: KeySize,
    batch: u32,
    packing: bool,
}

impl PaillierOptions {
    /// A key of 2048 bits, batches of up to 256 cells, packed.
    pub const DEFAULT: Self = Self {
        key_size: KeySize::Bits2048,
        batch: 256,
        packing: true,
    };
    /// The largest batch: it bounds what a peer can make us reserve.
    pub const MAX_BATCH: u32 = 4096;

    /// With a key of this size. The sizes below 2048 bits are too short to protect anything today and need consent.
    pub fn new(key_size: KeySize, allow_weak_key: bool) -> Result<Self, ProtocolError> {
        if key_size.is_weak() && !allow_weak_key {
            return Err(ProtocolError::Job(
                "a key below 2048 bits only serves to reproduce the paper's measurements; ask for it with --allow-weak-key",
            ));
        }
        Ok(Self {
            key_size,
            ..Self::DEFAULT
        })
    }

    /// At most so many cells per message. 1 is the paper: one comparison, one cell at a time.
    pub fn with_batch(self, batch: u32) -> Result<Self, ProtocolError> {
        if !(1..=Self::MAX_BATCH).contains(&batch) {
            return Err(ProtocolError::Job(
                "a batch has at least 1 and at most 4096 cells",
            ));
        }
        Ok(Self { batch, ..self })
    }

    /// Whether several masked values share a ciphertext. Without it every value has its own, as in the paper.
    #[must_use]
    pub fn with_packing(self, packing: bool) -> Self {
        Self { packing, ..self }
    }

    /// κ.
    pub fn key_size(self) -> KeySize {
        self.key_size
    }

    /// The most cells in a message.
    pub fn batch(self) -> u32 {
        self.batch
    }

    /// Whether masked values share ciphertexts.
    pub fn packing(self) -> bool {
        self.packing
    }
}

impl Default for PaillierOptions {
    fn default() -> Self {
        Self::DEFAULT
    }
}

pub(crate) fn revealed() -> Vec<Revealed> {
    Vec::new()
}

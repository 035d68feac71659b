//! Runs work on all cores, and provides its randomness.

use crate::{Observer, ProtocolError};
use rayon::prelude::*;
use std::sync::Arc;
use veilpath_paillier::{
    PublicKey, Randomizer, RandomizerSource, RandomizerTable, SecretKey, system_rng,
};

/// The number of ciphertexts that the SIMD kernel processes at once. Chunks of work are multiples of it.
pub(super) const LANES: usize = 8;

/// The number of chunks of a batch, if it is long enough to be split.
const CHUNKS: usize = 4;

/// From this many randomisers on, computing the tables costs less than they save.
const MIN_RANDOMIZERS_FOR_TABLE: u64 = 300;

/// Runs each chunk of work on one of the cores. The results are in the order of the chunks.
pub(super) fn on_all_cores<T: Send, O: Send>(
    observer: &dyn Observer,
    chunks: Vec<T>,
    work: impl Fn(T) -> Result<O, ProtocolError> + Sync,
) -> Result<Vec<O>, ProtocolError> {
    let one = |chunk: T| {
        let (mut chunk, mut result) = (Some(chunk), None);
        observer.work(&mut || result = chunk.take().map(&work));
        result.unwrap_or(Err(ProtocolError::Internal("work was not done")))
    };
    // One at a time, so that a core that is done takes the next chunk without waiting.
    chunks.into_par_iter().with_max_len(1).map(one).collect()
}

/// Splits a list into chunks of this length; the last may be shorter.
pub(super) fn into_chunks<T>(items: Vec<T>, length: usize) -> Vec<Vec<T>> {
    let mut items = items.into_iter();
    let chunk = || {
        let chunk: Vec<T> = items.by_ref().take(length.max(1)).collect();
        (!chunk.is_empty()).then_some(chunk)
    };
    std::iter::from_fn(chunk).collect()
}

/// How many of `cells` cells to give a core at a time, where `fill_the_lanes` cells fill its SIMD lanes once. Long
/// chunks share the inversions and divisors that each chunk needs once; short chunks leave no core idle.
pub(super) fn chunk_length(cells: usize, fill_the_lanes: usize) -> usize {
    let length = cells / CHUNKS / LANES * LANES;
    length.max(1).next_multiple_of(fill_the_lanes.max(1))
}

/// One side's source of randomisers: n-th powers that are uniform even to the key holder.
pub(super) struct Randomness(Arc<dyn RandomizerSource>);

impl Randomness {
    /// Randomisers from a given source.
    #[cfg(any(test, feature = "watch"))]
    pub(super) fn of(source: Arc<dyn RandomizerSource>) -> Self {
        Self(source)
    }

    /// The key holder's source, for about this many randomisers.
    pub(super) fn for_key_holder(
        key: &Arc<SecretKey>,
        expected: u64,
    ) -> Result<Self, ProtocolError> {
        if expected < MIN_RANDOMIZERS_FOR_TABLE {
            return Ok(Self(Arc::clone(key) as Arc<dyn RandomizerSource>));
        }
        let table = RandomizerTable::for_key_holder(key, &mut system_rng()?);
        Ok(Self(Arc::new(table)))
    }

    /// The matrix owner's source. The key holder can read the randomness of everything that it receives.
    pub(super) fn for_matrix_owner(key: &PublicKey, expected: u64) -> Result<Self, ProtocolError> {
        if expected < MIN_RANDOMIZERS_FOR_TABLE {
            return Ok(Self(Arc::new(key.clone())));
        }
        let table = RandomizerTable::for_other_side(key, &mut system_rng()?);
        Ok(Self(Arc::new(table)))
    }

    /// Fresh randomisers, each for one ciphertext.
    pub(super) fn draw(&self, count: usize) -> Result<Vec<Randomizer>, ProtocolError> {
        Ok(self.0.draw(count, &mut system_rng()?))
    }
}

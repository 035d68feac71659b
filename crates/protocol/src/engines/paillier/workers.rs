//! Work on all cores, and the source of its randomness.

use crate::{Observer, ProtocolError};
use rayon::prelude::*;
use std::sync::Arc;
use veilpath_paillier::{
    PublicKey, Randomizer, RandomizerSource, RandomizerTable, SecretKey, system_rng,
};

/// Ciphertexts that the wide kernel computes at once. Chunks of work are multiples of it.
pub(super) const LANES: usize = 8;

/// Pieces of a batch, if it is long enough to be split.
const PIECES: usize = 4;

/// From this many randomisers on, computing the tables costs less than they save.
const MIN_RANDOMIZERS_FOR_TABLE: u64 = 300;

/// Does each piece of work on one of the cores; the results are in the order of the pieces.
pub(super) fn on_all_cores<T: Send, O: Send>(
    observer: &dyn Observer,
    pieces: Vec<T>,
    work: impl Fn(T) -> Result<O, ProtocolError> + Sync,
) -> Result<Vec<O>, ProtocolError> {
    let one = |piece: T| {
        let (mut piece, mut result) = (Some(piece), None);
        observer.work(&mut || result = piece.take().map(&work));
        result.unwrap_or(Err(ProtocolError::Internal("work was not done")))
    };
    // One at a time: a core that is done takes the next piece and does not wait for others.
    pieces.into_par_iter().with_max_len(1).map(one).collect()
}

/// Splits a list into pieces of this length; the last may be shorter.
pub(super) fn pieces<T>(items: Vec<T>, length: usize) -> Vec<Vec<T>> {
    let mut items = items.into_iter();
    let piece = || {
        let piece: Vec<T> = items.by_ref().take(length.max(1)).collect();
        (!piece.is_empty()).then_some(piece)
    };
    std::iter::from_fn(piece).collect()
}

/// How many of `cells` cells to give a core at a time, where `lanes` fill its SIMD lanes once. Long pieces share the
/// inversions and divisors that each needs once; short ones leave no core idle.
pub(super) fn piece_length(cells: usize, fill_the_lanes: usize) -> usize {
    let length = cells / PIECES / LANES * LANES;
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

    /// For the key holder, which will need about this many.
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

    /// For the matrix owner. The key holder can read the randomness of everything that it receives.
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

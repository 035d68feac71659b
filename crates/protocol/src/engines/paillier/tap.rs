//! Observation points for an audit.

use super::order::CellPosition;
use super::run_parameters::RunParameters;
use crate::ProtocolError;
use veilpath_paillier::SecretKey;

/// Observes both sides. The engine uses `()`, which keeps nothing. The feature `watch` adds a tap that records, for
/// audits with both sides in one process.
pub(super) trait Tap: Sync {
    /// The key holder received the masked values of this many candidate sets.
    fn request(
        &self,
        agreed: &RunParameters,
        key: &SecretKey,
        masked: &[u8],
        sets: usize,
    ) -> Result<(), ProtocolError> {
        let _ = (agreed, key, masked, sets);
        Ok(())
    }

    /// The key holder sent encrypted substitution costs.
    fn substitutions(&self, bytes: &[u8]) {
        let _ = bytes;
    }

    /// The matrix owner masked the candidates of a matrix cell, or of a round in a local alignment (`None`).
    fn target(&self, pair: usize, cell: Option<CellPosition>) {
        let _ = (pair, cell);
    }
}

impl Tap for () {}

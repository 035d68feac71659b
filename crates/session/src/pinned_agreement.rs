//! Restricts a peer of an unattended host to one comparison.
//!
//! Scores of chosen scanpaths add up. A peer that could connect again with another cohort each time, while the host
//! waits for other peers, could base its next question on the last answer, and nobody at the host would have agreed to
//! more than the first. So the first agreement whose computation starts is the only one for this peer for as long as
//! the host runs. The start counts, not the end: a peer may know all answers when it closes the connection before its
//! last message.

use crate::{Limit, SessionError};
use std::sync::{Arc, OnceLock};

/// The one agreement that a peer may compute, once a computation has started. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct PinnedAgreement(Arc<OnceLock<[u8; 32]>>);

impl PinnedAgreement {
    /// Whether a computation has started.
    pub(crate) fn is_pinned(&self) -> bool {
        self.0.get().is_some()
    }

    /// Rejects every agreement but the pinned one.
    pub(crate) fn check(&self, agreement: &[u8; 32]) -> Result<(), SessionError> {
        match self.0.get() {
            Some(pinned) if pinned != agreement => Err(Limit::OtherAgreement.into()),
            _ => Ok(()),
        }
    }

    /// Pins this agreement: its computation starts.
    pub(crate) fn pin(&self, agreement: &[u8; 32]) -> Result<(), SessionError> {
        self.0.get_or_init(|| *agreement);
        self.check(agreement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_pinned_agreement_is_allowed() {
        let pinned = PinnedAgreement::default();
        pinned.check(&[1; 32]).unwrap();
        pinned.check(&[2; 32]).unwrap();
        assert!(!pinned.is_pinned());
        pinned.clone().pin(&[1; 32]).unwrap();
        assert!(pinned.is_pinned());
        pinned.check(&[1; 32]).unwrap();
        pinned.pin(&[1; 32]).unwrap();
        for rejected in [pinned.check(&[2; 32]), pinned.pin(&[2; 32])] {
            assert!(matches!(
                rejected,
                Err(SessionError::Limit(Limit::OtherAgreement))
            ));
        }
    }
}

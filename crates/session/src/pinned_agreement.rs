//! What a peer may ask of a host that nobody watches: one question.
//!
//! Scores of chosen scanpaths add up. A peer that could come again with another cohort each time, while the host waits for others,
//! could choose its next question by the last answer, and no person would have agreed to any but the first. So the agreement on which
//! work has begun is the only one for this peer, as long as the host runs. What counts is the beginning and not the end: a peer may know
//! all answers when it breaks the line before its last word.

use crate::SessionError;
use std::sync::{Arc, OnceLock};

/// What a peer is told that asks for something else.
const OTHER_AGREEMENT: &str = "this host has begun a comparison with this key, and that one alone can be gone on with; another cohort or plan needs another start of the host";

/// The agreement with one peer on which work has begun, if any has. Clones are the same.
#[derive(Clone, Debug, Default)]
pub struct PinnedAgreement(Arc<OnceLock<[u8; 32]>>);

impl PinnedAgreement {
    /// Whether work has begun on some agreement.
    pub(crate) fn is_pinned(&self) -> bool {
        self.0.get().is_some()
    }

    /// Refuses every agreement but the one on which work has begun.
    pub(crate) fn admit(&self, agreement: &[u8; 32]) -> Result<(), SessionError> {
        match self.0.get() {
            Some(begun) if begun != agreement => Err(SessionError::Limit(OTHER_AGREEMENT.into())),
            _ => Ok(()),
        }
    }

    /// Work begins on this one.
    pub(crate) fn begin(&self, agreement: &[u8; 32]) -> Result<(), SessionError> {
        self.0.get_or_init(|| *agreement);
        self.admit(agreement)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_begun_is_admitted() {
        let one = PinnedAgreement::default();
        one.admit(&[1; 32]).unwrap();
        one.admit(&[2; 32]).unwrap();
        assert!(!one.is_pinned());
        one.clone().begin(&[1; 32]).unwrap();
        assert!(one.is_pinned());
        one.admit(&[1; 32]).unwrap();
        one.begin(&[1; 32]).unwrap();
        for refused in [one.admit(&[2; 32]), one.begin(&[2; 32])] {
            assert!(matches!(refused, Err(SessionError::Limit(_))));
        }
    }
}

//! The numbers of a group answer, stored after the pairs.

use super::Journal;
use super::entry::Entry;
use crate::error::{InternalError, Misbehaviour, SessionError};

/// The first 16 bytes of a digest.
fn digest_prefix(digest: &[u8; 32]) -> [u64; 2] {
    let (words, _) = digest.as_chunks();
    [0, 1].map(|at: usize| words.get(at).map_or(0, |it| u64::from_le_bytes(*it)))
}

impl Journal {
    /// Whether this digest of the peer's groups and commitment matches the stored one, if there is one.
    pub(crate) fn check_group_digest(&self, digest: &[u8; 32]) -> Result<(), SessionError> {
        match self.peer_groups {
            Some(stored) if stored != digest_prefix(digest) => {
                Err(Misbehaviour::ChangedGroups.into())
            }
            _ => Ok(()),
        }
    }

    /// Durably stores the digest of the peer's groups and of its commitment to its part of the coins. It must equal the
    /// stored one, if there is one.
    pub(crate) fn store_group_digest(&mut self, digest: &[u8; 32]) -> Result<(), SessionError> {
        self.check_group_digest(digest)?;
        match self.peer_groups {
            Some(_) => Ok(()),
            None => self.append_synced([Entry::Groups(digest_prefix(digest))]),
        }
    }

    /// A number of a group answer, by its index after the pairs.
    pub(crate) fn number(&self, index: usize) -> Option<u64> {
        self.pairs.get(index)?.number
    }

    /// Stores a number of a group answer.
    pub(crate) fn store_number(&mut self, index: usize, number: u64) -> Result<(), SessionError> {
        match self.pairs.get(index).map(|state| state.number) {
            None => Err(InternalError::UnknownPair.into()),
            Some(Some(stored)) if stored == number => Ok(()),
            Some(Some(_)) => Err(Misbehaviour::ChangedAnswer.into()),
            Some(None) => {
                if let Err(error) = self.append_synced([Entry::Number(index, number)]) {
                    self.failure.get_or_insert(error);
                }
                Ok(())
            }
        }
    }
}

//! The numbers of an answer about groups, stored after the pairs.

use super::Journal;
use super::record::Record;
use crate::error::{InternalError, Misbehaviour, SessionError};

/// The first 16 bytes of a digest.
fn start_of(digest: &[u8; 32]) -> [u64; 2] {
    let (words, _) = digest.as_chunks();
    [0, 1].map(|at: usize| words.get(at).map_or(0, |it| u64::from_le_bytes(*it)))
}

impl Journal {
    /// Whether this digest of the peer's groups and commitment matches the stored one, if there is one.
    pub(crate) fn check_groups(&self, digest: &[u8; 32]) -> Result<(), SessionError> {
        match self.peer_groups {
            Some(known) if known != start_of(digest) => Err(Misbehaviour::ChangedGroups.into()),
            _ => Ok(()),
        }
    }

    /// Keeps the digest of the peer's groups and of its commitment to its part of the coins, durably; it must be the one that was
    /// kept before, if one was.
    pub(crate) fn keep_groups(&mut self, digest: &[u8; 32]) -> Result<(), SessionError> {
        self.check_groups(digest)?;
        match self.peer_groups {
            Some(_) => Ok(()),
            None => self.append_synced([Record::Groups(start_of(digest))]),
        }
    }

    /// A number of an answer about groups, by its place after the pairs.
    pub(crate) fn number(&self, place: usize) -> Option<u64> {
        self.pairs.get(place)?.number
    }

    /// Stores a number of an answer about groups.
    pub(crate) fn store_number(&mut self, place: usize, number: u64) -> Result<(), SessionError> {
        match self.pairs.get(place).map(|entry| entry.number) {
            None => Err(InternalError::UnknownPair.into()),
            Some(Some(known)) if known == number => Ok(()),
            Some(Some(_)) => Err(Misbehaviour::ChangedAnswer.into()),
            Some(None) => {
                if let Err(error) = self.append_synced([Record::Number(place, number)]) {
                    self.failure.get_or_insert(error);
                }
                Ok(())
            }
        }
    }
}

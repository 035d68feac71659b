//! The numbers of an answer about groups, stored after the pairs.

use super::Journal;
use super::record::Record;
use crate::error::{InternalError, Misbehaviour, SessionError};

impl Journal {
    /// Keeps the peer's commitment to its part of the coins, durably; it must be the one that it made before, if it did.
    pub(crate) fn keep_commitment(&mut self, commitment: &[u8; 32]) -> Result<(), SessionError> {
        let (words, _) = commitment.as_chunks();
        let start = [0, 1].map(|at: usize| words.get(at).map_or(0, |it| u64::from_le_bytes(*it)));
        match self.commitment {
            Some(known) if known == start => Ok(()),
            Some(_) => Err(Misbehaviour::InvalidCoins.into()),
            None => self.append_synced([Record::Commitment(start)]),
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

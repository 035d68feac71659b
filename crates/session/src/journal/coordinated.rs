//! The journal of a tile on both sides of a worker's connection to its coordinator.

use super::record::{RECORD, Record};
use super::{HEADER, Journal};
use crate::error::{BanReason, SessionError};
use crate::worker::CoordinatorLink;
use std::io::{Read, Seek, SeekFrom};

impl Journal {
    /// The records in the file, as they are stored.
    pub(crate) fn stored_records(&self) -> Result<Vec<u8>, SessionError> {
        let failed = |error| SessionError::io(&self.path, error);
        let Some(mut file) = self.file.as_ref() else {
            return Ok(Vec::new());
        };
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(HEADER as u64)).map_err(failed)?;
        let length = self.end.saturating_sub(HEADER as u64);
        file.take(length).read_to_end(&mut bytes).map_err(failed)?;
        file.seek(SeekFrom::Start(self.end)).map_err(failed)?;
        Ok(bytes)
    }

    /// Takes over records that a coordinator has stored; whether they are records of this journal.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> bool {
        bytes.len().is_multiple_of(RECORD)
            && bytes.chunks(RECORD).all(|bytes| {
                let record = Record::decode(&self.id, bytes);
                record.is_some_and(|record| self.apply_if_it_fits(&record))
            })
    }

    /// From now on the coordinator stores the records.
    pub(crate) fn keep_with(&mut self, coordinator: CoordinatorLink) {
        self.coordinator = Some(coordinator);
    }

    /// Tells the coordinator that the other side is banned, if there is one.
    pub(crate) fn report_ban(&mut self, reason: BanReason) -> Result<(), SessionError> {
        match &mut self.coordinator {
            None => Ok(()),
            Some(coordinator) => coordinator.ban(reason),
        }
    }

    #[cfg(test)]
    pub(crate) fn take_coordinator(&mut self) -> Option<CoordinatorLink> {
        self.coordinator.take()
    }

    /// Whether a coordinator stores the records.
    pub(crate) fn is_coordinated(&self) -> bool {
        self.coordinator.is_some()
    }
}

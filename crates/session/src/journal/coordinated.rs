//! The journal of a tile at both ends of a worker's connection to its coordinator.

use super::entry::{ENTRY_BYTES, Entry};
use super::{HEADER, Journal};
use crate::error::{BanReason, SessionError};
use crate::worker::CoordinatorLink;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

impl Journal {
    /// Whether the last entry of a journal says that both sides have everything. Nothing is stored after that.
    pub(crate) fn ends_complete(folder: &Path, id: &[u8; 32]) -> bool {
        let last = || -> std::io::Result<[u8; ENTRY_BYTES]> {
            let mut file = std::fs::File::open(super::path(folder, id))?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(ENTRY_BYTES as u64)))?;
            let mut entry = [0; ENTRY_BYTES];
            file.read_exact(&mut entry)?;
            Ok(entry)
        };
        last().is_ok_and(|entry| Entry::decode(id, &entry) == Some(Entry::Complete))
    }

    /// The bytes of all entries in the file.
    pub(crate) fn stored_bytes(&self) -> u64 {
        self.end.saturating_sub(HEADER as u64)
    }

    /// The next stored bytes from this offset.
    pub(crate) fn stored_part(
        &self,
        offset: u64,
        max_bytes: usize,
    ) -> Result<Vec<u8>, SessionError> {
        let failed = |error| SessionError::io(&self.path, error);
        let Some(mut file) = self.file.as_ref() else {
            return Ok(Vec::new());
        };
        let mut bytes = Vec::new();
        let start = HEADER as u64 + offset;
        file.seek(SeekFrom::Start(start)).map_err(failed)?;
        let length = self.end.saturating_sub(start).min(max_bytes as u64);
        file.take(length).read_to_end(&mut bytes).map_err(failed)?;
        file.seek(SeekFrom::Start(self.end)).map_err(failed)?;
        Ok(bytes)
    }

    /// Restores entries that a coordinator has stored. Returns whether they belong to this journal.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> bool {
        bytes.len().is_multiple_of(ENTRY_BYTES)
            && bytes.chunks(ENTRY_BYTES).all(|bytes| {
                let entry = Entry::decode(&self.id, bytes);
                entry.is_some_and(|entry| self.apply_if_valid(&entry))
            })
    }

    /// Lets the coordinator store the entries from now on.
    pub(crate) fn set_coordinator(&mut self, coordinator: CoordinatorLink) {
        self.coordinator = Some(coordinator);
    }

    /// Tells the coordinator, if there is one, that the other side was caught cheating. This uses a new connection, so it works even if the
    /// one that stores entries is lost.
    pub(crate) fn report(&self, reason: BanReason) -> Result<(), SessionError> {
        match &self.coordinator {
            None => Ok(()),
            Some(coordinator) => coordinator.report(reason),
        }
    }

    #[cfg(test)]
    pub(crate) fn take_coordinator(&mut self) -> Option<CoordinatorLink> {
        self.coordinator.take()
    }

    /// Whether a coordinator stores the entries.
    pub(crate) fn is_coordinated(&self) -> bool {
        self.coordinator.is_some()
    }
}

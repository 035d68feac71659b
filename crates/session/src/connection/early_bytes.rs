//! Limits the bytes that are queued before the peer has a session: a host has many connections, but few sessions.

use super::SharedConnection;
use std::sync::atomic::Ordering;
use std::time::Duration;
use veilpath_channel::ChannelError;

/// Bytes that may wait on a connection whose peer has no session: the first messages take less.
pub(crate) const EARLY_BYTES: usize = 64 << 10;

/// How often a blocked reader checks for room.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

impl SharedConnection {
    /// Lifts this limit. The limit of the queue still applies.
    pub(crate) fn end_early_limit(&self) {
        self.is_early.store(false, Ordering::Relaxed);
    }

    /// Notes that the owner has taken bytes.
    pub(crate) fn note_taken(&self, bytes: usize) {
        self.unread.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Waits until these bytes may be queued for the owner, and counts them.
    pub(super) fn wait_for_room(&self, bytes: usize) -> Result<(), ChannelError> {
        let is_full = || {
            self.is_early.load(Ordering::Relaxed)
                && self.unread.load(Ordering::Relaxed) >= EARLY_BYTES
                && self.closing_since.get().is_none()
        };
        while is_full() {
            self.check_deadline()?;
            std::thread::sleep(POLL_INTERVAL);
        }
        self.unread.fetch_add(bytes, Ordering::Relaxed);
        Ok(())
    }

    /// Bytes that wait for the owner.
    #[cfg(test)]
    pub(crate) fn unread(&self) -> usize {
        self.unread.load(Ordering::Relaxed)
    }
}

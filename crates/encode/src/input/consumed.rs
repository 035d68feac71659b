//! Counts what has been read, and lets callers stop reading.

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The problem that is reported when the caller stops reading.
pub(crate) const STOPPED: &str = "reading was stopped";

/// How much of all inputs has been consumed, and whether reading should stop.
#[derive(Debug, Default)]
pub(crate) struct Consumed {
    bytes: AtomicU64,
    stopped: AtomicBool,
}

impl Consumed {
    pub(crate) fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Makes the next read fail.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}

/// A file whose consumed bytes are counted.
pub(super) struct Counting {
    pub(super) file: File,
    pub(super) consumed: Arc<Consumed>,
}

impl Read for Counting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.consumed.is_stopped() {
            return Err(io::Error::other(STOPPED));
        }
        let read = self.file.read(buffer)?;
        self.consumed.add(read as u64);
        Ok(read)
    }
}

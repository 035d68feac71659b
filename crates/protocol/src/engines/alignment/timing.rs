//! Work that the observer may time, on this thread or another.

use crate::{Observer, ProtocolError};
use std::thread::ScopedJoinHandle;

/// Does a piece of work that the observer may time.
pub(in crate::engines) fn timed<T>(
    observer: &dyn Observer,
    work: impl FnOnce() -> Result<T, ProtocolError>,
) -> Result<T, ProtocolError> {
    let (mut work, mut result) = (Some(work), None);
    observer.work(&mut || result = work.take().map(|work| work()));
    result.unwrap_or(Err(ProtocolError::Internal("work was not done")))
}

/// Joins a worker thread and returns its result.
pub(in crate::engines) fn joined(
    thread: ScopedJoinHandle<'_, Result<(), ProtocolError>>,
) -> Result<(), ProtocolError> {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

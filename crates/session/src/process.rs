//! What this process tells the operating system about itself.

use crate::SessionError;
use crate::error::UsageError;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Keeps secrets out of core dumps: a crash writes none and, on Linux, other processes of this user cannot read this one's
/// memory. This affects the whole process, so the program decides, not a session.
pub fn disable_core_dumps() -> io::Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        setrlimit(Resource::Core, none)?;
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    }
    Ok(())
}

/// Files that this process needs for everything else.
const OTHER_FILES: u64 = 64;

/// The files reserved by this process.
static RESERVED: Mutex<u64> = Mutex::new(0);

/// Open files, connections included, that a server may need at the same time. A process that runs out of them while it
/// works loses connections and cannot write journals, so it reserves enough before it starts.
#[derive(Debug)]
pub(crate) struct OpenFiles(u64);

impl OpenFiles {
    /// Reserves this many, and raises the limit of the process if the system allows that.
    pub(crate) fn reserve(count: usize) -> Result<Self, SessionError> {
        let mut reserved = lock();
        let count = count as u64;
        let needed = reserved.saturating_add(count).saturating_add(OTHER_FILES);
        let limit = raise_limit(needed);
        if limit.is_some_and(|limit| limit < needed) {
            let limit = limit.unwrap_or(0);
            return Err(UsageError::TooManyFiles { needed, limit }.into());
        }
        *reserved = reserved.saturating_add(count);
        Ok(Self(count))
    }
}

impl Drop for OpenFiles {
    fn drop(&mut self) {
        let mut reserved = lock();
        *reserved = reserved.saturating_sub(self.0);
    }
}

fn lock() -> MutexGuard<'static, u64> {
    RESERVED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of files that this process may have open, at least `needed` if it may choose; `None` if there is no limit.
#[cfg(unix)]
fn raise_limit(needed: u64) -> Option<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < needed) {
        limit.current = Some(limit.maximum.map_or(needed, |most| most.min(needed)));
        // The system may have granted less.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    getrlimit(Resource::Nofile).current
}

#[cfg(not(unix))]
fn raise_limit(_needed: u64) -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_files_than_the_system_allows_are_refused() {
        let few = OpenFiles::reserve(10).unwrap();
        let error = OpenFiles::reserve(usize::MAX).unwrap_err();
        if cfg!(unix) {
            assert!(
                matches!(
                    error,
                    SessionError::Usage(UsageError::TooManyFiles { needed, limit }) if limit < needed
                ),
                "{error}"
            );
        }
        drop(few);
    }
}

//! The directory with a user's identity, journals and ledgers, and files that only their owner can read.

use crate::error::{BanReason, FileProblem, SessionError, UsageError};
use crate::{Fingerprint, ledger::LedgerFile};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The directory for what must outlive a session.
#[derive(Clone, Debug)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// This directory.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// `$VEILPATH_HOME`, or the system's directory for the state of a user's programs.
    pub fn for_user() -> Result<Self, SessionError> {
        let set = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let system = || {
            if cfg!(windows) {
                set("LOCALAPPDATA").map(|folder| folder.join("veilpath"))
            } else if cfg!(target_os = "macos") {
                set("HOME").map(|state_dir| state_dir.join("Library/Application Support/veilpath"))
            } else {
                set("XDG_STATE_HOME")
                    .or_else(|| set("HOME").map(|state_dir| state_dir.join(".local/state")))
                    .map(|folder| folder.join("veilpath"))
            }
        };
        set("VEILPATH_HOME")
            .or_else(system)
            .map(Self)
            .ok_or(UsageError::NoStateDir.into())
    }

    /// The default identity file.
    pub fn identity(&self) -> PathBuf {
        self.0.join("identity.pem")
    }

    /// Lets a banned peer in again. Returns why it was banned, if it was. Pairs that it started too often may be started again,
    /// too.
    pub fn lift_ban(&self, peer: Fingerprint) -> Result<Option<BanReason>, SessionError> {
        let mut reason = None;
        LedgerFile::of(Some(&self.ledgers()), peer).update(|ledger| {
            reason = ledger.banned.take();
            ledger.lifted = ledger.lifted.saturating_add(1);
            Ok(())
        })?;
        Ok(reason)
    }

    pub(crate) fn journals(&self) -> PathBuf {
        self.0.join("journals")
    }

    pub(crate) fn ledgers(&self) -> PathBuf {
        self.0.join("peers")
    }
}

/// Creates a directory (and its parents) that only its owner can read.
pub(crate) fn create_private_dir(folder: &Path) -> Result<(), SessionError> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder
        .create(folder)
        .map_err(|error| SessionError::io(folder, error))
}

/// Options to open a file for writing that only its owner can read.
pub(crate) fn private_file() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options
}

/// Replaces a file atomically: a crash leaves either the old content or the new one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), SessionError> {
    let failed = |error: io::Error| SessionError::io(path, error);
    let new = path.with_extension("new");
    let mut file = private_file()
        .create(true)
        .truncate(true)
        .open(&new)
        .map_err(failed)?;
    file.write_all(content)
        .and_then(|()| file.sync_all())
        .map_err(failed)?;
    drop(file);
    std::fs::rename(&new, path).map_err(failed)?;
    sync_parent_dir(path);
    Ok(())
}

/// Makes a new file name survive a power cut, where the system can do that.
pub(crate) fn sync_parent_dir(path: &Path) {
    if cfg!(unix)
        && let Some(folder) = path.parent()
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
}

/// Locks a file for this process.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), SessionError> {
    file.try_lock().map_err(|error| match error {
        std::fs::TryLockError::WouldBlock => SessionError::file(path, FileProblem::Locked),
        std::fs::TryLockError::Error(error) => SessionError::io(path, error),
    })
}

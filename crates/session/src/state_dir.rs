//! The folder in which a user's identity, journals and counts are kept, and files that are nobody else's business.

use crate::SessionError;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A folder for what must outlive a session.
#[derive(Clone, Debug)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// This folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// `$VEILPATH_HOME`, or where this system keeps such things for a user.
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
            .ok_or_else(|| {
                SessionError::Ours(
                    "there is no state_dir folder to keep the identity in; set VEILPATH_HOME to a folder"
                        .into(),
                )
            })
    }

    /// Where the identity is, unless the user says otherwise.
    pub fn identity(&self) -> PathBuf {
        self.0.join("identity.pem")
    }

    pub(crate) fn journals(&self) -> PathBuf {
        self.0.join("journals")
    }

    pub(crate) fn ledgers(&self) -> PathBuf {
        self.0.join("peers")
    }
}

/// Makes a folder (and those above it) that only its owner can look into.
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
        .map_err(|error| SessionError::file(folder, &error))
}

/// How a file that only its owner can read is opened for writing.
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

/// Puts a whole new content in a file's place, so that a crash leaves either the old one or the new one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> Result<(), SessionError> {
    let failed = |error: io::Error| SessionError::file(path, &error);
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

/// A name in a folder is only safe from a power cut once the folder is; where that cannot be asked for, nothing is lost
/// but a little safety.
pub(crate) fn sync_parent_dir(path: &Path) {
    if cfg!(unix)
        && let Some(folder) = path.parent()
        && let Ok(folder) = File::open(folder)
    {
        let _ = folder.sync_all();
    }
}

/// Takes a file for this process alone.
pub(crate) fn lock(file: &File, path: &Path) -> Result<(), SessionError> {
    file.try_lock().map_err(|error| match error {
        std::fs::TryLockError::WouldBlock => SessionError::bad_file(
            path,
            "another veilpath works with this file now; wait until it has ended",
        ),
        std::fs::TryLockError::Error(error) => SessionError::file(path, &error),
    })
}

//! A file of the state directory with one value as JSON, which several sessions may change.

use crate::SessionError;
use crate::error::{FileProblem, InternalError};
use crate::state_dir::{self, create_private_dir};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

/// The extension of the files.
pub(crate) const EXTENSION: &str = "json";

/// The extension of the file that is locked while it is replaced.
pub(crate) const GUARD: &str = "lock";

/// A value in a file; the default if there is no file.
pub(crate) trait Stored: Default + Serialize {
    /// Parses the content of a file.
    fn parse(text: &[u8]) -> Option<Self>;

    /// Sets the version before it is written.
    fn set_version(&mut self);
}

/// A value on disk; without a path, nothing is stored.
#[derive(Debug)]
pub(crate) struct LockedFile<T> {
    path: Option<PathBuf>,
    value: PhantomData<T>,
}

impl<T> Clone for LockedFile<T> {
    fn clone(&self) -> Self {
        Self::at(self.path.clone())
    }
}

impl<T> LockedFile<T> {
    pub(crate) fn at(path: Option<PathBuf>) -> Self {
        Self {
            path,
            value: PhantomData,
        }
    }
}

impl<T: Stored> LockedFile<T> {
    /// The stored value.
    pub(crate) fn read(&self) -> Result<T, SessionError> {
        match &self.path {
            None => Ok(T::default()),
            Some(path) => read(path),
        }
    }

    /// Changes the value, durably. An error of `change` leaves it unchanged.
    pub(crate) fn update(
        &self,
        change: impl FnOnce(&mut T) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let Some(path) = &self.path else {
            return change(&mut T::default());
        };
        let _guard = guard(path)?;
        let mut value: T = read(path)?;
        change(&mut value)?;
        value.set_version();
        let text = serde_json::to_vec(&value)
            .map_err(|error| InternalError::Serialise(error.to_string()))?;
        state_dir::replace(path, &text)
    }
}

/// Keeps others from changing a file until it is dropped. Locked briefly, so that two sessions with one peer do not overwrite each
/// other's counts.
pub(crate) fn guard(path: &Path) -> Result<File, SessionError> {
    if let Some(directory) = path.parent() {
        create_private_dir(directory)?;
    }
    let guard_path = path.with_extension(GUARD);
    let guard = state_dir::open_private(
        state_dir::private_file().create(true).truncate(false),
        &guard_path,
    )?;
    guard
        .lock()
        .map_err(|error| SessionError::io(&guard_path, error))?;
    Ok(guard)
}

/// A corrupted file is an error: an empty one instead would forget what a peer has learned.
fn read<T: Stored>(path: &Path) -> Result<T, SessionError> {
    let file = state_dir::open_private(OpenOptions::new().read(true), path);
    let mut text = Vec::new();
    match file {
        Ok(mut file) => file
            .read_to_end(&mut text)
            .map_err(|error| SessionError::io(path, error))?,
        Err(SessionError::File {
            problem: FileProblem::Io(error),
            ..
        }) if error.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
        Err(error) => return Err(error),
    };
    T::parse(&text).ok_or_else(|| SessionError::file(path, FileProblem::CorruptedLedger))
}

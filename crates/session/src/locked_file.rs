//! A file of the state folder with one value as JSON, which several sessions may change.

use crate::SessionError;
use crate::error::{FileProblem, InternalError};
use crate::state_dir::{self, create_private_dir};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The extension of the files.
pub(crate) const EXTENSION: &str = "json";

/// The extension of the guard file, which is locked while the file beside it is replaced.
pub(crate) const GUARD_EXTENSION: &str = "lock";

/// A value in a file; the default if there is no file.
pub(crate) trait Stored: Default + Serialize {
    /// Parses the content of a file.
    fn parse(text: &[u8]) -> Option<Self>;

    /// Sets the version before it is written.
    fn set_version(&mut self);
}

/// Whether a file is the same as before, as far as one can tell without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileState {
    bytes: u64,
    modified: Option<SystemTime>,
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
    /// The size of the file; 0 if there is none.
    pub(crate) fn bytes(&self) -> u64 {
        let metadata = self.path.as_ref().and_then(|path| path.metadata().ok());
        metadata.map_or(0, |it| it.len())
    }

    /// The stored value.
    pub(crate) fn read(&self) -> Result<T, SessionError> {
        match &self.path {
            None => Ok(T::default()),
            Some(path) => read(path),
        }
    }

    /// The stored value, if there is one and it has changed since it was `seen`. Two changes within a tick of the clock
    /// can be told apart only by the size of the file, so this is for values that grow with every change.
    pub(crate) fn read_if_changed(
        &self,
        seen: &mut Option<FileState>,
    ) -> Result<Option<T>, SessionError> {
        let Some(path) = &self.path else {
            return Ok(None);
        };
        // A network file system looks for changes when a file is opened, not whenever its metadata are asked for.
        let Some(file) = open(path)? else {
            return Ok(None);
        };
        let metadata = file.metadata();
        let metadata = metadata.map_err(|error| SessionError::io(path, error))?;
        let state = FileState {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        };
        if *seen == Some(state) {
            return Ok(None);
        }
        let value = parse(path, file)?;
        *seen = Some(state);
        Ok(Some(value))
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

/// Keeps others from changing a file until the guard is dropped, so that two sessions with one peer do not overwrite
/// each other's counts. Hold it only briefly.
pub(crate) fn guard(path: &Path) -> Result<File, SessionError> {
    if let Some(directory) = path.parent() {
        create_private_dir(directory)?;
    }
    let guard_path = path.with_extension(GUARD_EXTENSION);
    let guard = state_dir::open_private(
        state_dir::private_file().create(true).truncate(false),
        &guard_path,
    )?;
    guard
        .lock()
        .map_err(|error| SessionError::io(&guard_path, error))?;
    Ok(guard)
}

fn read<T: Stored>(path: &Path) -> Result<T, SessionError> {
    open(path)?.map_or_else(|| Ok(T::default()), |file| parse(path, file))
}

/// Opens a file, if there is one.
pub(crate) fn open(path: &Path) -> Result<Option<File>, SessionError> {
    match state_dir::open_private(OpenOptions::new().read(true), path) {
        Ok(file) => Ok(Some(file)),
        Err(SessionError::File {
            problem: FileProblem::Io(error),
            ..
        }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// A corrupted file is an error: treating it as empty would forget what a peer has learned.
fn parse<T: Stored>(path: &Path, mut file: File) -> Result<T, SessionError> {
    let mut text = Vec::new();
    file.read_to_end(&mut text)
        .map_err(|error| SessionError::io(path, error))?;
    T::parse(&text).ok_or_else(|| SessionError::file(path, FileProblem::CorruptedLedger))
}

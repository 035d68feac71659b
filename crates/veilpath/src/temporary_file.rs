//! Temporary files next to an output. A killed run leaves one behind; the next run that writes to the folder removes
//! it.
//!
//! A run locks its temporary file for as long as the file exists. Only unlocked files are removed.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::path::Path;
use tempfile::NamedTempFile;

const PREFIX: &str = ".veilpath-";

/// The number of random characters after the prefix.
const RANDOM_CHARS: usize = 6;

/// The number of attempts to create a file. Another run may remove it as abandoned before it is locked.
const ATTEMPTS: u32 = 16;

/// Creates a temporary file in a folder, after removing abandoned ones.
pub(crate) fn create(folder: &Path, permissions: Option<Permissions>) -> io::Result<NamedTempFile> {
    remove_abandoned(folder);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).rand_bytes(RANDOM_CHARS);
    if let Some(permissions) = permissions {
        builder.permissions(permissions);
    }
    for _ in 0..ATTEMPTS {
        let file = builder.tempfile_in(folder)?;
        // On a file system without locks, nobody can lock the file, so nobody removes it.
        let _ = file.as_file().lock();
        if file.path().exists() {
            return Ok(file);
        }
    }
    Err(io::ErrorKind::Interrupted.into())
}

fn remove_abandoned(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || !is_temporary(&entry.file_name()) {
            continue;
        }
        let path = entry.path();
        // Keep it locked until it is removed.
        if let Ok(file) = File::open(&path)
            && file.try_lock().is_ok()
        {
            let _ = std::fs::remove_file(&path);
        }
    }
}

fn is_temporary(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
    random.is_some_and(|random| {
        random.len() == RANDOM_CHARS && random.chars().all(|c| c.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // tests may panic

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// A killed process leaves the file behind, but its lock ends.
    #[test]
    fn files_of_killed_runs_are_removed_and_those_in_use_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (_, killed) = create(folder.path(), None).unwrap().keep().unwrap();
        let others = [".veilpath-notes", ".veilpath-1234567", "veilpath-abcdef"];
        for name in others {
            std::fs::write(folder.path().join(name), "mine").unwrap();
        }
        let in_use = create(folder.path(), None).unwrap();
        assert!(!killed.exists());
        let next = create(folder.path(), None).unwrap();
        assert!(in_use.path().exists() && next.path().exists());
        assert_eq!(names(folder.path()).len(), others.len() + 2);
    }
}

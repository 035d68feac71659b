//! Where a user's identity and state folder are.

use crate::Error;
use std::path::{Path, PathBuf};
use veilpath_session::{SessionError, StateDir, UsageError};

/// The identity file: the named one, or the user's default.
pub fn identity_file(named: Option<&Path>) -> Result<PathBuf, Error> {
    match named {
        Some(path) => Ok(path.to_path_buf()),
        None => Ok(state_dir(None)?.identity()),
    }
}

/// The user's state folder; for a user without a home directory, one next to the identity file. A folder that other users
/// may change is an error.
pub fn state_dir(identity: Option<&Path>) -> Result<StateDir, Error> {
    let state_dir = match (StateDir::for_user(), identity) {
        (Err(SessionError::Usage(UsageError::NoStateDir)), Some(identity)) => {
            let parent = identity.parent().map(PathBuf::from).unwrap_or_default();
            StateDir::at(parent.join("veilpath"))
        }
        (found, _) => found?,
    };
    state_dir.check()?;
    Ok(state_dir)
}

//! Who else may change a file or folder of the state folder.
//!
//! Limits depend on journals and ledgers. A user of the same machine who may replace them could make this side forget what it has
//! revealed. So a folder or file that belongs to somebody else, or that others may write, is refused. Only the state folder
//! and what is in it are checked, not the folders above it. On systems without Unix permissions nothing is checked.

use crate::error::SessionError;
use std::fs::Metadata;
use std::path::Path;

/// Refuses a folder that others may change. A missing one is fine.
pub(crate) fn check_folder(path: &Path) -> Result<(), SessionError> {
    match std::fs::metadata(path) {
        Ok(metadata) => check(path, &metadata),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(SessionError::io(path, error)),
    }
}

/// Refuses a file or folder that others may change.
#[cfg(unix)]
pub(crate) fn check(path: &Path, metadata: &Metadata) -> Result<(), SessionError> {
    use crate::error::FileProblem;
    use std::os::unix::fs::MetadataExt;
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    const ROOT: u32 = 0;
    let user = rustix::process::geteuid().as_raw();
    if metadata.uid() != user && metadata.uid() != ROOT {
        return Err(SessionError::file(path, FileProblem::OwnedByOther));
    }
    if metadata.mode() & WRITABLE_BY_OTHERS != 0 {
        return Err(SessionError::file(path, FileProblem::WritableByOthers));
    }
    Ok(())
}

/// Refuses a file or folder that others may change.
#[cfg(not(unix))]
pub(crate) fn check(_: &Path, _: &Metadata) -> Result<(), SessionError> {
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::error::FileProblem;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    #[allow(clippy::panic)] // a test's helper may fail the test
    fn problem(path: &Path) -> Option<FileProblem> {
        match check_folder(path) {
            Ok(()) => None,
            Err(SessionError::File { problem, .. }) => Some(problem),
            Err(other) => panic!("{other}"),
        }
    }

    #[test]
    fn files_writable_by_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for (mode, refused) in [
            (0o700, false),
            (0o755, false),
            (0o775, true),
            (0o757, true),
            (0o1777, true),
        ] {
            std::fs::set_permissions(folder.path(), Permissions::from_mode(mode)).unwrap();
            let found = problem(folder.path());
            let as_expected = match found {
                None => !refused,
                Some(FileProblem::WritableByOthers) => refused,
                Some(_) => false,
            };
            assert!(as_expected, "{mode:o}: {found:?}");
        }
        assert!(problem(&folder.path().join("missing")).is_none());
    }

    /// Only root can give a folder away, so this is tested where tests run as root.
    #[test]
    fn files_of_another_owner_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        if std::os::unix::fs::chown(folder.path(), Some(65_534), None).is_err() {
            return;
        }
        assert!(matches!(
            problem(folder.path()),
            Some(FileProblem::OwnedByOther)
        ));
    }
}

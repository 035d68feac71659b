//! Key files that a killed process left behind.

use crate::state_dir;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The extension of a key file that is being written starts with this; the process id follows.
pub(crate) const NEW_KEY_PREFIX: &str = "new-";

/// Removes key files that a killed process left unfinished. A process that is still writing one has locked it.
pub(crate) fn remove_abandoned(path: &Path) {
    for found in unfinished(path) {
        state_dir::remove_unlocked(&found, &found);
    }
}

/// Removes other copies of an identity. A process that was killed before it had removed the temporary name of its new key
/// leaves one.
pub(crate) fn remove_copies(path: &Path, identity: &[u8]) {
    for found in unfinished(path) {
        let content = std::fs::read(&found).ok().map(Zeroizing::new);
        if content.is_some_and(|it| *it == identity) {
            let _ = std::fs::remove_file(&found);
        }
    }
}

/// The temporary files of new keys for this path.
fn unfinished(path: &Path) -> Vec<PathBuf> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_new = |found: &PathBuf| {
        let extension = found.extension().and_then(|it| it.to_str());
        let process = extension.and_then(|it| it.strip_prefix(NEW_KEY_PREFIX));
        process.is_some_and(|id| id.parse::<u32>().is_ok())
            && found.file_stem() == path.file_stem()
            // The user may have named the identity itself like this.
            && found.file_name() != path.file_name()
    };
    entries.map(|entry| entry.path()).filter(is_new).collect()
}

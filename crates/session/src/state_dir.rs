//! The state folder, with a user's identity, journals and ledgers, and files that only their owner can read.

use crate::error::{BanReason, FileProblem, SessionError, UsageError};
use crate::{Fingerprint, ledger::LedgerFile, permissions};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The folder for everything that outlives a session.
#[derive(Clone, Debug)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// A state folder at this path.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// `$VEILPATH_HOME`, or the system's folder for the state of a user's programs.
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

    /// Refuses a folder that other users may change, and removes files that a killed process was writing.
    pub fn prepare(&self) -> Result<(), SessionError> {
        self.check()?;
        for (folder, guard) in [
            (self.journals(), crate::journal::EXTENSION),
            (self.ledgers(), crate::locked_file::GUARD_EXTENSION),
            (self.disclosures(), crate::locked_file::GUARD_EXTENSION),
            (self.agreements(), crate::locked_file::GUARD_EXTENSION),
        ] {
            for abandoned in entries(&folder, NEW_EXTENSION)? {
                remove_unlocked(&abandoned.with_extension(guard), &abandoned);
            }
        }
        Ok(())
    }

    /// Refuses a folder that other users may change.
    pub fn check(&self) -> Result<(), SessionError> {
        for folder in [
            &self.0,
            &self.journals(),
            &self.ledgers(),
            &self.disclosures(),
            &self.agreements(),
        ] {
            permissions::check_folder(folder)?;
        }
        Ok(())
    }

    /// The peers of earlier sessions.
    pub fn peers(&self) -> Result<Listing<KnownPeer>, SessionError> {
        self.check()?;
        let mut peers = Listing::default();
        for path in entries(&self.ledgers(), crate::locked_file::EXTENSION)? {
            let name = path.file_stem().and_then(|name| name.to_str());
            let Some(Ok(fingerprint)) = name.map(str::parse::<Fingerprint>) else {
                continue;
            };
            let ledger = LedgerFile::of(Some(&self.ledgers()), fingerprint).read();
            peers.add(ledger.map(|ledger| KnownPeer {
                fingerprint,
                max_comparisons: ledger.max_comparisons(),
                scanpaths: ledger.scanpaths(),
                banned: ledger.banned,
                stopped_tiles: ledger.reports(),
            }));
        }
        Ok(peers)
    }

    /// Bans a peer, until the ban is lifted. A peer without a ledger gets one.
    pub fn ban_peer(&self, peer: Fingerprint) -> Result<(), SessionError> {
        self.check()?;
        LedgerFile::of(Some(&self.ledgers()), peer).update(|ledger| {
            ledger.banned.get_or_insert(BanReason::ByUser);
            Ok(())
        })
    }

    /// Tiles of a peer that are stopped, because workers have reported that it cheated in them.
    pub fn stopped_tiles(&self, peer: Fingerprint) -> Result<usize, SessionError> {
        self.check()?;
        self.ledger_of(peer)?.inspect(|ledger| ledger.reports())
    }

    /// Why a peer is banned, if it is. A peer without a ledger is an error.
    pub fn ban(&self, peer: Fingerprint) -> Result<Option<BanReason>, SessionError> {
        self.check()?;
        Ok(self.ledger_of(peer)?.read()?.banned)
    }

    /// Lifts a ban, resumes stopped tiles, and allows more starts and journal entries. Returns the reason for the ban, if there was one.
    pub fn unblock(&self, peer: Fingerprint) -> Result<Option<BanReason>, SessionError> {
        self.check()?;
        let mut reason = None;
        self.ledger_of(peer)?.update(|ledger| {
            reason = ledger.banned.take();
            ledger.clear_reports();
            ledger.lifted = ledger.lifted.saturating_add(1);
            Ok(())
        })?;
        Ok(reason)
    }

    /// The ledger of a peer that has one.
    fn ledger_of(&self, peer: Fingerprint) -> Result<LedgerFile, SessionError> {
        let folder = self.ledgers();
        let file = LedgerFile::of(Some(&folder), peer);
        match file.exists() {
            true => Ok(file),
            false => Err(SessionError::file(&folder, FileProblem::NoLedger(peer))),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    pub(crate) fn journals(&self) -> PathBuf {
        self.0.join("journals")
    }

    /// Agreements on plans with tiles.
    pub(crate) fn agreements(&self) -> PathBuf {
        self.0.join("agreements")
    }

    pub(crate) fn ledgers(&self) -> PathBuf {
        self.0.join("peers")
    }
}

/// What a folder of the state folder contains. A damaged file does not hide the others.
#[derive(Debug)]
pub struct Listing<T> {
    /// What could be read.
    pub entries: Vec<T>,
    /// Why the other files could not be read.
    pub unreadable: Vec<SessionError>,
}

impl<T> Default for Listing<T> {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            unreadable: Vec::new(),
        }
    }
}

impl<T> Listing<T> {
    pub(crate) fn add(&mut self, entry: Result<T, SessionError>) {
        match entry {
            Ok(entry) => self.entries.push(entry),
            Err(error) => self.unreadable.push(error),
        }
    }
}

/// What the ledger says about a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownPeer {
    /// Its fingerprint.
    pub fingerprint: Fingerprint,
    /// The most comparisons with it of any scanpath of this side, over all sessions.
    pub max_comparisons: u64,
    /// Scanpaths of this side that were compared with it.
    pub scanpaths: usize,
    /// Why it is banned, if it is.
    pub banned: Option<BanReason>,
    /// Tiles that are stopped, because workers have reported that it cheated in them.
    pub stopped_tiles: usize,
}

/// The extension of a file that is being written and will replace another one.
pub(crate) const NEW_EXTENSION: &str = "new";

/// The files with this extension in a folder, in the order of their names; none where there is no folder.
pub(crate) fn entries(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, SessionError> {
    let failed = |error: io::Error| SessionError::io(folder, error);
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|found| found == extension) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Removes a file that an ended process was writing. A process that is still writing it has locked the guard.
pub(crate) fn remove_unlocked(guard: &Path, abandoned: &Path) {
    let guard = match File::open(guard) {
        Ok(guard) => Some(guard),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => return,
    };
    // Locked until it is removed.
    if guard.as_ref().is_none_or(|guard| guard.try_lock().is_ok()) {
        let _ = std::fs::remove_file(abandoned);
    }
}

/// Opens a file of the state folder, unless other users may change it.
pub(crate) fn open_private(options: &OpenOptions, path: &Path) -> Result<File, SessionError> {
    let failed = |error: io::Error| SessionError::io(path, error);
    let file = options.open(path).map_err(failed)?;
    permissions::check(path, &file.metadata().map_err(failed)?)?;
    Ok(file)
}

/// Whether this path still leads to an open file. Another process may have replaced the file since it was opened.
#[cfg(unix)]
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let id = |metadata: io::Result<std::fs::Metadata>| {
        let metadata = metadata.ok()?;
        Some((metadata.dev(), metadata.ino()))
    };
    let id_of_file = id(file.metadata());
    id_of_file.is_some() && id_of_file == id(std::fs::metadata(path))
}

/// This system has no inode numbers to compare.
#[cfg(not(unix))]
pub(crate) fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Creates a folder (and its parents) that only its owner can read.
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
    let new = path.with_extension(NEW_EXTENSION);
    let mut file = private_file()
        .create(true)
        .truncate(true)
        .open(&new)
        .map_err(failed)?;
    file.write_all(content)
        .and_then(|()| sync_data(&file))
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
    file.try_lock().map_err(|error| not_locked(path, error))
}

/// Keeps other processes from locking a file for themselves while it is read.
pub(crate) fn lock_shared(file: &File, path: &Path) -> Result<(), SessionError> {
    let locked = file.try_lock_shared();
    locked.map_err(|error| not_locked(path, error))
}

fn not_locked(path: &Path, error: TryLockError) -> SessionError {
    match error {
        TryLockError::WouldBlock => SessionError::file(path, FileProblem::Locked),
        TryLockError::Error(error) => SessionError::io(path, error),
    }
}

/// Syncs the content of a file.
pub(crate) fn sync_data(file: &File) -> io::Result<()> {
    file.sync_data()?;
    #[cfg(test)]
    LAST_SYNC.set(Some(file.metadata()?.len()));
    Ok(())
}

#[cfg(test)]
thread_local! {
    /// The length of the file that this thread synced last, when it did.
    pub(crate) static LAST_SYNC: std::cell::Cell<Option<u64>> = const { std::cell::Cell::new(None) };
}

#[cfg(test)]
mod tests;

//! The ledger of one peer on disk: a snapshot, and a log of what was counted since.
//!
//! A charge is durable before anything is revealed for it, and a plan with many tiles has many charges and a large
//! ledger. So a charge does not rewrite the ledger: it appends one line to the log, with the counts that it changes.
//! Every other change (a ban, the number of an agreement) replaces the snapshot. So does a log that has outgrown its
//! snapshot.
//!
//! **Crashes.** A snapshot has a random stamp, and a log starts with the stamp of the snapshot that it belongs to. A
//! new snapshot includes the log of the old one, and names its stamp: a log with that stamp is ignored until the first
//! charge replaces it. A line that a crash has truncated was not synced, so nothing was revealed for it; it is
//! overwritten.
//!
//! **Lost files.** The first log is created before the first snapshot. So a log that is missing, has lost its first
//! line, or belongs to any other snapshot is an error, and so is a log of counts without a snapshot: to continue would
//! forget what the peer has learned.
//!
//! **Several processes.** A process that changes a ledger holds the lock of its guard file. All clones of a file share
//! a cache: only the stamp and what others have appended since are read again.

use super::Ledger;
use crate::digests::nonce;
use crate::error::{FileProblem, InternalError, SessionError};
use crate::locked_file::{self, EXTENSION, Stored};
use crate::{Fingerprint, state_dir};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The extension of a log, beside the snapshot.
pub(crate) const LOG: &str = "log";

/// Bytes of a log that are kept however small its snapshot is.
const MIN_LOG: u64 = 1 << 20;

/// The stamp of a snapshot is within this many bytes from its start.
const STAMP_PREFIX_BYTES: u64 = 128;

/// How often a read is retried when other processes replace the ledger.
const MAX_READS: usize = 100;

/// The ledger of one peer; without a path, nothing is stored.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFile {
    path: Option<PathBuf>,
    cached: Arc<Mutex<Option<Cached>>>,
}

/// The ledger as it was last read or written.
#[derive(Debug, Default)]
struct Cached {
    ledger: Ledger,
    /// The stamp of the snapshot; `None` if there is no snapshot.
    stamp: Option<String>,
    snapshot_bytes: u64,
    /// Where the last line read from the log ends; 0 if the log belongs to an earlier snapshot.
    log_end: u64,
}

/// A line of the log: the counts of one agreement or tile that have changed.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Counted {
    pub(super) agreement: String,
    pub(super) about_any: bool,
    /// The comparisons of each scanpath under this agreement.
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) default_limits: BTreeMap<String, u64>,
}

impl LedgerFile {
    /// The ledger in this file.
    pub(crate) fn at(path: Option<PathBuf>) -> Self {
        Self {
            path,
            cached: Arc::default(),
        }
    }

    /// The ledger of a peer in this directory.
    pub(crate) fn of(directory: Option<&Path>, peer: Fingerprint) -> Self {
        Self::at(directory.map(|directory| directory.join(format!("{}.{EXTENSION}", peer.plain()))))
    }

    /// Whether the file exists.
    pub(crate) fn exists(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.exists())
    }

    /// Reads the whole ledger.
    pub(crate) fn read(&self) -> Result<Ledger, SessionError> {
        self.inspect(Clone::clone)
    }

    /// Reads something from the ledger.
    pub(crate) fn inspect<T>(&self, look: impl FnOnce(&Ledger) -> T) -> Result<T, SessionError> {
        match &self.path {
            None => Ok(look(&Ledger::default())),
            Some(path) => Ok(look(&refresh(&mut self.cached(), path)?.ledger)),
        }
    }

    /// Changes the ledger, durably. An error of `change` leaves it as it was.
    pub(crate) fn update(
        &self,
        change: impl FnOnce(&mut Ledger) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let Some(path) = &self.path else {
            return change(&mut Ledger::default());
        };
        let _guard = locked_file::guard(path)?;
        let mut cached = self.cached();
        refresh(&mut cached, path)?;
        // After a failure the cached state is dropped and read again.
        let mut current = cached.take().unwrap_or_default();
        change(&mut current.ledger)?;
        *cached = Some(replace(path, current)?);
        Ok(())
    }

    /// Counts something, durably. An error of `count` leaves everything as it was.
    pub(super) fn count(
        &self,
        count: impl FnOnce(&Ledger) -> Result<Counted, SessionError>,
    ) -> Result<(), SessionError> {
        let Some(path) = &self.path else {
            return count(&Ledger::default()).map(|_| ());
        };
        let _guard = locked_file::guard(path)?;
        let mut cached = self.cached();
        let current = refresh(&mut cached, path)?;
        let counted = count(&current.ledger)?;
        let is_short = current.log_end < current.snapshot_bytes.max(MIN_LOG);
        match current.stamp.clone() {
            Some(stamp) if is_short => {
                if counted.counts.is_empty() {
                    return Ok(());
                }
                current.log_end = append(path, &stamp, current.log_end, &counted)?;
                current.ledger.apply(counted);
            }
            _ => {
                let mut current = cached.take().unwrap_or_default();
                current.ledger.apply(counted);
                *cached = Some(replace(path, current)?);
            }
        }
        Ok(())
    }

    fn cached(&self) -> MutexGuard<'_, Option<Cached>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ledger {
    fn apply(&mut self, counted: Counted) {
        let Counted {
            agreement,
            about_any,
            counts,
            default_limits,
        } = counted;
        for (name, count) in counts {
            let agreements = self.scanpaths.entry(name).or_default();
            agreements.insert(agreement.clone(), count);
        }
        for (name, limit) in default_limits {
            let smallest = self.default_limits.entry(name).or_insert(limit);
            *smallest = limit.min(*smallest);
        }
        if about_any {
            self.about_any.insert(agreement);
        }
    }
}

/// Reads what has changed.
fn refresh<'a>(
    cached: &'a mut Option<Cached>,
    path: &Path,
) -> Result<&'a mut Cached, SessionError> {
    for _ in 0..MAX_READS {
        let stamp = stamp(path)?;
        let is_current = |it: &Cached| it.stamp == stamp;
        let mut current = match cached.take().filter(is_current) {
            Some(current) => current,
            None => load(path, stamp.clone())?,
        };
        let read = read_log(path, &mut current);
        // If the snapshot was replaced in the meantime, the log may not belong to it.
        if self::stamp(path)? == stamp && read? {
            return Ok(cached.insert(current));
        }
    }
    Err(SessionError::file(path, FileProblem::Locked))
}

/// The stamp of the snapshot.
fn stamp(path: &Path) -> Result<Option<String>, SessionError> {
    let Some(file) = locked_file::open(path)? else {
        return Ok(None);
    };
    let mut start = Vec::new();
    file.take(STAMP_PREFIX_BYTES)
        .read_to_end(&mut start)
        .map_err(|error| SessionError::io(path, error))?;
    let start = String::from_utf8_lossy(&start);
    let stamp = start.split_once(r#""stamp":""#).map(|(_, rest)| rest);
    match stamp.and_then(|rest| rest.split_once('"')) {
        Some((stamp, _)) => Ok(Some(stamp.to_string())),
        None => Err(corrupted(path)),
    }
}

/// A corrupted file is an error: treating it as empty would forget what a peer has learned.
fn load(path: &Path, stamp: Option<String>) -> Result<Cached, SessionError> {
    let mut text = Vec::new();
    let ledger = match locked_file::open(path)? {
        None => Some(Ledger::default()),
        Some(mut file) => {
            file.read_to_end(&mut text)
                .map_err(|error| SessionError::io(path, error))?;
            Ledger::parse(&text)
        }
    };
    Ok(Cached {
        ledger: ledger.ok_or_else(|| corrupted(path))?,
        stamp,
        snapshot_bytes: text.len() as u64,
        log_end: 0,
    })
}

/// Reads what was appended; `false` if the log is not the one that was read before.
fn read_log(path: &Path, cached: &mut Cached) -> Result<bool, SessionError> {
    let path = path.with_extension(LOG);
    let failed = |error| SessionError::io(&path, error);
    let file = locked_file::open(&path)?;
    let mut start = Vec::new();
    if let Some(file) = &file {
        let mut begin = file.take(STAMP_PREFIX_BYTES);
        begin.read_to_end(&mut start).map_err(failed)?;
    }
    let Some(stamp) = &cached.stamp else {
        // A crash before the first snapshot leaves a log of one line.
        let mut lines = start.split_inclusive(|&byte| byte == b'\n');
        return match lines.nth(1) {
            None => Ok(true),
            Some(_) => Err(corrupted(&path)),
        };
    };
    let Some(mut file) = file else {
        return Err(SessionError::file(&path, FileProblem::NoLedgerLog));
    };
    let first = header(stamp);
    if !start.starts_with(first.as_bytes()) {
        let included = header(&cached.ledger.included_log);
        return match cached.log_end == 0 && start.starts_with(included.as_bytes()) {
            true => Ok(true),
            false => Err(corrupted(&path)),
        };
    }
    let mut end = cached.log_end.max(first.len() as u64);
    // A line that could not be synced was removed, and another one may have replaced it.
    let mut before = [0];
    file.seek(SeekFrom::Start(end - 1)).map_err(failed)?;
    if file.read(&mut before).map_err(failed)? == 0 || before != *b"\n" {
        return Ok(false);
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(failed)?;
    end += apply_lines(&mut cached.ledger, &text).ok_or_else(|| corrupted(&path))? as u64;
    cached.log_end = end;
    Ok(true)
}

/// Adds the lines of a log; returns where the last complete one ends, or `None` if one before the last is corrupted.
pub(crate) fn apply_lines(ledger: &mut Ledger, text: &[u8]) -> Option<usize> {
    let mut end = 0;
    let mut lines = text.split_inclusive(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        match serde_json::from_slice(line) {
            Ok(counted) if line.ends_with(b"\n") => ledger.apply(counted),
            // Only the last line can be one that was not synced.
            _ if lines.peek().is_some() => return None,
            _ => break,
        }
        end += line.len();
    }
    Some(end)
}

/// Appends a line to the log, durably; returns where it ends. The first line replaces the log of another snapshot.
fn append(path: &Path, stamp: &str, end: u64, counted: &Counted) -> Result<u64, SessionError> {
    let path = path.with_extension(LOG);
    let failed = |error| SessionError::io(&path, error);
    let mut line =
        serde_json::to_vec(counted).map_err(|error| InternalError::Serialise(error.to_string()))?;
    line.push(b'\n');
    if end == 0 {
        let text = [header(stamp).as_bytes(), &line].concat();
        state_dir::replace(&path, &text)?;
        return Ok(text.len() as u64);
    }
    let mut file = state_dir::open_private(OpenOptions::new().write(true), &path)?;
    // A killed process may have left a partial line.
    file.set_len(end).map_err(failed)?;
    file.seek(SeekFrom::Start(end)).map_err(failed)?;
    let written = file.write_all(&line);
    let written = written.and_then(|()| state_dir::sync_data(&file));
    if let Err(error) = written {
        let _ = file.set_len(end);
        return Err(failed(error));
    }
    Ok(end + line.len() as u64)
}

/// Writes a new snapshot, which includes the log of the current one.
fn replace(path: &Path, current: Cached) -> Result<Cached, SessionError> {
    let Cached {
        mut ledger,
        stamp,
        log_end,
        ..
    } = current;
    ledger.set_version();
    ledger.stamp = nonce()?;
    match stamp {
        None => state_dir::replace(&path.with_extension(LOG), header(&ledger.stamp).as_bytes())?,
        Some(stamp) if log_end > 0 => ledger.included_log = stamp,
        // The log is still the one that the current snapshot includes.
        Some(_) => {}
    }
    let text =
        serde_json::to_vec(&ledger).map_err(|error| InternalError::Serialise(error.to_string()))?;
    state_dir::replace(path, &text)?;
    Ok(Cached {
        stamp: Some(ledger.stamp.clone()),
        ledger,
        snapshot_bytes: text.len() as u64,
        log_end: 0,
    })
}

fn header(stamp: &str) -> String {
    format!("veilpath ledger log {stamp}\n")
}

fn corrupted(path: &Path) -> SessionError {
    SessionError::file(path, FileProblem::CorruptedLedger)
}

#[cfg(test)]
mod tests;

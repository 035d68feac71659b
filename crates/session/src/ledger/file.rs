//! The ledger of one peer on disk: a snapshot, and a log of what was counted since.
//!
//! A charge is durable before anything is revealed for it, and a plan with many tiles has many charges and a large ledger. So a charge
//! does not write the ledger again: it appends one line to the log, with the counts that it changes. Everything else that changes (a ban,
//! the number of an agreement) replaces the snapshot, and so does a log that has outgrown it.
//!
//! **Kills.** A snapshot has a random stamp, and a log starts with the stamp of the snapshot that it belongs to. A new snapshot contains
//! what the log of the old one said, and that log, which has another stamp, is ignored from then on. A line that a crash has cut off was not
//! synced, so nothing was revealed for it; it is overwritten.
//!
//! **Several processes.** A process that changes a ledger holds the lock of its guard file. All clones of a file share what was read: only the stamp and
//! what others have appended since is read again.

use super::Ledger;
use crate::digests::nonce;
use crate::error::{FileProblem, InternalError, SessionError};
use crate::locked_file::{self, EXTENSION, Stored};
use crate::{Fingerprint, state_dir};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The extension of a log, beside the snapshot.
pub(crate) const LOG: &str = "log";

/// Bytes of a log that are kept however small its snapshot is.
const MIN_LOG: u64 = 1 << 20;

/// The bytes at the start of a snapshot that have its stamp.
const START: u64 = 128;

/// How often a read is retried when other processes replace the ledger.
const MAX_READS: usize = 100;

/// The ledger of one peer; without a path, nothing is stored.
#[derive(Clone, Debug)]
pub(crate) struct LedgerFile {
    path: Option<PathBuf>,
    known: Arc<Mutex<Option<Known>>>,
}

/// What was read.
#[derive(Debug)]
struct Known {
    ledger: Ledger,
    /// The stamp of the snapshot; `None` where there is no snapshot, or one without a stamp.
    stamp: Option<String>,
    snapshot_bytes: u64,
    /// Where the last line of the log ends that was read; 0 where the snapshot has no log.
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
            known: Arc::default(),
        }
    }

    /// The ledger of a peer in this directory.
    pub(crate) fn of(directory: Option<&Path>, peer: Fingerprint) -> Self {
        Self::at(directory.map(|directory| directory.join(format!("{}.{EXTENSION}", peer.plain()))))
    }

    /// Whether there is one.
    pub(crate) fn exists(&self) -> bool {
        self.path.as_ref().is_some_and(|path| path.exists())
    }

    /// What it contains.
    pub(crate) fn read(&self) -> Result<Ledger, SessionError> {
        self.inspect(Clone::clone)
    }

    /// Reads something from the ledger.
    pub(crate) fn inspect<T>(&self, look: impl FnOnce(&Ledger) -> T) -> Result<T, SessionError> {
        match &self.path {
            None => Ok(look(&Ledger::default())),
            Some(path) => Ok(look(&refresh(&mut self.known(), path)?.ledger)),
        }
    }

    /// Changes it, durably. An error of `change` leaves it as it was.
    pub(crate) fn update(
        &self,
        change: impl FnOnce(&mut Ledger) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        let Some(path) = &self.path else {
            return change(&mut Ledger::default());
        };
        let _guard = locked_file::guard(path)?;
        let mut known = self.known();
        refresh(&mut known, path)?;
        // After a failure the cached state is dropped and read again.
        let mut ledger = known.take().map(|it| it.ledger).unwrap_or_default();
        change(&mut ledger)?;
        *known = Some(replace(path, ledger)?);
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
        let mut known = self.known();
        let current = refresh(&mut known, path)?;
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
                let mut ledger = known.take().map(|it| it.ledger).unwrap_or_default();
                ledger.apply(counted);
                *known = Some(replace(path, ledger)?);
            }
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, Option<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
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
fn refresh<'a>(known: &'a mut Option<Known>, path: &Path) -> Result<&'a mut Known, SessionError> {
    for _ in 0..MAX_READS {
        let stamp = stamp(path)?;
        let is_current = |it: &Known| it.stamp.is_some() && it.stamp == stamp;
        let mut current = match known.take().filter(is_current) {
            Some(current) => current,
            None => load(path, stamp.clone())?,
        };
        // Unless the snapshot was replaced before its log was read.
        if read_log(path, &mut current)? && self::stamp(path)? == stamp {
            return Ok(known.insert(current));
        }
    }
    Err(SessionError::file(path, FileProblem::Locked))
}

/// The stamp of the snapshot.
fn stamp(path: &Path) -> Result<Option<String>, SessionError> {
    let Some(file) = open(path)? else {
        return Ok(None);
    };
    let mut start = Vec::new();
    file.take(START)
        .read_to_end(&mut start)
        .map_err(|error| SessionError::io(path, error))?;
    let start = String::from_utf8_lossy(&start);
    let stamp = start.split_once(r#""stamp":""#).map(|(_, rest)| rest);
    let stamp = stamp.and_then(|rest| rest.split_once('"'));
    Ok(stamp.map(|(stamp, _)| stamp.to_string()))
}

/// A corrupted file is an error: an empty one instead would forget what a peer has learned.
fn load(path: &Path, stamp: Option<String>) -> Result<Known, SessionError> {
    let mut text = Vec::new();
    let ledger = match open(path)? {
        None => Some(Ledger::default()),
        Some(mut file) => {
            file.read_to_end(&mut text)
                .map_err(|error| SessionError::io(path, error))?;
            Ledger::parse(&text)
        }
    };
    Ok(Known {
        ledger: ledger.ok_or_else(|| corrupted(path))?,
        stamp,
        snapshot_bytes: text.len() as u64,
        log_end: 0,
    })
}

/// Reads what was appended; `false` if the log is not the one that was read before.
fn read_log(path: &Path, known: &mut Known) -> Result<bool, SessionError> {
    let path = path.with_extension(LOG);
    let failed = |error| SessionError::io(&path, error);
    let Some(stamp) = &known.stamp else {
        return Ok(true);
    };
    let Some(mut file) = open(&path)? else {
        return Ok(known.log_end == 0);
    };
    let first = header(stamp);
    let mut start = Vec::new();
    let mut begin = (&file).take(first.len() as u64);
    begin.read_to_end(&mut start).map_err(failed)?;
    if start != first.as_bytes() {
        return Ok(known.log_end == 0);
    }
    let mut end = known.log_end.max(first.len() as u64);
    // A line that could not be synced was removed, and another one may have replaced it.
    let mut before = [0];
    file.seek(SeekFrom::Start(end - 1)).map_err(failed)?;
    if file.read(&mut before).map_err(failed)? == 0 || before != *b"\n" {
        return Ok(false);
    }
    let mut text = Vec::new();
    file.read_to_end(&mut text).map_err(failed)?;
    let mut lines = text.split_inclusive(|&byte| byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        match serde_json::from_slice(line) {
            Ok(counted) if line.ends_with(b"\n") => known.ledger.apply(counted),
            // Only the last line can be one that was not synced.
            _ if lines.peek().is_some() => return Err(corrupted(&path)),
            _ => break,
        }
        end += line.len() as u64;
    }
    known.log_end = end;
    Ok(true)
}

/// Appends a line to the log, durably; returns where it ends. A snapshot without a log gets one.
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
    let written = file.write_all(&line).and_then(|()| file.sync_data());
    if let Err(error) = written {
        let _ = file.set_len(end);
        return Err(failed(error));
    }
    Ok(end + line.len() as u64)
}

/// Writes a new snapshot.
fn replace(path: &Path, mut ledger: Ledger) -> Result<Known, SessionError> {
    ledger.set_version();
    ledger.stamp = nonce()?;
    let text =
        serde_json::to_vec(&ledger).map_err(|error| InternalError::Serialise(error.to_string()))?;
    state_dir::replace(path, &text)?;
    Ok(Known {
        stamp: Some(ledger.stamp.clone()),
        ledger,
        snapshot_bytes: text.len() as u64,
        log_end: 0,
    })
}

fn header(stamp: &str) -> String {
    format!("veilpath ledger log {stamp}\n")
}

fn open(path: &Path) -> Result<Option<std::fs::File>, SessionError> {
    match state_dir::open_private(OpenOptions::new().read(true), path) {
        Ok(file) => Ok(Some(file)),
        Err(SessionError::File {
            problem: FileProblem::Io(error),
            ..
        }) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn corrupted(path: &Path) -> SessionError {
    SessionError::file(path, FileProblem::CorruptedLedger)
}

#[cfg(test)]
mod tests;

//! The record of a state folder: finding what was signed, and appending.

use super::line::{ChainedLine, RecordEntry, SessionEntry};
use super::statement::{Disclosure, Signed, Step};
use super::verify::{MAX_BYTES, RecordProblem, SignedRecord};
use crate::error::{FileProblem, SessionError};
use crate::state_dir::{self, create_private_dir};
use crate::{Identity, StateDir};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use veilpath_protocol::Role;

/// The record of a state folder or, where nothing is stored, none.
#[derive(Clone, Debug)]
pub(crate) struct RecordFile(Option<PathBuf>);

impl RecordFile {
    pub(crate) fn of(state_dir: Option<&StateDir>) -> Self {
        Self(state_dir.map(StateDir::record))
    }

    /// This side's signature of a step: the one in the record, or a new one.
    pub(crate) fn own_signature(
        &self,
        step: Step,
        disclosure: &Disclosure,
        role: Role,
        identity: &Identity,
    ) -> Result<Signed, SessionError> {
        let stored = match &self.0 {
            Some(path) if path.exists() => {
                let file = state_dir::open_private(OpenOptions::new().read(true), path)?;
                file.lock_shared()
                    .map_err(|error| SessionError::io(path, error))?;
                Content::read(&file, path)?.signed(step, disclosure)
            }
            _ => None,
        };
        match stored {
            Some(entry) => Ok(entry.signed(role).clone()),
            None => disclosure.sign(step, role, identity),
        }
    }

    /// Appends an entry, durably. A step of an agreement that is in the record already is not entered again.
    pub(crate) fn append(
        &self,
        entry: RecordEntry,
        identity: &Identity,
    ) -> Result<(), SessionError> {
        let Some(path) = &self.0 else {
            return Ok(());
        };
        let failed = |error: io::Error| SessionError::io(path, error);
        if let Some(folder) = path.parent() {
            create_private_dir(folder)?;
        }
        let is_new = !path.exists();
        let mut file = state_dir::open_private(
            state_dir::private_file()
                .read(true)
                .create(true)
                .truncate(false),
            path,
        )?;
        // Locked briefly: several sessions may end at the same time.
        file.lock().map_err(failed)?;
        let content = Content::read(&file, path)?;
        let last = content.last(path)?;
        if let RecordEntry::Session(session) = &entry
            && content.signed(session.step, &session.disclosure).is_some()
        {
            return Ok(());
        }
        let last = last.as_ref().map(|(line, text)| (line.line, *text));
        let mut text = ChainedLine::after(last, entry, identity)?.to_text()?;
        text.push('\n');
        let end = content.complete.len() as u64;
        // A line that a crash has truncated was never acted on.
        file.set_len(end).map_err(failed)?;
        file.seek(SeekFrom::Start(end)).map_err(failed)?;
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| file.sync_all());
        if let Err(error) = written {
            let _ = file.set_len(end);
            return Err(failed(error));
        }
        if is_new {
            state_dir::sync_parent_dir(path);
        }
        Ok(())
    }
}

/// The complete lines of a record.
struct Content {
    complete: String,
}

impl Content {
    fn read(mut file: &File, path: &Path) -> Result<Self, SessionError> {
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| SessionError::io(path, error))?;
        file.rewind()
            .map_err(|error| SessionError::io(path, error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(SessionError::file(path, FileProblem::RecordTooLarge));
        }
        let end = bytes.iter().rposition(|&byte| byte == b'\n');
        bytes.truncate(end.map_or(0, |end| end + 1));
        // Bytes that are not valid UTF-8 fail below, as an invalid line.
        let complete = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Self { complete })
    }

    fn signed(&self, step: Step, disclosure: &Disclosure) -> Option<SessionEntry> {
        let mut lines = self.complete.lines();
        // Most lines are about other agreements, and need not be parsed.
        lines.find_map(|text| {
            if !text.contains(&disclosure.agreement) {
                return None;
            }
            match ChainedLine::parse(text)?.entry {
                RecordEntry::Session(entry)
                    if entry.step == step && entry.disclosure == *disclosure =>
                {
                    Some(*entry)
                }
                _ => None,
            }
        })
    }

    /// The last line of an intact record; a broken one is not extended. The signature of the last line covers all lines, because each
    /// has the hash of the line before it. So the other signatures need not be verified here.
    fn last(&self, path: &Path) -> Result<Option<(ChainedLine, &str)>, SessionError> {
        let (mut previous, mut number) = (None, 0);
        for text in self.complete.split_terminator('\n') {
            number += 1;
            if !ChainedLine::is_chained(text, number, previous) {
                return Err(self.broken(path, number));
            }
            previous = Some(text);
        }
        let Some(text) = previous else {
            return Ok(None);
        };
        match ChainedLine::parse(text).filter(ChainedLine::is_signed) {
            Some(line) => Ok(Some((line, text))),
            None => Err(self.broken(path, number)),
        }
    }

    /// The first problem of a record in which this line does not continue those before it.
    fn broken(&self, path: &Path, line: u64) -> SessionError {
        let first = SignedRecord::parse(path, &self.complete, None).problem;
        let (line, problem) = first.unwrap_or((line, RecordProblem::Changed));
        SessionError::file(path, FileProblem::BrokenRecord { line, problem })
    }
}

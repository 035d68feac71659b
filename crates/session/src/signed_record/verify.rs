//! Checks every line of a record.

use super::line::{ChainedLine, RecordEntry};
use super::statement::role_name;
use crate::error::{FileProblem, SessionError};
use crate::{Fingerprint, StateDir};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use veilpath_protocol::Role;

/// The largest record that is read: about fifty thousand lines.
pub(super) const MAX_BYTES: u64 = 64 << 20;

/// A record up to its first problem.
#[derive(Debug)]
pub struct SignedRecord {
    /// The file.
    pub path: PathBuf,
    /// Its lines up to the first problem.
    pub lines: Vec<RecordLine>,
    /// The first problem.
    pub problem: Option<(u64, RecordProblem)>,
}

/// A line of a record whose signatures are valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordLine {
    /// Its number, from 1.
    pub number: u64,
    /// The key of the record's owner.
    pub owner: Fingerprint,
    /// What it is about.
    pub entry: RecordEntry,
}

impl RecordLine {
    /// The side of the owner, in a line about a session.
    pub fn role(&self) -> Option<Role> {
        match &self.entry {
            RecordEntry::Session(entry) => entry.disclosure.role_of(self.owner),
            RecordEntry::Withdrawal(_) => None,
        }
    }

    /// The key of the partner.
    pub fn partner(&self) -> Option<Fingerprint> {
        match &self.entry {
            RecordEntry::Session(entry) => Some(entry.disclosure.key_of(self.role()?.other())),
            RecordEntry::Withdrawal(entry) => Some(entry.partner),
        }
    }

    /// When it was written, by the owner's clock, in UTC.
    pub fn time(&self) -> Option<&str> {
        match &self.entry {
            RecordEntry::Session(entry) => Some(entry.signed(self.role()?).time()),
            RecordEntry::Withdrawal(entry) => Some(&entry.time),
        }
    }
}

/// What is wrong with a line of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordProblem {
    /// It was changed after its owner signed it.
    #[error("it was changed")]
    Changed,
    /// The line is missing.
    #[error("it was removed; line {found} follows")]
    Removed {
        /// The line in its place.
        found: u64,
    },
    /// The line is elsewhere in the record.
    #[error("it was moved; line {found} is in its place")]
    Moved {
        /// The line in its place.
        found: u64,
    },
    /// An earlier line is repeated in its place.
    #[error("an earlier line, {found}, is repeated in its place")]
    Repeated {
        /// The earlier line.
        found: u64,
    },
    /// It does not continue the line before it.
    #[error("it does not continue the line before it, which was replaced")]
    Unchained,
    /// A side has not signed it.
    #[error("the signature of the {} side is not valid", role_name(*.0))]
    NotSigned(Role),
    /// Its owner is neither of the two sides, or not the expected one.
    #[error("it belongs to another record: its owner is {0}")]
    OtherOwner(Fingerprint),
    /// It is incomplete.
    #[error("it is incomplete: a crash or a person cut it off; the next session replaces it")]
    Incomplete,
}

impl SignedRecord {
    /// Reads and checks a record. If its owner is known, lines of others are a problem.
    pub fn read(path: &Path, owner: Option<Fingerprint>) -> Result<Self, SessionError> {
        let file = std::fs::File::open(path).map_err(|error| SessionError::io(path, error))?;
        Self::read_from(path, file, owner)
    }

    /// Reads and checks a record from any reader. `name` appears in errors.
    pub fn read_from(
        name: &Path,
        reader: impl Read,
        owner: Option<Fingerprint>,
    ) -> Result<Self, SessionError> {
        let mut bytes = Vec::new();
        reader
            .take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| SessionError::io(name, error))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(SessionError::file(name, FileProblem::RecordTooLarge));
        }
        Ok(Self::parse(name, &String::from_utf8_lossy(&bytes), owner))
    }

    pub(crate) fn parse(path: &Path, text: &str, owner: Option<Fingerprint>) -> Self {
        let texts: Vec<&str> = text.split_terminator('\n').collect();
        let parsed: Vec<Option<ChainedLine>> =
            texts.iter().map(|text| ChainedLine::parse(text)).collect();
        // The position of each number, to tell a removed line from a moved one.
        let numbers = parsed.iter().zip(1..);
        let positions: BTreeMap<u64, u64> = numbers
            .filter_map(|(line, position)| Some((line.as_ref()?.line, position)))
            .collect();
        let mut record = Self {
            path: path.to_path_buf(),
            lines: Vec::new(),
            problem: None,
        };
        let (mut previous, mut position) = (None, 0);
        for (text, line) in texts.iter().zip(parsed) {
            position += 1;
            let checked = match line {
                None => Err(RecordProblem::Changed),
                Some(line) => check(line, position, previous, owner, &positions),
            };
            match checked {
                Ok(line) => record.lines.push(line),
                Err(problem) => {
                    record.problem = Some((position, problem));
                    break;
                }
            }
            previous = Some(*text);
        }
        let is_cut = !text.is_empty() && !text.ends_with('\n');
        let last = texts.len() as u64;
        if is_cut && record.problem.is_none_or(|(line, _)| line == last) {
            record.lines.truncate(texts.len() - 1);
            record.problem = Some((last, RecordProblem::Incomplete));
        }
        record
    }

    /// Returns the record, or an error if it has a problem.
    pub fn require_intact(self) -> Result<Self, SessionError> {
        match self.problem {
            None => Ok(self),
            Some((line, problem)) => Err(SessionError::file(
                &self.path,
                FileProblem::BrokenRecord { line, problem },
            )),
        }
    }

    /// The keys of its owners: several, if a user had several identities.
    pub fn owners(&self) -> Vec<Fingerprint> {
        let mut owners: Vec<Fingerprint> = Vec::new();
        for line in &self.lines {
            if !owners.contains(&line.owner) {
                owners.push(line.owner);
            }
        }
        owners
    }
}

impl StateDir {
    /// The file of this side's record.
    pub fn record(&self) -> PathBuf {
        self.folder().join("record.jsonl")
    }
}

fn check(
    line: ChainedLine,
    position: u64,
    previous: Option<&str>,
    owner: Option<Fingerprint>,
    positions: &BTreeMap<u64, u64>,
) -> Result<RecordLine, RecordProblem> {
    if !line.is_signed() {
        return Err(RecordProblem::Changed);
    }
    let found = line.line;
    if found != position {
        return Err(match positions.get(&position) {
            Some(_) => RecordProblem::Moved { found },
            None if found < position => RecordProblem::Repeated { found },
            None => RecordProblem::Removed { found },
        });
    }
    if !line.continues(previous) {
        return Err(RecordProblem::Unchained);
    }
    let key = line.owner.fingerprint();
    if owner.is_some_and(|owner| owner != key) {
        return Err(RecordProblem::OtherOwner(key));
    }
    if let RecordEntry::Session(entry) = &line.entry {
        if let Some(role) = entry.not_signed_by() {
            return Err(RecordProblem::NotSigned(role));
        }
        if entry.disclosure.role_of(key).is_none() {
            return Err(RecordProblem::OtherOwner(key));
        }
    }
    Ok(RecordLine {
        number: line.line,
        owner: key,
        entry: line.entry,
    })
}

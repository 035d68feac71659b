//! The answers of an agreement, on disk as soon as they are known.
//!
//! A journal belongs to one agreement: its name and header contain a hash of the plan, both keys, both cohorts and both rosters,
//! so that answers of different comparisons never mix. It is append-only. A crash can corrupt only its last record, which is
//! detected by its checksum and truncated.
//!
//! A journal without a directory is kept in memory and ends with the session: for both sides on one machine.
//!
//! Every record is written at once, so a killed process loses nothing that it knew. The file is synced once a second and at the
//! end, so a power cut loses at most the last second, whose pairs are then compared again.

pub(crate) mod record;

use crate::error::{FileProblem, InternalError, Misbehaviour, SessionError};
use crate::identity::hex;
use crate::state_dir::{self, create_private_dir, lock};
use record::{RECORD, Record};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use veilpath_protocol::{Answer, Reveal};

const MAGIC: &[u8; 8] = b"VPJRNL1\n";
const HEADER: usize = 8 + 32;
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The answers of one agreement.
#[derive(Debug)]
pub(crate) struct Journal {
    file: Option<File>,
    path: PathBuf,
    id: [u8; 32],
    reveal: Reveal,
    answers: Vec<Option<Answer>>,
    /// How often each pair was started.
    starts: Vec<u32>,
    /// Where the last complete record ends.
    end: u64,
    synced: Instant,
    failure: Option<SessionError>,
}

impl Journal {
    /// Opens or creates the journal of this agreement, and locks it until it is dropped.
    pub(crate) fn open(
        folder: &Path,
        id: [u8; 32],
        pairs: usize,
        reveal: Reveal,
    ) -> Result<Self, SessionError> {
        let mut journal = Self::in_memory(id, pairs, reveal);
        create_private_dir(folder)?;
        let path = folder.join(format!("{}.journal", &hex(&id)[..32]));
        let failed = |error: io::Error| SessionError::io(&path, error);
        let file = state_dir::private_file()
            .read(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(failed)?;
        lock(&file, &path)?;
        journal.path = path;
        journal.load(&file)?;
        journal.file = Some(file);
        Ok(journal)
    }

    /// A journal that is not stored.
    pub(crate) fn in_memory(id: [u8; 32], pairs: usize, reveal: Reveal) -> Self {
        Self {
            file: None,
            path: PathBuf::new(),
            id,
            reveal,
            answers: vec![None; pairs],
            starts: vec![0; pairs],
            end: 0,
            synced: Instant::now(),
            failure: None,
        }
    }

    /// Which pairs have an answer.
    pub(crate) fn done(&self) -> impl Iterator<Item = bool> + '_ {
        self.answers.iter().map(Option::is_some)
    }

    /// The answer for a pair.
    pub(crate) fn answer(&self, pair: usize) -> Option<Answer> {
        self.answers.get(pair).copied().flatten()
    }

    /// The number of pairs that were started more than once, and the largest number of times any pair was started.
    pub(crate) fn repeated_starts(&self) -> (u64, u32) {
        let repeated = self.starts.iter().filter(|&&starts| starts > 1).count();
        (
            repeated as u64,
            self.starts.iter().copied().max().unwrap_or(0),
        )
    }

    /// Discards all answers; the counts of starts stay.
    pub(crate) fn discard_answers(&mut self) -> Result<(), SessionError> {
        self.answers.fill(None);
        self.append(&Record::Discarded)
    }

    /// Notes that these pairs, in ascending order, are about to be compared.
    pub(crate) fn start_pairs(&mut self, pairs: &[usize]) -> Result<(), SessionError> {
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for &pair in pairs {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == pair => *count += 1,
                _ => runs.push((pair, 1)),
            }
            if let Some(starts) = self.starts.get_mut(pair) {
                *starts = starts.saturating_add(1);
            }
        }
        for (first, count) in runs {
            self.append(&Record::Started(first, count))?;
        }
        self.sync()
    }

    /// Stores an answer. A write error is reported by `finish`: the run goes on, and the result can still be written elsewhere.
    pub(crate) fn store(&mut self, pair: usize, answer: Answer) -> Result<(), SessionError> {
        let Some(slot) = self.answers.get_mut(pair) else {
            return Err(InternalError::UnknownPair.into());
        };
        if let Some(known) = slot {
            if is_same(known, &answer) {
                return Ok(());
            }
            return Err(Misbehaviour::ChangedAnswer.into());
        }
        *slot = Some(answer);
        let stored = self.append(&Record::Answer(pair, answer)).and_then(|()| {
            if self.synced.elapsed() < SYNC_EVERY {
                return Ok(());
            }
            self.sync()
        });
        if let Err(error) = stored {
            self.failure.get_or_insert(error);
        }
        Ok(())
    }

    /// Syncs the file; returns the first error of an earlier write.
    pub(crate) fn finish(&mut self) -> Result<(), SessionError> {
        match self.failure.take() {
            Some(error) => Err(error),
            None => self.sync(),
        }
    }

    fn sync(&mut self) -> Result<(), SessionError> {
        self.synced = Instant::now();
        match &self.file {
            None => Ok(()),
            Some(file) => file
                .sync_data()
                .map_err(|error| SessionError::io(&self.path, error)),
        }
    }

    fn append(&mut self, record: &Record) -> Result<(), SessionError> {
        let Some(mut file) = self.file.as_ref() else {
            return Ok(());
        };
        let bytes = record.encode(&self.id);
        if let Err(error) = file.write_all(&bytes) {
            truncate_to(file, self.end);
            return Err(SessionError::io(&self.path, error));
        }
        self.end += RECORD as u64;
        Ok(())
    }

    fn load(&mut self, mut file: &File) -> Result<(), SessionError> {
        let path = self.path.clone();
        let failed = |error: io::Error| SessionError::io(&path, error);
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let Some(end) = self.read(&bytes) else {
            return Err(not_this_journal(&path));
        };
        if end == 0 {
            file.set_len(0).map_err(failed)?;
            file.seek(SeekFrom::Start(0)).map_err(failed)?;
            file.write_all(&self.header()).map_err(failed)?;
            file.sync_all().map_err(failed)?;
            state_dir::sync_parent_dir(&path);
            self.end = HEADER as u64;
            return Ok(());
        }
        self.end = end as u64;
        file.set_len(self.end).map_err(failed)?;
        file.seek(SeekFrom::Start(self.end)).map_err(failed)?;
        Ok(())
    }

    /// The header of a journal of this agreement.
    fn header(&self) -> Vec<u8> {
        MAGIC.iter().chain(&self.id).copied().collect()
    }

    /// Reads the content of a file, and returns the length up to the last complete record; `None` for another journal's.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Option<usize> {
        let Some((start, records)) = bytes.split_at_checked(HEADER) else {
            return Some(0);
        };
        if start != self.header() {
            return None;
        }
        let mut complete = HEADER;
        for record in records.chunks(RECORD) {
            let Some(record) = Record::decode(&self.id, record) else {
                break;
            };
            if matches!(&record, Record::Answer(_, answer) if !self.reveal.is_answered_by(answer)) {
                return None;
            }
            self.apply(&record);
            complete += RECORD;
        }
        Some(complete)
    }

    fn apply(&mut self, record: &Record) {
        match *record {
            Record::Answer(pair, answer) => {
                if let Some(slot) = self.answers.get_mut(pair) {
                    *slot = Some(answer);
                }
            }
            Record::Started(first, count) => {
                for starts in self.starts.iter_mut().skip(first).take(count) {
                    *starts = starts.saturating_add(1);
                }
            }
            Record::Discarded => self.answers.fill(None),
        }
    }
}

/// Removes a partial record. A full disk may have space again, and records behind a partial one would not be found.
fn truncate_to(mut file: &File, end: u64) {
    let _ = file.set_len(end);
    let _ = file.seek(SeekFrom::Start(end));
}

/// Compares bit by bit: engines are deterministic.
fn is_same(a: &Answer, b: &Answer) -> bool {
    match (a, b) {
        (Answer::Score(a), Answer::Score(b)) => {
            a.score.to_bits() == b.score.to_bits()
                && a.similarity.map(f64::to_bits) == b.similarity.map(f64::to_bits)
        }
        (a, b) => a.within().is_some() && a.within() == b.within(),
    }
}

fn not_this_journal(path: &Path) -> SessionError {
    SessionError::file(path, FileProblem::OtherJournal)
}

#[cfg(test)]
mod tests;

//! The answers of an agreement, on disk as soon as they are known.
//!
//! A journal belongs to one agreement: its name and header contain a hash of the plan, both keys, both cohorts and both rosters,
//! so that answers of different comparisons never mix. It is append-only. A crash can corrupt only its last entry, which is
//! detected by its checksum and truncated.
//!
//! A journal without a directory is kept in memory and ends with the session, as when both sides are on one machine. A
//! worker's journal may be stored by its institution's coordinator, which writes every entry to a journal of its own.
//!
//! Every entry is written at once, so a killed process loses nothing that it knew. Entries on which limits depend are
//! also synced before anything is sent: the start of a pair, this side's half of its output, and the mark that this
//! half is about to be sent. Answers are synced once a second and at the end: after a power cut the other side sends
//! its halves of the lost ones again. Where there are no halves to send again, what a side opens is synced together with the
//! start of its pair (`opened.rs`).
//!
//! A peer decides how often a connection breaks, and every start of a pair leaves entries. So a file is read an entry
//! at a time, and one that is much longer than needed is rewritten (`compact.rs`): neither memory nor disk space grows
//! with the number of starts.

mod compact;
mod coordinated;
pub(crate) mod entry;
mod numbers;
mod opened;
mod pair_state;
mod queries;

use crate::digests::journal_name;
use crate::engine_decision::EngineDecision;
use crate::error::{FileProblem, SessionError};
use crate::state_dir::{self, create_private_dir, lock};
use crate::stored;
use crate::worker::CoordinatorLink;
pub(crate) use compact::ReleasedJournal;
pub(crate) use entry::Half;
use entry::{AddedPart, AnswerParts, ENTRY_BYTES, Entry};
use pair_state::PairState;
use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use veilpath_protocol::{Answer, Reveal};

const MAGIC: &[u8; 8] = b"VPJRNL2\n";
pub(crate) const HEADER: usize = 8 + 32;
/// The extension of a journal.
pub(crate) const EXTENSION: &str = "journal";

const SYNC_EVERY: Duration = Duration::from_secs(1);

/// The answers of one agreement, and what this side has revealed for them.
#[derive(Debug)]
pub(crate) struct Journal {
    file: Option<File>,
    /// The old file, if it was rewritten when this journal was opened. It stays locked, too.
    superseded: Option<File>,
    /// The connection to the coordinator that stores the entries of a worker.
    coordinator: Option<CoordinatorLink>,
    path: PathBuf,
    id: [u8; 32],
    reveal: Reveal,
    pairs: Vec<PairState>,
    engine: Option<EngineDecision>,
    /// The start of the digest of the peer's groups and of its commitment to its part of the coins.
    peer_groups: Option<[u64; 2]>,
    /// The other side also has everything.
    complete: bool,
    /// The answer whose numbers are being read.
    parts: AnswerParts,
    /// Whether the file has entries of pairs or numbers that this journal does not have.
    has_other_entries: bool,
    /// How many entries there are.
    entries: u64,
    /// Where the last complete entry ends.
    end: u64,
    synced: Instant,
    failure: Option<SessionError>,
}

impl Journal {
    /// Opens the journal of this agreement, and locks it until it is dropped. A missing one is created when something
    /// is first stored, so agreements that never start leave no files, however many a peer proposes.
    pub(crate) fn open(
        folder: &Path,
        id: [u8; 32],
        pairs: usize,
        reveal: Reveal,
    ) -> Result<Self, SessionError> {
        let mut journal = Self::in_memory(id, pairs, reveal);
        journal.path = path(folder, &id);
        if journal.path.exists() {
            journal.lock_and_load(state_dir::private_file().read(true))?;
        }
        Ok(journal)
    }

    /// Creates the file if there is none. One that appeared since this journal was opened has entries that this one does not
    /// know, and is left alone.
    pub(crate) fn create(&mut self) -> Result<(), SessionError> {
        if self.file.is_some() || self.path.as_os_str().is_empty() {
            return Ok(());
        }
        create_private_dir(self.path.parent().unwrap_or(Path::new("")))?;
        let created = self.lock_and_load(state_dir::private_file().read(true).create_new(true));
        created.map_err(|error| match error {
            SessionError::File {
                path,
                problem: FileProblem::Io(error),
            } if error.kind() == io::ErrorKind::AlreadyExists => {
                SessionError::file(&path, FileProblem::Locked)
            }
            other => other,
        })
    }

    fn lock_and_load(&mut self, options: &OpenOptions) -> Result<(), SessionError> {
        let file = state_dir::open_private(options, &self.path)?;
        lock(&file, &self.path)?;
        if !state_dir::is_at(&file, &self.path) {
            // Another session rewrote the file before this one locked it.
            return Err(SessionError::file(&self.path, FileProblem::Locked));
        }
        self.load(&file)?;
        self.file = Some(file);
        self.compact();
        Ok(())
    }

    /// Reads the journal of this agreement. The file is not changed, and no session can use it meanwhile.
    pub(crate) fn read_only(
        folder: &Path,
        id: [u8; 32],
        pairs: usize,
        reveal: Reveal,
    ) -> Result<Self, SessionError> {
        let mut journal = Self::in_memory(id, pairs, reveal);
        let path = path(folder, &id);
        let file = state_dir::open_private(OpenOptions::new().read(true), &path)?;
        state_dir::lock_shared(&file, &path)?;
        let read = journal.read(&file);
        let read = read.map_err(|error| SessionError::io(&path, error))?;
        read.map(|_| journal).ok_or_else(|| not_this_journal(&path))
    }

    /// A journal that is not stored.
    pub(crate) fn in_memory(id: [u8; 32], pairs: usize, reveal: Reveal) -> Self {
        Self {
            file: None,
            superseded: None,
            coordinator: None,
            path: PathBuf::new(),
            id,
            reveal,
            pairs: vec![PairState::default(); pairs],
            engine: None,
            peer_groups: None,
            complete: false,
            parts: AnswerParts::default(),
            has_other_entries: false,
            entries: 0,
            end: 0,
            synced: Instant::now(),
            failure: None,
        }
    }

    /// Stores a description of the agreement beside the journal, durably, if there is none yet.
    pub(crate) fn describe(
        &self,
        description: impl FnOnce(&[u8; 32]) -> Result<Vec<u8>, SessionError>,
    ) -> Result<(), SessionError> {
        let path = self.path.with_extension(stored::EXTENSION);
        if self.file.is_none() || path.exists() {
            return Ok(());
        }
        state_dir::replace(&path, &description(&self.id)?)
    }

    /// Stores what was decided about the engine, once.
    pub(crate) fn store_engine(&mut self, decision: EngineDecision) -> Result<(), SessionError> {
        match self.engine {
            Some(_) => Ok(()),
            None => self.append_synced([Entry::Engine(decision)]),
        }
    }

    /// Stores that these pairs are about to be compared.
    pub(crate) fn start_pairs(&mut self, pairs: &[usize]) -> Result<(), SessionError> {
        self.append_synced(runs(pairs).map(|(first, count)| Entry::Started(first, count)))
    }

    /// Stores this side's halves of the outputs of some pairs.
    pub(crate) fn store_halves(
        &mut self,
        pairs: &[usize],
        halves: &[u64],
        run: u64,
    ) -> Result<(), SessionError> {
        let both = pairs.iter().zip(halves);
        self.append_synced(both.map(|(&pair, &half)| Entry::half(pair, half, run)))
    }

    /// Stores that this side's halves of these pairs are about to be sent.
    pub(crate) fn mark_sent(&mut self, pairs: &[usize]) -> Result<(), SessionError> {
        self.append_synced(runs(pairs).map(|(first, count)| Entry::Sent(first, count)))
    }

    /// Stores that these pairs are not compared again, because it is not known whether they were sent.
    pub(crate) fn withhold(&mut self, pairs: &[usize]) -> Result<(), SessionError> {
        self.append_synced(runs(pairs).map(|(first, count)| Entry::Withheld(first, count)))
    }

    /// Stores that the other side also has everything.
    pub(crate) fn mark_complete(&mut self) -> Result<(), SessionError> {
        self.append_synced([Entry::Complete])
    }

    /// Stores that the output of a pair is not a possible result.
    pub(crate) fn reject(&mut self, pair: usize) {
        self.append_result([Entry::Rejected(pair)]);
    }

    /// Stores an answer. A write error is reported by `finish`: the run continues, and the result can still be written elsewhere.
    pub(crate) fn store(&mut self, pair: usize, answer: Answer) -> Result<(), SessionError> {
        if self.is_new_answer(pair, &answer)? {
            self.append_result(Entry::of_answer(pair, answer));
        }
        Ok(())
    }

    /// Appends what came of a pair, and syncs from time to time, whatever it is: a peer could tell a possible output from an
    /// impossible one by the time of a sync.
    fn append_result(&mut self, entry: impl IntoIterator<Item = Entry>) {
        let stored = self.append(entry).and_then(|()| {
            if self.synced.elapsed() < SYNC_EVERY {
                return Ok(());
            }
            self.sync()
        });
        if let Err(error) = stored {
            self.failure.get_or_insert(error);
        }
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
        if let Some(coordinator) = &mut self.coordinator {
            return coordinator.sync();
        }
        match &self.file {
            None => Ok(()),
            Some(file) => {
                state_dir::sync_data(file).map_err(|error| SessionError::io(&self.path, error))
            }
        }
    }

    /// Appends entries that must be durable before the next message.
    fn append_synced(
        &mut self,
        entries: impl IntoIterator<Item = Entry>,
    ) -> Result<(), SessionError> {
        self.append(entries)?;
        self.sync()
    }

    fn append(&mut self, entries: impl IntoIterator<Item = Entry>) -> Result<(), SessionError> {
        let mut bytes = Vec::new();
        for entry in entries {
            self.apply(&entry);
            bytes.extend(entry.encode(&self.id));
        }
        if let Some(coordinator) = &mut self.coordinator {
            return coordinator.append(&bytes);
        }
        self.create()?;
        let Some(mut file) = self.file.as_ref() else {
            return Ok(());
        };
        if let Err(error) = file.write_all(&bytes) {
            truncate_to(file, self.end);
            return Err(SessionError::io(&self.path, error));
        }
        self.end += bytes.len() as u64;
        Ok(())
    }

    fn load(&mut self, mut file: &File) -> Result<(), SessionError> {
        let path = self.path.clone();
        let failed = |error: io::Error| SessionError::io(&path, error);
        let Some(end) = self.read(file).map_err(failed)? else {
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
        self.end = end;
        file.set_len(self.end).map_err(failed)?;
        file.seek(SeekFrom::Start(self.end)).map_err(failed)?;
        Ok(())
    }

    /// The header of a journal of this agreement.
    fn header(&self) -> Vec<u8> {
        MAGIC.iter().chain(&self.id).copied().collect()
    }

    /// Reads the content of a file, and returns the length up to the last complete entry; `None` for another journal's.
    pub(crate) fn read(&mut self, file: impl Read) -> io::Result<Option<u64>> {
        let mut file = BufReader::new(file);
        let mut start = [0; HEADER];
        if !fill(&mut file, &mut start)? {
            return Ok(Some(0));
        }
        if start[..] != self.header() {
            return Ok(None);
        }
        let (mut complete, mut entry) = (HEADER as u64, [0; ENTRY_BYTES]);
        while fill(&mut file, &mut entry)? {
            let Some(entry) = Entry::decode(&self.id, &entry) else {
                break;
            };
            if !self.apply_if_valid(&entry) {
                return Ok(None);
            }
            complete += ENTRY_BYTES as u64;
        }
        Ok(Some(complete))
    }

    /// Applies a stored entry if this journal can have entries of its kind. Returns whether it can.
    fn apply_if_valid(&mut self, entry: &Entry) -> bool {
        let is_valid = match entry {
            Entry::Answer(_, answer) => self.reveal.is_answered_by(answer),
            Entry::Part(..) => self.reveal == Reveal::Score,
            Entry::Number(..) => self.reveal.group_question().is_some(),
            _ => true,
        };
        if is_valid {
            self.apply(entry);
        }
        is_valid
    }

    fn apply(&mut self, entry: &Entry) {
        self.entries += 1;
        match *entry {
            Entry::Answer(pair, answer) => {
                self.change(pair, 1, |state| state.answer = Some(answer));
            }
            Entry::Part(part) => {
                if let AddedPart::Complete(pair, answer) = self.parts.add(part) {
                    self.change(pair, 1, |state| state.answer = Some(answer));
                }
            }
            Entry::Half(pair, half) => {
                self.change(pair, 1, |state| {
                    state.half = Some(half);
                    state.half_of_start = state.starts;
                });
            }
            Entry::Number(index, number) => {
                self.change(index, 1, |state| state.number = Some(number));
            }
            Entry::Rejected(pair) => self.change(pair, 1, |state| state.rejected = true),
            Entry::Sent(first, count) => self.change(first, count, |state| state.sent = true),
            Entry::Withheld(first, count) => {
                self.change(first, count, |state| state.withheld = true);
            }
            Entry::Started(first, count) => self.change(first, count, |state| {
                state.starts = state.starts.saturating_add(1);
            }),
            Entry::Restarted(first, count, times) => self.change(first, count, |state| {
                state.starts = state.starts.saturating_add(times);
            }),
            Entry::Engine(decision) => {
                self.engine.get_or_insert(decision);
            }
            Entry::Groups(start) => {
                self.peer_groups.get_or_insert(start);
            }
            Entry::Complete => self.complete = true,
        }
    }

    fn change(&mut self, first: usize, count: usize, change: impl Fn(&mut PairState)) {
        self.has_other_entries |= first.saturating_add(count) > self.pairs.len();
        let pairs = self.pairs.iter_mut().skip(first).take(count);
        pairs.for_each(change);
    }
}

/// The file of a journal.
fn path(folder: &Path, id: &[u8; 32]) -> PathBuf {
    folder.join(format!("{}.{EXTENSION}", journal_name(id)))
}

/// The runs of consecutive numbers in a list: the first of each, and how many.
pub(crate) fn runs(pairs: &[usize]) -> impl Iterator<Item = (usize, usize)> {
    let consecutive = pairs.chunk_by(|a, b| a + 1 == *b);
    consecutive.filter_map(|run| Some((*run.first()?, run.len())))
}

/// Fills the buffer; `false` if the file ends first.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a partial entry. Once a full disk has space again, entries after a partial one would not be found.
fn truncate_to(mut file: &File, end: u64) {
    let _ = file.set_len(end);
    let _ = file.seek(SeekFrom::Start(end));
}

fn not_this_journal(path: &Path) -> SessionError {
    SessionError::file(path, FileProblem::OtherJournal)
}

#[cfg(test)]
mod tests;

//! Rewrites a journal that is much longer than its content requires.
//!
//! A pair that is started again leaves an entry of the start, and one of its half if it gets that far. A peer that hangs up each time
//! would make the file grow with every start.

use super::entry::Entry;
use super::{ENTRY_BYTES, HEADER, Journal, PairState, not_this_journal};
use crate::SessionError;
use crate::state_dir::{self, NEW_EXTENSION};
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use veilpath_protocol::Reveal;

/// A shorter file is left as it is.
const MIN_BYTES: u64 = 4 << 10;

/// A journal that other sessions may use, as it was when it was released: they only append to its file, or replace it by another.
#[derive(Debug)]
pub(crate) struct ReleasedJournal {
    file: File,
    path: PathBuf,
    id: [u8; 32],
    reveal: Reveal,
    pairs: usize,
    end: u64,
}

impl ReleasedJournal {
    /// Where it was.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Reads it.
    pub(crate) fn read(mut self) -> Result<Journal, SessionError> {
        let failed = |error| SessionError::io(&self.path, error);
        let mut journal = Journal::in_memory(self.id, self.pairs, self.reveal);
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        let read = journal.read(self.file.take(self.end)).map_err(failed)?;
        match read == Some(self.end) {
            true => Ok(journal),
            false => Err(not_this_journal(&self.path)),
        }
    }
}

impl Journal {
    /// Rewrites the file if that makes it less than half as long. If it cannot be rewritten, it stays as it is.
    pub(super) fn compact(&mut self) {
        // The peer states its groups anew in every session. If it states fewer than before, the journal is opened for fewer
        // numbers, and a shorter file would lose the others.
        if self.has_other_entries {
            return;
        }
        let count = self.fewest_entries().count();
        let needed = (HEADER + count * ENTRY_BYTES) as u64;
        if self.file.is_none() || self.end <= MIN_BYTES || self.end / 2 <= needed {
            return;
        }
        match self.rewrite() {
            // A process that opened the old file before it was replaced cannot lock it while this journal is open.
            Ok(file) => {
                self.superseded = self.file.replace(file);
                self.end = needed;
                self.entries = count as u64;
            }
            Err(_) => drop(std::fs::remove_file(
                self.path.with_extension(NEW_EXTENSION),
            )),
        }
    }

    /// Lets other sessions use the file. From now on, nothing is stored. Returns what was stored, unless it cannot be read while
    /// another session uses the file: Windows keeps those that have not locked a file from reading it.
    pub(crate) fn release(&mut self) -> Option<ReleasedJournal> {
        (self.superseded, self.coordinator) = (None, None);
        let (file, path) = (self.file.take(), std::mem::take(&mut self.path));
        let file = file.filter(|file| cfg!(unix) && file.unlock().is_ok())?;
        Some(ReleasedJournal {
            file,
            path,
            id: self.id,
            reveal: self.reveal,
            pairs: self.pairs.len(),
            end: self.end,
        })
    }

    /// Atomically replaces the file by a locked one with the same content.
    fn rewrite(&self) -> io::Result<File> {
        let new = self.path.with_extension(NEW_EXTENSION);
        let file = state_dir::private_file()
            .read(true)
            .create(true)
            .truncate(true)
            .open(&new)?;
        file.try_lock()?;
        let mut writer = BufWriter::new(&file);
        writer.write_all(&self.header())?;
        for entry in self.fewest_entries() {
            writer.write_all(&entry.encode(&self.id))?;
        }
        writer.flush()?;
        drop(writer);
        file.sync_all()?;
        std::fs::rename(&new, &self.path)?;
        state_dir::sync_parent_dir(&self.path);
        Ok(file)
    }

    /// The fewest entries with the same content. Starts before and after the half of a pair stay apart.
    fn fewest_entries(&self) -> impl Iterator<Item = Entry> + '_ {
        let engine = self.engine.map(Entry::Engine);
        let groups = self.peer_groups.map(Entry::Groups);
        let complete = self.complete.then_some(Entry::Complete);
        let before = self.restarts(|state| state.starts - state.starts_since_half());
        let sent = self.runs_of(|state| u32::from(state.sent));
        let sent = sent.map(|(first, count, _)| Entry::Sent(first, count));
        let withheld = self.runs_of(|state| u32::from(state.withheld));
        let withheld = withheld.map(|(first, count, _)| Entry::Withheld(first, count));
        let single = self.pairs.iter().enumerate();
        let single = single.flat_map(|(index, state)| state.entries(index));
        let after = self.restarts(PairState::starts_since_half);
        let whole = engine
            .into_iter()
            .chain(groups)
            .chain(before)
            .chain(sent)
            .chain(withheld);
        // A complete journal ends with that entry, where a coordinator looks for it.
        whole.chain(single).chain(after).chain(complete)
    }

    fn restarts(&self, number: fn(&PairState) -> u32) -> impl Iterator<Item = Entry> + '_ {
        let runs = self.runs_of(number);
        runs.map(|(first, count, times)| Entry::Restarted(first, count, times))
    }

    /// The runs of places with the same number, if it is not 0: the first of each, how many, and the number.
    fn runs_of(
        &self,
        number: fn(&PairState) -> u32,
    ) -> impl Iterator<Item = (usize, usize, u32)> + '_ {
        let runs = self.pairs.chunk_by(move |a, b| number(a) == number(b));
        let runs = runs.scan(0, move |next, run| {
            let first = *next;
            *next += run.len();
            Some((first, run.len(), run.first().map_or(0, number)))
        });
        runs.filter(|(_, _, number)| *number > 0)
    }
}

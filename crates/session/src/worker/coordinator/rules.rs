//! What a worker may add to the journal of its tile.
//!
//! A worker's key may be stolen, so what it adds is bounded: one half per start of a pair, one answer or rejection per
//! pair, and one completion per tile. Existing entries are not stored again. A tile has at most [`max_entries`]
//! entries.

use crate::counted_store::{AgreedPairs, Bookkeeping, check_revealed};
use crate::error::{InternalError, Limit, SessionError, UsageError};
use crate::journal::entry::{AddedPart, AnswerParts, ENTRY_BYTES, Entry};
use crate::journal::{Half, runs};
use std::collections::BTreeSet;
use veilpath_metrics::MAX_MEASURES;
use veilpath_protocol::Answer;

/// Journal entries of a tile in addition to those of its pairs: a pair may be started many times.
const SPARE_ENTRIES: u64 = 4096;

/// Journal entries of a pair besides its answer. Connections that break often leave a few more than the three that it needs.
const ENTRIES_PER_PAIR: u64 = 16;

/// How many entries a tile may have after the user has unblocked the peer this many times.
pub(super) fn max_entries(pairs: usize, lifted: u32) -> u64 {
    let per_pair = ENTRIES_PER_PAIR + MAX_MEASURES as u64;
    let entries = (pairs as u64).saturating_mul(per_pair);
    entries
        .saturating_add(SPARE_ENTRIES)
        .saturating_mul(u64::from(lifted).saturating_add(1))
}

/// The rules of one tile.
pub(crate) struct Rules<'a> {
    pub(crate) agreed: AgreedPairs<'a>,
    /// The id of the tile's journal.
    pub(crate) journal: [u8; 32],
    pub(crate) max_starts: u32,
    /// How many entries the journal may have.
    pub(crate) max_entries: u64,
    /// The answer whose numbers are being received.
    pub(crate) parts: &'a mut AnswerParts,
}

/// Consecutive entries of one kind, which are stored together. Not `Debug`: halves are secret.
enum EntryBatch {
    Started(Vec<usize>),
    Halves {
        run: u64,
        pairs: Vec<usize>,
        halves: Vec<u64>,
    },
    Sent(Vec<usize>),
    Other(Entry),
}

impl EntryBatch {
    /// An upper bound on its number of entries.
    fn entries(&self) -> u64 {
        match self {
            EntryBatch::Started(pairs) | EntryBatch::Sent(pairs) => runs(pairs).count() as u64,
            EntryBatch::Halves { pairs, .. } => pairs.len() as u64,
            EntryBatch::Other(_) => 1,
        }
    }
}

impl Rules<'_> {
    /// Stores and counts entries of a worker, durably, up to the first that it may not add.
    pub(crate) fn store(
        &mut self,
        bookkeeping: &mut Bookkeeping<'_>,
        bytes: &[u8],
    ) -> Result<(), SessionError> {
        for batch in self.batches(bytes)? {
            let more = batch.entries();
            if bookkeeping.journal.entry_count().saturating_add(more) > self.max_entries {
                let entries = self.max_entries;
                return Err(Limit::TooManyEntries { entries }.into());
            }
            self.store_batch(bookkeeping, batch)?;
        }
        bookkeeping.journal.finish()
    }

    fn batches(&self, bytes: &[u8]) -> Result<Vec<EntryBatch>, SessionError> {
        let all = self.agreed.pairs.len();
        let mut batches: Vec<EntryBatch> = Vec::new();
        // A message has at most one list of pairs that start or are sent, and entries of single pairs.
        let mut left = all.saturating_add(bytes.len() / ENTRY_BYTES);
        for bytes in bytes.chunks(ENTRY_BYTES) {
            let entry = Entry::decode(&self.journal, bytes).ok_or(UsageError::EntryRefused)?;
            let (first, count) = match entry {
                Entry::Started(first, count) | Entry::Sent(first, count) => (first, count),
                Entry::Half(pair, ..) | Entry::Answer(pair, _) | Entry::Rejected(pair) => (pair, 1),
                Entry::Part(part) => (part.pair(), 1),
                Entry::Engine(_) | Entry::Complete => (0, 0),
                Entry::Number(..)
                | Entry::Groups(_)
                | Entry::Restarted(..)
                | Entry::Withheld(..) => {
                    return Err(UsageError::EntryRefused.into());
                }
            };
            let end = first.checked_add(count).filter(|&end| end <= all);
            let range = first..end.ok_or(UsageError::EntryRefused)?;
            left = left.checked_sub(count).ok_or(UsageError::EntryRefused)?;
            match (entry, batches.last_mut()) {
                (Entry::Started(..), Some(EntryBatch::Started(pairs)))
                | (Entry::Sent(..), Some(EntryBatch::Sent(pairs))) => pairs.extend(range),
                (Entry::Started(..), _) => batches.push(EntryBatch::Started(range.collect())),
                (Entry::Sent(..), _) => batches.push(EntryBatch::Sent(range.collect())),
                (Entry::Half(pair, half), Some(EntryBatch::Halves { run, pairs, halves }))
                    if *run == half.run =>
                {
                    pairs.push(pair);
                    halves.push(half.half);
                }
                (Entry::Half(pair, Half { half, run }), _) => batches.push(EntryBatch::Halves {
                    run,
                    pairs: vec![pair],
                    halves: vec![half],
                }),
                (other, _) => batches.push(EntryBatch::Other(other)),
            }
        }
        // A pair that is named twice would count twice.
        let named_once = |batch: &EntryBatch| match batch {
            EntryBatch::Started(pairs)
            | EntryBatch::Sent(pairs)
            | EntryBatch::Halves { pairs, .. } => {
                let different: BTreeSet<usize> = pairs.iter().copied().collect();
                !pairs.is_empty() && different.len() == pairs.len()
            }
            EntryBatch::Other(_) => true,
        };
        match batches.iter().all(named_once) {
            true => Ok(batches),
            false => Err(UsageError::EntryRefused.into()),
        }
    }

    fn store_batch(
        &mut self,
        bookkeeping: &mut Bookkeeping<'_>,
        batch: EntryBatch,
    ) -> Result<(), SessionError> {
        let agreed = &self.agreed;
        // A complete tile does not change.
        let may_be_sent = |pair: &usize| bookkeeping.journal.may_be_sent(*pair);
        let is_sent = |pair: &usize| bookkeeping.journal.is_sent(*pair);
        let is_new = match &batch {
            EntryBatch::Started(pairs) | EntryBatch::Halves { pairs, .. } => {
                !pairs.iter().any(may_be_sent)
            }
            EntryBatch::Sent(pairs) => !pairs.iter().all(is_sent),
            EntryBatch::Other(Entry::Engine(_)) => bookkeeping.journal.engine().is_none(),
            EntryBatch::Other(Entry::Rejected(pair)) => !bookkeeping.journal.is_rejected(*pair),
            EntryBatch::Other(_) => false,
        };
        if is_new && bookkeeping.journal.is_complete() {
            return Err(UsageError::EntryRefused.into());
        }
        match batch {
            EntryBatch::Started(pairs) => bookkeeping.start(agreed, self.max_starts, &pairs),
            EntryBatch::Sent(pairs) => bookkeeping.release(agreed, &pairs),
            EntryBatch::Halves { run, pairs, halves } => {
                store_halves(bookkeeping, run, &pairs, &halves)
            }
            EntryBatch::Other(Entry::Answer(pair, answer)) => {
                store_answer(bookkeeping, agreed, pair, answer)
            }
            EntryBatch::Other(Entry::Part(part)) => match self.parts.add(part) {
                AddedPart::Incomplete => Ok(()),
                AddedPart::Complete(pair, answer) => {
                    store_answer(bookkeeping, agreed, pair, answer)
                }
                AddedPart::OutOfOrder => Err(UsageError::EntryRefused.into()),
            },
            EntryBatch::Other(Entry::Rejected(pair)) => {
                if bookkeeping.journal.is_rejected(pair) {
                    return Ok(());
                }
                if !agreed.spec.reveal_to.includes(agreed.role)
                    || bookkeeping.journal.is_answered(pair)
                {
                    return Err(UsageError::EntryRefused.into());
                }
                bookkeeping.journal.reject(pair);
                Ok(())
            }
            EntryBatch::Other(Entry::Engine(decision)) => match bookkeeping.journal.engine() {
                Some(stored) if stored != decision => Err(UsageError::EntryRefused.into()),
                _ => bookkeeping.journal.store_engine(decision),
            },
            EntryBatch::Other(Entry::Complete) if bookkeeping.journal.is_complete() => Ok(()),
            EntryBatch::Other(Entry::Complete) if agreed.has_everything(bookkeeping.journal) => {
                bookkeeping.journal.mark_complete()
            }
            EntryBatch::Other(_) => Err(UsageError::EntryRefused.into()),
        }
    }
}

fn store_halves(
    bookkeeping: &mut Bookkeeping<'_>,
    run: u64,
    pairs: &[usize],
    halves: &[u64],
) -> Result<(), SessionError> {
    // The other side may have the half that would be replaced.
    if pairs
        .iter()
        .any(|&pair| bookkeeping.journal.may_be_sent(pair))
    {
        return Err(InternalError::ComparedAgain.into());
    }
    let both = pairs.iter().copied().zip(halves.iter().copied());
    let is_new = |&(pair, half): &(usize, u64)| {
        let stored = bookkeeping.journal.half(pair);
        stored != Some(Half { half, run })
    };
    let (pairs, halves): (Vec<usize>, Vec<u64>) = both.filter(is_new).unzip();
    if !pairs
        .iter()
        .all(|&pair| bookkeeping.journal.expects_half(pair))
    {
        return Err(UsageError::EntryRefused.into());
    }
    match pairs.is_empty() {
        true => Ok(()),
        false => bookkeeping.journal.store_halves(&pairs, &halves, run),
    }
}

fn store_answer(
    bookkeeping: &mut Bookkeeping<'_>,
    agreed: &AgreedPairs<'_>,
    pair: usize,
    answer: Answer,
) -> Result<(), SessionError> {
    if !agreed.spec.reveal_to.includes(agreed.role) || bookkeeping.journal.is_rejected(pair) {
        return Err(UsageError::EntryRefused.into());
    }
    check_revealed(agreed.spec, &answer)?;
    bookkeeping.journal.store(pair, answer)
}

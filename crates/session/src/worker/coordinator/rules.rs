//! What a worker may add to the records of its tile.

use crate::error::{InternalError, SessionError, UsageError};
use crate::journal::record::{AddedPart, AnswerParts, RECORD, Record};
use crate::records::{AgreedPairs, RecordStores, check_revealed};
use std::collections::BTreeSet;
use veilpath_protocol::Answer;

/// The rules of one tile.
pub(crate) struct Rules<'a> {
    pub(crate) agreed: AgreedPairs<'a>,
    /// The id of the tile's journal.
    pub(crate) journal: [u8; 32],
    pub(crate) max_starts: u32,
    /// The answer whose numbers are being received.
    pub(crate) parts: &'a mut AnswerParts,
}

/// Records of one kind that follow each other. They are stored together.
#[derive(Debug)]
enum Group {
    Started(Vec<usize>),
    Halves {
        run: u64,
        pairs: Vec<usize>,
        halves: Vec<u64>,
    },
    Sent(Vec<usize>),
    Other(Record),
}

impl Rules<'_> {
    /// Stores and counts records of a worker, durably, up to the first that it may not add.
    pub(crate) fn store(
        &mut self,
        books: &mut RecordStores<'_>,
        bytes: &[u8],
    ) -> Result<(), SessionError> {
        for group in self.groups(bytes)? {
            self.store_group(books, group)?;
        }
        books.journal.finish()
    }

    fn groups(&self, bytes: &[u8]) -> Result<Vec<Group>, SessionError> {
        let all = self.agreed.pairs.len();
        let mut groups: Vec<Group> = Vec::new();
        // A message has at most one list of pairs that start or are sent, and records of single pairs.
        let mut left = all.saturating_add(bytes.len() / RECORD);
        for bytes in bytes.chunks(RECORD) {
            let record = Record::decode(&self.journal, bytes).ok_or(UsageError::RecordRefused)?;
            let (first, count) = match record {
                Record::Started(first, count) | Record::Sent(first, count) => (first, count),
                Record::Half(pair, ..) | Record::Answer(pair, _) | Record::Rejected(pair) => {
                    (pair, 1)
                }
                Record::Part(part) => (part.pair(), 1),
                Record::Engine(_) | Record::Complete => (0, 0),
                Record::Number(..) | Record::Groups(_) | Record::Restarted(..) => {
                    return Err(UsageError::RecordRefused.into());
                }
            };
            let end = first.checked_add(count).filter(|&end| end <= all);
            let range = first..end.ok_or(UsageError::RecordRefused)?;
            left = left.checked_sub(count).ok_or(UsageError::RecordRefused)?;
            match (record, groups.last_mut()) {
                (Record::Started(..), Some(Group::Started(pairs)))
                | (Record::Sent(..), Some(Group::Sent(pairs))) => pairs.extend(range),
                (Record::Started(..), _) => groups.push(Group::Started(range.collect())),
                (Record::Sent(..), _) => groups.push(Group::Sent(range.collect())),
                (Record::Half(pair, half, tag), Some(Group::Halves { run, pairs, halves }))
                    if *run == tag =>
                {
                    pairs.push(pair);
                    halves.push(half);
                }
                (Record::Half(pair, half, run), _) => groups.push(Group::Halves {
                    run,
                    pairs: vec![pair],
                    halves: vec![half],
                }),
                (other, _) => groups.push(Group::Other(other)),
            }
        }
        // A pair that is named twice would count twice.
        let named_once = |group: &Group| match group {
            Group::Started(pairs) | Group::Sent(pairs) => {
                let different: BTreeSet<usize> = pairs.iter().copied().collect();
                !pairs.is_empty() && different.len() == pairs.len()
            }
            _ => true,
        };
        match groups.iter().all(named_once) {
            true => Ok(groups),
            false => Err(UsageError::RecordRefused.into()),
        }
    }

    fn store_group(
        &mut self,
        books: &mut RecordStores<'_>,
        group: Group,
    ) -> Result<(), SessionError> {
        let agreed = &self.agreed;
        match group {
            Group::Started(pairs) => books.start(agreed, self.max_starts, &pairs),
            Group::Sent(pairs) => books.release(agreed, &pairs),
            Group::Halves { run, pairs, halves } => {
                // The other side may have the half that would be replaced.
                if pairs.iter().any(|&pair| books.journal.is_sent(pair)) {
                    return Err(InternalError::ComparedAgain.into());
                }
                if pairs.iter().any(|&pair| books.journal.starts(pair) == 0) {
                    return Err(UsageError::RecordRefused.into());
                }
                books.journal.keep_halves(&pairs, &halves, run)
            }
            Group::Other(Record::Answer(pair, answer)) => store_answer(books, agreed, pair, answer),
            Group::Other(Record::Part(part)) => match self.parts.add(part) {
                AddedPart::Incomplete => Ok(()),
                AddedPart::Complete(pair, answer) => store_answer(books, agreed, pair, answer),
                AddedPart::OutOfOrder => Err(UsageError::RecordRefused.into()),
            },
            Group::Other(Record::Rejected(pair)) => {
                books.journal.reject(pair);
                Ok(())
            }
            Group::Other(Record::Engine(decision)) => match books.journal.engine() {
                Some(known) if known != decision => Err(UsageError::RecordRefused.into()),
                _ => books.journal.store_engine(decision),
            },
            Group::Other(Record::Complete) if agreed.has_everything(books.journal) => {
                books.journal.mark_complete()
            }
            Group::Other(_) => Err(UsageError::RecordRefused.into()),
        }
    }
}

fn store_answer(
    books: &mut RecordStores<'_>,
    agreed: &AgreedPairs<'_>,
    pair: usize,
    answer: Answer,
) -> Result<(), SessionError> {
    if !agreed.spec.reveal_to.includes(agreed.role) {
        return Err(UsageError::RecordRefused.into());
    }
    check_revealed(agreed.spec, &answer)?;
    books.journal.store(pair, answer)
}

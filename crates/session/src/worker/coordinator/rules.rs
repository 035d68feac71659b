//! What a worker may add to the records of its tile.
//!
//! A worker's key may be stolen, so what it adds is bounded: one half per start of a pair, one answer or rejection per
//! pair, and one completion per tile. Existing records are not stored again. A tile has at most [`max_records`]
//! records.

use crate::error::{InternalError, Limit, SessionError, UsageError};
use crate::journal::record::{AddedPart, AnswerParts, RECORD, Record};
use crate::journal::{Half, runs};
use crate::records::{AgreedPairs, RecordStores, check_revealed};
use std::collections::BTreeSet;
use veilpath_metrics::MAX_OUTPUTS;
use veilpath_protocol::Answer;

/// Records of a tile in addition to those of its pairs: a pair may be started many times.
const SPARE_RECORDS: u64 = 4096;

/// Records of a pair besides its answer. Connections that break often leave a few more than the three that it needs.
const RECORDS_PER_PAIR: u64 = 16;

/// How many records a tile may have after its user has lifted bans this many times.
pub(super) fn max_records(pairs: usize, lifted: u32) -> u64 {
    let per_pair = RECORDS_PER_PAIR + MAX_OUTPUTS as u64;
    let records = (pairs as u64).saturating_mul(per_pair);
    records
        .saturating_add(SPARE_RECORDS)
        .saturating_mul(u64::from(lifted).saturating_add(1))
}

/// The rules of one tile.
pub(crate) struct Rules<'a> {
    pub(crate) agreed: AgreedPairs<'a>,
    /// The id of the tile's journal.
    pub(crate) journal: [u8; 32],
    pub(crate) max_starts: u32,
    /// How many records the journal may have.
    pub(crate) max_records: u64,
    /// The answer whose numbers are being received.
    pub(crate) parts: &'a mut AnswerParts,
}

/// Consecutive records of one kind, which are stored together. Not `Debug`: halves are secret.
enum RecordBatch {
    Started(Vec<usize>),
    Halves {
        run: u64,
        pairs: Vec<usize>,
        halves: Vec<u64>,
    },
    Sent(Vec<usize>),
    Other(Record),
}

impl RecordBatch {
    /// An upper bound on its number of records.
    fn records(&self) -> u64 {
        match self {
            RecordBatch::Started(pairs) | RecordBatch::Sent(pairs) => runs(pairs).count() as u64,
            RecordBatch::Halves { pairs, .. } => pairs.len() as u64,
            RecordBatch::Other(_) => 1,
        }
    }
}

impl Rules<'_> {
    /// Stores and counts records of a worker, durably, up to the first that it may not add.
    pub(crate) fn store(
        &mut self,
        stores: &mut RecordStores<'_>,
        bytes: &[u8],
    ) -> Result<(), SessionError> {
        for batch in self.batches(bytes)? {
            let more = batch.records();
            if stores.journal.record_count().saturating_add(more) > self.max_records {
                let records = self.max_records;
                return Err(Limit::TooManyRecords { records }.into());
            }
            self.store_batch(stores, batch)?;
        }
        stores.journal.finish()
    }

    fn batches(&self, bytes: &[u8]) -> Result<Vec<RecordBatch>, SessionError> {
        let all = self.agreed.pairs.len();
        let mut batches: Vec<RecordBatch> = Vec::new();
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
            match (record, batches.last_mut()) {
                (Record::Started(..), Some(RecordBatch::Started(pairs)))
                | (Record::Sent(..), Some(RecordBatch::Sent(pairs))) => pairs.extend(range),
                (Record::Started(..), _) => batches.push(RecordBatch::Started(range.collect())),
                (Record::Sent(..), _) => batches.push(RecordBatch::Sent(range.collect())),
                (Record::Half(pair, half), Some(RecordBatch::Halves { run, pairs, halves }))
                    if *run == half.run =>
                {
                    pairs.push(pair);
                    halves.push(half.half);
                }
                (Record::Half(pair, Half { half, run }), _) => batches.push(RecordBatch::Halves {
                    run,
                    pairs: vec![pair],
                    halves: vec![half],
                }),
                (other, _) => batches.push(RecordBatch::Other(other)),
            }
        }
        // A pair that is named twice would count twice.
        let named_once = |batch: &RecordBatch| match batch {
            RecordBatch::Started(pairs)
            | RecordBatch::Sent(pairs)
            | RecordBatch::Halves { pairs, .. } => {
                let different: BTreeSet<usize> = pairs.iter().copied().collect();
                !pairs.is_empty() && different.len() == pairs.len()
            }
            RecordBatch::Other(_) => true,
        };
        match batches.iter().all(named_once) {
            true => Ok(batches),
            false => Err(UsageError::RecordRefused.into()),
        }
    }

    fn store_batch(
        &mut self,
        stores: &mut RecordStores<'_>,
        batch: RecordBatch,
    ) -> Result<(), SessionError> {
        let agreed = &self.agreed;
        // A complete tile does not change.
        let is_sent = |pair: &usize| stores.journal.is_sent(*pair);
        let is_new = match &batch {
            RecordBatch::Started(pairs) | RecordBatch::Halves { pairs, .. } => {
                !pairs.iter().any(is_sent)
            }
            RecordBatch::Sent(pairs) => !pairs.iter().all(is_sent),
            RecordBatch::Other(Record::Engine(_)) => stores.journal.engine().is_none(),
            RecordBatch::Other(Record::Rejected(pair)) => !stores.journal.is_rejected(*pair),
            RecordBatch::Other(_) => false,
        };
        if is_new && stores.journal.is_complete() {
            return Err(UsageError::RecordRefused.into());
        }
        match batch {
            RecordBatch::Started(pairs) => stores.start(agreed, self.max_starts, &pairs),
            RecordBatch::Sent(pairs) => stores.release(agreed, &pairs),
            RecordBatch::Halves { run, pairs, halves } => {
                store_halves(stores, run, &pairs, &halves)
            }
            RecordBatch::Other(Record::Answer(pair, answer)) => {
                store_answer(stores, agreed, pair, answer)
            }
            RecordBatch::Other(Record::Part(part)) => match self.parts.add(part) {
                AddedPart::Incomplete => Ok(()),
                AddedPart::Complete(pair, answer) => store_answer(stores, agreed, pair, answer),
                AddedPart::OutOfOrder => Err(UsageError::RecordRefused.into()),
            },
            RecordBatch::Other(Record::Rejected(pair)) => {
                if stores.journal.is_rejected(pair) {
                    return Ok(());
                }
                if !agreed.spec.reveal_to.includes(agreed.role) || stores.journal.is_answered(pair)
                {
                    return Err(UsageError::RecordRefused.into());
                }
                stores.journal.reject(pair);
                Ok(())
            }
            RecordBatch::Other(Record::Engine(decision)) => match stores.journal.engine() {
                Some(stored) if stored != decision => Err(UsageError::RecordRefused.into()),
                _ => stores.journal.store_engine(decision),
            },
            RecordBatch::Other(Record::Complete) if stores.journal.is_complete() => Ok(()),
            RecordBatch::Other(Record::Complete) if agreed.has_everything(stores.journal) => {
                stores.journal.mark_complete()
            }
            RecordBatch::Other(_) => Err(UsageError::RecordRefused.into()),
        }
    }
}

fn store_halves(
    stores: &mut RecordStores<'_>,
    run: u64,
    pairs: &[usize],
    halves: &[u64],
) -> Result<(), SessionError> {
    // The other side may have the half that would be replaced.
    if pairs.iter().any(|&pair| stores.journal.is_sent(pair)) {
        return Err(InternalError::ComparedAgain.into());
    }
    let both = pairs.iter().copied().zip(halves.iter().copied());
    let is_new = |&(pair, half): &(usize, u64)| {
        let stored = stores.journal.half(pair);
        stored != Some(Half { half, run })
    };
    let (pairs, halves): (Vec<usize>, Vec<u64>) = both.filter(is_new).unzip();
    if !pairs.iter().all(|&pair| stores.journal.expects_half(pair)) {
        return Err(UsageError::RecordRefused.into());
    }
    match pairs.is_empty() {
        true => Ok(()),
        false => stores.journal.keep_halves(&pairs, &halves, run),
    }
}

fn store_answer(
    stores: &mut RecordStores<'_>,
    agreed: &AgreedPairs<'_>,
    pair: usize,
    answer: Answer,
) -> Result<(), SessionError> {
    if !agreed.spec.reveal_to.includes(agreed.role) || stores.journal.is_rejected(pair) {
        return Err(UsageError::RecordRefused.into());
    }
    check_revealed(agreed.spec, &answer)?;
    stores.journal.store(pair, answer)
}

//! What a worker sends to its coordinator.

use super::{Script, with_storage};
use crate::control::Tag;
use crate::journal::entry::{AnswerParts, with_checksum};
use crate::worker::{self, Rules};

/// Pairs of the tile.
const PAIRS: usize = 9;

/// Bytes of an entry without its checksum.
const CONTENT_BYTES: usize = 28;

/// Stores entries one by one, as a coordinator does. Panics if a pair whose half may have been sent is started again or
/// gets another half, or if an answer changes. Returns whether all entries were accepted.
pub(super) fn entries(bytes: &[u8]) -> bool {
    let (contents, _) = bytes.as_chunks::<CONTENT_BYTES>();
    with_storage(PAIRS, |agreed, _, bookkeeping| {
        let mut parts = AnswerParts::default();
        let stored = contents.iter().all(|content| {
            let state = |bookkeeping: &crate::counted_store::Bookkeeping<'_>| {
                let of_pair = |pair| {
                    let (journal, sent) = (&bookkeeping.journal, bookkeeping.journal.is_sent(pair));
                    let fixed = sent.then(|| (journal.starts(pair), journal.half(pair)));
                    (fixed, journal.answer(pair).map(|it| format!("{it:?}")))
                };
                (0..PAIRS).map(of_pair).collect::<Vec<_>>()
            };
            let before = state(bookkeeping);
            let mut rules = Rules {
                agreed: *agreed,
                journal: [0; 32],
                max_starts: 5,
                max_entries: 99,
                parts: &mut parts,
            };
            let stored = rules
                .store(bookkeeping, &with_checksum(&[0; 32], content))
                .is_ok();
            for (before, after) in before.into_iter().zip(state(bookkeeping)) {
                assert!(before.0.is_none() || before.0 == after.0, "sent again");
                assert!(before.1.is_none() || before.1 == after.1, "changed");
            }
            stored
        });
        stored && !contents.is_empty()
    })
}

/// What a worker accepts as the answer to entries or to a report.
pub(super) fn answer(bytes: &[u8]) -> bool {
    let answer = worker::answer(&mut Script(bytes), Tag::EntriesStored);
    answer.is_ok_and(|content| {
        assert!(content.is_empty(), "EntriesStored has no content");
        true
    })
}

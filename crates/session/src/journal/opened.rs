//! Starts of pairs together with what came of them.

use super::entry::Entry;
use super::queries::is_same;
use super::{Journal, runs};
use crate::error::{InternalError, Misbehaviour, SessionError};
use veilpath_protocol::{Answer, Opened};

impl Journal {
    /// Stores that these pairs were started, and what this side has opened, at once: a started pair without an answer is
    /// compared, and counted, again.
    pub(crate) fn start_opened(
        &mut self,
        pairs: &[usize],
        opened: &[Opened],
        run: u64,
    ) -> Result<(), SessionError> {
        let (mut entries, mut halves) = (Vec::new(), Vec::new());
        for (&pair, opened) in pairs.iter().zip(opened) {
            match *opened {
                Opened::Answer(answer) if self.is_new_answer(pair, &answer)? => {
                    entries.extend(Entry::of_answer(pair, answer));
                }
                Opened::Half(half) => halves.push(Entry::half(pair, half, run)),
                Opened::Answer(_) | Opened::OutOfRange => {}
            }
        }
        // Answers come first: if a crash loses the end of this, nothing was sent, and a pair whose start is not known is
        // counted when its answer is sent. A half belongs to the start before it.
        entries.extend(runs(pairs).map(|(first, count)| Entry::Started(first, count)));
        entries.extend(halves);
        self.append_synced(entries)
    }

    /// Whether there is no answer for this pair yet. An answer does not change.
    pub(super) fn is_new_answer(&self, pair: usize, answer: &Answer) -> Result<bool, SessionError> {
        let state = self.pairs.get(pair).ok_or(InternalError::UnknownPair)?;
        match &state.answer {
            None => Ok(true),
            Some(stored) if is_same(stored, answer) => Ok(false),
            Some(_) => Err(Misbehaviour::ChangedAnswer.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ENTRY_BYTES, Half};
    use super::*;
    use std::path::Path;
    use veilpath_metrics::PairScore;
    use veilpath_protocol::Reveal;

    fn open(folder: &Path) -> Journal {
        let mut journal = Journal::open(folder, [7; 32], 4, Reveal::Score).unwrap();
        journal.create().unwrap();
        journal
    }

    fn answer(score: f64) -> Opened {
        Opened::Answer(Answer::Score(PairScore::new(score, None)))
    }

    /// A pair that has a start but no answer is opened, and counted, again.
    #[test]
    fn no_start_is_stored_without_what_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = open(folder.path());
        let answers = [3.0, 1.0].map(answer);
        journal.start_opened(&[3, 1], &answers, 9).unwrap();
        // A number that is out of range has no answer, and its start counts.
        journal
            .start_opened(&[0], &[Opened::OutOfRange], 9)
            .unwrap();
        drop(journal);
        let path = super::super::path(folder.path(), &[7; 32]);
        let whole = std::fs::read(&path).unwrap();
        let last = whole.len() - ENTRY_BYTES;
        for length in 0..=whole.len() {
            std::fs::write(&path, &whole[..length]).unwrap();
            let journal = open(folder.path());
            let has_both = |pair| (journal.is_answered(pair), journal.starts(pair) > 0);
            for pair in [1, 3] {
                assert_ne!(has_both(pair), (false, true), "{length}");
                assert!(length < last || has_both(pair) == (true, true));
            }
            assert_eq!(has_both(0), (false, length == whole.len()));
        }
        let mut journal = open(folder.path());
        // A pair with another answer is neither counted nor changed.
        let changed = [2.0, 4.0].map(answer);
        let error = journal.start_opened(&[2, 3], &changed, 9).unwrap_err();
        assert!(matches!(error, SessionError::Misbehaved(_)));
        assert_eq!([2, 3].map(|pair| journal.starts(pair)), [0, 1]);
        journal.start_opened(&[2], &[Opened::Half(7)], 9).unwrap();
        drop(journal);
        let journal = open(folder.path());
        assert_eq!(journal.half(2), Some(Half { half: 7, run: 9 }));
        assert!(!journal.expects_half(2) && journal.starts(2) == 1);
    }
}

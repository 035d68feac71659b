//! What a journal knows about one pair.

use super::entry::{Entry, Half};
use veilpath_protocol::Answer;

/// What is known about a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PairState {
    pub(super) answer: Option<Answer>,
    /// A number of a group answer; these come after the pairs.
    pub(super) number: Option<u64>,
    /// Its output was not a possible result: there will be no answer.
    pub(super) rejected: bool,
    pub(super) half: Option<Half>,
    /// How often it had been started when the half was stored.
    pub(super) half_of_start: u32,
    /// This side's half may have been sent.
    pub(super) sent: bool,
    /// Whether this side's half was sent is not known: part of the journal was lost.
    pub(super) withheld: bool,
    /// How often it was started.
    pub(super) starts: u32,
}

impl PairState {
    /// Whether this side's half may have been sent, as far as this journal or only the ledger knows.
    pub(super) fn may_be_sent(&self) -> bool {
        self.sent || self.withheld
    }

    pub(super) fn starts_since_half(&self) -> u32 {
        match self.half {
            Some(_) => self.starts.saturating_sub(self.half_of_start),
            None => 0,
        }
    }

    /// The entries of this index alone.
    pub(super) fn entries(&self, index: usize) -> impl Iterator<Item = Entry> + use<> {
        let half = self.half.map(|half| Entry::Half(index, half));
        let number = self.number.map(|number| Entry::Number(index, number));
        let rejected = self.rejected.then_some(Entry::Rejected(index));
        let answer = self.answer.map(|answer| Entry::of_answer(index, answer));
        let answer = answer.into_iter().flatten();
        half.into_iter().chain(number).chain(rejected).chain(answer)
    }
}

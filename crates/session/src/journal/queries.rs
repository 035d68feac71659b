//! Queries of a journal.

use super::{Half, Journal, PairState};
use crate::engine_decision::EngineDecision;
use veilpath_protocol::Answer;

impl Journal {
    /// Whether the output of a pair is known, possible or not.
    pub(crate) fn is_answered(&self, pair: usize) -> bool {
        let is_known = |it: &PairState| it.answer.is_some() || it.number.is_some() || it.rejected;
        self.pairs.get(pair).is_some_and(is_known)
    }

    /// The answer for a pair.
    pub(crate) fn answer(&self, pair: usize) -> Option<Answer> {
        self.pairs.get(pair)?.answer
    }

    /// How many pairs have an answer.
    pub(crate) fn answers(&self) -> usize {
        let has_answer = |state: &&PairState| state.answer.is_some();
        self.pairs.iter().filter(has_answer).count()
    }

    /// Whether the output of any pair was not a possible result.
    pub(crate) fn has_rejected(&self) -> bool {
        self.pairs.iter().any(|state| state.rejected)
    }

    /// This side's half of a pair's output.
    pub(crate) fn half(&self, pair: usize) -> Option<Half> {
        self.pairs.get(pair)?.half
    }

    /// Whether a pair was started after its half was stored. Each start has one half.
    pub(crate) fn expects_half(&self, pair: usize) -> bool {
        let expects =
            |it: &PairState| it.starts > 0 && (it.half.is_none() || it.half_of_start < it.starts);
        self.pairs.get(pair).is_some_and(expects)
    }

    /// Whether the output of a pair was not a possible result.
    pub(crate) fn is_rejected(&self, pair: usize) -> bool {
        self.pairs.get(pair).is_some_and(|state| state.rejected)
    }

    /// How many entries there are.
    pub(crate) fn entry_count(&self) -> u64 {
        self.entries
    }

    /// Whether this side's half of a pair's output may have been sent.
    pub(crate) fn is_sent(&self, pair: usize) -> bool {
        self.pairs.get(pair).is_some_and(|state| state.sent)
    }

    /// Whether this side's half may have been sent, as far as this journal or only the ledger knows. Such a pair is not compared again.
    pub(crate) fn may_be_sent(&self, pair: usize) -> bool {
        self.pairs.get(pair).is_some_and(PairState::may_be_sent)
    }

    /// Whether only the ledger knew that this side's half may have been sent: the one that is left may be another.
    pub(crate) fn is_withheld(&self, pair: usize) -> bool {
        self.pairs.get(pair).is_some_and(|state| state.withheld)
    }

    /// How often a pair was started.
    pub(crate) fn starts(&self, pair: usize) -> u32 {
        self.pairs.get(pair).map_or(0, |state| state.starts)
    }

    /// How many of the first `pairs` places were started more than once, and the largest number of times any of them was started.
    pub(crate) fn repeated_starts(&self, pairs: usize) -> (u64, u32) {
        let starts = || self.pairs.iter().take(pairs).map(|state| state.starts);
        let repeated = starts().filter(|&starts| starts > 1).count();
        (repeated as u64, starts().max().unwrap_or(0))
    }

    /// How often the first `pairs` places were started in total.
    pub(crate) fn all_starts(&self, pairs: usize) -> u64 {
        let states = self.pairs.iter().take(pairs);
        states.map(|state| u64::from(state.starts)).sum()
    }

    /// What was decided about the engine when the comparison started.
    pub(crate) fn engine(&self) -> Option<EngineDecision> {
        self.engine
    }

    /// Whether the other side also has everything about this journal's pairs.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }
}

/// Compares bit by bit: engines are deterministic.
pub(super) fn is_same(a: &Answer, b: &Answer) -> bool {
    match (a, b) {
        (Answer::Score(a), Answer::Score(b)) => {
            let bits = |number: Option<f64>| number.map(f64::to_bits);
            a.numbers().map(bits).eq(b.numbers().map(bits))
        }
        (a, b) => a.within().is_some() && a.within() == b.within(),
    }
}

//! Stores and counts what an agreement reveals: the journal and the account in the ledger, in an order that enforces the
//! limits. Whatever reveals something is stored and counted, durably, before it is sent.

use crate::disclosure::WithdrawalWatch;
use crate::error::{InternalError, Limit, SessionError};
use crate::journal::Journal;
use crate::ledger::Account;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use veilpath_protocol::{
    Answer, CancelToken, Engine, Observer, Opened, PairStore, Refused, Role, Spec,
};

/// How often a pair may be started without a result before this side's user is asked. Even bad connections cause far
/// fewer starts. A peer that disconnects to learn something from every start gets no more than this.
pub(crate) const MAX_STARTS: u32 = 1000;

/// The pairs of an agreement, as this side stores and counts them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AgreedPairs<'a> {
    pub(crate) role: Role,
    pub(crate) spec: &'a Spec,
    /// Indices of the host's and the joining side's scanpaths.
    pub(crate) pairs: &'a [(usize, usize)],
    /// The matrix cells of each pair.
    pub(crate) cells: &'a [u64],
    /// Scanpaths of this side.
    pub(crate) scanpaths: usize,
}

/// Whether a pair reveals more than the lengths even if one scanpath is empty. Where durations are added, its result is the sum of the
/// other scanpath's. With `plain`, the host gets all letters, whatever it compares them with.
pub(crate) fn always_informative(spec: &Spec) -> bool {
    spec.metric.adds_durations() || spec.engine == Engine::Plain
}

impl AgreedPairs<'_> {
    /// Whether the result of a pair reveals more than the lengths.
    pub(crate) fn is_informative(&self, pair: usize) -> bool {
        self.cells[pair] > 0 || always_informative(self.spec)
    }

    /// How many of these pairs each scanpath of this side is in; pairs without information do not count.
    pub(crate) fn comparisons(&self, pairs: impl Iterator<Item = usize>) -> Vec<u64> {
        let mut comparisons = vec![0; self.scanpaths];
        for pair in pairs.filter(|&pair| self.is_informative(pair)) {
            comparisons[self.own(pair)] += 1;
        }
        comparisons
    }

    /// 1 for each scanpath of this side that a group answer is about individually, which counts like a comparison; 0 for
    /// the others. `None` if the answer names no scanpath of this side, or if the pairs themselves are counted.
    pub(crate) fn counted_by_answer(&self) -> Option<Vec<u64>> {
        let question = self.spec.reveal.group_question()?;
        let is_about_ours = self.role == Role::Host && question.names_scanpaths();
        let to_peer = self.spec.reveal_to.includes(self.role.other());
        (is_about_ours && to_peer && self.spec.engine.opens_outputs_by_halves()).then(|| {
            let compared = self.comparisons(0..self.pairs.len()).into_iter();
            compared.map(|count| count.min(1)).collect()
        })
    }

    /// The comparisons of each scanpath of this side that the journal knows of: pairs whose half was sent or, for an engine
    /// without halves, starts.
    pub(crate) fn journalled(&self, journal: &Journal) -> Vec<u64> {
        if let Some(counted) = self.counted_by_answer() {
            return match journal.is_sent(self.pairs.len()) {
                true => counted,
                false => vec![0; self.scanpaths],
            };
        }
        let by_halves = self.spec.engine.opens_outputs_by_halves();
        let mut counts = vec![0; self.scanpaths];
        for pair in 0..self.pairs.len() {
            let sent = u64::from(journal.is_sent(pair));
            let count = match by_halves {
                true => sent,
                false => sent.max(journal.starts(pair).into()),
            };
            counts[self.own(pair)] += if self.is_informative(pair) { count } else { 0 };
        }
        counts
    }

    /// Whether this side needs nothing more from the other: it has all answers or, if it learns none, has sent everything.
    pub(crate) fn has_everything(&self, journal: &Journal) -> bool {
        let by_halves = self.spec.engine.opens_outputs_by_halves();
        let learns = self.spec.reveal_to.includes(self.role);
        (0..self.pairs.len()).all(|pair| match learns {
            true => journal.is_answered(pair),
            false => {
                let was_seen = journal.may_be_sent(pair) || !by_halves && journal.starts(pair) > 0;
                was_seen || !self.is_informative(pair)
            }
        })
    }

    /// This side's scanpath of a pair.
    pub(crate) fn own(&self, pair: usize) -> usize {
        let (host, join) = self.pairs[pair];
        match self.role {
            Role::Host => host,
            Role::Join => join,
        }
    }
}

/// The journal and the account, shared by the threads of an engine.
pub(crate) struct CountedStore<'a> {
    pub(crate) agreed: AgreedPairs<'a>,
    /// The pairs that the engine compares: its index of a pair is a place in this list.
    pub(crate) compare: &'a [usize],
    /// The tag of this run.
    pub(crate) run: u64,
    /// How often a pair may be started.
    pub(crate) max_starts: u32,
    pub(crate) bookkeeping: Mutex<Bookkeeping<'a>>,
    /// Whether the engine counts cells on this side. If it does not, progress is measured by answers.
    pub(crate) engine_counts: AtomicBool,
    pub(crate) observer: &'a dyn Observer,
    /// Counts what the engine starts, whatever is stored and charged.
    #[cfg(test)]
    pub(crate) watch: Option<std::sync::Arc<StartWatch>>,
}

/// How often an engine has started each pair.
#[cfg(test)]
pub(crate) type StartWatch = Mutex<std::collections::BTreeMap<usize, u32>>;

/// Where the pairs of an agreement are stored and counted: its journal and its account.
pub(crate) struct Bookkeeping<'a> {
    pub(crate) journal: &'a mut Journal,
    pub(crate) account: &'a mut Account,
    /// Participants who withdraw during the session must not be in the pairs that follow.
    pub(crate) withdrawals: &'a mut WithdrawalWatch,
    /// Why something was refused. Nothing is released after it.
    pub(crate) failure: Option<SessionError>,
}

impl Bookkeeping<'_> {
    /// Stores and counts that the peer will learn these pairs (indices into the agreed list). Pairs that were stored before
    /// are free, but are not sent again after a withdrawal.
    pub(crate) fn release(
        &mut self,
        agreed: &AgreedPairs<'_>,
        pairs: &[usize],
    ) -> Result<(), SessionError> {
        self.withdrawals.check()?;
        let new = pairs.iter().copied();
        let new: Vec<usize> = new
            .filter(|&pair| agreed.is_informative(pair) && !self.journal.is_sent(pair))
            .collect();
        if new.is_empty() {
            let again = pairs.iter().copied();
            let again: Vec<usize> = again.filter(|&pair| self.journal.is_sent(pair)).collect();
            // A worker does not know who has withdrawn, so its coordinator is asked even if there is nothing to store.
            return match self.journal.is_coordinated() && !again.is_empty() {
                true => self.journal.mark_sent(&again),
                false => Ok(()),
            };
        }
        // An engine without halves is charged at every start, so what is sent again was charged before.
        let by_halves = agreed.spec.engine.opens_outputs_by_halves();
        let charge = new.iter().copied();
        let charge = charge.filter(|&pair| by_halves || self.journal.starts(pair) == 0);
        let comparisons = agreed.comparisons(charge);
        let journal = &mut *self.journal;
        self.account
            .charge_for(&comparisons, || journal.mark_sent(&new))
    }

    /// Stores that these pairs are about to be compared, and counts it if a start reveals a view. A pair whose half may have been sent
    /// is not compared again.
    pub(crate) fn start(
        &mut self,
        agreed: &AgreedPairs<'_>,
        max_starts: u32,
        pairs: &[usize],
    ) -> Result<(), SessionError> {
        self.start_with(agreed, max_starts, pairs, |journal| {
            journal.start_pairs(pairs)
        })
    }

    /// Like [`Bookkeeping::start`], but `record` stores the starts, and what else must be stored in the same step.
    pub(crate) fn start_with(
        &mut self,
        agreed: &AgreedPairs<'_>,
        max_starts: u32,
        pairs: &[usize],
        record: impl FnOnce(&mut Journal) -> Result<(), SessionError>,
    ) -> Result<(), SessionError> {
        self.withdrawals.check()?;
        if pairs.iter().any(|&pair| self.journal.may_be_sent(pair)) {
            return Err(InternalError::ComparedAgain.into());
        }
        let starts = pairs.iter().map(|&pair| self.journal.starts(pair)).max();
        if starts.is_some_and(|starts| starts >= max_starts) {
            return Err(Limit::TooManyStarts { starts: max_starts }.into());
        }
        if agreed.spec.engine.opens_outputs_by_halves() {
            // A peer is only charged for what it learns.
            self.account.check_allowed()?;
            return record(self.journal);
        }
        let comparisons = agreed.comparisons(pairs.iter().copied());
        let journal = &mut *self.journal;
        self.account.charge_for(&comparisons, || record(journal))
    }
}

impl<'a> CountedStore<'a> {
    /// Locks the journal and the account.
    pub(crate) fn bookkeeping(&self) -> MutexGuard<'_, Bookkeeping<'a>> {
        self.bookkeeping
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes something for pairs of the engine, unless something was refused before.
    fn write(
        &self,
        pairs: &[usize],
        write: impl FnOnce(&mut Bookkeeping<'_>, &[usize]) -> Result<(), SessionError>,
    ) -> Result<(), Refused> {
        let mut bookkeeping = self.bookkeeping();
        if bookkeeping.failure.is_some() {
            return Err(Refused);
        }
        let agreed = pairs.iter().map(|&pair| self.compare.get(pair).copied());
        let written = match agreed.collect::<Option<Vec<usize>>>() {
            None => Err(InternalError::UnknownPair.into()),
            Some(pairs) => write(&mut bookkeeping, &pairs),
        };
        written.map_err(|error| {
            bookkeeping.failure = Some(error);
            Refused
        })
    }
}

impl CountedStore<'_> {
    #[cfg(test)]
    fn watch_starts(&self, pairs: &[usize]) {
        if let Some(watch) = &self.watch {
            let mut starts = watch.lock().unwrap_or_else(PoisonError::into_inner);
            for &pair in pairs {
                *starts.entry(self.compare[pair]).or_default() += 1;
            }
        }
    }

    #[cfg(not(test))]
    fn watch_starts(&self, _: &[usize]) {}
}

impl PairStore for CountedStore<'_> {
    fn start(&self, pairs: &[usize]) -> Result<(), Refused> {
        self.write(pairs, |bookkeeping, pairs| {
            bookkeeping.start(&self.agreed, self.max_starts, pairs)
        })?;
        self.watch_starts(pairs);
        Ok(())
    }

    fn start_opened(&self, pairs: &[usize], opened: &[Opened]) -> Result<(), Refused> {
        self.write(pairs, |bookkeeping, pairs| {
            for opened in opened {
                if let Opened::Answer(answer) = opened {
                    check_revealed(self.agreed.spec, answer)?;
                }
            }
            bookkeeping.start_with(&self.agreed, self.max_starts, pairs, |journal| {
                journal.start_opened(pairs, opened, self.run)
            })
        })?;
        self.watch_starts(pairs);
        Ok(())
    }

    fn store_halves(&self, pairs: &[usize], halves: &[u64]) -> Result<(), Refused> {
        self.write(pairs, |bookkeeping, pairs| {
            bookkeeping.journal.store_halves(pairs, halves, self.run)
        })
    }

    fn release(&self, pairs: &[usize]) -> Result<(), Refused> {
        self.write(pairs, |bookkeeping, pairs| {
            bookkeeping.release(&self.agreed, pairs)
        })
    }

    fn reject(&self, pair: usize) {
        let _ = self.write(&[pair], |bookkeeping, pairs| {
            pairs
                .iter()
                .for_each(|&pair| bookkeeping.journal.reject(pair));
            Ok(())
        });
    }
}

impl Observer for CountedStore<'_> {
    fn cancel_token(&self) -> CancelToken {
        self.observer.cancel_token()
    }

    fn work(&self, work: &mut dyn FnMut()) {
        self.observer.work(work);
    }

    fn cells(&self, finished: u64) {
        self.engine_counts.store(true, Ordering::Relaxed);
        self.observer.cells(finished);
    }

    /// Writes the answer to the journal before the user's observer gets it.
    fn scored(&self, pair: usize, answer: Answer) {
        let Some(&pair) = self.compare.get(pair) else {
            return;
        };
        let mut bookkeeping = self.bookkeeping();
        let stored = check_revealed(self.agreed.spec, &answer)
            .and_then(|()| bookkeeping.journal.store(pair, answer));
        if let Err(error) = stored {
            bookkeeping.failure.get_or_insert(error);
        }
        drop(bookkeeping);
        if !self.engine_counts.load(Ordering::Relaxed) {
            self.observer.cells(self.agreed.cells[pair]);
        }
        self.observer.scored(pair, answer);
    }
}

/// An answer that reveals more than was agreed on must not reach the disk.
pub(crate) fn check_revealed(spec: &Spec, answer: &Answer) -> Result<(), SessionError> {
    if spec.allows(answer) {
        return Ok(());
    }
    Err(InternalError::UnagreedAnswer.into())
}

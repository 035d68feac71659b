//! Computes the remaining pairs.

use crate::computed::ComputedSession;
use crate::control::{self, Tag};
use crate::counted_store::{AgreedPairs, Bookkeeping, CountedStore};
use crate::error::{InternalError, Misbehaviour, SessionError};
use crate::identity::hex;
use crate::resend::Resend;
use crate::resume::RequiredScanpaths;
use crate::roster::Roster;
use crate::session::{AgreedSession, Agreement};
use crate::signed_record::{Disclosure, SentSignature, Step};
use crate::stored::Description;
use ring::digest::{Context, SHA256};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use veilpath_metrics::{Cohort, Scanpath};
use veilpath_protocol::{Answer, Job, Observer, Outcome, ProtocolError, RevealTo, Role};

/// A session that has finished.
#[derive(Debug)]
pub struct CompletedSession {
    /// The answers, what they cost, and what was revealed.
    pub outcome: Outcome,
    /// The id of the agreement.
    pub agreement: String,
    /// The pairs of the session, including those from earlier sessions, even if this side learns no answers.
    pub pairs: usize,
    /// Pairs that were started more than once, in this session and earlier ones.
    pub restarted_pairs: u64,
    /// The largest number of times any pair was started.
    pub max_starts: u32,
    /// How often pairs were started in total.
    pub starts: u64,
    /// The largest number of agreements with the other side, over all sessions, that any scanpath of this side is in. Each
    /// may give one answer for a pair.
    pub max_agreements: u64,
    /// Why the journal or the signed record could not be written; the answers are complete anyway.
    pub journal_failure: Option<SessionError>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Finished {
    /// A digest of all answers, where both sides learn them.
    answers_digest: Option<String>,
    /// The signature of the completion, for the other side's record. Workers cannot sign, and tiles that are only agreed on are not
    /// complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    completion: Option<SentSignature>,
}

impl AgreedSession {
    /// Computes the remaining pairs, stores every answer as soon as it is known, and checks that both sides have the same. The
    /// observer gets pairs by their index in the whole list.
    pub fn run(self, observer: &dyn Observer) -> Result<CompletedSession, SessionError> {
        self.compute(observer)?.complete()
    }

    /// Does the same without opening the results, releases the journal and closes the channel. Everything that the other side
    /// can notice and that comes after the session must depend on the end of this step only.
    pub fn compute(mut self, observer: &dyn Observer) -> Result<ComputedSession, SessionError> {
        // Limits were not enforced when the sides agreed on an estimate.
        if self.agreement.estimate_only() {
            return Err(SessionError::EstimateOnly);
        }
        let mut start = Instant::now();
        let computed = self.compute_remaining(observer, &mut start);
        let seconds = start.elapsed().as_secs_f64();
        let journal_failure = self.agreement.journal.finish().err();
        let journal_failure = journal_failure.or(self.record_failure.take());
        if let Err(error) = computed {
            let error = self.session.explain(error);
            if error.is_blocked() {
                self.store_block(&error)?;
            }
            return Err(error);
        }
        let released = self.agreement.journal.release();
        self.session.channel.uncounted().inner_mut().close();
        Ok(ComputedSession::new(
            self,
            seconds,
            released,
            journal_failure,
        ))
    }

    /// Stores in the ledger that the other side, or the tile, is blocked. A stolen worker key could get an institution banned, so an error
    /// in a worker's session only stops the tile, and this side's user decides.
    fn store_block(&mut self, error: &SessionError) -> Result<(), SessionError> {
        let Agreement { journal, id, .. } = &self.agreement;
        if let Some(reason) = error.ban() {
            // If the coordinator stays unreachable, the worker's own user is told.
            let _ = journal.report(reason);
        }
        let tile = self.agreement.proposal.tile;
        // Workers sign nothing.
        let of_worker = tile.filter(|_| !self.agreement.signs);
        // This creates a missing ledger, even if pairs were only started too often: only a peer with a ledger can be
        // unblocked.
        self.agreement.ledger.update(|ledger| {
            match (error.ban(), of_worker) {
                (Some(reason), Some(tile)) => ledger.set_report(id, tile, reason),
                (reason, _) => ledger.banned = ledger.banned.or(reason),
            }
            Ok(())
        })
    }

    /// Sets `start` once the other side has started as well: its user may have taken a while.
    fn compute_remaining(
        &mut self,
        observer: &dyn Observer,
        start: &mut Instant,
    ) -> Result<(), SessionError> {
        self.limit_time();
        let Self {
            session, agreement, ..
        } = self;
        session.pin(&agreement.id)?;
        session.allow_long_work();
        agreement.journal.create()?;
        if let Some(decision) = agreement.decision {
            agreement.journal.store_engine(decision)?;
        }
        if agreement.is_new_number {
            let (plan, number) = (&agreement.plan, agreement.number);
            agreement.ledger.update(|ledger| {
                ledger.set_number(plan, number);
                Ok(())
            })?;
        }
        let disclosure = self.disclosure();
        if self.agreement.signs {
            self.sign_intent(&disclosure)?;
        }
        *start = Instant::now();
        if let Some((ledger, charge)) = self.agreement.pair_charge.take() {
            ledger.charge(charge)?;
        }
        observer.started();
        match self.agreement.proposal.tile_count {
            Some(count) => self.store_plan(count)?,
            None => {
                self.open_committed()?;
                self.describe()?;
                self.resend()?;
                self.compare(observer)?;
                self.compute_group_answer()?;
            }
        }
        self.finish(&disclosure)
    }

    /// Checks that both sides have the same answers, and signs that everything was disclosed.
    fn finish(&mut self, disclosure: &Disclosure) -> Result<(), SessionError> {
        let role = self.session.role;
        // Finished says that this side has everything, so its coordinator must have it by then.
        let coordinated = self.agreement.journal.is_coordinated();
        if coordinated {
            self.agreement.journal.finish()?;
        }
        let both = self.agreement.proposal.spec.reveal_to == RevealTo::Both;
        let signs = self.agreement.signs && self.agreement.proposal.tile_count.is_none();
        let signed = match signs {
            true => Some(self.own_signature(Step::Completion, disclosure)?),
            false => None,
        };
        let ours = Finished {
            answers_digest: both.then(|| self.agreement.answers_digest()),
            completion: signed.as_ref().map(SentSignature::of),
        };
        let channel = &mut self.session.channel;
        let theirs: Finished = control::exchange(channel, role, Tag::Finished, &ours)?;
        if ours.answers_digest != theirs.answers_digest {
            return Err(Misbehaviour::DifferentAnswers.into());
        }
        if coordinated {
            // This side has its answers even if the coordinator does not learn that.
            self.record_failure = self.agreement.journal.mark_complete().err();
        }
        match (signed, theirs.completion) {
            (Some(signed), Some(completion)) => {
                let theirs = self.check_signature(Step::Completion, disclosure, completion)?;
                // The answers are known, so a full disk does not lose them.
                let recorded = self.record(Step::Completion, disclosure, signed, theirs);
                self.record_failure = recorded.err();
            }
            (Some(_), None) => return Err(Misbehaviour::InvalidSignature.into()),
            (None, _) => {}
        }
        Ok(())
    }

    /// Stores the digest of the peer's groups, and opens the coins of a test and published labels, when the computation
    /// starts.
    fn open_committed(&mut self) -> Result<(), SessionError> {
        let (session, agreement) = (&mut self.session, &mut self.agreement);
        match &mut agreement.group {
            None => Ok(()),
            Some(group) => {
                // Published labels say who is in which group.
                agreement.withdrawals.check()?;
                agreement.journal.store_group_digest(group.peer_digest())?;
                group.open_committed(session.role, &mut session.channel)
            }
        }
    }

    /// Stores what is needed to write results without the peer, where this side learns any.
    fn describe(&self) -> Result<(), SessionError> {
        let Self {
            session, agreement, ..
        } = self;
        if !agreement.proposal.spec.reveal_to.includes(session.role) {
            return Ok(());
        }
        agreement.journal.describe(|id| {
            let (peer, role) = (session.peer, session.role);
            let outcome = agreement.without_results(role);
            if !agreement.signs {
                // A worker's session: the plan is in the same state folder.
                return Description::of_tile(id, peer, role, outcome).to_bytes();
            }
            let schema = agreement.group.as_ref().map(|group| group.schema.clone());
            Description::new(id, peer, role, &agreement.pairs, outcome, schema).to_bytes()
        })
    }

    /// Exchanges the halves and answers that an earlier session left open.
    fn resend(&mut self) -> Result<(), SessionError> {
        let Self {
            session, agreement, ..
        } = self;
        let roster = match session.role {
            Role::Host => &agreement.join,
            Role::Join => &agreement.host,
        };
        let peer_lengths = lengths(roster, 0..roster.len())?;
        let own = scanpaths(&agreement.proposal.cohort);
        let agreed = AgreedPairs {
            role: session.role,
            spec: &agreement.proposal.spec,
            pairs: &agreement.pairs,
            cells: &agreement.cells,
            scanpaths: own.len(),
        };
        let mut bookkeeping = Bookkeeping {
            journal: &mut agreement.journal,
            account: &mut agreement.account,
            withdrawals: &mut agreement.withdrawals,
            failure: None,
        };
        bookkeeping.account.catch_up()?;
        if agreement.group.is_some() {
            return Ok(());
        }
        let mut resend = Resend {
            agreed,
            agreement: &agreement.id,
            own: &own,
            peer_lengths: &peer_lengths,
            bookkeeping: &mut bookkeeping,
        };
        resend.run(&agreement.resume, &mut session.channel)
    }

    /// Compares the remaining pairs.
    fn compare(&mut self, observer: &dyn Observer) -> Result<(), SessionError> {
        let Self {
            session, agreement, ..
        } = self;
        let compare = &agreement.resume.compare;
        if compare.is_empty() {
            return Ok(());
        }
        let (spec, tree_levels) = (&agreement.proposal.spec, agreement.tree_levels());
        let required = RequiredScanpaths::new(compare, &agreement.pairs);
        let (own, theirs, roster) = match session.role {
            Role::Host => (&required.host, &required.join, &agreement.join),
            Role::Join => (&required.join, &required.host, &agreement.host),
        };
        let entries = &agreement.proposal.cohort.entries;
        let own: Vec<&Scanpath> = own.iter().map(|&index| &entries[index].scanpath).collect();
        let lengths = lengths(roster, theirs.iter().copied())?;
        let store = CountedStore {
            agreed: AgreedPairs {
                role: session.role,
                spec,
                pairs: &agreement.pairs,
                cells: &agreement.cells,
                scanpaths: entries.len(),
            },
            compare,
            run: agreement.run,
            max_starts: agreement.max_starts,
            bookkeeping: Mutex::new(Bookkeeping {
                journal: &mut agreement.journal,
                account: &mut agreement.account,
                withdrawals: &mut agreement.withdrawals,
                failure: None,
            }),
            engine_counts: AtomicBool::new(false),
            observer,
            #[cfg(test)]
            watch: agreement.watch.clone(),
        };
        let mut job = Job::new(spec, session.role, &own, theirs.len(), &required.pairs)?
            .with_peer_lengths(&lengths)?
            .with_tree_levels(tree_levels)
            .with_store(&store);
        if let Some(key) = &agreement.proposal.key {
            job = job.with_key(key.share());
        }
        let answers = spec.engine.run(&job, &mut session.channel, &store);
        let mut bookkeeping = store.bookkeeping();
        let caught = matches!(
            answers,
            Err(ProtocolError::PeerMisbehaved(
                veilpath_protocol::Misbehaviour::Computation(_)
            ))
        );
        // A cheating peer is banned, whatever else went wrong.
        if let Some(failure) = bookkeeping.failure.take()
            && !caught
        {
            return Err(failure);
        }
        match answers {
            // Reported at the end of the session. Any other error ends it here.
            Err(ProtocolError::PeerMisbehaved(
                veilpath_protocol::Misbehaviour::ResultOutOfRange,
            )) if bookkeeping.journal.has_rejected() => {}
            // The store has every answer already. With impossible outputs, nothing more is done either, so that the other
            // side cannot tell them by the time.
            answers => {
                let learns = agreement.group.is_none() && spec.reveal_to.includes(session.role);
                if answers?.len() != if learns { compare.len() } else { 0 } {
                    return Err(InternalError::LostResults.into());
                }
            }
        }
        Ok(())
    }
}

impl Agreement {
    fn answers_digest(&self) -> String {
        let mut context = Context::new(&SHA256);
        let numbers = self.group.as_ref().map_or(0, |group| group.schema.count());
        for place in self.pairs.len()..self.pairs.len() + numbers {
            let number = self.journal.number(place).unwrap_or_default();
            context.update(&number.to_le_bytes());
        }
        for pair in 0..self.pairs.len() {
            match self.journal.answer(pair) {
                None => {}
                Some(Answer::Within(within)) => context.update(&[u8::from(within)]),
                Some(Answer::Score(reading)) => {
                    for number in reading.numbers() {
                        context.update(&[u8::from(number.is_some())]);
                        context.update(&number.unwrap_or_default().to_bits().to_le_bytes());
                    }
                }
            }
        }
        hex(context.finish().as_ref())
    }
}

/// The scanpaths of a cohort.
pub(crate) fn scanpaths(cohort: &Cohort) -> Vec<&Scanpath> {
    cohort.entries.iter().map(|entry| &entry.scanpath).collect()
}

/// The lengths of some scanpaths of the peer.
pub(crate) fn lengths(
    roster: &Roster,
    scanpaths: impl Iterator<Item = usize>,
) -> Result<Vec<usize>, SessionError> {
    scanpaths
        .map(|index| usize::try_from(roster.length(index)))
        .collect::<Result<_, _>>()
        .map_err(|_| Misbehaviour::CohortBeyondLimits.into())
}

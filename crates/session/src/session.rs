//! A session from the first word to the outcome, in three steps: greet, agree, run.

use crate::agreement::{self, Hello, Letters, Terms};
use crate::channel::SecureChannel;
use crate::control::{self, Tag};
use crate::identity::hex;
use crate::journal::Journal;
use crate::ledger::{self, Request};
use crate::limits::Patience;
use crate::line::Line;
use crate::one_agreement::OneAgreement;
use crate::roster::{self, Parties, Roster};
use crate::sealed::Sealed;
use crate::seals::{agreement_id, of_role, seal};
use crate::turns::ToldToWait;
use crate::work::Remaining;
use crate::{Fingerprint, Home, HostKey, Identity, SessionError};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veilpath_metrics::Cohort;
use veilpath_protocol::{ChannelError, Counted, ProtocolError, Role, Spec};

mod summary;
pub use summary::{Summary, Wish};

/// How long to wait for word of why a connection broke.
const AFTERTHOUGHT: Duration = Duration::from_millis(300);

/// Two sides that have greeted each other.
#[derive(Debug)]
pub struct Conversation {
    pub(crate) channel: Counted<Sealed<SecureChannel>>,
    pub(crate) line: Arc<Line>,
    pub(crate) role: Role,
    identity: Identity,
    peer: Fingerprint,
    patience: Patience,
    pub(crate) told_to_wait: ToldToWait,
    one_agreement: OneAgreement,
    /// How often the other side wants to hear something.
    pub(crate) beat: Duration,
}

/// What one side brings to the table.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is computed, as this side sees it.
    pub spec: Spec,
    /// This side's scanpaths.
    pub cohort: Cohort,
    /// Whether ids and stimuli are hidden from the other side.
    pub pseudonyms: bool,
    /// Stop before the work.
    pub estimate_only: bool,
    /// Compute all pairs again, whatever the journal holds.
    pub fresh: bool,
    /// The most comparisons of one scanpath of this side with this peer, in all sessions.
    pub limit_per_scanpath: Option<u64>,
    /// The host's own key, for an engine that takes one; without it, one is made for this session.
    pub key: Option<HostKey>,
}

/// Two sides that want the same, and know what is left to do.
#[derive(Debug)]
pub struct Agreed {
    pub(crate) conversation: Conversation,
    pub(crate) plan: Plan,
    pub(crate) parties: Parties,
    pub(crate) host: Roster,
    pub(crate) join: Roster,
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) journal: Journal,
    pub(crate) remaining: Remaining,
    pub(crate) ledger: Entry,
    theirs_estimates: bool,
    encoding_of_one_side: bool,
}

/// What this side counts once the work begins.
#[derive(Debug)]
pub(crate) struct Entry {
    /// `None` where nothing is kept.
    folder: Option<PathBuf>,
    comparisons: Vec<u64>,
    agreement: [u8; 32],
    pub(crate) most_agreements: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ready {
    journal: String,
}

impl Conversation {
    /// Exchanges versions, patience, and how scanpaths are written; gives the other side's letters.
    pub fn greet(
        mut channel: SecureChannel,
        role: Role,
        identity: &Identity,
        peer: Fingerprint,
        letters: &Letters,
        patience: Patience,
    ) -> Result<(Self, Letters), SessionError> {
        let line = channel.line();
        let versions = agreement::compare_versions(&mut channel);
        let mut conversation = Self {
            line,
            channel: Counted::new(Sealed::new(channel)),
            role,
            identity: identity.clone(),
            peer,
            patience,
            told_to_wait: ToldToWait::default(),
            one_agreement: OneAgreement::default(),
            beat: patience.silence / 4,
        };
        let hello = Hello::new(letters, patience.silence);
        let theirs =
            versions.and_then(|()| agreement::greet(&mut conversation.channel, role, &hello));
        let theirs = theirs.map_err(|error| conversation.explain(error))?;
        conversation.line.beat_for(theirs.silence());
        conversation.beat = conversation.beat.min(theirs.silence() / 4);
        let letters = theirs.letters()?;
        Ok((conversation, letters))
    }

    /// Tells the other side that this one cannot make a plan of its own.
    pub fn decline(mut self, reason: &str) {
        // Whether it hears of it or not, the session is over.
        let _ = control::decline(&mut self.channel, self.role, Tag::Terms, reason);
    }

    /// Keeps the other side to the one agreement that it may work on, over all conversations that share it. Whatever the plan says, a
    /// comparison that has begun is not begun afresh.
    pub fn keep_to(&mut self, one: &OneAgreement) {
        self.one_agreement = one.clone();
    }

    /// Compares the two plans, exchanges rosters, opens the journal, and finds what is left to do. Without a home nothing
    /// is kept: no journal to go on from, and no count of comparisons.
    pub fn agree(mut self, plan: Plan, home: Option<&Home>) -> Result<Agreed, SessionError> {
        plan.spec.check()?;
        match self.settle(plan, home) {
            Ok(settled) => Ok(settled.with(self)),
            Err(error) => Err(self.explain(error)),
        }
    }

    fn settle(&mut self, mut plan: Plan, home: Option<&Home>) -> Result<Settled, SessionError> {
        let (role, channel) = (self.role, &mut self.channel);
        let ours = self.identity.fingerprint();
        let (host, join) = match role {
            Role::Host => (ours, self.peer),
            Role::Join => (self.peer, ours),
        };
        let parties = Parties { host, join };
        let mine = Roster::of(
            &mut plan.cohort,
            &self.identity,
            self.peer,
            &parties,
            plan.pseudonyms,
            plan.spec.pad_to,
        )?;
        let mut terms = Terms::new(
            &plan.spec,
            mine.len() as u64,
            mine.lengths().sum(),
            seal(&plan.cohort, &self.identity),
        )?;
        terms.estimate_only = plan.estimate_only;
        terms.check().map_err(|_| {
            SessionError::Ours(
                "the cohort is too large for one session; compare it in parts".into(),
            )
        })?;
        let theirs: Terms = match role {
            Role::Host => control::exchange(channel, role, Tag::Terms, &terms)?,
            Role::Join => {
                let waiting = &mut self.told_to_wait.0;
                let theirs = control::receive_after_waiting(channel, Tag::Terms, waiting)?;
                control::send(channel, Tag::Terms, &terms)?;
                theirs
            }
        };
        theirs.check()?;
        let differences = terms.differences(&theirs);
        if !differences.is_empty() {
            return Err(SessionError::Differs(differences));
        }
        let encoding_of_one_side = terms.encoding.is_empty() != theirs.encoding.is_empty();
        if plan.spec.encoding.is_empty() {
            plan.spec.encoding = theirs.encoding.clone();
        }
        let announced = roster::Announced {
            scanpaths: theirs.scanpaths,
            letters: theirs.letters,
            pad_to: plan.spec.pad_to,
        };
        let their_roster = match role {
            Role::Host => {
                mine.send(channel)?;
                Roster::receive(channel, &announced)?
            }
            Role::Join => {
                let roster = Roster::receive(channel, &announced)?;
                mine.send(channel)?;
                roster
            }
        };
        let (host, join, seals) = match role {
            Role::Host => (
                mine,
                their_roster,
                [terms.seal.clone(), theirs.seal.clone()],
            ),
            Role::Join => (
                their_roster,
                mine,
                [theirs.seal.clone(), terms.seal.clone()],
            ),
        };
        let id = agreement_id(&terms, &plan.spec, &parties, &seals, &[&host, &join]);
        plan.fresh &= !self.one_agreement.has_begun();
        let estimates = plan.estimate_only || theirs.estimate_only;
        let work_with = (!estimates).then_some((&self.identity, self.peer));
        // What is not admitted leaves no trace on disk.
        let prepared = self
            .one_agreement
            .admit(&id)
            .and_then(|()| prepare(&plan, role, &parties, [&host, &join], &id, home, work_with));
        let (pairs, journal, (comparisons, most_agreements)) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let reason = match &error {
                    SessionError::Limit(reason) => reason.as_str(),
                    _ => "it has a problem of its own, and says so to its user",
                };
                let _ = control::decline(channel, role, Tag::Ready, reason);
                return Err(error);
            }
        };
        let ready = Ready { journal: hex(&id) };
        let their_ready: Ready = control::exchange(channel, role, Tag::Ready, &ready)?;
        if their_ready.journal != ready.journal {
            return Err(SessionError::misbehaved(
                "it holds another agreement than the one that was made",
            ));
        }
        let remaining = Remaining::find(channel, role, plan.spec.reveal_to, &journal)?;
        Ok(Settled {
            plan,
            parties,
            host,
            join,
            pairs,
            journal,
            remaining,
            ledger: Entry {
                folder: home.map(Home::ledgers),
                comparisons,
                agreement: id,
                most_agreements,
            },
            theirs_estimates: theirs.estimate_only,
            encoding_of_one_side,
        })
    }

    /// Work begins: from now on it is this agreement or none.
    pub(crate) fn begin(&self, entry: &Entry) -> Result<(), SessionError> {
        self.one_agreement.begin(&entry.agreement)
    }

    /// Counts what is about to be compared.
    pub(crate) fn charge(&self, plan: &Plan, entry: &Entry) -> Result<(), SessionError> {
        let Some(folder) = &entry.folder else {
            return Ok(());
        };
        ledger::charge(
            folder,
            &Request {
                identity: &self.identity,
                peer: self.peer,
                cohort: &plan.cohort,
                comparisons: &entry.comparisons,
                agreement: &entry.agreement,
                limit: plan.limit_per_scanpath,
            },
        )
    }

    /// The true reason for an error of the channel, where one is known.
    pub(crate) fn explain(&self, error: SessionError) -> SessionError {
        let SessionError::Protocol(ProtocolError::Channel(channel)) = &error else {
            return error;
        };
        let deadline = Instant::now() + AFTERTHOUGHT;
        loop {
            if let Some(cause) = self.line.cause() {
                return cause;
            }
            // A broken pipe is noticed before the alert that explains it.
            if matches!(channel, ChannelError::TimedOut) || Instant::now() > deadline {
                return SessionError::Network(channel.to_string());
            }
            std::thread::sleep(AFTERTHOUGHT / 10);
        }
    }

    pub(crate) fn be_patient_with_work(&self) {
        self.line.set_stall(self.patience.stall);
    }
}

/// [`Agreed`] without the conversation.
struct Settled {
    plan: Plan,
    parties: Parties,
    host: Roster,
    join: Roster,
    pairs: Vec<(usize, usize)>,
    journal: Journal,
    remaining: Remaining,
    ledger: Entry,
    theirs_estimates: bool,
    encoding_of_one_side: bool,
}

impl Settled {
    fn with(self, conversation: Conversation) -> Agreed {
        Agreed {
            conversation,
            plan: self.plan,
            parties: self.parties,
            host: self.host,
            join: self.join,
            pairs: self.pairs,
            journal: self.journal,
            remaining: self.remaining,
            ledger: self.ledger,
            theirs_estimates: self.theirs_estimates,
            encoding_of_one_side: self.encoding_of_one_side,
        }
    }
}

/// The pairs, the journal, in how many pairs each scanpath of this side is, and the most agreements that one is in.
type Prepared = (Vec<(usize, usize)>, Journal, (Vec<u64>, u64));

/// Everything that this side can find out by itself once it knows both rosters. Without `work_with` it is for an estimate.
fn prepare(
    plan: &Plan,
    role: Role,
    parties: &Parties,
    [host, join]: [&Roster; 2],
    id: &[u8; 32],
    home: Option<&Home>,
    work_with: Option<(&Identity, Fingerprint)>,
) -> Result<Prepared, SessionError> {
    let pairs = roster::pairs(plan.spec.pairs, host, join, parties)?;
    let (name, reveal) = (of_role(id, role), plan.spec.reveal);
    let mut journal = match home {
        Some(home) => Journal::open(&home.journals(), name, pairs.len(), reveal)?,
        None => Journal::in_memory(name, pairs.len(), reveal),
    };
    let mut comparisons = vec![0; plan.cohort.entries.len()];
    for &(i, j) in &pairs {
        let own = if role == Role::Host { i } else { j };
        comparisons[own] += 1;
    }
    let mut most_agreements = 0;
    if let (Some((identity, peer)), Some(home)) = (work_with, home) {
        most_agreements = ledger::check(
            &home.ledgers(),
            &Request {
                identity,
                peer,
                cohort: &plan.cohort,
                comparisons: &comparisons,
                agreement: id,
                limit: plan.limit_per_scanpath,
            },
        )?;
        if plan.fresh {
            journal.forget()?;
        }
    }
    Ok((pairs, journal, (comparisons, most_agreements)))
}

#[cfg(test)]
mod tests;

//! A session from the first word to the outcome, in three steps: greet, agree, run.

use crate::agreement::{self, AlphabetInfo, Hello, Terms};
use crate::channel::SecureChannel;
use crate::checksummed::ChecksummedChannel;
use crate::connection::SharedConnection;
use crate::control::{self, Tag};
use crate::digests::{agreement_id, cohort_tag, journal_id};
use crate::identity::hex;
use crate::journal::Journal;
use crate::ledger::{self, Request};
use crate::limits::Timeouts;
use crate::pinned_agreement::PinnedAgreement;
use crate::roster::{self, Parties, Roster};
use crate::run::Remaining;
use crate::session_slots::WaitCallback;
use crate::{Fingerprint, HostKey, Identity, SessionError, StateDir};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veilpath_metrics::Cohort;
use veilpath_protocol::{ChannelError, Counted, ProtocolError, Role, Spec};

mod summary;
pub use summary::{AgreementSummary, Requested};

/// How long to wait for word of why a connection broke.
const CAUSE_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// Two sides that have greeted each other.
#[derive(Debug)]
pub struct Session {
    pub(crate) channel: Counted<ChecksummedChannel<SecureChannel>>,
    pub(crate) connection: Arc<SharedConnection>,
    pub(crate) role: Role,
    identity: Identity,
    peer: Fingerprint,
    timeouts: Timeouts,
    pub(crate) wait_callback: WaitCallback,
    pinned_agreement: PinnedAgreement,
    /// How often the other side wants to hear something.
    pub(crate) keep_alive: Duration,
}

/// What one side brings to the table.
#[derive(Clone, Debug)]
pub struct Proposal {
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
pub struct AgreedSession {
    pub(crate) session: Session,
    pub(crate) proposal: Proposal,
    pub(crate) parties: Parties,
    pub(crate) host: Roster,
    pub(crate) join: Roster,
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) journal: Journal,
    pub(crate) remaining: Remaining,
    pub(crate) ledger: Entry,
    peer_estimates_only: bool,
    encoding_on_one_side: bool,
}

/// What this side counts once the work begins.
#[derive(Debug)]
pub(crate) struct Entry {
    /// `None` where nothing is kept.
    folder: Option<PathBuf>,
    comparisons: Vec<u64>,
    agreement: [u8; 32],
    pub(crate) max_agreements: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ready {
    journal: String,
}

impl Session {
    /// Exchanges versions, patience, and how scanpaths are written; gives the other side's letters.
    pub fn open(
        mut channel: SecureChannel,
        role: Role,
        identity: &Identity,
        peer: Fingerprint,
        letters: &AlphabetInfo,
        timeouts: Timeouts,
    ) -> Result<(Self, AlphabetInfo), SessionError> {
        let connection = channel.connection();
        let versions = agreement::exchange_versions(&mut channel);
        let mut session = Self {
            connection,
            channel: Counted::new(ChecksummedChannel::new(channel)),
            role,
            identity: identity.clone(),
            peer,
            timeouts,
            wait_callback: WaitCallback::default(),
            pinned_agreement: PinnedAgreement::default(),
            keep_alive: timeouts.idle / 4,
        };
        let hello = Hello::new(letters, timeouts.idle);
        let theirs = versions.and_then(|()| agreement::open(&mut session.channel, role, &hello));
        let theirs = theirs.map_err(|error| session.explain(error))?;
        session.connection.set_keep_alive(theirs.idle());
        session.keep_alive = session.keep_alive.min(theirs.idle() / 4);
        let letters = theirs.letters()?;
        Ok((session, letters))
    }

    /// Tells the other side that this one cannot make a plan of its own.
    pub fn decline(mut self, reason: &str) {
        // Whether it hears of it or not, the session is over.
        let _ = control::decline(&mut self.channel, self.role, Tag::Terms, reason);
    }

    /// Keeps the other side to the one agreement that it may work on, over all conversations that share it. Whatever the plan says, a
    /// comparison that has begun is not begun afresh.
    pub fn pin_agreement(&mut self, one: &PinnedAgreement) {
        self.pinned_agreement = one.clone();
    }

    /// Compares the two plans, exchanges rosters, opens the journal, and finds what is left to do. Without a home nothing
    /// is kept: no journal to go on from, and no count of comparisons.
    pub fn agree(
        mut self,
        proposal: Proposal,
        state_dir: Option<&StateDir>,
    ) -> Result<AgreedSession, SessionError> {
        proposal.spec.check()?;
        match self.settle(proposal, state_dir) {
            Ok(settled) => Ok(settled.with(self)),
            Err(error) => Err(self.explain(error)),
        }
    }

    fn settle(
        &mut self,
        mut proposal: Proposal,
        state_dir: Option<&StateDir>,
    ) -> Result<Agreement, SessionError> {
        let (role, channel) = (self.role, &mut self.channel);
        let ours = self.identity.fingerprint();
        let (host, join) = match role {
            Role::Host => (ours, self.peer),
            Role::Join => (self.peer, ours),
        };
        let parties = Parties { host, join };
        let mine = Roster::of(
            &mut proposal.cohort,
            &self.identity,
            self.peer,
            &parties,
            proposal.pseudonyms,
            proposal.spec.pad_to,
        )?;
        let mut terms = Terms::new(
            &proposal.spec,
            mine.len() as u64,
            mine.lengths().sum(),
            cohort_tag(&proposal.cohort, &self.identity),
        )?;
        terms.estimate_only = proposal.estimate_only;
        terms.check().map_err(|_| {
            SessionError::Ours(
                "the cohort is too large for one session; compare it in parts".into(),
            )
        })?;
        let theirs: Terms = match role {
            Role::Host => control::exchange(channel, role, Tag::Terms, &terms)?,
            Role::Join => {
                let waiting = &mut self.wait_callback.0;
                let theirs = control::receive_after_wait(channel, Tag::Terms, waiting)?;
                control::send(channel, Tag::Terms, &terms)?;
                theirs
            }
        };
        theirs.check()?;
        let differences = terms.differences(&theirs);
        if !differences.is_empty() {
            return Err(SessionError::Differs(differences));
        }
        let encoding_on_one_side = terms.encoding.is_empty() != theirs.encoding.is_empty();
        if proposal.spec.encoding.is_empty() {
            proposal.spec.encoding = theirs.encoding.clone();
        }
        let announced = roster::Announced {
            scanpaths: theirs.scanpaths,
            letters: theirs.letters,
            pad_to: proposal.spec.pad_to,
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
        let (host, join, cohort_tags) = match role {
            Role::Host => (
                mine,
                their_roster,
                [terms.cohort_tag.clone(), theirs.cohort_tag.clone()],
            ),
            Role::Join => (
                their_roster,
                mine,
                [theirs.cohort_tag.clone(), terms.cohort_tag.clone()],
            ),
        };
        let id = agreement_id(
            &terms,
            &proposal.spec,
            &parties,
            &cohort_tags,
            &[&host, &join],
        );
        proposal.fresh &= !self.pinned_agreement.is_pinned();
        let estimates = proposal.estimate_only || theirs.estimate_only;
        let work_with = (!estimates).then_some((&self.identity, self.peer));
        // What is not admitted leaves no trace on disk.
        let prepared = self.pinned_agreement.admit(&id).and_then(|()| {
            prepare(
                &proposal,
                role,
                &parties,
                [&host, &join],
                &id,
                state_dir,
                work_with,
            )
        });
        let (pairs, journal, (comparisons, max_agreements)) = match prepared {
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
        let remaining = Remaining::find(channel, role, proposal.spec.reveal_to, &journal)?;
        Ok(Agreement {
            proposal,
            parties,
            host,
            join,
            pairs,
            journal,
            remaining,
            ledger: Entry {
                folder: state_dir.map(StateDir::ledgers),
                comparisons,
                agreement: id,
                max_agreements,
            },
            peer_estimates_only: theirs.estimate_only,
            encoding_on_one_side,
        })
    }

    /// Work begins: from now on it is this agreement or none.
    pub(crate) fn begin(&self, entry: &Entry) -> Result<(), SessionError> {
        self.pinned_agreement.begin(&entry.agreement)
    }

    /// Counts what is about to be compared.
    pub(crate) fn charge(&self, proposal: &Proposal, entry: &Entry) -> Result<(), SessionError> {
        let Some(folder) = &entry.folder else {
            return Ok(());
        };
        ledger::charge(
            folder,
            &Request {
                identity: &self.identity,
                peer: self.peer,
                cohort: &proposal.cohort,
                comparisons: &entry.comparisons,
                agreement: &entry.agreement,
                limit: proposal.limit_per_scanpath,
            },
        )
    }

    /// The true reason for an error of the channel, where one is known.
    pub(crate) fn explain(&self, error: SessionError) -> SessionError {
        let SessionError::Protocol(ProtocolError::Channel(channel)) = &error else {
            return error;
        };
        let deadline = Instant::now() + CAUSE_GRACE_PERIOD;
        loop {
            if let Some(cause) = self.connection.cause() {
                return cause;
            }
            // A broken pipe is noticed before the alert that explains it.
            if matches!(channel, ChannelError::TimedOut) || Instant::now() > deadline {
                return SessionError::Network(channel.to_string());
            }
            std::thread::sleep(CAUSE_GRACE_PERIOD / 10);
        }
    }

    pub(crate) fn allow_long_work(&self) {
        self.connection.set_stall(self.timeouts.stall);
    }
}

/// [`AgreedSession`] without the conversation.
struct Agreement {
    proposal: Proposal,
    parties: Parties,
    host: Roster,
    join: Roster,
    pairs: Vec<(usize, usize)>,
    journal: Journal,
    remaining: Remaining,
    ledger: Entry,
    peer_estimates_only: bool,
    encoding_on_one_side: bool,
}

impl Agreement {
    fn with(self, session: Session) -> AgreedSession {
        AgreedSession {
            session,
            proposal: self.proposal,
            parties: self.parties,
            host: self.host,
            join: self.join,
            pairs: self.pairs,
            journal: self.journal,
            remaining: self.remaining,
            ledger: self.ledger,
            peer_estimates_only: self.peer_estimates_only,
            encoding_on_one_side: self.encoding_on_one_side,
        }
    }
}

/// The pairs, the journal, in how many pairs each scanpath of this side is, and the most agreements that one is in.
type Prepared = (Vec<(usize, usize)>, Journal, (Vec<u64>, u64));

/// Everything that this side can find out by itself once it knows both rosters. Without `work_with` it is for an estimate.
fn prepare(
    proposal: &Proposal,
    role: Role,
    parties: &Parties,
    [host, join]: [&Roster; 2],
    id: &[u8; 32],
    state_dir: Option<&StateDir>,
    work_with: Option<(&Identity, Fingerprint)>,
) -> Result<Prepared, SessionError> {
    let pairs = roster::pairs(proposal.spec.pairs, host, join, parties)?;
    let (name, reveal) = (journal_id(id, role), proposal.spec.reveal);
    let mut journal = match state_dir {
        Some(state_dir) => Journal::open(&state_dir.journals(), name, pairs.len(), reveal)?,
        None => Journal::in_memory(name, pairs.len(), reveal),
    };
    let mut comparisons = vec![0; proposal.cohort.entries.len()];
    for &(i, j) in &pairs {
        let own = if role == Role::Host { i } else { j };
        comparisons[own] += 1;
    }
    let mut max_agreements = 0;
    if let (Some((identity, peer)), Some(state_dir)) = (work_with, state_dir) {
        max_agreements = ledger::check(
            &state_dir.ledgers(),
            &Request {
                identity,
                peer,
                cohort: &proposal.cohort,
                comparisons: &comparisons,
                agreement: id,
                limit: proposal.limit_per_scanpath,
            },
        )?;
        if proposal.fresh {
            journal.forget()?;
        }
    }
    Ok((pairs, journal, (comparisons, max_agreements)))
}

#[cfg(test)]
mod tests;

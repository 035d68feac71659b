//! A session from its opening to the outcome, in three steps: open, agree, run.

use crate::agreement::{self, AlphabetInfo, Hello, Terms};
use crate::channel::SecureChannel;
use crate::checksummed::ChecksummedChannel;
use crate::connection::SharedConnection;
use crate::control::{self, Tag};
use crate::digests::{agreement_id, cohort_tag, journal_id};
use crate::error::{DeclineReason, Misbehaviour, NetworkError, UsageError};
use crate::identity::hex;
use crate::journal::Journal;
use crate::ledger::{self, Request};
use crate::limits::Timeouts;
use crate::pinned_agreement::PinnedAgreement;
use crate::roster::{self, Parties, Roster};
use crate::run::Remaining;
use crate::{Fingerprint, HostKey, Identity, SessionError, StateDir};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veilpath_channel::{ChannelError, Counted};
use veilpath_metrics::Cohort;
use veilpath_protocol::{ProtocolError, Role, Spec};

mod summary;
pub use summary::{AgreementSummary, Requested};

/// How long to wait for the cause of a broken connection to be known.
const CAUSE_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// An open session: both sides have the same version, and know each other's alphabets.
#[derive(Debug)]
pub struct Session {
    pub(crate) channel: Counted<ChecksummedChannel<SecureChannel>>,
    pub(crate) connection: Arc<SharedConnection>,
    pub(crate) role: Role,
    identity: Identity,
    peer: Fingerprint,
    timeouts: Timeouts,
    pinned_agreement: PinnedAgreement,
    /// The interval of keep-alives that suits both sides' idle timeouts.
    pub(crate) keep_alive: Duration,
}

/// What one side proposes to the other.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// What to compute, as this side sees it.
    pub spec: Spec,
    /// This side's scanpaths.
    pub cohort: Cohort,
    /// Whether ids and stimuli are hidden from the other side.
    pub pseudonyms: bool,
    /// Whether to stop before the computation.
    pub estimate_only: bool,
    /// Whether to compute all pairs again, whatever the journal contains.
    pub fresh: bool,
    /// The most comparisons of one scanpath of this side with this peer, in all sessions.
    pub limit_per_scanpath: Option<u64>,
    /// The host's own key, for an engine that takes one; without it, a new one is made for this session.
    pub key: Option<HostKey>,
}

/// A session whose sides have agreed on what to compute.
#[derive(Debug)]
pub struct AgreedSession {
    pub(crate) session: Session,
    pub(crate) agreement: Agreement,
}

/// What two sides have agreed on, and what is left to do.
#[derive(Debug)]
pub(crate) struct Agreement {
    pub(crate) proposal: Proposal,
    pub(crate) parties: Parties,
    pub(crate) host: Roster,
    pub(crate) join: Roster,
    pub(crate) pairs: Vec<(usize, usize)>,
    pub(crate) journal: Journal,
    pub(crate) remaining: Remaining,
    pub(crate) charge: LedgerCharge,
    peer_estimates_only: bool,
    encoding_on_one_side: bool,
}

/// What this side adds to its ledger when the computation starts.
#[derive(Debug)]
pub(crate) struct LedgerCharge {
    /// `None` where nothing is stored.
    directory: Option<PathBuf>,
    comparisons: Vec<u64>,
    agreement: [u8; 32],
    pub(crate) max_agreements: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ready {
    agreement: String,
}

impl Session {
    /// Exchanges versions, idle timeouts, and the alphabets of the cohorts; returns the other side's alphabet.
    pub fn open(
        mut channel: SecureChannel,
        role: Role,
        identity: &Identity,
        peer: Fingerprint,
        alphabet: &AlphabetInfo,
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
            pinned_agreement: PinnedAgreement::default(),
            keep_alive: timeouts.idle / 4,
        };
        let hello = Hello::new(alphabet, timeouts.idle);
        let theirs =
            versions.and_then(|()| agreement::exchange_hellos(&mut session.channel, role, &hello));
        let theirs = theirs.map_err(|error| session.explain(error))?;
        session.connection.set_keep_alive(theirs.idle_timeout());
        session.keep_alive = session.keep_alive.min(theirs.idle_timeout() / 4);
        let alphabet = theirs.alphabet()?;
        Ok((session, alphabet))
    }

    /// Ends the session before anything is proposed, and tells the other side why.
    pub fn decline(mut self, reason: DeclineReason) {
        // The session is over, whether the message arrives or not.
        let _ = control::decline(&mut self.channel, self.role, Tag::Terms, reason);
    }

    /// Restricts the other side to the pinned agreement, over all sessions that share it. A comparison that has started is
    /// continued, even if the proposal asks for a fresh one.
    pub fn pin_agreement(&mut self, pinned: &PinnedAgreement) {
        self.pinned_agreement = pinned.clone();
    }

    /// Compares the two proposals, exchanges rosters, opens the journal, and finds what is left to do. Without a state
    /// directory nothing is stored: no journal to resume from, and no ledger. On the joining side, `on_wait` is called whenever
    /// the host asks to wait, with the number of sessions ahead.
    pub fn agree(
        mut self,
        proposal: Proposal,
        state_dir: Option<&StateDir>,
        on_wait: &mut dyn FnMut(u64),
    ) -> Result<AgreedSession, SessionError> {
        proposal.spec.check()?;
        match self.negotiate(proposal, state_dir, on_wait) {
            Ok(agreement) => Ok(AgreedSession {
                session: self,
                agreement,
            }),
            Err(error) => Err(self.explain(error)),
        }
    }

    fn negotiate(
        &mut self,
        mut proposal: Proposal,
        state_dir: Option<&StateDir>,
        on_wait: &mut dyn FnMut(u64),
    ) -> Result<Agreement, SessionError> {
        let (role, channel) = (self.role, &mut self.channel);
        let ours = self.identity.fingerprint();
        let (host, join) = by_role(role, ours, self.peer);
        let parties = Parties { host, join };
        let our_roster = Roster::of(
            &mut proposal.cohort,
            &self.identity,
            self.peer,
            &parties,
            proposal.pseudonyms,
            proposal.spec.pad_to,
        )?;
        let mut terms = Terms::new(
            &proposal.spec,
            our_roster.len() as u64,
            our_roster.lengths().sum(),
            cohort_tag(&proposal.cohort, &self.identity),
        )?;
        terms.estimate_only = proposal.estimate_only;
        terms.check().map_err(|_| UsageError::CohortTooLarge)?;
        let theirs: Terms = match role {
            Role::Host => control::exchange(channel, role, Tag::Terms, &terms)?,
            Role::Join => {
                let theirs = control::receive_after_wait(channel, Tag::Terms, on_wait)?;
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
                our_roster.send(channel)?;
                Roster::receive(channel, &announced)?
            }
            Role::Join => {
                let roster = Roster::receive(channel, &announced)?;
                our_roster.send(channel)?;
                roster
            }
        };
        let (host, join) = by_role(role, our_roster, their_roster);
        let cohort_tags = by_role(role, terms.cohort_tag.clone(), theirs.cohort_tag).into();
        let rosters = [&host, &join];
        let id = agreement_id(&terms, &proposal.spec, &parties, &cohort_tags, &rosters);
        proposal.fresh &= !self.pinned_agreement.is_pinned();
        let estimate_only = proposal.estimate_only || theirs.estimate_only;
        let ledger_of = (!estimate_only).then_some((&self.identity, self.peer));
        // An agreement that is not allowed leaves no trace on disk.
        let prepared = self.pinned_agreement.check(&id).and_then(|()| {
            prepare(
                &proposal, role, &parties, rosters, &id, state_dir, ledger_of,
            )
        });
        let (pairs, journal, (comparisons, max_agreements)) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                let reason = match &error {
                    SessionError::Limit(limit) => DeclineReason::Limit(limit.clone()),
                    _ => DeclineReason::LocalProblem,
                };
                let _ = control::decline(channel, role, Tag::Ready, reason);
                return Err(error);
            }
        };
        let ready = Ready {
            agreement: hex(&id),
        };
        let their_ready: Ready = control::exchange(channel, role, Tag::Ready, &ready)?;
        if their_ready.agreement != ready.agreement {
            return Err(Misbehaviour::DifferentAgreement.into());
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
            charge: LedgerCharge {
                directory: state_dir.map(StateDir::ledgers),
                comparisons,
                agreement: id,
                max_agreements,
            },
            peer_estimates_only: theirs.estimate_only,
            encoding_on_one_side,
        })
    }

    /// The computation starts: the peer is restricted to this agreement.
    pub(crate) fn pin(&self, charge: &LedgerCharge) -> Result<(), SessionError> {
        self.pinned_agreement.pin(&charge.agreement)
    }

    /// Counts the comparisons in the ledger.
    pub(crate) fn charge(
        &self,
        proposal: &Proposal,
        charge: &LedgerCharge,
    ) -> Result<(), SessionError> {
        let Some(directory) = &charge.directory else {
            return Ok(());
        };
        ledger::charge(
            directory,
            &Request {
                identity: &self.identity,
                peer: self.peer,
                cohort: &proposal.cohort,
                comparisons: &charge.comparisons,
                agreement: &charge.agreement,
                limit: proposal.limit_per_scanpath,
            },
        )
    }

    /// The cause of an error of the channel, where it is known.
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
                return NetworkError::Channel(channel.clone()).into();
            }
            std::thread::sleep(CAUSE_GRACE_PERIOD / 10);
        }
    }

    /// From now on the stall timeout applies while the other side computes.
    pub(crate) fn allow_long_work(&self) {
        self.connection.set_stall(self.timeouts.stall);
    }
}

/// The host's and the joining side's, from this side's and the other's.
fn by_role<T>(role: Role, ours: T, theirs: T) -> (T, T) {
    match role {
        Role::Host => (ours, theirs),
        Role::Join => (theirs, ours),
    }
}

/// The pairs, the journal, the number of pairs of each scanpath of this side, and the most agreements that one is in.
type Prepared = (Vec<(usize, usize)>, Journal, (Vec<u64>, u64));

/// Everything that this side can find out by itself once it knows both rosters. `ledger_of` is `None` for an estimate.
fn prepare(
    proposal: &Proposal,
    role: Role,
    parties: &Parties,
    [host, join]: [&Roster; 2],
    id: &[u8; 32],
    state_dir: Option<&StateDir>,
    ledger_of: Option<(&Identity, Fingerprint)>,
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
    if let (Some((identity, peer)), Some(state_dir)) = (ledger_of, state_dir) {
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
            journal.discard_answers()?;
        }
    }
    Ok((pairs, journal, (comparisons, max_agreements)))
}

#[cfg(test)]
mod tests;

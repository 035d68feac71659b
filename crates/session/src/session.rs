//! A session from its opening to the outcome, in three steps: open, agree, run.

use crate::agreement::{self, AlphabetInfo, Hello};
use crate::channel::SecureChannel;
use crate::checksummed::ChecksummedChannel;
use crate::connection::SharedConnection;
use crate::control::{self, Tag};
use crate::disclosure::{Charge, DisclosureLedger, WithdrawalWatch};
use crate::engine_decision::{EngineDecision, EngineReason};
use crate::error::{DeclineReason, NetworkError};
use crate::groups::GroupAgreement;
use crate::journal::Journal;
use crate::ledger::{Account, LedgerFile};
use crate::limits::Timeouts;
use crate::pinned_agreement::PinnedAgreement;
use crate::resume::Resume;
use crate::roster::{Parties, Roster};
use crate::scanpath_limit::LimitSummary;
use crate::signed_record::RecordFile;
use crate::{Fingerprint, Identity, SessionError, StateDir};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use veilpath_channel::{ChannelError, Counted};
use veilpath_protocol::{Link, PairBlocks, ProtocolError, Role};

mod negotiate;
pub(crate) mod open_storage;
mod proposal;
mod settle;
mod signing;
mod summary;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use negotiate::Ready;
pub use negotiate::{FRESH_FIELD, NUMBER_FIELD};
pub use proposal::Proposal;
pub use summary::{AgreementSummary, GroupSummary, Requested, TileTotals};

/// How long to wait for the cause of a broken connection to be known.
const CAUSE_GRACE_PERIOD: Duration = Duration::from_millis(300);

/// An open session: both sides have the same version, and know each other's alphabets.
#[derive(Debug)]
pub struct Session {
    pub(crate) channel: Counted<ChecksummedChannel<SecureChannel>>,
    pub(crate) connection: Arc<SharedConnection>,
    pub(crate) role: Role,
    pub(crate) identity: Identity,
    pub(crate) peer: Fingerprint,
    timeouts: Timeouts,
    pinned_agreement: PinnedAgreement,
    /// The time that the session has besides what its plan needs, if its time is limited.
    time_limit: Option<Duration>,
    /// The interval of keep-alives that suits both sides' idle timeouts.
    pub(crate) keep_alive: Duration,
}

/// A session whose sides have agreed on what to compute.
#[derive(Debug)]
pub struct AgreedSession {
    pub(crate) session: Session,
    pub(crate) agreement: Agreement,
    /// Why the completion could not be entered into the record.
    pub(crate) record_failure: Option<SessionError>,
}

/// What two sides have agreed on, and what is left to do.
#[derive(Debug)]
pub(crate) struct Agreement {
    pub(crate) id: [u8; 32],
    /// The plan, and the number of this agreement on it.
    pub(crate) plan: [u8; 32],
    pub(crate) number: u32,
    pub(crate) proposal: Proposal,
    pub(crate) parties: Parties,
    pub(crate) host: Roster,
    pub(crate) join: Roster,
    /// The pairs of this session: of the plan, or of one of its tiles.
    pub(crate) pairs: Vec<(usize, usize)>,
    /// The pairs of the whole plan.
    pub(crate) blocks: Arc<PairBlocks>,
    /// The matrix cells of each pair.
    pub(crate) cells: Vec<u64>,
    pub(crate) journal: Journal,
    pub(crate) ledger: LedgerFile,
    pub(crate) account: Account,
    pub(crate) record: RecordFile,
    pub(crate) resume: Resume,
    /// What the agreement says about groups, if its answer is about them.
    pub(crate) group: Option<GroupAgreement>,
    /// What the disclosure ledger will remember, if the other side learns single pairs.
    pub(crate) pair_charge: Option<(DisclosureLedger, Charge)>,
    /// The participants of this side whom the session tells the other side something about.
    pub(crate) withdrawals: WithdrawalWatch,
    /// The tag of the computation that starts now.
    pub(crate) run: u64,
    /// Whether the number of this agreement is a new one.
    pub(crate) is_new_number: bool,
    /// How often a pair may be started.
    pub(crate) max_starts: u32,
    #[cfg(test)]
    pub(crate) watch: Option<Arc<crate::counted_store::StartWatch>>,
    /// The largest number of agreements that a scanpath of this side is in.
    pub(crate) max_agreements: u64,
    pub(crate) limit: LimitSummary,
    pub(crate) peer_estimates_only: bool,
    /// What was decided about the engine, where that depends on the connection.
    pub(crate) decision: Option<EngineDecision>,
    pub(crate) engine_reason: EngineReason,
    /// The connection, as both sides have measured it.
    pub(crate) link: Link,
    pub(crate) encoding_on_one_side: bool,
    /// The folder of agreements on tiles.
    pub(crate) agreements_folder: Option<PathBuf>,
    /// Whether this session signs what is disclosed. A worker's session does not: the institutions have already signed.
    pub(crate) signs: bool,
}

impl Session {
    /// Exchanges versions, idle timeouts and alphabets; returns the other side's alphabet.
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
            time_limit: None,
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

    /// Limits the time of the session, so that a peer cannot keep a slot by sending a byte now and then: `time` until the sides
    /// have agreed, then the same again plus what the plan takes on [a slow connection](Link::slowest) between slow machines.
    pub fn limit_time(&mut self, time: Duration) {
        self.time_limit = Some(time);
        self.connection.set_deadline(time);
    }

    /// Compares the two proposals, exchanges rosters, opens the journal, and finds what is left to do. Without a state folder
    /// nothing is stored: no journal to resume from, and no ledger. On the joining side, `on_wait` is called whenever
    /// the host asks to wait, with the number of sessions ahead.
    pub fn agree(
        mut self,
        proposal: Proposal,
        state_dir: Option<&StateDir>,
        on_wait: &mut dyn FnMut(u64),
    ) -> Result<AgreedSession, SessionError> {
        proposal.check()?;
        self.connection.end_early_limit();
        match self.negotiate(proposal, state_dir, on_wait) {
            Ok(agreement) => Ok(AgreedSession {
                session: self,
                agreement,
                record_failure: None,
            }),
            Err(error) => Err(self.explain(error)),
        }
    }

    /// Restricts the peer to this agreement when its computation starts.
    pub(crate) fn pin(&self, agreement: &[u8; 32]) -> Result<(), SessionError> {
        self.pinned_agreement.pin(agreement)
    }

    /// The ledger of the peer.
    pub(crate) fn ledger(&self, state_dir: Option<&StateDir>) -> LedgerFile {
        let directory = state_dir.map(StateDir::ledgers);
        LedgerFile::of(directory.as_deref(), self.peer)
    }

    /// The cause of an error of the channel, where it is known.
    pub(crate) fn explain(&self, error: SessionError) -> SessionError {
        let SessionError::Protocol(ProtocolError::Channel(channel)) = &error else {
            return error;
        };
        let deadline = Instant::now() + CAUSE_GRACE_PERIOD;
        loop {
            // Once nothing more is read, no cause can follow.
            let is_closed = self.connection.is_closed();
            if let Some(cause) = self.connection.cause() {
                return cause;
            }
            // A broken pipe is noticed before the alert that explains it.
            let is_over = is_closed || Instant::now() > deadline;
            if matches!(channel, ChannelError::TimedOut) || is_over {
                return NetworkError::Channel(channel.clone()).into();
            }
            std::thread::sleep(CAUSE_GRACE_PERIOD / 100);
        }
    }

    /// From now on the stall timeout applies while the other side computes.
    pub(crate) fn allow_long_work(&self) {
        self.connection.set_stall(self.timeouts.stall);
    }
}

/// Orders this side's and the other side's value as host and joining side.
fn by_role<T>(role: Role, ours: T, theirs: T) -> (T, T) {
    match role {
        Role::Host => (ours, theirs),
        Role::Join => (theirs, ours),
    }
}

#[cfg(test)]
mod attack_tests;
#[cfg(test)]
mod tests;

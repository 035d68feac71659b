//! Connects two institutions: identities, an encrypted connection, agreement on the plan, and the computation.
//!
//! ```text
//! Listener::accept ─┐                    Session::open ─▶ Session::agree ─▶ AgreedSession::run ─▶ CompletedSession
//! join ─────────────┴─▶ SecureChannel ─▶   versions,        plan,             the engine; every     (an Outcome)
//!      TLS 1.3, two pinned keys            timeouts         rosters,          answer goes into the
//!                                                           journal           journal at once
//! ```
//!
//! [`compare_on_loopback`] runs all of it for both sides in one process.
//!
//! Both sides run the same code; only the order of messages differs. Everything that a peer sends is checked against [`limits`]
//! before memory is reserved for it, every wait has a timeout, and every error says whose fault it is ([`SessionError::fault`]).
//!
//! The engines of `veilpath-protocol` run unchanged: a session agrees on every field of the plan, whatever an engine adds to
//! it, and gives the engine a [`Channel`](veilpath_channel::Channel).

mod acceptor;
mod agreement;
mod channel;
mod checksummed;
mod computed;
mod connect;
mod connection;
mod control;
mod counted_store;
mod date;
mod digests;
mod disclosure;
mod engine_decision;
mod error;
pub mod frames;
#[cfg(any(test, feature = "fuzzing"))]
#[doc(hidden)]
pub mod fuzzing;
mod groups;
mod host_key;
mod identity;
mod journal;
mod ledger;
pub mod limits;
mod link;
mod locked_file;
mod loopback;
mod memory;
mod outcome;
mod peer_server;
mod permissions;
mod pinned_agreement;
mod policy;
mod process;
mod relay;
mod resend;
mod resume;
mod roster;
mod run;
mod scanpath_limit;
mod secret_json;
mod session;
mod session_end;
mod session_slots;
mod signed_record;
mod state_dir;
mod stored;
mod throttle;
mod tls;
mod unfinished_keys;
mod worker;

pub use acceptor::{Acceptor, Incoming};
pub use agreement::{
    AlphabetInfo, ENGINE_FIELD, PROTOCOL_VERSION_FIELD, TILE_COUNT_FIELD, TILE_FIELD,
};
pub use channel::{ChannelStop, SecureChannel};
pub use checksummed::ChecksummedChannel;
pub use computed::ComputedSession;
pub use connect::{Listener, check_address, join, join_unless};
pub use date::{date, date_and_time, now};
pub use digests::local_plan_id;
pub use disclosure::{
    AnswerRequest, Charge, DisclosureLedger, DisclosureLimits, DisclosureRefusal, GroupMember,
    Withdrawn,
};
pub use engine_decision::{EngineReason, EngineSummary, SharesObstacle};
pub use error::{
    BanReason, CoordinatorProblem, DeclineReason, Difference, ExceededLimit, Fault, FileProblem,
    InternalError, Limit, LimitOrigin, Misbehaviour, NetworkError, RelayProblem, SessionError,
    UsageError, WorkerKeyProblem,
};
pub use host_key::HostKey;
pub use identity::{Fingerprint, FingerprintError, Identity};
pub use loopback::{compare_on_loopback, compare_tile_on_loopback};
pub use memory::{memory_of_all_sessions, memory_per_session};
pub use peer_server::{Handler, PeerConnection, PeerServer, PeerState, SessionFailure};
pub use pinned_agreement::PinnedAgreement;
pub use policy::{
    AnswerKind, DEFAULT_ANSWERS_PER_PARTNER, DEFAULT_MINIMUM_GROUP, Forbidden, MIN_GROUP_SIZE,
    POLICY_EXAMPLE, Policy, PolicyError, PolicyPartner, PolicyProblem, PolicyRefusal,
    PolicyRequest, PolicyRule, PolicyTexts,
};
pub use process::disable_core_dumps;
pub use relay::{Relay, RelayEvent, RelayOptions, join_at_relay};
pub use run::CompletedSession;
pub use scanpath_limit::{LimitSummary, ScanpathLimit};
pub use session::{
    AgreedSession, AgreementSummary, FRESH_FIELD, GroupSummary, NUMBER_FIELD, Proposal, Requested,
    Session, TileTotals,
};
pub use session_end::SessionEnd;
pub use session_slots::{SessionSlot, SessionSlots};
pub use signed_record::{
    Disclosure, RecordComparison, RecordEntry, RecordLine, RecordProblem, SessionEntry, Signed,
    SignedRecord, Step, WithdrawalEntry,
};
pub use state_dir::{KnownPeer, Listing, StateDir};
pub use stored::StoredComparison;
pub use worker::{
    AgreedPlan, CoordinatedTile, Coordinator, CoordinatorEvent, CoordinatorOptions,
    MAX_WORKER_KEY_TIME, TileRange, TileRangeError, TileStep, TileStorage, WorkOrder,
};

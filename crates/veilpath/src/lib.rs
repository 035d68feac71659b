//! The tasks of a Veilpath user as library calls: encode files, plan and run a comparison, host or join a session, make a report.
//!
//! ```text
//! files ─▶ encode ─▶ Cohort ─▶ plan (a Spec) ─▶ compare, host or join ─▶ Outcome ─▶ report
//! ```
//!
//! The command line, a web page and a Python package are front ends of this crate: they turn flags, boxes or keyword arguments
//! into its options, and its events and errors into words. Nothing here parses arguments, prints, or ends the process:
//!
//! - progress, notes and the steps of a session go to an [`EventSink`];
//! - every failure is an [`Error`], whose [`Error::fault`] says who can fix it. An error names fields and values; the
//!   front end maps them to its flags or boxes.

mod choice;
mod cohort;
mod compare;
pub mod demo;
pub mod encode;
mod error;
mod event;
mod file_kind;
mod fingerprint_words;
mod invitation;
mod job;
mod key_pair;
mod local_cohort;
mod metric;
mod named_plan;
mod outcome;
mod output_file;
mod plan;
mod policy;
mod policy_document;
mod progress;
pub mod report;
mod score_matrix;
mod session;
pub mod split;
pub mod stats;
pub mod synth;
mod temporary_file;

pub use choice::Choice;
pub use cohort::{
    OtherFile, cohort_in_memory, decode_cohort, read_cohort, read_cohort_from, refuse_repeated_ids,
};
pub use compare::{CompareOptions, TestCoins, TestCoinsError, compare};
pub use error::{Error, Fault};
pub use event::{Event, EventSink, Note};
pub use file_kind::{FileKind, file_kind};
pub use fingerprint_words::fingerprint_words;
pub use invitation::{Invitation, InvitationError};
pub use job::Job;
pub use key_pair::{KeyPairOptions, generate_key_pair};
pub use local_cohort::LocalCohort;
pub use metric::{
    DivideBy, MeasureOptions, MetricField, MetricName, MetricOptions, MetricOptionsError,
    NoEffectReason, PointsChoice, SubstitutionChoice, UnknownChoice, UnknownName,
};
pub use named_plan::NamedPlan;
pub use outcome::{OutcomeFormat, write_outcome};
pub use output_file::{Contents, OutputConflict, OutputFile, has_content, refuse_same_output};
pub use plan::{PlanOptions, PlannedComparison, load_host_key, plan};
pub use policy::{check_policy, find_policy, write_policy_example};
pub use policy_document::{DocumentPlan, policy_document};
pub use progress::Progress;
pub use score_matrix::{ScoreMatrix, score_matrix};
pub use session::{
    Peer, PeerEvent, PeersError, PeersFileProblem, ResultFolder, SaveResults, Saved, ServedPeer,
    SessionControl, SessionEvent, SessionOptions, check_peers, host, identity_file, join,
    read_peers, read_peers_from, relay, serve, state_dir, write_comparisons, write_known_peers,
    write_peers, write_record,
};

pub use veilpath_encode::cohort_file::write as write_cohort;
pub use veilpath_encode::{CohortNote, Input, RawCohort, ReadError};
pub use veilpath_metrics::{
    Alphabet, Cohort, Distance, Entry, Grid, Metric, MetricError, Notation, NotationError,
    RoundingError, Simplification, Threshold, Undefined, text,
};
pub use veilpath_paillier::{Error as PaillierError, KeySize};
pub use veilpath_protocol::{
    CancelToken, Capability, Engine, EngineChoice, Estimate, FixationRounding, GroupQuestion,
    JobError, Link, MAX_PADDING, MAX_TEXT_BYTES, Outcome, PaillierOptions, PairRule, PairRuleError,
    ProtocolError, ProvenEstimates, ResultFormatError, Reveal, RevealTo, Revealed, RiskySetting,
    Role, Spec, SpecError, TreeLevels, Unsupported,
};
pub use veilpath_report::document::Document;
pub use veilpath_report::{plan::in_words as plan_in_words, table, units};
pub use veilpath_session::limits::{DEFAULT_MEMORY, MAX_PEERS};
pub use veilpath_session::{
    AgreementSummary, AnswerKind, CompletedSession, DEFAULT_MINIMUM_GROUP, DeclineReason,
    Difference, Disclosure, DisclosureLedger, DisclosureLimits, DisclosureRefusal, ENGINE_FIELD,
    EngineReason, EngineSummary, ExceededLimit, FRESH_FIELD, FileProblem, Fingerprint, Forbidden,
    GroupAnswer, GroupMember, GroupSummary, HostKey, Identity, KnownPeer, Limit, LimitOrigin,
    LimitSummary, Listing, NUMBER_FIELD, NetworkError, PROTOCOL_VERSION_FIELD, PeerState, Policy,
    PolicyError, PolicyPartner, PolicyProblem, PolicyRefusal, PolicyRule, PolicyTexts,
    RecordComparison, RecordEntry, RecordLine, RecordProblem, RelayEvent, RelayOptions,
    RelayProblem, ScanpathLimit, SessionError, SessionFailure, SharesObstacle, SignedRecord,
    StateDir, Step, StoredComparison, UsageError, Withdrawn, disable_core_dumps,
};

//! Compares scanpaths (eye-movement sequences) of two cohorts, on one machine or between two institutions.
//!
//! This crate offers everything that a user can do as library calls:
//!
//! ```text
//! files ─▶ encode ─▶ Cohort ─▶ plan (a Spec) ─▶ compare, host or join ─▶ Outcome ─▶ report
//! ```
//!
//! The command line, the `veilpath ui` page and the Python package are front ends to this crate. Nothing here parses
//! arguments, prints, or exits the process:
//!
//! - Progress, notes and session steps go to an [`EventSink`]: a closure, or `&()` to ignore them.
//! - Every failure is an [`Error`]. [`Error::fault`] says where the cause lies. Errors refer to fields and values, which
//!   a front end maps to its own flags or input fields.
//!
//! # Compare two cohorts on this machine
//!
//! ```
//! use veilpath::{CompareOptions, Engine, Input, MetricOptions, OutcomeFormat, PlanOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clinic = "participant,stimulus,scanpath\nanna,cows,ABCD\n";
//! let university = "participant,stimulus,scanpath\nben,cows,ABCE\n";
//! let clinic = veilpath::read_cohort_from(Input::from_bytes("clinic", clinic.into())?)?;
//! let university = veilpath::read_cohort_from(Input::from_bytes("university", university.into())?)?;
//!
//! let options = PlanOptions::new(Engine::Plain, MetricOptions::default());
//! let planned = veilpath::plan([&clinic, &university], &options, &())?;
//! let outcome = veilpath::compare(&planned, CompareOptions::default(), &())?;
//!
//! let mut csv = Vec::new();
//! veilpath::write_outcome(&outcome, OutcomeFormat::Csv, &mut csv)?;
//! assert_eq!(csv, b"a,b,stimulus,score,similarity\nanna,ben,cows,1,0.75\n");
//! # Ok(())
//! # }
//! ```
//!
//! Any other [`Engine`] runs both institutions on this machine over TLS, as a rehearsal. The scores are the same.
//!
//! # Turn fixations into letters
//!
//! ```
//! use veilpath::Input;
//! use veilpath::encode::{EncodeOptions, Source, encode};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let table = "participant,stimulus,x,y,duration\nanna,cows,100,200,250\nanna,cows,600,400,180\n";
//! let source = Source::Open(Box::new(Input::from_bytes("fixations.csv", table.into())?));
//! let mut options = EncodeOptions::default();
//! options.read.screen = Some((640.0, 480.0));
//! let encoded = encode(vec![source], &options, &())?;
//! assert_eq!(encoded.summary.rows_used, 2);
//! assert_eq!(encoded.cohort.entries[0].scanpath.len(), 2);
//! # Ok(())
//! # }
//! ```
//!
//! # Compare with another institution
//!
//! Each side identifies the other by its key's fingerprint, which the two exchange over another channel, such as by
//! phone. The other side calls [`host`] with the same plan. Both return `None` if only an estimate was requested.
//!
//! ```no_run
//! use std::path::Path;
//! use veilpath::{EngineChoice, Identity, LocalCohort, MetricOptions, PlanOptions, SessionOptions};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let (identity, _is_new) = Identity::load_or_create(&veilpath::identity_file(None)?)?;
//! println!("our fingerprint: {}", identity.fingerprint());
//!
//! let plan = PlanOptions {
//!     reveal: "mean".parse()?, // one mean per stimulus instead of scores
//!     ..PlanOptions::new(EngineChoice::Auto, MetricOptions::default())
//! };
//! let cohort = LocalCohort::new(veilpath::read_cohort(Path::new("cohort.csv"))?, plan)?;
//! let options = SessionOptions::new(cohort, identity, veilpath::state_dir(None)?);
//! let clinic = std::env::var("CLINIC_FINGERPRINT")?.parse()?;
//! if let Some(session) = veilpath::join("clinic.example:7070", clinic, &options, &())? {
//!     println!("{:?}", session.outcome.answers);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! If a session is interrupted, it continues when both sides run it again.

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
mod limit_preview;
mod local_cohort;
mod merge;
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
mod unpaired;

pub use choice::Choice;
pub use cohort::{
    OtherFile, check_unique_ids, cohort_in_memory, decode_cohort, part_of_cohort, read_cohort,
    read_cohort_from,
};
pub use compare::{CompareOptions, TestCoins, TestCoinsError, compare};
pub use error::{Error, Fault, ScanpathName};
pub use event::{Event, EventSink, Note};
pub use file_kind::{FileKind, file_kind, table_columns};
pub use fingerprint_words::fingerprint_words;
pub use invitation::{Invitation, InvitationError, MeetingPlace};
pub use job::Job;
pub use key_pair::{KeyPairOptions, generate_key_pair};
pub use limit_preview::LimitPreview;
pub use local_cohort::LocalCohort;
pub use merge::{merge_files, merge_named, read_outcome, read_outcome_file};
pub use metric::{
    DivideBy, MetricField, MetricName, MetricOptions, MetricOptionsError, NoEffectReason,
    NonAlignmentOptions, PositionsChoice, SubstitutionChoice, UnknownChoice, UnknownName,
};
pub use named_plan::NamedPlan;
pub use outcome::{OutcomeFormat, write_outcome};
pub use output_file::{Contents, OutputConflict, OutputFile, check_distinct_outputs, has_content};
pub use plan::{PlanOptions, PlannedComparison, load_host_key, plan};
pub use policy::{check_policy, find_policy, work_order, write_policy_example};
pub use policy_document::{DocumentPlan, policy_document};
pub use progress::Progress;
pub use score_matrix::{ScoreMatrix, score_matrix};
pub use session::{
    Peer, PeerEvent, PeersError, PeersFileProblem, ResultFolder, ResultLocation, SaveResults,
    ServedPeer, SessionControl, SessionEvent, SessionOptions, WorkOptions, WorkStorage,
    check_peers, coordinate, gateway, host, identity_file, join, read_peers, read_peers_from,
    relay, serve, state_dir, work, write_comparisons, write_known_peers, write_peers, write_record,
};

pub use veilpath_encode::cohort_file::{write as write_cohort, write_part as write_cohort_part};
pub use veilpath_encode::{CohortNote, Input, RawCohort, ReadError};
pub use veilpath_metrics::{
    Alphabet, Cohort, Distance, Entry, Grid, Metric, MetricError, Notation, NotationError,
    RoundingError, Simplification, Threshold, Undefined, text,
};
pub use veilpath_paillier::{Error as PaillierError, KeySize};
pub use veilpath_protocol::{
    CancelToken, Capability, Engine, EngineChoice, Estimate, FixationRounding, GroupQuestion,
    JobError, Link, MAX_PADDING, MAX_PAIRS, MAX_TEXT_BYTES, MAX_TILES, MergeError, Outcome,
    PaillierOptions, PairRule, PairRuleError, PlanTile, ProtocolError, ProvenEstimates,
    QuestionError, ResultFormatError, Reveal, RevealError, RevealTo, Revealed, RiskySetting, Role,
    Spec, SpecError, Tile, TileError, TreeLevels, UnknownRiskySetting, Unsupported, merge,
};
pub use veilpath_report::document::Document;
pub use veilpath_report::{plan::describe as describe_plan, table, units};
pub use veilpath_session::limits::{DEFAULT_MEMORY, MAX_PEERS};
pub use veilpath_session::{
    AgreedPlan, AgreementSummary, AnswerKind, AnswerRequest, CompletedSession, Coordinator,
    CoordinatorEvent, CoordinatorOptions, CoordinatorProblem, DEFAULT_MINIMUM_GROUP, DeclineReason,
    Difference, Disclosure, DisclosureLedger, DisclosureLimits, DisclosureRefusal, ENGINE_FIELD,
    EngineReason, EngineSummary, ExceededLimit, FRESH_FIELD, FileProblem, Fingerprint, Forbidden,
    GroupMember, GroupSummary, HostKey, Identity, KnownPeer, Limit, LimitOrigin, LimitSummary,
    Listing, MAX_WORKER_KEY_TIME, MIN_GROUP_SIZE, NUMBER_FIELD, NetworkError, POLICY_EXAMPLE,
    PROTOCOL_VERSION_FIELD, PeerState, Policy, PolicyError, PolicyPartner, PolicyProblem,
    PolicyRefusal, PolicyRule, PolicyTexts, RecordComparison, RecordEntry, RecordLine,
    RecordProblem, Relay, RelayEvent, RelayOptions, RelayProblem, ScanpathLimit, SessionError,
    SessionFailure, SharesObstacle, SignedRecord, StateDir, Step, StoredComparison,
    TILE_COUNT_FIELD, TILE_FIELD, TileRange, TileRangeError, TileTotals, UsageError, Withdrawn,
    WorkOrder, WorkerKeyProblem, disable_core_dumps, now,
};

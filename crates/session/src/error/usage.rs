//! Impossible requests of a caller, and errors that only a bug can cause.

use super::WorkerKeyProblem;
use crate::limits::{MAX_ID_BYTES, MAX_LETTERS};
use veilpath_protocol::MAX_TILES;

/// The caller asked for something impossible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UsageError {
    /// The text is not an address.
    #[error(
        "{address}: this is not an address; an address has a host and a port, as in 192.0.2.7:7070"
    )]
    InvalidAddress {
        /// The text.
        address: String,
    },
    /// There is no folder for the identity and the journals.
    #[error(
        "there is no home directory to keep the identity in; set the environment variable VEILPATH_HOME to a folder"
    )]
    NoStateDir,
    /// The cohort is too large for one session.
    #[error("the cohort is too large for one session; compare it in parts")]
    CohortTooLarge,
    /// An id has unprintable characters.
    #[error(
        "an id of scanpath {number} of the cohort has control characters, or characters that change the writing direction"
    )]
    UnprintableId {
        /// Its number in the cohort, from 1.
        number: usize,
    },
    /// The question needs groups, but not every participant of the cohort has one.
    #[error(
        "this answer needs a group for every participant of the cohort, but scanpath {number} has none"
    )]
    NoGroups {
        /// Its number in the cohort, from 1.
        number: usize,
    },
    /// The engine cannot answer questions about groups between two sides.
    #[error(
        "the {engine} engine cannot answer questions about groups between two institutions; all others can"
    )]
    EngineWithoutGroups {
        /// The engine.
        engine: &'static str,
    },
    /// A tile of a plan whose engine is chosen when the comparison starts.
    #[error(
        "a plan with tiles must name its engine, because each tile might choose a different one"
    )]
    TileWithoutEngine,
    /// A plan of no tiles, or of too many.
    #[error("a plan must have between 1 and {MAX_TILES} tiles")]
    TileCount,
    /// This side's worker key does not allow what it is used for.
    #[error("the worker key cannot be used: {0}")]
    WorkerKey(WorkerKeyProblem),
    /// All tiles of an agreement are complete.
    #[error(
        "all tiles of this agreement are complete, and the scanpaths that were kept for its workers are removed"
    )]
    CompleteAgreement,
    /// The coordinator does not store what this worker asks for.
    #[error("the coordinator refused a journal entry that does not follow the protocol")]
    EntryRefused,
    /// The system limits open files below what this process may need.
    #[error(
        "this may need {needed} open files and connections at the same time, but the system allows this process {limit}"
    )]
    TooManyFiles {
        /// The number of files that it may need.
        needed: u64,
        /// The limit.
        limit: u64,
    },
    /// A new agreement for a tile.
    #[error(
        "a tile cannot start a new agreement, because all tiles of a plan share one; a plan with a different number of tiles has its own"
    )]
    FreshTile,
    /// The encoding settings have unprintable characters, or do not fit a result file.
    #[error("the encoding settings of the cohort cannot be sent or written")]
    InvalidEncoding,
    /// A scanpath is longer than the length that all are padded to.
    #[error(
        "scanpath {number} of the cohort has {letters} letters, more than the {pad_to} that all are padded to"
    )]
    LongerThanPadding {
        /// Its number in the cohort, from 1.
        number: usize,
        /// Its letters.
        letters: u64,
        /// The padded length.
        pad_to: u32,
    },
    /// A scanpath or its ids are beyond the limits of a session.
    #[error(
        "scanpath {number} of the cohort cannot be compared over a network: its ids have more than {MAX_ID_BYTES} bytes, or it has more than {MAX_LETTERS} letters"
    )]
    ScanpathBeyondLimits {
        /// Its number in the cohort, from 1.
        number: usize,
    },
}

/// A bug in this program, or an operating system that does not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InternalError {
    /// TLS cannot be configured.
    #[error("TLS cannot be configured: {0}")]
    Tls(String),
    /// A message cannot be serialised.
    #[error("a message cannot be serialised: {0}")]
    Serialise(String),
    /// A message of this side is longer than its limit.
    #[error("a {0} message is too long to be sent")]
    MessageTooLong(&'static str),
    /// An engine lost results.
    #[error("an engine lost results")]
    LostResults,
    /// An engine returned something that must not be revealed.
    #[error("an engine revealed something that was not agreed on")]
    UnagreedAnswer,
    /// An answer belongs to a pair that does not exist.
    #[error("an answer for a pair that does not exist")]
    UnknownPair,
    /// A pair that was revealed was about to be compared again.
    #[error("a pair that was already revealed was about to be compared again")]
    ComparedAgain,
    /// The operating system gives no random numbers.
    #[error("the operating system provides no random numbers for a key")]
    NoRandomness,
    /// A new key cannot be used.
    #[error("a new key cannot be used")]
    NewKey,
}

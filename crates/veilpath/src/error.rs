//! Why a job ended early, and who can mend it.

use crate::report::{NoHeatMap, OwnError, ResultFileError};
use crate::split::SplitError;
use crate::synth::SynthError;
use crate::{MetricOptionsError, OtherFile, OutputConflict, PeersError};
use std::io;
use std::path::PathBuf;
use veilpath_encode::ReadError;
use veilpath_metrics::MetricError;
use veilpath_protocol::{MAX_PAIRS, ProtocolError, SpecError};
use veilpath_session::{Fault as SessionFault, Fingerprint, SessionError};

/// Everything that can end a job early.
///
/// The text of an error says what happened and names fields by their names in this crate; a front end adds what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input file cannot be read or understood.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A metric's numbers do not make sense.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The two cohorts cannot be compared.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// An engine failed.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A session failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A session was interrupted during the computation; another one resumes it.
    #[error(transparent)]
    Interrupted(SessionError),
    /// An error that follows from what the other side has or asks for.
    #[error(transparent)]
    WithPeer(Box<Error>),
    /// The expected peer has this side's own fingerprint.
    #[error("{fingerprint} is this side's own fingerprint")]
    OwnFingerprint {
        /// The fingerprint.
        fingerprint: Fingerprint,
    },
    /// The peers cannot be hosted together.
    #[error(transparent)]
    Peers(#[from] PeersError),
    /// A Paillier key is unusable.
    #[error(transparent)]
    Key(#[from] veilpath_paillier::Error),
    /// Metric options that do not go together.
    #[error(transparent)]
    MetricOptions(#[from] MetricOptionsError),
    /// A file that is something else than a cohort.
    #[error("{file}: this is {found}, not a cohort of scanpaths")]
    NotACohort {
        /// The file.
        file: String,
        /// What it is.
        found: OtherFile,
    },
    /// ScanMatch is not defined for empty scanpaths.
    #[error("{file}: {} of {scanpaths} scanpaths are empty, and ScanMatch is not defined for them: {}",
        empty.len(), first_few(empty))]
    EmptyScanpaths {
        /// The cohort file.
        file: String,
        /// The places of the empty ones in the file, counted from 1.
        empty: Vec<usize>,
        /// How many scanpaths the file has.
        scanpaths: usize,
    },
    /// Scanpaths that are too long to hide their length.
    #[error(
        "{file}: {longer} of {scanpaths} scanpaths have more than {pad_to} letters, to which lengths are padded; the longest has {longest}"
    )]
    LongerThanPadding {
        /// The cohort file.
        file: String,
        /// How many are too long.
        longer: usize,
        /// How many scanpaths the file has.
        scanpaths: usize,
        /// The length of the longest.
        longest: usize,
        /// The padding.
        pad_to: u32,
    },
    /// No pairs.
    #[error("there is nothing to compare: the two cohorts have no stimulus in common")]
    NothingToCompare,
    /// More pairs than one run compares.
    #[error("these are {pairs} pairs; at most {MAX_PAIRS} are compared in one run")]
    TooManyPairs {
        /// How many.
        pairs: u64,
    },
    /// A comparison with both roles on this machine failed.
    #[error(transparent)]
    Loopback(SessionError),
    /// A Paillier key file is unusable.
    #[error("{path}: {error}", path = path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        error: veilpath_paillier::Error,
    },
    /// A Paillier key that can be broken.
    #[error("a key of {bits} bits can be broken")]
    WeakKey {
        /// The size of the modulus.
        bits: u32,
    },
    /// A file of a new key pair exists.
    #[error("{path}: this file exists, and keys are never overwritten", path = path.display())]
    KeyExists {
        /// The file.
        path: PathBuf,
    },
    /// A synthetic cohort cannot be generated.
    #[error(transparent)]
    Synth(#[from] SynthError),
    /// A cohort cannot be split.
    #[error(transparent)]
    Split(#[from] SplitError),
    /// A file cannot be opened or read.
    #[error("{path}: cannot be opened: {source}", path = path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A file that is not a result file, or not one that can be read.
    #[error("{file}: {error}")]
    Result {
        /// The file.
        file: String,
        /// Why.
        error: ResultFileError,
    },
    /// A report of a stimulus that the result file does not have.
    #[error("{file}: no pair has the stimulus {stimulus:?}")]
    NoSuchStimulus {
        /// The result file.
        file: String,
        /// What was asked for.
        stimulus: String,
        /// The stimuli of the file.
        known: Vec<String>,
    },
    /// One's own scanpaths cannot be drawn.
    #[error(transparent)]
    Own(#[from] OwnError),
    /// There is no heat map to draw.
    #[error("{file}: {error}")]
    NoHeatMap {
        /// The result file.
        file: String,
        /// Why.
        error: NoHeatMap,
    },
    /// A file must not be written there.
    #[error("{path}: {conflict}", path = path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// Why not.
        conflict: OutputConflict,
    },
    /// A file cannot be written.
    #[error("{path}: cannot be written: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// Who can mend an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The caller: a file or an option.
    Input,
    /// The other institution, which disagrees or misbehaves.
    Peer,
    /// The network.
    Network,
}

impl Error {
    /// Who can mend it.
    pub fn fault(&self) -> Fault {
        match self {
            // What one side would hold against the other is the caller's, who brought both.
            Error::Loopback(error) if error.fault() == SessionFault::PeerDiffers => Fault::Input,
            Error::WithPeer(error) => match error.fault() {
                Fault::Input => Fault::Peer,
                other => other,
            },
            Error::Session(error) | Error::Interrupted(error) | Error::Loopback(error) => {
                match error.fault() {
                    SessionFault::PeerDiffers | SessionFault::PeerMisbehaves => Fault::Peer,
                    SessionFault::Network => Fault::Network,
                    SessionFault::File | SessionFault::Usage | SessionFault::Internal => {
                        Fault::Input
                    }
                }
            }
            Error::Protocol(error) => match error {
                ProtocolError::PeerMisbehaved(_)
                | ProtocolError::KeyRefused(_)
                | ProtocolError::CiphertextRefused(_) => Fault::Peer,
                ProtocolError::Channel(_) => Fault::Network,
                _ => Fault::Input,
            },
            _ => Fault::Input,
        }
    }
}

/// The first few of many numbers.
fn first_few(numbers: &[usize]) -> String {
    const NAMED: usize = 5;
    let named = numbers.iter().take(NAMED);
    let named: Vec<String> = named.map(|number| format!("number {number}")).collect();
    match numbers.len() - named.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

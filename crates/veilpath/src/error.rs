//! Why a job failed, and who can fix it.

use crate::report::{DrawingError, NoHeatMap, ResultFileError};
use crate::split::SplitError;
use crate::stats::StatsError;
use crate::synth::SynthError;
use crate::{
    EventSink, InvitationError, MetricOptionsError, OtherFile, OutputConflict, PeersError,
};
use std::io;
use std::path::PathBuf;
use veilpath_encode::ReadError;
use veilpath_metrics::{Alphabet, MetricError};
use veilpath_protocol::{
    MAX_PAIRS, MergeError, ProtocolError, ResultFormatError, RiskySetting, SpecError, Tile,
};
use veilpath_session::{
    Fault as SessionFault, Fingerprint, PolicyError, PolicyRefusal, SessionError,
};

/// Everything that can make a job fail.
///
/// The text of an error says what happened and uses this crate's names for fields; a front end adds what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller cancelled the job.
    #[error("the job was cancelled")]
    Cancelled,
    /// An input file cannot be read or understood.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Two scanpaths of one participant for one stimulus, where each should be named by these two.
    #[error(
        "{file}: {first} and {second} have the same participant and stimulus, so a pair of ids would not say which scanpaths it is about"
    )]
    RepeatedIds {
        /// The cohort.
        file: String,
        /// Where the first is.
        first: String,
        /// Where the second is.
        second: String,
    },
    /// A metric's numbers are invalid.
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
    #[error("{error}")]
    Interrupted {
        /// Why.
        error: SessionError,
        /// Whether pairs that had been started without a result count again when they are started again.
        counts_again: bool,
    },
    /// An error that is caused by the other side's cohort or options.
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
    /// An invalid name or number in a [`NamedPlan`](crate::NamedPlan).
    #[error("{field}: {problem}")]
    PlanField {
        /// The field.
        field: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A file is not an invitation.
    #[error(transparent)]
    Invitation(#[from] InvitationError),
    /// A policy cannot be used.
    #[error(transparent)]
    Policy(#[from] PolicyError),
    /// The policy does not allow the plan.
    #[error(transparent)]
    Forbidden(#[from] PolicyRefusal),
    /// A Paillier key is unusable.
    #[error(transparent)]
    Key(#[from] veilpath_paillier::Error),
    /// Metric options that do not go together.
    #[error(transparent)]
    MetricOptions(#[from] MetricOptionsError),
    /// A file that is not a cohort.
    #[error("{file}: this is {found}, not a cohort of scanpaths")]
    NotACohort {
        /// The file.
        file: String,
        /// What it is.
        found: OtherFile,
    },
    /// A cohort whose ids or settings are too long for a result file.
    #[error("{file}: {error}, more than a result file can contain")]
    BeyondResultFile {
        /// The cohort file.
        file: String,
        /// What exceeds the limit.
        error: ResultFormatError,
    },
    /// The cohort has no fixations, which the metric compares.
    #[error("{file}: {metric} compares fixations, but this cohort has only letters")]
    NoFixations {
        /// The cohort file.
        file: String,
        /// The metric.
        metric: &'static str,
    },
    /// The metric is not defined for empty scanpaths.
    #[error("{file}: {} of {scanpaths} scanpaths are empty, and {metric} is not defined for them: {}",
        empty.len(), first_few(empty))]
    EmptyScanpaths {
        /// The cohort file.
        file: String,
        /// The metric.
        metric: &'static str,
        /// The positions of the empty scanpaths in the file, counted from 1.
        empty: Vec<usize>,
        /// How many scanpaths the file has.
        scanpaths: usize,
    },
    /// Scanpaths that are longer than the padded length.
    #[error(
        "{file}: {longer} of {scanpaths} scanpaths are longer than the padded length of {pad_to} letters; the longest has {longest}"
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
        /// The padded length.
        pad_to: u32,
    },
    /// Settings with which few comparisons reconstruct a scanpath, and that this side has not allowed.
    #[error(
        "the metric has {}, with which a few comparisons can reconstruct a scanpath",
        listed(settings)
    )]
    RiskySettings {
        /// The settings.
        settings: Vec<RiskySetting>,
    },
    /// Scanpaths that are too short for the default limit, which must not depend on hidden lengths.
    #[error(
        "{file}: {shorter} of {scanpaths} scanpaths have fewer than {protected} letters; with a padded length of {pad_to} the default limit does not protect them"
    )]
    ShortForPadding {
        /// The cohort file.
        file: String,
        /// How many are too short.
        shorter: usize,
        /// How many scanpaths the file has.
        scanpaths: usize,
        /// The least number of letters that the limit protects.
        protected: u64,
        /// The padded length.
        pad_to: u32,
    },
    /// The other side's alphabet is not known to have all letters of this side's cohort.
    #[error("{file}: its alphabet is \"{own}\", but the other side's is \"{agreed}\"")]
    OtherAlphabet {
        /// The cohort file.
        file: String,
        /// The alphabet of this side's file and options.
        own: Alphabet,
        /// The alphabet that follows from both sides.
        agreed: Alphabet,
    },
    /// The options contradict a given grid or alphabet.
    #[error("the options give {letters} letters, but the alphabet or grid of {file} has {known}")]
    LetterCountConflict {
        /// The cohort file.
        file: String,
        /// The number of letters in the options.
        letters: u32,
        /// The number of letters that the grid in the options, or the file, says.
        known: u32,
    },
    /// A letter beyond the number of letters in the options.
    #[error("{error}")]
    TooFewLetters {
        /// Where the letter is.
        error: Box<ReadError>,
        /// The number of letters in the options.
        letters: u32,
    },
    /// There are no pairs.
    #[error("there is nothing to compare: the two cohorts have no stimulus in common")]
    NothingToCompare {
        /// The two cohort files.
        files: [String; 2],
        /// The first few stimuli of each.
        stimuli: [Vec<String>; 2],
    },
    /// A question about groups, but a cohort without groups.
    #[error(
        "{file}: this answer needs a group for every participant, but scanpath {number} has none"
    )]
    NoGroups {
        /// The cohort file.
        file: String,
        /// The number of the first scanpath without a group, from 1.
        number: usize,
    },
    /// A question about two cohorts, but both files have the same one.
    #[error("{file}: this answer needs two different cohorts, but both files have the same one")]
    SameCohort {
        /// The second cohort file.
        file: String,
    },
    /// Coins for something other than a test in the clear.
    #[error("coins are only for permutation tests that are computed in the clear")]
    NoUseForCoins,
    /// More pairs than one run compares.
    #[error("there are {pairs} pairs; one run compares at most {MAX_PAIRS}")]
    TooManyPairs {
        /// How many.
        pairs: u64,
    },
    /// Tiles cannot be put together.
    #[error("{}{error}", file.as_ref().map_or_else(String::new, |file| format!("{file}: ")))]
    Merge {
        /// The file that the error is about, if it is about one.
        file: Option<String>,
        /// Why.
        error: MergeError,
    },
    /// A tile in place of the result of a whole plan.
    #[error("{file}: this is tile {tile} of a plan, and not all of its results")]
    UnmergedTile {
        /// The file.
        file: String,
        /// The tile.
        tile: Tile,
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
    /// A Paillier key that is short enough to be broken.
    #[error("a key of {bits} bits can be broken")]
    WeakKey {
        /// The size of the modulus.
        bits: u32,
    },
    /// A file for a new key pair exists already.
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
    /// Statistics cannot be computed.
    #[error(transparent)]
    Stats(#[from] StatsError),
    /// A file cannot be opened or read.
    #[error("{path}: cannot be opened: {source}", path = path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A result file cannot be read.
    #[error("{file}: {error}")]
    ResultFile {
        /// The file.
        file: String,
        /// Why.
        error: ResultFileError,
    },
    /// A report about a stimulus that the result file does not have.
    #[error("{file}: no pair has the stimulus {stimulus:?}")]
    NoSuchStimulus {
        /// The result file.
        file: String,
        /// The requested stimulus.
        stimulus: String,
        /// The stimuli of the file.
        known: Vec<String>,
    },
    /// An output that the result file does not have.
    #[error("{file}: there is no output {output:?}")]
    NoSuchOutput {
        /// The result file.
        file: String,
        /// The requested output.
        output: String,
        /// The outputs of the file.
        known: Vec<String>,
    },
    /// The scanpaths of a cohort cannot be drawn.
    #[error(transparent)]
    Drawing(#[from] DrawingError),
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
        /// The reason.
        conflict: OutputConflict,
    },
    /// A folder cannot be created.
    #[error("{path}: this folder cannot be created: {source}", path = path.display())]
    CreateFolder {
        /// The folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("{path}: cannot be written: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Who can fix an error. The order is that of severity: an error in the input is the most serious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The caller: a file or an option.
    Input,
    /// The other institution, which disagrees or misbehaves.
    Peer,
    /// The network.
    Network,
}

impl Error {
    /// `Cancelled` if the job was cancelled, because that caused the error; otherwise the error.
    pub(crate) fn or_cancelled(self, events: &dyn EventSink) -> Self {
        match events.cancel_token().is_cancelled() {
            true => Error::Cancelled,
            false => self,
        }
    }

    /// Who can fix it.
    pub fn fault(&self) -> Fault {
        match self {
            // On loopback the caller provides both sides, so a difference between them is the caller's fault.
            Error::Loopback(error) if error.fault() == SessionFault::PeerDiffers => Fault::Input,
            Error::WithPeer(error) => match error.fault() {
                Fault::Input => Fault::Peer,
                other => other,
            },
            Error::Session(error) | Error::Interrupted { error, .. } | Error::Loopback(error) => {
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

    /// Whether the peer is banned until this side's user lifts the ban.
    pub fn is_ban(&self) -> bool {
        self.session().is_some_and(SessionError::is_ban)
    }

    /// Whether the network failed in a way that lasts: trying again without changing anything cannot help.
    pub fn is_lasting(&self) -> bool {
        let error = self.session();
        error.is_some_and(|it| matches!(it, SessionError::Network(it) if it.is_lasting()))
    }

    /// Whether another attempt of the peer cannot succeed, because of a ban or a problem with this side's own files.
    pub(crate) fn is_final(&self) -> bool {
        self.fault() == Fault::Input || self.session().is_some_and(SessionError::is_final)
    }

    fn session(&self) -> Option<&SessionError> {
        match self {
            Error::Session(error) | Error::Interrupted { error, .. } => Some(error),
            Error::WithPeer(error) => error.session(),
            _ => None,
        }
    }
}

fn listed(settings: &[RiskySetting]) -> String {
    let settings: Vec<String> = settings.iter().map(RiskySetting::to_string).collect();
    settings.join(" and ")
}

/// The first few numbers, and how many more there are.
fn first_few(numbers: &[usize]) -> String {
    const SHOWN: usize = 5;
    let shown = numbers.iter().take(SHOWN);
    let shown: Vec<String> = shown.map(|number| format!("number {number}")).collect();
    match numbers.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

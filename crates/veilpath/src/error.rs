//! Why a job failed, and where the cause lies.

mod fault;
mod text;

pub use fault::Fault;
pub use text::ScanpathName;

use crate::report::{DrawingError, NoHeatMap, ResultFileError};
use crate::split::SplitError;
use crate::stats::StatsError;
use crate::synth::SynthError;
use crate::{InvitationError, MetricOptionsError, OtherFile, OutputConflict, PeersError};
use std::io;
use std::path::PathBuf;
use text::{empty_scanpaths, letter_source, listed, tiles};
use veilpath_encode::ReadError;
use veilpath_metrics::{Alphabet, MetricError};
use veilpath_protocol::{
    MAX_PAIRS, MergeError, ProtocolError, ResultFormatError, RiskySetting, SpecError, Tile,
};
use veilpath_session::{Fingerprint, PolicyError, PolicyRefusal, SessionError, TileRange};

/// Everything that can make a job fail.
///
/// The text of an error says what happened, using this crate's field names. A front end adds what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller cancelled the job.
    #[error("the job was cancelled")]
    Cancelled,
    /// An input file cannot be read or understood.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Two scanpaths of one participant on one stimulus, although these two ids should identify a scanpath.
    #[error(
        "{file}: {first} and {second} have the same participant and stimulus, so these ids do not identify a scanpath"
    )]
    RepeatedIds {
        /// The cohort.
        file: String,
        /// The position of the first.
        first: String,
        /// The position of the second.
        second: String,
    },
    /// A metric's parameters are invalid.
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
    /// A session was interrupted during the computation. Running it again continues it.
    #[error("{error}")]
    Interrupted {
        /// The cause.
        error: SessionError,
        /// Whether continuing counts those pairs again that had started but have no result yet.
        counts_again: bool,
    },
    /// An error caused by the other side's cohort or options, or by those of both sides together.
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
        /// The problem.
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
    /// Metric options that conflict.
    #[error(transparent)]
    MetricOptions(#[from] MetricOptionsError),
    /// A file that is not a cohort.
    #[error("{file}: this is {found}, not a cohort of scanpaths")]
    NotACohort {
        /// The file.
        file: String,
        /// The kind of file it is.
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
    /// The metric compares fixations, but the cohort has none.
    #[error("{file}: {metric} compares fixations, but this cohort has only letters")]
    NoFixations {
        /// The cohort file.
        file: String,
        /// The metric.
        metric: &'static str,
    },
    /// The metric is not defined for empty scanpaths.
    #[error("{file}: {}", empty_scanpaths(metric, empty, *scanpaths))]
    EmptyScanpaths {
        /// The cohort file.
        file: String,
        /// The metric.
        metric: &'static str,
        /// The names of the empty scanpaths.
        empty: Vec<ScanpathName>,
        /// The number of scanpaths in the file.
        scanpaths: usize,
    },
    /// An agreement has fewer tiles than were asked for.
    #[error("this agreement has no tiles {requested}; it has {}", tiles(.count))]
    NoSuchTiles {
        /// The tiles that were asked for.
        requested: TileRange,
        /// The number of tiles of the agreement.
        count: u32,
    },
    /// Scanpaths longer than the padded length.
    #[error(
        "{file}: {longer} of {scanpaths} scanpaths are longer than the padded length of {pad_to} letters; the longest has {longest}"
    )]
    LongerThanPadding {
        /// The cohort file.
        file: String,
        /// The number of scanpaths that are too long.
        longer: usize,
        /// The number of scanpaths in the file.
        scanpaths: usize,
        /// The length of the longest.
        longest: usize,
        /// The padded length.
        pad_to: u32,
    },
    /// Settings that this side has not allowed, and with which a few comparisons are enough to reconstruct a scanpath.
    #[error(
        "the metric has {}, with which a few comparisons can reconstruct a scanpath",
        listed(settings)
    )]
    RiskySettings {
        /// The settings.
        settings: Vec<RiskySetting>,
    },
    /// Scanpaths too short for the default limit, which must not depend on hidden lengths.
    #[error(
        "{file}: {shorter} of {scanpaths} scanpaths have fewer than {protected} letters; with a padded length of {pad_to} the default limit does not protect them"
    )]
    ShortForPadding {
        /// The cohort file.
        file: String,
        /// The number of scanpaths that are too short.
        shorter: usize,
        /// The number of scanpaths in the file.
        scanpaths: usize,
        /// The smallest number of letters that the limit protects.
        protected: u64,
        /// The padded length.
        pad_to: u32,
    },
    /// The alphabet that follows from both sides may lack letters of this side's cohort.
    #[error("{file}: its alphabet is {}, but that of both sides together is {}", .own.in_words(), .agreed.in_words())]
    OtherAlphabet {
        /// The cohort file.
        file: String,
        /// The alphabet of this side's file and options.
        own: Alphabet,
        /// The alphabet that follows from both sides.
        agreed: Alphabet,
    },
    /// The options contradict a given grid or alphabet.
    #[error("the options give {letters} letters, but {} has {found}", letter_source(file.as_deref()))]
    LetterCountConflict {
        /// The cohort file; `None` if the grid in the options has another number.
        file: Option<String>,
        /// The number of letters in the options.
        letters: u32,
        /// The number of letters according to that grid, or the file.
        found: u32,
    },
    /// A decoding error, if the options give a number of letters: it may be too small.
    #[error("{error}")]
    MaybeTooFewLetters {
        /// The decoding error, with its position.
        error: Box<ReadError>,
        /// The number of letters in the options.
        letters: u32,
    },
    /// There are no pairs.
    #[error("there is nothing to compare: the two cohorts have no stimulus in common")]
    NothingToCompare {
        /// The two cohort files.
        files: [String; 2],
        /// The stimuli of each.
        stimuli: [Vec<String>; 2],
    },
    /// A cohort is compared with itself, and each of its scanpaths has a pair only with itself.
    #[error("{file}: there is nothing to compare: no two scanpaths have the same stimulus")]
    NothingToCompareWithin {
        /// The cohort file.
        file: String,
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
    /// A question about two cohorts, but both files contain the same one.
    #[error("{file}: this answer needs two different cohorts, but both files have the same one")]
    SameCohort {
        /// The second cohort file.
        file: String,
    },
    /// Coins for something other than a test in the clear.
    #[error("coins are only for permutation tests that are computed in the clear")]
    NoUseForCoins,
    /// More pairs than one run can compare.
    #[error("there are {pairs} pairs; one run compares at most {MAX_PAIRS}")]
    TooManyPairs {
        /// The number of pairs.
        pairs: u64,
    },
    /// Tiles cannot be merged.
    #[error("{}{error}", file.as_ref().map_or_else(String::new, |file| format!("{file}: ")))]
    Merge {
        /// The file that the error is about, if any.
        file: Option<String>,
        /// The cause.
        error: MergeError,
    },
    /// A tile where the result of a whole plan is required.
    #[error("{file}: this is only tile {tile} of a plan, not the whole result")]
    UnmergedTile {
        /// The file.
        file: String,
        /// The tile.
        tile: Tile,
    },
    /// A comparison that runs both roles on this machine failed.
    #[error(transparent)]
    Loopback(SessionError),
    /// A Paillier key file is unusable.
    #[error("{path}: {error}", path = path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: veilpath_paillier::Error,
    },
    /// A file for a new key pair already exists.
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
    #[error("{path}: cannot be read: {source}", path = path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A result file cannot be read.
    #[error("{file}: {error}")]
    ResultFile {
        /// The file.
        file: String,
        /// The cause.
        error: ResultFileError,
    },
    /// A report on a stimulus that the result file does not have.
    #[error("{file}: no pair has the stimulus {stimulus:?}")]
    NoSuchStimulus {
        /// The result file.
        file: String,
        /// The requested stimulus.
        stimulus: String,
        /// The stimuli in the file.
        known: Vec<String>,
    },
    /// A measure that the result file does not have.
    #[error("{file}: there is no measure {measure:?}")]
    NoSuchMeasure {
        /// The result file.
        file: String,
        /// The requested measure.
        measure: String,
        /// The measures in the file.
        known: Vec<String>,
    },
    /// A cohort's scanpaths cannot be drawn.
    #[error(transparent)]
    Drawing(#[from] DrawingError),
    /// There is no heat map to draw.
    #[error("{file}: {error}")]
    NoHeatMap {
        /// The result file.
        file: String,
        /// The cause.
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
        /// The operating system's error.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("{path}: cannot be written: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
}

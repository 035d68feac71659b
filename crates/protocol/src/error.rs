//! What can go wrong between two roles, grouped by whose fault it is.

use crate::Unsupported;
use veilpath_channel::ChannelError;
use veilpath_metrics::MetricError;
use veilpath_mpc::MpcError;
use veilpath_paillier::{CiphertextFault, KeyFault};
use veilpath_statistics::StatisticsError;

/// Why a comparison failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProtocolError {
    /// The other side sent something that the protocol does not allow.
    #[error("the other side broke the protocol: {0}")]
    PeerMisbehaved(#[from] Misbehaviour),
    /// The other side's public key is not acceptable.
    #[error("the other side's public key is rejected: {0}")]
    KeyRejected(KeyFault),
    /// The other side sent a number that is not a ciphertext.
    #[error("a ciphertext from the other side is rejected: {0}")]
    CiphertextRejected(CiphertextFault),
    /// The channel between the two sides failed.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The metric does not make sense for the alphabet, or for a pair.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Costs and lengths are too large to be masked under a key of this size.
    #[error(
        "the costs and lengths need masked numbers of {needed} bits, which do not fit a key of {key_bits} bits"
    )]
    DoesNotFit {
        /// Bits of a masked number.
        needed: u32,
        /// Bits of the key.
        key_bits: u32,
    },
    /// The operating system provides no random numbers.
    #[error(
        "the operating system provides no random numbers, and no secret can be generated without them"
    )]
    NoRandomness,
    /// This side's [`PairStore`](crate::PairStore) refused the next step.
    #[error("this side's journal or limits do not allow the comparison to continue")]
    Refused,
    /// This side ended the computation before it was finished.
    #[error("the computation was cancelled")]
    Cancelled,
    /// A bug in this program.
    #[error("internal error: {0}")]
    Internal(&'static str),
    /// The engine cannot do what the plan says.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The requested comparison cannot be run.
    #[error(transparent)]
    Job(#[from] JobError),
    /// The group answer cannot be computed from these pairs.
    #[error(transparent)]
    Statistics(#[from] StatisticsError),
}

/// How the other side broke the protocol. An honest party does none of this.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misbehaviour {
    /// A scanpath is longer than the protocol allows.
    #[error("a scanpath is too long")]
    ScanpathTooLong,
    /// A scanpath does not have the length that was announced for it.
    #[error("a scanpath does not have the announced length")]
    LengthDiffers,
    /// A letter does not belong to the alphabet.
    #[error("a letter is outside the agreed alphabet")]
    LetterOutsideAlphabet,
    /// A result that no pair of scanpaths of these lengths can have.
    #[error("a result is out of range")]
    ResultOutOfRange,
    /// The two roles finished with different results.
    #[error("the two roles finished with different results")]
    ResultsDiffer,
    /// An answer that does not have the agreed form.
    #[error("an answer is malformed")]
    MalformedAnswer,
    /// A message is longer than the protocol allows.
    #[error("a message is too long")]
    MessageTooLong,
    /// A request without content.
    #[error("it sent an empty request")]
    EmptyRequest,
    /// A request for more than the agreed batch.
    #[error("it requested more at once than agreed")]
    RequestTooLarge,
    /// A request for more minima than the comparisons need.
    #[error("it requested more minima than the comparisons need")]
    TooManyMinima,
    /// A request for more rows of substitution costs than there are.
    #[error("it requested substitution costs that do not exist")]
    TooManyRows,
    /// A request for the result of a pair that has one already, or does not exist.
    #[error("it requested the result of a pair that is not pending")]
    PairNotPending,
    /// A masked value is larger than any mask can make it.
    #[error("a masked value is out of range")]
    MaskedValueOutOfRange,
    /// It offered no threads, or too many.
    #[error("it offered {offered} threads")]
    ThreadCount {
        /// How many it offered.
        offered: usize,
    },
    /// Its seed trees are not as agreed.
    #[error("it has seed trees of {levels} levels, which is not what was agreed on")]
    TreeLevels {
        /// The levels.
        levels: u8,
    },
    /// A frame of an unknown kind.
    #[error("it sent a frame of unknown kind {kind}")]
    UnknownFrame {
        /// The number of the kind.
        kind: u8,
    },
    /// A frame for a thread that does not exist, or a frame that is too long.
    #[error("it sent a frame of {length} bytes for thread {thread}, which is out of bounds")]
    FrameOutOfBounds {
        /// The thread that it names.
        thread: u8,
        /// Its length in bytes.
        length: usize,
    },
    /// Data for a thread that has finished.
    #[error("it sent data to a thread that had finished")]
    DataAfterEnd,
    /// A request for more bytes than a thread sends.
    #[error("it requested more bytes than a thread sends")]
    ExcessiveRequest,
    /// It left too many bytes of a thread unrequested.
    #[error("it did not request the bytes that were ready for it")]
    BytesNotRequested,
    /// It stopped before all pairs were compared.
    #[error("it stopped before all pairs were compared")]
    StoppedEarly,
    /// It did not confirm that its halves of the outputs are durable.
    #[error("it did not confirm that its halves of the results are stored")]
    HalvesNotStored,
    /// It broke the protocol of the two-party computation.
    #[error(transparent)]
    Computation(#[from] veilpath_mpc::Misbehaviour),
}

/// Why a comparison cannot be run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JobError {
    /// A pair refers to a scanpath that does not exist.
    #[error("a pair refers to a scanpath that does not exist")]
    UnknownScanpath,
    /// A bit or a group answer was requested for a metric with several measures.
    #[error("{metric} gives several measures, but this answer needs exactly one")]
    SeveralMeasures {
        /// The metric.
        metric: &'static str,
    },
    /// A bit or a group answer was requested for a measure that some pairs do not have.
    #[error("{measure} is undefined for some pairs, but this answer needs a number for every pair")]
    UndefinedMeasure {
        /// The measure.
        measure: &'static str,
    },
    /// The metric compares fixations, which never leave the machine that has them.
    #[error(
        "{metric} compares fixations, which are never sent to a partner; compare two cohorts on one machine"
    )]
    NeedsFixations {
        /// The metric.
        metric: &'static str,
    },
    /// A group answer was requested for a metric on fixations, which engines cannot compute.
    #[error(
        "group answers are about letters or rounded fixations, but {metric} compares fixations"
    )]
    GroupAnswerOfFixations {
        /// The metric.
        metric: &'static str,
    },
    /// There are too many pairs for one comparison.
    #[error("there are {pairs} pairs, but one comparison can have at most {limit}")]
    TooManyPairs {
        /// How many there are.
        pairs: u64,
        /// The upper limit.
        limit: u64,
    },
    /// A group answer was requested for a tile, but it is about all pairs at once.
    #[error(
        "a group answer has no tiles: it is about all pairs at once, and the results of a part of them are not revealed"
    )]
    TileOfGroupAnswer,
    /// A scanpath is longer than an engine can compare.
    #[error("a scanpath is too long")]
    ScanpathTooLong,
    /// A scanpath has a letter that does not belong to the alphabet.
    #[error("a letter is outside the agreed alphabet")]
    LetterOutsideAlphabet,
    /// A scanpath is longer than the length to which all are padded.
    #[error("a scanpath is longer than the padded length of {pad_to} letters")]
    LongerThanPadding {
        /// The length to which scanpaths are padded.
        pad_to: usize,
    },
    /// The padding is out of range.
    #[error(
        "scanpaths can be padded to between 1 and {limit} letters, but {pad_to} were requested"
    )]
    PaddingOutOfRange {
        /// The padding.
        pad_to: u32,
        /// The longest one.
        limit: u32,
    },
    /// The number of announced lengths is not the number of scanpaths.
    #[error("{lengths} lengths were announced for {scanpaths} scanpaths")]
    LengthCount {
        /// How many lengths there are.
        lengths: usize,
        /// How many scanpaths there are.
        scanpaths: usize,
    },
    /// A length was announced although padding hides it.
    #[error("a length was announced although padding hides it")]
    LengthNotHidden,
    /// Costs times lengths exceed what the engine can compute with.
    #[error("the sum of all costs is too large")]
    CostsTooLarge,
    /// Costs times lengths exceed what masks can hide.
    #[error("the costs are too large to be masked")]
    CostsTooLargeToMask,
    /// Garbled circuits for these lengths and costs would need too much memory.
    #[error(
        "two scanpaths are so long that garbled circuits for them would need more than 2 GiB of memory; use shorter scanpaths or a smaller scale"
    )]
    TooMuchMemory,
    /// The alphabet is too large for the `shares` engine, which looks up costs in trees with a leaf for each letter.
    #[error(
        "the shares engine takes alphabets of up to {limit} letters, but this one has {letters}; use garbled"
    )]
    AlphabetTooLarge {
        /// Letters, including padding.
        letters: usize,
        /// The upper limit.
        limit: usize,
    },
    /// The messages of one pair do not fit a connection's buffers.
    #[error(
        "the shares engine cannot compare a scanpath of {host} letters with one of {join}; use garbled"
    )]
    PairTooLarge {
        /// Letters of the host's scanpath.
        host: u32,
        /// Letters of the joining side's.
        join: u32,
    },
    /// The numbers of one pair are wider than an output.
    #[error(
        "the numbers of a scanpath of {host} letters and one of {join} do not fit 63 bits; choose fewer measures"
    )]
    TooManyNumbers {
        /// Letters of the host's scanpath.
        host: u32,
        /// Letters of the joining side's.
        join: u32,
    },
    /// The question is about groups, but a cohort has none.
    #[error("this answer needs groups, but a cohort has none")]
    NoGroups,
    /// A participant with two groups, or with one that was not announced.
    #[error("every participant must be in exactly one of the announced groups")]
    UnknownGroup,
    /// Both sides together have too many groups.
    #[error("both sides together may have at most {limit} groups")]
    TooManyGroups {
        /// The upper limit.
        limit: usize,
    },
    /// The key does not have the agreed size.
    #[error("the key has {bits} bits, but {agreed} were agreed on")]
    KeySize {
        /// Bits of the key.
        bits: u32,
        /// Bits that were agreed on.
        agreed: u32,
    },
    /// The key is too short to protect anything.
    #[error(
        "a key of {bits} bits protects nothing: at least {minimum} are needed, and shorter ones are only for reproducing the paper's measurements"
    )]
    WeakKey {
        /// Bits of the key.
        bits: u32,
        /// Bits of the shortest key that protects.
        minimum: u32,
    },
    /// The batch has no matrix cells, or too many.
    #[error("a batch has 1 to {limit} matrix cells, but {batch} were requested")]
    BatchOutOfRange {
        /// The requested number of matrix cells.
        batch: u32,
        /// The upper limit.
        limit: u32,
    },
    /// The engine has no masks to observe.
    #[cfg(any(test, feature = "watch"))]
    #[error("only the paillier engine has masks, and only its hardened variant has hardened masks")]
    NoMasks,
}

impl From<veilpath_paillier::Error> for ProtocolError {
    fn from(error: veilpath_paillier::Error) -> Self {
        use veilpath_paillier::Error;
        match error {
            Error::KeyRejected(fault) => ProtocolError::KeyRejected(fault),
            Error::CiphertextRejected(fault) => ProtocolError::CiphertextRejected(fault),
            Error::NoRandomness => ProtocolError::NoRandomness,
            _ => ProtocolError::Internal("an operation on encrypted numbers was misused"),
        }
    }
}

impl From<MpcError> for ProtocolError {
    fn from(error: MpcError) -> Self {
        match error {
            MpcError::Channel(error) => error.into(),
            MpcError::Peer(misbehaviour) => Misbehaviour::from(misbehaviour).into(),
            MpcError::Misuse(what) => ProtocolError::Internal(what),
        }
    }
}

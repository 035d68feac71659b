//! How a peer can break the protocol.

use super::WorkerKeyProblem;
use crate::frames::FrameError;

/// Something that a peer running Veilpath correctly never sends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// The TLS handshake or a TLS record is invalid.
    #[error("TLS: {0}")]
    Tls(String),
    /// The peer presented no key.
    #[error("it presented no key")]
    NoKey,
    /// The peer's worker key is not accepted.
    #[error("its worker key is not accepted: {0}")]
    WorkerKey(WorkerKeyProblem),
    /// A frame header is invalid.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// A message arrived where another one was expected.
    #[error("a message with tag {found} arrived where {expected} was expected")]
    UnexpectedMessage {
        /// The expected message.
        expected: &'static str,
        /// The tag of the message that arrived.
        found: u8,
    },
    /// A message is longer than its limit.
    #[error("a message of {length} bytes arrived; at most {max} are allowed")]
    MessageTooLong {
        /// The announced length.
        length: usize,
        /// The limit for this message.
        max: usize,
    },
    /// The content of a message cannot be parsed.
    #[error("a malformed {message} message")]
    MalformedMessage {
        /// The message.
        message: &'static str,
    },
    /// The peer's alphabet or grid does not exist.
    #[error("an invalid alphabet or grid")]
    InvalidAlphabet,
    /// The peer announced a cohort beyond the limits.
    #[error("it announced a cohort larger than allowed")]
    CohortBeyondLimits,
    /// The peer's encoding settings have unprintable characters, or do not fit a result file.
    #[error("encoding settings that a result file cannot contain")]
    InvalidEncoding,
    /// An id in the peer's roster has unprintable characters.
    #[error("a roster with control characters in an id")]
    UnprintableId,
    /// The peer's groups do not fit its roster or the question.
    #[error("groups that do not fit its roster or the question")]
    InvalidGroups,
    /// The peer comes back with other groups, or another commitment to its part of the coins, under the same agreement.
    #[error(
        "groups or coins that differ from those of an earlier session under the same agreement"
    )]
    ChangedGroups,
    /// The peer's part of the coins does not match its commitment.
    #[error("coins that do not match its commitment")]
    InvalidCoins,
    /// A row of the peer's roster is invalid.
    #[error("a roster with an invalid row")]
    InvalidRosterRow,
    /// A row of the peer's roster does not have the agreed padded length.
    #[error("a roster with a length other than the agreed padded length")]
    UnpaddedLength,
    /// The peer's roster does not have the announced size.
    #[error("a roster that differs from what it announced")]
    RosterNotAsAnnounced,
    /// The peer computed a different agreement id.
    #[error("it has a different agreement")]
    DifferentAgreement,
    /// The peer's statements about the pairs have the wrong length.
    #[error("its statements about the pairs have the wrong length")]
    StatementsLength,
    /// The peer's statements about the pairs have bits without a meaning.
    #[error("its statements about the pairs are invalid")]
    InvalidStatements,
    /// The peer's measurement of the connection is invalid.
    #[error("a measurement of the connection that breaks the protocol")]
    InvalidMeasurement,
    /// The peer decided on an engine that this side does not accept.
    #[error("it decided on an engine that was not agreed on")]
    InvalidEngine,
    /// An answer that the peer sent again is not one.
    #[error("an answer that it sent again is malformed or belongs to another pair")]
    InvalidAnswer,
    /// A pair that was compared again has a different answer.
    #[error("a pair that was compared again has a different answer")]
    ChangedAnswer,
    /// The peer's signature for the record is not valid.
    #[error("it did not sign what was agreed on")]
    InvalidSignature,
    /// The two sides finished with different answers.
    #[error("it finished with different answers")]
    DifferentAnswers,
}

//! What can go wrong between two roles, sorted by whose fault it is.

use crate::Unsupported;
use veilpath_channel::ChannelError;
use veilpath_metrics::MetricError;
use veilpath_mpc::MpcError;
use veilpath_paillier::{CiphertextFault, KeyFault};

/// A comparison that did not come to its end.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProtocolError {
    /// The other side sent something that the protocol does not allow.
    #[error("the other side broke the protocol: {0}")]
    PeerMisbehaved(&'static str),
    /// The other side's public key does not deserve trust.
    #[error("the other side's public key is refused: {0}")]
    KeyRefused(KeyFault),
    /// The other side sent a number that is no ciphertext.
    #[error("a ciphertext from the other side is refused: {0}")]
    CiphertextRefused(CiphertextFault),
    /// The line between the two sides failed.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The metric does not make sense for the alphabet, or for a pair.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Costs and lengths are too large to be masked under a key of this size.
    #[error(
        "the costs and lengths need masked numbers of {needed} bits, and a key of {key_bits} bits has no room for them; use a longer key or a smaller scale"
    )]
    DoesNotFit {
        /// Bits of a masked number.
        needed: u32,
        /// Bits of the key.
        key_bits: u32,
    },
    /// The operating system gives no random numbers.
    #[error(
        "the operating system gives no random numbers; nothing secret can be made without them"
    )]
    NoRandomness,
    /// A contradiction inside this program.
    #[error("internal error: {0}")]
    Internal(&'static str),
    /// The engine cannot do what the plan says.
    #[error(transparent)]
    Unsupported(#[from] Unsupported),
    /// The caller asked for something impossible.
    #[error("{0}")]
    Job(&'static str),
}

impl From<veilpath_paillier::Error> for ProtocolError {
    fn from(error: veilpath_paillier::Error) -> Self {
        use veilpath_paillier::Error;
        match error {
            Error::KeyRefused(fault) => ProtocolError::KeyRefused(fault),
            Error::CiphertextRefused(fault) => ProtocolError::CiphertextRefused(fault),
            Error::NoRandomness => ProtocolError::NoRandomness,
            _ => ProtocolError::Internal("an operation on encrypted numbers was misused"),
        }
    }
}

impl From<MpcError> for ProtocolError {
    fn from(error: MpcError) -> Self {
        match error {
            MpcError::Channel(error) => error.into(),
            MpcError::Peer(what) => ProtocolError::PeerMisbehaved(what),
            MpcError::Misuse(what) => ProtocolError::Internal(what),
        }
    }
}

//! Errors, by whose fault they are.

use veilpath_channel::ChannelError;

/// A failed step of a two-party computation. Nothing in it depends on a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MpcError {
    /// The channel failed.
    #[error(transparent)]
    Channel(#[from] ChannelError),
    /// The other side sent something that no honest party sends.
    #[error("the other side broke the protocol: {0}")]
    Peer(#[from] Misbehaviour),
    /// The caller asked for something impossible.
    #[error("a computation on secrets was set up incorrectly: {0}")]
    Misuse(&'static str),
}

/// A message that no honest party sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misbehaviour {
    /// Bits after the last one are not zero.
    #[error("unused bits of a message are not zero")]
    UnusedBits,
    /// A base transfer does not encode a valid curve point.
    #[error("a base transfer does not encode a valid curve point")]
    InvalidPoint,
    /// A base transfer contains the identity element, which would make keys predictable.
    #[error("a base transfer contains the identity element")]
    IdentityPoint,
    /// The seed trees of the two sides differ: the other side tried to learn bits of the offset.
    #[error("the seed trees of the transfers are inconsistent")]
    InconsistentSeeds,
    /// A batch of transfers is inconsistent: the other side tried to learn bits of the offset.
    #[error("the transfers are inconsistent")]
    InconsistentTransfers,
}

//! What can go wrong, sorted by whose fault it is.

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
    /// A base transfer has bytes that do not encode a point of the curve.
    #[error("a base transfer does not contain a point of the curve")]
    NotAPoint,
    /// A base transfer has the neutral point, which would make keys predictable.
    #[error("a base transfer contains the neutral point")]
    NeutralPoint,
    /// The seed trees of the two sides differ: the other side tried to find out about the offset.
    #[error("the seed trees of the transfers are inconsistent")]
    InconsistentSeeds,
    /// A batch of transfers is inconsistent: the other side tried to find out about the offset.
    #[error("the transfers are inconsistent")]
    InconsistentTransfers,
}

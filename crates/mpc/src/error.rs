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
    Peer(&'static str),
    /// The caller asked for something that cannot be done.
    #[error("a computation on secrets was set up wrongly: {0}")]
    Misuse(&'static str),
}

//! A stream of bytes between two parties.
//!
//! A [`Channel`] is a reliable, ordered, two-way stream of bytes. Everything that two parties compute together runs over one:
//! a TLS connection between two institutions, or a [`memory_pair`] between two threads. A [`Counted`] channel counts what goes over it.
//!
//! This crate opens no sockets and encrypts nothing. A channel that leaves the machine must be encrypted and authenticated by the code
//! that provides it.

pub mod copying;
mod counted;
mod memory;
pub mod queue;

pub use counted::{Counted, Traffic};
pub use memory::{MemoryChannel, memory_pair};

/// A reliable, ordered, two-way stream of bytes.
///
/// A party may send its next message before it has received the answer to the last one. To keep the two sides from waiting for each
/// other, a channel accepts at least [`UNREAD_BYTES`] beyond what the other side has received before [`Channel::send`] or
/// [`Channel::flush`] blocks.
pub trait Channel {
    /// Sends bytes. They may stay in a buffer until [`Channel::flush`].
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError>;

    /// Fills the whole buffer with bytes from the other side.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError>;

    /// Sends everything that is still in a buffer. Call it before waiting for an answer.
    fn flush(&mut self) -> Result<(), ChannelError>;
}

/// Bytes that every channel accepts before the other side receives any of them.
pub const UNREAD_BYTES: usize = 4 << 20;

/// A channel that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The other side closed the connection.
    #[error("the other side closed the connection before the comparison was finished")]
    Closed,
    /// Nothing arrived for too long.
    #[error("the other side did not answer in time")]
    TimedOut,
    /// Any other failure that the network reports.
    #[error("the connection failed: {0}")]
    Failed(String),
}

impl<C: Channel + ?Sized> Channel for &mut C {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        (**self).send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        (**self).receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        (**self).flush()
    }
}

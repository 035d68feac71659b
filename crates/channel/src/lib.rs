//! A byte stream between two parties.
//!
//! A [`Channel`] is a reliable, ordered, bidirectional byte stream. Everything that two parties compute together runs
//! over one: a TLS connection between two institutions, or a [`memory_pair`] between two threads. A [`Counted`] channel
//! counts its traffic.
//!
//! This crate opens no sockets and encrypts nothing. A channel that leaves the machine must be encrypted and
//! authenticated by the code that provides it.

pub mod chunked_copy;
mod counted;
mod memory;
pub mod queue;
mod read_buffer;

pub use counted::{Counted, Traffic};
pub use memory::{MemoryChannel, memory_pair};
pub use read_buffer::ReadBuffer;

/// A reliable, ordered, bidirectional byte stream.
///
/// A party may send its next message before it has received the answer to the last one. To avoid deadlock, a channel
/// accepts at least [`UNREAD_BYTES`] beyond what the other side has received before [`Channel::send`] or
/// [`Channel::flush`] blocks.
pub trait Channel {
    /// Sends bytes. They may stay in a buffer until [`Channel::flush`].
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError>;

    /// Fills the whole buffer with bytes from the other side.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError>;

    /// Sends everything still buffered. Call it before waiting for an answer.
    fn flush(&mut self) -> Result<(), ChannelError>;
}

/// The number of bytes that every channel accepts before the other side receives any of them.
pub const UNREAD_BYTES: usize = 4 << 20;

/// Why a channel failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The other side closed the connection.
    #[error("the other side closed the connection before the comparison was finished")]
    Closed,
    /// Nothing arrived for too long.
    #[error("the other side did not answer in time")]
    TimedOut,
    /// Any other network failure.
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

//! Moving bytes between the two roles.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// A reliable, ordered, two-way stream of bytes. Engines use nothing else to talk to each other.
///
/// An engine may send its next question before it has received the answer to the last one. So that the two sides never
/// wait for each other's receiving, a channel takes at least 256 KiB beyond what the other side has received before
/// [`Channel::send`] or [`Channel::flush`] blocks.
pub trait Channel {
    /// Sends bytes; they may wait in a buffer until [`Channel::flush`].
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError>;

    /// Fills the whole buffer with what the other side sent.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError>;

    /// Makes sure that all that was sent is on its way. An engine flushes before it waits for an answer.
    fn flush(&mut self) -> Result<(), ChannelError>;
}

/// The line between the two sides failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// The other side is gone.
    #[error("the other side closed the connection before the comparison was finished")]
    Closed,
    /// Nothing arrived for too long.
    #[error("the other side did not answer in time")]
    TimedOut,
    /// Anything else the network reports.
    #[error("the connection failed: {0}")]
    Failed(String),
}

/// What went over a channel, as one side sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// How often this side turned to waiting for the other.
    pub rounds: u64,
}

/// A channel that counts.
#[derive(Debug)]
pub struct Counted<C> {
    inner: C,
    traffic: Traffic,
    spoke_last: bool,
}

impl<C: Channel> Counted<C> {
    /// Counts from zero.
    pub fn new(inner: C) -> Self {
        Self {
            inner,
            traffic: Traffic::default(),
            spoke_last: true,
        }
    }

    /// The counts so far.
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }
}

impl<C: Channel> Channel for Counted<C> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.inner.send(bytes)?;
        self.traffic.sent += bytes.len() as u64;
        self.spoke_last = true;
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.inner.receive(buffer)?;
        self.traffic.received += buffer.len() as u64;
        self.traffic.rounds += u64::from(self.spoke_last);
        self.spoke_last = false;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.inner.flush()
    }
}

/// Bytes that wait in the buffer of a [`MemoryChannel`] before they travel without a flush.
const BUFFER_BYTES: usize = 64 << 10;

/// Buffers that may be under way at once: a sender that is faster than its receiver has to wait.
const BUFFERS_UNDER_WAY: usize = 16;

/// One end of a pair in memory.
#[derive(Debug)]
pub struct MemoryChannel {
    outgoing: SyncSender<Vec<u8>>,
    incoming: Receiver<Vec<u8>>,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    read: usize,
}

/// Two connected ends, for two roles on two threads of one process.
pub fn memory_pair() -> (MemoryChannel, MemoryChannel) {
    let (to_second, from_first) = sync_channel(BUFFERS_UNDER_WAY);
    let (to_first, from_second) = sync_channel(BUFFERS_UNDER_WAY);
    let end = |outgoing, incoming| MemoryChannel {
        outgoing,
        incoming,
        unsent: Vec::new(),
        unread: Vec::new(),
        read: 0,
    };
    (end(to_second, from_second), end(to_first, from_first))
}

impl Channel for MemoryChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.unsent.extend_from_slice(bytes);
        if self.unsent.len() >= BUFFER_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.read == self.unread.len() {
                self.unread = self.incoming.recv().map_err(|_| ChannelError::Closed)?;
                self.read = 0;
            }
            let count = (self.unread.len() - self.read).min(buffer.len() - filled);
            buffer[filled..filled + count]
                .copy_from_slice(&self.unread[self.read..self.read + count]);
            filled += count;
            self.read += count;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        self.outgoing
            .send(std::mem::take(&mut self.unsent))
            .map_err(|_| ChannelError::Closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_in_order_whatever_the_pieces() {
        let (left, right) = memory_pair();
        let (mut left, mut right) = (Counted::new(left), Counted::new(right));
        let sent: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        let expected = sent.clone();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for piece in sent.chunks(777) {
                    left.send(piece).unwrap();
                }
                left.flush().unwrap();
                let mut answer = [0];
                left.receive(&mut answer).unwrap();
                assert_eq!(
                    left.traffic(),
                    Traffic {
                        sent: 200_000,
                        received: 1,
                        rounds: 1
                    }
                );
            });
            let mut received = vec![0; 200_000];
            for piece in received.chunks_mut(1009) {
                right.receive(piece).unwrap();
            }
            assert_eq!(received, expected);
            right.send(&[7]).unwrap();
            right.flush().unwrap();
            assert_eq!(right.traffic().rounds, 1);
        });
    }

    #[test]
    fn a_peer_that_went_away_is_an_error_and_not_a_wait() {
        let (mut left, right) = memory_pair();
        drop(right);
        assert_eq!(left.receive(&mut [0]), Err(ChannelError::Closed));
        left.send(&[1]).unwrap();
        assert_eq!(left.flush(), Err(ChannelError::Closed));
    }
}

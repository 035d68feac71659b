//! The line between the two parties, as little of it as is needed here.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

/// A reliable, ordered, two-way stream of bytes.
///
/// A party may send up to [`UNREAD_BYTES`] before it reads what the other sends at the same time, so a transport has to
/// be able to hold that much on its way (sockets do); with less, both could wait for each other.
pub trait Transport {
    /// Sends bytes; they may wait in a buffer until [`Transport::flush`].
    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError>;

    /// Fills the whole buffer with what the other side sent.
    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), TransportError>;

    /// Makes sure that all that was sent is on its way.
    fn flush(&mut self) -> Result<(), TransportError>;

    /// Is told when so many more cells are done, by whoever aligns over this line: a long string takes minutes, and whoever
    /// waits wants to see it move.
    fn finished(&mut self, cells: usize) {
        let _ = cells;
    }
}

/// The most that the evaluator has under way towards a garbler who does not read yet.
pub const UNREAD_BYTES: usize = 96 << 10;

/// The line failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TransportError {
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

/// Bytes that wait in the buffer of a [`MemoryTransport`] before they travel without a flush.
const BUFFER_BYTES: usize = 64 << 10;

/// Buffers that may be under way at once: a sender that is faster than its receiver has to wait.
const BUFFERS_UNDER_WAY: usize = 16;

/// One end of a pair in memory.
pub struct MemoryTransport {
    outgoing: SyncSender<Vec<u8>>,
    incoming: Receiver<Vec<u8>>,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    read: usize,
    sent: u64,
}

/// Two connected ends, for two parties on two threads of one process.
pub fn memory_pair() -> (MemoryTransport, MemoryTransport) {
    let (to_second, from_first) = sync_channel(BUFFERS_UNDER_WAY);
    let (to_first, from_second) = sync_channel(BUFFERS_UNDER_WAY);
    let end = |outgoing, incoming| MemoryTransport {
        outgoing,
        incoming,
        unsent: Vec::with_capacity(BUFFER_BYTES),
        unread: Vec::new(),
        read: 0,
        sent: 0,
    };
    (end(to_second, from_second), end(to_first, from_first))
}

impl MemoryTransport {
    /// Bytes sent so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }
}

impl Transport for MemoryTransport {
    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.sent += bytes.len() as u64;
        let mut rest = bytes;
        while !rest.is_empty() {
            // Buffers of one size, which are cheap to get and to give back.
            let room = (BUFFER_BYTES - self.unsent.len()).min(rest.len());
            let (now, later) = rest.split_at(room);
            self.unsent.extend_from_slice(now);
            rest = later;
            if self.unsent.len() == BUFFER_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), TransportError> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.read == self.unread.len() {
                self.unread = self.incoming.recv().map_err(|_| TransportError::Closed)?;
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

    fn flush(&mut self) -> Result<(), TransportError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let next = Vec::with_capacity(BUFFER_BYTES);
        self.outgoing
            .send(std::mem::replace(&mut self.unsent, next))
            .map_err(|_| TransportError::Closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_in_order_whatever_the_pieces() {
        let (mut left, mut right) = memory_pair();
        let sent: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for piece in sent.chunks(777) {
                    left.send(piece).unwrap();
                }
                left.flush().unwrap();
                assert_eq!(left.sent(), 200_000);
            });
            let mut received = vec![0; 200_000];
            for piece in received.chunks_mut(1009) {
                right.receive(piece).unwrap();
            }
            assert_eq!(received, sent);
        });
    }

    #[test]
    fn a_peer_that_went_away_is_an_error_and_not_a_wait() {
        let (mut left, right) = memory_pair();
        drop(right);
        assert_eq!(left.receive(&mut [0]), Err(TransportError::Closed));
        left.send(&[1]).unwrap();
        assert_eq!(left.flush(), Err(TransportError::Closed));
    }
}

//! A channel between two threads of one process.

use crate::queue::{QueueReceiver, QueueSender, byte_queue};
use crate::{Channel, ChannelError, ReadBuffer, UNREAD_BYTES, chunked_copy};

/// The size of a [`MemoryChannel`]'s buffer. A full buffer is sent without a flush.
const BUFFER_BYTES: usize = 64 << 10;

/// One end of an in-memory pair.
#[derive(Debug)]
pub struct MemoryChannel {
    outgoing: QueueSender<Vec<u8>>,
    incoming: QueueReceiver<Vec<u8>>,
    unsent: Vec<u8>,
    unread: ReadBuffer,
}

/// Two connected ends, for two parties on two threads of one process.
pub fn memory_pair() -> (MemoryChannel, MemoryChannel) {
    let (to_second, from_first) = byte_queue(UNREAD_BYTES);
    let (to_first, from_second) = byte_queue(UNREAD_BYTES);
    let end = |outgoing, incoming| MemoryChannel {
        outgoing,
        incoming,
        unsent: Vec::new(),
        unread: ReadBuffer::default(),
    };
    (end(to_second, from_second), end(to_first, from_first))
}

impl Channel for MemoryChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            if self.unsent.capacity() == 0 {
                // Buffers of equal size are cheap to allocate and free.
                self.unsent.reserve_exact(BUFFER_BYTES);
            }
            let count = (BUFFER_BYTES - self.unsent.len()).min(rest.len());
            let (now, later) = rest.split_at(count);
            chunked_copy::append(now, &mut self.unsent);
            rest = later;
            if self.unsent.len() == BUFFER_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.unread.fill(buffer, || {
            let block = self.incoming.receive(None);
            block.map_err(|_| ChannelError::Closed)
        })
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let bytes = self.unsent.len();
        self.outgoing
            .send(std::mem::take(&mut self.unsent), bytes)
            .map_err(|_| ChannelError::Closed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_arrive_in_order_in_chunks_of_any_size() {
        let (mut left, mut right) = memory_pair();
        let sent: Vec<u8> = (0..200_000u32).map(|i| (i % 251) as u8).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for chunk in sent.chunks(777) {
                    left.send(chunk).unwrap();
                }
                left.flush().unwrap();
            });
            let mut received = vec![0; 200_000];
            for chunk in received.chunks_mut(1009) {
                right.receive(chunk).unwrap();
            }
            assert_eq!(received, sent);
        });
    }

    #[test]
    fn sending_does_not_wait_for_the_receiver_up_to_the_limit() {
        let (mut left, _right) = memory_pair();
        for _ in 0..UNREAD_BYTES / 16 {
            left.send(&[0; 16]).unwrap();
            left.flush().unwrap();
        }
    }

    #[test]
    fn a_closed_peer_is_an_error_and_does_not_block() {
        let (mut left, right) = memory_pair();
        drop(right);
        assert_eq!(left.receive(&mut [0]), Err(ChannelError::Closed));
        left.send(&[1]).unwrap();
        assert_eq!(left.flush(), Err(ChannelError::Closed));
    }
}

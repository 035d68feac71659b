//! Counts a channel's traffic.

use crate::{Channel, ChannelError};

/// A channel's traffic, as seen by one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Bytes sent.
    pub sent: u64,
    /// Bytes received.
    pub received: u64,
    /// How often this side switched from sending to receiving. An initial receive also counts.
    pub rounds: u64,
}

/// A channel that counts bytes and rounds.
#[derive(Debug)]
pub struct Counted<C> {
    inner: C,
    traffic: Traffic,
    sent_last: bool,
}

impl<C: Channel> Counted<C> {
    /// Starts counting at zero.
    pub fn new(inner: C) -> Self {
        Self {
            inner,
            traffic: Traffic::default(),
            sent_last: true,
        }
    }

    /// The inner channel. Its traffic is not counted.
    pub fn uncounted(&mut self) -> &mut C {
        &mut self.inner
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
        self.sent_last = true;
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.inner.receive(buffer)?;
        self.traffic.received += buffer.len() as u64;
        self.traffic.rounds += u64::from(self.sent_last);
        self.sent_last = false;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_pair;

    #[test]
    fn bytes_and_rounds_are_counted() {
        let (left, right) = memory_pair();
        let (mut left, mut right) = (Counted::new(left), Counted::new(right));
        left.send(&[1, 2]).unwrap();
        left.send(&[3]).unwrap();
        left.flush().unwrap();
        right.receive(&mut [0]).unwrap();
        right.receive(&mut [0; 2]).unwrap();
        right.send(&[4]).unwrap();
        right.flush().unwrap();
        left.receive(&mut [0]).unwrap();
        let traffic = |sent, received| Traffic {
            sent,
            received,
            rounds: 1,
        };
        assert_eq!(left.traffic(), traffic(3, 1));
        assert_eq!(right.traffic(), traffic(1, 3));
    }
}

//! A connection in memory that corrupts one message.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use veilpath_channel::{Channel, ChannelError};

/// What happens to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Damage {
    Cut,
    BitTurned,
    Repeated,
    SwappedWithNext,
}

pub(crate) const DAMAGES: [Damage; 4] = [
    Damage::Cut,
    Damage::BitTurned,
    Damage::Repeated,
    Damage::SwappedWithNext,
];

/// Which message of which side is corrupted, how, and a number for where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    pub(crate) side: usize,
    pub(crate) message: usize,
    pub(crate) damage: Damage,
    pub(crate) position: u64,
}

/// Two queues of bytes, and who waits.
#[derive(Default)]
struct Wire {
    queues: [VecDeque<u8>; 2],
    waiting: [bool; 2],
    closed: [bool; 2],
}

/// One end of a wire in memory. When both sides wait for each other, both waits end, as a timeout would end them.
pub(crate) struct WireEnd {
    side: usize,
    wire: Arc<(Mutex<Wire>, Condvar)>,
    gathered: Vec<u8>,
    held: Option<Vec<u8>>,
    messages: usize,
    fault: Option<Fault>,
}

/// Both ends of a new wire.
pub(crate) fn connect(fault: Option<Fault>) -> [WireEnd; 2] {
    let wire = Arc::new((Mutex::new(Wire::default()), Condvar::new()));
    [0, 1].map(|side| WireEnd {
        side,
        wire: Arc::clone(&wire),
        gathered: Vec::new(),
        held: None,
        messages: 0,
        fault,
    })
}

impl WireEnd {
    fn put(&mut self, bytes: &[u8]) {
        let (wire, changed) = &*self.wire;
        wire.lock().unwrap().queues[1 - self.side].extend(bytes);
        changed.notify_all();
    }

    /// The fault of this message, if it has one.
    fn damage(&self, message: usize) -> Option<(Damage, u64)> {
        let fault = self.fault.filter(|fault| fault.side == self.side)?;
        (fault.message == message).then_some((fault.damage, fault.position))
    }
}

impl Channel for WireEnd {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.gathered.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        let mut message = std::mem::take(&mut self.gathered);
        let number = self.messages;
        self.messages += 1;
        let held = self.held.take();
        match self.damage(number) {
            Some((Damage::Cut, position)) => message.truncate(position as usize % message.len()),
            Some((Damage::BitTurned, position)) => {
                let bit = position as usize % (8 * message.len());
                message[bit / 8] ^= 1 << (bit % 8);
            }
            Some((Damage::Repeated, _)) => message.extend_from_within(..),
            Some((Damage::SwappedWithNext, _)) => {
                self.held = Some(message);
                return Ok(());
            }
            None => (),
        }
        self.put(&message);
        if let Some(held) = held {
            self.put(&held);
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let (wire, changed) = &*self.wire;
        let mut wire = wire.lock().unwrap();
        for byte in buffer {
            *byte = loop {
                if let Some(byte) = wire.queues[self.side].pop_front() {
                    break byte;
                }
                let other = 1 - self.side;
                if wire.closed[other] {
                    return Err(ChannelError::Closed);
                }
                if wire.waiting[other] && wire.queues[other].is_empty() {
                    wire.closed = [true; 2];
                    changed.notify_all();
                    return Err(ChannelError::TimedOut);
                }
                wire.waiting[self.side] = true;
                wire = changed.wait(wire).unwrap();
                wire.waiting[self.side] = false;
            };
        }
        Ok(())
    }
}

impl Drop for WireEnd {
    fn drop(&mut self) {
        let (wire, changed) = &*self.wire;
        // A side that panicked while it waited is already counted.
        if let Ok(mut wire) = wire.lock() {
            wire.closed[self.side] = true;
        }
        changed.notify_all();
    }
}

/// Counts the messages of an end, even after it is dropped.
pub(crate) struct MessageCounter {
    end: WireEnd,
    count: Arc<Mutex<usize>>,
}

impl MessageCounter {
    pub(crate) fn new(end: WireEnd) -> (Self, Arc<Mutex<usize>>) {
        let count = Arc::new(Mutex::new(0));
        let counter = Arc::clone(&count);
        (Self { end, count }, counter)
    }
}

impl Channel for MessageCounter {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.end.send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.end.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.end.flush()?;
        *self.count.lock().unwrap() = self.end.messages;
        Ok(())
    }
}

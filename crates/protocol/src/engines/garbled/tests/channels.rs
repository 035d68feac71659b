//! Channels for tests: one that records, one with the least room that a channel may have; and workers over the latter.

use super::*;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar};
use std::time::Duration;
use veilpath_channel::{ChannelError, MemoryChannel};

/// Records what arrives, and in which order this side sent and received how much.
pub(super) struct Recorder {
    channel: MemoryChannel,
    pub(super) seen: Vec<u8>,
    /// Bytes sent, then received, then sent, …
    turns: Vec<usize>,
}

impl Recorder {
    pub(super) fn pair() -> (Self, Self) {
        let (left, right) = memory_pair();
        let recorder = |channel| Self {
            channel,
            seen: Vec::new(),
            turns: vec![0],
        };
        (recorder(left), recorder(right))
    }

    /// The sizes of all messages in their order.
    pub(super) fn shape(&self) -> Vec<usize> {
        self.turns.clone()
    }

    /// Even entries are this side's, odd ones the other's.
    fn count(&mut self, ours: bool, bytes: usize) {
        if self.turns.len().is_multiple_of(2) == ours {
            self.turns.push(0);
        }
        if let Some(last) = self.turns.last_mut() {
            *last += bytes;
        }
    }
}

impl Channel for Recorder {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.count(true, bytes.len());
        self.channel.send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.count(false, buffer.len());
        self.channel.receive(buffer)?;
        self.seen.extend_from_slice(buffer);
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}

/// What a channel must accept beyond what the other side has received.
const LEAST_ROOM: usize = 256 << 10;

/// One direction of a channel that accepts [`LEAST_ROOM`] and not a byte more.
#[derive(Default)]
struct Pipe {
    bytes: Mutex<VecDeque<u8>>,
    changed: Condvar,
}

/// An end of a channel with the least room. A long wait means a deadlock.
struct NarrowChannel {
    outgoing: Arc<Pipe>,
    incoming: Arc<Pipe>,
}

impl NarrowChannel {
    fn pair() -> (Self, Self) {
        let (forward, back) = (Arc::new(Pipe::default()), Arc::new(Pipe::default()));
        let end = |outgoing: &Arc<Pipe>, incoming: &Arc<Pipe>| Self {
            outgoing: Arc::clone(outgoing),
            incoming: Arc::clone(incoming),
        };
        (end(&forward, &back), end(&back, &forward))
    }
}

const TOO_LONG: Duration = Duration::from_secs(30);

impl Channel for NarrowChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut rest = bytes;
        let mut waiting = self.outgoing.bytes.lock().unwrap();
        while !rest.is_empty() {
            let room = (LEAST_ROOM - waiting.len()).min(rest.len());
            let (now, later) = rest.split_at(room);
            waiting.extend(now);
            rest = later;
            self.outgoing.changed.notify_all();
            if !rest.is_empty() {
                let (guard, late) = self
                    .outgoing
                    .changed
                    .wait_timeout_while(waiting, TOO_LONG, |bytes| bytes.len() == LEAST_ROOM)
                    .unwrap();
                waiting = guard;
                if late.timed_out() {
                    return Err(ChannelError::TimedOut);
                }
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let mut filled = 0;
        while filled < buffer.len() {
            let (mut waiting, late) = self
                .incoming
                .changed
                .wait_timeout_while(self.incoming.bytes.lock().unwrap(), TOO_LONG, |bytes| {
                    bytes.is_empty()
                })
                .unwrap();
            if late.timed_out() {
                return Err(ChannelError::TimedOut);
            }
            let count = waiting.len().min(buffer.len() - filled);
            for (place, byte) in buffer[filled..].iter_mut().zip(waiting.drain(..count)) {
                *place = byte;
            }
            filled += count;
            self.incoming.changed.notify_all();
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

#[test]
fn no_deadlock_on_a_channel_with_the_least_room() {
    let metric = &metrics()[5];
    let (a, b) = (random_cohort(8, 60..90, 1), random_cohort(8, 60..90, 2));
    let wide = spec(metric, &a, &b);
    let narrow = spec(&Metric::Levenshtein, &a, &b);
    for workers in [1, 2, 4, 8] {
        for spec in [&narrow, &wide] {
            let partitioning = Partitioning {
                workers,
                sizes: Sizes {
                    portion_gates: 150_000,
                    letters: 1 << 18,
                    ..in_pieces(workers).sizes
                },
            };
            let (ends, _) = run_over(
                spec,
                (&a, &b),
                (partitioning, partitioning),
                NarrowChannel::pair(),
                4,
            );
            let expected = expected(&spec.metric, &a, &b);
            assert_eq!(ends.host, Ok(expected.clone()), "{workers} workers");
            assert_eq!(ends.join, Ok(expected), "{workers} workers");
        }
    }
}

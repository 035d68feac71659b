//! Test channels: one that records, and one with small buffers, on which worker threads must not block.

use super::*;
use crate::engines::tests::Cases;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar};
use std::time::Duration;
use veilpath_channel::{ChannelError, MemoryChannel};

/// Records what arrives, and the sequence of sent and received byte counts.
pub(super) struct Recorder {
    channel: MemoryChannel,
    pub(super) seen: Vec<u8>,
    /// Bytes sent, then received, then sent, …
    message_bytes: Vec<usize>,
}

impl Recorder {
    pub(super) fn pair() -> (Self, Self) {
        let (left, right) = memory_pair();
        let recorder = |channel| Self {
            channel,
            seen: Vec::new(),
            message_bytes: vec![0],
        };
        (recorder(left), recorder(right))
    }

    /// The sizes of all messages, in order.
    pub(super) fn shape(&self) -> Vec<usize> {
        self.message_bytes.clone()
    }

    /// Even entries are this side's messages, odd entries the other side's.
    fn count(&mut self, ours: bool, bytes: usize) {
        if self.message_bytes.len().is_multiple_of(2) == ours {
            self.message_bytes.push(0);
        }
        if let Some(last) = self.message_bytes.last_mut() {
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

/// Bytes that the channel accepts beyond what the other side has received: fewer than [`veilpath_channel::UNREAD_BYTES`].
const CAPACITY: usize = 256 << 10;

/// One direction of a [`BoundedChannel`].
#[derive(Default)]
struct Pipe {
    bytes: Mutex<VecDeque<u8>>,
    changed: Condvar,
}

/// One end of a channel with buffers of [`CAPACITY`] bytes. A long wait means a deadlock.
struct BoundedChannel {
    outgoing: Arc<Pipe>,
    incoming: Arc<Pipe>,
}

impl BoundedChannel {
    fn pair() -> (Self, Self) {
        let (forward, back) = (Arc::new(Pipe::default()), Arc::new(Pipe::default()));
        let end = |outgoing: &Arc<Pipe>, incoming: &Arc<Pipe>| Self {
            outgoing: Arc::clone(outgoing),
            incoming: Arc::clone(incoming),
        };
        (end(&forward, &back), end(&back, &forward))
    }
}

const DEADLOCK_TIMEOUT: Duration = Duration::from_secs(30);

impl Channel for BoundedChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut rest = bytes;
        let mut waiting = self.outgoing.bytes.lock().unwrap();
        while !rest.is_empty() {
            let free = (CAPACITY - waiting.len()).min(rest.len());
            let (now, later) = rest.split_at(free);
            waiting.extend(now);
            rest = later;
            self.outgoing.changed.notify_all();
            if !rest.is_empty() {
                let (guard, late) = self
                    .outgoing
                    .changed
                    .wait_timeout_while(waiting, DEADLOCK_TIMEOUT, |bytes| bytes.len() == CAPACITY)
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
                .wait_timeout_while(
                    self.incoming.bytes.lock().unwrap(),
                    DEADLOCK_TIMEOUT,
                    |bytes| bytes.is_empty(),
                )
                .unwrap();
            if late.timed_out() {
                return Err(ChannelError::TimedOut);
            }
            let count = waiting.len().min(buffer.len() - filled);
            for (slot, byte) in buffer[filled..].iter_mut().zip(waiting.drain(..count)) {
                *slot = byte;
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
fn small_channel_buffers_do_not_deadlock() {
    small_buffers_suffice(Cases::InTurn);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn small_channel_buffers_do_not_deadlock_in_any_combination() {
    small_buffers_suffice(Cases::All);
}

fn small_buffers_suffice(cases: Cases) {
    let metric = &metrics()[5];
    let (a, b) = (random_cohort(8, 60..90, 1), random_cohort(8, 60..90, 2));
    let wide = spec(metric, &a, &b);
    let narrow = spec(&Metric::Levenshtein, &a, &b);
    for (turn, threads) in [1, 2, 4, 8].into_iter().enumerate() {
        for spec in cases.of(turn, [&narrow, &wide]) {
            let partitioning = Partitioning {
                threads,
                limits: PortionLimits {
                    portion_gates: 150_000,
                    letters: 1 << 18,
                    ..in_pieces(threads).limits
                },
            };
            let (ends, _) = run_over(
                spec,
                (&a, &b),
                (partitioning, partitioning),
                BoundedChannel::pair(),
                4,
            );
            let expected = expected(&spec.metric, &a, &b);
            assert_eq!(ends.host, Ok(expected.clone()), "{threads} threads");
            assert_eq!(ends.join, Ok(expected), "{threads} threads");
        }
    }
}

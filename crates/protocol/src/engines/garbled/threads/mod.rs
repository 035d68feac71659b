//! Multiplexes several worker threads over one channel.
//!
//! Every worker thread has a part of the session and its own comparisons; below, "thread" means one of them. On each side, the thread that owns the
//! channel multiplexes their bytes:
//!
//! ```text
//! garbler's threads ──▶ multiplexer ── frames: (thread, bytes) ──────────────▶ multiplexer ──▶ evaluator's threads
//!                           │ ──────── requests: (thread, number of bytes) ──▶ │
//!                           │ ◀─────── those bytes, in the order of requests ──│ ◀──
//! ```
//!
//! A multiplexer cannot send and receive at the same time, so nothing is sent to the garbler without a request: the evaluator's
//! multiplexer holds its threads' bytes until the garbler's multiplexer requests them.
//!
//! # Why this does not deadlock
//! Each thread runs the same program on both sides in lockstep, as over a separate channel. The garbler's side has sent
//! everything that the evaluator's side needs before it waits for bytes.
//! - An evaluator's thread waits only for bytes from the garbler's thread. Its own bytes go to a queue that never blocks. That queue
//!   stays short: a thread is at most [`LOOKAHEAD`](veilpath_mpc::alignment::LOOKAHEAD) spans ahead. A garbler that leaves more than
//!   `MAX_UNREQUESTED` bytes unrequested is cheating.
//! - The evaluator's multiplexer forwards frames to threads. If a thread's queue is full, that thread is busy and will
//!   drain it. If a request arrives, everything that the thread needs to answer it has already been forwarded, because
//!   the garbler's thread sent it before the request. So the multiplexer always returns to receiving, unless its own
//!   sends block.
//! - The evaluator's sends do not block: at most `WINDOW` bytes (128 KiB) are requested and not yet received, less than a
//!   [`Channel`](veilpath_channel::Channel) accepts.
//! - So everything that the garbler sends arrives, and so does every answer that it waits for. Its multiplexer waits
//!   for an answer only after it has flushed the request. Meanwhile it handles other threads' commands; their queue is
//!   bounded, and so is memory.
//!
//! # Failures
//! A thread that fails stops its side at once: the multiplexer forwards nothing more, and the other threads find their channels closed.
//! A peer that one thread has caught cheating gets nothing more from the others.

mod evaluator;
mod garbler;

pub(super) use evaluator::evaluator_channels;
pub(super) use garbler::garbler_channels;

use super::schedule::PORTION_PAIRS;
use crate::{Misbehaviour, ProtocolError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use veilpath_channel::ChannelError;
use veilpath_mpc::ot::correlated::MAX_BATCH;

/// Bytes that a thread buffers before sending them.
const FRAME_BYTES: usize = 64 << 10;

/// Frames that may be queued for a thread or for the multiplexer.
const QUEUED_FRAMES: usize = 16;

/// Bytes that the garbler requests at a time.
const REQUEST_BYTES: usize = 32 << 10;

/// Bytes of one of the evaluator's threads that may wait for a request. An honest garbler requests everything before it lets the
/// thread go on, so no more remains than the thread sends without waiting: a portion's halves, and transfers (four bytes each, and a
/// few for the proof) for the bits of a portion's terms or for two batches.
const MAX_UNREQUESTED: usize = 4 << 20;

const _: () = assert!(PORTION_PAIRS * (8 + 5 * 64) + 2 * 5 * MAX_BATCH <= MAX_UNREQUESTED);

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameKind {
    Data,
    Request,
    End,
}

/// A frame's thread, kind and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    thread: usize,
    kind: FrameKind,
    length: usize,
}

impl Header {
    const BYTES: usize = 6;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let kind = match self.kind {
            FrameKind::Data => 0,
            FrameKind::Request => 1,
            FrameKind::End => 2,
        };
        let length = u32::try_from(self.length).unwrap_or(u32::MAX).to_le_bytes();
        let thread = u8::try_from(self.thread).unwrap_or(u8::MAX);
        [thread, kind, length[0], length[1], length[2], length[3]]
    }

    /// Parses and checks a header, given the number of threads.
    fn from_bytes(bytes: [u8; Self::BYTES], threads: usize) -> Result<Self, Misbehaviour> {
        let [thread, kind, length @ ..] = bytes;
        let length = u32::from_le_bytes(length) as usize;
        let (kind, max_length) = match kind {
            0 => (FrameKind::Data, FRAME_BYTES),
            1 => (FrameKind::Request, REQUEST_BYTES),
            2 => (FrameKind::End, 0),
            kind => return Err(Misbehaviour::UnknownFrame { kind }),
        };
        if usize::from(thread) >= threads || length > max_length {
            return Err(Misbehaviour::FrameOutOfBounds { thread, length });
        }
        Ok(Self {
            thread: thread.into(),
            kind,
            length,
        })
    }
}

/// Whether a thread of this side has failed. Clones share one flag.
#[derive(Clone, Debug, Default)]
struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    fn set(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), ChannelError> {
        match self.0.load(Ordering::SeqCst) {
            true => Err(ChannelError::Closed),
            false => Ok(()),
        }
    }
}

/// The result of a stage with several worker threads. A thread's error is closer to the cause than the closed channel that follows from it. A
/// check that the other side failed takes precedence over everything else: it must not be mistaken for an accident.
pub(super) fn stage_result(
    multiplexer: Result<(), ProtocolError>,
    threads: Vec<Result<(), ProtocolError>>,
) -> Result<(), ProtocolError> {
    let closed = ProtocolError::Channel(ChannelError::Closed);
    let errors: Vec<ProtocolError> = threads.into_iter().filter_map(Result::err).collect();
    let causes = errors.iter().filter(|error| **error != closed);
    match causes.min_by_key(|error| consequence(error)) {
        Some(error) => Err(error.clone()),
        None => {
            multiplexer?;
            match errors.is_empty() {
                true => Ok(()),
                false => Err(Misbehaviour::StoppedEarly.into()),
            }
        }
    }
}

/// How likely an error is to be the consequence of another one.
fn consequence(error: &ProtocolError) -> u8 {
    match error {
        ProtocolError::PeerMisbehaved(Misbehaviour::Computation(_)) => 0,
        ProtocolError::PeerMisbehaved(_) => 1,
        ProtocolError::Channel(_) => 3,
        _ => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use veilpath_channel::{Channel, memory_pair};

    const CHECK: veilpath_mpc::Misbehaviour = veilpath_mpc::Misbehaviour::InconsistentTransfers;

    #[test]
    fn headers_round_trip_and_out_of_bounds_headers_are_rejected() {
        for (kind, length) in [
            (FrameKind::Data, FRAME_BYTES),
            (FrameKind::Request, REQUEST_BYTES),
            (FrameKind::End, 0),
        ] {
            let header = Header {
                thread: 2,
                kind,
                length,
            };
            let bytes = header.to_bytes();
            assert_eq!(Header::from_bytes(bytes, 3), Ok(header));
            let longer = Header {
                length: length + 1,
                ..header
            };
            let out_of_bounds = |length| Misbehaviour::FrameOutOfBounds { thread: 2, length };
            assert_eq!(Header::from_bytes(bytes, 2), Err(out_of_bounds(length)));
            assert_eq!(
                Header::from_bytes(longer.to_bytes(), 3),
                Err(out_of_bounds(length + 1))
            );
        }
        assert_eq!(
            Header::from_bytes([0, 3, 0, 0, 0, 0], 3),
            Err(Misbehaviour::UnknownFrame { kind: 3 })
        );
    }

    #[test]
    fn the_cause_is_reported_and_not_its_consequences() {
        let closed = || Err(ProtocolError::Channel(ChannelError::Closed));
        let cause = ProtocolError::from(Misbehaviour::ResultOutOfRange);
        let result = stage_result(closed(), vec![closed(), Err(cause.clone())]);
        assert_eq!(result, Err(cause.clone()));
        let timed_out = || Err(ProtocolError::Channel(ChannelError::TimedOut));
        let check = ProtocolError::from(Misbehaviour::from(CHECK));
        for first in [
            timed_out(),
            Err(ProtocolError::Refused),
            Err(cause.clone()),
            closed(),
        ] {
            let result = stage_result(timed_out(), vec![first, Err(check.clone()), closed()]);
            assert_eq!(result, Err(check.clone()));
        }
        assert_eq!(stage_result(closed(), vec![closed(), Ok(())]), closed());
        assert_eq!(stage_result(Ok(()), vec![Ok(())]), Ok(()));
        let early = stage_result(Ok(()), vec![Ok(()), closed()]);
        assert_eq!(early, Err(Misbehaviour::StoppedEarly.into()));
    }

    /// One thread finds that the other side cheats. The other thread has much to send, and sends none of it.
    #[test]
    fn a_thread_that_fails_stops_the_others() {
        let (mut here, mut there) = memory_pair();
        let (channels, multiplexer) = garbler_channels(2);
        let mut channels = channels.into_iter();
        let (failing, mut busy) = (channels.next().unwrap(), channels.next().unwrap());
        let result = std::thread::scope(|scope| {
            let caught = scope.spawn(move || {
                let error = ProtocolError::from(Misbehaviour::from(CHECK));
                failing.end(Err(error))
            });
            let busy = scope.spawn(move || {
                // Longer than the other thread takes to fail.
                std::thread::sleep(Duration::from_millis(100));
                let sent = (0..100).try_for_each(|_| busy.send(&[7; FRAME_BYTES]));
                busy.end(sent.map_err(ProtocolError::from))
            });
            let multiplexed = multiplexer.run(&mut here);
            stage_result(
                multiplexed,
                vec![caught.join().unwrap(), busy.join().unwrap()],
            )
        });
        assert_eq!(result, Err(Misbehaviour::from(CHECK).into()));
        drop(here);
        assert_eq!(there.receive(&mut [0]), Err(ChannelError::Closed));
    }

    /// The garbler sends data and requests nothing. The thread's bytes do not pile up.
    #[test]
    fn unrequested_bytes_are_bounded() {
        let (mut here, mut there) = memory_pair();
        let (channels, multiplexer) = evaluator_channels(1);
        let frames = MAX_UNREQUESTED / FRAME_BYTES + 2 * QUEUED_FRAMES;
        let (result, answered) = std::thread::scope(|scope| {
            scope.spawn(move || {
                let header = Header {
                    thread: 0,
                    kind: FrameKind::Data,
                    length: FRAME_BYTES,
                };
                // The other side closes the channel.
                let _ = (0..frames).try_for_each(|_| {
                    there.send(&header.to_bytes())?;
                    there.send(&[7; FRAME_BYTES])?;
                    there.flush()
                });
            });
            let threads = channels.into_iter().map(|mut channel| {
                scope.spawn(move || {
                    let mut answered = 0;
                    let mut answer = || {
                        channel.receive(&mut [0; FRAME_BYTES])?;
                        channel.send(&[8; FRAME_BYTES])?;
                        channel.flush()?;
                        answered += 1;
                        Ok(())
                    };
                    let error: ProtocolError = loop {
                        if let Err(error) = answer() {
                            break error;
                        }
                    };
                    (channel.end(Err(error)), answered)
                })
            });
            let threads: Vec<_> = threads.collect();
            let multiplexed = multiplexer.run(&mut here);
            drop(here);
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            let (results, answered): (Vec<_>, Vec<usize>) = ended.unzip();
            (stage_result(multiplexed, results), answered)
        });
        assert_eq!(result, Err(Misbehaviour::BytesNotRequested.into()));
        assert_eq!(answered, [MAX_UNREQUESTED / FRAME_BYTES]);
    }
}

//! Several workers over one channel.
//!
//! Every worker is a thread with a part of the session and with comparisons of its own. One thread on each side, the one that has the
//! channel, multiplexes their bytes:
//!
//! ```text
//! garbler's workers ──▶ multiplexer ── frames: (worker, bytes) ──────────────▶ multiplexer ──▶ evaluator's workers
//!                           │ ──────── requests: (worker, number of bytes) ──▶ │
//!                           │ ◀─────── those bytes, in the order of requests ──│ ◀──
//! ```
//!
//! A multiplexer cannot send and wait for bytes at the same time, so nothing is sent to the garbler without a request: the evaluator's
//! workers leave their bytes with its multiplexer until the garbler's multiplexer requests them.
//!
//! # Why this does not deadlock
//! Every worker is a program that the garbler and the evaluator run in step, as they would over a channel of their own. The garbler's side
//! of it has sent everything that the evaluator's side needs before it waits for bytes.
//! - An evaluator's worker only waits for bytes of the garbler's worker. Its own bytes go to an unbounded queue. They are few: a worker is at
//!   most [`LOOKAHEAD`](veilpath_mpc::alignment::LOOKAHEAD) slabs ahead.
//! - The evaluator's multiplexer passes frames to workers. If the queue of a worker is full, that worker is busy and will empty it. If a
//!   request arrives, everything that the worker needs to answer it has already been passed on, because the garbler's worker sent it before
//!   the request. So the multiplexer always returns to receiving, unless its own sending blocks.
//! - The evaluator's sending does not block: the garbler has requested at most `WINDOW` bytes (128 KiB) that it has not received, which is
//!   less than a [`Channel`](veilpath_channel::Channel) accepts.
//! - So everything that the garbler sends arrives, and so does every answer that it waits for. Its multiplexer waits for an answer only after
//!   it has flushed the request. In between it handles events of other workers; their queue is bounded, and so is memory.

mod evaluator;
mod garbler;

pub(super) use evaluator::evaluator_channels;
pub(super) use garbler::garbler_channels;

use crate::{Misbehaviour, ProtocolError};
use veilpath_channel::ChannelError;

/// Bytes that a worker collects before they are sent.
const FRAME_BYTES: usize = 64 << 10;

/// Frames that may wait for a worker, or for the multiplexer.
const QUEUED_FRAMES: usize = 16;

/// Bytes that the garbler requests at a time.
const REQUEST_BYTES: usize = 32 << 10;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Data,
    Request,
    End,
}

/// Worker, kind and length of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    worker: usize,
    kind: Kind,
    length: usize,
}

impl Header {
    const BYTES: usize = 6;

    fn to_bytes(self) -> [u8; Self::BYTES] {
        let kind = match self.kind {
            Kind::Data => 0,
            Kind::Request => 1,
            Kind::End => 2,
        };
        let length = u32::try_from(self.length).unwrap_or(u32::MAX).to_le_bytes();
        let worker = u8::try_from(self.worker).unwrap_or(u8::MAX);
        [worker, kind, length[0], length[1], length[2], length[3]]
    }

    /// A valid header for this many workers.
    fn from_bytes(bytes: [u8; Self::BYTES], workers: usize) -> Result<Self, Misbehaviour> {
        let [worker, kind, length @ ..] = bytes;
        let length = u32::from_le_bytes(length) as usize;
        let (kind, most) = match kind {
            0 => (Kind::Data, FRAME_BYTES),
            1 => (Kind::Request, REQUEST_BYTES),
            2 => (Kind::End, 0),
            kind => return Err(Misbehaviour::UnknownFrame { kind }),
        };
        if usize::from(worker) >= workers || length > most {
            return Err(Misbehaviour::FrameOutOfBounds { worker, length });
        }
        Ok(Self {
            worker: worker.into(),
            kind,
            length,
        })
    }
}

/// The result of a stage with several workers. An error of a worker is closer to the cause than the closed channel that follows from it.
pub(super) fn stage_result(
    multiplexer: Result<(), ProtocolError>,
    workers: Vec<Result<(), ProtocolError>>,
) -> Result<(), ProtocolError> {
    let closed = ProtocolError::Channel(ChannelError::Closed);
    let errors: Vec<ProtocolError> = workers.into_iter().filter_map(Result::err).collect();
    match errors.iter().find(|error| **error != closed) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_round_trip_and_out_of_bounds_headers_are_rejected() {
        for (kind, length) in [
            (Kind::Data, FRAME_BYTES),
            (Kind::Request, REQUEST_BYTES),
            (Kind::End, 0),
        ] {
            let header = Header {
                worker: 2,
                kind,
                length,
            };
            let bytes = header.to_bytes();
            assert_eq!(Header::from_bytes(bytes, 3), Ok(header));
            let longer = Header {
                length: length + 1,
                ..header
            };
            let out_of_bounds = |length| Misbehaviour::FrameOutOfBounds { worker: 2, length };
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
        assert_eq!(result, Err(cause));
        assert_eq!(stage_result(closed(), vec![closed(), Ok(())]), closed());
        assert_eq!(stage_result(Ok(()), vec![Ok(())]), Ok(()));
        let early = stage_result(Ok(()), vec![Ok(()), closed()]);
        assert_eq!(early, Err(Misbehaviour::StoppedEarly.into()));
    }
}

//! Several lanes over one channel.
//!
//! Every lane is a thread with a part of the session and comparisons of its own. One thread on each side – the one that
//! holds the channel – carries their bytes:
//!
//! ```text
//! Alice's lanes ──▶ carrier ── frames: (lane, bytes) ────────────▶ carrier ──▶ Bob's lanes
//!                      │ ───── requests: (lane, how many bytes) ─▶ │
//!                      │ ◀──── those bytes, in the order of requests ──│ ◀──
//! ```
//!
//! A carrier cannot send and wait for bytes at the same time, so nobody sends unasked to Alice: Bob's lanes leave their
//! bytes with his carrier until Alice's carrier asks for them.
//!
//! # Why nobody waits for ever
//! Let every lane be a program that Alice's and Bob's side of it run in step, as they do with a line of their own; Alice's side
//! has sent all that Bob's side needs before it waits for his bytes.
//! - Bob's lane waits for bytes of Alice's lane only. Its own bytes go to a queue without bound (they are few: a lane is
//!   [`LOOKAHEAD`](veilpath_mpc::alignment::LOOKAHEAD) slabs ahead at most).
//! - Bob's carrier hands frames to lanes. Where the queue of a lane is full, that lane has work and will empty it. Where a request came,
//!   all that the lane needs to answer was handed to it before, as Alice's lane sent it before it asked. So the carrier always
//!   comes back to receive, unless its own sending waits.
//! - Bob's sending does not wait: Alice has asked for at most `WINDOW` bytes (128 KiB) that she has not received, which is less than
//!   what a [`Channel`](crate::Channel) takes.
//! - So Alice's sending comes to its end, and so does every answer she waits for. Her carrier waits for an answer only after the request was
//!   flushed; it takes up events of other lanes in between, and their queue is bounded, so memory is.

mod alice;
mod bob;

pub(super) use alice::alices_lanes;
pub(super) use bob::bobs_lanes;

use crate::{ChannelError, Misbehaviour, ProtocolError};

/// Bytes that gather in a lane before they travel.
const FRAME_BYTES: usize = 64 << 10;

/// Frames that may wait for a lane, or for the carrier.
const FRAMES_WAITING: usize = 16;

/// Bytes that Alice asks for at a time.
const REQUEST_BYTES: usize = 32 << 10;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Data,
    Request,
    End,
}

/// Lane, kind and length of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    lane: usize,
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
        let lane = u8::try_from(self.lane).unwrap_or(u8::MAX);
        [lane, kind, length[0], length[1], length[2], length[3]]
    }

    /// A header that is in order, for so many lanes.
    fn from_bytes(bytes: [u8; Self::BYTES], lanes: usize) -> Result<Self, ProtocolError> {
        let [lane, kind, length @ ..] = bytes;
        let length = u32::from_le_bytes(length) as usize;
        let (kind, most) = match kind {
            0 => (Kind::Data, FRAME_BYTES),
            1 => (Kind::Request, REQUEST_BYTES),
            2 => (Kind::End, 0),
            _ => {
                return Err(ProtocolError::PeerMisbehaved(Misbehaviour::UnknownFrame {
                    kind,
                }));
            }
        };
        if usize::from(lane) >= lanes || length > most {
            return Err(ProtocolError::PeerMisbehaved(
                Misbehaviour::FrameOutOfBounds {
                    worker: lane,
                    length,
                },
            ));
        }
        Ok(Self {
            lane: lane.into(),
            kind,
            length,
        })
    }
}

/// What a stage of several lanes came to: what a lane says is closer to the cause than that its line broke.
pub(super) fn verdict(
    carried: Result<(), ProtocolError>,
    lanes: Vec<Result<(), ProtocolError>>,
) -> Result<(), ProtocolError> {
    let broken = ProtocolError::Channel(ChannelError::Closed);
    let errors: Vec<ProtocolError> = lanes.into_iter().filter_map(Result::err).collect();
    match errors.iter().find(|error| **error != broken) {
        Some(error) => Err(error.clone()),
        None => {
            carried?;
            match errors.is_empty() {
                true => Ok(()),
                false => Err(ProtocolError::PeerMisbehaved(Misbehaviour::StoppedEarly)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_travel_and_are_held_to_their_bounds() {
        for (kind, length) in [
            (Kind::Data, FRAME_BYTES),
            (Kind::Request, REQUEST_BYTES),
            (Kind::End, 0),
        ] {
            let header = Header {
                lane: 2,
                kind,
                length,
            };
            let bytes = header.to_bytes();
            assert_eq!(Header::from_bytes(bytes, 3), Ok(header));
            let longer = Header {
                length: length + 1,
                ..header
            };
            for refused in [
                Header::from_bytes(bytes, 2),
                Header::from_bytes(longer.to_bytes(), 3),
                Header::from_bytes([0, 3, 0, 0, 0, 0], 3),
            ] {
                assert!(matches!(refused, Err(ProtocolError::PeerMisbehaved(_))));
            }
        }
    }

    #[test]
    fn the_cause_is_told_and_not_its_consequences() {
        let broken = || Err(ProtocolError::Channel(ChannelError::Closed));
        let cause = ProtocolError::PeerMisbehaved(Misbehaviour::ResultOutOfRange);
        let told = verdict(broken(), vec![broken(), Err(cause.clone())]);
        assert_eq!(told, Err(cause));
        assert_eq!(verdict(broken(), vec![broken(), Ok(())]), broken());
        assert_eq!(verdict(Ok(()), vec![Ok(())]), Ok(()));
        let early = verdict(Ok(()), vec![Ok(()), broken()]);
        assert!(matches!(early, Err(ProtocolError::PeerMisbehaved(_))));
    }
}

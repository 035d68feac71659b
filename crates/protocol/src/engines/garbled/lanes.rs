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
//!   [`LOOKAHEAD`](veilpath_garble::alignment::LOOKAHEAD) slabs ahead at most).
//! - Bob's carrier hands frames to lanes. Where the queue of a lane is full, that lane has work and will empty it. Where a request came,
//!   all that the lane needs to answer was handed to it before, as Alice's lane sent it before it asked. So the carrier always
//!   comes back to receive, unless its own sending waits.
//! - Bob's sending does not wait: Alice has asked for at most [`WINDOW`] bytes that she has not received, which is less than
//!   what a [`Channel`] takes.
//! - So Alice's sending comes to its end, and so does every answer she waits for. Her carrier waits for an answer only after the request was
//!   flushed; it takes up events of other lanes in between, and their queue is bounded, so memory is.

use crate::{Channel, ChannelError, Observer, ProtocolError};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use veilpath_garble::transport::{Transport, TransportError};

/// Bytes that gather in a lane before they travel.
const FRAME_BYTES: usize = 64 << 10;

/// Frames that may wait for a lane, or for the carrier.
const FRAMES_WAITING: usize = 16;

/// Bytes that Alice asks for at a time.
const REQUEST_BYTES: usize = 32 << 10;

/// Bytes that Alice may have asked for and not received.
const WINDOW: usize = 128 << 10;

/// Frames that are sent before the oldest request is looked after, so that a lane that waits is not forgotten over busy ones.
const PATIENCE: usize = 4;

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
            _ => return Err(ProtocolError::PeerMisbehaved("a frame of no known kind")),
        };
        if usize::from(lane) >= lanes || length > most {
            return Err(ProtocolError::PeerMisbehaved("a frame out of bounds"));
        }
        Ok(Self {
            lane: lane.into(),
            kind,
            length,
        })
    }
}

/// What Alice's lanes want of their carrier.
enum Wish {
    Send(Vec<u8>),
    Receive(usize),
}

/// The line of one of Alice's lanes.
pub(super) struct AlicesLane<'a> {
    lane: usize,
    carrier: SyncSender<(usize, Wish)>,
    incoming: Receiver<Vec<u8>>,
    unsent: Vec<u8>,
    observer: &'a dyn Observer,
}

/// Carries for Alice's lanes.
pub(super) struct AlicesCarrier {
    wishes: Receiver<(usize, Wish)>,
    lanes: Vec<Sender<Vec<u8>>>,
    /// Requests that are not answered.
    open: VecDeque<(usize, usize)>,
    open_bytes: usize,
}

/// So many lanes for Alice, and their carrier.
pub(super) fn alices_lanes(
    count: usize,
    observer: &dyn Observer,
) -> (Vec<AlicesLane<'_>>, AlicesCarrier) {
    let (carrier, wishes) = sync_channel(FRAMES_WAITING);
    let (mut lines, mut lanes) = (Vec::new(), Vec::new());
    for lane in 0..count {
        let (to_lane, incoming) = channel();
        lanes.push(to_lane);
        lines.push(AlicesLane {
            lane,
            carrier: carrier.clone(),
            incoming,
            unsent: Vec::with_capacity(FRAME_BYTES),
            observer,
        });
    }
    let carrier = AlicesCarrier {
        wishes,
        lanes,
        open: VecDeque::new(),
        open_bytes: 0,
    };
    (lines, carrier)
}

impl AlicesLane<'_> {
    fn wish(&self, wish: Wish) -> Result<(), TransportError> {
        self.carrier
            .send((self.lane, wish))
            .map_err(|_| TransportError::Closed)
    }
}

impl Transport for AlicesLane<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = (FRAME_BYTES - self.unsent.len()).min(rest.len());
            let (now, later) = rest.split_at(room);
            self.unsent.extend_from_slice(now);
            rest = later;
            if self.unsent.len() == FRAME_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), TransportError> {
        self.flush()?;
        for piece in buffer.chunks_mut(REQUEST_BYTES) {
            self.wish(Wish::Receive(piece.len()))?;
            let bytes = self.incoming.recv().map_err(|_| TransportError::Closed)?;
            if bytes.len() != piece.len() {
                return Err(TransportError::Closed);
            }
            piece.copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), TransportError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let next = Vec::with_capacity(FRAME_BYTES);
        let unsent = std::mem::replace(&mut self.unsent, next);
        self.wish(Wish::Send(unsent))
    }

    fn finished(&mut self, cells: usize) {
        self.observer.cells(cells as u64);
    }
}

impl AlicesCarrier {
    /// Carries until all lanes have put their lines down.
    pub(super) fn carry(mut self, channel: &mut dyn Channel) -> Result<(), ProtocolError> {
        let mut sent = 0;
        loop {
            let wish = match self.wishes.try_recv() {
                Ok(wish) if sent < PATIENCE || self.open.is_empty() => Ok(wish),
                Ok(wish) => {
                    self.answer(channel)?;
                    sent = 0;
                    Ok(wish)
                }
                Err(TryRecvError::Empty) if !self.open.is_empty() => {
                    self.answer(channel)?;
                    sent = 0;
                    continue;
                }
                Err(TryRecvError::Empty) => {
                    channel.flush()?;
                    self.wishes.recv().map_err(|_| ())
                }
                Err(TryRecvError::Disconnected) => Err(()),
            };
            match wish {
                Ok((lane, Wish::Send(bytes))) => {
                    let header = Header {
                        lane,
                        kind: Kind::Data,
                        length: bytes.len(),
                    };
                    channel.send(&header.to_bytes())?;
                    channel.send(&bytes)?;
                    sent += 1;
                }
                Ok((lane, Wish::Receive(length))) => {
                    while self.open_bytes + length > WINDOW {
                        self.answer(channel)?;
                    }
                    let header = Header {
                        lane,
                        kind: Kind::Request,
                        length,
                    };
                    channel.send(&header.to_bytes())?;
                    channel.flush()?;
                    self.open.push_back((lane, length));
                    self.open_bytes += length;
                }
                Err(()) => break,
            }
        }
        while !self.open.is_empty() {
            self.answer(channel)?;
        }
        let end = Header {
            lane: 0,
            kind: Kind::End,
            length: 0,
        };
        channel.send(&end.to_bytes())?;
        Ok(channel.flush()?)
    }

    /// Receives what was asked for first, and hands it to its lane.
    fn answer(&mut self, channel: &mut dyn Channel) -> Result<(), ProtocolError> {
        let Some((lane, length)) = self.open.pop_front() else {
            return Ok(());
        };
        self.open_bytes -= length;
        let mut bytes = vec![0; length];
        channel.receive(&mut bytes)?;
        // A lane that is gone says itself why.
        let _ = self.lanes[lane].send(bytes);
        Ok(())
    }
}

/// What Bob's lanes tell their carrier.
enum Word {
    Bytes(Vec<u8>),
    /// Nothing is left of so many frames.
    Waits(u64),
}

/// The line of one of Bob's lanes.
pub(super) struct BobsLane<'a> {
    carrier: Sender<Word>,
    incoming: Receiver<Vec<u8>>,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    read: usize,
    frames: u64,
    observer: &'a dyn Observer,
}

/// Carries for Bob's lanes.
pub(super) struct BobsCarrier {
    lanes: Vec<CarriedLane>,
}

/// A lane as its carrier sees it.
struct CarriedLane {
    outgoing: SyncSender<Vec<u8>>,
    frames: u64,
    incoming: Receiver<Word>,
    /// What the lane has to say and was not asked for yet.
    waiting: VecDeque<u8>,
}

/// So many lanes for Bob, and their carrier.
pub(super) fn bobs_lanes(
    count: usize,
    observer: &dyn Observer,
) -> (Vec<BobsLane<'_>>, BobsCarrier) {
    let (mut lines, mut lanes) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let (outgoing, incoming) = sync_channel(FRAMES_WAITING);
        let (carrier, from_lane) = channel();
        lanes.push(CarriedLane {
            outgoing,
            frames: 0,
            incoming: from_lane,
            waiting: VecDeque::new(),
        });
        lines.push(BobsLane {
            carrier,
            incoming,
            unsent: Vec::new(),
            unread: Vec::new(),
            read: 0,
            frames: 0,
            observer,
        });
    }
    (lines, BobsCarrier { lanes })
}

impl BobsLane<'_> {
    fn say(&self, word: Word) -> Result<(), TransportError> {
        self.carrier.send(word).map_err(|_| TransportError::Closed)
    }

    fn next_frame(&mut self) -> Result<Vec<u8>, TransportError> {
        let frame = match self.incoming.try_recv() {
            Ok(frame) => frame,
            Err(_) => {
                self.say(Word::Waits(self.frames))?;
                self.incoming.recv().map_err(|_| TransportError::Closed)?
            }
        };
        self.frames += 1;
        Ok(frame)
    }
}

impl Transport for BobsLane<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), TransportError> {
        self.unsent.extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), TransportError> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.read == self.unread.len() {
                self.unread = self.next_frame()?;
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
        let unsent = std::mem::take(&mut self.unsent);
        self.say(Word::Bytes(unsent))
    }

    fn finished(&mut self, cells: usize) {
        self.observer.cells(cells as u64);
    }
}

impl BobsCarrier {
    /// Carries until Alice's side says that all is done.
    pub(super) fn carry(mut self, channel: &mut dyn Channel) -> Result<(), ProtocolError> {
        loop {
            let mut bytes = [0; Header::BYTES];
            channel.receive(&mut bytes)?;
            let header = Header::from_bytes(bytes, self.lanes.len())?;
            let lane = &mut self.lanes[header.lane];
            match header.kind {
                Kind::End => return Ok(()),
                Kind::Data => {
                    let mut bytes = vec![0; header.length];
                    channel.receive(&mut bytes)?;
                    lane.hand_over(bytes)?;
                }
                Kind::Request => {
                    channel.send(&lane.ask_for(header.length)?)?;
                    channel.flush()?;
                }
            }
        }
    }
}

impl CarriedLane {
    fn hand_over(&mut self, bytes: Vec<u8>) -> Result<(), ProtocolError> {
        self.frames += 1;
        self.outgoing
            .send(bytes)
            .map_err(|_| ProtocolError::PeerMisbehaved("it goes on after the end of a lane"))
    }

    /// The next bytes that the lane has to say. A lane that waits for Alice cannot be asked: it would wait for ever, and
    /// the carrier with it.
    fn ask_for(&mut self, length: usize) -> Result<Vec<u8>, ProtocolError> {
        while self.waiting.len() < length {
            match self.incoming.recv() {
                Ok(Word::Bytes(more)) => self.waiting.extend(more),
                Ok(Word::Waits(frames)) if frames < self.frames => (),
                Ok(Word::Waits(_)) | Err(_) => {
                    return Err(ProtocolError::PeerMisbehaved(
                        "it asks for more than a lane has to say",
                    ));
                }
            }
        }
        Ok(self.waiting.drain(..length).collect())
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
                false => Err(ProtocolError::PeerMisbehaved(
                    "it ended before all was compared",
                )),
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
        let cause = ProtocolError::PeerMisbehaved("a result is out of range");
        let told = verdict(broken(), vec![broken(), Err(cause.clone())]);
        assert_eq!(told, Err(cause));
        assert_eq!(verdict(broken(), vec![broken(), Ok(())]), broken());
        assert_eq!(verdict(Ok(()), vec![Ok(())]), Ok(()));
        let early = verdict(Ok(()), vec![Ok(()), broken()]);
        assert!(matches!(early, Err(ProtocolError::PeerMisbehaved(_))));
    }
}

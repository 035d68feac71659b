//! Alice's end: everything is sent by her wish, and Bob's bytes are asked for.

use super::{FRAME_BYTES, FRAMES_WAITING, Header, Kind, REQUEST_BYTES};
use crate::ProtocolError;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use veilpath_channel::{Channel, ChannelError, copying};

/// Bytes that Alice may have asked for and not received.
const WINDOW: usize = 128 << 10;

/// Frames that are sent before the oldest request is looked after, so that a lane that waits is not forgotten over busy ones.
const PATIENCE: usize = 4;

/// What Alice's lanes want of their carrier.
enum Wish {
    Send(Vec<u8>),
    Receive(usize),
}

/// The line of one of Alice's lanes.
pub(in crate::engines::garbled) struct AlicesLane {
    lane: usize,
    carrier: SyncSender<(usize, Wish)>,
    incoming: Receiver<Vec<u8>>,
    unsent: Vec<u8>,
}

/// Carries for Alice's lanes.
pub(in crate::engines::garbled) struct AlicesCarrier {
    wishes: Receiver<(usize, Wish)>,
    lanes: Vec<Sender<Vec<u8>>>,
    /// Requests that are not answered.
    open: VecDeque<(usize, usize)>,
    open_bytes: usize,
}

/// So many lanes for Alice, and their carrier.
pub(in crate::engines::garbled) fn alices_lanes(count: usize) -> (Vec<AlicesLane>, AlicesCarrier) {
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

impl AlicesLane {
    fn wish(&self, wish: Wish) -> Result<(), ChannelError> {
        self.carrier
            .send((self.lane, wish))
            .map_err(|_| ChannelError::Closed)
    }
}

impl Channel for AlicesLane {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = (FRAME_BYTES - self.unsent.len()).min(rest.len());
            let (now, later) = rest.split_at(room);
            copying::append(now, &mut self.unsent);
            rest = later;
            if self.unsent.len() == FRAME_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.flush()?;
        for piece in buffer.chunks_mut(REQUEST_BYTES) {
            self.wish(Wish::Receive(piece.len()))?;
            let bytes = self.incoming.recv().map_err(|_| ChannelError::Closed)?;
            if bytes.len() != piece.len() {
                return Err(ChannelError::Closed);
            }
            copying::copy(&bytes, piece);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let next = Vec::with_capacity(FRAME_BYTES);
        let unsent = std::mem::replace(&mut self.unsent, next);
        self.wish(Wish::Send(unsent))
    }
}

impl AlicesCarrier {
    /// Carries until all lanes have put their lines down.
    pub(in crate::engines::garbled) fn carry(
        mut self,
        channel: &mut dyn Channel,
    ) -> Result<(), ProtocolError> {
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

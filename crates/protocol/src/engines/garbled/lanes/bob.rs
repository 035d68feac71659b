//! Bob's end: frames are handed to their lanes, and questions answered in the order in which they come.

use super::{FRAMES_WAITING, Header, Kind};
use crate::{Misbehaviour, ProtocolError};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use veilpath_channel::{Channel, ChannelError, copying};

/// What Bob's lanes tell their carrier.
enum Word {
    Bytes(Vec<u8>),
    /// Nothing is left of so many frames.
    Waits(u64),
}

/// The line of one of Bob's lanes.
pub(in crate::engines::garbled) struct BobsLane {
    carrier: Sender<Word>,
    incoming: Receiver<Vec<u8>>,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    read: usize,
    frames: u64,
}

/// Carries for Bob's lanes.
pub(in crate::engines::garbled) struct BobsCarrier {
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
pub(in crate::engines::garbled) fn bobs_lanes(count: usize) -> (Vec<BobsLane>, BobsCarrier) {
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
        });
    }
    (lines, BobsCarrier { lanes })
}

impl BobsLane {
    fn say(&self, word: Word) -> Result<(), ChannelError> {
        self.carrier.send(word).map_err(|_| ChannelError::Closed)
    }

    fn next_frame(&mut self) -> Result<Vec<u8>, ChannelError> {
        let frame = match self.incoming.try_recv() {
            Ok(frame) => frame,
            Err(_) => {
                self.say(Word::Waits(self.frames))?;
                self.incoming.recv().map_err(|_| ChannelError::Closed)?
            }
        };
        self.frames += 1;
        Ok(frame)
    }
}

impl Channel for BobsLane {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        copying::append(bytes, &mut self.unsent);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.read == self.unread.len() {
                self.unread = self.next_frame()?;
                self.read = 0;
            }
            let count = (self.unread.len() - self.read).min(buffer.len() - filled);
            copying::copy(
                &self.unread[self.read..self.read + count],
                &mut buffer[filled..filled + count],
            );
            filled += count;
            self.read += count;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let unsent = std::mem::take(&mut self.unsent);
        self.say(Word::Bytes(unsent))
    }
}

impl BobsCarrier {
    /// Carries until Alice's side says that all is done.
    pub(in crate::engines::garbled) fn carry(
        mut self,
        channel: &mut dyn Channel,
    ) -> Result<(), ProtocolError> {
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
            .map_err(|_| ProtocolError::PeerMisbehaved(Misbehaviour::DataAfterEnd))
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
                        Misbehaviour::ExcessiveRequest,
                    ));
                }
            }
        }
        Ok(self.waiting.drain(..length).collect())
    }
}

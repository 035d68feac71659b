//! The evaluator's end: it passes frames to their workers and answers requests in the order in which they arrive.

use super::{Header, Kind, QUEUED_FRAMES, StopFlag};
use crate::{Misbehaviour, ProtocolError};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use veilpath_channel::{Channel, ChannelError, copying};

/// A worker's report to the multiplexer.
enum Report {
    /// It sends bytes.
    Bytes(Vec<u8>),
    /// The worker has used up this many frames and waits for the next one.
    Waiting(u64),
}

/// The channel of one of the evaluator's workers.
pub(in crate::engines::garbled) struct EvaluatorChannel {
    multiplexer: Sender<Report>,
    incoming: Receiver<Vec<u8>>,
    unsent: Vec<u8>,
    unread: Vec<u8>,
    read: usize,
    frames: u64,
    stopped: StopFlag,
}

/// Multiplexes the channels of the evaluator's workers.
pub(in crate::engines::garbled) struct EvaluatorMultiplexer {
    workers: Vec<WorkerQueues>,
    stopped: StopFlag,
}

/// A worker as the multiplexer sees it.
struct WorkerQueues {
    outgoing: SyncSender<Vec<u8>>,
    frames: u64,
    incoming: Receiver<Report>,
    /// Bytes of the worker that have not been requested yet.
    unrequested: VecDeque<u8>,
}

/// Channels for the evaluator's workers, and their multiplexer.
pub(in crate::engines::garbled) fn evaluator_channels(
    count: usize,
) -> (Vec<EvaluatorChannel>, EvaluatorMultiplexer) {
    let (mut channels, mut workers) = (Vec::new(), Vec::new());
    let stopped = StopFlag::default();
    for _ in 0..count {
        let (outgoing, incoming) = sync_channel(QUEUED_FRAMES);
        let (multiplexer, from_worker) = channel();
        workers.push(WorkerQueues {
            outgoing,
            frames: 0,
            incoming: from_worker,
            unrequested: VecDeque::new(),
        });
        channels.push(EvaluatorChannel {
            multiplexer,
            incoming,
            unsent: Vec::new(),
            unread: Vec::new(),
            read: 0,
            frames: 0,
            stopped: stopped.clone(),
        });
    }
    (channels, EvaluatorMultiplexer { workers, stopped })
}

impl EvaluatorChannel {
    /// Stops all workers if this one has failed.
    pub(in crate::engines::garbled) fn end<T, E>(&self, result: Result<T, E>) -> Result<T, E> {
        if result.is_err() {
            self.stopped.set();
        }
        result
    }

    fn report(&self, report: Report) -> Result<(), ChannelError> {
        self.multiplexer
            .send(report)
            .map_err(|_| ChannelError::Closed)
    }

    fn next_frame(&mut self) -> Result<Vec<u8>, ChannelError> {
        let frame = match self.incoming.try_recv() {
            Ok(frame) => frame,
            Err(_) => {
                self.report(Report::Waiting(self.frames))?;
                self.incoming.recv().map_err(|_| ChannelError::Closed)?
            }
        };
        self.frames += 1;
        Ok(frame)
    }
}

impl Channel for EvaluatorChannel {
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
        self.report(Report::Bytes(unsent))
    }
}

impl EvaluatorMultiplexer {
    /// Runs until the garbler's side says that all workers are done.
    pub(in crate::engines::garbled) fn run(
        mut self,
        channel: &mut dyn Channel,
    ) -> Result<(), ProtocolError> {
        loop {
            let mut bytes = [0; Header::BYTES];
            channel.receive(&mut bytes)?;
            self.stopped.check()?;
            let header = Header::from_bytes(bytes, self.workers.len())?;
            let worker = &mut self.workers[header.worker];
            match header.kind {
                Kind::End => return Ok(()),
                Kind::Data => {
                    let mut bytes = vec![0; header.length];
                    channel.receive(&mut bytes)?;
                    let passed_on = worker.forward(bytes);
                    // A worker that has failed takes nothing more: that is not the garbler's fault.
                    self.stopped.check()?;
                    passed_on?;
                }
                Kind::Request => {
                    let answer = worker.answer(header.length);
                    self.stopped.check()?;
                    channel.send(&answer?)?;
                    channel.flush()?;
                }
            }
        }
    }
}

impl WorkerQueues {
    fn forward(&mut self, bytes: Vec<u8>) -> Result<(), Misbehaviour> {
        self.frames += 1;
        self.outgoing
            .send(bytes)
            .map_err(|_| Misbehaviour::DataAfterEnd)
    }

    /// The next bytes of the worker. A worker that waits for the garbler must not be asked: it would wait forever, and
    /// so would the multiplexer.
    fn answer(&mut self, length: usize) -> Result<Vec<u8>, Misbehaviour> {
        while self.unrequested.len() < length {
            match self.incoming.recv() {
                Ok(Report::Bytes(more)) => self.unrequested.extend(more),
                Ok(Report::Waiting(frames)) if frames < self.frames => (),
                Ok(Report::Waiting(_)) | Err(_) => return Err(Misbehaviour::ExcessiveRequest),
            }
        }
        Ok(self.unrequested.drain(..length).collect())
    }
}

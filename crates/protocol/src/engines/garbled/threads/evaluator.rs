//! The evaluator's end. It forwards frames to their worker threads and answers requests in order of arrival.

use super::{FrameKind, Header, MAX_UNREQUESTED, QUEUED_FRAMES, StopFlag};
use crate::{Misbehaviour, ProtocolError};
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use veilpath_channel::{Channel, ChannelError, ReadBuffer, chunked_copy};

/// A worker thread's outgoing bytes and state, shared with the multiplexer.
#[derive(Default)]
struct Outbox {
    state: Mutex<OutboxState>,
    changed: Condvar,
}

#[derive(Default)]
struct OutboxState {
    /// Bytes that have not been requested yet.
    unrequested: VecDeque<u8>,
    /// The thread tried to exceed [`MAX_UNREQUESTED`].
    is_overfull: bool,
    /// While the thread waits for a frame: how many it has consumed so far.
    waiting: Option<u64>,
    /// The thread or the multiplexer has ended.
    is_closed: bool,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut OutboxState)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn put(&self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut state = self.lock();
        if state.unrequested.len() + bytes.len() > MAX_UNREQUESTED {
            state.is_overfull = true;
        }
        if state.is_overfull || state.is_closed {
            return Err(ChannelError::Closed);
        }
        state.unrequested.extend(bytes);
        drop(state);
        self.changed.notify_all();
        Ok(())
    }
}

/// The channel of one of the evaluator's threads.
pub(in crate::engines::garbled) struct EvaluatorChannel {
    outbox: Arc<Outbox>,
    incoming: FrameReceiver,
    unsent: Vec<u8>,
    unread: ReadBuffer,
    stopped: StopFlag,
}

/// Takes frames from the queue of a thread and counts them.
struct FrameReceiver {
    frames: Receiver<Vec<u8>>,
    received: u64,
}

/// Multiplexes the channels of the evaluator's threads.
pub(in crate::engines::garbled) struct EvaluatorMultiplexer {
    threads: Vec<ThreadQueues>,
    stopped: StopFlag,
}

/// A worker thread as the multiplexer sees it.
struct ThreadQueues {
    outgoing: SyncSender<Vec<u8>>,
    frames: u64,
    outbox: Arc<Outbox>,
}

/// Channels for the evaluator's threads, and their multiplexer.
pub(in crate::engines::garbled) fn evaluator_channels(
    count: usize,
) -> (Vec<EvaluatorChannel>, EvaluatorMultiplexer) {
    let (mut channels, mut threads) = (Vec::new(), Vec::new());
    let stopped = StopFlag::default();
    for _ in 0..count {
        let (outgoing, frames) = sync_channel(QUEUED_FRAMES);
        let outbox = Arc::new(Outbox::default());
        threads.push(ThreadQueues {
            outgoing,
            frames: 0,
            outbox: Arc::clone(&outbox),
        });
        channels.push(EvaluatorChannel {
            outbox,
            incoming: FrameReceiver {
                frames,
                received: 0,
            },
            unsent: Vec::new(),
            unread: ReadBuffer::default(),
            stopped: stopped.clone(),
        });
    }
    (channels, EvaluatorMultiplexer { threads, stopped })
}

impl EvaluatorChannel {
    /// Stops all threads if this one has failed. If too many of its bytes were left unrequested, returns that error
    /// instead.
    pub(in crate::engines::garbled) fn end<T>(
        &self,
        result: Result<T, ProtocolError>,
    ) -> Result<T, ProtocolError> {
        if result.is_err() {
            self.stopped.set();
        }
        match self.outbox.lock().is_overfull {
            true => result.map_err(|_| Misbehaviour::BytesNotRequested.into()),
            false => result,
        }
    }
}

impl FrameReceiver {
    /// Waits for the next frame. Meanwhile the outbox says so.
    fn next(&mut self, outbox: &Outbox) -> Result<Vec<u8>, ChannelError> {
        let frame = match self.frames.try_recv() {
            Ok(frame) => frame,
            Err(_) => {
                outbox.update(|it| it.waiting = Some(self.received));
                let frame = self.frames.recv().map_err(|_| ChannelError::Closed)?;
                outbox.update(|it| it.waiting = None);
                frame
            }
        };
        self.received += 1;
        Ok(frame)
    }
}

impl Drop for EvaluatorChannel {
    fn drop(&mut self) {
        self.outbox.update(|it| it.is_closed = true);
    }
}

impl Drop for ThreadQueues {
    fn drop(&mut self) {
        self.outbox.update(|it| it.is_closed = true);
    }
}

impl Channel for EvaluatorChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        chunked_copy::append(bytes, &mut self.unsent);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.unread
            .fill(buffer, || self.incoming.next(&self.outbox))
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let unsent = std::mem::take(&mut self.unsent);
        self.outbox.put(&unsent)
    }
}

impl EvaluatorMultiplexer {
    /// Runs until the garbler announces that all threads are done.
    pub(in crate::engines::garbled) fn run(
        mut self,
        channel: &mut dyn Channel,
    ) -> Result<(), ProtocolError> {
        loop {
            let mut bytes = [0; Header::BYTES];
            channel.receive(&mut bytes)?;
            self.stopped.check()?;
            let header = Header::from_bytes(bytes, self.threads.len())?;
            let thread = &mut self.threads[header.thread];
            match header.kind {
                FrameKind::End => return Ok(()),
                FrameKind::Data => {
                    let mut bytes = vec![0; header.length];
                    channel.receive(&mut bytes)?;
                    let passed_on = thread.forward(bytes);
                    // A failed thread takes no more frames. That is not the garbler's fault.
                    self.stopped.check()?;
                    passed_on?;
                }
                FrameKind::Request => {
                    let answer = thread.answer(header.length);
                    self.stopped.check()?;
                    channel.send(&answer?)?;
                    channel.flush()?;
                }
            }
        }
    }
}

impl ThreadQueues {
    fn forward(&mut self, bytes: Vec<u8>) -> Result<(), Misbehaviour> {
        self.frames += 1;
        self.outgoing
            .send(bytes)
            .map_err(|_| Misbehaviour::DataAfterEnd)
    }

    /// Takes the thread's next bytes. If the thread waits for a frame itself, the request is an error: both it and the
    /// multiplexer would wait forever.
    fn answer(&mut self, length: usize) -> Result<Vec<u8>, Misbehaviour> {
        let mut state = self.outbox.lock();
        while state.unrequested.len() < length {
            if state.is_closed || state.waiting == Some(self.frames) {
                return Err(Misbehaviour::ExcessiveRequest);
            }
            let changed = self.outbox.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
        Ok(state.unrequested.drain(..length).collect())
    }
}

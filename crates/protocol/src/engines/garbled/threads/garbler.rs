//! The garbler's end. It sends frames as worker threads produce them, and requests the evaluator's bytes.

use super::{FRAME_BYTES, FrameKind, Header, QUEUED_FRAMES, REQUEST_BYTES, StopFlag};
use crate::ProtocolError;
use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use veilpath_channel::{Channel, ChannelError, chunked_copy};

/// Bytes that the garbler may have requested but not yet received.
const WINDOW: usize = 128 << 10;

/// Frames to send before receiving the answer to the oldest request, so that busy threads do not starve a waiting one.
const FRAMES_BEFORE_ANSWER: usize = 4;

/// A worker thread's command to the multiplexer.
enum Command {
    Send(Vec<u8>),
    Receive(usize),
    /// The thread has failed.
    Stop,
}

/// The channel of one of the garbler's threads.
pub(in crate::engines::garbled) struct GarblerChannel {
    thread: usize,
    multiplexer: SyncSender<(usize, Command)>,
    incoming: Receiver<Vec<u8>>,
    unsent: Vec<u8>,
    stopped: StopFlag,
}

/// Multiplexes the channels of the garbler's threads.
pub(in crate::engines::garbled) struct GarblerMultiplexer {
    commands: Receiver<(usize, Command)>,
    threads: Vec<Sender<Vec<u8>>>,
    /// Unanswered requests: thread and number of bytes.
    requests: VecDeque<(usize, usize)>,
    requested_bytes: usize,
    stopped: StopFlag,
}

/// Channels for the garbler's threads, and their multiplexer.
pub(in crate::engines::garbled) fn garbler_channels(
    count: usize,
) -> (Vec<GarblerChannel>, GarblerMultiplexer) {
    let (multiplexer, commands) = sync_channel(QUEUED_FRAMES);
    let (mut channels, mut threads) = (Vec::new(), Vec::new());
    let stopped = StopFlag::default();
    for thread in 0..count {
        let (to_thread, incoming) = channel();
        threads.push(to_thread);
        channels.push(GarblerChannel {
            thread,
            multiplexer: multiplexer.clone(),
            incoming,
            unsent: Vec::with_capacity(FRAME_BYTES),
            stopped: stopped.clone(),
        });
    }
    let multiplexer = GarblerMultiplexer {
        commands,
        threads,
        requests: VecDeque::new(),
        requested_bytes: 0,
        stopped,
    };
    (channels, multiplexer)
}

impl GarblerChannel {
    /// Stops all threads if this one has failed.
    pub(in crate::engines::garbled) fn end<T, E>(&self, result: Result<T, E>) -> Result<T, E> {
        if result.is_err() {
            self.stopped.set();
            // Wakes the multiplexer. If its queue is full, it is awake anyway.
            let _ = self.multiplexer.try_send((self.thread, Command::Stop));
        }
        result
    }

    fn command(&self, command: Command) -> Result<(), ChannelError> {
        self.stopped.check()?;
        self.multiplexer
            .send((self.thread, command))
            .map_err(|_| ChannelError::Closed)
    }
}

impl Channel for GarblerChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let count = (FRAME_BYTES - self.unsent.len()).min(rest.len());
            let (now, later) = rest.split_at(count);
            chunked_copy::append(now, &mut self.unsent);
            rest = later;
            if self.unsent.len() == FRAME_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.flush()?;
        for chunk in buffer.chunks_mut(REQUEST_BYTES) {
            self.command(Command::Receive(chunk.len()))?;
            let bytes = self.incoming.recv().map_err(|_| ChannelError::Closed)?;
            if bytes.len() != chunk.len() {
                return Err(ChannelError::Closed);
            }
            chunked_copy::copy(&bytes, chunk);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let next = Vec::with_capacity(FRAME_BYTES);
        let unsent = std::mem::replace(&mut self.unsent, next);
        self.command(Command::Send(unsent))
    }
}

impl GarblerMultiplexer {
    /// Runs until all threads have dropped their channels.
    pub(in crate::engines::garbled) fn run(
        mut self,
        channel: &mut dyn Channel,
    ) -> Result<(), ProtocolError> {
        let mut sent = 0;
        loop {
            self.stopped.check()?;
            let command = match self.commands.try_recv() {
                Ok(command) if sent < FRAMES_BEFORE_ANSWER || self.requests.is_empty() => {
                    Ok(command)
                }
                Ok(command) => {
                    self.answer(channel)?;
                    sent = 0;
                    Ok(command)
                }
                Err(TryRecvError::Empty) if !self.requests.is_empty() => {
                    self.answer(channel)?;
                    sent = 0;
                    continue;
                }
                Err(TryRecvError::Empty) => {
                    channel.flush()?;
                    self.commands.recv().map_err(|_| ())
                }
                Err(TryRecvError::Disconnected) => Err(()),
            };
            self.stopped.check()?;
            match command {
                Ok((thread, Command::Send(bytes))) => {
                    let header = Header {
                        thread,
                        kind: FrameKind::Data,
                        length: bytes.len(),
                    };
                    channel.send(&header.to_bytes())?;
                    channel.send(&bytes)?;
                    sent += 1;
                }
                Ok((thread, Command::Receive(length))) => {
                    while self.requested_bytes + length > WINDOW {
                        self.answer(channel)?;
                    }
                    let header = Header {
                        thread,
                        kind: FrameKind::Request,
                        length,
                    };
                    channel.send(&header.to_bytes())?;
                    channel.flush()?;
                    self.requests.push_back((thread, length));
                    self.requested_bytes += length;
                }
                Ok((_, Command::Stop)) | Err(()) => break,
            }
        }
        while !self.requests.is_empty() {
            self.answer(channel)?;
        }
        let end = Header {
            thread: 0,
            kind: FrameKind::End,
            length: 0,
        };
        channel.send(&end.to_bytes())?;
        Ok(channel.flush()?)
    }

    /// Receives the answer to the oldest request and passes it to its thread.
    fn answer(&mut self, channel: &mut dyn Channel) -> Result<(), ProtocolError> {
        let Some((thread, length)) = self.requests.pop_front() else {
            return Ok(());
        };
        self.requested_bytes -= length;
        let mut bytes = vec![0; length];
        channel.receive(&mut bytes)?;
        // A thread that has ended reports its own error.
        let _ = self.threads[thread].send(bytes);
        Ok(())
    }
}

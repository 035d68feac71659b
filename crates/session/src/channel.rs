//! A [`Channel`] over a TLS connection.
//!
//! A thread reads: what arrives is deciphered while this side still computes, and waits in a queue of a few megabytes; when
//! that is full the thread stops reading, the network stops carrying, and the other side has to wait (back-pressure). Two
//! sides that both send more than the queue holds before they receive would wait for each other: engines take turns.
//!
//! A second thread enciphers and writes what gathers, while this side computes what comes next. What fails there is told
//! when this side next sends or flushes.
//!
//! Another thread gives a sign of life now and then, so that a side that computes for an hour can be told from one that is
//! gone. Three things end a wait: silence (not even a sign of life), a stall (nothing but signs of life), and the end of
//! the connection.

use crate::SessionError;
use crate::connection::{CLOSE_TIMEOUT, ConnectionMonitor, POLL_INTERVAL, SharedConnection};
use crate::frames::{Kind, MAX_FRAME};
use crate::limits::Timeouts;
use crate::tls::PinnedKeys;
use rustls::Connection;
use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;
use veilpath_channel::{Channel, ChannelError, copying};

/// Chunks that may wait to be received.
const MAX_QUEUED_CHUNKS: usize = 64;

/// Bytes that gather before they travel without a flush.
const FLUSH_THRESHOLD: usize = 128 << 10;

/// Gatherings that may wait to be written.
const MAX_QUEUED_WRITES: usize = 4;

/// One end of an encrypted connection between two sides that know each other.
#[derive(Debug)]
pub struct SecureChannel {
    connection: Arc<SharedConnection>,
    incoming: Option<Receiver<Result<Vec<u8>, ChannelError>>>,
    unread: Vec<u8>,
    read: usize,
    unsent: Vec<u8>,
    outgoing: Option<SyncSender<Vec<u8>>>,
    /// Memory of what was written, to be used again.
    written: Receiver<Vec<u8>>,
    /// Why nothing is written any more.
    write_failure: Arc<OnceLock<ChannelError>>,
    writer: Option<JoinHandle<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl SecureChannel {
    /// Takes over a connection whose handshake is done.
    pub(crate) fn new(
        socket: TcpStream,
        tls: Connection,
        pinned: Arc<PinnedKeys>,
        timeouts: &Timeouts,
    ) -> Result<Self, SessionError> {
        let failed =
            |error: io::Error| SessionError::Network(format!("the connection failed: {error}"));
        socket
            .set_read_timeout(Some(POLL_INTERVAL))
            .map_err(failed)?;
        socket
            .set_write_timeout(Some(POLL_INTERVAL))
            .map_err(failed)?;
        let reading = socket.try_clone().map_err(failed)?;
        let (keep_alive, interval) = channel();
        let connection = Arc::new(SharedConnection::new(
            tls, socket, pinned, timeouts, keep_alive,
        ));
        let (to_owner, incoming) = sync_channel(MAX_QUEUED_CHUNKS);
        let (reader_connection, keep_alive_connection) =
            (Arc::clone(&connection), Arc::clone(&connection));
        let (outgoing, to_write) = sync_channel(MAX_QUEUED_WRITES);
        let (done, written) = channel();
        let write_failure = Arc::new(OnceLock::new());
        let (writer_connection, failure) = (Arc::clone(&connection), Arc::clone(&write_failure));
        let writer = std::thread::spawn(move || {
            if let Err(error) = write_all(&writer_connection, &to_write, &done) {
                let _ = failure.set(error);
            }
        });
        let first = timeouts.idle / 4;
        let threads = vec![
            std::thread::spawn(move || reader_connection.read_all(reading, &to_owner)),
            std::thread::spawn(move || keep_alive_connection.send_keep_alives(&interval, first)),
        ];
        Ok(Self {
            connection,
            incoming: Some(incoming),
            unread: Vec::new(),
            read: 0,
            unsent: Vec::new(),
            outgoing: Some(outgoing),
            written,
            write_failure,
            writer: Some(writer),
            threads,
        })
    }

    /// A view of the connection for another thread.
    pub(crate) fn monitor(&self) -> io::Result<ConnectionMonitor> {
        ConnectionMonitor::new(&self.connection)
    }

    /// What the channel's errors mean, and its patience, for whoever holds the channel only as a [`Channel`].
    pub(crate) fn connection(&self) -> Arc<SharedConnection> {
        Arc::clone(&self.connection)
    }
}

impl Channel for SecureChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        copying::append(bytes, &mut self.unsent);
        if self.unsent.len() >= FLUSH_THRESHOLD {
            self.flush()?;
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        let mut filled = 0;
        while filled < buffer.len() {
            if self.read == self.unread.len() {
                let incoming = self.incoming.as_ref().ok_or(ChannelError::Closed)?;
                self.unread = match incoming.recv_timeout(self.connection.stall()) {
                    Ok(chunk) => chunk?,
                    Err(RecvTimeoutError::Timeout) => return Err(ChannelError::TimedOut),
                    Err(RecvTimeoutError::Disconnected) => return Err(ChannelError::Closed),
                };
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
        let empty = self.written.try_recv().unwrap_or_default();
        let unsent = std::mem::replace(&mut self.unsent, empty);
        let writer = self.outgoing.as_ref().ok_or(ChannelError::Closed)?;
        writer.send(unsent).map_err(|_| {
            let known = self.write_failure.get().cloned();
            known.unwrap_or(ChannelError::Closed)
        })
    }
}

/// Writes what gathers, until no more comes or writing fails.
fn write_all(
    connection: &SharedConnection,
    to_write: &Receiver<Vec<u8>>,
    done: &Sender<Vec<u8>>,
) -> Result<(), ChannelError> {
    while let Ok(mut gathered) = to_write.recv() {
        for data in gathered.chunks(MAX_FRAME) {
            connection.write(Kind::Data, data)?;
        }
        gathered.clear();
        // Where the owner is gone nobody needs it.
        let _ = done.send(gathered);
    }
    Ok(())
}

/// Says good-bye, and waits a little for the other side to have heard everything: a connection that is closed with bytes
/// still to be read takes the last words with it.
impl Drop for SecureChannel {
    fn drop(&mut self) {
        self.connection.leave();
        let _ = self.flush();
        // The writer ends when it has written all, or when the line is too slow for a farewell.
        self.outgoing.take();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        let _ = self.connection.close_notify();
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        if let Some(incoming) = self.incoming.take() {
            while let Ok(Ok(_)) =
                incoming.recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
            }
        }
        self.connection.shutdown();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod relay_tests;
#[cfg(test)]
mod tests;

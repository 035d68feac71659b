//! A [`Channel`] over a TLS connection.
//!
//! A reader thread decrypts what arrives while this side still computes, and puts it into a queue of a few megabytes.
//! When the queue is full the thread stops reading, TCP's window closes, and the other side has to wait
//! (back-pressure). Two sides that both send more than the queue holds before they receive would deadlock, so engines
//! take turns. A host with several peers queues little for a peer that has no slot yet (`connection/early_bytes.rs`).
//!
//! A writer thread encrypts and writes what has been sent while this side computes. Its errors are returned by the next
//! `send` or `flush`.
//!
//! A third thread sends keep-alives, so that a side that computes for an hour does not look dead. Three things end a
//! wait: the idle timeout (not even a keep-alive arrived), the stall timeout (only keep-alives arrived), and the end of
//! the connection.

use crate::connection::{CLOSE_TIMEOUT, ConnectionMonitor, POLL_INTERVAL, SharedConnection};
use crate::error::{NetworkError, SessionError};
use crate::frames::{Kind, MAX_FRAME};
use crate::limits::Timeouts;
use crate::tls::PinnedKeys;
use crate::worker::WorkerCertificate;
use rustls::Connection;
use std::io;
use std::net::TcpStream;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;
use std::time::Instant;
use veilpath_channel::queue::{QueueReceiver, ReceiveError, byte_queue};
use veilpath_channel::{Channel, ChannelError, ReadBuffer, UNREAD_BYTES, chunked_copy};
use veilpath_protocol::CancelToken;

/// Received bytes that may wait in the queue.
const MAX_QUEUED_BYTES: usize = 4 << 20;

/// Small buffers are merged up to this size, because each has its own allocation.
const MERGED_BYTES: usize = 64 << 10;

const _: () = assert!(MAX_QUEUED_BYTES >= UNREAD_BYTES);

/// Once this many bytes are buffered, they are sent without a flush.
const FLUSH_THRESHOLD: usize = 128 << 10;

/// Buffers that may wait to be written.
const MAX_QUEUED_WRITES: usize = 4;

/// One end of an encrypted, mutually authenticated connection.
#[derive(Debug)]
pub struct SecureChannel {
    connection: Arc<SharedConnection>,
    incoming: Option<QueueReceiver<Result<Vec<u8>, ChannelError>>>,
    unread: ReadBuffer,
    unsent: Vec<u8>,
    outgoing: Option<SyncSender<Vec<u8>>>,
    /// Buffers that were written, for reuse.
    written: Receiver<Vec<u8>>,
    /// Why the writer stopped.
    write_failure: Arc<OnceLock<ChannelError>>,
    writer: Option<JoinHandle<()>>,
    threads: Vec<JoinHandle<()>>,
    /// The certificate of the other side, if it is a worker.
    certificate: Option<WorkerCertificate>,
}

impl SecureChannel {
    /// Takes over a connection after its handshake.
    pub(crate) fn new(
        socket: TcpStream,
        tls: Connection,
        pinned: Arc<PinnedKeys>,
        timeouts: &Timeouts,
    ) -> Result<Self, SessionError> {
        let failed = NetworkError::Connection;
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
        let (to_owner, incoming) = byte_queue(MAX_QUEUED_BYTES);
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
        let interval_at_first = timeouts.idle / 4;
        let threads = vec![
            std::thread::spawn(move || reader_connection.read_all(reading, &to_owner)),
            std::thread::spawn(move || {
                keep_alive_connection.send_keep_alives(&interval, interval_at_first)
            }),
        ];
        Ok(Self {
            connection,
            incoming: Some(incoming),
            unread: ReadBuffer::default(),
            unsent: Vec::new(),
            outgoing: Some(outgoing),
            written,
            write_failure,
            writer: Some(writer),
            threads,
            certificate: None,
        })
    }

    /// Ends the connection soon after this token is cancelled. Only the first token is used.
    pub fn cancel_with(&self, token: CancelToken) {
        self.connection.cancel_with(token);
    }

    /// A handle that monitors the connection from another thread.
    pub(crate) fn monitor(&self) -> io::Result<ConnectionMonitor> {
        ConnectionMonitor::new(&self.connection)
    }

    /// A handle that ends the connection from another thread.
    pub fn stop_handle(&self) -> Result<ChannelStop, SessionError> {
        let monitor = self.monitor().map_err(NetworkError::Connection)?;
        Ok(ChannelStop(monitor))
    }

    /// Sets the certificate of a worker on the other side.
    pub(crate) fn set_certificate(&mut self, certificate: WorkerCertificate) {
        self.certificate = Some(certificate);
    }

    /// The certificate of the worker on the other side, which was checked when it connected.
    pub(crate) fn certificate(&self) -> Option<&WorkerCertificate> {
        self.certificate.as_ref()
    }

    /// The shared state: timeouts, and the causes of errors.
    pub(crate) fn connection(&self) -> Arc<SharedConnection> {
        Arc::clone(&self.connection)
    }
}

/// Ends a connection from another thread.
#[derive(Debug)]
pub struct ChannelStop(ConnectionMonitor);

impl ChannelStop {
    /// Closes the connection. The session that uses it fails with [`NetworkError::Stopped`]; the other side loses the
    /// connection.
    pub fn stop(&self) {
        self.0.stop(NetworkError::Stopped);
    }
}

impl Channel for SecureChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        chunked_copy::append(bytes, &mut self.unsent);
        if self.unsent.len() >= FLUSH_THRESHOLD {
            self.flush()?;
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.unread.fill(buffer, || {
            let incoming = self.incoming.as_ref().ok_or(ChannelError::Closed)?;
            let block = match incoming.receive(Some(self.connection.stall())) {
                Ok(block) => block?,
                Err(ReceiveError::TimedOut) => return Err(ChannelError::TimedOut),
                Err(ReceiveError::Disconnected) => return Err(ChannelError::Closed),
            };
            self.connection.note_taken(block.len());
            Ok(block)
        })
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        if self.unsent.is_empty() {
            return Ok(());
        }
        let empty = self.written.try_recv().unwrap_or_default();
        let unsent = std::mem::replace(&mut self.unsent, empty);
        let writer = self.outgoing.as_ref().ok_or(ChannelError::Closed)?;
        writer.send(unsent).map_err(|_| {
            let failure = self.write_failure.get().cloned();
            failure.unwrap_or(ChannelError::Closed)
        })
    }
}

/// Appends a small buffer to the last one in the queue.
pub(crate) fn merge_buffers(
    last: &mut Result<Vec<u8>, ChannelError>,
    next: Result<Vec<u8>, ChannelError>,
) -> Option<Result<Vec<u8>, ChannelError>> {
    match (last, next) {
        (Ok(last), Ok(mut next)) if last.len() + next.len() <= MERGED_BYTES => {
            last.append(&mut next);
            None
        }
        (_, next) => Some(next),
    }
}

/// Writes buffers until the channel is dropped or writing fails.
fn write_all(
    connection: &SharedConnection,
    to_write: &Receiver<Vec<u8>>,
    done: &Sender<Vec<u8>>,
) -> Result<(), ChannelError> {
    while let Ok(mut buffer) = to_write.recv() {
        for data in buffer.chunks(MAX_FRAME) {
            connection.write(Kind::Data, data)?;
        }
        buffer.clear();
        // The channel may have been dropped.
        let _ = done.send(buffer);
    }
    Ok(())
}

impl SecureChannel {
    /// Sends close_notify, and waits a little for the other side to have received everything: closing a socket with unread bytes
    /// would discard what was sent last. Dropping a channel does the same.
    pub(crate) fn close(&mut self) {
        if self.threads.is_empty() {
            return;
        }
        self.connection.begin_close();
        let _ = self.flush();
        // The writer ends when it has written everything, or when the close timeout has passed.
        self.outgoing.take();
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
        let _ = self.connection.close_notify();
        let deadline = Instant::now() + CLOSE_TIMEOUT;
        // Taken, because the threads end when nobody receives from them.
        if let Some(incoming) = self.incoming.take() {
            while let Ok(Ok(_)) =
                incoming.receive(Some(deadline.saturating_duration_since(Instant::now())))
            {
            }
        }
        self.connection.shutdown();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for SecureChannel {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod relay_tests;
#[cfg(test)]
mod tests;

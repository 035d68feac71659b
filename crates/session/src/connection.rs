//! The state that the threads of a channel share: the TLS connection, the socket, and when something last arrived.

mod deadline;
mod early_bytes;
mod monitor;

#[cfg(test)]
pub(crate) use early_bytes::EARLY_BYTES;
pub(crate) use monitor::ConnectionMonitor;

use crate::channel::merge_buffers;
use crate::error::{Misbehaviour, SessionError};
use crate::frames::{self, Kind, Parser};
use crate::identity::PublicKey;
use crate::limits::Timeouts;
use crate::tls::PinnedKeys;
use rustls::Connection;
use std::io::{self, BufRead, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use veilpath_channel::ChannelError;
use veilpath_channel::queue::QueueSender;
use veilpath_protocol::CancelToken;

/// The most bytes that one read takes from the socket.
const CHUNK: usize = 64 << 10;

/// How long a read or write blocks before the timeouts are checked.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long a closing side waits for the other to have received what was sent last.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a closing side keeps writing to one that reads slowly.
const MAX_CLOSE_TIME: Duration = Duration::from_secs(60);

/// How many idle timeouts a TLS record may take to arrive, on a slow connection.
const MAX_RECORD_TIMEOUTS: u64 = 4;

/// The state that the threads of a channel share.
#[derive(Debug)]
pub(crate) struct SharedConnection {
    tls: Mutex<Connection>,
    /// Locked while bytes are written, so that they go out in the order in which they were encrypted.
    outgoing: Mutex<TcpStream>,
    pinned: Arc<PinnedKeys>,
    start: Instant,
    /// When bytes last arrived, in milliseconds since `start`.
    last_bytes: AtomicU64,
    /// When something last arrived that could be decrypted.
    last_plaintext: AtomicU64,
    reader_blocked: AtomicBool,
    /// Received bytes that the owner has not taken.
    unread: AtomicUsize,
    /// Whether only a few bytes may wait for the owner.
    is_early: AtomicBool,
    /// Nothing more will be read.
    closed: AtomicBool,
    /// When this side began to close.
    closing_since: OnceLock<Instant>,
    /// Set while `tls` is locked. After close_notify nothing more is decrypted, because an error would need an alert.
    sent_close_notify: AtomicBool,
    idle: Duration,
    stall_ms: AtomicU64,
    /// The deadline of the connection, in milliseconds since `start`, and the time that it was given.
    deadline: Mutex<Option<(u64, Duration)>>,
    /// When the worker key of the other side expires, in milliseconds since `start`.
    expiry: OnceLock<u64>,
    /// Ends the connection early.
    cancel: OnceLock<CancelToken>,
    cause: Mutex<Option<SessionError>>,
    /// Dropping this sender ends the keep-alives.
    keep_alive: Mutex<Option<Sender<Duration>>>,
}

impl SharedConnection {
    pub(crate) fn new(
        tls: Connection,
        socket: TcpStream,
        pinned: Arc<PinnedKeys>,
        timeouts: &Timeouts,
        keep_alive: Sender<Duration>,
    ) -> Self {
        Self {
            tls: Mutex::new(tls),
            outgoing: Mutex::new(socket),
            pinned,
            start: Instant::now(),
            last_bytes: AtomicU64::new(0),
            last_plaintext: AtomicU64::new(0),
            reader_blocked: AtomicBool::new(false),
            unread: AtomicUsize::new(0),
            is_early: AtomicBool::new(true),
            closed: AtomicBool::new(false),
            closing_since: OnceLock::new(),
            sent_close_notify: AtomicBool::new(false),
            idle: timeouts.idle,
            // Before the engine runs, keep-alives alone do not extend a wait.
            stall_ms: AtomicU64::new(millis(timeouts.idle)),
            deadline: Mutex::new(None),
            expiry: OnceLock::new(),
            cancel: OnceLock::new(),
            cause: Mutex::new(None),
            keep_alive: Mutex::new(Some(keep_alive)),
        }
    }

    /// The authenticated key of the other side.
    pub(crate) fn peer_key(&self) -> Option<PublicKey> {
        let tls = lock(&self.tls);
        PublicKey::from_spki(tls.peer_certificates()?.first()?)
    }

    /// How long the owner waits for data.
    pub(crate) fn stall(&self) -> Duration {
        Duration::from_millis(self.stall_ms.load(Ordering::Relaxed))
    }

    /// Ends the keep-alives, and shortens the timeout of writes.
    pub(crate) fn begin_close(&self) {
        lock(&self.keep_alive).take();
        let _ = self.closing_since.set(Instant::now());
    }

    /// Closes the socket.
    pub(crate) fn shutdown(&self) {
        let _ = lock(&self.outgoing).shutdown(Shutdown::Both);
    }

    /// Sets how long the owner waits for data.
    pub(crate) fn set_stall(&self, stall: Duration) {
        self.stall_ms.store(millis(stall), Ordering::Relaxed);
    }

    /// Sends keep-alives often enough for the other side's idle timeout.
    pub(crate) fn set_keep_alive(&self, idle: Duration) {
        if let Some(keep_alive) = &*lock(&self.keep_alive) {
            // The thread is gone only when the connection is.
            let _ = keep_alive.send(idle.min(self.idle) / 4);
        }
    }

    /// Why the channel failed, if more is known than the channel's error says.
    pub(crate) fn cause(&self) -> Option<SessionError> {
        lock(&self.cause).take()
    }

    fn now(&self) -> u64 {
        millis(self.start.elapsed())
    }

    /// How long nothing arrived; zero while this side is too busy to read.
    pub(crate) fn idle_for(&self) -> Duration {
        if self.reader_blocked.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        let last_bytes = self.last_bytes.load(Ordering::Relaxed);
        Duration::from_millis(self.now().saturating_sub(last_bytes))
    }

    /// Whether the other side has closed the connection, or it has failed. The cause is known by then.
    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    fn is_idle(&self) -> bool {
        self.idle_for() > self.idle
    }

    fn millis_since(&self, moment: &AtomicU64) -> u64 {
        self.now().saturating_sub(moment.load(Ordering::Relaxed))
    }

    /// Notes that bytes arrived. Returns `false` when bytes have arrived for too long without a complete record: if the
    /// length of a record was corrupted, everything after it, including keep-alives, looks like its content.
    fn note_bytes(&self) -> bool {
        let idle = millis(self.idle);
        // A longer gap means that this machine was suspended; otherwise it would have timed out. What arrived before
        // does not count.
        let suspended = self.millis_since(&self.last_bytes) > idle;
        let incomplete =
            self.millis_since(&self.last_plaintext) > idle.saturating_mul(MAX_RECORD_TIMEOUTS);
        self.note_received(suspended);
        suspended || !incomplete
    }

    fn note_received(&self, decrypted: bool) {
        let now = self.now();
        self.last_bytes.store(now, Ordering::Relaxed);
        if decrypted {
            self.last_plaintext.store(now, Ordering::Relaxed);
        }
    }

    /// Sends a frame.
    pub(crate) fn write(&self, kind: Kind, data: &[u8]) -> Result<(), ChannelError> {
        let header = frames::header(kind, data.len())
            .map_err(|error| ChannelError::Failed(error.to_string()))?;
        self.encrypt_and_send(|tls| {
            // Header and data in one write, so that the header does not become a record of its own. A writer without a
            // buffer limit takes all of it.
            let parts = [IoSlice::new(&header), IoSlice::new(data)];
            let taken = tls.writer().write_vectored(&parts)?;
            if taken == header.len() + data.len() {
                Ok(())
            } else {
                Err(ErrorKind::WriteZero.into())
            }
        })
    }

    /// Tells the other side that nothing more follows.
    pub(crate) fn close_notify(&self) -> Result<(), ChannelError> {
        self.encrypt_and_send(|tls| {
            tls.send_close_notify();
            self.sent_close_notify.store(true, Ordering::Relaxed);
            Ok(())
        })?;
        let _ = lock(&self.outgoing).shutdown(Shutdown::Write);
        Ok(())
    }

    fn encrypt_and_send(
        &self,
        put: impl FnOnce(&mut Connection) -> io::Result<()>,
    ) -> Result<(), ChannelError> {
        let failed = |error: io::Error| ChannelError::Failed(error.to_string());
        let mut socket = lock(&self.outgoing);
        let mut bytes = Vec::new();
        {
            // Unlocked before the socket may block, because the reader needs it.
            let mut tls = lock(&self.tls);
            tls.set_buffer_limit(None);
            put(&mut tls).map_err(failed)?;
            while tls.wants_write() {
                tls.write_tls(&mut bytes).map_err(failed)?;
            }
        }
        self.write_socket(&mut socket, &bytes)
    }

    fn write_socket(&self, socket: &mut TcpStream, mut bytes: &[u8]) -> Result<(), ChannelError> {
        let mut last_write = Instant::now();
        while !bytes.is_empty() {
            self.check_deadline()?;
            match socket.write(bytes) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(count) => {
                    bytes = &bytes[count..];
                    last_write = Instant::now();
                }
                Err(error) if is_timeout(&error) => {
                    let waited = millis(last_write.elapsed());
                    let closing = self.closing_since.get().is_some();
                    let close_timeout = closing && waited > millis(CLOSE_TIMEOUT);
                    let stall = self.stall_ms.load(Ordering::Relaxed);
                    if close_timeout || waited > stall || self.is_idle() {
                        return Err(ChannelError::TimedOut);
                    }
                }
                Err(error) => return Err(channel_error(&error)),
            }
            let closing = self.closing_since.get();
            if closing.is_some_and(|since| since.elapsed() > MAX_CLOSE_TIME) {
                return Err(ChannelError::TimedOut);
            }
        }
        Ok(())
    }

    /// Sends keep-alives until the channel closes.
    pub(crate) fn send_keep_alives(&self, interval: &Receiver<Duration>, first: Duration) {
        let mut every = first;
        loop {
            match interval.recv_timeout(every) {
                Ok(new) => every = new,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    if self.write(Kind::KeepAlive, &[]).is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Forwards everything that arrives, and finally the reason why the connection ended.
    pub(crate) fn read_all(
        &self,
        socket: TcpStream,
        owner: &QueueSender<Result<Vec<u8>, ChannelError>>,
    ) {
        let error = match self.read_until_end(socket, owner) {
            Ok(()) => ChannelError::Closed,
            Err(error) => error,
        };
        self.closed.store(true, Ordering::Release);
        // The channel may have been dropped.
        let _ = owner.send(Err(error), 0);
    }

    fn read_until_end(
        &self,
        mut socket: TcpStream,
        owner: &QueueSender<Result<Vec<u8>, ChannelError>>,
    ) -> Result<(), ChannelError> {
        let mut parser = Parser::default();
        let mut buffer = vec![0; CHUNK];
        // The handshake may have read more than its own messages.
        let mut count = 0;
        loop {
            let mut data = Vec::new();
            let closed = self.decrypt(&buffer[..count], &mut parser, &mut data);
            if !data.is_empty() {
                self.reader_blocked.store(true, Ordering::Relaxed);
                let bytes = data.len();
                self.wait_for_room(bytes)?;
                let sent = owner.send_or_merge(Ok(data), bytes, merge_buffers);
                self.note_received(true);
                self.reader_blocked.store(false, Ordering::Relaxed);
                if sent.is_err() {
                    return Ok(());
                }
            }
            if closed? {
                return Ok(());
            }
            count = loop {
                self.check_deadline()?;
                match socket.read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(_) if !self.note_bytes() => return Err(ChannelError::TimedOut),
                    Ok(count) => break count,
                    Err(error) if is_timeout(&error) => {
                        if self.is_idle() {
                            return Err(ChannelError::TimedOut);
                        }
                    }
                    Err(error) => return Err(channel_error(&error)),
                }
            };
        }
    }

    /// Decrypts bytes from the network; `true` when the other side has sent close_notify.
    fn decrypt(
        &self,
        mut bytes: &[u8],
        parser: &mut Parser,
        data: &mut Vec<u8>,
    ) -> Result<bool, ChannelError> {
        let failed = |error: io::Error| ChannelError::Failed(error.to_string());
        loop {
            let mut parsed = Ok(());
            let state = {
                let mut tls = lock(&self.tls);
                if self.sent_close_notify.load(Ordering::Relaxed) {
                    return Ok(false);
                }
                if !bytes.is_empty() {
                    tls.read_tls(&mut bytes).map_err(failed)?;
                }
                let state = tls.process_new_packets();
                if let Ok(state) = &state {
                    let mut left = state.plaintext_bytes_to_read();
                    if left > 0 {
                        self.note_received(true);
                    }
                    let mut reader = tls.reader();
                    while left > 0 && parsed.is_ok() {
                        let plaintext = reader.fill_buf().map_err(failed)?;
                        let count = plaintext.len().min(left);
                        parsed = parser.feed(&plaintext[..count], data);
                        reader.consume(count);
                        left = if count == 0 { 0 } else { left - count };
                    }
                }
                state
            };
            let state = state.map_err(|error| {
                // Sends the alert before this side closes.
                let _ = self.encrypt_and_send(|_| Ok(()));
                self.fail(self.pinned.explain(&error))
            })?;
            parsed.map_err(|error| self.fail(Misbehaviour::from(error).into()))?;
            if state.peer_has_closed() {
                return Ok(true);
            }
            if bytes.is_empty() {
                return Ok(false);
            }
        }
    }

    fn fail(&self, cause: SessionError) -> ChannelError {
        let error = ChannelError::Failed(cause.to_string());
        lock(&self.cause).get_or_insert(cause);
        error
    }
}

/// Poisoning is harmless: no thread changes these in several steps.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Whether this error only means that the poll interval has passed.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn channel_error(error: &io::Error) -> ChannelError {
    match error.kind() {
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => ChannelError::Closed,
        _ => ChannelError::Failed(error.to_string()),
    }
}

//! What the threads of a channel share: the TLS connection, the socket, and what was heard when.

use crate::SessionError;
use crate::frames::{self, Kind, Parser};
use crate::limits::Timeouts;
use crate::tls::PinnedKeys;
use rustls::Connection;
use std::io::{self, BufRead, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use veilpath_protocol::ChannelError;

/// Bytes that are read from the network at once.
const CHUNK: usize = 64 << 10;

/// How long a thread sleeps in the network before it looks at the clock.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// How long a side that leaves waits for the other to have heard its last words.
pub(crate) const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long it goes on writing them to a side that takes them drop by drop.
const MAX_CLOSE_TIME: Duration = Duration::from_secs(60);

/// How many times the longest silence a record may take to arrive, on a slow line.
const MAX_RECORD_TIMEOUTS: u64 = 4;

/// What the threads of a channel share.
#[derive(Debug)]
pub(crate) struct SharedConnection {
    tls: Mutex<Connection>,
    /// Held while bytes are written, so that they go out in the order in which they were enciphered.
    outgoing: Mutex<TcpStream>,
    pinned: Arc<PinnedKeys>,
    start: Instant,
    /// When bytes last came, whatever they were.
    heard: AtomicU64,
    /// When something last came that could be deciphered.
    understood: AtomicU64,
    reader_blocked: AtomicBool,
    /// Nothing more will be read.
    over: AtomicBool,
    /// When this side began to leave.
    left: OnceLock<Instant>,
    /// Set with the TLS connection held: after its last word nothing is deciphered any more, because an error would need
    /// another word.
    sent_close_notify: AtomicBool,
    idle: Duration,
    stall_ms: AtomicU64,
    cause: Mutex<Option<SessionError>>,
    /// Dropping it ends the signs of life.
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
            heard: AtomicU64::new(0),
            understood: AtomicU64::new(0),
            reader_blocked: AtomicBool::new(false),
            over: AtomicBool::new(false),
            left: OnceLock::new(),
            sent_close_notify: AtomicBool::new(false),
            idle: timeouts.idle,
            // Until there is work, signs of life alone are not enough.
            stall_ms: AtomicU64::new(millis(timeouts.idle)),
            cause: Mutex::new(None),
            keep_alive: Mutex::new(Some(keep_alive)),
        }
    }

    /// The time that the owner waits for data.
    pub(crate) fn stall(&self) -> Duration {
        Duration::from_millis(self.stall_ms.load(Ordering::Relaxed))
    }

    /// Ends the signs of life, and makes writing less patient.
    pub(crate) fn leave(&self) {
        guard(&self.keep_alive).take();
        let _ = self.left.set(Instant::now());
    }

    /// Ends everything.
    pub(crate) fn shutdown(&self) {
        let _ = guard(&self.outgoing).shutdown(Shutdown::Both);
    }

    /// The time that the owner waits for data, from now on.
    pub(crate) fn set_stall(&self, stall: Duration) {
        self.stall_ms.store(millis(stall), Ordering::Relaxed);
    }

    /// Gives signs of life often enough for the other side's patience.
    pub(crate) fn set_keep_alive(&self, idle: Duration) {
        if let Some(keep_alive) = &*guard(&self.keep_alive) {
            // The thread is gone only when the line is.
            let _ = keep_alive.send(idle.min(self.idle) / 4);
        }
    }

    /// Why the channel failed, where more is known than the channel's error says.
    pub(crate) fn cause(&self) -> Option<SessionError> {
        guard(&self.cause).take()
    }

    fn now(&self) -> u64 {
        millis(self.start.elapsed())
    }

    /// How long nothing was heard; where this side is too busy to listen, that is no time at all.
    pub(crate) fn idle_for(&self) -> Duration {
        if self.reader_blocked.load(Ordering::Relaxed) {
            return Duration::ZERO;
        }
        let heard = self.heard.load(Ordering::Relaxed);
        Duration::from_millis(self.now().saturating_sub(heard))
    }

    /// Whether the other side has left, or the line has failed.
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn is_idle(&self) -> bool {
        self.idle_for() > self.idle
    }

    fn since(&self, moment: &AtomicU64) -> u64 {
        self.now().saturating_sub(moment.load(Ordering::Relaxed))
    }

    /// Notes that bytes came. Gives `false` where they have come for too long without making sense: where the length of a
    /// record was changed on its way, all that follows, signs of life too, is taken for its content.
    fn note_bytes(&self) -> bool {
        let idle = millis(self.idle);
        // After a gap this side has slept, or it would have left: what made no sense before it does not count.
        let slept = self.since(&self.heard) > idle;
        let nonsense = self.since(&self.understood) > idle.saturating_mul(MAX_RECORD_TIMEOUTS);
        self.hear(slept);
        slept || !nonsense
    }

    fn hear(&self, understood: bool) {
        let now = self.now();
        self.heard.store(now, Ordering::Relaxed);
        if understood {
            self.understood.store(now, Ordering::Relaxed);
        }
    }

    /// Sends a frame.
    pub(crate) fn write(&self, kind: Kind, data: &[u8]) -> Result<(), ChannelError> {
        let header = frames::header(kind, data.len())
            .map_err(|error| ChannelError::Failed(error.to_string()))?;
        self.encrypt_and_send(|tls| {
            // Together, so that the header is no record of its own; a writer without limit takes all at once.
            let parts = [IoSlice::new(&header), IoSlice::new(data)];
            let taken = tls.writer().write_vectored(&parts)?;
            if taken == header.len() + data.len() {
                Ok(())
            } else {
                Err(ErrorKind::WriteZero.into())
            }
        })
    }

    /// Tells the other side that nothing more comes.
    pub(crate) fn close_notify(&self) -> Result<(), ChannelError> {
        self.encrypt_and_send(|tls| {
            tls.send_close_notify();
            self.sent_close_notify.store(true, Ordering::Relaxed);
            Ok(())
        })?;
        let _ = guard(&self.outgoing).shutdown(Shutdown::Write);
        Ok(())
    }

    fn encrypt_and_send(
        &self,
        put: impl FnOnce(&mut Connection) -> io::Result<()>,
    ) -> Result<(), ChannelError> {
        let failed = |error: io::Error| ChannelError::Failed(error.to_string());
        let mut socket = guard(&self.outgoing);
        let mut bytes = Vec::new();
        {
            // Not held while the network is slow: the reader needs it.
            let mut tls = guard(&self.tls);
            tls.set_buffer_limit(None);
            put(&mut tls).map_err(failed)?;
            while tls.wants_write() {
                tls.write_tls(&mut bytes).map_err(failed)?;
            }
        }
        self.write_socket(&mut socket, &bytes)
    }

    fn write_socket(&self, socket: &mut TcpStream, mut bytes: &[u8]) -> Result<(), ChannelError> {
        let mut moved = Instant::now();
        while !bytes.is_empty() {
            match socket.write(bytes) {
                Ok(0) => return Err(ChannelError::Closed),
                Ok(count) => {
                    bytes = &bytes[count..];
                    moved = Instant::now();
                }
                Err(error) if is_timeout(&error) => {
                    let waited = millis(moved.elapsed());
                    let farewell = self.left.get().is_some() && waited > millis(CLOSE_TIMEOUT);
                    let stall = self.stall_ms.load(Ordering::Relaxed);
                    if farewell || waited > stall || self.is_idle() {
                        return Err(ChannelError::TimedOut);
                    }
                }
                Err(error) => return Err(broken(&error)),
            }
            let left = self.left.get();
            if left.is_some_and(|left| left.elapsed() > MAX_CLOSE_TIME) {
                return Err(ChannelError::TimedOut);
            }
        }
        Ok(())
    }

    /// Until nobody wants them any more.
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

    /// Hands on all that comes, and at last why no more comes.
    pub(crate) fn read_all(
        &self,
        socket: TcpStream,
        owner: &SyncSender<Result<Vec<u8>, ChannelError>>,
    ) {
        let error = match self.read_until_end(socket, owner) {
            Ok(()) => ChannelError::Closed,
            Err(error) => error,
        };
        self.over.store(true, Ordering::Relaxed);
        // Where the owner is gone nobody wants to know.
        let _ = owner.send(Err(error));
    }

    fn read_until_end(
        &self,
        mut socket: TcpStream,
        owner: &SyncSender<Result<Vec<u8>, ChannelError>>,
    ) -> Result<(), ChannelError> {
        let mut parser = Parser::default();
        let mut buffer = vec![0; CHUNK];
        // The handshake may have read more than itself.
        let mut count = 0;
        loop {
            let mut data = Vec::new();
            let ended = self.decrypt(&buffer[..count], &mut parser, &mut data);
            if !data.is_empty() {
                self.reader_blocked.store(true, Ordering::Relaxed);
                let sent = owner.send(Ok(data));
                self.hear(true);
                self.reader_blocked.store(false, Ordering::Relaxed);
                if sent.is_err() {
                    return Ok(());
                }
            }
            if ended? {
                return Ok(());
            }
            count = loop {
                match socket.read(&mut buffer) {
                    Ok(0) => return Ok(()),
                    Ok(_) if !self.note_bytes() => return Err(ChannelError::TimedOut),
                    Ok(count) => break count,
                    Err(error) if is_timeout(&error) => {
                        if self.is_idle() {
                            return Err(ChannelError::TimedOut);
                        }
                    }
                    Err(error) => return Err(broken(&error)),
                }
            };
        }
    }

    /// Data from bytes of the network; `true` when the other side has said good-bye.
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
                let mut tls = guard(&self.tls);
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
                        self.hear(true);
                    }
                    let mut reader = tls.reader();
                    while left > 0 && parsed.is_ok() {
                        let plain = reader.fill_buf().map_err(failed)?;
                        let count = plain.len().min(left);
                        parsed = parser.feed(&plain[..count], data);
                        reader.consume(count);
                        left = if count == 0 { 0 } else { left - count };
                    }
                }
                state
            };
            let state = state.map_err(|error| {
                // The alert that says why is on its way before this side leaves.
                let _ = self.encrypt_and_send(|_| Ok(()));
                self.blame(self.pinned.explain(&error))
            })?;
            parsed.map_err(|error| self.blame(SessionError::misbehaved(error.to_string())))?;
            if state.peer_has_closed() {
                return Ok(true);
            }
            if bytes.is_empty() {
                return Ok(false);
            }
        }
    }

    fn blame(&self, cause: SessionError) -> ChannelError {
        let error = ChannelError::Failed(cause.to_string());
        guard(&self.cause).get_or_insert(cause);
        error
    }
}

/// Tells whether the other end is still there, and can end the connection, while another thread works with it.
#[derive(Debug)]
pub(crate) struct ConnectionMonitor {
    connection: Arc<SharedConnection>,
    /// Of its own: the line's is in use for as long as a write takes, and a dead line takes nothing.
    socket: TcpStream,
}

impl ConnectionMonitor {
    pub(crate) fn new(connection: &Arc<SharedConnection>) -> io::Result<Self> {
        Ok(Self {
            socket: guard(&connection.outgoing).try_clone()?,
            connection: Arc::clone(connection),
        })
    }

    /// How long nothing was heard.
    pub(crate) fn idle_for(&self) -> Duration {
        self.connection.idle_for()
    }

    /// Ends the connection at once; whoever works with it finds it closed.
    pub(crate) fn cut(&self) {
        let _ = self.socket.shutdown(Shutdown::Both);
    }
}

/// A thread that panicked would have left these as they were before its call: none of them is changed in steps.
fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Whether nothing failed but the wait for this tick.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
    )
}

fn broken(error: &io::Error) -> ChannelError {
    match error.kind() {
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => ChannelError::Closed,
        _ => ChannelError::Failed(error.to_string()),
    }
}

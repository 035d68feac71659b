//! Copies bytes between two connected clients, in both directions, until both have ended, nothing has moved for too
//! long, or the time is up.

use super::copy_buffer::CopyBuffer;
use crate::connection::is_timeout;
use std::io;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How long a read or write blocks before the limits are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// The stack size of a copying thread, in bytes. Its buffer is on the heap.
const STACK: usize = 128 << 10;

/// How long a connection may last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyLimits {
    /// The longest time without a byte in either direction.
    pub(crate) idle: Duration,
    /// The longest total time.
    pub(crate) total: Duration,
}

/// Two clients whose bytes are copied.
#[derive(Debug)]
pub(crate) struct ClientPair {
    state: Arc<State>,
    /// Shared with the threads, not cloned for them: cloned sockets would need more open files than were reserved.
    sockets: Arc<[TcpStream; 2]>,
}

#[derive(Debug)]
struct State {
    limits: CopyLimits,
    start: Instant,
    /// When a byte last moved, in milliseconds since `start`.
    last: AtomicU64,
    bytes: AtomicU64,
    /// Directions that have not ended.
    running: AtomicUsize,
    stopped: AtomicBool,
}

impl ClientPair {
    /// Starts to copy, on two threads.
    pub(crate) fn start(sockets: [TcpStream; 2], limits: CopyLimits) -> io::Result<Self> {
        let state = Arc::new(State {
            limits,
            start: Instant::now(),
            last: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            running: AtomicUsize::new(2),
            stopped: AtomicBool::new(false),
        });
        for socket in &sockets {
            socket.set_nonblocking(false)?;
            socket.set_nodelay(true)?;
            socket.set_read_timeout(Some(POLL_INTERVAL))?;
            socket.set_write_timeout(Some(POLL_INTERVAL))?;
        }
        let sockets = Arc::new(sockets);
        let copying = Self { state, sockets };
        for is_back in [false, true] {
            let sockets = Arc::clone(&copying.sockets);
            let state = Arc::clone(&copying.state);
            let thread = std::thread::Builder::new().stack_size(STACK);
            thread.spawn(move || {
                let [one, other] = &*sockets;
                let (from, to) = if is_back { (other, one) } else { (one, other) };
                if state.copy(from, to).is_err() {
                    // This also ends the other direction.
                    state.stopped.store(true, Ordering::Relaxed);
                    let _ = from.shutdown(Shutdown::Both);
                    let _ = to.shutdown(Shutdown::Both);
                }
                state.running.fetch_sub(1, Ordering::Release);
            })?;
        }
        Ok(copying)
    }

    /// Whether both directions have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.state.running.load(Ordering::Acquire) == 0
    }

    /// Bytes that were copied, and in what time.
    pub(crate) fn totals(&self) -> (u64, Duration) {
        let bytes = self.state.bytes.load(Ordering::Relaxed);
        (bytes, self.state.start.elapsed())
    }
}

/// Closes both connections.
impl Drop for ClientPair {
    fn drop(&mut self) {
        self.state.stopped.store(true, Ordering::Relaxed);
        for socket in &*self.sockets {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

impl State {
    /// Copies one direction until it ends.
    fn copy(&self, from: &TcpStream, to: &TcpStream) -> io::Result<()> {
        let mut buffer = CopyBuffer::new();
        loop {
            match buffer.fill(from) {
                Ok(0) => return to.shutdown(Shutdown::Write),
                Ok(_) => {}
                Err(error) if is_timeout(&error) => {
                    self.check()?;
                    continue;
                }
                Err(error) => return Err(error),
            }
            while !buffer.is_empty() {
                match buffer.send(to) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(sent) => self.note(sent),
                    Err(error) if is_timeout(&error) => {}
                    Err(error) => return Err(error),
                }
                self.check()?;
            }
        }
    }

    fn note(&self, bytes: usize) {
        self.last.store(self.now(), Ordering::Relaxed);
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Whether the limits allow the connection to continue.
    fn check(&self) -> io::Result<()> {
        let idle = self.now().saturating_sub(self.last.load(Ordering::Relaxed));
        let over = u128::from(idle) > self.limits.idle.as_millis()
            || self.start.elapsed() > self.limits.total
            || self.stopped.load(Ordering::Relaxed);
        match over {
            true => Err(io::ErrorKind::TimedOut.into()),
            false => Ok(()),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

//! Accepts connections and admits the expected peers.
//!
//! ```text
//! accept ─▶ throttle ─▶ handshake, on its own thread ─▶ a peer ─▶ next()
//!              │             │
//!              ▼             ▼
//!           dropped       rejected: reported at a limited rate
//! ```
//!
//! Unauthenticated connections cost little: most are dropped before anything is read from them (`throttle.rs`). The
//! others have until the handshake timeout to present a key. At most [`MAX_HANDSHAKES`] are pending; a further one
//! evicts the oldest handshake of the address that has the most. So neither silent connections nor a flood of them keep
//! a peer out for long: its own handshake takes one round trip.
//!
//! A connection with an unexpected key is rejected as well, and the wait for the right one goes on: anyone who can
//! reach the port can present some key.

use crate::connect::{Listener, secure};
use crate::connection::POLL_INTERVAL;
use crate::error::NetworkError;
use crate::limits::Timeouts;
use crate::throttle::{Bucket, Origin, Rate, Throttle};
use crate::tls::{self, PinnedKeys};
use crate::worker::WorkerGate;
use crate::{Fingerprint, Identity, SecureChannel, SessionError};
use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Handshakes that may be pending at the same time.
pub(crate) const MAX_HANDSHAKES: usize = 64;

/// Connections accepted per poll.
const MAX_ACCEPTS_PER_POLL: usize = 256;

/// Rejected connections beyond this rate are counted instead of reported one by one.
const REPORT_RATE: Rate = Rate::new(1, 20);

/// How often that count is reported.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// The stack size of a handshake thread, in bytes.
const HANDSHAKE_STACK: usize = 1 << 20;

/// The result of an incoming connection.
#[derive(Debug)]
pub enum Incoming {
    /// An expected peer, with a channel to it.
    Peer(Fingerprint, Box<SecureChannel>),
    /// Why a connection was rejected, or how many more were.
    Rejected(SessionError),
}

/// Accepts connections from expected peers.
#[derive(Debug)]
pub struct Acceptor {
    listener: Listener,
    identity: Identity,
    expected: Arc<[Fingerprint]>,
    /// What workers must present, if workers connect instead of institutions.
    gate: Option<WorkerGate>,
    timeouts: Timeouts,
    throttle: Throttle,
    pending: Vec<PendingHandshake>,
    next_id: u64,
    results_sender: Sender<HandshakeResult>,
    results: Receiver<HandshakeResult>,
    poll_interval: Duration,
    reports: Bucket,
    /// The number of unreported rejections, and since when they are counted.
    unreported: (u64, Instant),
}

/// A connection that has not authenticated yet.
#[derive(Debug)]
struct PendingHandshake {
    id: u64,
    from: Origin,
    socket: TcpStream,
    /// Whether it has succeeded; its result is on the way.
    authenticated: Arc<AtomicBool>,
}

/// How a handshake ended.
type HandshakeResult = (u64, Result<(Fingerprint, SecureChannel), SessionError>);

impl Acceptor {
    /// Accepts connections from these peers.
    pub fn new(
        listener: Listener,
        identity: &Identity,
        expected: &[Fingerprint],
        timeouts: &Timeouts,
    ) -> Self {
        let now = Instant::now();
        let (results_sender, results) = channel();
        Self {
            listener,
            identity: identity.clone(),
            expected: expected.into(),
            gate: None,
            timeouts: *timeouts,
            throttle: Throttle::new(now),
            pending: Vec::new(),
            next_id: 0,
            results_sender,
            results,
            // Starts short, for a peer that connects at once, and grows, so that a long wait costs little.
            poll_interval: Duration::from_millis(1),
            reports: Bucket::new(now),
            unreported: (0, now),
        }
    }

    /// Accepts connections from workers that pass the gate. [`Incoming::Peer`] has the fingerprint of the worker's own
    /// key.
    pub(crate) fn for_workers(
        listener: Listener,
        identity: &Identity,
        gate: WorkerGate,
        timeouts: &Timeouts,
    ) -> Self {
        let mut acceptor = Self::new(listener, identity, &[], timeouts);
        acceptor.gate = Some(gate);
        acceptor
    }

    /// The expected peers, in the order given.
    pub fn expected(&self) -> &[Fingerprint] {
        &self.expected
    }

    /// The timeouts of the connections.
    pub fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The next result, if there is one before the deadline.
    pub fn next(&mut self, until: Instant) -> Option<Incoming> {
        loop {
            self.accept_pending();
            if let Some(error) = self.unreported_count() {
                return Some(Incoming::Rejected(error));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            match self.results.recv_timeout(self.poll_interval.min(left)) {
                Err(_) => self.poll_interval = (2 * self.poll_interval).min(POLL_INTERVAL / 4),
                Ok((id, result)) => {
                    if let Some(incoming) = self.finish_handshake(id, result) {
                        return Some(incoming);
                    }
                }
            }
        }
    }

    /// Accepts pending connections, and starts the handshake of those that the throttle admits.
    fn accept_pending(&mut self) {
        for _ in 0..MAX_ACCEPTS_PER_POLL {
            match self.listener.accept_one() {
                Ok((socket, address)) => {
                    let from = Origin::of(address.ip());
                    let admitted = self.throttle.admit(from, Instant::now());
                    if !admitted || !self.start_handshake(socket, from) {
                        self.unreported.0 += 1;
                    }
                }
                // Only this connection is gone; the next one may work.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // There are no more, or the system is out of resources; it may recover by the next poll.
                Err(_) => return,
            }
        }
    }

    /// Starts a handshake on its own thread; `false` if there is no room, or if the system has no resources for one.
    fn start_handshake(&mut self, socket: TcpStream, from: Origin) -> bool {
        if self.pending.len() >= MAX_HANDSHAKES && !self.evict_oldest() {
            return false;
        }
        let Ok(clone) = socket.try_clone() else {
            return false;
        };
        let id = self.next_id;
        self.next_id += 1;
        let (identity, timeouts) = (self.identity.clone(), self.timeouts);
        let (expected, results) = (Arc::clone(&self.expected), self.results_sender.clone());
        let gate = self.gate.clone();
        let authenticated = Arc::new(AtomicBool::new(false));
        let succeeded = Arc::clone(&authenticated);
        let handshake = move || {
            let pinned = match &gate {
                None => PinnedKeys::any_of(expected),
                Some(_) => PinnedKeys::of_workers(),
            };
            let result = tls::server(&identity, &pinned)
                .and_then(|tls| secure(socket, tls, Arc::clone(&pinned), &timeouts))
                .and_then(|mut channel| {
                    if let Some(gate) = &gate {
                        gate.exchange_certificates(&mut channel)?;
                    }
                    Ok((pinned.authenticated()?, channel))
                });
            succeeded.store(result.is_ok(), Ordering::Release);
            // The acceptor may have been dropped.
            let _ = results.send((id, result));
        };
        let thread = std::thread::Builder::new().stack_size(HANDSHAKE_STACK);
        let started = thread.spawn(handshake).is_ok();
        if started {
            self.pending.push(PendingHandshake {
                id,
                from,
                socket: clone,
                authenticated,
            });
        }
        started
    }

    /// Aborts the oldest handshake of the address that has the most; its thread reports the failure. Returns `false` if
    /// all have succeeded.
    fn evict_oldest(&mut self) -> bool {
        // In the order of arrival.
        let origins: Vec<Option<Origin>> = self
            .pending
            .iter()
            .map(|it| (!it.authenticated.load(Ordering::Acquire)).then_some(it.from))
            .collect();
        let count = |from: Origin| origins.iter().filter(|it| **it == Some(from)).count();
        let counts = origins.iter().map(|it| it.map(count));
        let largest = counts.clone().flatten().max();
        let oldest = counts.clone().position(|it| it.is_some() && it == largest);
        if let Some(index) = oldest {
            let handshake = self.pending.remove(index);
            let _ = handshake.socket.shutdown(Shutdown::Both);
        }
        oldest.is_some()
    }

    fn finish_handshake(
        &mut self,
        id: u64,
        result: Result<(Fingerprint, SecureChannel), SessionError>,
    ) -> Option<Incoming> {
        let index = self.pending.iter().position(|it| it.id == id);
        let handshake = index.map(|index| self.pending.remove(index));
        let now = Instant::now();
        match result {
            Ok((peer, channel)) => {
                if let Some(handshake) = handshake {
                    self.throttle.remember(handshake.from, now);
                }
                Some(Incoming::Peer(peer, Box::new(channel)))
            }
            Err(error) if self.reports.take(REPORT_RATE, now) => Some(Incoming::Rejected(error)),
            Err(_) => {
                self.unreported.0 += 1;
                None
            }
        }
    }

    fn unreported_count(&mut self) -> Option<SessionError> {
        let (count, since) = self.unreported;
        let within = since.elapsed();
        if within < REPORT_INTERVAL {
            return None;
        }
        self.unreported = (0, Instant::now());
        (count > 0).then(|| NetworkError::ManyRejected { count, within }.into())
    }
}

/// Aborts the pending handshakes.
impl Drop for Acceptor {
    fn drop(&mut self) {
        for handshake in &self.pending {
            let _ = handshake.socket.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests;

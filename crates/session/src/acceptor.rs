//! The host's door: who comes, who is let in, who is turned away.
//!
//! ```text
//! accept ─▶ throttle ─▶ handshake, on a thread of its own ─▶ a peer ─▶ next()
//!              │             │
//!              ▼             ▼
//!            closed        a stranger: told of, now and then
//! ```
//!
//! Strangers cost little: most are closed before anything is read from them (`throttle.rs`). The others have a place at the door until
//! they have shown a key or their time is over. There are [`PLACES`]; when all are taken, the newcomer gets that of whoever has
//! waited longest of the address that holds most. So neither silent connections nor many of them keep a peer out for long: it
//! needs its place for one round trip.
//!
//! A key that nobody expects is a stranger's as well. Whoever can reach the port can show some key; that must not end the wait for
//! the true one.

use crate::connect::{Listener, secure};
use crate::connection::POLL_INTERVAL;
use crate::limits::Timeouts;
use crate::throttle::{Bucket, Origin, Rate, Throttle};
use crate::tls::{self, PinnedKeys};
use crate::{Fingerprint, Identity, SecureChannel, SessionError};
use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Connections that may prove who they are at the same time.
const MAX_HANDSHAKES: usize = 64;

/// Connections that are taken from the system in one go.
const MAX_ACCEPTS_PER_POLL: usize = 256;

/// Strangers that are told of one by one; the others are counted.
const REPORT_RATE: Rate = Rate::new(1, 20);

/// How often the count is told.
const REPORT_INTERVAL: Duration = Duration::from_secs(10);

/// Enough for a handshake.
const HANDSHAKE_STACK: usize = 1 << 20;

/// Who came.
#[derive(Debug)]
pub enum Incoming {
    /// One of those who are expected, with a channel to it.
    Peer(Fingerprint, Box<SecureChannel>),
    /// Somebody who was turned away, and why; or how many more were.
    Rejected(SessionError),
}

/// A listener and those who stand before it.
#[derive(Debug)]
pub struct Acceptor {
    listener: Listener,
    identity: Identity,
    peers: Arc<[Fingerprint]>,
    timeouts: Timeouts,
    throttle: Throttle,
    pending: Vec<PendingHandshake>,
    next_id: u64,
    arrived: Sender<HandshakeResult>,
    arrivals: Receiver<HandshakeResult>,
    poll_interval: Duration,
    told: Bucket,
    /// Strangers that were not told of, and since when they are counted.
    suppressed: (u64, Instant),
}

/// A connection before it has shown who it is.
#[derive(Debug)]
struct PendingHandshake {
    number: u64,
    from: Origin,
    socket: TcpStream,
}

/// How a handshake ended.
type HandshakeResult = (u64, Result<(Fingerprint, SecureChannel), SessionError>);

impl Acceptor {
    /// Opens for these peers.
    pub fn open(
        listener: Listener,
        identity: &Identity,
        peers: &[Fingerprint],
        timeouts: &Timeouts,
    ) -> Self {
        let now = Instant::now();
        let (arrived, arrivals) = channel();
        Self {
            listener,
            identity: identity.clone(),
            peers: peers.into(),
            timeouts: *timeouts,
            throttle: Throttle::new(now),
            pending: Vec::new(),
            next_id: 0,
            arrived,
            arrivals,
            // Whoever comes at once is not kept waiting; a long wait costs little.
            poll_interval: Duration::from_millis(1),
            told: Bucket::new(now),
            suppressed: (0, now),
        }
    }

    /// Who is expected, in the order in which they were named.
    pub fn peers(&self) -> &[Fingerprint] {
        &self.peers
    }

    /// How long the other side may be silent, and how long to wait for it.
    pub fn timeouts(&self) -> &Timeouts {
        &self.timeouts
    }

    /// The next who comes until then.
    pub fn next(&mut self, until: Instant) -> Option<Incoming> {
        loop {
            self.accept_pending();
            if let Some(count) = self.suppressed_count() {
                return Some(Incoming::Rejected(count));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            match self.arrivals.recv_timeout(self.poll_interval.min(left)) {
                Err(_) => self.poll_interval = (2 * self.poll_interval).min(POLL_INTERVAL / 4),
                Ok((number, ended)) => {
                    if let Some(visit) = self.finish_handshake(number, ended) {
                        return Some(visit);
                    }
                }
            }
        }
    }

    /// Takes connections from the system, and gives those a place that are to be listened to.
    fn accept_pending(&mut self) {
        for _ in 0..MAX_ACCEPTS_PER_POLL {
            match self.listener.accept_one() {
                Ok((socket, address)) => {
                    let from = Origin::of(address.ip());
                    if !self.throttle.admits(from, Instant::now()) || !self.receive(socket, from) {
                        self.suppressed.0 += 1;
                    }
                }
                // One connection that went away before it was taken says nothing of the next.
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // None is left, or the system is short of something: it may have it after a nap.
                Err(_) => return,
            }
        }
    }

    /// Gives a connection a place and a thread; `false` where there is none.
    fn receive(&mut self, socket: TcpStream, from: Origin) -> bool {
        if self.pending.len() >= MAX_HANDSHAKES {
            self.evict_oldest();
        }
        let Ok(held) = socket.try_clone() else {
            return false;
        };
        let number = self.next_id;
        self.next_id += 1;
        let (identity, timeouts) = (self.identity.clone(), self.timeouts);
        let (peers, arrived) = (Arc::clone(&self.peers), self.arrived.clone());
        let handshake = move || {
            let pinned = PinnedKeys::any_of(peers);
            let secured = tls::server(&identity, &pinned)
                .and_then(|tls| secure(socket, tls, Arc::clone(&pinned), &timeouts))
                .and_then(|channel| Ok((pinned.proven()?, channel)));
            // Nobody listens any more once the door is closed.
            let _ = arrived.send((number, secured));
        };
        let thread = std::thread::Builder::new().stack_size(HANDSHAKE_STACK);
        let started = thread.spawn(handshake).is_ok();
        if started {
            self.pending.push(PendingHandshake {
                number,
                from,
                socket: held,
            });
        }
        started
    }

    /// Ends the handshake that has waited longest among those of the address that has most. Its thread tells of it.
    fn evict_oldest(&mut self) {
        let held = |from: Origin| self.pending.iter().filter(|it| it.from == from).count();
        let most = self.pending.iter().map(|place| held(place.from)).max();
        // Places are in the order in which they were taken.
        let oldest = self
            .pending
            .iter()
            .position(|place| Some(held(place.from)) == most);
        if let Some(index) = oldest {
            let place = self.pending.remove(index);
            let _ = place.socket.shutdown(Shutdown::Both);
        }
    }

    fn finish_handshake(
        &mut self,
        number: u64,
        ended: Result<(Fingerprint, SecureChannel), SessionError>,
    ) -> Option<Incoming> {
        let place = self.pending.iter().position(|it| it.number == number);
        let place = place.map(|index| self.pending.remove(index));
        let now = Instant::now();
        match ended {
            Ok((peer, channel)) => {
                if let Some(place) = place {
                    self.throttle.remember(place.from, now);
                }
                Some(Incoming::Peer(peer, Box::new(channel)))
            }
            Err(error) if self.told.take(REPORT_RATE, now) => Some(Incoming::Rejected(error)),
            Err(_) => {
                self.suppressed.0 += 1;
                None
            }
        }
    }

    fn suppressed_count(&mut self) -> Option<SessionError> {
        let (count, since) = self.suppressed;
        if since.elapsed() < REPORT_INTERVAL {
            return None;
        }
        self.suppressed = (0, Instant::now());
        (count > 0).then(|| {
            SessionError::Network(format!(
                "{count} more in the last {} s, most of them unheard",
                since.elapsed().as_secs()
            ))
        })
    }
}

/// Nobody is kept at a door that is closed.
impl Drop for Acceptor {
    fn drop(&mut self) {
        for place in &self.pending {
            let _ = place.socket.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests;

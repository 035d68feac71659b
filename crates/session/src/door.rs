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
use crate::limits::Patience;
use crate::line::TICK;
use crate::throttle::{Gauge, Origin, Rate, Throttle};
use crate::tls::{self, Pinned};
use crate::{Fingerprint, Identity, SecureChannel, SessionError};
use std::io::ErrorKind;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// Connections that may prove who they are at the same time.
const PLACES: usize = 64;

/// Connections that are taken from the system in one go.
const IN_ONE_GO: usize = 256;

/// Strangers that are told of one by one; the others are counted.
const TOLD: Rate = Rate::new(1, 20);

/// How often the count is told.
const COUNT_EVERY: Duration = Duration::from_secs(10);

/// Enough for a handshake.
const STACK: usize = 1 << 20;

/// Who came.
#[derive(Debug)]
pub enum Visit {
    /// One of those who are expected, with a channel to it.
    Peer(Fingerprint, Box<SecureChannel>),
    /// Somebody who was turned away, and why; or how many more were.
    Stranger(SessionError),
}

/// A listener and those who stand before it.
#[derive(Debug)]
pub struct Door {
    listener: Listener,
    identity: Identity,
    guests: Arc<[Fingerprint]>,
    patience: Patience,
    throttle: Throttle,
    places: Vec<Place>,
    next_place: u64,
    arrived: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
    nap: Duration,
    told: Gauge,
    /// Strangers that were not told of, and since when they are counted.
    untold: (u64, Instant),
}

/// A connection before it has shown who it is.
#[derive(Debug)]
struct Place {
    number: u64,
    from: Origin,
    socket: TcpStream,
}

/// How a handshake ended.
type Arrival = (u64, Result<(Fingerprint, SecureChannel), SessionError>);

impl Door {
    /// Opens for these peers.
    pub fn open(
        listener: Listener,
        identity: &Identity,
        guests: &[Fingerprint],
        patience: &Patience,
    ) -> Self {
        let now = Instant::now();
        let (arrived, arrivals) = channel();
        Self {
            listener,
            identity: identity.clone(),
            guests: guests.into(),
            patience: *patience,
            throttle: Throttle::new(now),
            places: Vec::new(),
            next_place: 0,
            arrived,
            arrivals,
            // Whoever comes at once is not kept waiting; a long wait costs little.
            nap: Duration::from_millis(1),
            told: Gauge::new(now),
            untold: (0, now),
        }
    }

    /// Who is expected, in the order in which they were named.
    pub fn guests(&self) -> &[Fingerprint] {
        &self.guests
    }

    /// How long the other side may be silent, and how long to wait for it.
    pub fn patience(&self) -> &Patience {
        &self.patience
    }

    /// The next who comes until then.
    pub fn next(&mut self, until: Instant) -> Option<Visit> {
        loop {
            self.take_in();
            if let Some(count) = self.count_of_the_untold() {
                return Some(Visit::Stranger(count));
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            match self.arrivals.recv_timeout(self.nap.min(left)) {
                Err(_) => self.nap = (2 * self.nap).min(TICK / 4),
                Ok((number, ended)) => {
                    if let Some(visit) = self.leave_place(number, ended) {
                        return Some(visit);
                    }
                }
            }
        }
    }

    /// Takes connections from the system, and gives those a place that are to be listened to.
    fn take_in(&mut self) {
        for _ in 0..IN_ONE_GO {
            match self.listener.accept_one() {
                Ok((socket, address)) => {
                    let from = Origin::of(address.ip());
                    if !self.throttle.admits(from, Instant::now()) || !self.receive(socket, from) {
                        self.untold.0 += 1;
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
        if self.places.len() >= PLACES {
            self.clear_a_place();
        }
        let Ok(held) = socket.try_clone() else {
            return false;
        };
        let number = self.next_place;
        self.next_place += 1;
        let (identity, patience) = (self.identity.clone(), self.patience);
        let (guests, arrived) = (Arc::clone(&self.guests), self.arrived.clone());
        let handshake = move || {
            let pinned = Pinned::any_of(guests);
            let secured = tls::server(&identity, &pinned)
                .and_then(|tls| secure(socket, tls, Arc::clone(&pinned), &patience))
                .and_then(|channel| Ok((pinned.proven()?, channel)));
            // Nobody listens any more once the door is closed.
            let _ = arrived.send((number, secured));
        };
        let thread = std::thread::Builder::new().stack_size(STACK);
        let started = thread.spawn(handshake).is_ok();
        if started {
            self.places.push(Place {
                number,
                from,
                socket: held,
            });
        }
        started
    }

    /// Ends the handshake that has waited longest among those of the address that has most. Its thread tells of it.
    fn clear_a_place(&mut self) {
        let held = |from: Origin| self.places.iter().filter(|it| it.from == from).count();
        let most = self.places.iter().map(|place| held(place.from)).max();
        // Places are in the order in which they were taken.
        let oldest = self
            .places
            .iter()
            .position(|place| Some(held(place.from)) == most);
        if let Some(index) = oldest {
            let place = self.places.remove(index);
            let _ = place.socket.shutdown(Shutdown::Both);
        }
    }

    fn leave_place(
        &mut self,
        number: u64,
        ended: Result<(Fingerprint, SecureChannel), SessionError>,
    ) -> Option<Visit> {
        let place = self.places.iter().position(|it| it.number == number);
        let place = place.map(|index| self.places.remove(index));
        let now = Instant::now();
        match ended {
            Ok((peer, channel)) => {
                if let Some(place) = place {
                    self.throttle.remember(place.from, now);
                }
                Some(Visit::Peer(peer, Box::new(channel)))
            }
            Err(error) if self.told.take(TOLD, now) => Some(Visit::Stranger(error)),
            Err(_) => {
                self.untold.0 += 1;
                None
            }
        }
    }

    fn count_of_the_untold(&mut self) -> Option<SessionError> {
        let (count, since) = self.untold;
        if since.elapsed() < COUNT_EVERY {
            return None;
        }
        self.untold = (0, Instant::now());
        (count > 0).then(|| {
            SessionError::Network(format!(
                "{count} more in the last {} s, most of them unheard",
                since.elapsed().as_secs()
            ))
        })
    }
}

/// Nobody is kept at a door that is closed.
impl Drop for Door {
    fn drop(&mut self) {
        for place in &self.places {
            let _ = place.socket.shutdown(Shutdown::Both);
        }
    }
}

#[cfg(test)]
mod tests;

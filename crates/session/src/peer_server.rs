//! Several peers at one door: who has come, who is served, who comes a second time.
//!
//! Each peer is served on a thread of its own, by whatever `hold` does with its channel. At most so many work at a time: `hold`
//! takes a turn ([`Session::take_turn`](crate::Session::take_turn)) after it has greeted; the others wait, and are
//! told so. Every peer has at most one session, one connection that waits for it and one that is being declined, so all of this is
//! bounded by the number of peers ([`MAX_PEERS`](crate::limits::MAX_PEERS)).
//!
//! # A peer that comes again
//! One that failed, or whose line broke, may come again as long as the host is there: it goes on with what is missing. So may
//! one that is done: it gets its results again, and nothing is computed that both sides have. Once work has begun, it may come for
//! nothing else ([`PinnedAgreement`]): `hold` keeps the conversation to it.
//!
//! # A peer that is here already
//! Its key proves that it is the same institution, but not that the first connection is dead: it may have crashed and come
//! back before this side noticed, or somebody started the command twice. The first connection is listened to for a while. Whatever
//! it says (a side that computes gives signs of life four times in its patience) shows that it is alive, and the second
//! is declined. If it ends, or has been quiet for a third of this side's patience, the second takes its place.
//!
//! # The end
//! When every peer has had its session to the end, or failed in a way that another attempt cannot mend, or when nobody was there
//! for as long as the host wants to wait.

use crate::acceptor::{Acceptor, Incoming};
use crate::connection::ConnectionMonitor;
use crate::session_slots::SessionSlots;
use crate::{Fingerprint, PinnedAgreement, SecureChannel, SessionError};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How often the state of all is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// What a connection says in its first moments may have been on its way for a while: it proves no life.
const IN_FLIGHT: Duration = Duration::from_secs(1);

/// What a peer is told that has a session.
const ALREADY_CONNECTED: &str =
    "a session with this key goes on over another connection; wait for its end, or end it first";

/// A peer that has come.
#[derive(Debug)]
pub struct PeerConnection {
    /// Who, as its key has proved.
    pub peer: Fingerprint,
    /// Its place in the door's list.
    pub index: usize,
    /// The connection with it.
    pub channel: SecureChannel,
    /// What its conversation is to be kept to ([`Session::keep_to`](crate::Session::keep_to)).
    pub agreement: PinnedAgreement,
    /// Why it is not to be served, where that is so: it is to be told.
    pub declined: Option<&'static str>,
}

/// Why a peer's session did not come to its end.
#[derive(Debug)]
pub struct SessionFailure<E> {
    /// What went wrong.
    pub error: E,
    /// Whether another attempt of the peer could not mend it.
    pub for_good: bool,
}

/// How far a peer has come.
#[derive(Debug)]
pub enum PeerState<E> {
    /// It was not here, or not for long enough to say anything.
    Awaited,
    /// Its session came to its end.
    Finished,
    /// Its last session did not.
    Failed(SessionFailure<E>),
}

/// What is done with a guest.
pub type Handler<'a, E> =
    dyn Fn(PeerConnection, &SessionSlots) -> Result<(), SessionFailure<E>> + Sync + 'a;

/// How peers are received.
#[derive(Clone, Copy, Debug)]
pub struct PeerServer {
    /// Peers that are worked with at a time.
    pub sessions: usize,
    /// How long to wait when nobody is there.
    pub wait: Duration,
}

/// What is known of one peer.
struct File<'scope, E> {
    state: PeerState<E>,
    agreement: PinnedAgreement,
    running: Option<Running<'scope>>,
    second: Option<DuplicateConnection>,
    declining: Option<ScopedJoinHandle<'scope, ()>>,
    /// A thread has panicked: the panic goes on when all others have ended.
    panicked: bool,
}

/// A session that goes on.
struct Running<'scope> {
    thread: ScopedJoinHandle<'scope, ()>,
    monitor: Option<ConnectionMonitor>,
    cut: bool,
}

/// A connection of a peer whose session goes on.
struct DuplicateConnection {
    channel: SecureChannel,
    came: Instant,
}

impl PeerServer {
    /// Receives everyone for whom the door is open. `hold` works with one guest on a thread of its own; it takes its turn, and
    /// declines a guest that is not to be served. Gives the standing of each in the order of the door's list.
    pub fn serve<E: Send>(
        &self,
        mut acceptor: Acceptor,
        hold: &Handler<'_, E>,
        rejected: &mut dyn FnMut(&SessionError),
    ) -> Vec<PeerState<E>> {
        let slots = SessionSlots::new(self.sessions);
        let (ending, ended) = channel();
        let quiet = acceptor.timeouts().idle / 3;
        let peers = acceptor.peers().to_vec();
        std::thread::scope(|scope| {
            let spawner = Spawner {
                scope,
                hold,
                slots: &slots,
                ending,
            };
            let mut files: Vec<File<'_, E>> = peers.iter().map(|_| File::new()).collect();
            let mut active = Instant::now();
            loop {
                // A thread that is over has sent its word before; so what is over without one is looked for first.
                let over: Vec<bool> = files.iter().map(File::is_over).collect();
                for (index, result) in ended.try_iter() {
                    if let Some(file) = files.get_mut(index) {
                        file.end(result);
                    }
                }
                for (file, over) in files.iter_mut().zip(over) {
                    file.note_panic(over);
                }
                for (index, file) in files.iter_mut().enumerate() {
                    spawner.check_duplicate(index, peers[index], file, quiet);
                }
                let now = Instant::now();
                if files.iter().any(|file| file.running.is_some()) {
                    active = now;
                } else if files.iter().all(File::is_done) || active.elapsed() > self.wait {
                    break;
                }
                match acceptor.next(now + POLL_INTERVAL) {
                    Some(Incoming::Rejected(error)) => rejected(&error),
                    Some(Incoming::Peer(peer, channel)) => {
                        let index = peers
                            .iter()
                            .position(|peer_connection| *peer_connection == peer);
                        if let Some((index, file)) =
                            index.and_then(|index| Some((index, files.get_mut(index)?)))
                        {
                            spawner.receive(index, peer, file, *channel);
                        }
                    }
                    None => {}
                }
            }
            files.into_iter().map(|file| file.state).collect()
        })
    }
}

/// Where sessions are held.
struct Spawner<'scope, 'env, E> {
    scope: &'scope Scope<'scope, 'env>,
    hold: &'env Handler<'env, E>,
    slots: &'env SessionSlots,
    ending: Sender<(usize, Result<(), SessionFailure<E>>)>,
}

impl<'scope, E: Send + 'scope> Spawner<'scope, '_, E> {
    fn receive(
        &self,
        index: usize,
        peer: Fingerprint,
        file: &mut File<'scope, E>,
        channel: SecureChannel,
    ) {
        if file.running.is_none() {
            file.running = self.begin(index, peer, &file.agreement, channel);
            return;
        }
        let came = Instant::now();
        if let Some(older) = file.second.replace(DuplicateConnection { channel, came }) {
            abandon(older.channel);
        }
    }

    /// Decides about a second connection as soon as that can be done.
    fn check_duplicate(
        &self,
        index: usize,
        peer: Fingerprint,
        file: &mut File<'scope, E>,
        quiet: Duration,
    ) {
        let Some(second) = file.second.take() else {
            return;
        };
        let Some(running) = &mut file.running else {
            file.running = self.begin(index, peer, &file.agreement, second.channel);
            return;
        };
        let since = second.came.elapsed();
        let alive = match &running.monitor {
            Some(monitor) => monitor.idle_for() + IN_FLIGHT < since,
            None => since > IN_FLIGHT,
        };
        if alive && !running.cut {
            let busy = file.declining.as_ref();
            if busy.is_some_and(|thread| !thread.is_finished()) {
                abandon(second.channel);
            } else {
                file.declining = self.decline(index, peer, &file.agreement, second.channel);
            }
            return;
        }
        if !running.cut
            && let Some(monitor) = &running.monitor
            && monitor.idle_for() > quiet
        {
            monitor.cut();
            running.cut = true;
        }
        file.second = Some(second);
    }

    fn begin(
        &self,
        index: usize,
        peer: Fingerprint,
        agreement: &PinnedAgreement,
        channel: SecureChannel,
    ) -> Option<Running<'scope>> {
        let monitor = channel.monitor().ok();
        let peer_connection = PeerConnection {
            peer,
            index,
            channel,
            agreement: agreement.clone(),
            declined: None,
        };
        let (hold, slots, ending) = (self.hold, self.slots, self.ending.clone());
        let work = move || {
            let result = hold(peer_connection, slots);
            let _ = ending.send((index, result));
        };
        // Where there is no thread for it the peer finds the connection closed and comes again.
        let thread = std::thread::Builder::new().spawn_scoped(self.scope, work);
        thread.ok().map(|thread| Running {
            thread,
            monitor,
            cut: false,
        })
    }

    /// On a thread of its own: a good-bye takes time.
    fn decline(
        &self,
        index: usize,
        peer: Fingerprint,
        agreement: &PinnedAgreement,
        channel: SecureChannel,
    ) -> Option<ScopedJoinHandle<'scope, ()>> {
        let peer_connection = PeerConnection {
            peer,
            index,
            channel,
            agreement: agreement.clone(),
            declined: Some(ALREADY_CONNECTED),
        };
        let (hold, slots) = (self.hold, self.slots);
        let work = move || {
            let _ = hold(peer_connection, slots);
        };
        let thread = std::thread::Builder::new().spawn_scoped(self.scope, work);
        thread.ok()
    }
}

/// Ends a connection without a word, and without the time that a good-bye takes.
fn abandon(channel: SecureChannel) {
    if let Ok(monitor) = channel.monitor() {
        monitor.cut();
    }
}

impl<E> File<'_, E> {
    fn new() -> Self {
        Self {
            state: PeerState::Awaited,
            agreement: PinnedAgreement::default(),
            running: None,
            second: None,
            declining: None,
            panicked: false,
        }
    }

    /// Whether the thread of a session has ended.
    fn is_over(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.thread.is_finished())
    }

    /// A session that was over and has not said how.
    fn note_panic(&mut self, was_over: bool) {
        if was_over && self.running.is_some() {
            self.running = None;
            self.panicked = true;
        }
    }

    fn end(&mut self, result: Result<(), SessionFailure<E>>) {
        self.running = None;
        self.state = match (result, &self.state) {
            (Ok(()), _) => PeerState::Finished,
            // What is done stays done.
            (Err(_), PeerState::Finished) => return,
            (Err(failure), _) => PeerState::Failed(failure),
        };
    }

    fn is_done(&self) -> bool {
        let settled = match &self.state {
            PeerState::Awaited => false,
            PeerState::Finished => true,
            PeerState::Failed(failure) => failure.for_good,
        };
        (settled || self.panicked) && self.running.is_none() && self.second.is_none()
    }
}

//! Serves several peers, and tracks which have connected, which are being served, and which connect a second time.
//!
//! Each peer is served on its own thread by the handler. At most `sessions` of them work at a time: the handler acquires a
//! slot ([`Session::acquire_slot`](crate::Session::acquire_slot)) once the session is open; the other peers wait, and are told
//! so. Every peer has at most one session, one connection that waits for it to end and one that is being declined, so everything
//! is bounded by the number of peers ([`MAX_PEERS`](crate::limits::MAX_PEERS)).
//!
//! # Reconnecting
//! A peer whose session failed may connect again for as long as the host runs, and continues with the missing pairs. So
//! may a peer that has finished: it gets its results again, and nothing that both sides have is computed again. Once
//! the computation has started, it cannot start a different one ([`PinnedAgreement`]); the handler passes the pin to
//! the session.
//!
//! # Duplicate connections
//! A second connection of a peer has the same key, but that does not mean that the first one is dead: the peer may have crashed
//! and reconnected before this side noticed, or somebody started the command twice. The first connection is monitored for a
//! while. If anything arrives on it (a side that computes sends four keep-alives per idle timeout), it is alive and the second
//! one is declined. If it ends, or has been idle for a third of this side's idle timeout, the second one replaces it.
//!
//! # Shutdown
//! The server ends when every peer is settled: it has finished, or failed in a way that another attempt cannot fix,
//! such as a ban. It also ends when no unsettled peer has had a session for the host's waiting time. A settled peer may
//! connect again while the server runs, but does not keep it running. A stopped server accepts no more connections, and
//! ends with the last running session.

use crate::acceptor::{Acceptor, Incoming};
use crate::connection::ConnectionMonitor;
use crate::session_slots::SessionSlots;
use crate::{DeclineReason, Fingerprint, PinnedAgreement, SecureChannel, SessionError};
use std::sync::mpsc::{Sender, channel};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

/// How often the state of all peers is checked.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Bytes that arrive this soon after the duplicate connected may have been sent before it, so they do not prove that the
/// connection is alive.
const IN_FLIGHT_TIME: Duration = Duration::from_secs(1);

/// A connection of an expected peer.
#[derive(Debug)]
pub struct PeerConnection {
    /// The peer's authenticated fingerprint.
    pub peer: Fingerprint,
    /// Its index in the acceptor's list.
    pub index: usize,
    /// The channel to it.
    pub channel: SecureChannel,
    /// The agreement that its session is restricted to ([`Session::pin_agreement`](crate::Session::pin_agreement)).
    pub agreement: PinnedAgreement,
    /// Why the handler must decline this connection, if it must.
    pub decline: Option<DeclineReason>,
}

/// Why a session with a peer failed.
#[derive(Debug)]
pub struct SessionFailure<E> {
    /// The error.
    pub error: E,
    /// Whether another attempt of the peer cannot succeed.
    pub is_final: bool,
}

/// The state of a peer.
#[derive(Debug)]
pub enum PeerState<E> {
    /// It has not had a session.
    Awaited,
    /// Its session has finished.
    Finished,
    /// Its last session has failed.
    Failed(SessionFailure<E>),
}

/// Serves one connection.
pub type Handler<'a, E> =
    dyn Fn(PeerConnection, &SessionSlots) -> Result<(), SessionFailure<E>> + Sync + 'a;

/// Serves several peers.
#[derive(Clone, Copy, Debug)]
pub struct PeerServer {
    /// The most sessions that run at the same time.
    pub sessions: usize,
    /// How long to wait when no session runs.
    pub wait: Duration,
    /// How long a peer may take for its first messages, until it waits for a slot.
    pub open: Duration,
}

/// What the server knows about one peer.
struct PeerEntry<'scope, E> {
    state: PeerState<E>,
    agreement: PinnedAgreement,
    running: Option<Running<'scope>>,
    duplicate: Option<DuplicateConnection>,
    declining: Option<ScopedJoinHandle<'scope, ()>>,
    /// A thread has panicked: the panic is resumed when all threads have ended.
    panicked: bool,
}

/// A session that is running.
struct Running<'scope> {
    thread: ScopedJoinHandle<'scope, ()>,
    monitor: Option<ConnectionMonitor>,
    aborted: bool,
}

/// A second connection of a peer whose session is running.
struct DuplicateConnection {
    channel: SecureChannel,
    since: Instant,
}

impl PeerServer {
    /// Serves all peers that the acceptor expects. The handler serves one connection on its own thread; it acquires a slot, and
    /// declines a connection that must be declined. Stops once `is_stopped` returns true. Returns the state of each peer in the
    /// order of the acceptor's list.
    pub fn serve<E: Send>(
        &self,
        is_stopped: &dyn Fn() -> bool,
        mut acceptor: Acceptor,
        handler: &Handler<'_, E>,
        on_rejected: &mut dyn FnMut(&SessionError),
    ) -> Vec<PeerState<E>> {
        let slots = SessionSlots::new(self.sessions);
        let (results, finished) = channel();
        let idle_limit = acceptor.timeouts().idle / 3;
        let peers = acceptor.expected().to_vec();
        std::thread::scope(|scope| {
            let spawner = Spawner {
                scope,
                handler,
                slots: &slots,
                results,
                open: self.open,
            };
            let mut entries: Vec<PeerEntry<'_, E>> =
                peers.iter().map(|_| PeerEntry::new()).collect();
            let mut last_active = Instant::now();
            loop {
                // A thread sends its result before it ends. Ended threads are noted first, so one without a result has
                // panicked.
                let ended: Vec<bool> = entries.iter().map(PeerEntry::has_ended).collect();
                for (index, result) in finished.try_iter() {
                    if let Some(entry) = entries.get_mut(index) {
                        entry.end(result);
                    }
                }
                for (entry, ended) in entries.iter_mut().zip(ended) {
                    entry.note_panic(ended);
                }
                let is_stopped = is_stopped();
                if is_stopped {
                    entries.iter_mut().for_each(PeerEntry::drop_duplicate);
                }
                for (index, entry) in entries.iter_mut().enumerate() {
                    spawner.check_duplicate(index, peers[index], entry, idle_limit);
                }
                let now = Instant::now();
                let awaited = |entry: &PeerEntry<'_, E>| !entry.is_settled();
                if entries
                    .iter()
                    .any(|entry| awaited(entry) && entry.running.is_some())
                {
                    last_active = now;
                } else if last_active.elapsed() > self.wait {
                    break;
                }
                if is_stopped || !entries.iter().any(awaited) {
                    // No more connections are accepted: a peer that keeps reconnecting would keep the host
                    // running.
                    entries.iter_mut().for_each(PeerEntry::drop_duplicate);
                    if entries.iter().all(|entry| entry.running.is_none()) {
                        break;
                    }
                    std::thread::sleep(POLL_INTERVAL);
                    continue;
                }
                match acceptor.next(now + POLL_INTERVAL) {
                    Some(Incoming::Rejected(error)) => on_rejected(&error),
                    Some(Incoming::Peer(peer, channel)) => {
                        let index = peers.iter().position(|it| *it == peer);
                        if let Some((index, entry)) =
                            index.and_then(|index| Some((index, entries.get_mut(index)?)))
                        {
                            spawner.connected(index, peer, entry, *channel);
                        }
                    }
                    None => {}
                }
            }
            entries.into_iter().map(|entry| entry.state).collect()
        })
    }
}

/// Starts the threads that serve connections.
struct Spawner<'scope, 'env, E> {
    scope: &'scope Scope<'scope, 'env>,
    handler: &'env Handler<'env, E>,
    slots: &'env SessionSlots,
    results: Sender<(usize, Result<(), SessionFailure<E>>)>,
    open: Duration,
}

impl<'scope, E: Send + 'scope> Spawner<'scope, '_, E> {
    fn connected(
        &self,
        index: usize,
        peer: Fingerprint,
        entry: &mut PeerEntry<'scope, E>,
        channel: SecureChannel,
    ) {
        if entry.running.is_none() {
            entry.running = self.start(index, peer, &entry.agreement, channel);
            return;
        }
        let since = Instant::now();
        if let Some(older) = entry
            .duplicate
            .replace(DuplicateConnection { channel, since })
        {
            abort(older.channel);
        }
    }

    /// Declines a duplicate connection, or lets it replace the first one, once it is known whether the first one is
    /// alive.
    fn check_duplicate(
        &self,
        index: usize,
        peer: Fingerprint,
        entry: &mut PeerEntry<'scope, E>,
        idle_limit: Duration,
    ) {
        let Some(duplicate) = entry.duplicate.take() else {
            return;
        };
        let Some(running) = &mut entry.running else {
            entry.running = self.start(index, peer, &entry.agreement, duplicate.channel);
            return;
        };
        let since = duplicate.since.elapsed();
        let alive = match &running.monitor {
            Some(monitor) => monitor.idle_for() + IN_FLIGHT_TIME < since,
            None => since > IN_FLIGHT_TIME,
        };
        if alive && !running.aborted {
            let busy = entry.declining.as_ref();
            if busy.is_some_and(|thread| !thread.is_finished()) {
                abort(duplicate.channel);
            } else {
                entry.declining = self.decline(index, peer, &entry.agreement, duplicate.channel);
            }
            return;
        }
        if !running.aborted
            && let Some(monitor) = &running.monitor
            && monitor.idle_for() > idle_limit
        {
            monitor.abort();
            running.aborted = true;
        }
        entry.duplicate = Some(duplicate);
    }

    fn start(
        &self,
        index: usize,
        peer: Fingerprint,
        agreement: &PinnedAgreement,
        channel: SecureChannel,
    ) -> Option<Running<'scope>> {
        let monitor = channel.monitor().ok();
        channel.connection().set_deadline(self.open);
        let connection = PeerConnection {
            peer,
            index,
            channel,
            agreement: agreement.clone(),
            decline: None,
        };
        let (handler, slots, results) = (self.handler, self.slots, self.results.clone());
        let serve = move || {
            let result = handler(connection, slots);
            let _ = results.send((index, result));
        };
        // Without a thread the connection closes, and the peer connects again.
        let thread = std::thread::Builder::new().spawn_scoped(self.scope, serve);
        thread.ok().map(|thread| Running {
            thread,
            monitor,
            aborted: false,
        })
    }

    /// Declines on its own thread, because closing a connection takes time.
    fn decline(
        &self,
        index: usize,
        peer: Fingerprint,
        agreement: &PinnedAgreement,
        channel: SecureChannel,
    ) -> Option<ScopedJoinHandle<'scope, ()>> {
        channel.connection().set_deadline(self.open);
        let connection = PeerConnection {
            peer,
            index,
            channel,
            agreement: agreement.clone(),
            decline: Some(DeclineReason::AlreadyConnected),
        };
        let (handler, slots) = (self.handler, self.slots);
        let serve = move || {
            let _ = handler(connection, slots);
        };
        let thread = std::thread::Builder::new().spawn_scoped(self.scope, serve);
        thread.ok()
    }
}

/// Closes a connection at once, without close_notify.
fn abort(channel: SecureChannel) {
    if let Ok(monitor) = channel.monitor() {
        monitor.abort();
    }
}

impl<E> PeerEntry<'_, E> {
    fn new() -> Self {
        Self {
            state: PeerState::Awaited,
            agreement: PinnedAgreement::default(),
            running: None,
            duplicate: None,
            declining: None,
            panicked: false,
        }
    }

    /// Whether the session's thread has ended.
    fn has_ended(&self) -> bool {
        let running = self.running.as_ref();
        running.is_some_and(|running| running.thread.is_finished())
    }

    /// Records a panic if the thread has ended without a result.
    fn note_panic(&mut self, had_ended: bool) {
        if had_ended && self.running.is_some() {
            self.running = None;
            self.panicked = true;
        }
    }

    fn end(&mut self, result: Result<(), SessionFailure<E>>) {
        self.running = None;
        self.state = match (result, &self.state) {
            (Ok(()), _) => PeerState::Finished,
            // A later failure does not undo an earlier success.
            (Err(_), PeerState::Finished) => return,
            (Err(failure), _) => PeerState::Failed(failure),
        };
    }

    /// Whether the host has stopped waiting for this peer.
    fn is_settled(&self) -> bool {
        let settled = match &self.state {
            PeerState::Awaited => false,
            PeerState::Finished => true,
            PeerState::Failed(failure) => failure.is_final,
        };
        settled || self.panicked
    }

    fn drop_duplicate(&mut self) {
        if let Some(duplicate) = self.duplicate.take() {
            abort(duplicate.channel);
        }
    }
}

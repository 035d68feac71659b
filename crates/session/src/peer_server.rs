//! Serves several peers, and tracks which have connected, which are being served, and which connect a second time.
//!
//! Each peer is served on its own thread by the handler. At most `sessions` of them work at a time: the handler acquires a
//! slot ([`Session::acquire_slot`](crate::Session::acquire_slot)) once the session is open; the other peers wait, and are told
//! so. Every peer has at most one session, one whose results are being saved, one connection that waits for the session to end
//! and one that is being declined, so everything is bounded by the number of peers ([`MAX_PEERS`](crate::limits::MAX_PEERS)).
//!
//! # Reconnecting
//! A peer whose session failed may connect again for as long as the host runs, and continues with the missing pairs. So
//! may a peer that has finished: it gets its results again, and nothing that both sides have is computed again. Once
//! the computation has started, it cannot start a different one ([`PinnedAgreement`]); the handler passes the pin to
//! the session.
//!
//! # Results
//! How long it takes to save results depends on whether all are possible, which a cheating peer must not learn. So a session
//! ends for the server when its handler says so ([`SessionEnd`]), and the handler saves the results after that: the peer's
//! next connection, the end of the waiting for other peers and the closing of the port do not wait for it. Neither does the
//! session's slot, so results that wait to be saved must need no memory
//! ([`ComputedSession::into_files`](crate::ComputedSession::into_files)).
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
//! ends when the last running session has ended and all results are saved.

use crate::acceptor::{Acceptor, Incoming};
use crate::connection::ConnectionMonitor;
use crate::session_end::SessionEnd;
use crate::session_slots::SessionSlots;
use crate::{DeclineReason, Fingerprint, PinnedAgreement, SecureChannel, SessionError};
use std::sync::mpsc::{Receiver, TryRecvError, channel as channel_of};
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
    /// Where the handler says that the session has ended, before it saves the results. If it says nothing, the session ends
    /// with the handler.
    pub end: SessionEnd,
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

impl<E> PeerState<E> {
    /// Whether the host need not wait for this peer.
    fn is_settled(&self) -> bool {
        match self {
            PeerState::Awaited => false,
            PeerState::Finished => true,
            PeerState::Failed(failure) => failure.is_final,
        }
    }
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
    running: Option<Running<E>>,
    /// How a session ended whose results are being saved.
    saving: Option<Receiver<Served<E>>>,
    /// What the ends of all sessions share.
    end: SessionEnd,
    duplicate: Option<DuplicateConnection>,
    declining: Option<ScopedJoinHandle<'scope, ()>>,
    /// A thread has panicked: the panic is resumed when all threads have ended.
    panicked: bool,
}

/// What a handler returned.
type Served<E> = Result<(), SessionFailure<E>>;

/// A session that is running.
struct Running<E> {
    /// Disconnected if the handler has panicked.
    served: Receiver<Served<E>>,
    end: SessionEnd,
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
        let idle_limit = acceptor.timeouts().idle / 3;
        let peers = acceptor.expected().to_vec();
        std::thread::scope(|scope| {
            let spawner = Spawner {
                scope,
                handler,
                slots: &slots,
                open: self.open,
            };
            let mut entries: Vec<PeerEntry<'_, E>> =
                peers.iter().map(|_| PeerEntry::new()).collect();
            let mut last_active = Instant::now();
            loop {
                entries.iter_mut().for_each(PeerEntry::note_ends);
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
            // The port closes before the last results are saved.
            drop(acceptor);
            let state = |mut entry: PeerEntry<'_, E>| {
                entry.wait_for_results();
                entry.state
            };
            entries.into_iter().map(state).collect()
        })
    }
}

/// Starts the threads that serve connections.
struct Spawner<'scope, 'env, E> {
    scope: &'scope Scope<'scope, 'env>,
    handler: &'env Handler<'env, E>,
    slots: &'env SessionSlots,
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
            self.start(index, peer, entry, channel);
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
            self.start(index, peer, entry, duplicate.channel);
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
        entry: &mut PeerEntry<'scope, E>,
        channel: SecureChannel,
    ) {
        let monitor = channel.monitor().ok();
        channel.connection().set_deadline(self.open);
        let connection = PeerConnection {
            peer,
            index,
            channel,
            agreement: entry.agreement.clone(),
            decline: None,
            end: entry.end.of_next_session(),
        };
        let end = connection.end.clone();
        let (handler, slots, guard) = (self.handler, self.slots, end.guard());
        let (sender, served) = channel_of();
        let serve = move || {
            // The result is sent before the next session's results can be saved.
            let _guard = guard;
            let _ = sender.send(handler(connection, slots));
        };
        // Without a thread the connection closes, and the peer connects again.
        let thread = std::thread::Builder::new().spawn_scoped(self.scope, serve);
        entry.running = thread.ok().map(|_| Running {
            served,
            end,
            monitor,
            aborted: false,
        });
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
            end: SessionEnd::default(),
        };
        let (handler, slots) = (self.handler, self.slots);
        let serve = move || {
            let _ = handler(connection, slots);
        };
        let thread = std::thread::Builder::new().spawn_scoped(self.scope, serve);
        thread.ok()
    }
}

/// What a handler returned, if it has ended: `None` if it has panicked.
fn received<E>(served: &Receiver<Served<E>>) -> Option<Option<Served<E>>> {
    match served.try_recv() {
        Ok(served) => Some(Some(served)),
        Err(TryRecvError::Disconnected) => Some(None),
        Err(TryRecvError::Empty) => None,
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
            saving: None,
            end: SessionEnd::default(),
            duplicate: None,
            declining: None,
            panicked: false,
        }
    }

    /// Notes which sessions have ended, and whose results were saved.
    fn note_ends(&mut self) {
        let running = self.running.as_ref();
        let has_ended = running.is_some_and(|running| running.end.is_reached());
        // If this session is not superseded, no earlier results are still being saved.
        if let Some(served) = self.saving.as_ref().and_then(received) {
            self.saving = None;
            self.note(served);
        }
        if has_ended {
            let ended = self.running.take();
            let ended = ended.filter(|ended| !ended.end.is_superseded());
            self.saving = ended.map(|ended| ended.served).or(self.saving.take());
        } else if let Some(served) = self.running.as_ref().and_then(|it| received(&it.served)) {
            self.running = None;
            self.note(served);
        }
    }

    /// Waits until the results of a session that has ended are saved.
    fn wait_for_results(&mut self) {
        if let Some(served) = self.saving.take() {
            self.note(served.recv().ok());
        }
    }

    /// Notes how a session ended; `None` if its handler has panicked.
    fn note(&mut self, served: Option<Served<E>>) {
        self.state = match (served, &self.state) {
            (None, _) => {
                self.panicked = true;
                return;
            }
            (Some(Ok(())), _) => PeerState::Finished,
            // Only a success changes how a settled peer has ended. Otherwise a peer that returns and hangs up could make the host
            // wait again after an impossible result, but not after others.
            (Some(Err(_)), state) if state.is_settled() => return,
            (Some(Err(failure)), _) => PeerState::Failed(failure),
        };
    }

    /// Whether the host has stopped waiting for this peer.
    fn is_settled(&self) -> bool {
        self.state.is_settled() || self.panicked || self.saving.is_some()
    }

    fn drop_duplicate(&mut self) {
        if let Some(duplicate) = self.duplicate.take() {
            abort(duplicate.channel);
        }
    }
}

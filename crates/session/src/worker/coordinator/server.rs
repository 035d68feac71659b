//! Serves the workers of an institution.

use super::super::certificate::WorkerCertificate;
use super::super::gate::WorkerGate;
use super::super::plan::AgreedPlan;
use super::keeper::TileKeeper;
use super::{BATCH_BYTES, IDLE_TIMEOUT, Order, Refusal, TileState, problem_error, timeouts};
use crate::acceptor::{Acceptor, Incoming};
use crate::agreement;
use crate::connection::{ConnectionMonitor, POLL_INTERVAL};
use crate::control::{self, Tag};
use crate::error::{
    BanReason, CoordinatorProblem, Misbehaviour, NetworkError, UsageError, WorkerKeyProblem,
};
use crate::limits::DEFAULT_MEMORY;
use crate::memory::BYTES_PER_PAIR;
use crate::{Identity, Listener, MAX_WORKER_KEY_TIME, SecureChannel, SessionError, StateDir, date};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use veilpath_protocol::Role;

/// A coordinator's limits.
#[derive(Clone, Copy, Debug)]
pub struct CoordinatorOptions {
    /// Workers at a time.
    pub workers: usize,
    /// The most memory for the tiles that are computed at a time, in bytes.
    pub memory: u64,
}

/// 256 workers, with four times the memory of a session.
impl Default for CoordinatorOptions {
    fn default() -> Self {
        Self {
            workers: 256,
            memory: 4 * DEFAULT_MEMORY,
        }
    }
}

/// What happens at a coordinator.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoordinatorEvent {
    /// It listens.
    Listening {
        /// Its address.
        address: SocketAddr,
    },
    /// A connection was rejected, because it has no worker key of this institution.
    Rejected {
        /// Why, in words.
        reason: String,
    },
    /// A worker has this tile.
    Started {
        /// The tile.
        tile: u32,
    },
    /// Something that a worker asked for was refused.
    Refused {
        /// The tile, if it is known.
        tile: Option<u32>,
        /// Why, in words.
        reason: String,
    },
    /// The tile is free again.
    Ended {
        /// The tile.
        tile: u32,
        /// Whether both sides have everything of it.
        complete: bool,
    },
}

/// A coordinator that listens.
#[derive(Debug)]
pub struct Coordinator {
    acceptor: Acceptor,
    address: SocketAddr,
    shared: Arc<Shared>,
    workers: Vec<(ConnectionMonitor, JoinHandle<()>)>,
    events: (Sender<CoordinatorEvent>, Receiver<CoordinatorEvent>),
}

/// What the threads share.
#[derive(Debug)]
struct Shared {
    plan: AgreedPlan,
    state_dir: StateDir,
    options: CoordinatorOptions,
    /// The tiles that workers have, and the pairs of each.
    leases: Mutex<BTreeMap<u32, u64>>,
}

impl Coordinator {
    /// Listens for the workers of an agreement of this institution; port 0 lets the system choose one.
    pub fn bind(
        address: &str,
        identity: &Identity,
        plan: AgreedPlan,
        state_dir: StateDir,
        options: CoordinatorOptions,
    ) -> Result<Self, SessionError> {
        if identity.fingerprint() != plan.institution() {
            return Err(UsageError::WorkerKey(WorkerKeyProblem::OtherInstitution).into());
        }
        state_dir.prepare()?;
        let gate = WorkerGate {
            role: Role::Host,
            institution: plan.institution(),
            agreement: plan.agreement().to_string(),
            tile: None,
            own: None,
        };
        let listener = Listener::bind(address)?;
        Ok(Self {
            address: listener.address(),
            acceptor: Acceptor::for_workers(listener, identity, gate, &timeouts(IDLE_TIMEOUT)),
            shared: Arc::new(Shared {
                plan,
                state_dir,
                options,
                leases: Mutex::default(),
            }),
            workers: Vec::new(),
            events: channel(),
        })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Serves until it is stopped; then all connections end.
    pub fn run(&mut self, stop: &AtomicBool, on_event: &mut dyn FnMut(CoordinatorEvent)) {
        on_event(CoordinatorEvent::Listening {
            address: self.address,
        });
        while !stop.load(Ordering::Relaxed) {
            match self.acceptor.next(Instant::now() + POLL_INTERVAL) {
                Some(Incoming::Peer(_, channel)) => self.start(*channel),
                Some(Incoming::Rejected(error)) => on_event(CoordinatorEvent::Rejected {
                    reason: error.to_string(),
                }),
                None => {}
            }
            self.events.1.try_iter().for_each(&mut *on_event);
            self.workers.retain(|(_, thread)| !thread.is_finished());
        }
        for (monitor, _) in &self.workers {
            monitor.stop(NetworkError::Stopped);
        }
        for (_, thread) in self.workers.drain(..) {
            let _ = thread.join();
        }
        self.events.1.try_iter().for_each(on_event);
    }

    /// Serves an authenticated worker on a thread of its own.
    fn start(&mut self, channel: SecureChannel) {
        let connection = channel.connection();
        let monitor = channel.monitor();
        // As many again may wait for their refusal.
        let is_full = self.workers.len() >= 2 * self.shared.options.workers;
        let (Ok(monitor), false) = (monitor, is_full) else {
            return connection.shutdown();
        };
        let (shared, events) = (Arc::clone(&self.shared), self.events.0.clone());
        let serve = move || shared.serve(channel, &events);
        if let Ok(thread) = std::thread::Builder::new().spawn(serve) {
            self.workers.push((monitor, thread));
        }
    }
}

/// A tile that belongs to one connection.
struct Lease<'a> {
    shared: &'a Shared,
    tile: u32,
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        self.shared.leases().remove(&self.tile);
    }
}

impl Shared {
    fn leases(&self) -> MutexGuard<'_, BTreeMap<u32, u64>> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut channel: SecureChannel, events: &Sender<CoordinatorEvent>) {
        let mut tile = None;
        let Err(error) = self.serve_tile(&mut channel, &mut tile, events) else {
            return;
        };
        // A worker that has gone needs no answer.
        if !matches!(error, SessionError::Protocol(_)) {
            let _ = control::send(&mut channel, Tag::Refused, &Refusal::of(&error));
            let reason = error.to_string();
            let _ = events.send(CoordinatorEvent::Refused { tile, reason });
        }
    }

    /// Serves a worker until an error, which is the end of its connection in most cases.
    fn serve_tile(
        &self,
        channel: &mut SecureChannel,
        named: &mut Option<u32>,
        events: &Sender<CoordinatorEvent>,
    ) -> Result<(), SessionError> {
        agreement::exchange_versions(channel)?;
        let Order { tile } = control::receive(channel, Tag::Order)?;
        *named = Some(tile);
        let certificate = channel.certificate().cloned();
        let certificate = certificate.ok_or(Misbehaviour::NoKey)?;
        self.check(channel, &certificate, tile)?;
        let (_lease, mut keeper) = self.open(tile)?;
        let _ = events.send(CoordinatorEvent::Started { tile });
        let served = self.follow(channel, &certificate, tile, &mut keeper);
        let complete = keeper.is_complete();
        let _ = events.send(CoordinatorEvent::Ended { tile, complete });
        served
    }

    /// Whether the worker's key is for this tile, now.
    fn check(
        &self,
        channel: &SecureChannel,
        certificate: &WorkerCertificate,
        tile: u32,
    ) -> Result<(), SessionError> {
        let key = channel.connection().peer_key().ok_or(Misbehaviour::NoKey)?;
        let (institution, agreement) = (self.plan.institution(), self.plan.agreement());
        let checked = certificate.check(institution, key, agreement, Some(tile), date::now());
        checked.map_err(UsageError::WorkerKey)?;
        Ok(())
    }

    /// Leases a tile, and opens its records.
    fn open(&self, index: u32) -> Result<(Lease<'_>, TileKeeper<'_>), SessionError> {
        let tile = self.plan.tile(index);
        let tile = tile.ok_or(UsageError::WorkerKey(WorkerKeyProblem::OtherTile))?;
        let pairs = self.plan.pairs_of(tile, None)?;
        let lease = {
            let mut leases = self.leases();
            if leases.contains_key(&index) {
                return Err(problem_error(CoordinatorProblem::TileInUse));
            }
            let own = pairs.pairs.len() as u64;
            let all = leases.values().fold(own, |sum, it| sum.saturating_add(*it));
            let fits = all.saturating_mul(BYTES_PER_PAIR) <= self.options.memory;
            // One tile is served in any case: more memory would not come.
            if leases.len() >= self.options.workers || !fits && !leases.is_empty() {
                return Err(problem_error(CoordinatorProblem::Full));
            }
            leases.insert(index, own);
            Lease {
                shared: self,
                tile: index,
            }
        };
        let keeper = TileKeeper::open(&self.plan, pairs, &self.state_dir)?;
        Ok((lease, keeper))
    }

    /// Sends what is stored, and stores what comes.
    fn follow(
        &self,
        channel: &mut SecureChannel,
        certificate: &WorkerCertificate,
        tile: u32,
        keeper: &mut TileKeeper<'_>,
    ) -> Result<(), SessionError> {
        let stored = keeper.records.journal.stored_records()?;
        let state = TileState {
            records: stored.len() as u64,
            max_agreements: keeper.records.max_agreements,
            limit: keeper.records.limit.clone(),
        };
        control::send(channel, Tag::Tile, &state)?;
        for batch in stored.chunks(BATCH_BYTES) {
            control::send_bytes(channel, Tag::Records, batch)?;
        }
        // Keep-alives are enough while the worker computes.
        channel.connection().set_stall(MAX_WORKER_KEY_TIME);
        loop {
            let (tag, bytes) = control::receive_one_of(channel, &[Tag::Records, Tag::Ban])?;
            self.check(channel, certificate, tile)?;
            match tag {
                Tag::Ban => keeper.ban(control::decode::<BanReason>(tag, &bytes)?)?,
                _ => keeper.store(&bytes)?,
            }
            control::send_bytes(channel, Tag::Stored, &[])?;
        }
    }
}

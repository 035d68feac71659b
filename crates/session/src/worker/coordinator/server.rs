//! Serves the workers of an institution.

use super::super::certificate::WorkerCertificate;
use super::super::gate::WorkerGate;
use super::super::plan::AgreedPlan;
use super::completion::CompleteTiles;
use super::leased_tile::LeasedTile;
use super::{
    BATCH_BYTES, IDLE_TIMEOUT, Order, Refusal, Report, TileState, problem_error, timeouts,
};
use crate::acceptor::{Acceptor, Incoming};
use crate::agreement;
use crate::connection::{ConnectionMonitor, POLL_INTERVAL};
use crate::control::{self, Tag};
use crate::error::{
    BanReason, CoordinatorProblem, Misbehaviour, NetworkError, UsageError, WorkerKeyProblem,
};
use crate::ledger::LedgerFile;
use crate::limits::DEFAULT_MEMORY;
use crate::memory;
use crate::process::OpenFiles;
use crate::{
    Fingerprint, Identity, Listener, MAX_WORKER_KEY_TIME, SecureChannel, SessionError, StateDir,
    date,
};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use veilpath_protocol::{Role, Tile};

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

/// Connections in addition to those of workers, for those that are being refused or that send a report.
const SPARE_CONNECTIONS: usize = 64;

/// Open files of a connection.
const FILES_PER_CONNECTION: usize = 3;

/// Other open files of a worker: a journal, the file that it replaced, and the guard of the ledger.
const FILES_PER_WORKER: usize = 3;

impl CoordinatorOptions {
    /// Connections at a time.
    fn connections(&self) -> usize {
        self.workers.saturating_add(SPARE_CONNECTIONS)
    }

    /// Files that it may have open at a time: those of connections, of workers, and of handshakes.
    fn files(&self) -> usize {
        let connections = self.connections() + crate::acceptor::MAX_HANDSHAKES;
        connections
            .saturating_mul(FILES_PER_CONNECTION)
            .saturating_add(self.workers.saturating_mul(FILES_PER_WORKER))
    }
}

/// An event of a coordinator.
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
        /// The reason, as text.
        reason: String,
    },
    /// A worker has leased this tile.
    Started {
        /// The tile.
        tile: u32,
    },
    /// Something that a worker asked for was refused.
    Refused {
        /// The tile, if it is known.
        tile: Option<u32>,
        /// The reason, as text.
        reason: String,
    },
    /// A worker has caught the other side cheating, and the tile is stopped.
    Reported {
        /// The tile.
        tile: u32,
        /// The reported reason.
        reason: BanReason,
        /// The other side.
        peer: Fingerprint,
    },
    /// The tile is free again.
    Ended {
        /// The tile.
        tile: u32,
        /// Whether both sides have everything of it.
        complete: bool,
    },
    /// All tiles are complete, and the letters that were kept for their workers are removed.
    AllComplete,
}

/// A coordinator that listens.
#[derive(Debug)]
pub struct Coordinator {
    acceptor: Acceptor,
    address: SocketAddr,
    shared: Arc<Shared>,
    workers: Vec<ConnectedWorker>,
    /// Reserved while it listens.
    _files: OpenFiles,
    events: (Sender<CoordinatorEvent>, Receiver<CoordinatorEvent>),
}

/// A worker that is connected.
#[derive(Debug)]
struct ConnectedWorker {
    key: Fingerprint,
    monitor: ConnectionMonitor,
    thread: JoinHandle<()>,
}

/// What the threads share.
#[derive(Debug)]
struct Shared {
    plan: AgreedPlan,
    state_dir: StateDir,
    /// Shared by all tiles, so that only changes by other processes are read again.
    ledger: LedgerFile,
    options: CoordinatorOptions,
    complete: CompleteTiles,
    /// The tiles that workers have.
    leases: Mutex<BTreeMap<u32, LeaseEntry>>,
}

/// The holder of a leased tile.
#[derive(Clone, Copy, Debug)]
struct LeaseEntry {
    key: Fingerprint,
    /// The memory that it needs; zero until that is known.
    bytes: u64,
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
        let files = OpenFiles::reserve(options.files())?;
        let gate = WorkerGate {
            role: Role::Host,
            institution: plan.institution(),
            agreement: plan.agreement().to_string(),
            tile: None,
            own: None,
        };
        let listener = Listener::bind(address)?;
        // An earlier process may have been killed before it could do this.
        let complete = CompleteTiles::default();
        complete.add(None, &plan, &state_dir)?;
        Ok(Self {
            address: listener.address(),
            acceptor: Acceptor::for_workers(listener, identity, gate, &timeouts(IDLE_TIMEOUT)),
            shared: Arc::new(Shared {
                ledger: LedgerFile::of(Some(&state_dir.ledgers()), plan.peer()),
                plan,
                state_dir,
                options,
                complete,
                leases: Mutex::default(),
            }),
            workers: Vec::new(),
            _files: files,
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
                Some(Incoming::Peer(key, channel)) => self.start(key, *channel),
                Some(Incoming::Rejected(error)) => on_event(CoordinatorEvent::Rejected {
                    reason: error.to_string(),
                }),
                None => {}
            }
            self.events.1.try_iter().for_each(&mut *on_event);
            self.workers.retain(|worker| !worker.thread.is_finished());
        }
        for worker in &self.workers {
            worker.monitor.stop(NetworkError::Stopped);
        }
        for worker in self.workers.drain(..) {
            let _ = worker.thread.join();
        }
        self.events.1.try_iter().for_each(on_event);
    }

    /// Serves an authenticated worker on a thread of its own.
    fn start(&mut self, key: Fingerprint, channel: SecureChannel) {
        let connection = channel.connection();
        let monitor = channel.monitor();
        let of_key = self.workers.iter().filter(|worker| worker.key == key);
        let max_connections = self.shared.options.connections();
        // A stolen key must not keep all others out.
        let allowed = channel.certificate().map_or(0, |it| it.max_connections());
        let share = allowed.min(max_connections.div_ceil(2));
        let is_full = self.workers.len() >= max_connections || of_key.count() >= share;
        let (Ok(monitor), false) = (monitor, is_full) else {
            return connection.shutdown();
        };
        let (shared, events) = (Arc::clone(&self.shared), self.events.0.clone());
        let serve = move || shared.serve(channel, &events);
        if let Ok(thread) = std::thread::Builder::new().spawn(serve) {
            self.workers.push(ConnectedWorker {
                key,
                monitor,
                thread,
            });
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
    fn leases(&self) -> MutexGuard<'_, BTreeMap<u32, LeaseEntry>> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut channel: SecureChannel, events: &Sender<CoordinatorEvent>) {
        let mut tile = None;
        let Err(error) = self.serve_tile(&mut channel, &mut tile, events) else {
            return;
        };
        // A worker that has disconnected needs no answer.
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
        let (tag, bytes) = control::receive_one_of(channel, &[Tag::Order, Tag::Report])?;
        let (tile, report) = match tag {
            Tag::Report => {
                let Report { tile, reason } = control::decode(tag, &bytes)?;
                (tile, Some(reason))
            }
            _ => (control::decode::<Order>(tag, &bytes)?.tile, None),
        };
        *named = Some(tile);
        let certificate = channel.certificate().cloned();
        let certificate = certificate.ok_or(Misbehaviour::NoKey)?;
        let key = self.check(channel, &certificate, tile)?;
        if let Some(reason) = report {
            self.stop_tile(tile, reason, events)?;
            return control::send_bytes(channel, Tag::EntriesStored, &[]);
        }
        let (_lease, mut store) = self.open(tile, key)?;
        channel.connection().end_early_limit();
        let _ = events.send(CoordinatorEvent::Started { tile });
        let served = self.serve_entries(channel, &certificate, tile, &mut store);
        let complete = store.is_complete();
        let _ = events.send(CoordinatorEvent::Ended { tile, complete });
        if complete && self.complete.add(Some(tile), &self.plan, &self.state_dir)? {
            let _ = events.send(CoordinatorEvent::AllComplete);
        }
        served
    }

    /// Stops a tile until this side's user decides. Repeated reports cause one event.
    fn stop_tile(
        &self,
        tile: u32,
        reason: BanReason,
        events: &Sender<CoordinatorEvent>,
    ) -> Result<(), SessionError> {
        let (id, of_plan) = (self.plan.id()?, self.tile(tile)?);
        if self.ledger.inspect(|it| it.report(&id, of_plan))?.is_some() {
            return Ok(());
        }
        let mut is_first = false;
        self.ledger.update(|ledger| {
            // Another report may have come first meanwhile.
            is_first = ledger.report(&id, of_plan).is_none();
            if is_first {
                ledger.set_report(&id, of_plan, reason);
            }
            Ok(())
        })?;
        let peer = self.plan.peer();
        if is_first {
            let _ = events.send(CoordinatorEvent::Reported { tile, reason, peer });
        }
        Ok(())
    }

    fn tile(&self, index: u32) -> Result<Tile, SessionError> {
        let tile = self.plan.tile(index);
        Ok(tile.ok_or(UsageError::WorkerKey(WorkerKeyProblem::OtherTile))?)
    }

    /// Whether the worker's key is for this tile, now; returns the key.
    fn check(
        &self,
        channel: &SecureChannel,
        certificate: &WorkerCertificate,
        tile: u32,
    ) -> Result<Fingerprint, SessionError> {
        let key = channel.connection().peer_key().ok_or(Misbehaviour::NoKey)?;
        let (institution, agreement) = (self.plan.institution(), self.plan.agreement());
        let checked = certificate.check(institution, key, agreement, Some(tile), date::now());
        checked.map_err(UsageError::WorkerKey)?;
        Ok(key.fingerprint())
    }

    /// Leases a tile, and opens its journal and account. Memory is used only for a tile that is leased.
    fn open(
        &self,
        index: u32,
        key: Fingerprint,
    ) -> Result<(Lease<'_>, LeasedTile<'_>), SessionError> {
        let tile = self.tile(index)?;
        let lease = self.lease(index, key)?;
        let bytes = memory::lease(self.plan.pairs_in(tile), self.plan.names.len());
        {
            let mut leases = self.leases();
            let others = leases.values().map(|it| it.bytes);
            let others = others.fold(0, u64::saturating_add);
            // One tile is always served, even if it exceeds the limit.
            if others > 0 && others.saturating_add(bytes) > self.options.memory {
                return Err(problem_error(CoordinatorProblem::Full));
            }
            leases.insert(index, LeaseEntry { key, bytes });
        }
        let pairs = self.plan.pairs_of(tile, None)?;
        let store = LeasedTile::open(&self.plan, pairs, &self.state_dir, &self.ledger)?;
        Ok((lease, store))
    }

    /// Leases a tile, unless another connection has it, or this key or all keys together have too many.
    fn lease(&self, tile: u32, key: Fingerprint) -> Result<Lease<'_>, SessionError> {
        let mut leases = self.leases();
        if leases.contains_key(&tile) {
            return Err(problem_error(CoordinatorProblem::TileInUse));
        }
        let max_leases = self.options.workers;
        let of_key = leases.values().filter(|it| it.key == key).count();
        if leases.len() >= max_leases || of_key >= max_leases.div_ceil(2) {
            return Err(problem_error(CoordinatorProblem::Full));
        }
        leases.insert(tile, LeaseEntry { key, bytes: 0 });
        Ok(Lease { shared: self, tile })
    }

    /// Sends the stored entries, and stores the ones that arrive.
    fn serve_entries(
        &self,
        channel: &mut SecureChannel,
        certificate: &WorkerCertificate,
        tile: u32,
        store: &mut LeasedTile<'_>,
    ) -> Result<(), SessionError> {
        let journal = &store.storage.journal;
        let stored = journal.stored_bytes();
        let state = TileState {
            entries: stored,
            max_agreements: store.storage.max_agreements,
            limit: store.storage.limit.clone(),
        };
        control::send(channel, Tag::Tile, &state)?;
        let mut offset = 0;
        while offset < stored {
            let part = journal.stored_part(offset, BATCH_BYTES)?;
            control::send_bytes(channel, Tag::JournalEntries, &part)?;
            offset += part.len() as u64;
        }
        // Keep-alives are enough while the worker computes.
        channel.connection().set_stall(MAX_WORKER_KEY_TIME);
        loop {
            let bytes = control::receive_bytes(channel, Tag::JournalEntries)?;
            self.check(channel, certificate, tile)?;
            store.store(&bytes)?;
            control::send_bytes(channel, Tag::EntriesStored, &[])?;
        }
    }
}

#[cfg(test)]
mod tests;

//! Computes one tile of an agreement on a worker.

use super::event::PeerProgress;
use super::{Peer, PeerEvent, SessionEvent};
use crate::progress::CellObserver;
use crate::{Error, Event, EventSink};
use std::sync::Arc;
use std::time::Duration;
use veilpath_protocol::{Role, Tile};
use veilpath_session::limits::{DEFAULT_MEMORY, Timeouts};
use veilpath_session::{
    CompletedSession, Listener, SecureChannel, Session, SessionError, StateDir, TileStep,
    TileStorage, WorkOrder, check_address,
};

/// A worker's options.
#[derive(Clone, Debug)]
pub struct WorkOptions {
    /// Where the institution keeps journals and ledgers.
    pub storage: WorkStorage,
    /// The most memory that this process may use, in bytes.
    pub memory: u64,
    /// The names of the host's and the joining side's cohorts in the results.
    pub names: [String; 2],
    /// Whether the address is that of the host's gateway, to which both sides' workers connect.
    pub via_gateway: bool,
    /// How long to wait while nothing arrives from the other side, not even a keep-alive.
    pub idle_timeout: Duration,
    /// How long to wait for the other side to connect, or to keep trying to reach it.
    pub wait: Duration,
}

/// Where an institution keeps journals and ledgers.
#[derive(Clone, Debug)]
pub enum WorkStorage {
    /// In this folder, which all of the institution's workers share.
    Shared(StateDir),
    /// With the coordinator at this address.
    Coordinator(String),
}

impl WorkOptions {
    /// The defaults, as for a session.
    pub fn new(storage: WorkStorage) -> Self {
        Self {
            storage,
            memory: DEFAULT_MEMORY,
            names: ["host", "join"].map(String::from),
            via_gateway: false,
            idle_timeout: Duration::from_secs(60),
            wait: Duration::from_secs(10),
        }
    }

    fn timeouts(&self) -> Timeouts {
        Timeouts::new(self.idle_timeout, self.wait)
    }
}

/// Computes a tile together with the other side's worker. The host's worker listens on `address` and the joining side's
/// worker connects to it, or both meet at the gateway there. If the coordinator has stored a tile's results, it is not
/// computed again.
pub fn work(
    order: &WorkOrder,
    tile: u32,
    address: &str,
    options: &WorkOptions,
    events: &dyn EventSink,
) -> Result<CompletedSession, Error> {
    run(order, tile, address, options, events).map_err(|error| error.or_cancelled(events))
}

fn run(
    order: &WorkOrder,
    tile: u32,
    address: &str,
    options: &WorkOptions,
    events: &dyn EventSink,
) -> Result<CompletedSession, Error> {
    let tile = order.tile(tile)?;
    check_address(address)?;
    let cancel = events.cancel_token();
    let is_stopped = || cancel.is_cancelled();
    let with_names = |mut completed: CompletedSession| {
        completed.outcome.names = options.names.clone();
        completed
    };
    let connect = || connect(order, tile, address, options, events);
    let (channel, storage) = match &options.storage {
        WorkStorage::Shared(state_dir) => {
            state_dir.prepare()?;
            (connect()?, TileStorage::Shared(state_dir))
        }
        WorkStorage::Coordinator(coordinator) => {
            let leased = order.coordinate(coordinator, tile, options.wait, &is_stopped)?;
            match leased.connect(order, &is_stopped, connect)? {
                TileStep::Stored(stored) => return Ok(with_names(*stored)),
                TileStep::Session(connected) => {
                    let (channel, leased) = *connected;
                    (channel, TileStorage::Coordinated(Box::new(leased)))
                }
            }
        }
    };
    channel.cancel_with(events.cancel_token());
    let peer = Arc::new(Peer::unnamed(order.plan().peer()));
    let report = |event| {
        events.event(Event::Session(SessionEvent::Peer {
            peer: Arc::clone(&peer),
            event,
        }));
    };
    let session = Session::open_with_order(channel, order, options.timeouts())?;
    report(PeerEvent::Connected);
    let agreed = session.agree_on_tile(order, tile, storage, Some(options.memory))?;
    let summary = agreed.summary();
    let cells = summary.cells;
    report(PeerEvent::Agreed(Box::new(summary)));
    let progress = PeerProgress::new(&peer, events);
    let observer = CellObserver::waiting(cells, &progress);
    let counts_again = !order.plan().spec().engine.opens_outputs_by_halves();
    let completed = agreed.run(&observer).map_err(|error| match error {
        SessionError::Network(_) => Error::Interrupted {
            error,
            counts_again,
        },
        other => other.into(),
    })?;
    Ok(with_names(completed))
}

/// Connects to the other side's worker.
fn connect(
    order: &WorkOrder,
    tile: Tile,
    address: &str,
    options: &WorkOptions,
    events: &dyn EventSink,
) -> Result<SecureChannel, SessionError> {
    let timeouts = options.timeouts();
    let cancel = events.cancel_token();
    let is_stopped = || cancel.is_cancelled();
    let report = |event| events.event(Event::Session(event));
    let fingerprint = order.fingerprint();
    let connecting = || SessionEvent::Connecting {
        address: address.to_string(),
        relay: options.via_gateway,
        fingerprint,
    };
    match order.role() {
        _ if options.via_gateway => {
            report(connecting());
            order.meet(address, tile, &timeouts, &is_stopped)
        }
        Role::Host => {
            let listener = Listener::bind(address)?;
            let address = listener.address();
            report(SessionEvent::Listening {
                address,
                fingerprint,
            });
            let on_rejected = &mut |error: &_| report(SessionEvent::rejected(error));
            order.accept(listener, tile, &timeouts, &is_stopped, on_rejected)
        }
        Role::Join => {
            report(connecting());
            order.join(address, tile, &timeouts, &is_stopped)
        }
    }
}

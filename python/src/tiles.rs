//! Tiles between two institutions: the coordinator with its gateway, and the workers.

use crate::arguments::Arguments;
use crate::errors::{bad_argument, to_exception};
use crate::jobs;
use crate::result::Result;
use crate::session::seconds;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use veilpath::{
    AgreedPlan, Coordinator, CoordinatorEvent, CoordinatorOptions, Identity, Policy, Relay,
    RelayOptions, StateDir, TileRange, WorkOptions, WorkOrder, WorkStorage,
};

/// Messages that nobody has read yet; older ones are dropped.
const MAX_MESSAGES: usize = 100;

/// The coordinator, which stores what this institution's workers compute. At the host, it includes the gateway.
#[pyclass(frozen, module = "veilpath._veilpath")]
pub(crate) struct Coordination {
    identity: Identity,
    state_dir: StateDir,
    plan: AgreedPlan,
    policy: Option<Policy>,
    address: String,
    messages: Arc<Mutex<VecDeque<String>>>,
    stop: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// The common part of an agreement's work orders. A cluster sends it to each machine once.
#[pyclass(frozen, module = "veilpath._veilpath")]
pub(crate) struct WorkPlan(AgreedPlan);

#[pymethods]
impl WorkPlan {
    #[new]
    fn new(py: Python<'_>, content: &[u8]) -> PyResult<Self> {
        let plan = AgreedPlan::from_bytes(content);
        let plan = plan.ok_or_else(|| bad_argument(py, "content", "this is not a plan"))?;
        // Once for all tiles on this machine.
        let _ = plan.pairs();
        Ok(Self(plan))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyType>, (Bound<'py, PyBytes>,))> {
        let bytes = self.0.for_workers().map_err(veilpath::Error::from);
        let bytes = bytes.map_err(|error| to_exception(py, &error))?;
        Ok((py.get_type::<Self>(), (PyBytes::new(py, &bytes),)))
    }
}

/// Starts a coordinator of an agreement, for a number of workers and mebibytes of memory.
#[pyfunction]
pub(crate) fn coordinate(
    py: Python<'_>,
    agreement: &str,
    identity: Option<PathBuf>,
    listen: &str,
    gateway: Option<&str>,
    workers: usize,
    memory: Option<u64>,
) -> PyResult<Coordination> {
    let stop = Arc::new(AtomicBool::new(false));
    let messages = Arc::new(Mutex::new(VecDeque::new()));
    let start = || {
        let state_dir = veilpath::state_dir(identity.as_deref())?;
        let identity = Identity::load(&veilpath::identity_file(identity.as_deref())?)?;
        let plan = state_dir.agreed_plan(agreement)?;
        let policy = veilpath::find_policy(None, &state_dir)?;
        let mut options = CoordinatorOptions::default();
        options.workers = workers.max(options.workers);
        if let Some(mebibytes) = memory {
            options.memory = mebibytes.saturating_mul(1 << 20);
        }
        let relay = RelayOptions::for_workers(options.workers);
        let gateway = gateway.map(|address| Relay::gateway(address, &plan, &relay));
        let gateway = gateway.transpose()?;
        let mut coordinator =
            Coordinator::bind(listen, &identity, plan.clone(), state_dir.clone(), options)?;
        let address = coordinator.address().to_string();
        let stopped = Arc::clone(&stop);
        let shared = Arc::clone(&messages);
        let run = move || {
            coordinator.run(&stopped, &mut |event| {
                if let Some(text) = message_for(&event) {
                    let mut messages = lock(&shared);
                    messages.push_back(text);
                    if messages.len() > MAX_MESSAGES {
                        messages.pop_front();
                    }
                }
            });
        };
        let mut threads = vec![std::thread::spawn(run)];
        if let Some(mut gateway) = gateway {
            let stopped = Arc::clone(&stop);
            threads.push(std::thread::spawn(move || {
                gateway.run(&stopped, &mut |_| ())
            }));
        }
        Ok((identity, state_dir, plan, policy, address, threads))
    };
    let started = start().map_err(|error: veilpath::Error| to_exception(py, &error))?;
    let (identity, state_dir, plan, policy, address, threads) = started;
    Ok(Coordination {
        identity,
        state_dir,
        plan,
        policy,
        address,
        messages,
        stop,
        threads: Mutex::new(threads),
    })
}

#[pymethods]
impl Coordination {
    /// The address that workers of this institution connect to.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// The number of tiles.
    #[getter]
    fn tile_count(&self) -> u32 {
        self.plan.tile_count()
    }

    /// The pairs of all tiles.
    #[getter]
    fn pairs(&self) -> u64 {
        self.plan.pairs()
    }

    /// The common part of all work orders.
    #[getter]
    fn plan(&self) -> WorkPlan {
        WorkPlan(self.plan.clone())
    }

    /// Messages about what was refused or reported since the last call.
    fn messages(&self) -> Vec<String> {
        lock(&self.messages).drain(..).collect()
    }

    /// The part of a work order for one tile, valid for this many hours.
    fn order<'py>(&self, py: Python<'py>, tile: u32, hours: f64) -> PyResult<Bound<'py, PyBytes>> {
        let tiles = TileRange::new(tile, tile).map_err(|error| bad_argument(py, "tile", error))?;
        let valid_for = Duration::try_from_secs_f64(hours * 3600.0);
        let valid_for = valid_for.map_err(|error| bad_argument(py, "hours", error))?;
        let order = py.detach(|| {
            let (own, policy) = ((&self.identity, &self.state_dir), self.policy.as_ref());
            let order = veilpath::work_order(own, &self.plan, tiles, valid_for, policy)?;
            Ok::<_, veilpath::Error>(order.to_part()?)
        });
        match order {
            Ok(order) => Ok(PyBytes::new(py, &order)),
            Err(error) => Err(to_exception(py, &error)),
        }
    }

    /// Ends all connections.
    fn stop(&self, py: Python<'_>) {
        self.stop.store(true, Ordering::Relaxed);
        let threads = std::mem::take(&mut *lock(&self.threads));
        py.detach(|| threads.into_iter().for_each(|thread| drop(thread.join())));
    }
}

impl Drop for Coordination {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The message about an event that a user should see.
fn message_for(event: &CoordinatorEvent) -> Option<String> {
    match event {
        CoordinatorEvent::Rejected { reason } => {
            Some(format!("a connection was rejected: {reason}"))
        }
        CoordinatorEvent::Refused {
            tile: Some(tile),
            reason,
        } => Some(format!("tile {tile} was refused: {reason}")),
        CoordinatorEvent::Refused { tile: None, reason } => {
            Some(format!("a worker was refused: {reason}"))
        }
        CoordinatorEvent::Reported { tile, reason, peer } => Some(format!(
            "tile {tile} is stopped, because its worker reported misbehaviour of the partner: {reason}; if that worker can be trusted, \
             `veilpath peers ban {peer}` ends all sessions with the partner, otherwise `veilpath peers unban {peer}` lets its tiles go on"
        )),
        _ => None,
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Computes a tile with the other side's worker, which it meets at the gateway.
#[pyfunction]
pub(crate) fn work(
    py: Python<'_>,
    plan: &WorkPlan,
    order: &[u8],
    tile: u32,
    gateway: String,
    coordinator: String,
    options: Bound<'_, PyDict>,
) -> PyResult<Result> {
    let arguments = Arguments(options);
    let order = WorkOrder::from_part(&plan.0, order);
    let order = order.ok_or_else(|| bad_argument(py, "order", "this is not a work order"))?;
    let mut options = WorkOptions::new(WorkStorage::Coordinator(coordinator));
    options.via_gateway = true;
    options.idle_timeout = seconds(&arguments, "timeout", 60)?;
    options.wait = seconds(&arguments, "wait", 60)?;
    if let Some(mebibytes) = arguments.value::<u64>("memory")? {
        options.memory = mebibytes.saturating_mul(1 << 20);
    }
    if let Some(names) = arguments.value("names")? {
        options.names = names;
    }
    let completed = jobs::run(py, None, move |events| {
        veilpath::work(&order, tile, &gateway, &options, events)
    })?;
    Ok(Result::from(completed.outcome))
}

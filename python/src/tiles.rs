//! Tiles between two institutions: the coordinator with its gateway, and the workers.

use crate::arguments::Arguments;
use crate::errors::{bad_argument, to_exception};
use crate::jobs;
use crate::result::Result;
use crate::session::seconds;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use veilpath::{
    AgreedPlan, Coordinator, CoordinatorOptions, Identity, Policy, Relay, RelayOptions, StateDir,
    TileRange, WorkOptions, WorkOrder, WorkRecords,
};

/// The process that keeps what the workers of this institution compute; at the institution that hosts, with the gateway.
#[pyclass(frozen, module = "veilpath._veilpath")]
pub(crate) struct Coordination {
    identity: Identity,
    state_dir: StateDir,
    plan: AgreedPlan,
    policy: Option<Policy>,
    address: String,
    stop: Arc<AtomicBool>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// Starts to coordinate the workers of an agreement.
#[pyfunction]
pub(crate) fn coordinate(
    py: Python<'_>,
    agreement: &str,
    identity: Option<PathBuf>,
    listen: &str,
    gateway: Option<&str>,
) -> PyResult<Coordination> {
    let stop = Arc::new(AtomicBool::new(false));
    let start = || {
        let state_dir = veilpath::state_dir(identity.as_deref())?;
        let identity = Identity::load(&veilpath::identity_file(identity.as_deref())?)?;
        let plan = state_dir.agreed_plan(agreement)?;
        let policy = veilpath::find_policy(None, &state_dir)?;
        let relay = RelayOptions {
            connections: CoordinatorOptions::default().workers,
            ..RelayOptions::default()
        };
        let gateway = gateway.map(|address| Relay::gateway(address, &plan, &relay));
        let gateway = gateway.transpose()?;
        let options = CoordinatorOptions::default();
        let mut coordinator =
            Coordinator::bind(listen, &identity, plan.clone(), state_dir.clone(), options)?;
        let address = coordinator.address().to_string();
        let stopped = Arc::clone(&stop);
        let run = move || coordinator.run(&stopped, &mut |_| ());
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
    fn tiles(&self) -> u32 {
        self.plan.tiles()
    }

    /// A work order for one tile, valid for so many hours.
    fn order<'py>(&self, py: Python<'py>, tile: u32, hours: f64) -> PyResult<Bound<'py, PyBytes>> {
        let tiles = TileRange::new(tile, tile).map_err(|error| bad_argument(py, "tile", error))?;
        let time = Duration::try_from_secs_f64(hours * 3600.0);
        let time = time.map_err(|error| bad_argument(py, "hours", error))?;
        let expires = veilpath::now().checked_add(time);
        let expires = expires.ok_or_else(|| bad_argument(py, "hours", "this is too long"))?;
        let policy = self.policy.as_ref();
        let order = veilpath::work_order(
            (&self.identity, &self.state_dir),
            &self.plan,
            tiles,
            expires,
            policy,
        )
        .and_then(|order| Ok(order.to_bytes()?));
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

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Computes a tile with the other side's worker, which it meets at the gateway.
#[pyfunction]
pub(crate) fn work(
    py: Python<'_>,
    order: &[u8],
    tile: u32,
    gateway: String,
    coordinator: String,
    options: Bound<'_, PyDict>,
) -> PyResult<Result> {
    let arguments = Arguments(options);
    let order = WorkOrder::from_bytes(order);
    let order = order.ok_or_else(|| bad_argument(py, "order", "this is not a work order"))?;
    let mut options = WorkOptions::new(WorkRecords::Coordinator(coordinator));
    options.via_gateway = true;
    options.idle_timeout = seconds(&arguments, "timeout", 60)?;
    options.wait = seconds(&arguments, "wait", 60)?;
    if let Some(megabytes) = arguments.value::<u64>("memory")? {
        options.memory = megabytes.saturating_mul(1 << 20);
    }
    if let Some(names) = arguments.value("names")? {
        options.names = names;
    }
    let completed = jobs::run(py, None, move |events| {
        veilpath::work(&order, tile, &gateway, &options, events)
    })?;
    Ok(Result::from(completed.outcome))
}

//! `host` and `join`: one side of a comparison between two institutions.

use crate::arguments::Arguments;
use crate::cohort::Cohort;
use crate::errors::{bad_argument, printable, to_exception};
use crate::jobs;
use crate::plan::plan_options;
use crate::policy::fingerprint;
use crate::result::Result;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use veilpath::{
    CancelToken, CompletedSession, Event, Fingerprint, Identity, Job, LocalCohort, PeerEvent,
    RiskySetting, ScanpathLimit, SessionEvent, SessionOptions,
};

/// A session that runs in the background until its result is asked for.
#[pyclass(frozen, module = "veilpath._veilpath")]
pub(crate) struct Session {
    job: Mutex<Job<Option<CompletedSession>>>,
    cancel: CancelToken,
    fingerprint: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    address: Option<String>,
    steps: Vec<String>,
    result: Option<Py<Result>>,
    agreement: Option<String>,
}

impl State {
    fn receive(&mut self, event: &Event) {
        let Event::Session(event) = event else {
            return;
        };
        let step = match event {
            SessionEvent::Listening { address, .. } => {
                self.address = Some(address.to_string());
                format!("listening on {address}")
            }
            SessionEvent::Connecting { address, .. } => {
                self.address = Some(address.clone());
                format!("connecting to {address}")
            }
            SessionEvent::Rejected { reason, .. } => format!("rejected a connection: {reason}"),
            SessionEvent::Peer { event, .. } => match event {
                PeerEvent::Connected => "connected".into(),
                PeerEvent::Queued { ahead } => format!("waiting for {ahead} other sessions"),
                PeerEvent::Agreed(_) => "agreed on the plan".into(),
                PeerEvent::Failed(error) => format!("failed: {error}"),
                PeerEvent::Declined(reason) => format!("declined: {reason}"),
                _ => return,
            },
            _ => return,
        };
        self.steps.push(printable(&step).into_owned());
    }
}

#[pymethods]
impl Session {
    /// This side's fingerprint.
    #[getter]
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The address that the host listens on, or that the joining side connects to.
    #[getter]
    fn address(&self, py: Python<'_>) -> PyResult<String> {
        let end = Instant::now() + Duration::from_secs(10);
        loop {
            self.take_events(py)?;
            if let Some(address) = &guard(&self.state).address {
                return Ok(address.clone());
            }
            if self.done() {
                self.take_events(py)?;
                // If the session failed before it had an address, report that error.
                if guard(&self.state).address.is_none() {
                    self.result(py, None)?;
                    return Err(PyRuntimeError::new_err("the session has no address"));
                }
            }
            py.detach(|| std::thread::sleep(Duration::from_millis(5)));
            py.check_signals()?;
            if Instant::now() > end {
                return Err(PyRuntimeError::new_err("the session has no address yet"));
            }
        }
    }

    /// The id of the agreement, after the result.
    #[getter]
    fn agreement(&self) -> Option<String> {
        guard(&self.state).agreement.clone()
    }

    /// What has happened so far.
    #[getter]
    fn steps(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        self.take_events(py)?;
        Ok(guard(&self.state).steps.clone())
    }

    /// The matrix cells done, and their total.
    #[getter]
    fn progress(&self) -> Option<(u64, u64)> {
        let progress = self.job.try_lock().ok()?.progress()?;
        Some((progress.done, progress.total))
    }

    /// Whether the session has ended.
    #[getter]
    fn done(&self) -> bool {
        // A thread that waits for the result holds the lock.
        let ended = || {
            self.job
                .try_lock()
                .is_ok_and(|mut job| job.is_done(Duration::ZERO))
        };
        guard(&self.state).result.is_some() || ended()
    }

    /// Waits for the result.
    fn result(
        &self,
        py: Python<'_>,
        progress: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<Py<Result>>> {
        if let Some(result) = &guard(&self.state).result {
            return Ok(Some(result.clone_ref(py)));
        }
        let Ok(mut job) = self.job.try_lock() else {
            return Err(PyRuntimeError::new_err(
                "another thread is waiting for this session",
            ));
        };
        let completed = jobs::finish(py, &mut *job, progress.as_ref(), &mut |event| {
            guard(&self.state).receive(event);
        })?;
        let Some(completed) = completed else {
            return Ok(None);
        };
        let result = Py::new(py, Result::from(completed.outcome))?;
        let mut state = guard(&self.state);
        state.result = Some(result.clone_ref(py));
        state.agreement = Some(completed.agreement);
        Ok(Some(result))
    }

    /// Ends the session.
    fn cancel(&self, py: Python<'_>) {
        self.cancel.cancel();
        if let Ok(mut job) = self.job.try_lock() {
            let job = &mut *job;
            py.detach(|| job.stop(Duration::from_secs(3)));
        }
    }
}

impl Session {
    fn take_events(&self, py: Python<'_>) -> PyResult<()> {
        match self.job.try_lock() {
            Ok(job) => {
                jobs::forward_events(py, &job, &mut |event| guard(&self.state).receive(event))
            }
            // Another thread waits for the result, and handles the events.
            Err(_) => Ok(()),
        }
    }
}

fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for the other institution.
#[pyfunction]
pub(crate) fn host(
    py: Python<'_>,
    cohort: &Cohort,
    listen: String,
    peer: &str,
    options: Bound<'_, PyDict>,
) -> PyResult<Session> {
    let (peer, options) = session_options(py, cohort, peer, options, 24 * 3600)?;
    start(options, move |options, events| {
        veilpath::host(&listen, peer, options, events)
    })
}

/// Connects to the other institution.
#[pyfunction]
pub(crate) fn join(
    py: Python<'_>,
    cohort: &Cohort,
    address: String,
    peer: &str,
    options: Bound<'_, PyDict>,
) -> PyResult<Session> {
    let (peer, options) = session_options(py, cohort, peer, options, 10)?;
    start(options, move |options, events| {
        veilpath::join(&address, peer, options, events)
    })
}

type Completed = std::result::Result<Option<CompletedSession>, veilpath::Error>;

fn start(
    options: SessionOptions,
    session: impl FnOnce(&SessionOptions, &dyn veilpath::EventSink) -> Completed + Send + 'static,
) -> PyResult<Session> {
    let fingerprint = options.identity.fingerprint().to_string();
    let job = Job::start(move |events| session(&options, events))?;
    Ok(Session {
        cancel: job.cancel_token(),
        job: Mutex::new(job),
        fingerprint,
        state: Mutex::default(),
    })
}

/// One side's options.
fn session_options(
    py: Python<'_>,
    cohort: &Cohort,
    peer: &str,
    options: Bound<'_, PyDict>,
    wait: u64,
) -> PyResult<(Fingerprint, SessionOptions)> {
    let arguments = Arguments(options);
    let peer = fingerprint(py, "peer", peer)?;
    // Sessions always use a new Paillier key.
    let (plan, _) = plan_options(&arguments, "auto")?;
    let (identity, policy) = (arguments.path("identity")?, arguments.path("policy")?);
    let allow = arguments.texts("allow")?;
    let allow = allow.iter().map(|name| {
        name.parse::<RiskySetting>()
            .map_err(|error| bad_argument(py, "allow", error))
    });
    let allow = allow.collect::<PyResult<Vec<_>>>()?;
    let raw = cohort.raw.clone();
    let prepared = py.detach(|| {
        let identity_file = veilpath::identity_file(identity.as_deref())?;
        let own = Identity::load(&identity_file)?;
        let local = LocalCohort::new(raw, plan)?;
        let state_dir = veilpath::state_dir(identity.as_deref())?;
        let policy = veilpath::find_policy(policy.as_deref(), &state_dir)?;
        let mut options = SessionOptions::new(local, own, state_dir);
        options.policy = policy;
        Ok(options)
    });
    let mut options = prepared.map_err(|error: veilpath::Error| to_exception(py, &error))?;
    let limit = arguments.value("limit_per_scanpath")?;
    options.limit_per_scanpath = limit.map(ScanpathLimit::Count).unwrap_or_default();
    options.pseudonyms = arguments.or_default("pseudonyms")?;
    options.via_relay = arguments.or_default("via_relay")?;
    options.fresh = arguments.or_default("fresh")?;
    options.tile_count = arguments.value("tile_count")?;
    options.allow = allow;
    if let Some(mebibytes) = arguments.value::<u64>("memory")? {
        options.memory = mebibytes.saturating_mul(1 << 20);
    }
    if let Some(minimum) = arguments.value("minimum_group")? {
        options.minimum_group = minimum;
    }
    options.idle_timeout = seconds(&arguments, "timeout", 60)?;
    options.wait = seconds(&arguments, "wait", wait)?;
    if let Some(names) = arguments.value("names")? {
        options.names = names;
    }
    Ok((peer, options))
}

pub(crate) fn seconds(arguments: &Arguments<'_>, name: &str, default: u64) -> PyResult<Duration> {
    match arguments.positive(name)? {
        None => Ok(Duration::from_secs(default)),
        Some(seconds) => Duration::try_from_secs_f64(seconds)
            .map_err(|error| bad_argument(arguments.py(), name, error)),
    }
}

//! Long calls. Each runs on its own thread without the GIL, while the calling thread checks for Ctrl-C and shows progress.

use crate::errors::{to_exception, warn};
use crate::hints;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::time::Duration;
use veilpath::{Error, Event, EventSink, Job, Progress};

/// How often signals and events are handled while a job runs.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The first interval, so that short calls return quickly.
const FIRST_POLL_INTERVAL: Duration = Duration::from_millis(2);

/// How long an interrupted call waits for its job to end.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Runs a job to its end. `progress` gets the work done and the total. An exception from it, or Ctrl-C, cancels the job.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    job: impl FnOnce(&dyn EventSink) -> Result<T, Error> + Send + 'static,
) -> PyResult<T> {
    let mut job = Job::start(job)?;
    finish(py, &mut job, progress, &mut |_| ())
}

/// Waits for a job. Notes become warnings; other events go to `on_event`.
pub(crate) fn finish<T: Send + 'static>(
    py: Python<'_>,
    job: &mut Job<T>,
    progress: Option<&Bound<'_, PyAny>>,
    on_event: &mut dyn FnMut(&Event),
) -> PyResult<T> {
    let mut shown = None;
    let mut interval = FIRST_POLL_INTERVAL;
    loop {
        let done = py.detach(|| job.is_done(interval));
        interval = POLL_INTERVAL;
        let took = (|| {
            py.check_signals()?;
            forward_events(py, job, on_event)?;
            show(job.progress(), &mut shown, progress)
        })();
        if let Err(error) = took {
            py.detach(|| job.stop(STOP_TIMEOUT));
            return Err(error);
        }
        if done {
            break;
        }
    }
    match py.detach(|| job.take()) {
        Some(result) => result.map_err(|error| to_exception(py, &error)),
        None => Err(PyRuntimeError::new_err("the job ended without a result")),
    }
}

/// Handles all pending events.
pub(crate) fn forward_events<T: Send + 'static>(
    py: Python<'_>,
    job: &Job<T>,
    on_event: &mut dyn FnMut(&Event),
) -> PyResult<()> {
    while let Some(event) = job.next_event(Duration::ZERO) {
        match hints::note(&event) {
            Some(text) => warn(py, &text)?,
            None => on_event(&event),
        }
    }
    Ok(())
}

fn show(
    now: Option<Progress>,
    shown: &mut Option<(u64, u64)>,
    progress: Option<&Bound<'_, PyAny>>,
) -> PyResult<()> {
    let (Some(now), Some(progress)) = (now, progress) else {
        return Ok(());
    };
    let now = (now.done, now.total);
    if *shown != Some(now) {
        *shown = Some(now);
        progress.call1(now)?;
    }
    Ok(())
}

//! Identities and policies.

use crate::arguments::Arguments;
use crate::errors::{bad_argument, bad_input, to_exception};
use crate::plan::engine;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use veilpath::{Fingerprint, Identity, MetricName, ScanpathLimit};

/// The fingerprint of this institution's identity, which is created if there is none.
#[pyfunction]
pub(crate) fn identity(py: Python<'_>, path: Option<PathBuf>, create: bool) -> PyResult<String> {
    let load = || {
        let path = veilpath::identity_file(path.as_deref())?;
        let identity = match create {
            true => Identity::load_or_create(&path)?.0,
            false => Identity::load(&path)?,
        };
        Ok(identity.fingerprint().to_string())
    };
    load().map_err(|error: veilpath::Error| to_exception(py, &error))
}

/// Writes an example policy.
#[pyfunction]
pub(crate) fn write_policy_example(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    veilpath::write_policy_example(&path).map_err(|error| to_exception(py, &error))
}

/// Checks a plan, and returns the policy's expiry date.
#[pyfunction]
pub(crate) fn check_policy(
    py: Python<'_>,
    path: Option<PathBuf>,
    identity: Option<PathBuf>,
    peers: Vec<String>,
    options: Bound<'_, PyDict>,
) -> PyResult<String> {
    let arguments = Arguments(options);
    let peers = peers.iter().map(|peer| fingerprint(py, "peer", peer));
    let peers = peers.collect::<PyResult<Vec<_>>>()?;
    let (engine, _) = engine(&arguments, "auto")?;
    let metric = arguments
        .parsed::<MetricName>("metric")?
        .unwrap_or_default();
    let reveal = arguments.parsed("reveal")?.unwrap_or_default();
    let limit = arguments.value("limit_per_scanpath")?;
    let limit = limit.map_or(ScanpathLimit::Default, ScanpathLimit::Count);
    let find = || {
        let state_dir = veilpath::state_dir(identity.as_deref())?;
        let policy = veilpath::find_policy(path.as_deref(), &state_dir)?;
        Ok((policy, state_dir.policy()))
    };
    let (policy, default_path) =
        find().map_err(|error: veilpath::Error| to_exception(py, &error))?;
    let Some(policy) = policy else {
        let problem =
            "there is no policy\n  veilpath.write_policy_example(path) writes one to start from";
        return Err(bad_input(py, &default_path.display().to_string(), problem));
    };
    veilpath::check_policy(&policy, &peers, engine, metric, reveal, limit)
        .map_err(|error| to_exception(py, &error))?;
    Ok(policy.expires().to_string())
}

/// Reads a fingerprint.
pub(crate) fn fingerprint(py: Python<'_>, name: &str, text: &str) -> PyResult<Fingerprint> {
    text.trim()
        .parse()
        .map_err(|error| bad_argument(py, name, error))
}

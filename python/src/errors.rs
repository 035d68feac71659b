//! The façade's errors as exceptions of the package.
//!
//! Names in a message may come from files and from other institutions, so unprintable characters are replaced: in every
//! exception of the package by its class, which calls [`printable`], and in warnings here.

use crate::hints::{self, ErrorLocation};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyDict;
use std::borrow::Cow;
use veilpath::text::printable_lines;
use veilpath::{Error, Fault, SessionError, UsageError};

/// The class of the exception for an error, by name: `veilpath/_errors.py` defines them.
fn class(error: &Error) -> &'static str {
    match error {
        Error::Cancelled => "Cancelled",
        Error::WithPeer(_) => "PeerError",
        Error::Forbidden(_) => "PolicyError",
        Error::Read(_)
        | Error::RepeatedIds { .. }
        | Error::NotACohort { .. }
        | Error::BeyondResultFile { .. }
        | Error::Open { .. }
        | Error::ResultFile { .. }
        | Error::MaybeTooFewLetters { .. }
        | Error::KeyFile { .. }
        | Error::Policy(_)
        | Error::Peers(_) => "InputError",
        Error::Output { .. }
        | Error::CreateFolder { .. }
        | Error::Write { .. }
        | Error::KeyExists { .. } => "OutputError",
        Error::Session(SessionError::File { .. } | SessionError::Usage(UsageError::NoStateDir)) => {
            "InputError"
        }
        error => match error.fault() {
            Fault::Input => "PlanError",
            Fault::Peer => "PeerError",
            Fault::Network => "ConnectionError",
        },
    }
}

/// The exception for an error, with its location in the input as attributes.
pub(crate) fn to_exception(py: Python<'_>, error: &Error) -> PyErr {
    let location = ErrorLocation::of(error);
    let exception = make(py, class(error), &hints::explain(error), &location);
    let attribute = match error {
        error if error.is_permanent() => "lasting",
        Error::Session(error) if error.is_impossible_result() => "impossible_result",
        _ => return exception,
    };
    match exception.value(py).setattr(attribute, true) {
        Ok(()) => exception,
        Err(error) => error,
    }
}

/// An exception about an argument.
pub(crate) fn bad_argument(py: Python<'_>, name: &str, problem: impl std::fmt::Display) -> PyErr {
    let message = format!("{name}: {problem}");
    make(py, "PlanError", &message, &ErrorLocation::default())
}

/// An exception about an input.
pub(crate) fn bad_input(py: Python<'_>, file: &str, problem: impl std::fmt::Display) -> PyErr {
    let location = ErrorLocation {
        file: Some(file.to_string()),
        ..ErrorLocation::default()
    };
    make(py, "InputError", &format!("{file}: {problem}"), &location)
}

/// A warning of the package.
pub(crate) fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    let category = class_named(py, "VeilpathWarning")?;
    let message = std::ffi::CString::new(printable(message).as_ref())?;
    PyErr::warn(py, category.bind(py), &message, 2)
}

/// Makes a message safe to show.
#[pyo3::pyfunction]
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    printable_lines(text)
}

fn make(py: Python<'_>, class: &str, message: &str, location: &ErrorLocation) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let attributes = PyDict::new(py);
        attributes.set_item("file", &location.file)?;
        attributes.set_item("line", location.line)?;
        attributes.set_item("row", location.row)?;
        attributes.set_item("column", &location.column)?;
        let class = class_named(py, class)?;
        let exception = class.bind(py).call((message,), Some(&attributes))?;
        Ok(PyErr::from_value(exception))
    };
    made().unwrap_or_else(|error| error)
}

fn class_named(py: Python<'_>, name: &str) -> PyResult<Py<PyAny>> {
    static MODULE: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let module = MODULE.get_or_try_init(py, || py.import("veilpath._errors")?.into_py_any(py))?;
    module.getattr(py, name)
}

//! Why a measurement failed.

use std::io;
use std::path::PathBuf;
use veilpath_metrics::{FixationError, LetterError, MetricError, ScreenError};
use veilpath_protocol::{ProtocolError, SpecError};
use veilpath_session::SessionError;

/// Everything that can make a measurement fail.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The alphabet is too large or too small.
    #[error(transparent)]
    Alphabet(#[from] LetterError),
    /// The metric does not fit the alphabet.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The screen is invalid.
    #[error(transparent)]
    Screen(#[from] ScreenError),
    /// Fixations are invalid.
    #[error(transparent)]
    Fixations(#[from] FixationError),
    /// The two cohorts cannot be compared.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The engine failed.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The session between the two parties on this machine failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The cryptosystem failed.
    #[error(transparent)]
    Paillier(#[from] veilpath_paillier::Error),
    /// An attack failed.
    #[cfg(feature = "audit")]
    #[error(transparent)]
    Audit(#[from] veilpath_audit::AuditError),
    /// A process of a measurement cannot be started, or its task or answer is unusable.
    #[error("a process of the measurement failed: {0}")]
    Process(#[from] io::Error),
    /// A process of a measurement ended without an answer; it has printed the reason.
    #[error("{process} ended without an answer")]
    NoAnswer {
        /// The process.
        process: &'static str,
    },
    /// A folder or a file cannot be written.
    #[error("{path}: cannot be written: {source}", path = path.display())]
    Write {
        /// The folder or file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The folder contains measurements with other settings or from another machine.
    #[error(
        "{path}: these measurements were made with other settings or on another machine",
        path = path.display()
    )]
    OtherSettings {
        /// The file with the measurements.
        path: PathBuf,
    },
    /// A line of the file with the measurements is unusable.
    #[error("{path}: line {line} is not a measurement: {source}", path = path.display())]
    Measurement {
        /// The file with the measurements.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
}

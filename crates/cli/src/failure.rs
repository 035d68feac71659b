//! Why the program failed, and its exit code.

use crate::hints;
use std::fmt;
use std::io;
use std::process::ExitCode;
use veilpath::{Fault, ProtocolError, ReadError, SessionError};

/// An error message with its fault.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Invalid arguments or files: exit code 2.
    Input(String),
    /// The other side disagrees or misbehaves: exit code 3.
    Peer(String),
    /// The network failed: exit code 4.
    Network(String),
    /// An error that was already reported, with its exit code.
    AlreadyReported(u8),
    /// The reader of standard output closed it, which is not an error unless the user named that output.
    BrokenPipe,
}

impl Failure {
    /// An error with this fault.
    pub(crate) fn new(fault: Fault, message: String) -> Self {
        match fault {
            Fault::Input => Failure::Input(message),
            Fault::Peer => Failure::Peer(message),
            Fault::Network => Failure::Network(message),
        }
    }

    /// Invalid arguments or files.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Failure::Input(message.into())
    }

    /// Standard output could not be written.
    pub(crate) fn printing(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::named_stdout(error),
        }
    }

    /// Standard output that the user named could not be written: a reader that closed it has lost results.
    pub(crate) fn named_stdout(error: &io::Error) -> Self {
        Failure::Input(format!("standard output cannot be written: {error}"))
    }

    /// A result cannot be written as JSON.
    pub(crate) fn json(error: serde_json::Error) -> Self {
        Failure::Input(format!("the result cannot be written as JSON: {error}"))
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code())
    }

    /// The exit code as a number.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Input(_) => 2,
            Failure::Peer(_) => 3,
            Failure::Network(_) => 4,
            Failure::AlreadyReported(code) => *code,
            Failure::BrokenPipe => 0,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Input(message) | Failure::Peer(message) | Failure::Network(message) => {
                f.write_str(message)
            }
            Failure::AlreadyReported(_) => f.write_str("the error was already reported"),
            Failure::BrokenPipe => f.write_str("the output was closed"),
        }
    }
}

impl From<veilpath::Error> for Failure {
    fn from(error: veilpath::Error) -> Self {
        Failure::from(&error)
    }
}

impl From<&veilpath::Error> for Failure {
    fn from(error: &veilpath::Error) -> Self {
        Failure::new(error.fault(), hints::explain(error))
    }
}

impl From<ReadError> for Failure {
    fn from(error: ReadError) -> Self {
        Failure::Input(hints::encode::read_error(&error))
    }
}

impl From<ProtocolError> for Failure {
    fn from(error: ProtocolError) -> Self {
        veilpath::Error::from(error).into()
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        veilpath::Error::from(error).into()
    }
}

impl From<veilpath_evaluation::Error> for Failure {
    fn from(error: veilpath_evaluation::Error) -> Self {
        use veilpath_evaluation::Error;
        match error {
            Error::Metric(error) => veilpath::Error::from(error).into(),
            Error::Spec(error) => veilpath::Error::from(error).into(),
            Error::Protocol(error) => veilpath::Error::from(error).into(),
            Error::Session(error) => veilpath::Error::from(error).into(),
            Error::Paillier(error) => veilpath::Error::from(error).into(),
            Error::OtherSettings { .. } | Error::Measurement { .. } => Failure::input(format!(
                "{error}\n  choose another folder, or remove this one"
            )),
            other => Failure::input(other.to_string()),
        }
    }
}

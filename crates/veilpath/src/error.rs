//! Why a job ended early, and who can mend it.

use crate::{MetricOptionsError, OutputConflict};
use std::io;
use std::path::PathBuf;
use veilpath_encode::ReadError;
use veilpath_metrics::MetricError;
use veilpath_protocol::{ProtocolError, SpecError};
use veilpath_session::SessionError;

/// Everything that can end a job early.
///
/// The text of an error says what happened and names fields by their names in this crate; a front end adds what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An input file cannot be read or understood.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A metric's numbers do not make sense.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The two cohorts cannot be compared.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// An engine failed.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// A session failed.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A Paillier key is unusable.
    #[error(transparent)]
    Key(#[from] veilpath_paillier::Error),
    /// Metric options that do not go together.
    #[error(transparent)]
    MetricOptions(#[from] MetricOptionsError),
    /// A file must not be written there.
    #[error("{path}: {reason}", path = path.display(), reason = match conflict {
        OutputConflict::Folder => "this is a folder",
        OutputConflict::Input => "this file is read and would be overwritten",
        OutputConflict::ReadOnly => "this file is write-protected",
        OutputConflict::NoFolder => "its folder does not exist",
        OutputConflict::SameOutput => "two results would go to this file",
    })]
    Output {
        /// The file.
        path: PathBuf,
        /// Why not.
        conflict: OutputConflict,
    },
    /// A file cannot be written.
    #[error("{path}: cannot be written: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
}

/// Who can mend an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The caller: a file or an option.
    Input,
    /// The other institution, which disagrees or misbehaves.
    Peer,
    /// The network.
    Network,
}

impl Error {
    /// Who can mend it.
    pub fn fault(&self) -> Fault {
        match self {
            Error::Session(error) => match error.fault() {
                veilpath_session::Fault::PeerDiffers | veilpath_session::Fault::PeerMisbehaves => {
                    Fault::Peer
                }
                veilpath_session::Fault::Network => Fault::Network,
                veilpath_session::Fault::File | veilpath_session::Fault::Ours => Fault::Input,
            },
            Error::Protocol(error) => match error {
                ProtocolError::PeerMisbehaved(_)
                | ProtocolError::KeyRefused(_)
                | ProtocolError::CiphertextRefused(_) => Fault::Peer,
                ProtocolError::Channel(_) => Fault::Network,
                _ => Fault::Input,
            },
            _ => Fault::Input,
        }
    }
}

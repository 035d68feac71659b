//! Where the cause of an error lies, and whether another attempt can succeed.

use super::Error;
use crate::EventSink;
use veilpath_protocol::ProtocolError;
use veilpath_session::{Fault as SessionFault, SessionError};

/// Where the cause of an error lies, the most severe first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// This side: a file, an option, or this machine.
    Input,
    /// The other institution, which disagrees or misbehaves.
    Peer,
    /// The network.
    Network,
}

impl Error {
    /// [`Error::Cancelled`] if the job was cancelled, which then caused this error; otherwise the error itself.
    pub(crate) fn or_cancelled(self, events: &dyn EventSink) -> Self {
        match events.cancel_token().is_cancelled() {
            true => Error::Cancelled,
            false => self,
        }
    }

    /// Where the cause lies.
    pub fn fault(&self) -> Fault {
        match self {
            // On loopback, the caller provides both sides, so a difference between them is the caller's fault.
            Error::Loopback(error) if error.fault() == SessionFault::PeerDiffers => Fault::Input,
            Error::WithPeer(error) => match error.fault() {
                Fault::Input => Fault::Peer,
                other => other,
            },
            Error::Session(error) | Error::Interrupted { error, .. } | Error::Loopback(error) => {
                match error.fault() {
                    SessionFault::PeerDiffers | SessionFault::PeerMisbehaves => Fault::Peer,
                    SessionFault::Network => Fault::Network,
                    SessionFault::File | SessionFault::Usage | SessionFault::Internal => {
                        Fault::Input
                    }
                }
            }
            Error::Protocol(error) => match error {
                ProtocolError::PeerMisbehaved(_)
                | ProtocolError::KeyRejected(_)
                | ProtocolError::CiphertextRejected(_) => Fault::Peer,
                ProtocolError::Channel(_) => Fault::Network,
                _ => Fault::Input,
            },
            _ => Fault::Input,
        }
    }

    /// Whether the peer is banned, or will be because of this error. In a worker's session, this error only stops the tile.
    pub fn is_ban(&self) -> bool {
        self.session().is_some_and(SessionError::is_ban)
    }

    /// Whether this side refuses the peer or the tile until its user allows it again: after a ban, too many starts, too many
    /// journal entries, or a worker's report.
    pub fn is_blocked(&self) -> bool {
        self.session().is_some_and(SessionError::is_blocked)
    }

    /// Whether the network failure is permanent: retrying without any change cannot help.
    pub fn is_permanent(&self) -> bool {
        let error = self.session();
        error.is_some_and(|it| matches!(it, SessionError::Network(it) if it.is_permanent()))
    }

    /// Whether any further attempt of the peer must fail: it is blocked, it gave an impossible result, or the cause
    /// is on this side.
    pub(crate) fn is_final(&self) -> bool {
        self.fault() == Fault::Input || self.session().is_some_and(SessionError::is_final)
    }

    fn session(&self) -> Option<&SessionError> {
        match self {
            Error::Session(error) | Error::Interrupted { error, .. } => Some(error),
            Error::WithPeer(error) => error.session(),
            _ => None,
        }
    }
}

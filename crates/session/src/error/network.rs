//! How the network can fail.

use super::CoordinatorProblem;
use std::io;
use std::time::Duration;
use veilpath_channel::ChannelError;
use veilpath_protocol::units::seconds;

/// A failure of the network, or of the connection.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// Another program listens on this address.
    #[error("{address}: another program is already listening there")]
    AddressInUse {
        /// The address.
        address: String,
    },
    /// Listening failed.
    #[error("{address}: cannot listen there: {source}")]
    Listen {
        /// The address.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The host name does not resolve.
    #[error("{address}: cannot resolve this host name: {source}")]
    UnknownName {
        /// The address.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Nothing answers at the address.
    #[error("{address}: cannot be reached: {source}")]
    Unreachable {
        /// The address.
        address: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The expected peer did not connect in time.
    #[error("the other side did not connect within {}", seconds(.0.as_secs_f64()))]
    NoPeer(Duration),
    /// A relay could not be used.
    #[error("{address}: {problem}")]
    Relay {
        /// The relay's address.
        address: String,
        /// What is wrong.
        problem: RelayProblem,
    },
    /// A host's gateway could not be used.
    #[error("{address}: {}", .problem.at_gateway())]
    Gateway {
        /// The gateway's address.
        address: String,
        /// What is wrong.
        problem: RelayProblem,
    },
    /// A worker's coordinator could not be used.
    #[error(transparent)]
    Coordinator(#[from] CoordinatorProblem),
    /// The socket failed during the handshake.
    #[error("the handshake failed: {0}")]
    Handshake(io::Error),
    /// The peer closed the connection during the handshake.
    #[error("the other side closed the connection during the handshake")]
    HandshakeClosed,
    /// The peer did not finish the handshake in time.
    #[error("the other side did not finish the handshake in time")]
    HandshakeTimeout,
    /// The socket failed after the handshake.
    #[error("the connection failed: {0}")]
    Connection(io::Error),
    /// The channel failed.
    #[error(transparent)]
    Channel(ChannelError),
    /// This side's user stopped the session.
    #[error("the session was stopped on this side")]
    Stopped,
    /// The connection ended while this side's user read the plan.
    #[error("the other side ended the session before it started, or the connection was lost")]
    LeftBeforeStart,
    /// The peer disconnected while it waited for a session slot.
    #[error("the other side disconnected while it waited for its session")]
    LeftQueue,
    /// The peer took longer for its first messages than they can need, or kept a session slot for longer than its plan can take.
    #[error("the connection was closed after {}: the other side took much longer than necessary", seconds(.0.as_secs_f64()))]
    SessionTooLong(Duration),
    /// The host served other peers for too long.
    #[error("the host was busy with other partners for too long")]
    HostBusy,
    /// More connections were rejected than are reported one by one.
    #[error("{count} more in the last {}, most of them dropped before the handshake", seconds(within.as_secs_f64()))]
    ManyRejected {
        /// The number of connections.
        count: u64,
        /// The time in which they were rejected.
        within: Duration,
    },
    /// The loopback network does not work.
    #[error(
        "both sides of this comparison run on this machine and communicate over the loopback network (127.0.0.1), which is not working: {0}"
    )]
    Loopback(Box<dyn std::error::Error + Send + Sync>),
}

impl NetworkError {
    /// Whether trying again, without changing anything, cannot help.
    pub fn is_permanent(&self) -> bool {
        match self {
            NetworkError::UnknownName { .. } => true,
            NetworkError::Relay { problem, .. } | NetworkError::Gateway { problem, .. } => {
                problem.is_permanent()
            }
            NetworkError::Coordinator(problem) => matches!(
                problem,
                CoordinatorProblem::Storage | CoordinatorProblem::Protocol
            ),
            _ => false,
        }
    }
}

/// Why a relay could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RelayProblem {
    /// It has reached its limit of connections.
    #[error("the relay has no free connection")]
    Full,
    /// It does not serve these two sides.
    #[error("the relay does not serve these two institutions")]
    Refused,
    /// It has another version.
    #[error("the relay runs a different version of Veilpath")]
    OtherVersion,
    /// Something else answers there.
    #[error("no Veilpath relay answers there")]
    NotARelay,
    /// It closed the connection.
    #[error("the relay closed the connection")]
    Closed,
    /// It does not answer.
    #[error("the relay does not answer")]
    Silent,
}

impl RelayProblem {
    /// Whether trying again cannot help.
    pub(crate) fn is_permanent(self) -> bool {
        matches!(
            self,
            RelayProblem::Refused | RelayProblem::OtherVersion | RelayProblem::NotARelay
        )
    }

    /// The message for a gateway, which requires worker keys.
    fn at_gateway(self) -> &'static str {
        match self {
            RelayProblem::Full => {
                "the gateway has no free connection, or another connection with this key and tile has replaced this one"
            }
            RelayProblem::Refused => {
                "the gateway refused this worker key: it is for another agreement or tile, has expired, or the clocks differ by more than two minutes"
            }
            RelayProblem::OtherVersion => "the gateway runs a different version of Veilpath",
            RelayProblem::NotARelay => "no Veilpath gateway answers there",
            RelayProblem::Closed => "the gateway closed the connection",
            RelayProblem::Silent => "the gateway does not answer",
        }
    }
}

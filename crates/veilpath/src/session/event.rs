//! The steps of a session.

use super::Peer;
use crate::{Error, Progress};
use std::net::SocketAddr;
use std::sync::Arc;
use veilpath_session::{AgreementSummary, DeclineReason, Fingerprint, SessionError};

/// A step of a session. It contains nothing about a participant.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SessionEvent {
    /// The host is listening.
    Listening {
        /// The address.
        address: SocketAddr,
        /// This side's fingerprint.
        fingerprint: Fingerprint,
    },
    /// The joining side is connecting, or a side that uses a relay.
    Connecting {
        /// The address.
        address: String,
        /// Whether it is that of a relay.
        relay: bool,
        /// This side's fingerprint.
        fingerprint: Fingerprint,
    },
    /// A connection that did not authenticate or, at a limited rate, the number of further ones.
    Rejected {
        /// The reason, as text.
        reason: String,
        /// Whether the other side closed the connection because it expects another host.
        by_other_side: bool,
    },
    /// Something happened in the session with this peer.
    Peer {
        /// The peer.
        peer: Arc<Peer>,
        /// What happened.
        event: PeerEvent,
    },
}

impl SessionEvent {
    pub(super) fn rejected(error: &SessionError) -> Self {
        SessionEvent::Rejected {
            reason: error.to_string(),
            by_other_side: matches!(error, SessionError::KeyRejected),
        }
    }
}

/// A step of the session with one peer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PeerEvent {
    /// The session is open.
    Connected,
    /// The session is waiting for others to finish.
    Queued {
        /// How many sessions are ahead of it.
        ahead: u64,
    },
    /// Both sides have agreed on what to compute.
    Agreed(Box<AgreementSummary>),
    /// Both sides have started, or matrix cells were filled.
    Progress(Progress),
    /// The session failed; the host continues with other peers.
    Failed(Arc<Error>),
    /// A further connection from this peer was declined.
    Declined(DeclineReason),
}

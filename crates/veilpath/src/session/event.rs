//! The steps of a session, as events.

use super::Peer;
use crate::{Error, Event, EventSink, Progress};
use std::net::SocketAddr;
use std::sync::Arc;
use veilpath_protocol::CancelToken;
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
    /// This side is connecting: it is the joining side, or uses a relay.
    Connecting {
        /// The address.
        address: String,
        /// Whether it is the address of a relay or gateway.
        relay: bool,
        /// This side's fingerprint.
        fingerprint: Fingerprint,
    },
    /// A connection that did not authenticate. The rate of these events is limited; further connections are reported as
    /// a count.
    Rejected {
        /// The reason, as text.
        reason: String,
        /// Whether the other side closed the connection because it expects another host.
        by_other_side: bool,
    },
    /// An event in the session with this peer.
    Peer {
        /// The peer.
        peer: Arc<Peer>,
        /// The event.
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
        /// The number of sessions ahead of it.
        ahead: u64,
    },
    /// Both sides have agreed on what to compute.
    Agreed(Box<AgreementSummary>),
    /// Both sides have started, or matrix cells were filled.
    Progress(Progress),
    /// The session failed. The host continues with other peers.
    Failed(Arc<Error>),
    /// Another connection from this peer was declined.
    Declined(DeclineReason),
}

/// Reports the progress of a computation as that of the session with a peer, and cancels it with that session.
pub(super) struct PeerProgress<'a> {
    peer: &'a Arc<Peer>,
    events: &'a dyn EventSink,
}

impl<'a> PeerProgress<'a> {
    pub(super) fn new(peer: &'a Arc<Peer>, events: &'a dyn EventSink) -> Self {
        Self { peer, events }
    }
}

impl EventSink for PeerProgress<'_> {
    fn event(&self, event: Event) {
        if let Event::Progress(progress) = event {
            self.events.event(Event::Session(SessionEvent::Peer {
                peer: Arc::clone(self.peer),
                event: PeerEvent::Progress(progress),
            }));
        }
    }

    fn cancel_token(&self) -> CancelToken {
        self.events.cancel_token()
    }
}

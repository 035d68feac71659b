//! Hosts several peers at once.

use super::{Peer, PeerEvent, ServedPeer, SessionEvent, SessionOptions, Side};
use crate::{Error, EventSink};
use std::sync::Arc;
use std::time::Duration;
use veilpath_protocol::Role;
use veilpath_session::{
    Acceptor, CompletedSession, Fingerprint, PeerConnection, PeerServer, SessionFailure,
    SessionSlots,
};

/// How long a peer may keep a slot, besides the time that its plan takes on a slow connection.
const SLOT_TIME: Duration = Duration::from_secs(3600);

/// How long a peer may take for its first messages, which are short.
const OPEN_TIME: Duration = Duration::from_secs(60);

/// Saves the results of a peer's session. An error fails the session.
pub type SaveResults<'a> = dyn Fn(&Peer, &CompletedSession) -> Result<(), Error> + Sync + 'a;

/// Listens on `address` for several peers, or waits for them at the relay there, with at most `sessions` running at a time. Returns when all have finished or were
/// banned, or when no session has run for [`SessionOptions::wait`].
///
/// Each session runs on its own thread; `save` gets its results as soon as it has finished.
pub fn serve(
    address: &str,
    peers: &[Peer],
    sessions: usize,
    options: &SessionOptions,
    events: &dyn EventSink,
    save: &SaveResults<'_>,
) -> Result<Vec<ServedPeer>, Error> {
    let side = Side {
        sessions: sessions.min(peers.len()),
        ..Side::new(options, Role::Host, events)?
    };
    for peer in peers {
        side.refuse_own(peer.fingerprint)?;
    }
    let fingerprints: Vec<Fingerprint> = peers.iter().map(|peer| peer.fingerprint).collect();
    side.refuse_forbidden(&fingerprints)?;
    side.refuse_unanswerable()?;
    side.refuse_unprotected()?;
    let listener = side.listen(address, &fingerprints)?;
    let peers: Vec<Arc<Peer>> = peers.iter().cloned().map(Arc::new).collect();
    let acceptor = Acceptor::new(listener, &options.identity, &fingerprints, &side.timeouts);
    let server = PeerServer {
        sessions,
        wait: options.wait,
        open: OPEN_TIME,
    };
    let handler = |connection: PeerConnection, slots: &SessionSlots| {
        let Some(peer) = peers.get(connection.index) else {
            return Ok(());
        };
        handle(&side, connection, peer, slots, save).map_err(|error| {
            let error = Arc::new(error);
            side.report_peer(peer, PeerEvent::Failed(Arc::clone(&error)));
            let is_final = error.is_final();
            SessionFailure { error, is_final }
        })
    };
    let on_rejected = &mut |error: &_| side.report(SessionEvent::rejected(error));
    let states = server.serve(acceptor, &handler, on_rejected);
    let served = peers.iter().zip(states);
    let served = served.map(|(peer, state)| ServedPeer {
        peer: Peer::clone(peer),
        state,
    });
    Ok(served.collect())
}

fn handle(
    side: &Side<'_>,
    connection: PeerConnection,
    peer: &Arc<Peer>,
    slots: &SessionSlots,
    save: &SaveResults<'_>,
) -> Result<(), Error> {
    let channel = connection.channel;
    if let Some(reason) = connection.decline {
        side.report_peer(peer, PeerEvent::Declined(reason.clone()));
        // The message may get lost: this peer's session runs over another connection.
        let _ = side.decline(channel, peer.fingerprint, reason);
        return Ok(());
    }
    let completed = side.run(channel, peer, |session| {
        session.pin_agreement(&connection.agreement);
        let slot = session.acquire_slot(slots, &mut |ahead| {
            side.report_peer(peer, PeerEvent::Queued { ahead });
        })?;
        session.limit_time(SLOT_TIME);
        Ok(slot)
    })?;
    match completed {
        Some(completed) => save(peer, &completed),
        None => Ok(()),
    }
}

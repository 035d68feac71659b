//! Hosts several peers at once.

use super::{Peer, PeerEvent, ServedPeer, SessionEvent, SessionOptions, Side, check_peers};
use crate::{Error, EventSink};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use veilpath_protocol::Role;
use veilpath_session::{
    Acceptor, CompletedSession, Fingerprint, Limit, PeerConnection, PeerServer, SessionError,
    SessionFailure, SessionSlots, memory_of_all_sessions, memory_per_session,
};

/// How long a peer may hold a slot, in addition to the time its plan takes on a slow connection.
const EXTRA_SLOT_TIME: Duration = Duration::from_secs(3600);

/// How long a peer may take to send its first messages, which are short.
const OPEN_TIMEOUT: Duration = Duration::from_secs(60);

/// Saves the results of a peer's session. An error makes the session fail.
pub type SaveResults<'a> = dyn Fn(&Peer, &CompletedSession) -> Result<(), Error> + Sync + 'a;

/// Listens on `address` for several peers, or waits for them at the relay there, with at most `sessions` running at a
/// time. Returns when every peer has finished or failed for good, when no session has run for [`SessionOptions::wait`],
/// or after [`SessionControl::stop`](super::SessionControl::stop).
///
/// Each session runs on its own thread. `save` gets its results once it has finished, while the peer's next session may
/// already run. It is never called for two sessions at the same time; if the peer returns while its results wait or are saved,
/// they are not saved again. Returns how serving each peer ended, when all results are saved.
pub fn serve(
    address: &str,
    peers: &[Peer],
    sessions: usize,
    options: &SessionOptions,
    events: &dyn EventSink,
    save: &SaveResults<'_>,
) -> Result<Vec<ServedPeer>, Error> {
    check_peers(peers)?;
    let fingerprints: Vec<Fingerprint> = peers.iter().map(|peer| peer.fingerprint).collect();
    let at_a_time = sessions.min(peers.len());
    let side = Side {
        memory: memory_per_session(options.memory, at_a_time),
        ..Side::checked(options, Role::Host, &fingerprints, events)?
    };
    let listener = side.listen(address, &fingerprints)?;
    let peers: Vec<Arc<Peer>> = peers.iter().cloned().map(Arc::new).collect();
    let acceptor = Acceptor::new(listener, &options.identity, &fingerprints, &side.timeouts);
    let server = PeerServer {
        sessions,
        wait: options.wait,
        open: OPEN_TIMEOUT,
    };
    let saving = Mutex::new(());
    let handler = |connection: PeerConnection, slots: &SessionSlots| {
        let Some(peer) = peers.get(connection.index) else {
            return Ok(());
        };
        handle(&side, connection, peer, (slots, &saving), save).map_err(|error| {
            let error = Arc::new(of_all_sessions(error, options.memory, at_a_time));
            side.report_peer(peer, PeerEvent::Failed(Arc::clone(&error)));
            let is_final = error.is_final();
            SessionFailure { error, is_final }
        })
    };
    let on_rejected = &mut |error: &_| side.report(SessionEvent::rejected(error));
    let cancel = events.cancel_token();
    let is_stopped = || options.control.is_stopped() || cancel.is_cancelled();
    let states = server.serve(&is_stopped, acceptor, &handler, on_rejected);
    let served = peers.iter().zip(states);
    let served = served.map(|(peer, state)| ServedPeer {
        peer: Peer::clone(peer),
        state,
    });
    let served: Vec<ServedPeer> = served.collect();
    match cancel.is_cancelled() && !served.iter().all(ServedPeer::is_finished) {
        true => Err(Error::Cancelled),
        false => Ok(served),
    }
}

/// The error in terms of what the user allows for all sessions together.
fn of_all_sessions(error: Error, allowed: u64, sessions: usize) -> Error {
    match error {
        Error::Session(SessionError::Limit(Limit::Memory { needed, .. })) => {
            let needed = memory_of_all_sessions(needed, sessions);
            SessionError::from(Limit::Memory { needed, allowed }).into()
        }
        error => error,
    }
}

fn handle(
    side: &Side<'_>,
    connection: PeerConnection,
    peer: &Arc<Peer>,
    (slots, saving): (&SessionSlots, &Mutex<()>),
    save: &SaveResults<'_>,
) -> Result<(), Error> {
    let (channel, end) = (connection.channel, connection.end);
    if let Some(reason) = connection.decline {
        side.report_peer(peer, PeerEvent::Declined(reason.clone()));
        let attached = channel.stop_handle().ok();
        let _attached = attached.map(|stop| side.options.control.attach(stop));
        channel.cancel_with(side.events.cancel_token());
        // It does not matter if this message is lost: the peer's session runs over another connection.
        if let Ok((session, _)) = side.open(channel, peer.fingerprint) {
            session.decline(reason);
        }
        return Ok(());
    }
    let ended = side.run(channel, peer, |session| {
        session.pin_agreement(&connection.agreement);
        let slot = session.acquire_slot(slots, &mut |ahead| {
            side.report_peer(peer, PeerEvent::Queued { ahead });
        })?;
        session.limit_time(EXTRA_SLOT_TIME);
        Ok(slot)
    })?;
    let Some((computed, slot)) = ended else {
        return Ok(());
    };
    // Nothing that a peer can notice may depend on results. So they do not keep the slot, and wait in the session's files for
    // their turn. Where this side gets none, there is nothing to hide.
    let computed = computed.into_files();
    let slot = Some(slot).filter(|_| !computed.has_results());
    if !end.reached() {
        return Ok(());
    }
    let _saving = slot
        .is_none()
        .then(|| saving.lock().unwrap_or_else(PoisonError::into_inner));
    save(peer, &side.complete(computed)?)
}

//! Both sides of a session in this process, for one institution that holds both cohorts, and to show what two would do.
//!
//! The steps are those between two institutions, in the same code: TLS with two keys (made for this session, in memory),
//! greeting, agreement, rosters, engine. Only the journals are missing: what an interrupted run has lost, the next one
//! computes again.

use crate::connect::join_on;
use crate::limits::Timeouts;
use crate::{
    AlphabetInfo, Fingerprint, HostKey, Identity, Listener, Proposal, SecureChannel, Session,
    SessionError,
};
use std::net::TcpStream;
use std::time::Duration;
use veilpath_metrics::Cohort;
use veilpath_protocol::{Observer, Outcome, ProtocolError, Role, Spec};

/// Where the host listens: nobody outside this machine can reach it, and nobody on it has the key to be let in.
const ADDRESS: &str = "127.0.0.1:0";

/// Both sides are here already, and give signs of life as between two machines.
const TIMEOUTS: Timeouts = Timeouts {
    idle: Duration::from_secs(60),
    stall: Duration::from_secs(3600),
    connect: Duration::from_secs(10),
};

/// Compares two cohorts with both roles here, the host's first; the outcome is the host's. Where a side fails, its own error
/// comes back, not that the other one lost its partner.
pub fn compare_on_loopback(
    spec: &Spec,
    key: Option<HostKey>,
    cohorts: [&Cohort; 2],
    observers: [&dyn Observer; 2],
) -> Result<Outcome, SessionError> {
    let identities = [Identity::ephemeral()?, Identity::ephemeral()?];
    let [alice, bob] = &identities;
    let peers = [bob.fingerprint(), alice.fingerprint()];
    let listener = Listener::bind(ADDRESS).map_err(|error| unavailable(&error))?;
    // Before any work, and once: here nobody is late.
    let socket = TcpStream::connect_timeout(&listener.address(), TIMEOUTS.connect)
        .map_err(|error| unavailable(&error))?;
    let proposal = |cohort: &Cohort, key: Option<HostKey>| Proposal {
        spec: spec.clone(),
        cohort: cohort.clone(),
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: None,
        key,
    };
    let (host, joining) = std::thread::scope(|scope| {
        let joining = scope.spawn(move || {
            let channel = join_on(socket, bob, peers[1], &TIMEOUTS)?;
            let proposal = proposal(cohorts[1], None);
            side(Role::Join, channel, bob, peers[1], proposal, observers[1])
        });
        let host = listener
            // A stranger on this machine is turned away, as by any host.
            .accept(alice, peers[0], &TIMEOUTS, &mut |_| {})
            .and_then(|channel| {
                let proposal = proposal(cohorts[0], key);
                side(Role::Host, channel, alice, peers[0], proposal, observers[0])
            });
        (host, joining.join())
    });
    let joining = match joining {
        Ok(ended) => ended,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    match (host, joining) {
        (Ok(outcome), Ok(_)) => Ok(outcome),
        (Err(error), Ok(_)) | (Ok(_), Err(error)) => Err(error),
        (Err(host), Err(join)) => Err(cause(host, join)),
    }
}

/// One side, from the greeting to the outcome.
fn side(
    role: Role,
    channel: SecureChannel,
    identity: &Identity,
    peer: Fingerprint,
    proposal: Proposal,
    observer: &dyn Observer,
) -> Result<Outcome, SessionError> {
    let letters = AlphabetInfo {
        named: None,
        declared: None,
        read_as: proposal.spec.alphabet,
        grid: None,
    };
    let (session, _) = Session::open(channel, role, identity, peer, &letters, TIMEOUTS)?;
    Ok(session.agree(proposal, None)?.run(observer)?.outcome)
}

/// Of two errors the one that explains the other: a side that fails by itself leaves, and the other then finds the line
/// closed, or hears that it was declined.
fn cause(host: SessionError, join: SessionError) -> SessionError {
    let weight = |error: &SessionError| match error {
        SessionError::Network(_) | SessionError::Protocol(ProtocolError::Channel(_)) => 0,
        SessionError::Declined(_) => 1,
        _ => 2,
    };
    if weight(&join) > weight(&host) {
        join
    } else {
        host
    }
}

fn unavailable(problem: &dyn std::fmt::Display) -> SessionError {
    SessionError::Network(format!(
        "both sides of this comparison run here and talk over 127.0.0.1, the loopback network, which does not work: {problem}\n  \
         switch it on (on Linux: ip link set lo up), or use --engine plain, which needs no network"
    ))
}

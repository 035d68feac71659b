//! Both sides of a session in this process: for one institution that has both cohorts, and to rehearse a session.
//!
//! The steps and the code are those between two institutions: TLS with two keys (made for this session, in memory), opening,
//! agreement, rosters, engine. Only the journals are missing: an interrupted run starts from the beginning.

use crate::connect::join_on;
use crate::error::NetworkError;
use crate::limits::Timeouts;
use crate::{
    AlphabetInfo, DisclosureLimits, Fingerprint, HostKey, Identity, Listener, Proposal,
    ScanpathLimit, SecureChannel, Session, SessionError,
};
use std::net::TcpStream;
use std::time::Duration;
use veilpath_metrics::Cohort;
use veilpath_protocol::{Observer, Outcome, ProtocolError, Role, Spec, Tile};

/// Only this machine can reach the address, and only the other side has an expected key.
const ADDRESS: &str = "127.0.0.1:0";

/// Keep-alives are sent as between two machines.
const TIMEOUTS: Timeouts = Timeouts {
    idle: Duration::from_secs(60),
    stall: Duration::from_secs(3600),
    connect: Duration::from_secs(10),
};

/// Compares two cohorts with both roles in this process, the host's cohort first, and returns the host's outcome. If
/// one side fails, its own error is returned, not the other side's lost connection. The token of the host's observer
/// cancels both.
pub fn compare_on_loopback(
    spec: &Spec,
    key: Option<HostKey>,
    cohorts: [&Cohort; 2],
    observers: [&dyn Observer; 2],
) -> Result<Outcome, SessionError> {
    compare_tile_on_loopback(spec, key, cohorts, None, observers)
}

/// Like [`compare_on_loopback`], for one tile of the plan or, without a tile, for all of it.
pub fn compare_tile_on_loopback(
    spec: &Spec,
    key: Option<HostKey>,
    cohorts: [&Cohort; 2],
    tile: Option<Tile>,
    observers: [&dyn Observer; 2],
) -> Result<Outcome, SessionError> {
    let identities = [Identity::ephemeral()?, Identity::ephemeral()?];
    let [host_identity, join_identity] = &identities;
    let peers = [join_identity.fingerprint(), host_identity.fingerprint()];
    let cancel = observers[0].cancel_token();
    let listener = Listener::bind(ADDRESS).map_err(unavailable)?;
    // One attempt is enough, because the host already listens. It comes before any work.
    let socket =
        TcpStream::connect_timeout(&listener.address(), TIMEOUTS.connect).map_err(unavailable)?;
    let proposal = |cohort: &Cohort, key: Option<HostKey>| Proposal {
        spec: spec.clone(),
        auto_engine: false,
        cohort: cohort.clone(),
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: ScanpathLimit::Unlimited,
        declared_letters: None,
        // Nothing leaves this machine.
        disclosure: DisclosureLimits {
            minimum_group: 0,
            answers_per_partner: u32::MAX,
            allow_changed_encoding: false,
        },
        memory: None,
        tile,
        tile_count: None,
        key,
    };
    let (host, joining) = std::thread::scope(|scope| {
        let joining = scope.spawn(move || {
            let channel = join_on(socket, join_identity, peers[1], &TIMEOUTS)?;
            channel.cancel_with(cancel);
            let proposal = proposal(cohorts[1], None);
            run_side(
                Role::Join,
                channel,
                join_identity,
                peers[1],
                proposal,
                observers[1],
            )
        });
        let host = listener
            // Other connections from this machine are rejected, as by any host.
            .accept(host_identity, peers[0], &TIMEOUTS, &mut |_| {})
            .and_then(|channel| {
                let proposal = proposal(cohorts[0], key);
                run_side(
                    Role::Host,
                    channel,
                    host_identity,
                    peers[0],
                    proposal,
                    observers[0],
                )
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

/// One side, from the opening to the outcome.
fn run_side(
    role: Role,
    channel: SecureChannel,
    identity: &Identity,
    peer: Fingerprint,
    proposal: Proposal,
    observer: &dyn Observer,
) -> Result<Outcome, SessionError> {
    let alphabet = AlphabetInfo {
        named: None,
        declared: None,
        read_as: proposal.spec.alphabet,
        grid: None,
    };
    let (session, _) = Session::open(channel, role, identity, peer, &alphabet, TIMEOUTS)?;
    let agreed = session.agree(proposal, None, &mut |_| ())?;
    Ok(agreed.run(observer)?.outcome)
}

/// The error that caused the other one: a side that fails closes the connection, and the other then finds it closed, or is
/// declined.
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

fn unavailable(problem: impl std::error::Error + Send + Sync + 'static) -> SessionError {
    NetworkError::Loopback(Box::new(problem)).into()
}

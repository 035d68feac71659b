//! From an address to a channel with the expected peer.

use crate::acceptor::{Acceptor, Incoming};
use crate::channel::SecureChannel;
use crate::connection::{POLL_INTERVAL, is_timeout};
use crate::error::{NetworkError, UsageError};
use crate::limits::{HANDSHAKE_TIMEOUT, Timeouts, deadline};
use crate::relay::RelayWaiters;
use crate::tls::{self, PinnedKeys};
use crate::worker::WorkerGate;
use crate::{Fault, Fingerprint, Identity, SessionError};
use rustls::Connection;
use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};
use veilpath_protocol::Role;

/// The pause before the joining side tries again to reach a host that does not answer.
pub(crate) const CONNECT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// The pause before the joining side tries again after the host dropped its connection.
pub(crate) const RETRY_DELAY: Duration = Duration::from_millis(50);

/// Where a host's peers connect: a listening socket, or the host's own connections to a relay.
#[derive(Debug)]
pub struct Listener {
    source: Source,
    address: SocketAddr,
}

#[derive(Debug)]
enum Source {
    Socket(TcpListener),
    Relay(RelayWaiters),
}

impl Listener {
    /// Listens; port 0 lets the system choose one.
    pub fn bind(address: &str) -> Result<Self, SessionError> {
        let failed = |source: io::Error| {
            let address = address.to_string();
            match source.kind() {
                ErrorKind::AddrInUse => NetworkError::AddressInUse { address }.into(),
                ErrorKind::InvalidInput => UsageError::InvalidAddress { address }.into(),
                _ => SessionError::from(NetworkError::Listen { address, source }),
            }
        };
        let socket = TcpListener::bind(address).map_err(failed)?;
        let bound = socket.local_addr().map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            source: Source::Socket(socket),
            address: bound,
        })
    }

    /// Waits for these peers at a relay.
    pub fn at_relay(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
        timeouts: &Timeouts,
    ) -> Result<Self, SessionError> {
        let waiters = RelayWaiters::start(address, identity, peers, timeouts)?;
        Ok(Self {
            address: waiters.address(),
            source: Source::Relay(waiters),
        })
    }

    /// The address it listens on, or that of the relay.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next pending connection.
    pub(crate) fn accept_one(&self) -> io::Result<(TcpStream, SocketAddr)> {
        match &self.source {
            Source::Socket(socket) => socket.accept(),
            Source::Relay(waiters) => waiters.accept_one(),
        }
    }

    /// Waits for one peer, and stops listening once it has connected. Connections without a key, or with another one,
    /// are rejected and reported, and the wait continues. If the peer never connects but a wrong key was rejected, that
    /// is the likely reason and becomes the error.
    pub fn accept(
        self,
        identity: &Identity,
        peer: Fingerprint,
        timeouts: &Timeouts,
        on_rejected: &mut dyn FnMut(&SessionError),
    ) -> Result<SecureChannel, SessionError> {
        self.accept_unless(&|| false, identity, peer, timeouts, on_rejected)
    }

    /// Like [`Listener::accept`], but gives up once `is_stopped` returns true.
    pub fn accept_unless(
        self,
        is_stopped: &dyn Fn() -> bool,
        identity: &Identity,
        peer: Fingerprint,
        timeouts: &Timeouts,
        on_rejected: &mut dyn FnMut(&SessionError),
    ) -> Result<SecureChannel, SessionError> {
        let deadline = deadline(timeouts.connect);
        let acceptor = Acceptor::new(self, identity, &[peer], timeouts);
        wait_for_peer(acceptor, is_stopped, deadline, timeouts, on_rejected)
    }
}

impl Listener {
    /// Waits for one worker that passes the gate.
    pub(crate) fn accept_worker(
        self,
        is_stopped: &dyn Fn() -> bool,
        key: &Identity,
        gate: WorkerGate,
        timeouts: &Timeouts,
        on_rejected: &mut dyn FnMut(&SessionError),
    ) -> Result<SecureChannel, SessionError> {
        let deadline = deadline(timeouts.connect);
        let acceptor = Acceptor::for_workers(self, key, gate, timeouts);
        wait_for_peer(acceptor, is_stopped, deadline, timeouts, on_rejected)
    }
}

fn wait_for_peer(
    mut acceptor: Acceptor,
    is_stopped: &dyn Fn() -> bool,
    deadline: Instant,
    timeouts: &Timeouts,
    on_rejected: &mut dyn FnMut(&SessionError),
) -> Result<SecureChannel, SessionError> {
    let mut wrong_key = None;
    while Instant::now() < deadline {
        if is_stopped() {
            return Err(NetworkError::Stopped.into());
        }
        match acceptor.next(deadline.min(Instant::now() + POLL_INTERVAL)) {
            Some(Incoming::Peer(_, channel)) => {
                channel.connection().end_early_limit();
                return Ok(*channel);
            }
            Some(Incoming::Rejected(error)) => {
                on_rejected(&error);
                if matches!(error.fault(), Fault::PeerDiffers) {
                    wrong_key = Some(error);
                }
            }
            None => {}
        }
    }
    Err(wrong_key.unwrap_or_else(|| NetworkError::NoPeer(timeouts.connect).into()))
}

/// Connects to the host, and tries again until it answers or the connect timeout has passed. A host under load drops
/// connections before the handshake; the next attempt may succeed.
pub fn join(
    address: &str,
    identity: &Identity,
    peer: Fingerprint,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    join_unless(&|| false, address, identity, peer, timeouts)
}

/// Like [`join`], but gives up once `is_stopped` returns true.
pub fn join_unless(
    is_stopped: &dyn Fn() -> bool,
    address: &str,
    identity: &Identity,
    peer: Fingerprint,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let handshake = |socket| join_on(socket, identity, peer, timeouts);
    connect_until(is_stopped, address, timeouts, &handshake)
}

/// Connects to the host with a worker key.
pub(crate) fn join_with_worker_key(
    is_stopped: &dyn Fn() -> bool,
    address: &str,
    key: &Identity,
    gate: &WorkerGate,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let handshake = |socket| worker_handshake(socket, Role::Join, key, gate, timeouts);
    connect_until(is_stopped, address, timeouts, &handshake)
}

/// The handshake of a worker on a connected socket.
pub(crate) fn worker_handshake(
    socket: TcpStream,
    role: Role,
    key: &Identity,
    gate: &WorkerGate,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let any = PinnedKeys::of_workers();
    let tls = match role {
        Role::Host => tls::server(key, &any)?,
        Role::Join => tls::client(key, &any)?,
    };
    let mut channel = secure(socket, tls, any, timeouts)?;
    channel.connection().end_early_limit();
    gate.exchange_certificates(&mut channel)?;
    Ok(channel)
}

/// Connects and runs the handshake; retries until both succeed or the connect timeout has passed.
pub(crate) fn connect_until<T>(
    is_stopped: &dyn Fn() -> bool,
    address: &str,
    timeouts: &Timeouts,
    handshake: &dyn Fn(TcpStream) -> Result<T, SessionError>,
) -> Result<T, SessionError> {
    let deadline = deadline(timeouts.connect);
    loop {
        if is_stopped() {
            return Err(NetworkError::Stopped.into());
        }
        let (error, pause) = match connect_tcp(address, deadline) {
            Ok(socket) => match handshake(socket) {
                Err(error @ SessionError::Network(NetworkError::Coordinator(_))) => {
                    (error, CONNECT_RETRY_DELAY)
                }
                Err(error @ SessionError::Network(_)) => (error, RETRY_DELAY),
                result => return result,
            },
            Err(error @ SessionError::Usage(_)) => return Err(error),
            Err(error) => (error, CONNECT_RETRY_DELAY),
        };
        if Instant::now() + pause >= deadline {
            return Err(error);
        }
        std::thread::sleep(pause);
    }
}

/// The joining side's handshake on a connected socket.
pub(crate) fn join_on(
    socket: TcpStream,
    identity: &Identity,
    peer: Fingerprint,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let pinned = PinnedKeys::new(peer);
    let tls = tls::client(identity, &pinned)?;
    let channel = secure(socket, tls, pinned, timeouts)?;
    channel.connection().end_early_limit();
    Ok(channel)
}

/// Checks that this is an address with a port, without resolving it.
pub fn check_address(address: &str) -> Result<(), SessionError> {
    let port = address.rsplit_once(':').map(|(_, port)| port);
    // A URL is not a host name.
    if address.contains('/') || port.is_none_or(|port| port.parse::<u16>().is_err()) {
        let address = address.to_string();
        return Err(UsageError::InvalidAddress { address }.into());
    }
    Ok(())
}

pub(crate) fn connect_tcp(address: &str, deadline: Instant) -> Result<TcpStream, SessionError> {
    let unknown = |source: io::Error| {
        let address = address.to_string();
        match source.kind() {
            ErrorKind::InvalidInput => UsageError::InvalidAddress { address }.into(),
            _ => SessionError::from(NetworkError::UnknownName { address, source }),
        }
    };
    check_address(address)?;
    let mut last = None;
    for address in address.to_socket_addrs().map_err(unknown)? {
        let left = deadline.saturating_duration_since(Instant::now());
        match TcpStream::connect_timeout(&address, left.max(CONNECT_RETRY_DELAY)) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Some(error),
        }
    }
    Err(match last {
        Some(source) => NetworkError::Unreachable {
            address: address.to_string(),
            source,
        }
        .into(),
        None => unknown(io::Error::new(ErrorKind::NotFound, "it has no address")),
    })
}

/// Runs the TLS handshake, in bounded time.
pub(crate) fn secure(
    mut socket: TcpStream,
    mut tls: Connection,
    pinned: Arc<PinnedKeys>,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let failed = NetworkError::Handshake;
    // On some systems a socket inherits the listener's non-blocking mode.
    socket.set_nonblocking(false).map_err(failed)?;
    socket.set_nodelay(true).map_err(failed)?;
    socket
        .set_read_timeout(Some(POLL_INTERVAL))
        .map_err(failed)?;
    socket
        .set_write_timeout(Some(POLL_INTERVAL))
        .map_err(failed)?;
    let deadline = Instant::now() + HANDSHAKE_TIMEOUT.min(timeouts.idle);
    while tls.is_handshaking() || tls.wants_write() {
        let transferred = if tls.wants_write() {
            tls.write_tls(&mut socket)
        } else {
            tls.read_tls(&mut socket)
        };
        match transferred {
            Ok(0) => return Err(NetworkError::HandshakeClosed.into()),
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(failed(error).into()),
        }
        if let Err(error) = tls.process_new_packets() {
            // The alert tells the peer why. It may fail to arrive.
            let _ = tls.write_tls(&mut socket);
            drain(&mut socket);
            return Err(pinned.explain(&error));
        }
        if Instant::now() > deadline {
            return Err(NetworkError::HandshakeTimeout.into());
        }
    }
    SecureChannel::new(socket, tls, pinned, timeouts)
}

/// Briefly reads what the other side still sends: closing a socket with unread bytes would discard the alert.
fn drain(socket: &mut TcpStream) {
    let _ = socket.shutdown(Shutdown::Write);
    let deadline = Instant::now() + 10 * POLL_INTERVAL;
    let mut ignored = [0; 4096];
    while Instant::now() < deadline {
        match socket.read(&mut ignored) {
            Ok(1..) => {}
            Err(error) if is_timeout(&error) => {}
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_with_an_address_are_distinguished() {
        let soon = Instant::now() + CONNECT_RETRY_DELAY;
        for url in [
            "http://127.0.0.1:7070",
            "https://clinic.example/",
            "clinic.example",
        ] {
            let error = connect_tcp(url, soon).unwrap_err();
            assert!(
                matches!(
                    error,
                    SessionError::Usage(UsageError::InvalidAddress { .. })
                ),
                "{error}"
            );
        }
        // The top-level domain .invalid is reserved and never resolves.
        let error = connect_tcp("clinic.invalid:7070", soon).unwrap_err();
        assert!(
            matches!(
                error,
                SessionError::Network(NetworkError::UnknownName { .. })
            ),
            "{error}"
        );
        let error = connect_tcp("127.0.0.1:9", soon).unwrap_err();
        assert!(
            matches!(
                error,
                SessionError::Network(NetworkError::Unreachable { .. })
            ),
            "{error}"
        );
    }
}

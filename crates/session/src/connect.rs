//! From an address to a channel with the one peer that is expected.

use crate::acceptor::{Acceptor, Incoming};
use crate::channel::SecureChannel;
use crate::connection::{POLL_INTERVAL, is_timeout};
use crate::limits::{HANDSHAKE_TIMEOUT, Timeouts, deadline};
use crate::tls::{self, PinnedKeys};
use crate::{Fault, Fingerprint, Identity, SessionError};
use rustls::Connection;
use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the joining side sleeps before it knocks again.
const CONNECT_RETRY_DELAY: Duration = Duration::from_millis(200);

/// How long where somebody opened and closed again.
const RETRY_DELAY: Duration = Duration::from_millis(50);

/// The host's end before anyone has come.
#[derive(Debug)]
pub struct Listener {
    socket: TcpListener,
    address: SocketAddr,
}

impl Listener {
    /// Listens; port 0 lets the system choose one.
    pub fn bind(address: &str) -> Result<Self, SessionError> {
        let failed = |error: io::Error| match error.kind() {
            ErrorKind::AddrInUse => SessionError::Network(format!(
                "{address}: another program listens there already\n  choose another port with --listen, or end that program"
            )),
            ErrorKind::InvalidInput => SessionError::Ours(format!(
                "{address}: this is no address to listen on; it has a host and a port, as in 0.0.0.0:7070"
            )),
            _ => SessionError::Network(format!("{address}: cannot listen there: {error}")),
        };
        let socket = TcpListener::bind(address).map_err(failed)?;
        let bound = socket.local_addr().map_err(failed)?;
        socket.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            socket,
            address: bound,
        })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection, where one is there.
    pub(crate) fn accept_one(&self) -> io::Result<(TcpStream, SocketAddr)> {
        self.socket.accept()
    }

    /// Waits for one peer, and listens no more once it has come. Whoever shows no key, or another, is a stranger: it is told
    /// of and turned away, and the wait goes on. If it goes on in vain, a wrong key is the likely reason and the error.
    pub fn accept(
        self,
        identity: &Identity,
        peer: Fingerprint,
        timeouts: &Timeouts,
        rejected: &mut dyn FnMut(&SessionError),
    ) -> Result<SecureChannel, SessionError> {
        let deadline = deadline(timeouts.connect);
        let mut acceptor = Acceptor::open(self, identity, &[peer], timeouts);
        let mut wrong_key = None;
        while let Some(visit) = acceptor.next(deadline) {
            match visit {
                Incoming::Peer(_, channel) => return Ok(*channel),
                Incoming::Rejected(error) => {
                    rejected(&error);
                    if matches!(error.fault(), Fault::PeerDiffers) {
                        wrong_key = Some(error);
                    }
                }
            }
        }
        Err(wrong_key.unwrap_or_else(|| {
            SessionError::Network(format!(
                "the other side did not come within {} s",
                timeouts.connect.as_secs()
            ))
        }))
    }
}

/// Calls the host until it answers, or too much time has gone. A host at whose door there is a crowd closes connections
/// unheard: the next attempt may have more luck.
pub fn join(
    address: &str,
    identity: &Identity,
    peer: Fingerprint,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let deadline = deadline(timeouts.connect);
    loop {
        let (failed, pause) = match connect_tcp(address, deadline) {
            Ok(socket) => match join_on(socket, identity, peer, timeouts) {
                Err(error @ SessionError::Network(_)) => (error, RETRY_DELAY),
                ended => return ended,
            },
            Err(error @ SessionError::Ours(_)) => return Err(error),
            Err(error) => (error, CONNECT_RETRY_DELAY),
        };
        if Instant::now() + pause >= deadline {
            return Err(failed);
        }
        std::thread::sleep(pause);
    }
}

/// The joining side's end of a connection that stands.
pub(crate) fn join_on(
    socket: TcpStream,
    identity: &Identity,
    peer: Fingerprint,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let pinned = PinnedKeys::new(peer);
    let tls = tls::client(identity, &pinned)?;
    secure(socket, tls, pinned, timeouts)
}

fn connect_tcp(address: &str, deadline: Instant) -> Result<TcpStream, SessionError> {
    let no_address = || {
        SessionError::Ours(format!(
            "{address}: this is no address; it has a host and a port, as in hospital.example:7070"
        ))
    };
    let unknown = |error: io::Error| match error.kind() {
        ErrorKind::InvalidInput => no_address(),
        _ => SessionError::Network(format!(
            "{address}: this name could not be found: {error}\n  is it spelled right, and known in this machine's network? numbers do as well, as in 192.0.2.7:7070"
        )),
    };
    let unreachable = |error: io::Error| {
        SessionError::Network(format!(
            "{address}: cannot be reached: {error}\n  is `veilpath host` running there, and may this machine connect to it?"
        ))
    };
    // The address of a page is no name to look up.
    if address.contains('/') {
        return Err(no_address());
    }
    let mut last = None;
    for address in address.to_socket_addrs().map_err(unknown)? {
        let left = deadline.saturating_duration_since(Instant::now());
        match TcpStream::connect_timeout(&address, left.max(CONNECT_RETRY_DELAY)) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Some(error),
        }
    }
    Err(match last {
        Some(error) => unreachable(error),
        None => unknown(io::Error::new(ErrorKind::NotFound, "it has no address")),
    })
}

/// The handshake, in bounded time.
pub(crate) fn secure(
    mut socket: TcpStream,
    mut tls: Connection,
    pinned: Arc<PinnedKeys>,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let failed = |error: io::Error| SessionError::Network(format!("the handshake failed: {error}"));
    // Some systems hand on the listener's way of not waiting.
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
        let moved = if tls.wants_write() {
            tls.write_tls(&mut socket)
        } else {
            tls.read_tls(&mut socket)
        };
        match moved {
            Ok(0) => {
                return Err(SessionError::Network(
                    "the other side closed the connection during the handshake".into(),
                ));
            }
            Ok(_) => {}
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(failed(error)),
        }
        if let Err(error) = tls.process_new_packets() {
            // The alert tells the other side why; it is welcome to miss it.
            let _ = tls.write_tls(&mut socket);
            drain(&mut socket);
            return Err(pinned.explain(&error));
        }
        if Instant::now() > deadline {
            return Err(SessionError::Network(
                "the other side did not finish the handshake in time".into(),
            ));
        }
    }
    SecureChannel::new(socket, tls, pinned, timeouts)
}

/// Takes in what the other side still says, for a moment: a socket that is closed before would take the alert with it.
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
    fn what_is_wrong_with_an_address_is_told_apart() {
        let soon = Instant::now() + CONNECT_RETRY_DELAY;
        for page in [
            "http://127.0.0.1:7070",
            "https://clinic.example/",
            "clinic.example",
        ] {
            let error = connect_tcp(page, soon).unwrap_err();
            assert!(
                matches!(&error, SessionError::Ours(it) if it.contains("a host and a port")),
                "{error}"
            );
        }
        // This name is kept free for all time.
        let error = connect_tcp("clinic.invalid:7070", soon).unwrap_err();
        assert!(
            matches!(&error, SessionError::Network(it) if it.contains("could not be found")),
            "{error}"
        );
        let error = connect_tcp("127.0.0.1:9", soon).unwrap_err();
        assert!(
            matches!(&error, SessionError::Network(it) if it.contains("running there")),
            "{error}"
        );
    }
}

//! From an address to a channel with the one peer that is expected.

use crate::channel::SecureChannel;
use crate::limits::{HANDSHAKE, Patience};
use crate::line::{TICK, is_tick};
use crate::tls::{self, Pinned};
use crate::{Fingerprint, Identity, SessionError};
use rustls::Connection;
use std::io::{self, ErrorKind, Read};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// How long the joining side sleeps before it knocks again.
const KNOCK: Duration = Duration::from_millis(200);

/// Connections that may prove who they are at the same time.
const AT_THE_DOOR: usize = 16;

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

    /// Waits for the peer. Whoever speaks no TLS, or leaves or hesitates before it has shown a key, is a stranger: it is
    /// told of and turned away, and the wait goes on. Whoever shows another key ends it: a fingerprint is wrong.
    pub fn accept(
        self,
        identity: &Identity,
        peer: Fingerprint,
        patience: &Patience,
        stranger: &mut dyn FnMut(&SessionError),
    ) -> Result<SecureChannel, SessionError> {
        let deadline = Instant::now() + patience.arrival;
        // Each in a thread of its own: one that hesitates must not keep the true peer waiting.
        let (arrived, arrivals) = mpsc::channel();
        let mut pending = 0;
        // Whoever comes at once is not kept waiting; a long wait costs little.
        let mut nap = Duration::from_millis(1);
        while Instant::now() < deadline {
            if pending < AT_THE_DOOR
                && let Ok((socket, _)) = self.socket.accept()
            {
                pending += 1;
                let (identity, patience) = (identity.clone(), *patience);
                let arrived = arrived.clone();
                std::thread::spawn(move || {
                    let pinned = Pinned::new(peer);
                    let secured = tls::server(&identity, &pinned)
                        .and_then(|tls| secure(socket, tls, pinned, &patience));
                    // Nobody listens any more once the peer has come.
                    let _ = arrived.send(secured);
                });
            }
            match arrivals.recv_timeout(nap) {
                Err(_) => nap = (2 * nap).min(TICK / 4),
                Ok(Err(error @ (SessionError::Network(_) | SessionError::Misbehaved(_)))) => {
                    pending -= 1;
                    stranger(&error);
                }
                Ok(ended) => return ended,
            }
        }
        Err(SessionError::Network(format!(
            "the other side did not come within {} s",
            patience.arrival.as_secs()
        )))
    }
}

/// Calls the host until it answers, or too much time has gone.
pub fn join(
    address: &str,
    identity: &Identity,
    peer: Fingerprint,
    patience: &Patience,
) -> Result<SecureChannel, SessionError> {
    let deadline = Instant::now() + patience.arrival;
    let socket = loop {
        match knock(address, deadline) {
            Ok(socket) => break socket,
            Err(error @ SessionError::Ours(_)) => return Err(error),
            Err(error) if Instant::now() + KNOCK >= deadline => return Err(error),
            Err(_) => std::thread::sleep(KNOCK),
        }
    };
    join_over(socket, identity, peer, patience)
}

/// The joining side's end of a connection that stands.
pub(crate) fn join_over(
    socket: TcpStream,
    identity: &Identity,
    peer: Fingerprint,
    patience: &Patience,
) -> Result<SecureChannel, SessionError> {
    let pinned = Pinned::new(peer);
    let tls = tls::client(identity, &pinned)?;
    secure(socket, tls, pinned, patience)
}

fn knock(address: &str, deadline: Instant) -> Result<TcpStream, SessionError> {
    let unreachable = |error: io::Error| match error.kind() {
        ErrorKind::InvalidInput => SessionError::Ours(format!(
            "{address}: this is no address; it has a host and a port, as in hospital.example:7070"
        )),
        _ => SessionError::Network(format!(
            "{address}: cannot be reached: {error}\n  is `veilpath host` running there, and may this machine connect to it?"
        )),
    };
    let mut last = None;
    for address in address.to_socket_addrs().map_err(unreachable)? {
        let left = deadline.saturating_duration_since(Instant::now());
        match TcpStream::connect_timeout(&address, left.max(KNOCK)) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = Some(error),
        }
    }
    Err(unreachable(last.unwrap_or_else(|| {
        io::Error::new(ErrorKind::NotFound, "the name has no address")
    })))
}

/// The handshake, in bounded time.
fn secure(
    mut socket: TcpStream,
    mut tls: Connection,
    pinned: Arc<Pinned>,
    patience: &Patience,
) -> Result<SecureChannel, SessionError> {
    let failed = |error: io::Error| SessionError::Network(format!("the handshake failed: {error}"));
    // Some systems hand on the listener's way of not waiting.
    socket.set_nonblocking(false).map_err(failed)?;
    socket.set_nodelay(true).map_err(failed)?;
    socket.set_read_timeout(Some(TICK)).map_err(failed)?;
    socket.set_write_timeout(Some(TICK)).map_err(failed)?;
    let deadline = Instant::now() + HANDSHAKE.min(patience.silence);
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
            Err(error) if is_tick(&error) => {}
            Err(error) => return Err(failed(error)),
        }
        if let Err(error) = tls.process_new_packets() {
            // The alert tells the other side why; it is welcome to miss it.
            let _ = tls.write_tls(&mut socket);
            hear_out(&mut socket);
            return Err(pinned.explain(&error));
        }
        if Instant::now() > deadline {
            return Err(SessionError::Network(
                "the other side did not finish the handshake in time".into(),
            ));
        }
    }
    SecureChannel::new(socket, tls, pinned, patience)
}

/// Takes in what the other side still says, for a moment: a socket that is closed before would take the alert with it.
fn hear_out(socket: &mut TcpStream) {
    let _ = socket.shutdown(Shutdown::Write);
    let deadline = Instant::now() + 10 * TICK;
    let mut ignored = [0; 4096];
    while Instant::now() < deadline {
        match socket.read(&mut ignored) {
            Ok(1..) => {}
            Err(error) if is_tick(&error) => {}
            _ => return,
        }
    }
}

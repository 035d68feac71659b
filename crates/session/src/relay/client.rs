//! The client side of a relay, for the host and the joining side.

use super::{Greeting, PONG, Reply, Token};
use crate::connect::{CONNECT_RETRY_DELAY, RETRY_DELAY, connect_tcp, join_on};
use crate::connection::{POLL_INTERVAL, is_timeout};
use crate::error::{NetworkError, RelayProblem, UsageError};
use crate::limits::{Timeouts, deadline};
use crate::{Fingerprint, Identity, SecureChannel, SessionError};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use veilpath_protocol::Role;

/// How long a relay may be silent; it sends a ping every fifteen seconds.
const MAX_SILENCE: Duration = Duration::from_secs(60);

/// How long a relay has to answer a greeting.
const FIRST_REPLY_TIMEOUT: Duration = Duration::from_secs(10);

/// The pause before a host tries again to reach a relay.
const RECONNECT_DELAY: Duration = Duration::from_secs(1);

/// The stack size of a waiting thread, in bytes.
const WAITER_STACK: usize = 256 << 10;

/// A connection to a relay that has answered the greeting.
struct RelayConnection {
    socket: TcpStream,
    address: String,
    is_gateway: bool,
}

impl RelayConnection {
    /// Connects to a relay, and waits for its first answer.
    fn new(
        address: &str,
        is_gateway: bool,
        greeting: &[u8],
        deadline: Instant,
    ) -> Result<Self, SessionError> {
        let socket = connect_tcp(address, deadline)?;
        let mut connection = Self {
            socket,
            address: address.to_string(),
            is_gateway,
        };
        let failed = |_: io::Error| connection.problem(RelayProblem::Closed);
        connection.socket.set_nodelay(true).map_err(failed)?;
        let poll = Some(POLL_INTERVAL);
        connection.socket.set_read_timeout(poll).map_err(failed)?;
        connection.socket.set_write_timeout(poll).map_err(failed)?;
        let sent = (&connection.socket).write_all(greeting);
        sent.map_err(failed)?;
        let answered = deadline.min(Instant::now() + FIRST_REPLY_TIMEOUT);
        match connection.next_reply(&|| Instant::now() < answered)? {
            None => Err(connection.problem(RelayProblem::Silent)),
            // A relay pings each side before it connects two.
            Some(Reply::Ping) => Ok(connection),
            Some(_) => Err(connection.problem(RelayProblem::NotARelay)),
        }
    }

    /// Waits for the other side while `may_wait` returns true.
    fn wait(mut self, may_wait: &dyn Fn() -> bool) -> Result<Option<TcpStream>, SessionError> {
        loop {
            match self.next_reply(may_wait)? {
                None => return Ok(None),
                Some(Reply::Start) => return Ok(Some(self.socket)),
                Some(_) => {}
            }
        }
    }

    /// Waits for the next ping, which it answers, or start.
    fn next_reply(&mut self, may_wait: &dyn Fn() -> bool) -> Result<Option<Reply>, SessionError> {
        let since = Instant::now();
        while may_wait() {
            let mut byte = [0];
            match self.socket.read(&mut byte) {
                Ok(0) => return Err(self.problem(RelayProblem::Closed)),
                Ok(_) => {
                    return match Reply::from_byte(byte[0]) {
                        Some(Reply::Ping) => match self.socket.write_all(&[PONG]) {
                            Ok(()) => Ok(Some(Reply::Ping)),
                            Err(_) => Err(self.problem(RelayProblem::Closed)),
                        },
                        Some(Reply::Start) => Ok(Some(Reply::Start)),
                        Some(Reply::Full) => Err(self.problem(RelayProblem::Full)),
                        Some(Reply::Refused) => Err(self.problem(RelayProblem::Refused)),
                        Some(Reply::OtherVersion) => Err(self.problem(RelayProblem::OtherVersion)),
                        None => Err(self.problem(RelayProblem::NotARelay)),
                    };
                }
                Err(error) if is_timeout(&error) && since.elapsed() < MAX_SILENCE => {}
                Err(error) if is_timeout(&error) => {
                    return Err(self.problem(RelayProblem::Silent));
                }
                Err(_) => return Err(self.problem(RelayProblem::Closed)),
            }
        }
        Ok(None)
    }

    fn problem(&self, problem: RelayProblem) -> SessionError {
        let address = self.address.clone();
        match self.is_gateway {
            true => NetworkError::Gateway { address, problem }.into(),
            false => NetworkError::Relay { address, problem }.into(),
        }
    }
}

/// Meets the host at a relay, and tries again until the connect timeout has passed or `is_stopped` returns true: anyone
/// who knows both fingerprints can wait in the host's place, but fails the handshake.
pub fn join_at_relay(
    is_stopped: &dyn Fn() -> bool,
    address: &str,
    identity: &Identity,
    peer: Fingerprint,
    timeouts: &Timeouts,
) -> Result<SecureChannel, SessionError> {
    let greeting = Greeting {
        role: Role::Join,
        token: Token::new(&peer, &identity.fingerprint()),
        sender: None,
    };
    let handshake = |socket| join_on(socket, identity, peer, timeouts);
    let greeting = || Ok(greeting.encode().to_vec());
    meet(
        is_stopped,
        (address, false),
        &greeting,
        timeouts,
        &handshake,
    )
}

/// Meets the other side at a relay or, with `is_gateway`, at a gateway, and runs the handshake. Each attempt has a new greeting.
pub(crate) fn meet(
    is_stopped: &dyn Fn() -> bool,
    (address, is_gateway): (&str, bool),
    greeting: &dyn Fn() -> Result<Vec<u8>, SessionError>,
    timeouts: &Timeouts,
    handshake: &dyn Fn(TcpStream) -> Result<SecureChannel, SessionError>,
) -> Result<SecureChannel, SessionError> {
    let deadline = deadline(timeouts.connect);
    let may_wait = || Instant::now() < deadline && !is_stopped();
    loop {
        if is_stopped() {
            return Err(NetworkError::Stopped.into());
        }
        let met = RelayConnection::new(address, is_gateway, &greeting()?, deadline)
            .and_then(|connection| connection.wait(&may_wait));
        let (error, pause) = match met {
            Ok(None) if is_stopped() => return Err(NetworkError::Stopped.into()),
            Ok(None) => return Err(NetworkError::NoPeer(timeouts.connect).into()),
            Ok(Some(socket)) => match handshake(socket) {
                Ok(channel) => return Ok(channel),
                Err(error) => (error, RETRY_DELAY),
            },
            Err(error) if is_permanent(&error) => return Err(error),
            Err(error) => (error, CONNECT_RETRY_DELAY),
        };
        if Instant::now() + pause >= deadline {
            return Err(error);
        }
        std::thread::sleep(pause);
    }
}

/// Whether another attempt cannot succeed.
fn is_permanent(error: &SessionError) -> bool {
    match error {
        SessionError::Usage(_) => true,
        SessionError::Network(
            NetworkError::Relay { problem, .. } | NetworkError::Gateway { problem, .. },
        ) => problem.is_permanent(),
        _ => false,
    }
}

/// A host's connections to a relay, one for each peer. Once one is connected to its peer, a new one replaces it.
#[derive(Debug)]
pub(crate) struct RelayWaiters {
    sockets: Mutex<Receiver<TcpStream>>,
    stopped: Arc<AtomicBool>,
    address: SocketAddr,
}

impl RelayWaiters {
    /// Connects to the relay once, to find out whether it can be used, and then for every peer.
    pub(crate) fn start(
        address: &str,
        identity: &Identity,
        peers: &[Fingerprint],
        timeouts: &Timeouts,
    ) -> Result<Self, SessionError> {
        let host = identity.fingerprint();
        let greetings = peers.iter().map(|peer| Greeting {
            role: Role::Host,
            token: Token::new(&host, peer),
            sender: None,
        });
        let invalid = || UsageError::InvalidAddress {
            address: address.to_string(),
        };
        let mut greetings = greetings.peekable();
        let first = *greetings.peek().ok_or_else(invalid)?;
        let mut connection = Some(Self::connect_first(address, &first, timeouts)?);
        let relay = connection
            .as_ref()
            .map(|connection| connection.socket.peer_addr());
        let relay = relay.and_then(Result::ok).ok_or_else(invalid)?;
        let (queue, sockets) = sync_channel(1);
        let stopped = Arc::new(AtomicBool::new(false));
        for greeting in greetings {
            let (address, queue) = (address.to_string(), queue.clone());
            let (stopped, connection) = (Arc::clone(&stopped), connection.take());
            let wait = move || keep_waiting(&address, &greeting, connection, &queue, &stopped);
            let thread = std::thread::Builder::new().stack_size(WAITER_STACK);
            thread.spawn(wait).map_err(NetworkError::Connection)?;
        }
        Ok(Self {
            sockets: Mutex::new(sockets),
            stopped,
            address: relay,
        })
    }

    fn connect_first(
        address: &str,
        greeting: &Greeting,
        timeouts: &Timeouts,
    ) -> Result<RelayConnection, SessionError> {
        let deadline = deadline(timeouts.connect.min(FIRST_REPLY_TIMEOUT));
        loop {
            match RelayConnection::new(address, false, &greeting.encode(), deadline) {
                Err(error) if is_permanent(&error) => return Err(error),
                Err(error) if Instant::now() + CONNECT_RETRY_DELAY >= deadline => {
                    return Err(error);
                }
                Err(_) => std::thread::sleep(CONNECT_RETRY_DELAY),
                connection => return connection,
            }
        }
    }

    /// The address of the relay.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The next connection to a peer.
    pub(crate) fn accept_one(&self) -> io::Result<(TcpStream, SocketAddr)> {
        let sockets = self.sockets.lock().unwrap_or_else(PoisonError::into_inner);
        match sockets.try_recv() {
            Ok(socket) => Ok((socket, self.address)),
            Err(TryRecvError::Empty) => Err(ErrorKind::WouldBlock.into()),
            Err(TryRecvError::Disconnected) => Err(ErrorKind::NotConnected.into()),
        }
    }
}

/// Ends the waiting threads.
impl Drop for RelayWaiters {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}

/// Waits for one peer repeatedly.
fn keep_waiting(
    address: &str,
    greeting: &Greeting,
    mut connection: Option<RelayConnection>,
    queue: &SyncSender<TcpStream>,
    stopped: &AtomicBool,
) {
    let may_wait = || !stopped.load(Ordering::Relaxed);
    while may_wait() {
        let met = match connection.take() {
            Some(connection) => Ok(connection),
            None => {
                let deadline = Instant::now() + FIRST_REPLY_TIMEOUT;
                RelayConnection::new(address, false, &greeting.encode(), deadline)
            }
        };
        match met.and_then(|connection| connection.wait(&may_wait)) {
            Ok(Some(socket)) => {
                if queue.send(socket).is_err() {
                    return;
                }
            }
            Ok(None) => return,
            // The relay may come back.
            Err(_) => {
                let until = Instant::now() + RECONNECT_DELAY;
                while may_wait() && Instant::now() < until {
                    std::thread::sleep(POLL_INTERVAL);
                }
            }
        }
    }
}

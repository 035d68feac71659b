//! The relay's sockets.

use super::copy::{ClientPair, CopyLimits};
use super::copy_buffer;
use super::rendezvous::MAX_GREETINGS;
use super::{Action, GreetingFormat, RelayGreeting, Rendezvous, RendezvousLimits, Reply, Token};
use crate::connection::is_timeout;
use crate::process::OpenFiles;
use crate::throttle::{Origin, Throttle};
use crate::worker::{AgreedPlan, WorkerGreetings};
use crate::{Fingerprint, Listener, SessionError};
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Connections accepted per poll.
const MAX_ACCEPTS_PER_POLL: usize = 256;

/// How often the sockets are polled: while something happens, and otherwise.
const BUSY_POLL: Duration = Duration::from_millis(1);
const QUIET_POLL: Duration = Duration::from_millis(20);

/// Bytes that are read from a client at a time.
const READ_BYTES: usize = 512;

/// How often a waiting client is polled.
const WAITING_POLL: Duration = Duration::from_millis(250);

/// How often the number of dropped connections is reported.
const REPORT_INTERVAL: Duration = Duration::from_secs(60);

/// A relay's limits.
#[derive(Clone, Debug)]
pub struct RelayOptions {
    /// Pairs of clients that are connected at a time.
    pub connections: usize,
    /// Clients that wait for another at a time.
    pub waiting: usize,
    /// How long a connection may last without a byte in either direction.
    pub idle: Duration,
    /// How long a connection may last.
    pub total: Duration,
    /// The institutions that are served: any two of them may meet. Without a list, everybody is.
    pub allowed: Option<Vec<Fingerprint>>,
}

/// 64 connections, 512 waiting clients, ten minutes without a byte, a week altogether, everybody.
impl Default for RelayOptions {
    fn default() -> Self {
        Self {
            connections: 64,
            waiting: 512,
            idle: Duration::from_secs(600),
            total: Duration::from_secs(7 * 24 * 3600),
            allowed: None,
        }
    }
}

impl RelayOptions {
    /// Options of a gateway for this many workers of each institution at a time.
    pub fn for_workers(workers: usize) -> Self {
        let options = Self::default();
        Self {
            connections: workers,
            waiting: options.waiting.max(workers.saturating_mul(2)),
            ..options
        }
    }

    /// Files that it may have open at a time.
    fn files(&self) -> usize {
        let connected = self.connections.saturating_mul(2 + 2 * copy_buffer::FILES);
        connected
            .saturating_add(self.waiting)
            .saturating_add(MAX_GREETINGS)
    }
}

/// What happens at a relay. It contains no address of a client and no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RelayEvent {
    /// It listens.
    Listening {
        /// The relay's own address.
        address: SocketAddr,
    },
    /// Two clients were connected.
    Connected {
        /// The number of the connection.
        number: u64,
    },
    /// A connection has ended.
    Ended {
        /// The number of the connection.
        number: u64,
        /// Bytes that were copied, in both directions.
        bytes: u64,
        /// How long it lasted.
        time: Duration,
    },
    /// Connections were dropped, because there were too many.
    Dropped {
        /// How many.
        count: u64,
        /// In what time.
        within: Duration,
    },
}

/// A relay that listens.
#[derive(Debug)]
pub struct Relay {
    listener: Listener,
    limits: CopyLimits,
    throttle: Throttle,
    rendezvous: Rendezvous,
    clients: HashMap<u64, Client>,
    connections: Vec<Connection>,
    next_number: u64,
    /// Reserved while it listens.
    _files: OpenFiles,
    /// The number of unreported dropped connections, and the start of the count.
    dropped: (u64, Instant),
}

/// Two clients that are connected.
#[derive(Debug)]
struct Connection {
    number: u64,
    /// The client that hosts.
    host: u64,
    copying: ClientPair,
}

impl Connection {
    fn ended(&self) -> RelayEvent {
        let (bytes, time) = self.copying.totals();
        RelayEvent::Ended {
            number: self.number,
            bytes,
            time,
        }
    }
}

#[derive(Debug)]
struct Client {
    socket: TcpStream,
    next_read: Instant,
}

impl Relay {
    /// Listens; port 0 lets the system choose one.
    pub fn bind(address: &str, options: &RelayOptions) -> Result<Self, SessionError> {
        Self::with_format(address, options, Box::new(RelayGreeting))
    }

    /// Listens for the workers of an agreement on tiles, and connects those that have the same tile.
    pub fn gateway(
        address: &str,
        plan: &AgreedPlan,
        options: &RelayOptions,
    ) -> Result<Self, SessionError> {
        Self::with_format(address, options, Box::new(WorkerGreetings::of(plan)))
    }

    fn with_format(
        address: &str,
        options: &RelayOptions,
        format: Box<dyn GreetingFormat>,
    ) -> Result<Self, SessionError> {
        let now = Instant::now();
        let allowed = options.allowed.as_ref().map(|all| {
            let pairs = all
                .iter()
                .flat_map(|host| all.iter().map(move |join| (host, join)));
            pairs.map(|(host, join)| Token::new(host, join)).collect()
        });
        Ok(Self {
            _files: OpenFiles::reserve(options.files())?,
            listener: Listener::bind(address)?,
            limits: CopyLimits {
                idle: options.idle,
                total: options.total,
            },
            throttle: Throttle::new(now),
            rendezvous: Rendezvous::with_format(
                RendezvousLimits {
                    waiting: options.waiting,
                    connections: options.connections,
                    allowed,
                },
                format,
            ),
            clients: HashMap::new(),
            connections: Vec::new(),
            next_number: 1,
            dropped: (0, now),
        })
    }

    /// The address it listens on.
    pub fn address(&self) -> SocketAddr {
        self.listener.address()
    }

    /// Serves until it is stopped.
    pub fn run(&mut self, stop: &AtomicBool, on_event: &mut dyn FnMut(RelayEvent)) {
        let address = self.address();
        on_event(RelayEvent::Listening { address });
        while !stop.load(Ordering::Relaxed) {
            let now = Instant::now();
            let mut busy = self.accept(now);
            busy |= self.read(now);
            self.rendezvous.tick(now);
            busy |= self.perform_actions(on_event);
            self.reap(on_event);
            self.report_dropped(on_event);
            std::thread::sleep(if busy { BUSY_POLL } else { QUIET_POLL });
        }
        self.clients.clear();
        self.connections.clear();
    }

    fn accept(&mut self, now: Instant) -> bool {
        for count in 0..MAX_ACCEPTS_PER_POLL {
            match self.listener.accept_one() {
                Ok((socket, address)) => {
                    let from = Origin::of(address.ip());
                    let admitted = self.throttle.admit(from, now);
                    if !admitted || socket.set_nonblocking(true).is_err() {
                        self.dropped.0 += 1;
                        continue;
                    }
                    let _ = socket.set_nodelay(true);
                    let id = self.rendezvous.add_client(from, now);
                    let next_read = now;
                    self.clients.insert(id, Client { socket, next_read });
                }
                Err(error) if error.kind() == ErrorKind::ConnectionAborted => {}
                // There are no more, or the system is out of resources; it may recover by the next poll.
                Err(_) => return count > 0,
            }
        }
        true
    }

    /// Reads what clients have sent. Returns whether one of them is expected to send more.
    fn read(&mut self, now: Instant) -> bool {
        let (mut busy, mut closed) = (false, Vec::new());
        for (&id, client) in &mut self.clients {
            let urgent = self.rendezvous.is_urgent(id);
            busy |= urgent;
            if !urgent && client.next_read > now {
                continue;
            }
            client.next_read = now + WAITING_POLL;
            let mut bytes = [0; READ_BYTES];
            match client.socket.read(&mut bytes) {
                Ok(count @ 1..) => self.rendezvous.receive(id, &bytes[..count], now),
                Err(error) if is_timeout(&error) => {}
                _ => closed.push(id),
            }
        }
        for id in closed {
            self.clients.remove(&id);
            self.rendezvous.client_closed(id, now);
        }
        busy
    }

    fn perform_actions(&mut self, on_event: &mut dyn FnMut(RelayEvent)) -> bool {
        let actions = self.rendezvous.actions();
        let busy = !actions.is_empty();
        for action in actions {
            match action {
                Action::Send(id, reply) => self.send(id, reply),
                Action::Close(id) => {
                    self.clients.remove(&id);
                }
                Action::Connect { host, join } => self.connect(host, join, on_event),
                Action::End(host) => {
                    let of_host = |it: &Connection| it.host == host;
                    if let Some(index) = self.connections.iter().position(of_host) {
                        on_event(self.connections.swap_remove(index).ended());
                    }
                }
            }
        }
        busy
    }

    /// A byte always fits into the socket's buffer unless the client does not read. Such a client misses the byte, and
    /// so will not answer it.
    fn send(&mut self, id: u64, reply: Reply) {
        if let Some(client) = self.clients.get_mut(&id) {
            let _ = client.socket.write(&[reply.byte()]);
        }
    }

    fn connect(&mut self, host: u64, join: u64, on_event: &mut dyn FnMut(RelayEvent)) {
        let sockets = (self.clients.remove(&host), self.clients.remove(&join));
        let (Some(first), Some(second)) = sockets else {
            return self.rendezvous.pair_closed(host);
        };
        // A flood must not keep out clients that reconnect.
        let addresses = [&first, &second].map(|client| client.socket.peer_addr());
        for address in addresses.into_iter().flatten() {
            let from = Origin::of(address.ip());
            self.throttle.remember(from, Instant::now());
        }
        // If no thread can be started, both connections close and both sides reconnect.
        match ClientPair::start([first.socket, second.socket], self.limits) {
            Ok(copying) => {
                let number = self.next_number;
                self.next_number += 1;
                self.connections.push(Connection {
                    number,
                    host,
                    copying,
                });
                on_event(RelayEvent::Connected { number });
            }
            Err(_) => self.rendezvous.pair_closed(host),
        }
    }

    fn reap(&mut self, on_event: &mut dyn FnMut(RelayEvent)) {
        let rendezvous = &mut self.rendezvous;
        self.connections.retain(|connection| {
            if !connection.copying.has_ended() {
                return true;
            }
            rendezvous.pair_closed(connection.host);
            on_event(connection.ended());
            false
        });
    }

    fn report_dropped(&mut self, on_event: &mut dyn FnMut(RelayEvent)) {
        let (count, since) = self.dropped;
        let within = since.elapsed();
        if within >= REPORT_INTERVAL {
            self.dropped = (0, Instant::now());
            if count > 0 {
                on_event(RelayEvent::Dropped { count, within });
            }
        }
    }
}

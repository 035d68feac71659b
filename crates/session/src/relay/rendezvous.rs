//! Who waits at a relay, and who is connected with whom. No sockets and no clock, so that tests and fuzzing can drive it.
//!
//! | a client | may be there | at most |
//! |---|---|---|
//! | has not sent its greeting | [`GREETING_TIMEOUT`] | [`MAX_GREETINGS`] |
//! | waits | until it does not answer a ping within [`PONG_TIMEOUT`] | `waiting` |
//! | is connected | see `copy.rs` | `connections` pairs |
//!
//! A client beyond one of these limits evicts the oldest one in its state from the address that has the most. Clients
//! with the same token are connected in order of arrival, but those from addresses with the fewest of them come first:
//! a client that waits many times with a copied token cannot keep the two sides apart. `connected.rs` divides up the
//! connections. If greetings are authenticated, a sender has a limited number of connections, and waits once with each
//! token.

use super::connected::{Connected, Party, Room};
use super::{BadGreeting, Greeting, GreetingFormat, PONG, Reply, Sender, Token};
use crate::throttle::Origin;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, Instant};
use veilpath_protocol::Role;

/// How long a client has for its greeting.
const GREETING_TIMEOUT: Duration = Duration::from_secs(5);

/// Clients that have not sent their greeting.
pub(crate) const MAX_GREETINGS: usize = 64;

/// How often a waiting client is pinged. Firewalls drop connections that are idle for longer.
const PING_INTERVAL: Duration = Duration::from_secs(15);

/// How long a client has to answer a ping.
const PONG_TIMEOUT: Duration = Duration::from_secs(5);

/// A client whose last answer is older than this is pinged again before it is connected.
const MAX_PONG_AGE: Duration = Duration::from_millis(500);

/// The limits of a relay.
#[derive(Clone, Debug)]
pub(crate) struct RendezvousLimits {
    /// Clients that wait.
    pub(crate) waiting: usize,
    /// Pairs of clients that are connected.
    pub(crate) connections: usize,
    /// The tokens that are served; all, if there is no list.
    pub(crate) allowed: Option<HashSet<Token>>,
}

/// What to do with a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Send it this.
    Send(u64, Reply),
    /// Close its connection, after what was sent.
    Close(u64),
    /// Connect these two; they have been told to start.
    Connect {
        /// The client that hosts.
        host: u64,
        /// The client that joins.
        join: u64,
    },
    /// End the connection with this client as host: others need the room.
    End(u64),
}

#[derive(Debug)]
struct Client {
    from: Origin,
    since: Instant,
    state: ClientState,
}

#[derive(Debug)]
enum ClientState {
    Greeting(Vec<u8>),
    Waiting(WaitingClient),
}

#[derive(Debug)]
struct WaitingClient {
    greeting: Greeting,
    /// When it was pinged, if it has not answered.
    pinged: Option<Instant>,
    last_active: Instant,
    partner: Option<u64>,
}

/// All clients that are not connected yet.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    limits: RendezvousLimits,
    format: Box<dyn GreetingFormat>,
    clients: BTreeMap<u64, Client>,
    next_id: u64,
    connected: Connected,
    actions: Vec<Action>,
}

impl Rendezvous {
    /// A rendezvous for clients of a relay.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn new(limits: RendezvousLimits) -> Self {
        Self::with_format(limits, Box::new(super::RelayGreeting))
    }

    /// A rendezvous for clients with greetings in this format.
    pub(crate) fn with_format(limits: RendezvousLimits, format: Box<dyn GreetingFormat>) -> Self {
        Self {
            connected: Connected::new(limits.connections, format.authenticates()),
            limits,
            format,
            clients: BTreeMap::new(),
            next_id: 0,
            actions: Vec::new(),
        }
    }

    /// Adds a client that has connected; returns its number.
    pub(crate) fn add_client(&mut self, from: Origin, now: Instant) -> u64 {
        self.make_room(false, MAX_GREETINGS, now);
        let id = self.next_id;
        self.next_id += 1;
        let state = ClientState::Greeting(Vec::new());
        let since = now;
        self.clients.insert(id, Client { from, since, state });
        id
    }

    /// Handles bytes from a client. A client that sends anything but its greeting and answers to pings is closed.
    pub(crate) fn receive(&mut self, id: u64, bytes: &[u8], now: Instant) {
        for &byte in bytes {
            let Some(client) = self.clients.get_mut(&id) else {
                return;
            };
            match &mut client.state {
                ClientState::Greeting(bytes) => {
                    bytes.push(byte);
                    if let Some(greeting) = self.format.read(bytes) {
                        self.greeted(id, greeting, now);
                    }
                }
                ClientState::Waiting(waiting) => {
                    if byte != PONG || waiting.pinged.is_none() {
                        self.close(id, None, now);
                        return;
                    }
                    waiting.pinged = None;
                    waiting.last_active = now;
                    match waiting.partner {
                        Some(partner) => self.connect_if_ready(id, partner),
                        None => self.find_partner(id, now),
                    }
                }
            }
        }
    }

    /// Handles a client whose connection was closed or failed.
    pub(crate) fn client_closed(&mut self, id: u64, now: Instant) {
        self.remove(id, now);
    }

    /// Handles the end of the connected pair with this host.
    pub(crate) fn pair_closed(&mut self, host: u64) {
        self.connected.remove(host);
    }

    /// Handles timeouts and pings.
    pub(crate) fn tick(&mut self, now: Instant) {
        let (mut late, mut to_ping) = (Vec::new(), Vec::new());
        for (&id, client) in &self.clients {
            match &client.state {
                ClientState::Greeting(..) if client.since + GREETING_TIMEOUT < now => late.push(id),
                ClientState::Greeting(..) => {}
                ClientState::Waiting(waiting) => match waiting.pinged {
                    Some(since) if since + PONG_TIMEOUT < now => late.push(id),
                    None if waiting.last_active + PING_INTERVAL < now => to_ping.push(id),
                    _ => {}
                },
            }
        }
        for id in late {
            self.close(id, None, now);
        }
        for id in to_ping {
            self.ping(id, now);
        }
    }

    /// Takes the pending actions, in order.
    pub(crate) fn actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// Whether the client is about to send something.
    pub(crate) fn is_urgent(&self, id: u64) -> bool {
        self.clients
            .get(&id)
            .is_some_and(|client| match &client.state {
                ClientState::Greeting(..) => true,
                ClientState::Waiting(waiting) => waiting.pinged.is_some(),
            })
    }

    /// Clients that are not connected.
    #[cfg(any(test, feature = "fuzzing"))]
    pub(crate) fn len(&self) -> usize {
        self.clients.len()
    }

    fn greeted(&mut self, id: u64, greeting: Result<Greeting, BadGreeting>, now: Instant) {
        let greeting = match greeting {
            Ok(greeting) => greeting,
            Err(BadGreeting::OtherVersion) => {
                return self.close(id, Some(Reply::OtherVersion), now);
            }
            Err(BadGreeting::Refused) => return self.close(id, Some(Reply::Refused), now),
            Err(BadGreeting::Unknown) => return self.close(id, None, now),
        };
        let allowed = self.limits.allowed.as_ref();
        if allowed.is_some_and(|allowed| !allowed.contains(&greeting.token)) {
            return self.close(id, Some(Reply::Refused), now);
        }
        if let Some(sender) = greeting.sender {
            self.make_room_for(sender, &greeting, now);
        }
        self.make_room(true, self.limits.waiting, now);
        if let Some(client) = self.clients.get_mut(&id) {
            client.state = ClientState::Waiting(WaitingClient {
                greeting,
                pinged: None,
                last_active: now,
                partner: None,
            });
            self.ping(id, now);
        }
    }

    /// Connects a client with one that has the same token and the other role, once both have answered: the oldest one
    /// from an address with the fewest of these.
    fn find_partner(&mut self, id: u64, now: Instant) {
        let Some(greeting) = self.waiting(id).map(|waiting| waiting.greeting) else {
            return;
        };
        let matches = |(&other, client): (&u64, &Client)| match &client.state {
            ClientState::Waiting(waiting) => {
                let theirs = waiting.greeting;
                let other_role = theirs.role != greeting.role;
                let is_free = waiting.partner.is_none() && other != id;
                let is_match = is_free && other_role && theirs.token == greeting.token;
                is_match.then_some((other, client.from))
            }
            ClientState::Greeting(..) => None,
        };
        let all: Vec<(u64, Origin)> = self.clients.iter().filter_map(matches).collect();
        let counts = counts(&all);
        let first = all.iter().min_by_key(|(_, from)| counts.get(from));
        let Some(&(partner, _)) = first else {
            return;
        };
        for (client, other) in [(id, partner), (partner, id)] {
            let mut is_fresh = false;
            if let Some(waiting) = self.waiting(client) {
                waiting.partner = Some(other);
                is_fresh = waiting.last_active + MAX_PONG_AGE >= now;
            }
            // It may be gone without having closed its connection.
            if !is_fresh {
                self.ping(client, now);
            }
        }
        self.connect_if_ready(id, partner);
    }

    /// Connects two clients that both have answered.
    fn connect_if_ready(&mut self, id: u64, partner: u64) {
        let both = [id, partner];
        let is_ready = |client: &u64| match self.clients.get(client).map(|it| &it.state) {
            Some(ClientState::Waiting(waiting)) => waiting.pinged.is_none(),
            _ => false,
        };
        if !both.iter().all(is_ready) {
            return;
        }
        let [Some(one), Some(other)] = both.map(|client| self.party(client)) else {
            return;
        };
        let is_host = self.waiting(id).map(|it| it.greeting.role) == Some(Role::Host);
        let full = match self.connected.room_for([one, other]) {
            Room::Free => false,
            Room::AfterEnding(host) => {
                self.connected.remove(host);
                self.actions.push(Action::End(host));
                false
            }
            Room::None => true,
        };
        for client in both {
            self.clients.remove(&client);
            let reply = if full { Reply::Full } else { Reply::Start };
            self.actions.push(Action::Send(client, reply));
            if full {
                self.actions.push(Action::Close(client));
            }
        }
        if !full {
            let (host, join) = if is_host {
                (id, partner)
            } else {
                (partner, id)
            };
            self.connected.insert(host, [one, other]);
            self.actions.push(Action::Connect { host, join });
        }
    }

    fn party(&self, id: u64) -> Option<Party> {
        let client = self.clients.get(&id)?;
        match &client.state {
            ClientState::Greeting(..) => None,
            ClientState::Waiting(waiting) => Some(Party {
                from: client.from,
                sender: waiting.greeting.sender,
            }),
        }
    }

    /// Pings a client, unless a ping is pending.
    fn ping(&mut self, id: u64, now: Instant) {
        if let Some(waiting) = self.waiting(id)
            && waiting.pinged.is_none()
        {
            waiting.pinged = Some(now);
            self.actions.push(Action::Send(id, Reply::Ping));
        }
    }

    fn waiting(&mut self, id: u64) -> Option<&mut WaitingClient> {
        match &mut self.clients.get_mut(&id)?.state {
            ClientState::Waiting(waiting) => Some(waiting),
            ClientState::Greeting(..) => None,
        }
    }

    fn close(&mut self, id: u64, reply: Option<Reply>, now: Instant) {
        if let Some(reply) = reply {
            self.actions.push(Action::Send(id, reply));
        }
        self.actions.push(Action::Close(id));
        self.remove(id, now);
    }

    /// Removes a client; its partner waits for another one.
    fn remove(&mut self, id: u64, now: Instant) {
        let removed = self.clients.remove(&id).map(|client| client.state);
        let Some(ClientState::Waiting(waiting)) = removed else {
            return;
        };
        if let Some(partner) = waiting.partner
            && let Some(other) = self.waiting(partner)
        {
            other.partner = None;
            if other.pinged.is_none() {
                self.find_partner(partner, now);
            }
        }
    }

    /// Evicts clients of a sender that already waits with this token, or too many times.
    fn make_room_for(&mut self, sender: Sender, greeting: &Greeting, now: Instant) {
        let of_sender = |(&id, client): (&u64, &Client)| match &client.state {
            ClientState::Waiting(waiting) => {
                let theirs = waiting.greeting;
                let is_own = theirs.sender.is_some_and(|it| it.key == sender.key);
                is_own.then_some((id, theirs.token == greeting.token))
            }
            ClientState::Greeting(..) => None,
        };
        let mut waiting: Vec<(u64, bool)> = self.clients.iter().filter_map(of_sender).collect();
        // The clients are in the order of arrival; those with the same token go first.
        waiting.sort_by_key(|(_, is_same)| !is_same);
        let same = waiting.iter().filter(|(_, is_same)| *is_same).count();
        let max_waiting = sender.share(self.limits.waiting);
        let excess = (waiting.len() + 1).saturating_sub(max_waiting).max(same);
        for (id, _) in waiting.into_iter().take(excess) {
            self.close(id, Some(Reply::Full), now);
        }
    }

    /// Evicts clients until one more of this kind has room.
    fn make_room(&mut self, waiting: bool, max_clients: usize, now: Instant) {
        let is_kind = |client: &Client| waiting == matches!(client.state, ClientState::Waiting(_));
        let kind = |clients: &BTreeMap<u64, Client>| -> Vec<(u64, Origin)> {
            let kind = clients.iter().filter(|(_, client)| is_kind(client));
            kind.map(|(&id, client)| (id, client.from)).collect()
        };
        let mut present = kind(&self.clients);
        while present.len() >= max_clients.max(1) {
            let counts = counts(&present);
            let largest = counts.values().copied().max();
            // The clients are in the order of arrival.
            let oldest = present
                .iter()
                .position(|(_, from)| counts.get(from).copied() == largest);
            let Some(index) = oldest else {
                return;
            };
            let (id, _) = present.remove(index);
            self.close(id, waiting.then_some(Reply::Full), now);
        }
    }
}

/// The number of clients of each address.
fn counts(clients: &[(u64, Origin)]) -> HashMap<Origin, usize> {
    let mut counts = HashMap::new();
    for (_, from) in clients {
        *counts.entry(*from).or_default() += 1;
    }
    counts
}

//! A blind relay: connects two sides that can only dial out.
//!
//! ```text
//! host                      relay                       join
//!  │── greeting, token ────▶│◀──────── greeting, token ──│   in any order
//!  │◀─ ping ── pong ───────▶│◀─────── pong ── ping ──────│   at once, while they wait, and before they are connected
//!  │◀─ start ───────────────│─────────────── start ─────▶│   same token, other role, and both have just answered
//!  │◀═══════════ TLS 1.3 between the pinned keys ═══════▶│   the relay copies bytes
//! ```
//!
//! The relay has no key and authenticates nobody. It sees when two sides meet, their addresses, and how many bytes they
//! exchange. The token is a hash of both fingerprints: someone who knows both can recognise it, and can wait with it.
//! All that this achieves is a failed TLS handshake. Then both sides try again, and clients from addresses with the
//! fewest clients come first. TLS 1.3 encrypts the keys of both sides.
//!
//! Everything is bounded ([`RelayOptions`], `rendezvous.rs`): connections that have not sent their greeting, those that wait,
//! those that are connected (`connected.rs`), and how long each may last.
//!
//! # Bytes
//! A side sends 41 bytes: `VPRELAY`, the version 1, its role (0 host, 1 join), and a token of 32 bytes, the SHA-256
//! hash of `veilpath relay token 1`, the host's fingerprint and the joining side's. The relay answers with single
//! bytes: 1 (ping), to which the side answers 1 within 5 s; 2 (start); 16 (full), 17 (not served here) or 18 (another
//! version), after which it closes. The first byte is a ping or a refusal. After start everything goes to and comes
//! from the other side. A side that sends anything else before start is disconnected.

mod client;
mod connected;
mod copy;
mod copy_buffer;
mod rendezvous;
mod server;

pub use client::join_at_relay;
pub(crate) use client::{RelayWaiters, meet};
pub(crate) use rendezvous::{Action, Rendezvous, RendezvousLimits};
pub use server::{Relay, RelayEvent, RelayOptions};

use crate::Fingerprint;
use ring::digest::{Context, SHA256};
use veilpath_protocol::Role;

/// What a greeting starts with; the last byte is the version.
const MAGIC: [u8; 8] = *b"VPRELAY\x01";

/// Bytes of a greeting.
pub(crate) const GREETING: usize = MAGIC.len() + 1 + 32;

/// A client's answer to a ping.
pub(crate) const PONG: u8 = 1;

/// A reply of the relay, one byte each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// A keep-alive that the client must answer.
    Ping,
    /// From now on bytes go to and come from the other side.
    Start,
    /// There are too many connections.
    Full,
    /// The relay does not serve these two sides.
    Refused,
    /// The relay has another version.
    OtherVersion,
}

impl Reply {
    const ALL: [(Reply, u8); 5] = [
        (Reply::Ping, 1),
        (Reply::Start, 2),
        (Reply::Full, 16),
        (Reply::Refused, 17),
        (Reply::OtherVersion, 18),
    ];

    pub(crate) fn byte(self) -> u8 {
        let entry = Self::ALL.iter().find(|(reply, _)| *reply == self);
        entry.map_or(0, |(_, byte)| *byte)
    }

    pub(crate) fn from_byte(byte: u8) -> Option<Self> {
        let entry = Self::ALL.iter().find(|(_, other)| *other == byte);
        entry.map(|(reply, _)| *reply)
    }
}

/// Where two sides meet: a hash of their fingerprints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Token([u8; 32]);

impl Token {
    /// From a SHA-256 hash.
    pub(crate) fn of_digest(digest: &ring::digest::Digest) -> Self {
        let mut token = [0; 32];
        token.copy_from_slice(digest.as_ref());
        Self(token)
    }

    pub(crate) fn new(host: &Fingerprint, join: &Fingerprint) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(b"veilpath relay token 1");
        context.update(host.bytes());
        context.update(join.bytes());
        let mut token = [0; 32];
        token.copy_from_slice(context.finish().as_ref());
        Self(token)
    }
}

/// A client's first message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Greeting {
    pub(crate) role: Role,
    pub(crate) token: Token,
    /// The sender, if greetings are authenticated.
    pub(crate) sender: Option<Sender>,
}

/// The authenticated sender of a greeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sender {
    pub(crate) key: Fingerprint,
    /// How many connections it may have: one for each tile that it may compute, and some more.
    pub(crate) max_connections: usize,
}

/// Why a greeting was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BadGreeting {
    /// It is another protocol.
    Unknown,
    /// It is another version of this one.
    OtherVersion,
    /// The sender is not served.
    Refused,
}

/// The format of greetings.
pub(crate) trait GreetingFormat: Send + std::fmt::Debug {
    /// The greeting in these bytes, once there are enough of them. No bytes are added after that.
    fn read(&mut self, bytes: &[u8]) -> Option<Result<Greeting, BadGreeting>>;

    /// Whether greetings are authenticated.
    fn authenticates(&self) -> bool {
        false
    }
}

/// The greeting of a relay.
#[derive(Debug)]
struct RelayGreeting;

impl GreetingFormat for RelayGreeting {
    fn read(&mut self, bytes: &[u8]) -> Option<Result<Greeting, BadGreeting>> {
        bytes.try_into().ok().map(Greeting::decode)
    }
}

impl Greeting {
    pub(crate) fn encode(&self) -> [u8; GREETING] {
        let mut bytes = [0; GREETING];
        let (magic, rest) = bytes.split_at_mut(MAGIC.len());
        magic.copy_from_slice(&MAGIC);
        rest[0] = match self.role {
            Role::Host => 0,
            Role::Join => 1,
        };
        rest[1..].copy_from_slice(&self.token.0);
        bytes
    }

    pub(crate) fn decode(bytes: &[u8; GREETING]) -> Result<Self, BadGreeting> {
        let (magic, rest) = bytes.split_at(MAGIC.len());
        let name = MAGIC.len() - 1;
        if magic[..name] != MAGIC[..name] {
            return Err(BadGreeting::Unknown);
        }
        if magic != MAGIC {
            return Err(BadGreeting::OtherVersion);
        }
        let role = match rest[0] {
            0 => Role::Host,
            1 => Role::Join,
            _ => return Err(BadGreeting::Unknown),
        };
        let mut token = [0; 32];
        token.copy_from_slice(&rest[1..]);
        let token = Token(token);
        Ok(Self {
            role,
            token,
            sender: None,
        })
    }
}

#[cfg(test)]
mod tests;

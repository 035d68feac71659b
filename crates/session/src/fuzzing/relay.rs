//! What clients of a relay can send, and when.

use crate::Fingerprint;
use crate::relay::{Action, GREETING, Greeting, Rendezvous, RendezvousLimits, Reply, Token};
use crate::throttle::Origin;
use std::collections::{HashMap, HashSet};
use std::net::{IpAddr, Ipv4Addr};
use std::time::{Duration, Instant};
use veilpath_protocol::Role;

/// The most clients that wait, and the most pairs that are connected.
const LIMITS: (usize, usize) = (5, 2);

/// The most clients that have not sent a greeting.
const MAX_GREETINGS: usize = 64;

/// Drives a relay: each step is a byte for what happens, a byte for the client, and its data. Panics if a relay breaks
/// an invariant. Returns how many pairs were connected.
pub fn relay(mut bytes: &[u8]) -> usize {
    let (waiting, connections) = LIMITS;
    let allowed = None;
    let mut relay = Rendezvous::new(RendezvousLimits {
        waiting,
        connections,
        allowed,
    });
    let mut now = Instant::now();
    let (mut clients, mut closed) = (Vec::new(), HashSet::new());
    let mut unanswered: HashMap<u64, u64> = HashMap::new();
    let (mut total, mut connected) = (0, Vec::new());
    while let [step, index, rest @ ..] = bytes {
        bytes = rest;
        let client = match clients.len() {
            0 => 0,
            count => clients[usize::from(*index) % count],
        };
        match step % 8 {
            0 => clients.push(relay.add_client(origin(*index), now)),
            1 => relay.client_closed(client, now),
            2 => {
                now += Duration::from_millis(u64::from(*index) * 100);
                relay.tick(now);
            }
            3 => {
                if let Some(host) = connected.pop() {
                    relay.pair_closed(host);
                }
            }
            4 => relay.receive(client, &[1], now),
            // A valid greeting except for its last byte.
            5 => {
                let mut greeting = [0; GREETING];
                greeting[..8].copy_from_slice(b"VPRELAY\x01");
                greeting[8] = step >> 7;
                greeting[GREETING - 1] = (step >> 3) % 3;
                relay.receive(client, &greeting, now);
            }
            _ => {
                let count = usize::from(step >> 3).min(bytes.len());
                let (sent, rest) = bytes.split_at(count);
                bytes = rest;
                relay.receive(client, sent, now);
            }
        }
        for action in relay.actions() {
            match action {
                Action::Send(id, reply) => {
                    assert!(!closed.contains(&id), "nothing follows a close");
                    if reply == Reply::Ping {
                        *unanswered.entry(id).or_default() += 1;
                    }
                }
                Action::Close(id) => assert!(closed.insert(id), "closed once"),
                Action::End(host) => connected.retain(|&it| it != host),
                Action::Connect { host, join } => {
                    for id in [host, join] {
                        assert!(closed.insert(id), "connected once");
                        assert!(unanswered.contains_key(&id), "both were asked");
                    }
                    total += 1;
                    connected.push(host);
                }
            }
        }
        assert!(connected.len() <= connections, "no more than allowed");
        assert!(relay.len() <= waiting + MAX_GREETINGS, "bounded");
    }
    total
}

/// The greeting with which a side waits for the other at a relay.
pub fn relay_greeting(role: Role, host: &Fingerprint, join: &Fingerprint) -> Vec<u8> {
    let token = Token::new(host, join);
    let sender = None;
    let greeting = Greeting {
        role,
        token,
        sender,
    };
    greeting.encode().to_vec()
}

fn origin(index: u8) -> Origin {
    Origin::of(IpAddr::V4(Ipv4Addr::new(192, 0, 2, index % 3)))
}

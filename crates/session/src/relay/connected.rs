//! The clients that a relay has connected, and whether it may connect two more.
//!
//! A connection may last for a week, so neither an address nor a sender may have all of them. If greetings are not
//! authenticated, an address takes part in at most half of the connections. When all are taken, two clients from
//! addresses with few connections displace the oldest connection of the address with the most. So keeping others out
//! takes about as many addresses as there are connections. If greetings are authenticated, many workers may share an
//! address, and the limits apply to senders instead.

use super::Sender;
use crate::throttle::Origin;
use std::collections::{BTreeMap, HashMap};

/// One of two clients that are connected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Party {
    pub(super) from: Origin,
    pub(super) sender: Option<Sender>,
}

/// Whether there is room for a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// Yes.
    Free,
    /// Yes, once the connection with this host has ended.
    AfterEnding(u64),
    /// No.
    None,
}

/// The clients that are connected.
#[derive(Debug)]
pub(super) struct Connected {
    max_pairs: usize,
    /// Whether greetings are authenticated.
    is_authenticated: bool,
    /// Keyed by the number of the hosting client, so the oldest come first.
    pairs: BTreeMap<u64, [Party; 2]>,
}

impl Connected {
    pub(super) fn new(max_pairs: usize, is_authenticated: bool) -> Self {
        Self {
            max_pairs,
            is_authenticated,
            pairs: BTreeMap::new(),
        }
    }

    pub(super) fn insert(&mut self, host: u64, parties: [Party; 2]) {
        self.pairs.insert(host, parties);
    }

    pub(super) fn remove(&mut self, host: u64) {
        self.pairs.remove(&host);
    }

    /// Whether these two clients can be connected now.
    pub(super) fn room_for(&self, parties: [Party; 2]) -> Room {
        let counts = self.counts();
        let of = |party: &Party| counts.get(&party.from).copied().unwrap_or(0);
        let own = parties.iter().map(of).max().unwrap_or(0);
        let has_its_share = match self.is_authenticated {
            true => parties.iter().any(|party| self.sender_has_its_share(party)),
            false => own >= self.max_pairs.div_ceil(2),
        };
        if has_its_share {
            return Room::None;
        }
        if self.pairs.len() < self.max_pairs {
            return Room::Free;
        }
        let largest = counts.values().copied().max().unwrap_or(0);
        // Two addresses with equally many connections must not displace each other in turn.
        if self.is_authenticated || own + 1 >= largest {
            return Room::None;
        }
        let has_most = |both: &[Party; 2]| both.iter().any(|party| of(party) == largest);
        let oldest = self.pairs.iter().find(|(_, both)| has_most(both));
        oldest.map_or(Room::None, |(&host, _)| Room::AfterEnding(host))
    }

    fn sender_has_its_share(&self, party: &Party) -> bool {
        let Some(sender) = party.sender else {
            return false;
        };
        let is_own = |other: &Party| other.sender.is_some_and(|it| it.key == sender.key);
        let pairs = self.pairs.values();
        let taken = pairs.filter(|both| both.iter().any(is_own)).count();
        taken >= sender.share(self.max_pairs)
    }

    /// The number of connections that each address takes part in.
    fn counts(&self) -> HashMap<Origin, usize> {
        let mut counts = HashMap::new();
        for [one, other] in self.pairs.values() {
            *counts.entry(one.from).or_default() += 1;
            if other.from != one.from {
                *counts.entry(other.from).or_default() += 1;
            }
        }
        counts
    }
}

impl Sender {
    /// How many of all connections this sender may take, so that a stolen key does not keep all others out.
    pub(super) fn share(self, all: usize) -> usize {
        self.max_connections.min(all.div_ceil(2)).max(1)
    }
}

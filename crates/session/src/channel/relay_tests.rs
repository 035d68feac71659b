//! Whole sessions through a relay that has both keys: it ends one encrypted connection, opens another, and corrupts one packet
//! between them. Neither side may finish with a wrong score or store one in its journal; a second run gives the right ones.
//!
//! `VEILPATH_FAULTS=long` corrupts every packet of every session, in each way; otherwise some.

use super::*;
use crate::{
    AlphabetInfo, CompletedSession, Identity, Listener, Proposal, Session, StateDir, join,
};
use std::collections::BTreeMap;
use std::time::Duration;
use tempfile::TempDir;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric};
use veilpath_protocol::{
    Engine, KeySize, PaillierOptions, PairRule, Results, Role, Spec, compare_locally,
};

/// Each connection has its own keep-alives: only the stall timeout ends a wait here.
const TIMEOUTS: Timeouts = Timeouts {
    idle: Duration::from_millis(1500),
    stall: Duration::from_millis(1500),
    connect: Duration::from_secs(10),
};

/// Magic and version, before the packets.
const OPENING: usize = 10;

/// Bytes before a packet's content.
const HEADER: usize = 12;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Damage {
    Cut,
    BitTurned,
    Repeated,
    SwappedWithNext,
}

#[derive(Clone, Copy, Debug)]
struct Fault {
    /// The side that sends the packet.
    from: Role,
    packet: usize,
    damage: Damage,
    position: usize,
}

/// One direction of a relay: forwards everything, packet by packet, and counts the packets.
struct RelayDirection {
    connection: Arc<SharedConnection>,
    opened: bool,
    received: Vec<u8>,
    held: Option<Vec<u8>>,
    packets: usize,
    fault: Option<Fault>,
}

impl RelayDirection {
    fn carry(mut self, from: &QueueReceiver<Result<Vec<u8>, ChannelError>>) -> usize {
        while let Ok(Ok(bytes)) = from.receive(None) {
            self.received.extend(bytes);
            while let Some(length) = self.complete() {
                let rest = self.received.split_off(length);
                let packet = std::mem::replace(&mut self.received, rest);
                if self.forward(packet).is_none() {
                    return self.packets;
                }
            }
        }
        self.packets
    }

    /// The length of the next packet, once it is complete.
    fn complete(&self) -> Option<usize> {
        let length = match self.opened {
            false => OPENING,
            true => {
                let length = self.received.first_chunk::<4>()?;
                HEADER + u32::from_le_bytes(*length) as usize
            }
        };
        (self.received.len() >= length).then_some(length)
    }

    fn forward(&mut self, mut packet: Vec<u8>) -> Option<()> {
        if !self.opened {
            self.opened = true;
            return self.write(&packet);
        }
        let fault = self.fault.filter(|fault| fault.packet == self.packets);
        self.packets += 1;
        let held = self.held.take();
        if let Some(fault) = fault {
            match fault.damage {
                Damage::Cut => packet.truncate(1 + fault.position % (packet.len() - 1)),
                Damage::BitTurned => {
                    let bit = fault.position % (8 * packet.len());
                    packet[bit / 8] ^= 1 << (bit % 8);
                }
                Damage::Repeated => packet.extend_from_within(..),
                Damage::SwappedWithNext => {
                    self.held = Some(packet);
                    return Some(());
                }
            }
        }
        self.write(&packet)?;
        held.map_or(Some(()), |held| self.write(&held))
    }

    fn write(&self, bytes: &[u8]) -> Option<()> {
        let written = bytes
            .chunks(MAX_FRAME)
            .try_for_each(|bytes| self.connection.write(Kind::Data, bytes));
        written.ok()
    }
}

/// Two institutions with their state folders, and the plan.
struct Setup {
    folders: [TempDir; 2],
    identities: [Identity; 2],
    spec: Spec,
    cohorts: [Cohort; 2],
    expected: Results,
}

type BothSessions = [Result<CompletedSession, SessionError>; 2];

impl Setup {
    fn new(engine: Engine, reveal: &str) -> Self {
        let alphabet = Alphabet::letters(6).unwrap();
        let cohort = |rows: [&str; 2]| Cohort {
            alphabet,
            encoding: Encoding::default(),
            screen: None,
            entries: rows
                .iter()
                .map(|text| Entry {
                    participant: format!("P-{text}"),
                    group: None,
                    stimulus: None,
                    scanpath: alphabet.parse(text).unwrap(),
                    fixations: None,
                })
                .collect(),
        };
        let cohorts = [cohort(["ABCDEF", "FAB"]), cohort(["ACCEDA", "BB"])];
        let [a, b] = &cohorts;
        let mut spec = Spec::new(engine, Metric::Levenshtein, PairRule::All, a, b).unwrap();
        spec.reveal = reveal.parse().unwrap();
        let plain = Spec {
            engine: Engine::Plain,
            ..spec.clone()
        };
        let expected = compare_locally(plain, a, b, &()).unwrap();
        Self {
            folders: [(); 2].map(|()| tempfile::tempdir().unwrap()),
            identities: [(); 2].map(|()| Identity::ephemeral().unwrap()),
            spec,
            expected: expected.results,
            cohorts,
        }
    }

    fn remove_state(&mut self) {
        self.folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    }

    /// A connection between the two.
    fn connected(&self) -> [SecureChannel; 2] {
        let [a, b] = &self.identities;
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                listener.accept(a, b.fingerprint(), &TIMEOUTS, &mut |error| {
                    panic!("{error}")
                })
            });
            let join = join(&address, b, a.fingerprint(), &TIMEOUTS).unwrap();
            [host.join().unwrap().unwrap(), join]
        })
    }

    fn side(&self, role: Role, channel: SecureChannel) -> Result<CompletedSession, SessionError> {
        let side = usize::from(role == Role::Join);
        let alphabet = AlphabetInfo {
            named: None,
            declared: None,
            read_as: self.cohorts[side].alphabet,
            grid: None,
        };
        let plan = Proposal {
            auto_engine: false,
            spec: self.spec.clone(),
            cohort: self.cohorts[side].clone(),
            pseudonyms: false,
            estimate_only: false,
            fresh: false,
            limit_per_scanpath: crate::ScanpathLimit::Unlimited,
            declared_letters: None,
            disclosure: crate::DisclosureLimits::default(),
            memory: None,
            tile: None,
            tile_count: None,
            key: None,
        };
        let (own, peer) = (&self.identities[side], &self.identities[1 - side]);
        let peer = peer.fingerprint();
        let opened = Session::open(channel, role, own, peer, &alphabet, TIMEOUTS)?;
        let state_dir = StateDir::at(self.folders[side].path());
        opened
            .0
            .agree(plan, Some(&state_dir), &mut |_| ())?
            .run(&())
    }

    fn run(&self, [host, join]: [SecureChannel; 2]) -> BothSessions {
        std::thread::scope(|scope| {
            let host = scope.spawn(|| self.side(Role::Host, host));
            let join = self.side(Role::Join, join);
            [host.join().unwrap(), join]
        })
    }

    /// Runs both sides through a relay; also returns how many packets each side sent.
    fn relayed(&self, fault: Option<Fault>) -> (BothSessions, [usize; 2]) {
        let ([host, mut to_host], [mut to_join, join]) = (self.connected(), self.connected());
        let carried = |connection: Arc<SharedConnection>, from: Role| RelayDirection {
            connection,
            opened: false,
            received: Vec::new(),
            held: None,
            packets: 0,
            fault: fault.filter(|fault| fault.from == from),
        };
        let from_host = carried(to_join.connection(), Role::Host);
        let from_join = carried(to_host.connection(), Role::Join);
        let hosts_words = to_host.incoming.take().unwrap();
        let joins_words = to_join.incoming.take().unwrap();
        std::thread::scope(|scope| {
            // A side that disconnects also ends the other connection of the relay.
            let from_host = scope.spawn(move || {
                let packets = from_host.carry(&hosts_words);
                drop(to_join);
                packets
            });
            let from_join = scope.spawn(move || {
                let packets = from_join.carry(&joins_words);
                drop(to_host);
                packets
            });
            let ends = self.run([host, join]);
            (ends, [from_host, from_join].map(|way| way.join().unwrap()))
        })
    }
}

fn is_long() -> bool {
    std::env::var("VEILPATH_FAULTS").is_ok_and(|value| value == "long")
}

#[test]
fn a_relay_that_corrupts_packets_causes_no_wrong_score() {
    let key = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let mut plans = vec![(Engine::Garbled, "score"), (Engine::Shares, "score")];
    if is_long() {
        plans.extend([
            (Engine::Plain, "score"),
            (Engine::Plain, "threshold:4"),
            (Engine::Paillier(key.with_batch(6).unwrap()), "score"),
            (Engine::Garbled, "threshold:4"),
            (Engine::Shares, "threshold:4"),
        ]);
    }
    // These mostly wait: all plans run at once.
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let plans: Vec<_> = plans
            .into_iter()
            .map(|(engine, reveal)| scope.spawn(move || corrupt_all(engine, reveal)))
            .collect();
        let result = plans.into_iter().map(|plan| plan.join().unwrap());
        result.collect()
    });
    let mut all = Tally::new();
    for (end, count) in tallies.into_iter().flatten() {
        *all.entry(end).or_insert(0) += count;
    }
    let cases = all.values().sum::<u32>() / 2;
    eprintln!(
        "a relay with both keys: {cases} cases, each with two sides that ended so, and right when run again:"
    );
    for ((damage, end), count) in all {
        eprintln!("  {damage:?}: {count} × {end}");
    }
}

/// The number of sides by fault and by how they ended.
type Tally = BTreeMap<(Damage, &'static str), u32>;

/// Runs one session for each fault.
fn corrupt_all(engine: Engine, reveal: &str) -> Tally {
    let mut tally = Tally::new();
    let mut setup = Setup::new(engine, reveal);
    let (ends, packets) = setup.relayed(None);
    for end in ends {
        assert_eq!(end.unwrap().outcome.results, setup.expected);
    }
    for fault in faults(packets) {
        setup.remove_state();
        for end in setup.relayed(Some(fault)).0 {
            let name = match end {
                Err(_) => "error",
                Ok(result) => {
                    let results = result.outcome.results;
                    assert_eq!(results, setup.expected, "{fault:?}");
                    "right"
                }
            };
            *tally.entry((fault.damage, name)).or_insert(0) += 1;
        }
        for end in setup.run(setup.connected()) {
            let results = end.unwrap().outcome.results;
            assert_eq!(results, setup.expected, "after {fault:?}");
        }
    }
    tally
}

/// All faults for this many packets of each side.
fn faults(packets: [usize; 2]) -> Vec<Fault> {
    let ways = [
        Damage::BitTurned,
        Damage::Repeated,
        Damage::SwappedWithNext,
        Damage::Cut,
    ];
    let mut faults = Vec::new();
    for (from, count) in [Role::Host, Role::Join].into_iter().zip(packets) {
        for packet in 0..count {
            for (number, damage) in ways.into_iter().enumerate() {
                // A truncation or a swap makes both sides wait, so the short run has one of each.
                let of_short = match damage {
                    Damage::Cut => (from, packet) == (Role::Host, 1),
                    Damage::SwappedWithNext => (from, packet) == (Role::Join, 6),
                    _ => packet % 24 == 2 + 9 * number,
                };
                if is_long() || of_short {
                    faults.push(Fault {
                        from,
                        packet,
                        damage,
                        position: 7919 * (packet + 1) + 31 * number,
                    });
                }
            }
        }
    }
    faults
}

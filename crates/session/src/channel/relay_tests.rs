//! Whole sessions through a relay that has both keys: it ends one encrypted connection, begins another, and damages one parcel
//! between them. Neither side may end with a wrong score or keep one in its journal; running both again ends with the right ones.
//!
//! `VEILPATH_FAULTS=long` damages every parcel of every session, in each way; otherwise some.

use super::*;
use crate::{Conversation, Ended, Home, Identity, Letters, Listener, Plan, join};
use std::collections::BTreeMap;
use std::time::Duration;
use tempfile::TempDir;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric};
use veilpath_protocol::{
    Answer, Engine, KeySize, PaillierOptions, PairRule, Role, Spec, compare_here,
};

/// Signs of life come through each connection by themselves: only a stall ends a wait here.
const PATIENCE: Patience = Patience {
    silence: Duration::from_millis(1500),
    stall: Duration::from_millis(1500),
    arrival: Duration::from_secs(10),
};

/// Magic and version, before the parcels.
const OPENING: usize = 10;

/// Bytes before a parcel's content.
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
    /// Whose parcel.
    from: Role,
    parcel: usize,
    damage: Damage,
    place: usize,
}

/// What a relay carries one way: hands on all it hears, parcel by parcel, and gives the number of parcels.
struct Carried {
    line: Arc<Line>,
    opened: bool,
    heard: Vec<u8>,
    held: Option<Vec<u8>>,
    parcels: usize,
    fault: Option<Fault>,
}

impl Carried {
    fn carry(mut self, from: &Receiver<Result<Vec<u8>, ChannelError>>) -> usize {
        while let Ok(Ok(bytes)) = from.recv() {
            self.heard.extend(bytes);
            while let Some(length) = self.whole() {
                let rest = self.heard.split_off(length);
                let parcel = std::mem::replace(&mut self.heard, rest);
                if self.hand_on(parcel).is_none() {
                    return self.parcels;
                }
            }
        }
        self.parcels
    }

    /// The length of the next thing, once it is there.
    fn whole(&self) -> Option<usize> {
        let length = match self.opened {
            false => OPENING,
            true => {
                let length = self.heard.first_chunk::<4>()?;
                HEADER + u32::from_le_bytes(*length) as usize
            }
        };
        (self.heard.len() >= length).then_some(length)
    }

    fn hand_on(&mut self, mut parcel: Vec<u8>) -> Option<()> {
        if !self.opened {
            self.opened = true;
            return self.say(&parcel);
        }
        let fault = self.fault.filter(|fault| fault.parcel == self.parcels);
        self.parcels += 1;
        let held = self.held.take();
        if let Some(fault) = fault {
            match fault.damage {
                Damage::Cut => parcel.truncate(1 + fault.place % (parcel.len() - 1)),
                Damage::BitTurned => {
                    let bit = fault.place % (8 * parcel.len());
                    parcel[bit / 8] ^= 1 << (bit % 8);
                }
                Damage::Repeated => parcel.extend_from_within(..),
                Damage::SwappedWithNext => {
                    self.held = Some(parcel);
                    return Some(());
                }
            }
        }
        self.say(&parcel)?;
        held.map_or(Some(()), |held| self.say(&held))
    }

    fn say(&self, bytes: &[u8]) -> Option<()> {
        let written = bytes
            .chunks(MAX_FRAME)
            .try_for_each(|bytes| self.line.write(Kind::Data, bytes));
        written.ok()
    }
}

/// Two institutions with what they keep, and the plan.
struct World {
    folders: [TempDir; 2],
    identities: [Identity; 2],
    spec: Spec,
    cohorts: [Cohort; 2],
    expected: Vec<Answer>,
}

type Ends = [Result<Ended, SessionError>; 2];

impl World {
    fn new(engine: Engine, reveal: &str) -> Self {
        let alphabet = Alphabet::letters(6).unwrap();
        let cohort = |rows: [&str; 2]| Cohort {
            alphabet,
            encoding: Encoding::default(),
            entries: rows
                .iter()
                .map(|text| Entry {
                    participant: format!("P-{text}"),
                    stimulus: None,
                    scanpath: alphabet.parse(text).unwrap(),
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
        let expected = compare_here(plain, a, b, &()).unwrap();
        Self {
            folders: [(); 2].map(|()| tempfile::tempdir().unwrap()),
            identities: [(); 2].map(|()| Identity::ephemeral().unwrap()),
            spec,
            expected: answers(&expected.results),
            cohorts,
        }
    }

    fn forget(&mut self) {
        self.folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
    }

    /// A connection between the two.
    fn connected(&self) -> [SecureChannel; 2] {
        let [a, b] = &self.identities;
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                listener.accept(a, b.fingerprint(), &PATIENCE, &mut |error| {
                    panic!("{error}")
                })
            });
            let join = join(&address, b, a.fingerprint(), &PATIENCE).unwrap();
            [host.join().unwrap().unwrap(), join]
        })
    }

    fn side(&self, role: Role, channel: SecureChannel) -> Result<Ended, SessionError> {
        let side = usize::from(role == Role::Join);
        let letters = Letters {
            named: None,
            declared: None,
            read_as: self.cohorts[side].alphabet,
            grid: None,
        };
        let plan = Plan {
            spec: self.spec.clone(),
            cohort: self.cohorts[side].clone(),
            pseudonyms: false,
            estimate_only: false,
            fresh: false,
            limit_per_scanpath: None,
            key: None,
        };
        let (own, peer) = (&self.identities[side], &self.identities[1 - side]);
        let peer = peer.fingerprint();
        let greeted = Conversation::greet(channel, role, own, peer, &letters, PATIENCE)?;
        let home = Home::at(self.folders[side].path());
        greeted.0.agree(plan, Some(&home))?.run(&())
    }

    fn run(&self, [host, join]: [SecureChannel; 2]) -> Ends {
        std::thread::scope(|scope| {
            let host = scope.spawn(|| self.side(Role::Host, host));
            let join = self.side(Role::Join, join);
            [host.join().unwrap(), join]
        })
    }

    /// Through a relay; also gives how many parcels each side sent.
    fn relayed(&self, fault: Option<Fault>) -> (Ends, [usize; 2]) {
        let ([host, mut to_host], [mut to_join, join]) = (self.connected(), self.connected());
        let carried = |line: Arc<Line>, from: Role| Carried {
            line,
            opened: false,
            heard: Vec::new(),
            held: None,
            parcels: 0,
            fault: fault.filter(|fault| fault.from == from),
        };
        let from_host = carried(to_join.line(), Role::Host);
        let from_join = carried(to_host.line(), Role::Join);
        let hosts_words = to_host.incoming.take().unwrap();
        let joins_words = to_join.incoming.take().unwrap();
        std::thread::scope(|scope| {
            // Whoever leaves takes the other end of the relay along.
            let from_host = scope.spawn(move || {
                let parcels = from_host.carry(&hosts_words);
                drop(to_join);
                parcels
            });
            let from_join = scope.spawn(move || {
                let parcels = from_join.carry(&joins_words);
                drop(to_host);
                parcels
            });
            let ends = self.run([host, join]);
            (ends, [from_host, from_join].map(|way| way.join().unwrap()))
        })
    }
}

fn answers(results: &[veilpath_protocol::Scored]) -> Vec<Answer> {
    results.iter().map(|scored| scored.answer).collect()
}

fn is_long() -> bool {
    std::env::var("VEILPATH_FAULTS").is_ok_and(|wish| wish == "long")
}

#[test]
fn a_relay_that_damages_parcels_gives_nobody_a_wrong_score() {
    let key = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let mut plans = vec![(Engine::Garbled, "score")];
    if is_long() {
        plans.extend([
            (Engine::Plain, "score"),
            (Engine::Plain, "threshold:4"),
            (Engine::Paillier(key.with_batch(6).unwrap()), "score"),
            (Engine::Garbled, "threshold:4"),
        ]);
    }
    // Mostly waits for others: all plans at once.
    let tallies: Vec<Tally> = std::thread::scope(|scope| {
        let plans: Vec<_> = plans
            .into_iter()
            .map(|(engine, reveal)| scope.spawn(move || damage_all(engine, reveal)))
            .collect();
        let ended = plans.into_iter().map(|plan| plan.join().unwrap());
        ended.collect()
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

/// How many sides ended how, by damage.
type Tally = BTreeMap<(Damage, &'static str), u32>;

/// Damages the parcels of one session after the other.
fn damage_all(engine: Engine, reveal: &str) -> Tally {
    let mut tally = Tally::new();
    let mut world = World::new(engine, reveal);
    let (ends, parcels) = world.relayed(None);
    for end in ends {
        assert_eq!(answers(&end.unwrap().outcome.results), world.expected);
    }
    for fault in faults(parcels) {
        world.forget();
        for end in world.relayed(Some(fault)).0 {
            let name = match end {
                Err(_) => "error",
                Ok(ended) => {
                    let results = answers(&ended.outcome.results);
                    assert_eq!(results, world.expected, "{fault:?}");
                    "right"
                }
            };
            *tally.entry((fault.damage, name)).or_insert(0) += 1;
        }
        for end in world.run(world.connected()) {
            let results = answers(&end.unwrap().outcome.results);
            assert_eq!(results, world.expected, "after {fault:?}");
        }
    }
    tally
}

/// All that is to be done to so many parcels of each side.
fn faults(parcels: [usize; 2]) -> Vec<Fault> {
    let ways = [
        Damage::BitTurned,
        Damage::Repeated,
        Damage::SwappedWithNext,
        Damage::Cut,
    ];
    let mut faults = Vec::new();
    for (from, count) in [Role::Host, Role::Join].into_iter().zip(parcels) {
        for parcel in 0..count {
            for (number, damage) in ways.into_iter().enumerate() {
                // A cut or a swap makes both sides wait, so the short run has one of each.
                let of_short = match damage {
                    Damage::Cut => (from, parcel) == (Role::Host, 1),
                    Damage::SwappedWithNext => (from, parcel) == (Role::Join, 6),
                    _ => parcel % 12 == 2 + 3 * number,
                };
                if is_long() || of_short {
                    faults.push(Fault {
                        from,
                        parcel,
                        damage,
                        place: 7919 * (parcel + 1) + 31 * number,
                    });
                }
            }
        }
    }
    faults
}

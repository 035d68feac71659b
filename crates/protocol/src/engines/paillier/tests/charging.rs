//! Every pair is charged right before this side's first message that reveals something about it.

use super::super::PaillierOptions;
use super::hostile::{encrypted, header, length, secret};
use super::{cohort, short_key, spec};
use crate::{
    Answer, Engine, Job, Observer, Opened, PairRule, PairStore, ProtocolError, Refused, Role,
};
use std::sync::{Arc, Mutex};
use veilpath_channel::{Channel, ChannelError, memory_pair};
use veilpath_metrics::{Cohort, Metric, Scanpath};

/// The recorded steps of a side.
#[derive(Debug, PartialEq)]
enum Event {
    Started(Vec<usize>),
    /// Pairs, and whether there is an answer.
    Opened(Vec<(usize, bool)>),
    Scored(usize),
}

/// Records calls, and refuses from some call on.
struct Records {
    events: Mutex<Vec<Event>>,
    allowed: usize,
}

impl Records {
    fn new(allowed: usize) -> Self {
        Self {
            events: Mutex::new(Vec::new()),
            allowed,
        }
    }
}

impl PairStore for Records {
    fn start(&self, pairs: &[usize]) -> Result<(), Refused> {
        let mut events = self.events.lock().unwrap();
        events.push(Event::Started(pairs.to_vec()));
        let started = |event: &&Event| matches!(event, Event::Started(_));
        if events.iter().filter(started).count() > self.allowed {
            return Err(Refused);
        }
        Ok(())
    }

    fn start_opened(&self, pairs: &[usize], opened: &[Opened]) -> Result<(), Refused> {
        let has_answer = opened.iter().map(|it| matches!(it, Opened::Answer(_)));
        let both = pairs.iter().copied().zip(has_answer).collect();
        self.events.lock().unwrap().push(Event::Opened(both));
        self.start(pairs)
    }
}

impl Observer for Records {
    fn scored(&self, pair: usize, _: Answer) {
        self.events.lock().unwrap().push(Event::Scored(pair));
    }
}

/// Sends a script, and keeps what it receives, until it has received this much.
struct ScriptedChannel {
    bytes: Vec<u8>,
    sent: Vec<u8>,
    max_sent: usize,
}

impl Channel for ScriptedChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        if self.sent.len() + bytes.len() > self.max_sent {
            return Err(ChannelError::Closed);
        }
        self.sent.extend_from_slice(bytes);
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        if self.bytes.len() < buffer.len() {
            return Err(ChannelError::Closed);
        }
        let rest = self.bytes.split_off(buffer.len());
        buffer.copy_from_slice(&std::mem::replace(&mut self.bytes, rest));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

/// One side of a comparison of two letters with two against a script: its error and what it sent.
fn against(role: Role, store: &Records, script: &[Vec<u8>]) -> (ProtocolError, Vec<u8>) {
    against_until(usize::MAX, role, store, script)
}

/// Like [`against`], but the connection breaks before the side has sent more than this.
fn against_until(
    max_sent: usize,
    role: Role,
    store: &Records,
    script: &[Vec<u8>],
) -> (ProtocolError, Vec<u8>) {
    let both = cohort(&[vec![1, 2]]);
    let spec = spec(short_key(), Metric::Levenshtein, &both, &both);
    let own = [&both.entries[0].scanpath];
    let job = Job::new(&spec, role, &own, 1, &[(0, 0)]).unwrap();
    let job = job.with_key(Arc::clone(secret())).with_store(store);
    let mut channel = ScriptedChannel {
        bytes: script.concat(),
        sent: Vec::new(),
        max_sent,
    };
    let error = spec.engine.run(&job, &mut channel, store).unwrap_err();
    (error, channel.sent)
}

#[test]
fn a_refused_matrix_owner_sends_no_cell() {
    let modulus = secret().public_key().modulus().to_be_bytes().to_vec();
    let script = [length(2), modulus, encrypted(1).repeat(2 * 12)];
    let (error, sent) = against(Role::Join, &Records::new(0), &script);
    assert_eq!(error, ProtocolError::Refused);
    // Its length, and the request for the costs, which depends on no letter.
    assert_eq!(sent, [length(2), header(2, 0, 0)].concat());
    let (error, sent) = against(Role::Join, &Records::new(1), &script);
    assert_eq!(error, ProtocolError::Channel(ChannelError::Closed));
    assert!(sent.len() > 8 + 12);
}

/// Minima take time, and a key holder that is killed meanwhile must not open, and charge, the result again.
#[test]
fn a_key_holder_stores_a_result_before_it_computes_minima() {
    let masked = encrypted(1);
    let result = [length(0), encrypted(1)].concat();
    let script = [length(2), header(0, 1, 1), masked, result];
    let store = Records::new(1);
    // Its length and the key, but no minimum.
    let (error, _) = against_until(8 + 64, Role::Host, &store, &script);
    assert_eq!(error, ProtocolError::Channel(ChannelError::Closed));
    let events = store.events.into_inner().unwrap();
    let opened = Event::Opened(vec![(0, true)]);
    assert_eq!(events, [opened, Event::Started(vec![0]), Event::Scored(0)]);
}

#[test]
fn a_refused_key_holder_sends_no_result() {
    let result = |value: i64| [length(0), encrypted(value)].concat();
    let script = |value: i64| [length(2), header(0, 0, 1), result(value)];
    let (error, sent) = against(Role::Host, &Records::new(0), &script(1));
    assert_eq!(error, ProtocolError::Refused);
    // Its length and the key.
    assert_eq!(sent.len(), 8 + 64);
    // A refusal reveals something about a number, so it is charged like a result.
    let store = Records::new(1);
    let (error, _) = against(Role::Host, &store, &script(3));
    assert!(matches!(error, ProtocolError::PeerMisbehaved(_)));
    let events = store.events.into_inner().unwrap();
    let opened = Event::Opened(vec![(0, false)]);
    assert_eq!(events, [opened, Event::Started(vec![0])]);
}

/// Runs both sides on all pairs.
fn run(options: PaillierOptions, a: &Cohort, b: &Cohort) -> [Vec<Event>; 2] {
    let spec = spec(options, Metric::Levenshtein, a, b);
    let pairs = crate::pairs_of(PairRule::All, a, b);
    let own = |cohort: &Cohort| -> Vec<Scanpath> {
        cohort.entries.iter().map(|e| e.scanpath.clone()).collect()
    };
    let (host_scanpaths, join_scanpaths) = (own(a), own(b));
    let (host_scanpaths, join_scanpaths): (Vec<_>, Vec<_>) = (
        host_scanpaths.iter().collect(),
        join_scanpaths.iter().collect(),
    );
    let stores = [Records::new(usize::MAX), Records::new(usize::MAX)];
    let host = Job::new(
        &spec,
        Role::Host,
        &host_scanpaths,
        join_scanpaths.len(),
        &pairs,
    )
    .unwrap();
    let host = host.with_key(Arc::clone(secret())).with_store(&stores[0]);
    let join = Job::new(
        &spec,
        Role::Join,
        &join_scanpaths,
        host_scanpaths.len(),
        &pairs,
    )
    .unwrap();
    let join = join.with_store(&stores[1]);
    let (mut host_end, mut join_end) = memory_pair();
    std::thread::scope(|scope| {
        let engine = Engine::Paillier(options);
        let (stores, join) = (&stores, &join);
        let other = scope.spawn(move || engine.run(join, &mut join_end, &stores[1]));
        engine.run(&host, &mut host_end, &stores[0]).unwrap();
        other.join().unwrap().unwrap();
    });
    stores.map(|store| store.events.into_inner().unwrap())
}

#[test]
fn each_pair_with_cells_is_charged_once_before_its_score() {
    let (a, b) = (
        cohort(&[vec![1, 2, 3], vec![]]),
        cohort(&[vec![3, 4], vec![], vec![5; 4]]),
    );
    for options in [short_key(), short_key().with_batch(1).unwrap()] {
        for events in run(options, &a, &b) {
            let mut open = Vec::new();
            let (mut started, mut scored) = (Vec::new(), Vec::new());
            for event in events {
                match event {
                    Event::Started(pairs) => {
                        started.extend(&pairs);
                        open.extend(pairs);
                    }
                    // Its pairs are started next.
                    Event::Opened(_) => {}
                    Event::Scored(pair) => {
                        // Pairs 1 and 3 to 5 have an empty scanpath.
                        assert!(open.contains(&pair) || [1, 3, 4, 5].contains(&pair));
                        scored.push(pair);
                    }
                }
            }
            started.sort_unstable();
            scored.sort_unstable();
            assert_eq!((started, scored), (vec![0, 2], (0..6).collect()));
        }
    }
}

/// Remaining pairs are not charged all at once: an eighth of them first, the others as cells are filled.
#[test]
fn pairs_start_as_others_end() {
    for (pairs, at_once, max_calls) in [(400, 50, 200), (48, 16, 40)] {
        let (a, b) = (cohort(&[vec![1; 4]]), cohort(&vec![vec![2; 4]; pairs]));
        let [host, join] = run(short_key(), &a, &b);
        let before_the_first = |events: &[Event]| -> Vec<usize> {
            let until_score = events
                .iter()
                .take_while(|event| !matches!(event, Event::Scored(_)));
            let starts = until_score.filter_map(|event| match event {
                Event::Started(pairs) => Some(pairs.len()),
                Event::Opened(_) | Event::Scored(_) => None,
            });
            starts.collect()
        };
        // The key holder charges what it opens, the matrix owner what it starts.
        assert!(before_the_first(&host).iter().sum::<usize>() < pairs / 4);
        let starts = before_the_first(&join);
        assert_eq!(starts[0], at_once);
        assert!(starts.iter().all(|&it| it <= at_once), "{starts:?}");
        if pairs == 400 {
            assert!(starts.iter().sum::<usize>() < 350, "{starts:?}");
        }
        let is_start = |event: &&Event| matches!(event, Event::Started(_));
        let calls = join.iter().filter(is_start).count();
        assert!((2..max_calls).contains(&calls), "{calls}");
    }
}

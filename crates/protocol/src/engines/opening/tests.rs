#![allow(clippy::unwrap_used)] // a test may fail

use super::*;
use crate::{Engine, PairRule, PairStore, Refused, RevealTo, Spec};
use std::sync::{Arc, Mutex};
use veilpath_channel::{ChannelError, MemoryChannel, memory_pair};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};

const PAIRS: [usize; 2] = [0, 1];
const HALVES: [[u64; 2]; 2] = [[5, 6], [7, 8]];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Store,
    SendStored,
    ReceiveStored,
    Release,
    SendHalves,
    ReceiveHalves,
}

use Step::*;

/// What one side does, in order.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<Vec<Step>>>);

impl Steps {
    fn push(&self, step: Step) {
        self.0.lock().unwrap().push(step);
    }

    fn taken(&self) -> Vec<Step> {
        self.0.lock().unwrap().clone()
    }
}

/// Records each call, and refuses one if it is told to.
struct RecordingStore {
    steps: Steps,
    refuses: Option<Step>,
}

impl RecordingStore {
    fn call(&self, step: Step, pairs: &[usize]) -> Result<(), Refused> {
        assert_eq!(pairs, PAIRS);
        self.steps.push(step);
        match self.refuses == Some(step) {
            true => Err(Refused),
            false => Ok(()),
        }
    }
}

impl PairStore for RecordingStore {
    fn store_halves(&self, pairs: &[usize], halves: &[u64]) -> Result<(), Refused> {
        assert!(HALVES.iter().any(|it| it == halves));
        self.call(Store, pairs)
    }

    fn release(&self, pairs: &[usize]) -> Result<(), Refused> {
        self.call(Release, pairs)
    }
}

struct RecordingChannel {
    channel: MemoryChannel,
    steps: Steps,
    /// What it sends in place of [`STORED`].
    stored: u8,
}

impl Channel for RecordingChannel {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        match bytes {
            [byte] => {
                assert_eq!(*byte, STORED);
                self.steps.push(SendStored);
                self.channel.send(&[self.stored])
            }
            halves => {
                assert_eq!(halves.len(), 8 * PAIRS.len());
                self.steps.push(SendHalves);
                self.channel.send(halves)
            }
        }
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.channel.receive(buffer)?;
        self.steps.push(match buffer.len() {
            1 => ReceiveStored,
            _ => ReceiveHalves,
        });
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.channel.flush()
    }
}

/// How one side differs from an honest one whose files can be written.
#[derive(Clone, Copy)]
struct Fault {
    refuses: Option<Step>,
    stored: u8,
}

const NO_FAULT: Fault = Fault {
    refuses: None,
    stored: STORED,
};

type End = (Result<Vec<u64>, ProtocolError>, Vec<Step>);

/// What the host and the joining side get, and the steps that each has taken.
fn opened(to: RevealTo, faults: [Fault; 2]) -> [End; 2] {
    let entry = |name: &str| Entry {
        participant: name.into(),
        group: None,
        stimulus: None,
        scanpath: Scanpath::new(vec![0]),
        fixations: None,
    };
    let cohort = Cohort {
        alphabet: Alphabet::letters(2).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: vec![entry("a"), entry("b")],
    };
    let metric = Metric::Levenshtein;
    let mut spec = Spec::new(Engine::Garbled, metric, PairRule::All, &cohort, &cohort).unwrap();
    spec.reveal_to = to;
    let own: Vec<&Scanpath> = cohort.entries.iter().map(|it| &it.scanpath).collect();
    let side = |role: Role, channel: MemoryChannel| {
        let index = usize::from(role == Role::Join);
        let Fault { refuses, stored } = faults[index];
        let steps = Steps::default();
        let store = RecordingStore {
            steps: steps.clone(),
            refuses,
        };
        let mut channel = RecordingChannel {
            channel,
            steps: steps.clone(),
            stored,
        };
        let job = Job::new(&spec, role, &own, 2, &[(0, 0), (1, 1)]).unwrap();
        let job = job.with_store(&store);
        let result = open(&job, &PAIRS, &HALVES[index], &mut channel);
        (result, steps.taken())
    };
    let (host_end, join_end) = memory_pair();
    std::thread::scope(|scope| {
        let host = scope.spawn(|| side(Role::Host, host_end));
        let join = side(Role::Join, join_end);
        [host.join().unwrap(), join]
    })
}

#[test]
fn halves_are_sent_once_both_are_stored_and_the_pairs_are_counted() {
    for (to, host_steps, join_steps) in [
        (
            RevealTo::Both,
            &[
                Store,
                SendStored,
                ReceiveStored,
                ReceiveHalves,
                Release,
                SendHalves,
            ][..],
            &[
                Store,
                ReceiveStored,
                SendStored,
                Release,
                SendHalves,
                ReceiveHalves,
            ][..],
        ),
        (
            RevealTo::Host,
            &[Store, SendStored, ReceiveStored, ReceiveHalves],
            &[Store, ReceiveStored, SendStored, Release, SendHalves],
        ),
        (
            RevealTo::Join,
            &[Store, SendStored, ReceiveStored, Release, SendHalves],
            &[Store, ReceiveStored, SendStored, ReceiveHalves],
        ),
    ] {
        let [(host, of_host), (join, of_join)] = opened(to, [NO_FAULT; 2]);
        assert_eq!(of_host, host_steps, "{to:?}");
        assert_eq!(of_join, join_steps, "{to:?}");
        let outputs = |role| match to.includes(role) {
            true => vec![5 ^ 7, 6 ^ 8],
            false => Vec::new(),
        };
        assert_eq!(host, Ok(outputs(Role::Host)), "{to:?}");
        assert_eq!(join, Ok(outputs(Role::Join)), "{to:?}");
    }
}

#[test]
fn nothing_is_sent_for_pairs_that_the_store_refuses() {
    for refusing in 0..2 {
        for step in [Store, Release] {
            let mut faults = [NO_FAULT; 2];
            faults[refusing].refuses = Some(step);
            let ends = opened(RevealTo::Both, faults);
            let (result, steps) = &ends[refusing];
            assert_eq!(result, &Err(ProtocolError::Refused), "{step:?}");
            assert_eq!(steps.last(), Some(&step));
            let (_, peers_steps) = &ends[1 - refusing];
            assert!(!peers_steps.contains(&ReceiveHalves), "{step:?}");
            if step == Store {
                assert!(!peers_steps.contains(&Release));
            }
        }
    }
}

/// Unless the other side says that its halves are stored, a side neither counts the pairs nor sends its halves.
#[test]
fn any_byte_but_stored_ends_the_opening() {
    for cheating in 0..2 {
        for to in [RevealTo::Both, RevealTo::Host, RevealTo::Join] {
            for stored in [0, STORED ^ 1, 0xff] {
                let mut faults = [NO_FAULT; 2];
                faults[cheating].stored = stored;
                let (result, steps) = &opened(to, faults)[1 - cheating];
                let expected = ProtocolError::PeerMisbehaved(Misbehaviour::HalvesNotStored);
                assert_eq!(result, &Err(expected), "{to:?}");
                assert_eq!(steps.last(), Some(&ReceiveStored), "{to:?}");
            }
        }
    }
}

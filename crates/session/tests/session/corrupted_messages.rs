//! Every message of one side is truncated, corrupted in one bit, repeated or swapped, for every engine.
//!
//! In numbered packets with checksums, as sessions send them, no fault gives a wrong score: the session ends with an error, or the
//! fault had no effect and the scores are right. Without packets, as a malicious peer could send valid checksums of wrong
//! messages, an engine may take a wrong number for a score (engines do not protect against such a peer), but it never panics,
//! never contradicts itself and never waits forever.
//!
//! `VEILPATH_FAULTS=long` tries every message (about two dozen of each side in long sessions) with several bits and truncations;
//! otherwise a few. `VEILPATH_FAULTS_SEED`, which is printed, determines the choices.
#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stderr)] // a test's helpers may fail the test; it prints what ran

mod wire;

use std::collections::BTreeMap;
use std::sync::mpsc::channel;
use std::time::Duration;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_protocol::{
    Answer, Engine, Job, KeySize, PaillierOptions, PairRule, ProtocolError, Reveal, RevealTo, Role,
    Spec,
};
use veilpath_session::ChecksummedChannel;
use wire::{DAMAGES, Damage, Fault, MessageCounter, WireEnd};

/// The longest time of a case; an honest run takes milliseconds.
const RUN_TIMEOUT: Duration = Duration::from_secs(60);

/// A comparison of two small cohorts.
#[derive(Clone)]
struct Case {
    name: String,
    spec: Spec,
    scanpaths: [Vec<Scanpath>; 2],
    expected: Vec<Answer>,
}

type SideResults = [Result<Vec<Answer>, ProtocolError>; 2];

impl Case {
    fn new(engine: Engine, metric: Metric, change: impl Fn(&mut Spec)) -> Self {
        let alphabet = Alphabet::letters(6).unwrap();
        let cohort = |rows: [&str; 2]| Cohort {
            alphabet,
            encoding: Encoding::default(),
            screen: None,
            entries: rows
                .iter()
                .map(|text| Entry {
                    participant: text.to_string(),
                    group: None,
                    stimulus: None,
                    scanpath: alphabet.parse(text).unwrap(),
                    fixations: None,
                })
                .collect(),
        };
        let (a, b) = (cohort(["ABCDEF", "FAB"]), cohort(["ACCEDA", "BB"]));
        let mut spec = Spec::new(engine, metric, PairRule::All, &a, &b).unwrap();
        change(&mut spec);
        let scanpaths = [a, b].map(|cohort| {
            let entries = cohort.entries.into_iter();
            entries.map(|entry| entry.scanpath).collect::<Vec<_>>()
        });
        let name = format!(
            "{}, {}, {:?}, to {:?}, {}",
            spec.engine.name(),
            spec.metric.name(),
            spec.reveal,
            spec.reveal_to,
            if spec.pad_to.is_some() {
                "padded"
            } else {
                "lengths visible"
            }
        );
        let mut case = Self {
            name,
            spec,
            scanpaths,
            expected: Vec::new(),
        };
        // An independent oracle: the engine `plain` with results for both sides.
        let mut clear = case.clone();
        clear.spec.engine = Engine::Plain;
        clear.spec.reveal_to = RevealTo::Both;
        clear.spec.pad_to = None;
        let ([host, join], _) = clear.run(false, None);
        assert_eq!(host, join);
        case.expected = host.unwrap();
        for answer in &mut case.expected {
            // A similarity needs the lengths.
            if let (Some(_), Answer::Score(reading)) = (case.spec.pad_to, answer) {
                *reading = reading.without_similarity();
            }
        }
        case
    }

    /// Runs both sides; also returns how many messages each has sent.
    fn run(&self, checksummed: bool, fault: Option<Fault>) -> (SideResults, [usize; 2]) {
        let (sender, ends) = channel();
        for (side, end) in wire::connect(fault).into_iter().enumerate() {
            let (case, sender) = (self.clone(), sender.clone());
            std::thread::spawn(move || {
                let result = case.side(side, checksummed, end);
                let _ = sender.send((side, result));
            });
        }
        drop(sender);
        let mut results = [None, None];
        for _ in 0..2 {
            let (side, result) = ends
                .recv_timeout(RUN_TIMEOUT)
                .unwrap_or_else(|why| panic!("{}: {fault:?}: {why}", self.name));
            results[side] = Some(result);
        }
        let [host, join] = results.map(Option::unwrap);
        ([host.0, join.0], [host.1, join.1])
    }

    fn side(
        &self,
        side: usize,
        checksummed: bool,
        end: WireEnd,
    ) -> (Result<Vec<Answer>, ProtocolError>, usize) {
        let role = [Role::Host, Role::Join][side];
        let own: Vec<&Scanpath> = self.scanpaths[side].iter().collect();
        let theirs = self.scanpaths[1 - side].iter();
        let padded = self.spec.pad_to.map(|length| length as usize);
        let lengths: Vec<usize> = theirs
            .map(|scanpath| padded.unwrap_or(scanpath.len()))
            .collect();
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let job = Job::new(&self.spec, role, &own, lengths.len(), &pairs).unwrap();
        let job = job.with_peer_lengths(&lengths).unwrap();
        let (mut channel, count) = MessageCounter::new(end);
        let result = match checksummed {
            true => self
                .spec
                .engine
                .run(&job, &mut ChecksummedChannel::new(channel), &()),
            false => self.spec.engine.run(&job, &mut channel, &()),
        };
        let count = *count.lock().unwrap();
        (result, count)
    }

    /// Whether a side's answers are right.
    fn is_correct(&self, side: usize, answers: &[Answer]) -> bool {
        let learns = self.spec.reveal_to.includes([Role::Host, Role::Join][side]);
        answers == if learns { &self.expected[..] } else { &[] }
    }
}

/// Every engine, with everything that it can reveal and to whom.
fn cases(long: bool) -> Vec<Case> {
    let weighted = || Metric::NeedlemanWunschScore {
        reward: 2.0,
        mismatch: 1.0,
        gap: 1.0,
        scale: None,
    };
    let small = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let paillier = Engine::Paillier(small.with_batch(6).unwrap());
    let paper = Engine::Paillier(small.with_packing(false).with_batch(1).unwrap());
    let threshold = |spec: &mut Spec| spec.reveal = "threshold:4".parse::<Reveal>().unwrap();
    let padded = |spec: &mut Spec| spec.pad_to = Some(8);
    let mut cases = vec![
        Case::new(Engine::Plain, Metric::Levenshtein, |_| ()),
        Case::new(paillier, Metric::Levenshtein, |_| ()),
        Case::new(Engine::Garbled, Metric::Levenshtein, |_| ()),
        Case::new(Engine::Garbled, Metric::Levenshtein, threshold),
        Case::new(Engine::Garbled, Metric::Levenshtein, padded),
        Case::new(Engine::Shares, Metric::Levenshtein, |_| ()),
        Case::new(Engine::Shares, Metric::Levenshtein, padded),
    ];
    if long {
        cases.push(Case::new(paper, Metric::Levenshtein, |_| ()));
        cases.push(Case::new(paillier, weighted(), |_| ()));
        cases.push(Case::new(Engine::Garbled, weighted(), |_| ()));
        cases.push(Case::new(Engine::Shares, weighted(), |_| ()));
        cases.push(Case::new(Engine::Plain, Metric::Levenshtein, threshold));
        for engine in [Engine::Plain, Engine::Garbled, Engine::Shares] {
            for to in [RevealTo::Host, RevealTo::Join] {
                cases.push(Case::new(engine, Metric::Levenshtein, |spec| {
                    spec.reveal_to = to;
                }));
            }
        }
        cases.push(Case::new(Engine::Garbled, Metric::Levenshtein, |spec| {
            threshold(spec);
            padded(spec);
            spec.reveal_to = RevealTo::Host;
        }));
    }
    cases
}

/// A small deterministic random generator.
struct TestRng(u64);

impl TestRng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

fn is_long() -> bool {
    std::env::var("VEILPATH_FAULTS").is_ok_and(|value| value == "long")
}

fn seeded_rng() -> TestRng {
    let given = std::env::var("VEILPATH_FAULTS_SEED").ok();
    let seed = given.and_then(|seed| seed.parse().ok());
    let seed = seed
        .unwrap_or(u64::from(std::process::id()) << 17 | 1)
        .max(1);
    eprintln!("VEILPATH_FAULTS_SEED={seed}");
    TestRng(seed)
}

/// How the sides of all cases ended.
#[derive(Default)]
struct Tally(BTreeMap<(&'static str, Damage, &'static str), u32>);

impl Tally {
    fn count(&mut self, engine: &'static str, damage: Damage, end: &'static str) {
        *self.0.entry((engine, damage, end)).or_default() += 1;
    }

    fn of(&self, end: &str) -> u32 {
        let ends = self.0.iter().filter(|((_, _, name), _)| *name == end);
        ends.map(|(_, count)| count).sum()
    }
}

/// All faults of a case: every message where they are few, else some.
fn faults(messages: [usize; 2], long: bool, rng: &mut TestRng) -> Vec<Fault> {
    let mut all = Vec::new();
    for (side, count) in messages.into_iter().enumerate() {
        let every = (count / if long { 24 } else { 2 }).max(1);
        let first = rng.next() as usize % every;
        for message in (first..count).step_by(every) {
            for damage in DAMAGES {
                let several = matches!(damage, Damage::Cut | Damage::BitTurned);
                for _ in 0..if long && several { 3 } else { 1 } {
                    let position = rng.next();
                    all.push(Fault {
                        side,
                        message,
                        damage,
                        position,
                    });
                }
            }
        }
    }
    all
}

fn run_all_faults(checksummed: bool) -> Tally {
    let (long, mut rng, mut tally) = (is_long(), seeded_rng(), Tally::default());
    let mut case_count = 0;
    for case in cases(long) {
        let (undisturbed, messages) = case.run(checksummed, None);
        for (side, end) in undisturbed.into_iter().enumerate() {
            assert!(case.is_correct(side, &end.unwrap()), "{}", case.name);
        }
        for fault in faults(messages, long, &mut rng) {
            case_count += 1;
            for (side, end) in case.run(checksummed, Some(fault)).0.into_iter().enumerate() {
                let end = match end {
                    Ok(answers) if case.is_correct(side, &answers) => "right",
                    Ok(_) => "WRONG",
                    Err(ProtocolError::Internal(_) | ProtocolError::Job(_)) => "CONTRADICTION",
                    Err(_) => "error",
                };
                assert_ne!(end, "CONTRADICTION", "{}: {fault:?}", case.name);
                assert!(!checksummed || end != "WRONG", "{}: {fault:?}", case.name);
                tally.count(case.spec.engine.name(), fault.damage, end);
            }
        }
    }
    let way = if checksummed {
        "in packets"
    } else {
        "without packets"
    };
    eprintln!("{way}: {case_count} cases, how their two sides ended:");
    for ((engine, damage, end), count) in &tally.0 {
        eprintln!("  {engine}, {damage:?}: {count} × {end}");
    }
    tally
}

#[test]
fn no_corrupted_message_gives_a_wrong_score() {
    let tally = run_all_faults(true);
    assert_eq!(tally.of("WRONG"), 0);
    assert!(tally.of("error") > 0);
}

/// Why there are packets: an engine cannot detect all corruption.
#[test]
fn engines_do_not_panic_hang_or_contradict_themselves() {
    let tally = run_all_faults(false);
    assert!(tally.of("error") > 0);
}

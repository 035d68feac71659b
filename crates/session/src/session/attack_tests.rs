//! Peers that do not follow the protocol try to get around the limits.

use super::*;
use crate::{BanReason, Limit, Listener, join};
use std::path::Path;
use veilpath_metrics::{Alphabet, Encoding, Entry, Metric, Scanpath};
use veilpath_protocol::{Answer, Engine, Observer, PairRule, RevealTo};

const LETTERS: u16 = 26;

/// The host's secret scanpaths.
fn secrets() -> Cohort {
    cohort(&[&[3, 1, 4, 1, 5, 9, 2, 6], &[2, 7, 1, 8, 2, 8, 1, 8]])
}

fn cohort(scanpaths: &[&[u16]]) -> Cohort {
    let entries = scanpaths.iter().enumerate().map(|(index, letters)| Entry {
        participant: format!("P{index}"),
        stimulus: None,
        scanpath: Scanpath::new(letters.to_vec()),
    });
    Cohort {
        alphabet: Alphabet::letters(LETTERS.into()).unwrap(),
        encoding: Encoding::default(),
        entries: entries.collect(),
    }
}

fn proposal(cohort: Cohort, to: RevealTo, limit: Option<u64>) -> Proposal {
    let (engine, metric) = (Engine::Garbled, Metric::Levenshtein);
    let mut spec = Spec::new(engine, metric, PairRule::All, &cohort, &cohort).unwrap();
    spec.reveal_to = to;
    Proposal {
        spec,
        cohort,
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: limit
            .map_or(crate::ScanpathLimit::Unlimited, crate::ScanpathLimit::Count),
        memory: None,
        key: None,
    }
}

/// A host with its files, and an attacker with its key.
struct World {
    host: Identity,
    attacker: Identity,
    host_files: tempfile::TempDir,
}

/// What a session gave the attacker.
#[derive(Default)]
struct Loot(std::sync::Mutex<Vec<(usize, Answer)>>);

impl Observer for Loot {
    fn scored(&self, pair: usize, answer: Answer) {
        self.0.lock().unwrap().push((pair, answer));
        // Hangs up with what it has.
        panic!("the attacker hangs up");
    }
}

impl World {
    fn new() -> Self {
        Self {
            host: Identity::ephemeral().unwrap(),
            attacker: Identity::ephemeral().unwrap(),
            host_files: tempfile::tempdir().unwrap(),
        }
    }

    /// One session. The attacker agrees with its cohort, then compares other letters, and hangs up once it has an answer.
    /// Returns what it got from the computation and the host's error, if any.
    fn attack(
        &self,
        files: &Path,
        [announced, letters]: [&[u16]; 2],
        to: RevealTo,
        limit: Option<u64>,
    ) -> (Vec<(usize, Answer)>, Option<SessionError>) {
        let timeouts = Timeouts::new(Duration::from_secs(20), Duration::from_secs(20));
        let (a, b) = (&self.host, &self.attacker);
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        let alphabet = AlphabetInfo {
            named: None,
            declared: None,
            read_as: secrets().alphabet,
            grid: None,
        };
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                let peer = b.fingerprint();
                let channel = listener.accept(a, peer, &timeouts, &mut |_| ())?;
                let session = Session::open(channel, Role::Host, a, peer, &alphabet, timeouts)?.0;
                let files = StateDir::at(self.host_files.path());
                let proposal = proposal(secrets(), to, limit);
                session.agree(proposal, Some(&files), &mut |_| ())?.run(&())
            });
            let loot = Loot::default();
            let tried = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                let channel = join(&address, b, a.fingerprint(), &timeouts).unwrap();
                let peer = a.fingerprint();
                let session =
                    Session::open(channel, Role::Join, b, peer, &alphabet, timeouts).unwrap();
                let announced = proposal(cohort(&[announced]), to, None);
                let files = StateDir::at(files);
                let mut agreed = session.0.agree(announced, Some(&files), &mut |_| ())?;
                agreed.agreement.proposal.cohort = cohort(&[letters]);
                agreed.run(&loot).map(|_| ())
            }));
            let _ = tried;
            let loot = loot.0.into_inner().unwrap();
            (loot, host.join().unwrap().err())
        })
    }

    /// The most comparisons of any scanpath of the host that its ledger has counted.
    fn counted(&self) -> u64 {
        let ledger = self.host_files.path().join("peers");
        let name = format!("{}.json", self.attacker.fingerprint().plain());
        let text = std::fs::read(ledger.join(name)).unwrap_or_default();
        let Ok(ledger) = serde_json::from_slice::<serde_json::Value>(&text) else {
            return 0;
        };
        let scanpaths = ledger["scanpaths"].as_object().unwrap();
        let sums = scanpaths.values().map(|agreements| {
            let counts = agreements.as_object().unwrap().values();
            counts.map(|count| count.as_u64().unwrap()).sum()
        });
        sums.max().unwrap_or(0)
    }
}

/// A peer keeps what it announced, swaps its letters, takes the answers, hangs up and returns.
#[test]
fn swapped_letters_under_one_agreement_give_one_answer() {
    for to in [RevealTo::Both, RevealTo::Join] {
        for loses_files in [false, true] {
            let world = World::new();
            let files = [0; 6].map(|_| tempfile::tempdir().unwrap());
            let mut answers = Vec::new();
            for (attempt, letter) in (0..6u16).enumerate() {
                let files = &files[if loses_files { attempt } else { 0 }];
                let letters = [letter; 8];
                let (loot, _) = world.attack(files.path(), [&[0; 8], &letters], to, Some(2));
                answers.push(loot.len());
            }
            assert!(answers[0] > 0, "the first session is allowed");
            assert_eq!(answers[1..], [0; 5], "{to:?} {loses_files}");
            assert_eq!(world.counted(), 1, "{to:?} {loses_files}");
        }
    }
}

/// Another cohort is another agreement, and counts.
#[test]
fn other_cohorts_count_up_to_the_limit() {
    let world = World::new();
    let mut refused = 0;
    for attempt in 0..4u16 {
        let (files, letters) = (tempfile::tempdir().unwrap(), [attempt; 8]);
        let (_, error) = world.attack(files.path(), [&letters, &letters], RevealTo::Both, Some(2));
        refused += u32::from(matches!(
            error,
            Some(SessionError::Limit(Limit::ComparisonsPerScanpath {
                needed: 3,
                ..
            }))
        ));
    }
    assert_eq!(refused, 2);
    assert_eq!(world.counted(), 2);
}

/// A peer that was caught stays out until this side's user lets it in again.
#[test]
fn a_banned_peer_gets_nothing() {
    let world = World::new();
    let peer = world.attacker.fingerprint();
    let directory = StateDir::at(world.host_files.path()).ledgers();
    let ledger = LedgerFile::of(Some(&directory), peer);
    ledger
        .update(|ledger| {
            ledger.banned = Some(BanReason::FailedCheck);
            Ok(())
        })
        .unwrap();
    let files = tempfile::tempdir().unwrap();
    let attack = || world.attack(files.path(), [&[0; 8], &[0; 8]], RevealTo::Both, None);
    let (loot, error) = attack();
    assert!(loot.is_empty());
    let banned = SessionError::from(Limit::Banned(BanReason::FailedCheck));
    assert_eq!(error.unwrap().to_string(), banned.to_string());
    StateDir::at(world.host_files.path())
        .lift_ban(peer)
        .unwrap();
    assert!(!attack().0.is_empty());
}

//! Both sides of a session on loopback, each on its own thread with its own state folder.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

mod engines;
mod limits_and_journals;
mod lost_files;
mod tiles;

use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric};
use veilpath_protocol::{
    Answer, Engine, Observer, PairRule, ProtocolError, RevealTo, Role, Spec, Value, compare_locally,
};
use veilpath_session::limits::Timeouts;
use veilpath_session::{
    AlphabetInfo, CompletedSession, DeclineReason, FRESH_FIELD, Fault, Fingerprint, Identity,
    Limit, Listener, Proposal, Requested, ScanpathLimit, SecureChannel, Session, SessionError,
    StateDir, UsageError, join,
};

fn timeouts() -> Timeouts {
    Timeouts::new(Duration::from_secs(5), Duration::from_secs(5))
}

fn cohort(rows: &[(&str, Option<&str>, &str)]) -> Cohort {
    let alphabet = Alphabet::letters(52).unwrap();
    let entries = rows.iter().map(|(participant, stimulus, text)| Entry {
        participant: participant.to_string(),
        group: None,
        stimulus: stimulus.map(str::to_string),
        scanpath: alphabet.parse(text).unwrap(),
        fixations: None,
    });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

fn first() -> Cohort {
    cohort(&[
        ("P1", Some("cows"), "ABCDE"),
        ("P1", Some("boat"), "AAB"),
        ("P2", Some("cows"), ""),
    ])
}

fn second() -> Cohort {
    cohort(&[
        ("Q1", Some("boat"), "ABBA"),
        ("Q1", Some("cows"), "ACE"),
        ("Q2", Some("sky"), "Z"),
    ])
}

/// The two institutions, with their state folders.
struct Setup {
    folders: [TempDir; 2],
    identities: [Identity; 2],
}

impl Setup {
    fn new() -> Self {
        let folder = || tempfile::tempdir().unwrap();
        let folders = [folder(), folder()];
        let identities = [0, 1].map(|side: usize| {
            Identity::create(&StateDir::at(folders[side].path()).identity()).unwrap()
        });
        Self {
            folders,
            identities,
        }
    }

    fn state_dir(&self, side: usize) -> StateDir {
        StateDir::at(self.folders[side].path())
    }

    fn channels(&self) -> [SecureChannel; 2] {
        let [a, b] = &self.identities;
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.address().to_string();
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                let peer = b.fingerprint();
                listener.accept(a, peer, &timeouts(), &mut |error| panic!("{error}"))
            });
            let join = join(&address, b, a.fingerprint(), &timeouts()).unwrap();
            [host.join().unwrap().unwrap(), join]
        })
    }

    fn run(&self, proposals: [Proposal; 2]) -> [Result<CompletedSession, SessionError>; 2] {
        self.run_observed(proposals, &())
    }

    fn run_observed(
        &self,
        [host_plan, join_plan]: [Proposal; 2],
        observer: &dyn Observer,
    ) -> [Result<CompletedSession, SessionError>; 2] {
        let [host, join] = self.channels();
        let [a, b] = &self.identities;
        std::thread::scope(|scope| {
            let host = scope.spawn(|| {
                let state_dir = self.state_dir(0);
                side(
                    host,
                    Role::Host,
                    a,
                    b.fingerprint(),
                    host_plan,
                    &state_dir,
                    observer,
                )
            });
            let state_dir = self.state_dir(1);
            let join = side(
                join,
                Role::Join,
                b,
                a.fingerprint(),
                join_plan,
                &state_dir,
                &(),
            );
            [host.join().unwrap(), join]
        })
    }
}

fn side(
    channel: SecureChannel,
    role: Role,
    identity: &Identity,
    peer: Fingerprint,
    proposal: Proposal,
    state_dir: &StateDir,
    observer: &dyn Observer,
) -> Result<CompletedSession, SessionError> {
    let alphabet = AlphabetInfo {
        named: None,
        declared: None,
        read_as: proposal.cohort.alphabet,
        grid: None,
    };
    let (session, theirs) = Session::open(channel, role, identity, peer, &alphabet, timeouts())?;
    assert_eq!(theirs.read_as, Alphabet::letters(52).unwrap());
    let agreed = session.agree(proposal, Some(state_dir), &mut |_| ())?;
    match agreed.summary().estimate_only {
        None => agreed.run(observer),
        Some(Requested::ByUs) => Err(UsageError::NoStateDir.into()),
        Some(Requested::ByPeer) => Err(SessionError::EstimateOnly),
    }
}

fn proposal(cohort: Cohort) -> Proposal {
    let spec = Spec::new(
        Engine::Plain,
        Metric::Levenshtein,
        PairRule::SameStimulus,
        &cohort,
        &cohort,
    );
    Proposal {
        auto_engine: false,
        spec: spec.unwrap(),
        cohort,
        pseudonyms: false,
        estimate_only: false,
        fresh: false,
        limit_per_scanpath: ScanpathLimit::Unlimited,
        declared_letters: None,
        disclosure: veilpath_session::DisclosureLimits::default(),
        memory: None,
        tile: None,
        tile_count: None,
        key: None,
    }
}

fn proposals(change: impl Fn(&mut Proposal)) -> [Proposal; 2] {
    [first(), second()].map(|cohort| {
        let mut proposal = proposal(cohort);
        change(&mut proposal);
        proposal
    })
}

fn rows(result: &CompletedSession) -> Vec<String> {
    let row = |row: veilpath_protocol::ResultRow<'_>| {
        let stimulus = row.stimulus.unwrap_or_default().into_owned();
        let value = match row.values[0] {
            Value::Number(number) => number.to_string(),
            Value::Bit(bit) => bit.to_string(),
            Value::Missing => String::new(),
        };
        format!("{} {} {stimulus} {value}", row.a, row.b)
    };
    result.outcome.rows().map(row).collect()
}

#[test]
fn both_sides_get_the_scores_of_the_plain_engine() {
    let [host, join] = Setup::new().run(proposals(|_| ())).map(Result::unwrap);
    let (a, b) = (first(), second());
    let expected = compare_locally(proposal(a.clone()).spec, &a, &b, &()).unwrap();
    for result in [&host, &join] {
        assert_eq!(result.outcome.results, expected.results);
        assert_eq!(
            (&result.outcome.a, &result.outcome.b),
            (&expected.a, &expected.b)
        );
        assert_eq!(result.outcome.cost.cells, expected.cost.cells);
        assert_eq!((result.restarted_pairs, result.max_starts), (0, 1));
    }
    let (sent, received) = (
        host.outcome.cost.bytes_sent,
        host.outcome.cost.bytes_received,
    );
    assert_eq!(sent, join.outcome.cost.bytes_received);
    assert_eq!(received, join.outcome.cost.bytes_sent);
}

#[test]
fn scores_can_be_for_one_side_only() {
    for (to, learns) in [(RevealTo::Host, [3, 0]), (RevealTo::Join, [0, 3])] {
        let setup = Setup::new();
        for _ in 0..2 {
            let result = setup
                .run(proposals(|proposal| proposal.spec.reveal_to = to))
                .map(Result::unwrap);
            assert_eq!(result.map(|result| result.outcome.results.len()), learns);
        }
    }
}

fn revealing(reveal: &str) -> impl Fn(&mut Proposal) {
    let reveal = reveal.parse().unwrap();
    move |proposal| proposal.spec.reveal = reveal
}

#[test]
fn each_side_gets_one_bit_per_pair() {
    let setup = Setup::new();
    let result = setup
        .run(proposals(revealing("threshold:3")))
        .map(Result::unwrap);
    for result in &result {
        let expected = ["P1 Q1 cows true", "P1 Q1 boat true", "P2 Q1 cows true"];
        assert_eq!(rows(result), expected);
        let revealed = &result.outcome.revealed;
        assert!(
            revealed
                .iter()
                .any(|line| line.what.contains("a yes or no"))
        );
    }
    let result = setup
        .run(proposals(revealing("threshold:2")))
        .map(Result::unwrap);
    for result in &result {
        let expected = ["P1 Q1 cows true", "P1 Q1 boat true", "P2 Q1 cows false"];
        assert_eq!(rows(result), expected);
        assert_eq!(
            result.max_agreements, 2,
            "a different threshold is a different agreement"
        );
    }
    let error = setup
        .run({
            let [host, _] = proposals(revealing("threshold:2"));
            let [_, join] = proposals(revealing("score"));
            [host, join]
        })
        .map(|side| side.unwrap_err().to_string());
    assert!(error[0].contains("reveal: threshold:2 here, score there"));
    assert!(error[1].contains("reveal: score here, threshold:2 there"));
}

#[test]
fn bits_can_be_for_one_side_only() {
    for (to, learns) in [(RevealTo::Host, [3, 0]), (RevealTo::Join, [0, 3])] {
        let setup = Setup::new();
        for _ in 0..2 {
            let one_sided = |proposal: &mut Proposal| {
                revealing("threshold:2")(proposal);
                proposal.spec.reveal_to = to;
            };
            let result = setup.run(proposals(one_sided)).map(Result::unwrap);
            let bits = |result: &CompletedSession| {
                let answers = result.outcome.results.iter();
                answers
                    .filter(|pair| pair.values[0].bit().is_some())
                    .count()
            };
            assert_eq!(result.each_ref().map(bits), learns);
        }
    }
}

#[test]
fn hidden_lengths_need_an_engine_that_hides_them() {
    let padded = |proposal: &mut Proposal| proposal.spec.pad_to = Some(9);
    for side in Setup::new().run(proposals(padded)) {
        let error = side.unwrap_err();
        assert_eq!(error.fault(), Fault::Usage);
        let unsupported = matches!(error, SessionError::Protocol(ProtocolError::Unsupported(_)));
        assert!(unsupported, "{error}");
    }
}

#[test]
fn pseudonyms_hide_ids_from_the_other_side_only() {
    let setup = Setup::new();
    let hide = |proposal: &mut Proposal| {
        proposal.pseudonyms = true;
        proposal.spec.pair_rule = PairRule::All;
    };
    let [host, join] = setup.run(proposals(hide)).map(Result::unwrap);
    for result in [&host, &join] {
        assert_eq!(result.outcome.results.len(), 9);
    }
    let (host, join) = (rows(&host).join("\n"), rows(&join).join("\n"));
    assert!(host.contains("P1") && !host.contains("Q1") && !host.contains("sky"));
    assert!(join.contains("Q1") && !join.contains("P1"));
    assert!(
        host.contains("cows") && join.contains("cows"),
        "{host}\n{join}"
    );
    let again = setup.run(proposals(hide)).map(Result::unwrap);
    assert_eq!(rows(&again[0]).join("\n"), host);
    assert_eq!(rows(&again[1]).join("\n"), join);
}

#[test]
fn differences_are_reported_on_both_sides() {
    let setup = Setup::new();
    let mut proposals = proposals(|_| ());
    proposals[1].spec.metric = Metric::ScanMatch {
        grid: "7x7".parse().unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    };
    let [host, join] = setup.run(proposals).map(Result::unwrap_err);
    assert_eq!(host.fault(), Fault::PeerDiffers);
    assert_eq!(join.fault(), Fault::PeerDiffers);
    let host = host.to_string();
    assert!(
        host.contains("metric.name: levenshtein here, scanmatch there"),
        "{host}"
    );
    let join = join.to_string();
    assert!(
        join.contains("metric.name: scanmatch here, levenshtein there"),
        "{join}"
    );
}

#[test]
fn an_estimate_computes_counts_and_stores_nothing() {
    let setup = Setup::new();
    let mut proposals = proposals(|proposal| proposal.limit_per_scanpath = ScanpathLimit::Count(9));
    proposals[0].estimate_only = true;
    let [host, join] = setup.run(proposals).map(Result::unwrap_err);
    assert_eq!(host.fault(), Fault::Usage);
    assert_eq!(join.fault(), Fault::PeerDiffers);
    for folder in ["peers", "journals"] {
        assert!(!setup.folders[0].path().join(folder).exists());
    }
}

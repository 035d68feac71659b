use super::*;
use crate::counted_store::AgreedPairs;
use veilpath_channel::memory_pair;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Metric, PairScore};
use veilpath_protocol::{Answer, Engine, PairRule, Reveal, RevealTo};

/// What one side has of one pair.
#[derive(Clone, Copy, Debug, Default)]
struct StoredParts {
    answer: bool,
    half: Option<u64>,
    sent: bool,
}

const NOTHING: StoredParts = StoredParts {
    answer: false,
    half: None,
    sent: false,
};

fn half(run: u64) -> StoredParts {
    StoredParts {
        half: Some(run),
        ..NOTHING
    }
}

fn sent(run: u64) -> StoredParts {
    StoredParts {
        sent: true,
        ..half(run)
    }
}

fn done(run: u64) -> StoredParts {
    StoredParts {
        answer: true,
        ..sent(run)
    }
}

fn spec(to: RevealTo) -> Spec {
    let cohort = Cohort {
        alphabet: Alphabet::letters(4).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: Vec::new(),
    };
    let engine = Engine::Garbled;
    let mut spec = Spec::new(engine, Metric::Levenshtein, PairRule::All, &cohort, &cohort).unwrap();
    spec.reveal_to = to;
    spec
}

fn journal(has: &[StoredParts]) -> Journal {
    let mut journal = Journal::in_memory([1; 32], has.len(), Reveal::Score);
    for (pair, has) in has.iter().enumerate() {
        if let Some(run) = has.half {
            journal.store_halves(&[pair], &[7], run).unwrap();
        }
        if has.sent {
            journal.mark_sent(&[pair]).unwrap();
        }
        if has.answer {
            let score = Answer::Score(PairScore::new(1.0, None));
            journal.store(pair, score).unwrap();
        }
    }
    journal
}

/// The steps of both sides.
fn steps_of_both(to: RevealTo, host: &[StoredParts], join: &[StoredParts]) -> [Resume; 2] {
    let spec = spec(to);
    let pairs = vec![(0, 0); host.len()];
    let cells = vec![1; host.len()];
    let (left, right) = memory_pair();
    std::thread::scope(|scope| {
        let side = |role, has: &[StoredParts], mut channel| {
            let agreed = AgreedPairs {
                role,
                spec: &spec,
                pairs: &pairs,
                cells: &cells,
                scanpaths: 1,
            };
            Resume::exchange(&mut channel, &journal(has), &agreed).unwrap()
        };
        let host = scope.spawn(move || side(Role::Host, host, left));
        [side(Role::Join, join, right), host.join().unwrap()]
    })
}

/// The steps, which both sides must share.
fn steps(to: RevealTo, host: &[StoredParts], join: &[StoredParts]) -> Resume {
    let [a, b] = steps_of_both(to, host, join);
    let key = |steps: &Resume| {
        (
            steps.compare.clone(),
            steps.halves.host.clone(),
            steps.halves.join.clone(),
            steps.answers.host.clone(),
            steps.answers.join.clone(),
            steps.lost,
        )
    };
    assert_eq!(key(&a), key(&b));
    a
}

#[test]
fn both_sides_derive_the_same_steps() {
    let cases = [
        (NOTHING, NOTHING, "compare"),
        (half(1), NOTHING, "compare"),
        (half(1), half(2), "compare"),
        (half(1), half(1), "both halves"),
        (half(1), sent(1), "both halves"),
        (sent(1), sent(1), "both halves"),
        (done(1), sent(1), "half of the host"),
        (sent(1), done(1), "half of join"),
        (done(1), done(1), "nothing"),
        (done(1), NOTHING, "answer of the host"),
        (NOTHING, done(1), "answer of join"),
        (done(1), half(2), "answer of the host"),
        (sent(1), NOTHING, "lost"),
        (NOTHING, sent(1), "lost"),
        (sent(1), half(2), "lost"),
    ];
    for (host, join, expected) in cases {
        let steps = steps(RevealTo::Both, &[host], &[join]);
        let found = match steps {
            Resume { lost: 1, .. } => "lost",
            Resume { compare, .. } if !compare.is_empty() => "compare",
            Resume { answers, .. } if !answers.host.is_empty() => "answer of the host",
            Resume { answers, .. } if !answers.join.is_empty() => "answer of join",
            Resume { halves, .. } => match (halves.host.len(), halves.join.len()) {
                (1, 1) => "both halves",
                (1, 0) => "half of the host",
                (0, 1) => "half of join",
                _ => "nothing",
            },
        };
        assert_eq!(found, expected, "{host:?} {join:?}");
    }
}

#[test]
fn a_side_that_learns_nothing_needs_nothing() {
    let steps = steps(
        RevealTo::Join,
        &[half(1), sent(1), sent(1), NOTHING, sent(1)],
        &[half(1), half(1), done(1), NOTHING, NOTHING],
    );
    assert_eq!(steps.halves.host, [0, 1]);
    assert!(steps.halves.join.is_empty());
    assert_eq!((steps.compare, steps.lost), (vec![3], 1));
}

#[test]
fn pairs_that_only_the_peer_remembers_are_recorded() {
    let [join, host] = steps_of_both(RevealTo::Both, &[NOTHING, done(1)], &[done(1), done(1)]);
    assert_eq!(host.unrecorded, [0]);
    assert!(join.unrecorded.is_empty());
}

/// The statements that a peer sends in these bytes, about three pairs.
fn statements(bytes: &[u8]) -> Result<Vec<Statement>, SessionError> {
    let (mut here, mut there) = memory_pair();
    control::send_bytes(&mut there, Tag::Statements, bytes).unwrap();
    exchange_statements(&mut here, Role::Host, &[Statement::default(); 3])
}

#[test]
fn bits_without_a_meaning_are_rejected() {
    assert_eq!(statements(&[0x17, 0x02]).unwrap(), [7, 1, 2].map(Statement));
    for bytes in [[0x08, 0], [0x80, 0], [0, 0x08], [0, 0x10], [0, 0x80]] {
        let error = statements(&bytes).unwrap_err();
        assert!(
            matches!(
                error,
                SessionError::Misbehaved(Misbehaviour::InvalidStatements)
            ),
            "{bytes:?}: {error}"
        );
    }
}

//! Both sides in one process, with the code that two processes run.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use veilpath_metrics::{
    Alphabet, Cohort, Crqa, CrqaMeasure, Encoding, Entry, Metric, RecurrenceRule, Scanpath,
    Undefined,
};
use veilpath_protocol::{
    Engine, JobError, Observer, Outcome, PaillierOptions, PairRule, ProtocolError, Spec,
    compare_locally,
};
use veilpath_session::{Fault, SessionError, compare_on_loopback};

fn cohort(scanpaths: &[&[u16]]) -> Cohort {
    let entries = scanpaths.iter().enumerate().map(|(index, letters)| Entry {
        participant: format!("p{index}"),
        group: None,
        stimulus: None,
        scanpath: Scanpath::new(letters.to_vec()),
        fixations: None,
    });
    Cohort {
        alphabet: Alphabet::letters(4).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

fn paillier() -> Engine {
    let size = veilpath_protocol::KeySize::Bits512;
    Engine::Paillier(PaillierOptions::new(size, true).unwrap())
}

fn spec(engine: Engine) -> Spec {
    let any = cohort(&[]);
    Spec::new(engine, Metric::Levenshtein, PairRule::All, &any, &any).unwrap()
}

/// Whether the computation has started.
#[derive(Default)]
struct Started(AtomicBool);

impl Observer for Started {
    fn started(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[derive(Default)]
struct Counts(AtomicU64);

impl Observer for Counts {
    fn cells(&self, finished: u64) {
        self.0.fetch_add(finished, Ordering::Relaxed);
    }
}

#[test]
fn every_engine_gives_the_scores_and_the_labels_of_the_direct_comparison() {
    let (a, b) = (
        cohort(&[&[0, 1, 2, 3], &[], &[3, 3]]),
        cohort(&[&[1, 2], &[3, 2, 1, 0, 1]]),
    );
    let direct = compare_locally(spec(Engine::Plain), &a, &b, &()).unwrap();
    for engine in [Engine::Plain, paillier()] {
        let of_host = Counts::default();
        let spec = spec(engine);
        let outcome = compare_on_loopback(&spec, None, [&a, &b], [&of_host, &()]).unwrap();
        assert_eq!(outcome.results, direct.results);
        assert_eq!((&outcome.a, &outcome.b), (&direct.a, &direct.b));
        assert_eq!(outcome.spec, spec);
        let cells = outcome.cost.cells;
        assert_eq!((cells, of_host.0.into_inner()), (direct.cost.cells, cells));
        // Rosters and terms count as they do between two machines.
        assert!(outcome.cost.bytes_sent > direct.cost.bytes_sent);
        let learned = |what: &str| outcome.revealed.iter().any(|row| row.what.contains(what));
        assert!(learned("how many scanpaths there are"));
    }
}

/// Before anything is signed or charged. The engine checks every pair again.
#[test]
fn numbers_that_do_not_fit_an_output_are_refused_at_agreement() {
    let long = vec![0; 1100];
    let (a, b) = (cohort(&[&long]), cohort(&[&long]));
    let [rec, det, lam, _, _, corm] = CrqaMeasure::ALL;
    let metric = Metric::Crqa(Crqa {
        rule: RecurrenceRule::SameLetter,
        line: 2,
        measures: vec![rec, det, lam, corm],
        undefined: Undefined::Missing,
        rounded: true,
    });
    for engine in [Engine::Garbled, Engine::Shares] {
        let spec = Spec::new(engine, metric.clone(), PairRule::All, &a, &b).unwrap();
        let started = Started::default();
        let refused = compare_on_loopback(&spec, None, [&a, &b], [&started, &()]).unwrap_err();
        let too_many = ProtocolError::Job(JobError::TooManyNumbers {
            host: 1100,
            join: 1100,
        });
        assert!(
            matches!(&refused, SessionError::Protocol(error) if *error == too_many),
            "{refused}"
        );
        assert!(!started.0.into_inner(), "{engine:?}");
    }
}

/// Nothing that is sent or written depends on whether participants have groups, or on how long their names are.
#[test]
fn groups_stay_on_their_side() {
    let (plain_a, plain_b) = (cohort(&[&[0, 1, 2, 3], &[3]]), cohort(&[&[1, 2], &[3, 2]]));
    let name = "secret-group-".repeat(300);
    let with_groups = |cohort: &Cohort| {
        let mut cohort = cohort.clone();
        for (number, entry) in cohort.entries.iter_mut().enumerate() {
            entry.group = Some(format!("{name}{number}"));
        }
        cohort
    };
    let (a, b) = (with_groups(&plain_a), with_groups(&plain_b));
    for engine in [Engine::Plain, Engine::Garbled, Engine::Shares, paillier()] {
        let run = |cohorts| compare_on_loopback(&spec(engine), None, cohorts, [&(), &()]).unwrap();
        let (without, with) = (run([&plain_a, &plain_b]), run([&a, &b]));
        assert_eq!(without.results, with.results);
        // The rounds of paillier, and their headers, depend on which side is faster.
        if !matches!(engine, Engine::Paillier(_)) {
            let sent = |outcome: &Outcome| (outcome.cost.bytes_sent, outcome.cost.bytes_received);
            assert_eq!(sent(&without), sent(&with), "{engine:?}");
        }
        for stored in [&with, &compare_locally(spec(engine), &a, &b, &()).unwrap()] {
            let file = serde_json::to_string(stored).unwrap();
            assert!(!file.contains("secret-group"), "{engine:?}");
        }
    }
}

#[test]
fn the_error_of_the_failing_side_is_returned() {
    let (good, bad) = (cohort(&[&[0, 1]]), cohort(&[&[0, 9]]));
    for engine in [Engine::Plain, paillier()] {
        for cohorts in [[&good, &bad], [&bad, &good]] {
            let start = Instant::now();
            let error = compare_on_loopback(&spec(engine), None, cohorts, [&(), &()]).unwrap_err();
            let fault = error.fault();
            match (engine, &error) {
                // The joining side sends its scanpaths, and the host detects the problem.
                (Engine::Plain, SessionError::Protocol(ProtocolError::PeerMisbehaved(_))) => {}
                (_, SessionError::Protocol(_)) => assert_eq!(fault, Fault::Usage, "{error}"),
                _ => unreachable!("{error}"),
            }
            assert!(start.elapsed() < Duration::from_secs(10), "{error}");
        }
    }
}

#[test]
fn an_empty_comparison_is_refused_as_a_limit() {
    let (some, none) = (cohort(&[&[0]]), cohort(&[]));
    let error = compare_on_loopback(&spec(Engine::Plain), None, [&some, &none], [&(), &()]);
    let error = error.unwrap_err();
    assert!(matches!(error, SessionError::Limit(_)), "{error}");
}

#[test]
#[should_panic(expected = "an observer's own mistake")]
fn a_panic_of_either_side_is_propagated() {
    struct Panics;
    impl Observer for Panics {
        fn scored(&self, _: usize, _: veilpath_protocol::Answer) {
            unreachable!("an observer's own mistake");
        }
    }
    let one = cohort(&[&[0]]);
    let _ = compare_on_loopback(&spec(Engine::Plain), None, [&one, &one], [&(), &Panics]);
}

/// The fastest of several runs, so that a busy machine does not matter.
fn fastest(mut run: impl FnMut()) -> Duration {
    let times = (0..15).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    times.min().unwrap()
}

#[test]
fn two_sides_connect_and_close_without_waiting() {
    let letters: Vec<u16> = (0..100).map(|index| index % 4).collect();
    let one = cohort(&[&letters]);
    let spec = spec(Engine::Plain);
    let direct = fastest(|| {
        compare_locally(spec.clone(), &one, &one, &()).unwrap();
    });
    let session = fastest(|| {
        compare_on_loopback(&spec, None, [&one, &one], [&(), &()]).unwrap();
    });
    println!("100×100 in {direct:?} directly, in {session:?} over TLS");
    // Generous, because other tests run at the same time.
    assert!(session < direct + Duration::from_millis(100), "{session:?}");
}

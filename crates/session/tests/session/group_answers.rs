//! Answers about groups between two sides: what comes out, what is refused, and what survives a broken connection.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use crate::broken_connections::World;
use veilpath_metrics::Scanpath;
use veilpath_protocol::{
    Engine, GroupAnswer, GroupTest, KeySize, PaillierOptions, PairRule, Reveal, RevealTo, Spec,
    compare_locally_with_coins,
};
use veilpath_session::{DisclosureRefusal, Limit, SessionError, UsageError};

const QUESTIONS: [&str; 8] = [
    "mean",
    "mean:overall",
    "groups",
    "test:sites,30",
    "test:groups,30",
    "nearest:5",
    "nearest:5,rate",
    "histogram:3",
];

/// Six participants in two groups, on each side; every group has three.
fn world(engine: Engine, question: &str, minimum: u32) -> World {
    let mut world = World::new(engine, 6, 8);
    for proposal in &mut world.proposals {
        proposal.spec.reveal = question.parse().unwrap();
        proposal.disclosure.minimum_group = minimum;
        for (place, entry) in proposal.cohort.entries.iter_mut().enumerate() {
            entry.group = Some(["control", "patient"][place % 2].into());
        }
    }
    world
}

/// The answer in the clear, with the coins of a private test.
fn oracle(world: &World, answer: &GroupAnswer) -> GroupAnswer {
    let [a, b] = &world.proposals;
    let plain = Spec {
        engine: Engine::Plain,
        ..a.spec.clone()
    };
    let coins = match answer {
        GroupAnswer::Test(GroupTest { coins, .. }) => bytes(coins.as_ref().unwrap()),
        _ => [0; 32],
    };
    let outcome = compare_locally_with_coins(plain, &a.cohort, &b.cohort, coins, &()).unwrap();
    outcome.answers.into_iter().next().unwrap()
}

fn bytes(hex: &str) -> [u8; 32] {
    let digits = |at: usize| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap();
    std::array::from_fn(digits)
}

fn run(world: &World) -> [Result<GroupAnswer, SessionError>; 2] {
    world.run_through(i64::MAX).0.map(|ended| {
        let outcome = ended?.outcome;
        assert!(outcome.results.is_empty());
        Ok(outcome.answers.into_iter().next().unwrap())
    })
}

fn error(world: &World) -> SessionError {
    let ended = world.run_through(i64::MAX).0.map(Result::unwrap_err);
    let declined = |error: &SessionError| matches!(error, SessionError::Declined(_));
    ended.into_iter().find(|error| !declined(error)).unwrap()
}

#[test]
fn both_sides_get_the_answer_in_the_clear_and_nothing_else() {
    for engine in [Engine::Garbled, Engine::Shares] {
        for question in QUESTIONS {
            let world = world(engine, question, 3);
            let [host, join] =
                run(&world).map(|it| it.unwrap_or_else(|e| panic!("{question}: {e}")));
            assert_eq!(host, join, "{question}");
            let mut expected = oracle(&world, &host);
            if let GroupAnswer::Histogram(histogram) = &mut expected {
                // Alone, nothing is hidden.
                histogram.minimum = 3;
                for count in &mut histogram.bins.counts {
                    *count = count.filter(|count| *count >= 3);
                }
            }
            if !has_hidden_counts(&expected) && !has_hidden_counts(&host) {
                assert_eq!(host, expected, "{question} by {engine:?}");
            }
        }
    }
}

fn has_hidden_counts(answer: &GroupAnswer) -> bool {
    matches!(answer, GroupAnswer::Histogram(it) if it.bins.counts.contains(&None))
}

/// Every start of a pair counts, because the host sees masked numbers; the answer counts besides.
#[test]
fn paillier_keeps_shares_of_results() {
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let world = world(Engine::Paillier(options), "mean:overall", 3);
    let total = {
        let (ended, passed) =
            self::world(Engine::Paillier(options), "mean:overall", 3).run_through(i64::MAX);
        let _ = ended.map(Result::unwrap);
        passed
    };
    for part in [3, 6, 9] {
        let _ = world.run_through(total * part / 10);
    }
    let [host, join] = run(&world).map(Result::unwrap);
    assert_eq!(host, join);
    assert_eq!(host, oracle(&world, &host));
    assert_eq!([world.disclosed(0), world.disclosed(1)], [1, 1]);
}

#[test]
fn one_side_alone_may_get_the_answer() {
    for to in [RevealTo::Host, RevealTo::Join] {
        let mut world = world(Engine::Shares, "groups", 3);
        for proposal in &mut world.proposals {
            proposal.spec.reveal_to = to;
        }
        let ended = world
            .run_through(i64::MAX)
            .0
            .map(|it| it.unwrap().outcome.answers);
        let known = usize::from(to == RevealTo::Join);
        assert_eq!(ended[known].len(), 1);
        assert!(ended[1 - known].is_empty());
    }
}

#[test]
fn a_connection_that_breaks_opens_one_answer_and_counts_it_once() {
    for (engine, question) in [
        (Engine::Shares, "groups"),
        (Engine::Garbled, "test:groups,30"),
        (Engine::Shares, "test:sites,30"),
    ] {
        let total = {
            let (ended, passed) = world(engine, question, 3).run_through(i64::MAX);
            let _ = ended.map(Result::unwrap);
            passed
        };
        let world = world(engine, question, 3);
        let mut answers = Vec::new();
        for round in 1..12 {
            // Most of the breaks are among the last messages, where the answer is opened.
            let place = match round {
                1..5 => total * round / 6,
                _ => total - 4200 + 350 * (round - 4),
            };
            let (ended, _) = world.run_through(place);
            let known = ended.into_iter().filter_map(Result::ok);
            answers.extend(known.map(|it| it.outcome.answers[0].clone()));
        }
        let [host, join] = run(&world).map(Result::unwrap);
        assert_eq!(host, join);
        assert!(answers.iter().all(|answer| *answer == host), "{question}");
        assert_eq!(host, oracle(&world, &host), "{question}");
        for side in 0..2 {
            // Means with two groups of the partner are two about everybody.
            let cost = if question == "groups" { 2 } else { 1 };
            assert_eq!(world.disclosed(side), cost, "{question}");
        }
    }
}

#[test]
fn small_groups_and_differences_are_refused() {
    let small = world(Engine::Shares, "groups", 4);
    assert!(matches!(
        error(&small),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallCell {
            minimum: 4,
            ..
        }))
    ));
    // The larger minimum of the two sides applies.
    let mut larger = world(Engine::Shares, "mean", 2);
    larger.proposals[1].disclosure.minimum_group = 7;
    assert!(matches!(
        error(&larger),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallCell {
            minimum: 7,
            ..
        }))
    ));
    let mut world = world(Engine::Shares, "mean:overall", 3);
    let _ = run(&world).map(Result::unwrap);
    world.proposals[0].cohort.entries.pop();
    assert!(matches!(
        error(&world),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::Differencing { .. }))
    ));
    // Scores of all but one would say what the mean hides.
    for proposal in &mut world.proposals {
        proposal.spec.reveal = Reveal::Score;
    }
    assert!(matches!(
        error(&world),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::Differencing { .. }))
    ));
}

/// A stimulus that one participant has seen, in a mean over all stimuli: the others' scores can be known beforehand.
#[test]
fn a_stimulus_that_few_have_seen_is_refused() {
    let mut world = world(Engine::Shares, "mean:overall", 3);
    for proposal in &mut world.proposals {
        proposal.spec.pairs = PairRule::SameStimulus;
        for (place, entry) in proposal.cohort.entries.iter_mut().enumerate() {
            entry.stimulus = Some(if place == 0 { "rare" } else { "common" }.into());
        }
    }
    assert!(matches!(
        error(&world),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallCell {
            participants: 1,
            ..
        }))
    ));
}

/// Scanpaths without letters have known scores, so they hide nobody.
#[test]
fn scanpaths_without_letters_do_not_count() {
    let mut world = world(Engine::Shares, "mean:overall", 3);
    for entry in &mut world.proposals[0].cohort.entries[1..] {
        entry.scanpath = Scanpath::new(Vec::new());
    }
    assert!(matches!(
        error(&world),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallCell {
            participants: 1,
            ..
        }))
    ));
}

#[test]
fn a_cohort_without_groups_is_refused_before_anything_is_sent() {
    let mut world = world(Engine::Shares, "groups", 3);
    world.proposals[1].cohort.entries[0].group = None;
    let ended = world.run_through(i64::MAX).0.map(Result::unwrap_err);
    assert!(matches!(
        ended[1],
        SessionError::Usage(UsageError::NoGroups)
    ));
    let mut plain = self::world(Engine::Plain, "groups", 3);
    plain.proposals[0].spec.reveal = Reveal::Group("mean".parse().unwrap());
    let ended = plain.run_through(i64::MAX).0.map(Result::unwrap_err);
    assert!(ended.iter().any(|it| matches!(
        it,
        SessionError::Usage(UsageError::EngineWithoutGroups { .. })
    )));
}

//! Answers about groups between two sides: results, refusals, and broken connections.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

mod published;
mod sizes;

use crate::broken_connections::Setup;
use std::collections::BTreeSet;
use veilpath_metrics::{Comparison, Metric, Scanpath};
use veilpath_protocol::{
    Engine, GroupAnswer, GroupTest, KeySize, PaillierOptions, PairRule, ProtocolError, Reveal,
    RevealTo, Spec, compare_locally_with_coins,
};
use veilpath_session::{DisclosureRefusal, Limit, SessionError, UsageError};

const QUESTIONS: [&str; 10] = [
    "mean",
    "mean:overall",
    "groups",
    "groups,published",
    "test:sites,30",
    "test:groups,30",
    "test:groups,30,published",
    "nearest:5",
    "nearest:5,rate",
    "histogram:3",
];

/// Six participants in two groups, on each side; every group has three.
fn setup(engine: Engine, question: &str, minimum: u32) -> Setup {
    let mut setup = Setup::new(engine, 6, 8);
    for proposal in &mut setup.proposals {
        proposal.spec.reveal = question.parse().unwrap();
        proposal.disclosure.minimum_group = minimum;
        for (index, entry) in proposal.cohort.entries.iter_mut().enumerate() {
            entry.group = Some(["control", "patient"][index % 2].into());
        }
    }
    setup
}

/// The answer in the clear, with the coins of a private test.
fn oracle(setup: &Setup, answer: &GroupAnswer) -> GroupAnswer {
    let [a, b] = &setup.proposals;
    let plain = Spec {
        engine: Engine::Plain,
        reveal_to: RevealTo::Both,
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

fn run(setup: &Setup) -> [Result<GroupAnswer, SessionError>; 2] {
    setup.run_through(i64::MAX).0.map(|result| {
        let outcome = result?.outcome;
        assert!(outcome.results.is_empty());
        Ok(outcome.answers.into_iter().next().unwrap())
    })
}

fn error(setup: &Setup) -> SessionError {
    let results = setup.run_through(i64::MAX).0.map(Result::unwrap_err);
    let declined = |error: &SessionError| matches!(error, SessionError::Declined(_));
    results.into_iter().find(|error| !declined(error)).unwrap()
}

#[test]
fn both_sides_get_only_the_answer_computed_in_the_clear() {
    // The engines share the questions.
    answers_are_those_in_the_clear(|number, engine| {
        (number % 4 < 2) == (engine == Engine::Garbled)
    });
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn both_sides_get_only_the_answer_computed_in_the_clear_by_every_engine() {
    answers_are_those_in_the_clear(|_, _| true);
}

fn answers_are_those_in_the_clear(is_taken: impl Fn(usize, Engine) -> bool) {
    for engine in [Engine::Garbled, Engine::Shares] {
        let questions = QUESTIONS.into_iter().enumerate();
        for (_, question) in questions.filter(|(number, _)| is_taken(*number, engine)) {
            let setup = setup(engine, question, 3);
            let [host, join] =
                run(&setup).map(|it| it.unwrap_or_else(|e| panic!("{question}: {e}")));
            assert_eq!(host, join, "{question}");
            let mut expected = oracle(&setup, &host);
            hide_small_counts(&setup, &mut expected);
            assert_eq!(host, expected, "{question} by {engine:?}");
        }
    }
}

/// With these bins some counts are shown and some are not.
#[test]
fn small_counts_are_hidden_together_with_another() {
    let mut patterns = BTreeSet::new();
    for bins in [2, 3, 5, 8] {
        let setup = setup(Engine::Shares, &format!("histogram:{bins}"), 3);
        let [host, join] = run(&setup).map(Result::unwrap);
        assert_eq!(host, join);
        let mut expected = oracle(&setup, &host);
        hide_small_counts(&setup, &mut expected);
        assert_eq!(host, expected, "{bins} bins");
        let GroupAnswer::Histogram(found) = host else {
            panic!("not a histogram")
        };
        let hidden = found.bins.counts.iter().filter(|it| it.is_none()).count();
        // One alone would follow from the number of pairs.
        assert_ne!(hidden, 1);
        patterns.insert((hidden > 0, hidden < bins));
    }
    assert!(patterns.contains(&(true, true)), "{patterns:?}");
}

/// In a histogram in the clear, which hides nothing, hides the counts that are about fewer than three participants of a
/// side, and the smallest of the others.
fn hide_small_counts(setup: &Setup, answer: &mut GroupAnswer) {
    let GroupAnswer::Histogram(histogram) = answer else {
        return;
    };
    histogram.minimum = 3;
    let [a, b] = &setup.proposals;
    let bins = histogram.bins.counts.len();
    let mut members = vec![[BTreeSet::new(), BTreeSet::new()]; bins];
    let mut counts = vec![0; bins];
    for (i, x) in a.cohort.entries.iter().enumerate() {
        for (j, y) in b.cohort.entries.iter().enumerate() {
            let comparison = Comparison::new(Metric::Levenshtein, a.cohort.alphabet).unwrap();
            let distance = comparison.raw(&x.scanpath, &y.scanpath).unwrap();
            let distance = usize::try_from(distance).unwrap();
            let longer = x.scanpath.len().max(y.scanpath.len());
            let bin = ((longer - distance) * bins / longer).min(bins - 1);
            members[bin][0].insert(i);
            members[bin][1].insert(j);
            counts[bin] += 1;
        }
    }
    // The oracle counts the same.
    let shown: Vec<Option<u64>> = counts.iter().copied().map(Some).collect();
    assert_eq!(histogram.bins.counts, shown);
    let is_large = |bin: &usize| members[*bin].iter().all(|it| it.len() >= 3);
    let large: Vec<usize> = (0..bins).filter(is_large).collect();
    let smallest = large.iter().copied().min_by_key(|bin| counts[*bin]);
    for (bin, count) in histogram.bins.counts.iter_mut().enumerate() {
        let beside = large.len() < bins && smallest == Some(bin);
        if !large.contains(&bin) || beside {
            *count = None;
        }
    }
}

/// Every start of a pair counts, because the host sees masked numbers. The answer counts as well.
#[test]
fn paillier_keeps_shares_of_results() {
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let setup = setup(Engine::Paillier(options), "mean:overall", 3);
    let total = {
        let (results, passed) =
            self::setup(Engine::Paillier(options), "mean:overall", 3).run_through(i64::MAX);
        let _ = results.map(Result::unwrap);
        passed
    };
    for part in [3, 6, 9] {
        let _ = setup.run_through(total * part / 10);
    }
    let [host, join] = run(&setup).map(Result::unwrap);
    assert_eq!(host, join);
    assert_eq!(host, oracle(&setup, &host));
    assert_eq!([setup.disclosed(0), setup.disclosed(1)], [1, 1]);
}

/// Works for means, the test of sites, and what is linear once groups are published. The other questions fail before
/// anything is sent.
#[test]
fn paillier_answers_with_public_labels_only() {
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    for (question, is_answered) in [
        ("test:sites,9", true),
        ("groups,published", true),
        ("test:groups,9,published", true),
        ("groups", false),
        ("test:groups,9", false),
        ("nearest:5,rate", false),
        ("histogram:3", false),
    ] {
        let setup = setup(Engine::Paillier(options), question, 3);
        if is_answered {
            let [host, join] = run(&setup).map(Result::unwrap);
            assert_eq!([&host, &join], [&oracle(&setup, &host); 2], "{question}");
            continue;
        }
        let (results, passed) = setup.run_through(i64::MAX);
        let refused = |it: &Result<_, SessionError>| {
            let error = it.as_ref().err();
            matches!(
                error,
                Some(SessionError::Protocol(ProtocolError::Unsupported(_)))
            )
        };
        assert!(results.iter().any(refused), "{question}");
        // Handshakes, and no roster.
        assert!(passed < 10_000, "{question}: {passed}");
        assert_eq!([setup.disclosed(0), setup.disclosed(1)], [0, 0]);
    }
}

/// Two histograms whose ranges differ would show counts that each of them hides.
#[test]
fn participants_are_in_one_histogram() {
    let mut setup = setup(Engine::Shares, "histogram:2", 3);
    let _ = run(&setup).map(Result::unwrap);
    // Again the same answer: it is stored.
    let _ = run(&setup).map(Result::unwrap);
    for proposal in &mut setup.proposals {
        proposal.spec.reveal = "histogram:4".parse().unwrap();
    }
    assert!(matches!(
        error(&setup),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::HistogramOverlap {
            participants: 6
        }))
    ));
}

/// The groups of the joining side are assigned to the host's scanpaths, whose own groups are not used.
#[test]
fn a_host_without_groups_learns_the_nearest() {
    for to in [RevealTo::Both, RevealTo::Join] {
        let mut setup = setup(Engine::Shares, "nearest:5", 3);
        for proposal in &mut setup.proposals {
            proposal.spec.reveal_to = to;
        }
        for entry in &mut setup.proposals[0].cohort.entries {
            entry.group = None;
        }
        let [_, join] = setup.run_through(i64::MAX).0.map(Result::unwrap);
        let join = join.outcome.answers.into_iter().next().unwrap();
        assert_eq!(join, oracle(&setup, &join));
        assert_eq!(setup.disclosed(0), 1);
    }
}

#[test]
fn one_side_alone_may_get_the_answer() {
    for to in [RevealTo::Host, RevealTo::Join] {
        let mut setup = setup(Engine::Shares, "groups", 3);
        for proposal in &mut setup.proposals {
            proposal.spec.reveal_to = to;
        }
        let result = setup
            .run_through(i64::MAX)
            .0
            .map(|it| it.unwrap().outcome.answers);
        let known = usize::from(to == RevealTo::Join);
        assert_eq!(result[known].len(), 1);
        assert!(result[1 - known].is_empty());
    }
}

#[test]
fn a_connection_that_breaks_opens_one_answer_and_counts_it_once() {
    break_connections(3);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn a_connection_that_breaks_anywhere_opens_one_answer_and_counts_it_once() {
    break_connections(1);
}

/// Breaks the connection at every `step`th place, in turn.
fn break_connections(step: usize) {
    for (number, (engine, question)) in [
        (Engine::Shares, "groups"),
        (Engine::Shares, "groups,published"),
        (Engine::Garbled, "test:groups,30"),
        (Engine::Garbled, "test:groups,30,published"),
        (Engine::Shares, "test:sites,30"),
    ]
    .into_iter()
    .enumerate()
    {
        let total = {
            let (results, passed) = setup(engine, question, 3).run_through(i64::MAX);
            let _ = results.map(Result::unwrap);
            passed
        };
        let setup = setup(engine, question, 3);
        let mut answers = Vec::new();
        for round in (1..12).skip(number % step).step_by(step) {
            // Most of the breaks are among the last messages, where the answer is opened.
            let bytes = match round {
                1..5 => total * round / 6,
                _ => total - 4200 + 350 * (round - 4),
            };
            let (results, _) = setup.run_through(bytes);
            let completed = results.into_iter().filter_map(Result::ok);
            answers.extend(completed.map(|it| it.outcome.answers[0].clone()));
        }
        let [host, join] = run(&setup).map(Result::unwrap);
        assert_eq!(host, join);
        assert!(answers.iter().all(|answer| *answer == host), "{question}");
        assert_eq!(host, oracle(&setup, &host), "{question}");
        for side in 0..2 {
            // Means with two groups of the partner are two numbers about everybody; a test opens a statistic and a
            // count.
            assert_eq!(setup.disclosed(side), 2, "{question}");
        }
    }
}

#[test]
fn small_groups_and_differences_are_refused() {
    let small = setup(Engine::Shares, "groups", 4);
    assert!(matches!(
        error(&small),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallPart {
            minimum: 4,
            ..
        }))
    ));
    // The larger minimum of the two sides applies.
    let mut larger = setup(Engine::Shares, "mean", 2);
    larger.proposals[1].disclosure.minimum_group = 7;
    assert!(matches!(
        error(&larger),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallPart {
            minimum: 7,
            ..
        }))
    ));
    let mut setup = setup(Engine::Shares, "mean:overall", 3);
    let _ = run(&setup).map(Result::unwrap);
    setup.proposals[0].cohort.entries.pop();
    assert!(matches!(
        error(&setup),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::Differencing { .. }))
    ));
    // Scores of all but one would say what the mean hides.
    for proposal in &mut setup.proposals {
        proposal.spec.reveal = Reveal::Score;
    }
    assert!(matches!(
        error(&setup),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::Differencing { .. }))
    ));
}

/// A stimulus that only one participant has seen, in a mean over all stimuli: the scores of the other stimuli can be
/// known beforehand.
#[test]
fn a_stimulus_seen_by_few_participants_is_refused() {
    let mut setup = setup(Engine::Shares, "mean:overall", 3);
    for proposal in &mut setup.proposals {
        proposal.spec.pair_rule = PairRule::SameStimulus;
        for (index, entry) in proposal.cohort.entries.iter_mut().enumerate() {
            entry.stimulus = Some(if index == 0 { "rare" } else { "common" }.into());
        }
    }
    assert!(matches!(
        error(&setup),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallPart {
            participants: 1,
            ..
        }))
    ));
}

/// Scanpaths without letters have known scores, so they hide nobody.
#[test]
fn scanpaths_without_letters_do_not_count() {
    let mut setup = setup(Engine::Shares, "mean:overall", 3);
    for entry in &mut setup.proposals[0].cohort.entries[1..] {
        entry.scanpath = Scanpath::new(Vec::new());
    }
    assert!(matches!(
        error(&setup),
        SessionError::Limit(Limit::Disclosure(DisclosureRefusal::SmallPart {
            participants: 1,
            ..
        }))
    ));
}

#[test]
fn a_cohort_without_groups_is_refused_before_anything_is_sent() {
    let mut setup = setup(Engine::Shares, "groups", 3);
    setup.proposals[1].cohort.entries[0].group = None;
    let results = setup.run_through(i64::MAX).0.map(Result::unwrap_err);
    assert!(matches!(
        results[1],
        SessionError::Usage(UsageError::NoGroups { .. })
    ));
    let mut plain = self::setup(Engine::Plain, "groups", 3);
    plain.proposals[0].spec.reveal = Reveal::Group("mean".parse().unwrap());
    let results = plain.run_through(i64::MAX).0.map(Result::unwrap_err);
    assert!(results.iter().any(|it| matches!(
        it,
        SessionError::Usage(UsageError::EngineWithoutGroups { .. })
    )));
}

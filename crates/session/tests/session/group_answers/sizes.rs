//! The other side sees the sizes of groups before it sees an answer, even if it gets none.

use super::*;
use veilpath_metrics::Entry;
use veilpath_protocol::Estimate;

/// Twelve participants on each side, six in each group.
fn larger(question: &str) -> Setup {
    larger_with(Engine::Shares, question)
}

fn larger_with(engine: Engine, question: &str) -> Setup {
    let mut setup = setup(engine, question, 3);
    for proposal in &mut setup.proposals {
        for (index, entry) in proposal.cohort.entries.clone().into_iter().enumerate() {
            let participant = format!("Q{index}");
            proposal.cohort.entries.push(Entry {
                participant,
                ..entry
            });
        }
    }
    setup
}

/// Whether a cohort of the host with one participant fewer is refused, because the difference would be about this participant.
fn is_refused_with_one_fewer(setup: &mut Setup) -> bool {
    let removed = setup.proposals[0].cohort.entries.pop().unwrap();
    let results = setup.run_through(i64::MAX).0;
    setup.proposals[0].cohort.entries.push(removed);
    results.iter().any(|result| {
        matches!(
            result,
            Err(SessionError::Limit(Limit::Disclosure(
                DisclosureRefusal::Differencing {
                    participants: 1,
                    ..
                }
            )))
        )
    })
}

/// With ids, two lists of sizes that differ by one participant reveal this participant's group, even if the other side
/// learns no answer.
#[test]
fn group_sizes_are_refused_for_one_participant_fewer() {
    let mut setup = larger("groups");
    for proposal in &mut setup.proposals {
        proposal.spec.reveal_to = RevealTo::Host;
    }
    let _ = setup.run_through(i64::MAX).0.map(Result::unwrap);
    // Nothing was charged: the joining side has learned no answer.
    assert_eq!(setup.disclosed(0), 0);
    assert!(is_refused_with_one_fewer(&mut setup));
}

/// An estimate reveals the sizes of groups, but no answer. So it is free, and remembered.
#[test]
fn group_sizes_revealed_by_an_estimate_are_remembered() {
    for question in [
        "groups",
        "groups,published",
        "test:groups,30",
        "nearest:5,rate",
    ] {
        for asking in 0..2 {
            let mut setup = larger(question);
            setup.proposals[asking].estimate_only = true;
            for result in setup.run_through(i64::MAX).0 {
                assert!(
                    matches!(result, Err(SessionError::EstimateOnly)),
                    "{question}"
                );
            }
            assert_eq!([setup.disclosed(0), setup.disclosed(1)], [0, 0]);
            setup.proposals[asking].estimate_only = false;
            assert!(is_refused_with_one_fewer(&mut setup), "{question}");
            // The plan that was estimated is still allowed.
            let _ = run(&setup).map(Result::unwrap);
        }
    }
    // An answer that needs no groups reveals nothing beforehand.
    let mut setup = larger("mean:overall");
    setup.proposals[0].estimate_only = true;
    let _ = setup.run_through(i64::MAX).0.map(Result::unwrap_err);
    setup.proposals[0].estimate_only = false;
    assert!(!is_refused_with_one_fewer(&mut setup));
}

/// Wherever the connection breaks: sizes are remembered from the moment at which they may have been sent, and the answer that was planned
/// is still computed, and counted once.
#[test]
fn group_sizes_of_an_interrupted_session_are_remembered() {
    for question in ["groups", "test:groups,30,published"] {
        let (results, total) = larger(question).run_through(i64::MAX);
        let _ = results.map(Result::unwrap);
        let mut refused = Vec::new();
        for part in [1, 3, 5, 7, 9] {
            let mut setup = larger(question);
            let (results, _) = setup.run_through(total * part / 20);
            assert!(results.iter().all(Result::is_err), "{question} {part}");
            let nothing = [setup.disclosed(0), setup.disclosed(1)] == [0, 0];
            assert!(nothing, "{question} {part}");
            refused.push(is_refused_with_one_fewer(&mut setup));
            if refused.last() == Some(&true) {
                let [host, join] = run(&setup).map(Result::unwrap);
                assert_eq!(host, join);
                assert_eq!(setup.disclosed(0), 2, "{question} {part}");
            }
        }
        assert!(refused.is_sorted(), "{question}: {refused:?}");
        assert!(refused.contains(&true), "{question}: {refused:?}");
    }
}

/// What both sides estimate for a plan.
fn estimate(setup: &Setup) -> Estimate {
    let [host, join] = setup.summaries().map(Result::unwrap);
    assert_eq!(host.estimate.rounds, join.estimate.rounds);
    assert_eq!(host.estimate.bytes_to_host, join.estimate.bytes_to_host);
    let minimum = host.groups.map(|groups| groups.minimum);
    assert_eq!(minimum, host.reveal.group_question().map(|_| 3));
    host.estimate
}

/// The estimate is close to what is sent.
#[test]
fn estimates_include_the_statistics() {
    for question in QUESTIONS {
        let setup = larger(question);
        let estimated = estimate(&setup);
        let [result, _] = setup.run_through(i64::MAX).0;
        let made = result.unwrap().outcome.cost;
        for (estimated, made) in [
            (estimated.bytes_to_host, made.bytes_received),
            (estimated.rounds, made.rounds),
        ] {
            assert!(
                estimated <= 2 * made && made <= 2 * estimated,
                "{question}: {estimated} estimated, {made} made"
            );
        }
    }
}

/// With the engine `garbled`, whose estimated bytes do not depend on the connection: group answers take more
/// than scores, and more groups take more.
#[test]
fn estimates_depend_on_the_question_and_the_number_of_groups() {
    let mut scores = larger_with(Engine::Garbled, "mean");
    for proposal in &mut scores.proposals {
        proposal.spec.reveal = Reveal::Score;
    }
    let scores = estimate(&scores);
    for question in QUESTIONS {
        let estimated = estimate(&larger_with(Engine::Garbled, question));
        assert!(estimated.bytes_to_join > scores.bytes_to_join, "{question}");
        assert!(estimated.rounds > scores.rounds, "{question}");
    }
    let with_groups = |count: usize| {
        let mut setup = larger_with(Engine::Garbled, "groups");
        for proposal in &mut setup.proposals {
            for (index, entry) in proposal.cohort.entries.iter_mut().enumerate() {
                entry.group = Some(format!("g{}", index % count));
            }
        }
        estimate(&setup).bytes_to_join
    };
    assert!(with_groups(4) > with_groups(2));
}

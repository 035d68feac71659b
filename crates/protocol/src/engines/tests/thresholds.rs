//! One bit per pair, with every engine that can hide the rest, and the errors of the other engines.

use super::*;
use crate::{Answer, Capability, Reveal, RevealTo, Unsupported};
use veilpath_metrics::Threshold;

fn threshold(value: f64) -> Reveal {
    Reveal::Threshold(Threshold::new(value).unwrap())
}

/// Uses the score of every `step`th pair, and numbers just below and above it, as thresholds. They must divide the
/// pairs as the scores do.
fn bits_follow_from_scores(engine: Engine, metric: &Metric, a: &Cohort, b: &Cohort, step: usize) {
    let comparison = Comparison::new(metric.clone(), a.alphabet).unwrap();
    let score = |x: usize, y: usize| {
        let (x, y) = (&a.entries[x].scanpath, &b.entries[y].scanpath);
        expected(engine, &comparison, x, y).score()
    };
    let all = crate::pairs_of(PairRule::All, a, b);
    for value in all.iter().step_by(step).map(|&(x, y)| score(x, y)) {
        for value in [value, value.next_down(), value.next_up()] {
            let reveal = threshold(value);
            let mut spec = Spec::new(engine, metric.clone(), PairRule::All, a, b).unwrap();
            spec.reveal = reveal;
            if spec.check().is_err() {
                continue;
            }
            let outcome = compare_locally(spec, a, b, &()).unwrap();
            assert_eq!(outcome.results.len(), all.len());
            for pair in outcome.results.iter() {
                let score = score(pair.a, pair.b);
                let within = if metric.is_distance() {
                    score <= value
                } else {
                    score >= value
                };
                assert_eq!(pair.values, [Value::Bit(within)], "{engine:?} {metric:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn thresholds_of_the_plain_engine_agree_with_scores(a in scanpaths(9), b in scanpaths(9)) {
        for metric in metrics() {
            bits_follow_from_scores(Engine::Plain, &metric, &cohort(&a), &cohort(&b), 1);
        }
    }
}

proptest! {
    // Every run of a private engine begins with slow key generation or base transfers, so the score of one pair is
    // enough.
    #![proptest_config(ProptestConfig::with_cases(1))]
    #[test]
    fn engines_with_thresholds_agree_with_scores(
        a in scanpaths(9), b in scanpaths(9)
    ) {
        for engine in engines() {
            for metric in metrics() {
                if engine.can_reveal(threshold(1.0)) {
                    let all = a.len() * b.len();
                    bits_follow_from_scores(engine, &metric, &cohort(&a), &cohort(&b), all);
                }
            }
        }
    }
}

#[test]
fn errors_name_the_engines_that_support_an_option() {
    let a = cohort(&[vec![1, 2]]);
    let refused = |engine: Engine, change: &dyn Fn(&mut Spec)| {
        let mut spec = Spec::new(engine, Metric::Levenshtein, PairRule::All, &a, &a).unwrap();
        change(&mut spec);
        let error = spec.check().unwrap_err();
        assert_eq!(
            compare_locally(spec.clone(), &a, &a, &()).unwrap_err(),
            error
        );
        let own = [&a.entries[0].scanpath];
        let job = Job::new(&spec, Role::Host, &own, 1, &[(0, 0)]);
        assert_eq!(job.unwrap_err(), error);
        match error {
            ProtocolError::Unsupported(unsupported) => unsupported,
            other => panic!("{other}"),
        }
    };
    let can = |able: &dyn Fn(&Engine) -> bool| -> Vec<&str> {
        let able = Engine::ALL.iter().rev().filter(|engine| able(engine));
        able.map(|engine| engine.name()).collect()
    };
    for engine in engines() {
        if !engine.can_reveal(threshold(1.0)) {
            let error = refused(engine, &|spec| spec.reveal = threshold(1.0));
            let instead = can(&|engine| engine.can_reveal(threshold(1.0)));
            assert!(instead.contains(&"plain"));
            let expected = Unsupported {
                engine: engine.name(),
                capability: Capability::Threshold,
                instead,
            };
            assert_eq!(error, expected);
        }
        if !engine.can_reveal_to(RevealTo::Host) {
            let error = refused(engine, &|spec| spec.reveal_to = RevealTo::Host);
            assert_eq!(error.capability, Capability::OneSidedResults);
        }
        if !engine.can_hide_lengths(&Metric::Levenshtein) {
            let error = refused(engine, &|spec| spec.pad_to = Some(9));
            assert_eq!(error.capability, Capability::HiddenLengths("levenshtein"));
        }
    }
}

#[test]
fn a_spec_with_inconsistent_numbers_is_refused() {
    let a = cohort(&[vec![1]]);
    let mut spec = Spec::new(Engine::Plain, Metric::Levenshtein, PairRule::All, &a, &a).unwrap();
    spec.reveal = threshold(-1.0);
    assert!(matches!(spec.check(), Err(ProtocolError::Metric(_))));
    spec.reveal = threshold(0.0);
    assert_eq!(spec.check(), Ok(()));
    let pair_score = PairScore::new(1.0, Some(0.5));
    assert!(spec.allows(&Answer::Within(true)) && !spec.allows(&Answer::Score(pair_score)));
    spec.reveal = Reveal::Score;
    assert!(!spec.allows(&Answer::Within(true)) && spec.allows(&Answer::Score(pair_score)));
    for score in [1e300, f64::INFINITY, f64::NAN] {
        let answer = Answer::Score(PairScore::new(score, Some(0.5)));
        assert!(!spec.allows(&answer), "no result file has {score}");
    }
    spec.pad_to = Some(4);
    assert!(
        !spec.allows(&Answer::Score(pair_score)),
        "a similarity reveals lengths"
    );
    let without = pair_score.without_similarity();
    assert!(spec.allows(&Answer::Score(without)));
    let count = crate::count_pairs(PairRule::All, &a, &a);
    assert_eq!(spec.cells(&count), 16);
}

/// The joining side of `plain`, against chosen bytes.
#[test]
fn bits_are_encoded_as_0_or_1() {
    let a = cohort(&[vec![1, 2]]);
    let own = [&a.entries[0].scanpath];
    let run = |bytes: &[u8]| {
        let mut spec =
            Spec::new(Engine::Plain, Metric::Levenshtein, PairRule::All, &a, &a).unwrap();
        spec.reveal = threshold(1.0);
        let job = Job::new(&spec, Role::Join, &own, 2, &[(0, 0), (1, 0)]).unwrap();
        let (mut join, mut host) = memory_pair();
        host.send(bytes).unwrap();
        host.flush().unwrap();
        let result = Engine::Plain.run(&job, &mut join, &());
        drop(host);
        result
    };
    assert_eq!(
        run(&[1, 0]),
        Ok(vec![Answer::Within(true), Answer::Within(false)])
    );
    for bytes in [[2, 0], [1, 255]] {
        assert!(matches!(run(&bytes), Err(ProtocolError::PeerMisbehaved(_))));
    }
}

#[test]
fn what_each_side_learns_is_described() {
    let a = cohort(&[vec![1]]);
    let mut spec = Spec::new(Engine::Plain, Metric::Levenshtein, PairRule::All, &a, &a).unwrap();
    let describe = |spec: &Spec| {
        let all = spec.engine.revealed(spec);
        let lines = all.iter().map(|line| format!("{}: {}", line.to, line.what));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert!(!describe(&spec).contains("yes or no"));
    spec.reveal = threshold(2.5);
    spec.reveal_to = RevealTo::Join;
    let message = describe(&spec);
    for words in [
        "host: every scanpath",
        "host: and therefore every score",
        "join: a yes or no for every pair: whether its score is at most 2.5",
    ] {
        assert!(message.contains(words), "{words}\n{message}");
    }
    assert!(!message.contains("host: a yes or no"), "{message}");
}

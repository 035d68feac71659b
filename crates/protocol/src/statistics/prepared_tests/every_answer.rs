//! Every answer × metric × engine, against the answer in the clear.

use super::*;
use crate::Capability;

/// All metrics: alignments and letter metrics.
fn all_metrics() -> Vec<Metric> {
    metrics()
        .into_iter()
        .chain(non_alignment_metrics())
        .collect()
}

/// Compares answers with those in the clear, for the metrics, questions and engines that `is_taken` chooses. Returns the number of
/// cases.
fn compare_all(is_taken: impl Fn(usize, usize, Engine) -> bool) -> usize {
    let (a, b) = (cohort(4, 1..9, 0, 1), cohort(3, 1..9, 0, 2));
    let mut cases = 0;
    for (number, metric) in all_metrics().iter().enumerate() {
        for (index, question) in QUESTIONS.into_iter().enumerate() {
            for engine in [Engine::Garbled, Engine::Shares] {
                let spec = spec(engine, metric, question, &a, &b);
                if !is_taken(number, index, engine) || !is_possible(&spec) {
                    continue;
                }
                let case = format!("{question} by {engine:?} and {metric:?}");
                let expected = expected(&spec, &a, &b).unwrap_or_else(|e| panic!("{case}: {e}"));
                let found = found(&spec, &a, &b).unwrap_or_else(|e| panic!("{case}: {e}"));
                assert_eq!(found, expected, "{case}");
                cases += 1;
            }
        }
    }
    cases
}

/// Whether the engine computes the metric, which must have one number that every pair has. Nothing else is a reason to skip a case.
fn is_possible(spec: &Spec) -> bool {
    match spec.check() {
        Ok(()) => true,
        Err(ProtocolError::Unsupported(it)) => {
            assert!(matches!(it.capability, Capability::Metric(_)), "{it}");
            false
        }
        Err(ProtocolError::Job(error)) => {
            let by_measure = matches!(
                error,
                JobError::SeveralMeasures { .. } | JobError::UndefinedMeasure { .. }
            );
            assert!(by_measure, "{error}");
            false
        }
        Err(error) => panic!("{error}"),
    }
}

/// Whether a short run includes this case: a seventh of the questions for each metric, alternating between the engines.
fn is_short(metric: usize, question: usize, engine: Engine) -> bool {
    (metric + question).is_multiple_of(7)
        && question.is_multiple_of(2) == (engine == Engine::Shares)
}

#[test]
fn answers_equal_those_in_the_clear() {
    assert!(compare_all(is_short) > 20);
}

/// The cases that the short run leaves out.
#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn every_answer_equals_the_one_in_the_clear() {
    let cases = compare_all(|metric, question, engine| !is_short(metric, question, engine));
    // With the short run, all questions by both engines for at least all alignments.
    assert!(
        cases > metrics().len() * QUESTIONS.len() * 2 * 2 / 3,
        "{cases}"
    );
}

/// Compares answers of `paillier` with those in the clear, for the metrics and questions that `is_taken` chooses. Questions that need
/// more than sums are refused.
fn compare_paillier(is_taken: impl Fn(usize, usize) -> bool) {
    let (a, b) = (cohort(4, 0..5, 0, 9), cohort(3, 1..5, 0, 10));
    let options = PaillierOptions::new(KeySize::Bits512, true).unwrap();
    let mut cases = 0;
    for (number, metric) in all_metrics().iter().enumerate() {
        for (index, question) in SUMS.into_iter().enumerate() {
            let spec = spec(Engine::Paillier(options), metric, question, &a, &b);
            if !is_taken(number, index) || !is_possible(&spec) {
                continue;
            }
            let case = format!("{question} by paillier and {metric:?}");
            let expected = expected(&spec, &a, &b).unwrap_or_else(|e| panic!("{case}: {e}"));
            assert_eq!(found(&spec, &a, &b).unwrap(), expected, "{case}");
            cases += 1;
        }
    }
    assert!(cases >= metrics().len(), "{cases}");
}

/// The questions that are sums with public weights.
const SUMS: [&str; 5] = [
    "mean",
    "mean:overall",
    "groups,published",
    "test:sites,50",
    "test:groups,50,published",
];

/// One of the metrics is a local alignment, whose raw result has another offset.
#[test]
fn results_that_paillier_hides_give_the_same_answers() {
    compare_paillier(|metric, question| metric * 2 % SUMS.len() == question);
}

/// The cases that the short run leaves out.
#[test]
#[ignore = "takes a minute; .ci/full runs it"]
fn every_result_that_paillier_hides_gives_the_same_answer() {
    compare_paillier(|metric, question| metric * 2 % SUMS.len() != question);
}

#[test]
fn paillier_answers_sums_with_public_weights_and_nothing_else() {
    let (a, b) = (cohort(4, 1..5, 0, 9), cohort(3, 1..5, 0, 10));
    let paillier = Engine::Paillier(PaillierOptions::DEFAULT);
    for question in QUESTIONS {
        let spec = spec(paillier, &Metric::Levenshtein, question, &a, &b);
        let reason = match spec.check() {
            Ok(()) => None,
            Err(ProtocolError::Unsupported(it)) => Some(it),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(reason.is_none(), SUMS.contains(&question), "{question}");
        let Some(reason) = reason else { continue };
        assert_eq!(reason.instead, ["garbled", "shares", "plain"]);
        let message = match question {
            "groups" | "test:groups,50" => "groups that each side keeps secret",
            _ => "compare results of single pairs",
        };
        assert!(reason.to_string().contains(message), "{reason}");
        // It is also refused without checking it first.
        assert!(matches!(
            found(&spec, &a, &b),
            Err(ProtocolError::Unsupported(_))
        ));
    }
}

/// Published labels change what both sides know, but not the answer, and need no multiplications.
#[test]
fn published_labels_give_the_same_answer_for_less() {
    let (a, b) = (cohort(4, 1..9, 0, 1), cohort(4, 1..9, 0, 2));
    for (secret, published) in [
        ("groups", "groups,published"),
        ("test:groups,200", "test:groups,200,published"),
    ] {
        let run = |question: &str| {
            let spec = spec(Engine::Shares, &Metric::Levenshtein, question, &a, &b);
            compare_locally(spec, &a, &b, &()).unwrap()
        };
        let [secret, published] = [secret, published].map(run);
        assert_eq!(numbers(&secret.answers[0]), numbers(&published.answers[0]));
        assert!(published.cost.bytes_sent < secret.cost.bytes_sent);
        assert!(published.cost.rounds < secret.cost.rounds);
        let reveals = |outcome: &crate::Outcome, what: &str| {
            let revealed = outcome.revealed.iter();
            revealed.filter(|it| it.what.contains(what)).count()
        };
        let membership = "which group each participant of";
        assert_eq!(
            [
                reveals(&secret, membership),
                reveals(&published, membership)
            ],
            [0, 2]
        );
    }
}

fn numbers(answer: &GroupAnswer) -> Vec<Option<f64>> {
    match answer {
        GroupAnswer::GroupMeans(means) => means.means.concat(),
        GroupAnswer::Test(test) => vec![Some(test.value), Some(test.p_value)],
        _ => panic!("another answer"),
    }
}

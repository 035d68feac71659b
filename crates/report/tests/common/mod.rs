//! Outcomes for tests: a few pairs with given numbers.
#![allow(dead_code)] // each test uses part of it

use std::collections::BTreeMap;
use veilpath_metrics::{Alphabet, Metric};
use veilpath_protocol::{
    Bins, Cost, Engine, GroupAnswer, GroupMeans, GroupTest, Interval, NearestLabel, NearestLabels,
    NearestRate, Outcome, PairRule, Results, Reveal, RevealTo, Revealed, ScanpathId,
    ScoreHistogram, Spec, StimulusMean, StimulusMeans, Value,
};

pub(crate) fn spec(reveal: &str) -> Spec {
    Spec {
        engine: Engine::Plain,
        metric: Metric::Levenshtein,
        alphabet: Alphabet::letters(49).unwrap(),
        encoding: BTreeMap::from([("grid".to_string(), "7x7".to_string())]),
        pair_rule: PairRule::SameStimulus,
        reveal: reveal.parse::<Reveal>().unwrap(),
        reveal_to: RevealTo::Both,
        pad_to: None,
    }
}

/// `(a, b, stimulus, values)` for each pair. Every combination of id and stimulus is a scanpath.
pub(crate) fn outcome(spec: Spec, rows: &[(&str, &str, &str, &[Value])]) -> Outcome {
    let mut sides: [Vec<ScanpathId>; 2] = [Vec::new(), Vec::new()];
    let mut results = Results::new(spec.measures());
    for (a, b, stimulus, values) in rows {
        let [a, b] = [(0, a), (1, b)].map(|(side, participant)| {
            let id = ScanpathId {
                participant: (*participant).into(),
                stimulus: Some((*stimulus).into()).filter(|name: &String| !name.is_empty()),
            };
            let index = sides[side].iter().position(|other| *other == id);
            index.unwrap_or_else(|| {
                sides[side].push(id);
                sides[side].len() - 1
            })
        });
        results.push(a, b, values);
    }
    let [a, b] = sides;
    Outcome {
        spec,
        names: ["Clinic".into(), "University".into()],
        one_cohort: false,
        a,
        b,
        pairs: rows.len() as u64,
        tile: None,
        results,
        answers: Vec::new(),
        error_bound: None,
        cost: Cost {
            seconds: 0.25,
            bytes_sent: 1200,
            bytes_received: 34,
            rounds: 1,
            cells: 400,
            pairs_from_journal: 0,
        },
        revealed: vec![Revealed {
            to: RevealTo::Host,
            what: "the score of every pair".into(),
        }],
    }
}

/// Two participants on each side, with scores and similarities.
pub(crate) fn small() -> Outcome {
    let number = Value::Number;
    outcome(
        spec("score"),
        &[
            ("p", "x", "cows", &[number(2.0), number(0.8)]),
            ("p", "y", "cows", &[number(7.0), number(0.3)]),
            ("q", "x", "cows", &[number(8.0), number(0.2)]),
            ("q", "y", "cows", &[number(1.0), number(0.9)]),
        ],
    )
}

/// A matrix of group means and a test.
pub(crate) fn answers() -> Vec<GroupAnswer> {
    vec![
        GroupAnswer::GroupMeans(GroupMeans {
            measure: "score".into(),
            stimulus: None,
            rows: vec!["experts".into(), "novices".into()],
            columns: vec!["experts".into(), "novices".into()],
            means: vec![vec![Some(4.25), Some(7.5)], vec![Some(7.5), None]],
            counts: vec![vec![6, 12], vec![12, 0]],
            intervals: Vec::new(),
        }),
        GroupAnswer::Test(GroupTest {
            question: "Are experts more alike than novices?".into(),
            method: "permutation test".into(),
            measure: "score".into(),
            stimulus: Some("cows".into()),
            groups: vec!["experts".into(), "novices".into()],
            statistic: "difference of means".into(),
            value: -3.25,
            interval: None,
            p_value: 0.0312,
            permutations: Some(9999),
            seed: Some(7),
            coins: None,
            null_distribution: None,
        }),
    ]
}

/// One answer of every kind, with all fields set.
pub(crate) fn every_answer() -> Vec<GroupAnswer> {
    let interval = |low, high| Interval {
        level: 0.95,
        low,
        high,
        resamples: 2000,
        seed: Some(7),
    };
    let groups = || vec!["controls".to_string(), "patients, early".to_string()];
    let mut answers = answers();
    if let GroupAnswer::Test(test) = &mut answers[1] {
        test.interval = Some(interval(-4.5, -2.0));
        test.null_distribution = Some(Bins {
            edges: vec![-4.0, -2.0, 0.0, 2.0],
            counts: vec![Some(90), Some(8000), Some(1909)],
        });
    }
    let label = |participant: &str, majority: usize, group| NearestLabel {
        scanpath: ScanpathId {
            participant: participant.into(),
            stimulus: Some("cows".into()),
        },
        majority: groups()[majority].clone(),
        group,
    };
    answers.extend([
        GroupAnswer::StimulusMeans(StimulusMeans {
            measure: "similarity".into(),
            means: vec![
                StimulusMean {
                    stimulus: Some("cows".into()),
                    mean: Some(0.61),
                    pairs: 1200,
                    interval: Some(interval(0.58, 0.64)),
                },
                StimulusMean {
                    stimulus: None,
                    mean: None,
                    pairs: 0,
                    interval: None,
                },
            ],
        }),
        GroupAnswer::GroupMeans(GroupMeans {
            measure: "similarity".into(),
            stimulus: Some("cows".into()),
            rows: groups(),
            columns: groups(),
            means: vec![vec![Some(0.5), Some(0.25)], vec![Some(0.375), Some(0.75)]],
            counts: vec![vec![25, 30], vec![30, 36]],
            intervals: vec![
                vec![Some(interval(0.4, 0.6)), None],
                vec![None, Some(interval(0.7, 0.8))],
            ],
        }),
        GroupAnswer::NearestLabels(NearestLabels {
            measure: "similarity".into(),
            k: 5,
            groups: groups(),
            labels: vec![label("p", 0, Some("controls".into())), label("q", 1, None)],
        }),
        GroupAnswer::NearestRate(NearestRate {
            measure: "similarity".into(),
            k: 5,
            correct: 31,
            scanpaths: 40,
            chance: 0.525,
            interval: Some(interval(0.65, 0.875)),
            p_value: Some(0.001),
            permutations: Some(999),
            seed: Some(7),
            groups: groups(),
            confusion: vec![vec![15, 4], vec![5, 16]],
        }),
        GroupAnswer::Histogram(ScoreHistogram {
            measure: "similarity".into(),
            stimulus: None,
            bins: Bins {
                edges: vec![0.0, 0.25, 0.5, 0.75, 1.0],
                counts: vec![None, Some(120), Some(80), None],
            },
            minimum: 5,
        }),
    ]);
    answers
}

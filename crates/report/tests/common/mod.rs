//! Outcomes for tests: a few pairs with given numbers.
#![allow(dead_code)] // each test uses some of it

use std::collections::BTreeMap;
use veilpath_metrics::{Alphabet, Metric};
use veilpath_protocol::{
    Cost, Engine, GroupAnswer, GroupMeans, GroupTest, Label, Outcome, PairRule, Results, Reveal,
    RevealTo, Revealed, Spec, Value,
};

pub(crate) fn spec(reveal: &str) -> Spec {
    Spec {
        engine: Engine::Plain,
        metric: Metric::Levenshtein,
        alphabet: Alphabet::letters(49).unwrap(),
        encoding: BTreeMap::from([("grid".to_string(), "7x7".to_string())]),
        pairs: PairRule::SameStimulus,
        reveal: reveal.parse::<Reveal>().unwrap(),
        reveal_to: RevealTo::Both,
        pad_to: None,
    }
}

/// `(a, b, stimulus, values)` for each pair; every id with a stimulus is a scanpath.
pub(crate) fn outcome(spec: Spec, rows: &[(&str, &str, &str, &[Value])]) -> Outcome {
    let mut sides: [Vec<Label>; 2] = [Vec::new(), Vec::new()];
    let mut results = Results::new(spec.outputs());
    for (a, b, stimulus, values) in rows {
        let [a, b] = [(0, a), (1, b)].map(|(side, participant)| {
            let label = Label {
                participant: (*participant).into(),
                stimulus: Some((*stimulus).into()).filter(|name: &String| !name.is_empty()),
            };
            let known = sides[side].iter().position(|known| *known == label);
            known.unwrap_or_else(|| {
                sides[side].push(label);
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
            to: "host".into(),
            what: "the score of every pair".into(),
        }],
    }
}

/// Two participants each, with scores and similarities.
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
        GroupAnswer::Means(GroupMeans {
            output: "score".into(),
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
            output: "score".into(),
            stimulus: Some("cows".into()),
            groups: vec!["experts".into(), "novices".into()],
            statistic: "difference of means".into(),
            value: -3.25,
            interval: None,
            p_value: 0.0312,
            permutations: Some(9999),
            seed: Some(7),
            coins: None,
            null: None,
        }),
    ]
}

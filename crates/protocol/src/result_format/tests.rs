//! Outcomes survive a round trip, and damaged files are rejected.

mod generators;

use super::*;
use crate::{
    Cost, Engine, GroupAnswer, GroupMeans, Outcome, PairRule, Results, Reveal, RevealTo,
    ScanpathId, Spec, Value,
};
use generators::outcome;
use proptest::prelude::*;
use serde::de::DeserializeSeed;
use std::collections::BTreeMap;
use veilpath_metrics::{Alphabet, Metric};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn an_outcome_is_read_back_equal(outcome in outcome()) {
        let text = serde_json::to_string(&outcome).unwrap();
        let read: Outcome = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&read, &outcome);
        prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }
}

fn small() -> Outcome {
    let alphabet = Alphabet::letters(4).unwrap();
    let id = |participant: &str| ScanpathId {
        participant: participant.into(),
        stimulus: Some("cows".into()),
    };
    let spec = Spec {
        engine: Engine::Garbled,
        metric: Metric::Levenshtein,
        alphabet,
        encoding: BTreeMap::new(),
        pair_rule: PairRule::All,
        reveal: Reveal::Score,
        reveal_to: RevealTo::Both,
        pad_to: None,
    };
    let mut results = Results::new(spec.measures());
    results.push(0, 1, &[Value::Number(3.0), Value::Number(0.25)]);
    results.push(0, 0, &[Value::Number(1.0), Value::Missing]);
    Outcome {
        spec,
        names: ["Clinic".into(), "University".into()],
        one_cohort: false,
        a: vec![id("P1")],
        b: vec![id("Q1"), id("Q2")],
        pairs: 2,
        tile: None,
        results,
        answers: Vec::new(),
        error_bound: None,
        cost: Cost::default(),
        revealed: Vec::new(),
    }
}

fn refusal(text: &str, max_results: usize) -> (Option<ResultFormatError>, String) {
    let mut problem = None;
    let mut json = serde_json::Deserializer::from_str(text);
    let seed = OutcomeSeed {
        limit_part: &|_| (),
        max_results,
        problem: &mut problem,
    };
    let error = seed.deserialize(&mut json).unwrap_err();
    (problem, error.to_string())
}

#[test]
fn results_are_objects_with_one_field_for_each_measure() {
    let value = serde_json::to_value(small()).unwrap();
    let fields: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(fields[0], RESULT_MARK);
    let row = &value["results"][0];
    assert_eq!(
        (&row["a"], &row["b"], &row["stimulus"]),
        (&"P1".into(), &"Q2".into(), &"cows".into())
    );
    assert_eq!(
        (&row["score"], &row["similarity"]),
        (&3.into(), &0.25.into())
    );
    assert_eq!(value["cohorts"][1]["name"], "University");
}

/// A file with missing results declares it, and a truncated file is not mistaken for one.
#[test]
fn missing_results_are_declared() {
    let mut outcome = small();
    outcome.pairs = 900;
    assert!(outcome.is_incomplete());
    let text = serde_json::to_string(&outcome).unwrap();
    assert_eq!(serde_json::from_str::<Outcome>(&text).unwrap(), outcome);
    let declared = "\"complete\":false,";
    let truncated = refusal(&text.replace(declared, ""), 10).0;
    let (pairs, results) = (900, 2);
    assert_eq!(
        truncated,
        Some(ResultFormatError::PairCount { pairs, results })
    );
    let complete = serde_json::to_string(&small()).unwrap();
    assert!(!complete.contains("\"complete\""));
    let wrong = complete.replace("\"measures\"", &format!("{declared}\"measures\""));
    for text in [wrong, text.replace(declared, "\"complete\":true,")] {
        let problem = refusal(&text, 10).0;
        assert_eq!(problem, Some(ResultFormatError::Completeness));
    }
}

#[test]
fn another_version_is_refused_by_its_number() {
    let text = serde_json::to_string(&small()).unwrap();
    let newer = text.replace("\"veilpath_result\":2", "\"veilpath_result\":7");
    let (problem, words) = refusal(&newer, 10);
    assert_eq!(
        problem,
        Some(ResultFormatError::Version {
            found: 7,
            supported: RESULT_VERSION
        })
    );
    assert!(words.contains("version 7"), "{words}");
    let without = text.replace("\"veilpath_result\":2,", "");
    assert_eq!(refusal(&without, 10).0, Some(ResultFormatError::NotAResult));
    assert_eq!(refusal("{}", 10).0, Some(ResultFormatError::NotAResult));
}

#[test]
fn inconsistent_results_are_refused() {
    let text = serde_json::to_string(&small()).unwrap();
    let long = "x".repeat(MAX_TEXT_BYTES + 1);
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{from} in {text}");
        refusal(&text.replacen(from, to, 1), 10)
    };
    for (from, to, expected) in [
        ("\"a_index\":0", "\"a_index\":1", ResultFormatError::Ids),
        ("\"b_index\":1", "\"b_index\":0", ResultFormatError::Ids),
        ("\"b\":\"Q2\"", "\"b\":\"Q1\"", ResultFormatError::Ids),
        (
            "\"pairs\":2",
            "\"pairs\":3",
            ResultFormatError::PairCount {
                pairs: 3,
                results: 2,
            },
        ),
        (
            "\"name\":\"similarity\"",
            "\"name\":\"a\"",
            ResultFormatError::MeasureName,
        ),
        (
            "\"name\":\"similarity\"",
            "\"name\":\"score\"",
            ResultFormatError::MeasureName,
        ),
        (
            "\"pairs\":2,",
            "\"pairs\":2,\"error_bound\":-1,",
            ResultFormatError::ErrorBound,
        ),
        (
            "\"seconds\":0.0",
            "\"seconds\":-1",
            ResultFormatError::Seconds,
        ),
    ] {
        assert_eq!(changed(from, to).0, Some(expected), "{to}");
    }
    for (from, to) in [
        ("\"similarity\":0.25", "\"similarity\":1.5"),
        ("\"score\":3", "\"score\":1e31"),
        ("\"score\":3", "\"score\":true"),
    ] {
        let (problem, _) = changed(from, to);
        assert!(
            matches!(problem, Some(ResultFormatError::Value { .. })),
            "{to}"
        );
    }
    for (from, to) in [
        ("Clinic", long.as_str()),
        (
            "\"participant\":\"P1\"",
            &format!("\"participant\":\"{long}\""),
        ),
    ] {
        let (problem, _) = changed(from, to);
        assert!(
            matches!(problem, Some(ResultFormatError::TooLong { .. })),
            "{to}"
        );
    }
    for (from, to, words) in [
        ("\"score\":3", "\"score\":\"3\"", "invalid type"),
        ("\"score\":3,", "", "no value for a measure"),
        ("\"score\":3", "\"more\":3", "a field that is not a measure"),
        ("\"score\":3", "\"a\":\"P1\"", "duplicate field"),
        ("\"cost\":", "\"costs\":", "unknown field"),
        (
            "\"engine\":\"garbled\"",
            "\"engine\":\"magic\"",
            "\"spec\": unknown variant",
        ),
        ("\"revealed\":[]", "\"pairs\":2", "duplicate field"),
        (",\"revealed\":[]", "", "missing field `revealed`"),
    ] {
        let (_, message) = changed(from, to);
        assert!(message.contains(words), "{message}");
    }
    let (problem, _) = refusal(&text, 1);
    assert!(matches!(
        problem,
        Some(ResultFormatError::TooMany { limit: 1, .. })
    ));
}

#[test]
fn group_answers_are_checked() {
    let mut outcome = small();
    outcome.answers = vec![GroupAnswer::GroupMeans(GroupMeans {
        measure: "score".into(),
        stimulus: None,
        rows: vec!["x".into()],
        columns: vec!["y".into(), "z".into()],
        means: vec![vec![Some(1.5), None]],
        counts: vec![vec![4, 0]],
        intervals: Vec::new(),
    })];
    let text = serde_json::to_string(&outcome).unwrap();
    let shorter = text.replace("\"counts\":[[4,0]]", "\"counts\":[[4]]");
    let (problem, _) = refusal(&shorter, 10);
    assert!(matches!(
        problem,
        Some(ResultFormatError::Group(GroupAnswerError::Shape {
            rows: 1,
            columns: 2
        }))
    ));
    let unknown = text.replace("\"kind\":\"group-means\"", "\"kind\":\"mood\"");
    assert!(refusal(&unknown, 10).1.contains("unknown variant"));
}

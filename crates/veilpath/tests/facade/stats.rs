//! Statistics from result files, checked against independent programs and by hand.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // test helpers may panic

use serde_json::Value;
use std::path::PathBuf;
use veilpath::report::{self, ResultFile};
use veilpath::stats::{Groups, NamedResult, SitesProblem, StatsError, StatsOptions, statistics};
use veilpath::{Error, Event, Input, Note, Outcome};
use veilpath_protocol::{GroupAnswer, GroupTest, Interval};

fn testdata(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/statistics");
    PathBuf::from(folder).join(name)
}

fn result(name: &str) -> ResultFile {
    report::read_result(&testdata(name)).unwrap()
}

fn options(questions: &[&str]) -> StatsOptions {
    let groups = Groups::read(Input::open(&testdata("cohort.csv")).unwrap()).unwrap();
    StatsOptions {
        questions: questions.iter().map(|text| text.parse().unwrap()).collect(),
        groups: [Some(groups.clone()), Some(groups)],
        permutations: 499,
        resamples: 200,
        seed: 5,
        ..StatsOptions::default()
    }
}

fn run(files: &[&ResultFile], options: &StatsOptions) -> Result<Outcome, Error> {
    let named: Vec<NamedResult<'_>> = files
        .iter()
        .map(|file| NamedResult { name: "r", file })
        .collect();
    statistics(&named, options, &())
}

fn refusal(files: &[&ResultFile], options: &StatsOptions) -> StatsError {
    match run(files, options) {
        Err(Error::Stats(error)) => error,
        other => panic!("{other:?}"),
    }
}

fn close(found: f64, expected: &Value) {
    let expected = expected.as_f64().expect("a number");
    assert!((found - expected).abs() < 1e-9, "{found} and {expected}");
}

fn close_interval(found: Option<&Interval>, expected: &Value) {
    let found = found.expect("an interval");
    close(found.low, &expected[0]);
    close(found.high, &expected[1]);
}

fn check_test(found: &GroupTest, expected: &Value) {
    close(found.value, &expected["value"]);
    assert_eq!(Some(found.p_value), expected["p"].as_f64());
    close_interval(found.interval.as_ref(), &expected["interval"]);
    if let Some(p) = expected.get("scipy_p") {
        assert!((found.p_value - p.as_f64().unwrap()).abs() < 0.01);
    }
    let null = found.null_distribution.as_ref().unwrap();
    assert_eq!(null.counts.iter().flatten().sum::<u64>(), 499);
}

fn check(answer: &GroupAnswer, expected: &Value) {
    match answer {
        GroupAnswer::StimulusMeans(means) => {
            let expected = &expected["mean"];
            let all = &means.means[0];
            close(all.mean.unwrap(), &expected["all"]);
            assert_eq!(Some(all.pairs), expected["pairs"].as_u64());
            close_interval(all.interval.as_ref(), &expected["interval"]);
            let stimuli = expected["stimuli"].as_object().unwrap();
            assert_eq!(means.means.len(), stimuli.len() + 1);
            for mean in &means.means[1..] {
                let name = mean.stimulus.as_deref().unwrap();
                close(mean.mean.unwrap(), &stimuli[name]);
                close_interval(mean.interval.as_ref(), &expected["intervals"][name]);
            }
        }
        GroupAnswer::GroupMeans(means) => {
            for (a, row) in means.rows.iter().enumerate() {
                for (b, column) in means.columns.iter().enumerate() {
                    let cell = &expected["groups"][format!("{row},{column}")];
                    close(means.means[a][b].unwrap(), &cell["mean"]);
                    assert_eq!(Some(means.counts[a][b]), cell["count"].as_u64());
                    close_interval(means.intervals[a][b].as_ref(), &cell["interval"]);
                }
            }
        }
        GroupAnswer::Test(test) => check_test(test, &expected["test:groups"]),
        GroupAnswer::NearestLabels(labels) => {
            let given = labels.labels.iter().map(|label| label.majority.as_str());
            let expected = expected["nearest"]["given"].as_array().unwrap();
            let expected = expected.iter().map(|it| it.as_str().unwrap());
            assert_eq!(given.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
        GroupAnswer::NearestRate(rate) => {
            let expected = &expected["nearest"];
            let confusion = serde_json::to_value(&rate.confusion).unwrap();
            assert_eq!(confusion, expected["confusion"]);
            close(
                rate.correct as f64 / rate.scanpaths as f64,
                &expected["rate"],
            );
            close(rate.chance, &expected["chance"]);
            assert_eq!(rate.p_value, expected["p"].as_f64());
            close_interval(rate.interval.as_ref(), &expected["interval"]);
        }
        GroupAnswer::Histogram(histogram) => {
            let counts = serde_json::to_value(&histogram.bins.counts).unwrap();
            assert_eq!(counts, expected["histogram"]);
        }
    }
}

/// `assurance/statistics/vectors.py` computes the expected numbers with SciPy and scikit-learn.
#[test]
fn statistics_equal_those_of_other_programs() {
    let text = std::fs::read_to_string(testdata("expected.json")).unwrap();
    let expected: Value = serde_json::from_str(&text).unwrap();
    let questions = [
        "mean",
        "groups",
        "test:groups",
        "nearest:3",
        "nearest:3,rate",
        "histogram:20",
    ];
    for name in ["within", "between"] {
        let outcome = run(&[&result(&format!("{name}.json"))], &options(&questions)).unwrap();
        assert_eq!(outcome.answers.len(), questions.len());
        for answer in &outcome.answers {
            check(answer, &expected[name]);
        }
    }
    let files = ["within-b.json", "between.json", "within-a.json"].map(result);
    let files: Vec<&ResultFile> = files.iter().collect();
    let outcome = run(&files, &options(&["test:sites"])).unwrap();
    let [GroupAnswer::Test(test)] = &outcome.answers[..] else {
        panic!("{:?}", outcome.answers)
    };
    check_test(test, &expected["test:sites"]);
}

#[test]
fn every_possible_question_is_answered_by_default() {
    let count = |files: &[&str], options: &StatsOptions| {
        let files: Vec<ResultFile> = files.iter().map(|name| result(name)).collect();
        let files: Vec<&ResultFile> = files.iter().collect();
        run(&files, options).unwrap().answers.len()
    };
    let with_groups = options(&[]);
    let without = StatsOptions {
        groups: [None, None],
        ..with_groups.clone()
    };
    let sites = ["within-a.json", "within-b.json", "between.json"];
    assert_eq!(count(&["within.json"], &with_groups), 4);
    assert_eq!(count(&["within.json"], &without), 1);
    assert_eq!(count(&sites, &with_groups), 5);
    assert_eq!(count(&sites, &without), 2);
}

#[test]
fn impossible_questions_are_only_noted_by_default() {
    let file = result("between.json");
    // Six participants and three stimuli: nobody has fifty neighbours.
    let asked = options(&["nearest:50,rate"]);
    assert!(matches!(
        refusal(&[&file], &asked),
        StatsError::TooFewNeighbours { k: 50, .. }
    ));
    let all_alike = Groups::read(
        Input::from_bytes(
            "groups",
            (1..=12)
                .fold("participant,group\n".to_string(), |text, n| {
                    text + &format!("p{n:02},x\n")
                })
                .into_bytes(),
        )
        .unwrap(),
    )
    .unwrap();
    let options = StatsOptions {
        groups: [Some(all_alike.clone()), Some(all_alike)],
        ..options(&[])
    };
    let notes = std::sync::Mutex::new(Vec::new());
    let sink = |event: Event| {
        if let Event::Note(Note::Unanswered { question, .. }) = event {
            notes.lock().unwrap().push(question);
        }
    };
    let named = NamedResult {
        name: "r",
        file: &file,
    };
    statistics(&[named], &options, &sink).unwrap();
    assert_eq!(*notes.lock().unwrap(), ["test:groups"]);
}

/// Group answers can be passed on: they contain no participant id unless somebody asked for single scanpaths.
#[test]
fn answers_name_no_participants() {
    let outcome = run(&[&result("between.json")], &options(&[])).unwrap();
    let text = serde_json::to_string(&outcome).unwrap();
    assert!(!text.contains("\"p0") && !text.contains("\"p1"));
    assert!(text.contains("patients"));
    let outcome = run(&[&result("between.json")], &options(&["nearest:3"])).unwrap();
    assert!(serde_json::to_string(&outcome).unwrap().contains("\"p01\""));
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let file = result("within.json");
    let questions = ["test:groups", "nearest:3,rate", "mean"];
    let first = run(&[&file], &options(&questions)).unwrap();
    assert_eq!(run(&[&file], &options(&questions)).unwrap(), first);
    let other = StatsOptions {
        seed: 6,
        ..options(&questions)
    };
    assert_ne!(run(&[&file], &other).unwrap().answers, first.answers);
}

#[test]
fn a_stimulus_can_be_analysed_alone() {
    let options = StatsOptions {
        stimuli: vec!["scene-1".into()],
        ..options(&["mean", "test:groups"])
    };
    let outcome = run(&[&result("within.json")], &options).unwrap();
    let GroupAnswer::StimulusMeans(means) = &outcome.answers[0] else {
        panic!("{:?}", outcome.answers)
    };
    // Eleven participants have seen this stimulus.
    assert_eq!(means.means[0].pairs, 55);
}

/// Smaller distances mean more similar: a test gives the same p value as on the negated numbers.
#[test]
fn distances_reverse_the_direction_of_the_test() {
    let file = result("within.json");
    let mut outcome = file.outcome().unwrap().clone();
    let similarity = run(&[&file], &options(&["test:groups", "nearest:3,rate"])).unwrap();
    let mut results = veilpath_protocol::Results::new(vec![veilpath_protocol::MeasureColumn::new(
        "score",
        veilpath_metrics::MeasureKind::Distance,
    )]);
    for pair in outcome.results.iter() {
        let number = pair.values[1].number().unwrap();
        let distance = veilpath_protocol::Value::Number(1.0 - number);
        results.push(pair.a, pair.b, &[distance]);
    }
    outcome.results = results;
    let distance = run(
        &[&outcome.into()],
        &options(&["test:groups", "nearest:3,rate"]),
    )
    .unwrap();
    for (a, b) in similarity.answers.iter().zip(&distance.answers) {
        match (a, b) {
            (GroupAnswer::Test(a), GroupAnswer::Test(b)) => {
                assert_eq!(a.p_value, b.p_value);
                assert!((a.value - b.value).abs() < 1e-9);
                assert!(b.statistic.starts_with("mean distance between"));
            }
            (GroupAnswer::NearestRate(a), GroupAnswer::NearestRate(b)) => {
                assert_eq!(a.confusion, b.confusion);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn impossible_statistics_are_refused() {
    let [within, between, first, second] = [
        "within.json",
        "between.json",
        "within-a.json",
        "within-b.json",
    ]
    .map(result);
    let no_groups = StatsOptions {
        groups: [None, None],
        ..options(&["groups"])
    };
    assert!(matches!(
        refusal(&[&within], &no_groups),
        StatsError::NoGroups { .. }
    ));
    assert_eq!(
        refusal(&[&within, &between], &options(&["mean"])),
        StatsError::NumberOfResults { found: 2 }
    );
    assert_eq!(
        refusal(&[&between], &options(&["test:sites"])),
        StatsError::SitesNeedThreeResults
    );
    assert_eq!(
        refusal(&[&first, &second, &within], &options(&["mean"])),
        StatsError::Sites(SitesProblem::Kinds)
    );
    assert!(matches!(
        refusal(&[&first, &within, &between], &options(&["mean"])),
        StatsError::Sites(SitesProblem::Names { .. })
    ));
    let few =
        Groups::read(Input::from_bytes("groups", b"participant,group\np01,x\n".to_vec()).unwrap())
            .unwrap();
    let few = StatsOptions {
        groups: [Some(few.clone()), Some(few)],
        ..options(&["groups"])
    };
    assert!(matches!(
        refusal(&[&within], &few),
        StatsError::WithoutGroup {
            missing: 11,
            participants: 12,
            ..
        }
    ));
    for level in [0.0, 1.0, f64::NAN] {
        let options = StatsOptions {
            level,
            ..options(&["mean"])
        };
        assert!(matches!(
            refusal(&[&within], &options),
            StatsError::Level { .. }
        ));
    }
    let measure = StatsOptions {
        measure: Some("length".into()),
        ..options(&["mean"])
    };
    assert!(matches!(
        refusal(&[&within], &measure),
        StatsError::NoSuchMeasure { .. }
    ));
    let csv = ResultFile::read(&b"a,b,stimulus,score\np,q,,1\n"[..]).unwrap();
    assert!(matches!(
        refusal(&[&csv], &options(&["mean"])),
        StatsError::NumbersOnly { .. }
    ));
}

#[test]
fn participants_without_a_common_stimulus_are_counted() {
    let mut outcome = result("between.json").outcome().unwrap().clone();
    let a = outcome.a[0].participant.clone();
    let b = outcome.b[0].participant.clone();
    let labels = (outcome.a.clone(), outcome.b.clone());
    outcome
        .results
        .retain(|pair| (&labels.0[pair.a].participant, &labels.1[pair.b].participant) != (&a, &b));
    outcome.pairs = outcome.results.len() as u64;
    let between = outcome.into();
    assert_eq!(
        refusal(&[&between], &options(&["groups"])),
        StatsError::NoCommonStimulus { pairs: 1 }
    );
    // A test of sites that is left out assumes nothing, so there is no note about its assumption.
    let notes = std::sync::Mutex::new(Vec::new());
    let sink = |event: Event| {
        if let Event::Note(note) = event {
            notes.lock().unwrap().push(note);
        }
    };
    let files = [result("within-a.json"), result("within-b.json"), between];
    let named = files.each_ref().map(|file| NamedResult { name: "r", file });
    statistics(&named, &options(&[]), &sink).unwrap();
    let notes = notes.into_inner().unwrap();
    let is_left_out =
        |note: &Note| matches!(note, Note::Unanswered { question, .. } if question == "test:sites");
    assert!(notes.iter().any(is_left_out), "{notes:?}");
    assert!(!notes.contains(&Note::SitesExchangeable), "{notes:?}");
}

#[test]
fn a_single_pair_has_a_mean_and_no_interval() {
    let scanpath = |participant: &str, stimulus: &str| serde_json::json!({"participant": participant, "stimulus": stimulus});
    let pair = |a: usize, b: usize, stimulus: &str, score: u32| {
        let [a_id, b_id] = [["p", "p", "q"][a], ["x", "x", "y"][b]];
        serde_json::json!({"a": a_id, "b": b_id, "stimulus": stimulus, "a_index": a, "b_index": b, "score": score})
    };
    // Stimulus s has one pair.
    let json = serde_json::json!({
        "veilpath_result": 2,
        "spec": {
            "engine": "plain", "metric": {"name": "levenshtein"}, "alphabet": "letters 52", "encoding": {},
            "pair_rule": "same-stimulus", "reveal": "score", "reveal_to": "both", "pad_to": null,
        },
        "cohorts": [
            {"name": "a", "scanpaths": [scanpath("p", "s"), scanpath("p", "t"), scanpath("q", "t")]},
            {"name": "b", "scanpaths": [scanpath("x", "s"), scanpath("x", "t"), scanpath("y", "t")]},
        ],
        "one_cohort": false,
        "pairs": 4,
        "measures": [{"name": "score", "kind": "distance"}],
        "results": [pair(0, 0, "s", 3), pair(1, 1, "t", 4), pair(1, 2, "t", 6), pair(2, 1, "t", 8)],
        "answers": [],
        "cost": {"seconds": 0.5, "bytes_sent": 0, "bytes_received": 0, "rounds": 0, "cells": 12},
        "revealed": [],
    });
    let file = ResultFile::read(json.to_string().as_bytes()).unwrap();
    let options = StatsOptions {
        groups: [None, None],
        ..options(&["mean"])
    };
    let outcome = run(&[&file], &options).unwrap();
    let [GroupAnswer::StimulusMeans(means)] = &outcome.answers[..] else {
        panic!("{:?}", outcome.answers);
    };
    let found: Vec<_> = means
        .means
        .iter()
        .map(|mean| (mean.pairs, mean.interval.is_some()))
        .collect();
    assert_eq!(found, [(4, true), (1, false), (3, true)]);
}

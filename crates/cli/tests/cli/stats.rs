//! `veilpath stats`: where it writes answers, in which format, and what it refuses.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;

use common::{Folder, root};
use serde_json::Value;

fn folder() -> Folder {
    let folder = Folder::new();
    for name in [
        "cohort.csv",
        "within.json",
        "between.json",
        "within-a.json",
        "within-b.json",
    ] {
        let content = std::fs::read(root().join("testdata/statistics").join(name)).unwrap();
        folder.file(name, content);
    }
    folder
}

const QUICK: [&str; 6] = [
    "--groups",
    "cohort.csv",
    "--permutations",
    "99",
    "--resamples",
    "50",
];

#[test]
fn answers_are_text_csv_or_a_result_file() {
    let folder = folder();
    let stats = |more: &[&str]| folder.run(&[&["stats", "within.json"], &QUICK[..], more].concat());
    let text = stats(&[]).ok();
    assert!(text.starts_with("Statistics of everyone by scanmatch\n"));
    assert!(text.contains("0.031726") && text.contains(" of 33 scanpaths"));

    let csv = stats(&["--format", "csv"]).ok();
    let rows: Vec<&str> = csv
        .lines()
        .map(|row| row.split(',').next().unwrap())
        .collect();
    assert_eq!(
        rows[..6],
        ["answer", "mean", "mean", "mean", "mean", "groups"]
    );
    assert!(
        csv.lines()
            .any(|row| row.starts_with("confusion,similarity,,,controls,patients,,"))
    );

    let output = stats(&["-o", "answers.json"]);
    assert!(
        output.stderr.contains(" of 33 scanpaths"),
        "the answers are shown, too"
    );
    output.ok();
    let json: Value = serde_json::from_str(&folder.read("answers.json")).unwrap();
    assert_eq!(json["results"], Value::Array(Vec::new()));
    assert_eq!(json["answers"][2]["kind"], "test");
    // 11 participants with 3 stimuli each: neither both orders of a pair nor scanpaths with themselves.
    assert_eq!(json["pairs"], 165);
    let page = folder.run(&["report", "answers.json"]).ok();
    assert!(page.contains("id=\"groups\""));
    assert!(page.contains("<dt>pairs</dt><dd>165</dd>"));
}

/// Between two cohorts, `stats` and `compare` give the same mean; a note says what it includes.
#[test]
fn participants_in_both_cohorts_are_noted() {
    let folder = Folder::new();
    let header = "participant,scanpath";
    folder.file("a.csv", format!("{header}\np,ABC\nq,ABD\n"));
    folder.file("b.csv", format!("{header}\np,ABC\nr,EFG\n"));
    folder
        .run(&["compare", "a.csv", "b.csv", "-o", "scores.json"])
        .ok();
    let output = folder.run(&["stats", "scores.json", "--answer", "mean"]);
    let note = "note: in 1 of 4 pairs, both scanpaths have the same participant id; these pairs are included";
    assert!(output.stderr.contains(note), "{}", output.stderr);
    let stats = output.ok();
    let private = ["compare", "a.csv", "b.csv", "--reveal", "mean:overall"];
    let private = folder.run(&private).ok();
    let mean = |text: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with(" (all)"))
            .unwrap();
        let mean: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
        mean
    };
    // A private mean is rounded before it is revealed.
    assert!(
        (mean(&stats) - mean(&private)).abs() < 2e-4,
        "{stats}{private}"
    );
    let page = folder.run(&["report", "scores.json"]).ok();
    assert!(page.contains("In 1 of 4 pairs, both scanpaths have the same participant id."));
}

#[test]
fn scanpaths_without_a_stimulus_are_not_labelled_all() {
    let folder = Folder::new();
    let table = |ids: [&str; 2]| {
        let rows = ids.map(|id| format!("{id},s,ABC\n{id},,ABD\n"));
        format!("participant,stimulus,scanpath\n{}", rows.concat())
    };
    folder.file("a.csv", table(["p", "q"]));
    folder.file("b.csv", table(["r", "s"]));
    let compare = ["compare", "a.csv", "b.csv"];
    folder
        .run(&[&compare[..], &["-o", "scores.json"]].concat())
        .ok();
    let first_words = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| line.starts_with(" ("));
        let words = lines.filter_map(|line| line.split_whitespace().next());
        words.map(String::from).collect()
    };
    let stats = folder.run(&["stats", "scores.json"]).ok();
    assert_eq!(first_words(&stats), ["(all)", "(none)"], "{stats}");
    let means = folder
        .run(&[&compare[..], &["--reveal", "mean"]].concat())
        .ok();
    assert_eq!(first_words(&means), ["(none)"], "{means}");
}

#[test]
fn a_file_that_cannot_be_used_is_reported_before_its_groups() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,scanpath\np,AB\nq,AC\n");
    let call = ["compare", "a.csv", "a.csv", "-q", "-o", "scores.csv"];
    folder.run(&call).ok();
    let call = ["stats", "scores.csv", "--groups", "a.csv"];
    let message = folder.run(&call).refused();
    assert!(message.contains("a CSV file has no plan"), "{message}");
}

#[test]
fn answers_overwrite_only_answers() {
    let folder = folder();
    for name in ["a.txt", "a.csv", "a.json"] {
        let call = [&["stats", "within.json", "-q", "-o", name], &QUICK[..]].concat();
        folder.run(&call).ok();
        folder.run(&call).ok();
    }
    let call = [&["stats", "within.json", "-o", "cohort.csv"], &QUICK[..]].concat();
    folder.run(&call).refused();
    folder.file("mine.csv", "anything\n");
    let call = [&["stats", "within.json", "-o", "mine.csv"], &QUICK[..]].concat();
    assert!(folder.run(&call).refused().contains("--force"));
}

#[test]
fn three_results_are_a_test_of_sites() {
    let folder = folder();
    let files = ["stats", "between.json", "within-b.json", "within-a.json"];
    let output = folder.run(&[&files[..], &QUICK[..]].concat());
    assert!(output.stderr.contains("exchangeable"));
    assert!(output.ok().contains("-0.005785"));
}

#[test]
fn errors_name_the_flags() {
    let folder = folder();
    let refused = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>()).refused();
    for (call, flag) in [
        ("stats within.json --answer groups", "--groups"),
        (
            "stats within.json --answer groups --measure length",
            "--measure length",
        ),
        ("stats within.json --stimulus nowhere", "--stimulus"),
        ("stats within.json --confidence 95", "--confidence"),
        ("stats within.json --answer anything", "--answer"),
        ("stats within.json --permutations 0", "--permutations"),
        ("stats within.json between.json", "three"),
        (
            "stats within.json --groups cohort.csv --answer nearest:99",
            "--answer nearest:1",
        ),
        ("stats cohort.csv", "veilpath compare"),
    ] {
        let text = refused(call);
        assert!(text.contains(flag), "{call}: {text}");
    }
    folder.file("few.csv", "participant,group\np01,patients\n");
    let text = refused("stats within.json --groups few.csv");
    assert!(text.contains("11 of 12") && !text.contains("p02"), "{text}");
}

/// For a metric with several measures, the summary has the mean of each, and the statistics name the measure that they are about.
#[test]
fn a_summary_names_the_numbers_that_it_is_about() {
    let folder = folder();
    let call = |metric| {
        [
            "compare",
            "cohort.csv",
            "cohort.csv",
            "--metric",
            metric,
            "-o",
            "s.json",
        ]
    };
    let output = folder.run(&call("crqa"));
    assert!(
        output.stderr.contains("by crqa: mean rec "),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains(" %, from "), "{}", output.stderr);
    // Both orders of a pair cancel each other in corm.
    for line in ["\n  mean det ", "\n  mean lam ", "\n  corm from "] {
        assert!(output.stderr.contains(line), "{}", output.stderr);
    }
    let note = "the statistics are of rec; the results also have det, lam, corm (choose one with --measure)";
    let output = folder.run(&["stats", "s.json"]);
    assert!(output.stderr.contains(note), "{}", output.stderr);
    let output = folder.run(&["stats", "s.json", "--measure", "rec"]);
    assert!(
        !output.stderr.contains("the statistics are of"),
        "{}",
        output.stderr
    );
    let output = folder.run(&call("scanmatch"));
    assert!(
        output.stderr.contains("by scanmatch: mean 0."),
        "{}",
        output.stderr
    );
}

/// A private answer about one of several measures names it.
#[test]
fn a_private_answer_names_its_number() {
    let folder = folder();
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>());
    run("split cohort.csv --seed 1 --first a.csv --second b.csv");
    let output = run(
        "compare a.csv b.csv --engine garbled --metric crqa --measures det --undefined-as-zero --reveal mean --format csv",
    );
    assert!(output.stdout.contains("\nmean,det,"), "{}", output.stdout);
}

//! Group answers: between two institutions and on one machine.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

mod refused;

use crate::common::Folder;
use crate::common::pair::{Pair, Side};
use serde_json::Value;

fn words(call: &str) -> Vec<&str> {
    call.split(' ').collect()
}

/// Two cohorts with six patients and six controls each, and short scanpaths.
fn cohorts(folder: &Folder) {
    for call in [
        "synth lifelike --groups patients=12,controls=12 --difference 0.8 --stimuli 1 --seconds 1 --seed 7 -o all.csv",
        "split all.csv --seed 1 --first a.csv --second b.csv",
    ] {
        folder.run(&words(call)).ok();
    }
}

fn pair() -> Pair {
    let pair = Pair::new();
    cohorts(&pair.folder);
    pair
}

/// The log line when this many group answers count for the partner, including the one just agreed on.
fn counted(answers: u32) -> String {
    format!("\"answers\":{answers},\"answers_per_partner\"")
}

/// Asserts that the rows are the same, and the numbers equal up to fixed-point rounding.
fn assert_same_answer(private: &str, clear: &str) {
    let rows = |text: &str| -> Vec<Vec<String>> {
        let fields = |line: &str| line.split(',').map(String::from).collect();
        text.lines().map(fields).collect()
    };
    let (private_rows, clear_rows) = (rows(private), rows(clear));
    assert_eq!(private_rows.len(), clear_rows.len(), "{private}\n{clear}");
    assert!(private_rows.len() > 1, "{private}");
    for (ours, theirs) in private_rows.iter().zip(&clear_rows) {
        for (ours, theirs) in ours.iter().zip(theirs) {
            let near = match (ours.parse::<f64>(), theirs.parse::<f64>()) {
                (Ok(ours), Ok(theirs)) => (ours - theirs).abs() < 1e-6,
                _ => ours == theirs,
            };
            assert!(near, "{private}\n{clear}");
        }
    }
}

#[test]
fn private_group_means_equal_those_in_the_clear() {
    let pair = pair();
    let clear = words("compare a.csv b.csv --reveal groups --format csv");
    let clear = pair.folder.run(&clear).ok();
    let flags = words("--engine garbled --reveal groups --format csv");
    for output in pair.run(&flags, &[], &[]) {
        assert!(
            output.stderr.contains("\"minimum_group\":5"),
            "{}",
            output.stderr
        );
        assert_same_answer(&output.ok(), &clear);
    }
    let [host, join] = pair.run(&flags, &["-o", "host.csv"], &["-o", "join.csv"]);
    for output in [host, join] {
        // The answer is stored; it is neither computed nor counted again.
        assert!(output.stderr.contains(&counted(2)), "{}", output.stderr);
        assert!(output.stderr.contains("\"cells\":0"), "{}", output.stderr);
        output.ok();
    }
    assert_eq!(pair.folder.read("host.csv"), pair.folder.read("join.csv"));
    for side in [Side::Host, Side::Join] {
        let list = pair.run_alone(side, "results").ok();
        let row = list.lines().nth(1).unwrap();
        assert!(row.ends_with(",groups,1,144,complete"), "{list}");
        let id = row.split(',').next().unwrap();
        let stored = pair
            .run_alone(side, &format!("results {id} --format csv"))
            .ok();
        assert_eq!(stored, pair.folder.read("host.csv"));
        let record = pair.run_alone(side, "record").ok();
        assert!(record.contains(",144,levenshtein,groups,both"), "{record}");
    }
}

#[test]
fn the_coins_of_a_private_test_reproduce_its_p_value() {
    let pair = pair();
    let flags = words("--engine shares --reveal test:groups,49 --format json");
    let answers = pair.run(&flags, &[], &[]).map(|output| {
        let result = output.json();
        assert!(result["results"].as_array().unwrap().is_empty());
        result["answers"][0].clone()
    });
    assert_eq!(answers[0], answers[1]);
    // Each permuted value is an equation in the scores, so the null distribution is not revealed.
    assert!(answers[0].get("null_distribution").is_none());
    let coins = answers[0]["coins"].as_str().unwrap();
    let clear =
        format!("compare a.csv b.csv --reveal test:groups,49 --coins {coins} --format json");
    let clear = &pair.folder.run(&words(&clear)).json()["answers"][0];
    for key in ["p_value", "permutations", "groups", "statistic", "coins"] {
        assert_eq!(answers[0][key], clear[key], "{key}");
    }
    let values = [&answers[0], clear].map(|answer| answer["value"].as_f64().unwrap());
    assert!((values[0] - values[1]).abs() < 1e-6, "{values:?}");
}

/// Each of these runs both institutions on this machine.
#[test]
fn every_answer_of_a_rehearsal_equals_the_one_in_the_clear() {
    let folder = Folder::new();
    cohorts(&folder);
    for question in [
        "mean",
        "mean:overall",
        "groups",
        "nearest:5",
        "nearest:5,rate",
        "histogram:4",
    ] {
        let call = format!("compare a.csv b.csv --reveal {question} --format csv");
        let clear = folder.run(&words(&call)).ok();
        let private = folder.run(&words(&format!("{call} --engine shares"))).ok();
        assert_same_answer(&private, &clear);
    }
    // As a table with a summary, in a file, and on a page.
    let call = "compare a.csv b.csv --engine garbled --reveal test:sites,9";
    let output = folder.run(&words(call));
    assert!(!output.stderr.contains("p = "), "{}", output.stderr);
    assert!(output.stderr.contains("exchangeable"), "{}", output.stderr);
    assert!(
        output.stderr.contains("9 permutations"),
        "{}",
        output.stderr
    );
    assert!(output.ok().contains("p = "));
    let output = folder.run(&words(&format!("{call} -o test.json")));
    assert!(output.stderr.contains("p = "), "{}", output.stderr);
    output.ok();
    folder.run(&words("report test.json -o test.html")).ok();
    assert!(folder.read("test.html").contains("permutation"));
}

/// SciPy and scikit-learn confirm the numbers of `veilpath stats`. Through them, they also confirm the answers in the clear, which
/// other code computes and with which the private answers are compared.
#[test]
fn answers_in_the_clear_equal_those_of_veilpath_stats() {
    let folder = Folder::new();
    cohorts(&folder);
    for (files, name) in [
        ("a.csv a.csv", "within-a.json"),
        ("b.csv b.csv", "within-b.json"),
        ("a.csv b.csv", "between.json"),
    ] {
        let call = format!("compare {files} -q -o {name}");
        folder.run(&words(&call)).ok();
    }
    let first_answer = |call: String| folder.run(&words(&call)).json()["answers"][0].clone();
    let both = |question: &str| {
        let files = match question {
            "test:sites" => "within-a.json within-b.json between.json",
            _ => "between.json",
        };
        let reveal = match question {
            "mean" => "mean:overall".into(),
            "test:sites" | "test:groups" => format!("{question},199"),
            other => other.to_string(),
        };
        [
            format!("compare a.csv b.csv --reveal {reveal} --format json"),
            format!(
                "stats {files} --groups all.csv --answer {question} --permutations 199 --resamples 0 --format json"
            ),
        ]
        .map(first_answer)
    };
    // The numbers are rounded to 14 bits before they are opened.
    let close = |one: &Value, other: &Value| {
        let [one, other] = [one, other].map(|it| it.as_f64().unwrap());
        assert!((one - other).abs() <= 1.0 / 8192.0, "{one} and {other}");
    };
    let [revealed, stats] = both("mean");
    close(&revealed["means"][0]["mean"], &stats["means"][0]["mean"]);
    assert_eq!(revealed["means"][0]["pairs"], stats["means"][0]["pairs"]);
    let [revealed, stats] = both("groups");
    for key in ["measure", "rows", "columns", "counts"] {
        assert_eq!(revealed[key], stats[key], "{key}");
    }
    for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        close(
            &revealed["means"][row][column],
            &stats["means"][row][column],
        );
    }
    for question in ["test:groups", "test:sites"] {
        let [revealed, stats] = both(question);
        close(&revealed["value"], &stats["value"]);
        for key in ["p_value", "permutations", "question"] {
            assert_eq!(revealed[key], stats[key], "{question}: {key}");
        }
    }
    let [revealed, stats] = both("nearest:5");
    let labels = |answer: &Value| -> Vec<[Value; 2]> {
        let labels = answer["labels"].as_array().unwrap().iter();
        let label = |it: &Value| ["scanpath", "majority"].map(|key| it[key].clone());
        labels.map(label).collect()
    };
    assert_eq!(labels(&revealed), labels(&stats));
    assert_eq!(labels(&stats).len(), 12);
    let [revealed, stats] = both("nearest:5,rate");
    for key in ["correct", "scanpaths", "groups"] {
        assert_eq!(revealed[key], stats[key], "{key}");
    }
    let [revealed, stats] = both("histogram:4");
    assert_eq!(revealed["bins"], stats["bins"]);
}

/// Groups are published only if both sides and the policy ask for it. The agreement, record, result and document say so.
#[test]
fn groups_are_published_if_both_sides_ask_for_it() {
    let pair = pair();
    let join_key = pair.fingerprint(Side::Join);
    let policy = format!(
        "expires = 2099-12-31\nmetrics = [\"levenshtein\"]\nanswers = [\"test:groups,published\"]\n\
         [[partners]]\nname = \"Other\"\nfingerprint = \"{join_key}\"\n"
    );
    pair.folder.file("policy.toml", policy);
    let reveal = "test:groups,49,published";
    let flags = ["--engine", "shares", "--reveal", reveal, "--format", "json"];
    let policy = ["--policy", "policy.toml"];
    // Only one side asks for it.
    let secret = ["--reveal", "test:groups,49"];
    let [host, join] = pair.run(&flags[..2], &[&flags[2..4], &policy].concat(), &secret);
    for output in [host, join] {
        assert_eq!(output.code, 3, "{}", output.stderr);
        assert!(output.stderr.contains(reveal), "{}", output.stderr);
    }
    let answers = pair.run(&flags, &policy, &[]).map(|output| {
        assert!(output.stderr.contains(reveal), "{}", output.stderr);
        let result = output.json();
        assert_eq!(result["spec"]["reveal"], reveal);
        let revealed = result["revealed"].to_string();
        assert_eq!(revealed.matches("which group each participant").count(), 2);
        result["answers"][0].clone()
    });
    let coins = answers[0]["coins"].as_str().unwrap();
    let clear =
        format!("compare a.csv b.csv --reveal test:groups,49 --coins {coins} --format json");
    let clear = &pair.folder.run(&words(&clear)).json()["answers"][0];
    for answer in &answers {
        assert_eq!(answer["p_value"], clear["p_value"]);
    }
    for side in [Side::Host, Side::Join] {
        let record = pair.run_alone(side, "record").ok();
        assert!(record.contains("published"), "{record}");
        pair.run_alone(side, "record verify").ok();
    }
    let document =
        format!("policy document --policy policy.toml --peer {join_key} --reveal {reveal}");
    let document = pair.run_alone(Side::Host, &document).ok();
    assert!(document.contains("the group of every single participant"));
}

#[test]
fn an_estimate_does_not_count_as_an_answer() {
    let pair = pair();
    let flags = words("--engine shares --reveal mean:overall --estimate");
    for _ in 0..2 {
        for output in pair.run(&flags, &[], &[]) {
            assert!(output.stderr.contains(&counted(1)), "{}", output.stderr);
            assert_eq!(output.ok(), "");
        }
    }
}

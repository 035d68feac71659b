//! Two real processes on loopback: what they compute, and how they end when something is wrong.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;
mod differences;
mod engine_choice;
use crate::common::pair;

use common::RunOutput;
use pair::{Pair, Side};
use serde_json::{Value, json};

/// Asserts that both sides fail with this code and these words.
fn both_fail(runs: [RunOutput; 2], code: i32, words: [&[&str]; 2]) {
    for (output, words) in runs.into_iter().zip(words) {
        assert_eq!(
            output.code, code,
            "veilpath {}\n{}",
            output.call, output.stderr
        );
        assert!(!output.stderr.contains("panicked"), "{}", output.stderr);
        for word in words {
            assert!(output.stderr.contains(word), "{word}\n{}", output.stderr);
        }
    }
}

#[test]
fn sessions_and_compare_give_the_same_scores() {
    // The metrics are distributed over the engines.
    give_the_same_scores(2);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn sessions_and_compare_give_the_same_scores_by_every_engine() {
    give_the_same_scores(1);
}

/// With every `step`th engine, in turn.
fn give_the_same_scores(step: usize) {
    let pair = Pair::with_cohorts();
    let row = |index: usize| (0..49).map(move |j| format!("{}", (index * 7 + j * 3) % 11));
    let table: Vec<String> = (0..49)
        .map(|index| row(index).collect::<Vec<_>>().join(","))
        .collect();
    pair.folder.file("table.csv", table.join("\n"));
    for (number, metric) in [
        "--metric levenshtein",
        "--metric needleman-wunsch --gap 2 --mismatch 1.5",
        "--metric needleman-wunsch --substitution index --insert 3 --delete 4",
        "--metric needleman-wunsch --substitution manhattan --wrap",
        "--metric needleman-wunsch --substitution euclidean --scale 1000",
        "--metric needleman-wunsch --substitution table.csv --gap 5",
        "--metric needleman-wunsch --match 2",
        "--metric smith-waterman --match 3 --gap 0.5",
        "--metric scanmatch --threshold 2.5 --gap -0.5 --pairs all",
        "--metric scanmatch --scale 100",
    ]
    .into_iter()
    .enumerate()
    {
        let engines = ["plain", "garbled"].into_iter();
        for engine in engines.skip(number % step).step_by(step) {
            let flags = format!("{metric} --engine {engine} --format csv");
            let flags: Vec<&str> = flags.split(' ').collect();
            let compare = [&["compare", "a.csv", "b.csv"], &flags[..]].concat();
            let expected = pair.folder.run(&compare).ok();
            let allowed = [&flags[..], &["--allow", "asymmetric-table,extreme-gap"]].concat();
            let runs = pair.run(&allowed, &["-o", "host.out"], &["-o", "join.out"]);
            for output in runs {
                assert_eq!(output.ok(), "", "{metric} {engine}");
            }
            for file in ["host.out", "join.out"] {
                assert_eq!(pair.folder.read(file), expected, "{metric} {engine}");
            }
        }
    }
}

#[test]
fn the_paillier_engine_gives_the_same_scores() {
    let pair = Pair::new();
    for (file, seed) in [("a.csv", "3"), ("b.csv", "4")] {
        let call =
            format!("synth random --count 2 --length 5-8 --letters 9 --seed {seed} -o {file}");
        pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    }
    for metric in [
        "--metric levenshtein",
        "--metric needleman-wunsch --substitution index --insert 3 --delete 4",
        "--metric smith-waterman",
        "--metric scanmatch --grid 3x3 --scale 100",
    ] {
        let flags: Vec<&str> = metric.split(' ').collect();
        let compare = [
            &["compare", "a.csv", "b.csv", "--format", "csv"],
            &flags[..],
        ]
        .concat();
        let expected = pair.folder.run(&compare).ok();
        let engine = "--engine paillier --key-bits 512 --allow-weak-key --format csv";
        let both: Vec<&str> = engine.split(' ').chain(flags).collect();
        for output in pair.run(&both, &[], &[]) {
            assert_eq!(output.ok(), expected, "{metric}");
        }
    }
    let weak = ["--allow-weak-key", "--engine", "paillier"];
    let runs = pair.run(&weak, &["--key-bits", "512"], &["--key-bits", "1024"]);
    let field = "engine.paillier.key-bits";
    both_fail(
        runs,
        3,
        [
            &[&format!("{field}: 512 here, 1024 there")],
            &[&format!("{field}: 1024 here, 512 there")],
        ],
    );
}

#[test]
fn undeclared_notations_are_detected_as_in_compare() {
    let pair = Pair::new();
    let header = "# veilpath cohort 1\n# alphabet: letters 49\n# grid: 7x7\n";
    let cohorts = [
        (
            "bare.csv",
            "participant,scanpath\nP1,ABCD\nP2,aBC\n".to_string(),
        ),
        (
            "double-looking.csv",
            "participant,scanpath\nQ1,aAbB\n".to_string(),
        ),
        (
            "declared.csv",
            format!("{header}participant,scanpath\nR1,ABBA\n"),
        ),
        ("dna.csv", "participant,scanpath\nS1,ACGT\n".to_string()),
    ];
    for (name, text) in &cohorts {
        pair.folder.file(name, text);
    }
    for (a, b, flags) in [
        ("bare.csv", "double-looking.csv", ""),
        ("declared.csv", "bare.csv", "--metric scanmatch"),
        ("bare.csv", "declared.csv", "--metric scanmatch"),
        ("bare.csv", "bare.csv", "--metric scanmatch --grid 7x7"),
        ("dna.csv", "dna.csv", "--notation dna"),
    ] {
        let flags: Vec<&str> = flags.split_whitespace().collect();
        let compare = [&["compare", a, b, "--format", "csv"], &flags[..]].concat();
        let expected = pair.folder.run(&compare).ok();
        let both = [&["--format", "csv"], &flags[..]].concat();
        // Each side states which grid its letters are on.
        let side = |own: &'static str, other: &str| match (own, other) {
            ("bare.csv", "declared.csv") => vec!["--cohort", own, "--grid", "7x7"],
            ("double-looking.csv", _) => vec!["--cohort", own, "--notation", "letters"],
            _ => vec!["--cohort", own],
        };
        for output in pair.run(&both, &side(a, b), &side(b, a)) {
            assert_eq!(output.ok(), expected, "{a} {b} {flags:?}");
        }
    }
    // In a session, the partner's file does not decide how this side's file is read.
    let cohort = |name| ["--cohort", name];
    let [host, join] = pair.run(&[], &cohort("bare.csv"), &cohort("double-looking.csv"));
    assert_eq!((host.code, join.code), (3, 3), "{}", join.stderr);
    assert!(
        join.stderr.contains("add --notation letters"),
        "{}",
        join.stderr
    );
}

#[test]
fn a_wrong_peer_is_refused_by_either_side() {
    let pair = Pair::with_cohorts();
    let (host, join) = (pair.fingerprint(Side::Host), pair.fingerprint(Side::Join));
    let other = Pair::new();
    std::fs::rename(
        other.folder.path().join("join/identity.pem"),
        pair.folder.path().join("other.pem"),
    )
    .unwrap();
    // The host keeps waiting, because anybody who reaches it can present some key.
    let runs = pair.run(&[], &["--wait", "2"], &["--identity", "other.pem"]);
    let found = other.fingerprint(Side::Join);
    both_fail(
        runs,
        3,
        [
            &[&found, &join, "not the expected"],
            &["expects a different"],
        ],
    );
    let runs = pair.run(&[], &["--wait", "2", "--identity", "other.pem"], &[]);
    both_fail(
        runs,
        3,
        [
            &["expects a different"],
            &[&found, &host, "not the expected"],
        ],
    );
}

#[test]
fn estimates_stop_before_the_work() {
    let pair = Pair::with_cohorts();
    let [host, join] = pair.run(&["--estimate", "-o", "no.csv"], &[], &[]);
    for output in [host, join] {
        assert!(output.stderr.contains("bytes_to_host"), "{}", output.stderr);
        assert_eq!(output.ok(), "");
    }
    assert!(!pair.folder.path().join("no.csv").exists());
    let [host, join] = pair.run(&[], &["--estimate"], &[]);
    assert_eq!((host.code, join.code), (0, 3), "{}", join.stderr);
    assert!(join.stderr.contains("estimate only"), "{}", join.stderr);
}

#[test]
fn pseudonyms_hide_ids_and_scores_can_go_to_one_side() {
    let pair = Pair::with_cohorts();
    let runs = pair.run(&["--format", "csv", "--pseudonyms"], &[], &[]);
    let [host, join] = runs.map(RunOutput::ok);
    assert!(host.contains("novice-") && host.contains("p-"), "{host}");
    assert!(
        join.contains(",scene-1,"),
        "common stimuli are known: {join}"
    );
    let scores = |text: &str| {
        let mut scores: Vec<String> = text
            .lines()
            .map(|line| line.split(',').skip(3).collect::<Vec<_>>().join(","))
            .collect();
        scores.sort();
        scores
    };
    let compared = pair
        .folder
        .run(&["compare", "a.csv", "b.csv", "--format", "csv"])
        .ok();
    assert_eq!(scores(&host), scores(&compared));
    assert_eq!(scores(&join), scores(&compared));
    let [host, join] = pair.run(&["--format", "csv", "--reveal-to", "host"], &[], &[]);
    assert_eq!(host.ok(), compared);
    assert_eq!(join.ok(), "a,b,stimulus,score,similarity\n");
    let [host, join] = pair.run(&["--reveal-to", "join"], &[], &[]);
    let host = host.ok();
    assert_eq!(host.lines().count(), 1, "{host}");
    assert!(host.contains("32 pairs"), "{host}");
    assert_eq!(join.ok().lines().count(), 33);
}

/// Every line of the log is an object, also if the name of the file contradicts its format.
#[test]
fn a_name_that_contradicts_the_format_is_a_warning_in_the_log() {
    let pair = Pair::with_cohorts();
    let outputs = pair.run(&["--format", "csv"], &["-o", "h.json"], &["-o", "j.json"]);
    for (output, file) in outputs.into_iter().zip(["h.json", "j.json"]) {
        let events: Vec<Value> = output
            .stderr
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let message =
            format!("{file} contains CSV, as --format says, although its name ends in .json");
        let warning = json!({"event": "warning", "message": message});
        assert!(events.contains(&warning), "{}", output.stderr);
        output.ok();
    }
}

#[test]
fn a_second_run_uses_the_journal_and_limits_are_enforced() {
    let pair = Pair::with_cohorts();
    let both = ["--format", "csv", "--limit-per-scanpath", "4"];
    let [first, _] = pair.run(&both, &[], &[]).map(RunOutput::ok);
    let [second, again] = pair.run(&both, &[], &[]);
    for output in [&second, &again] {
        // The number is in the agreement, and in the cost at the end.
        let mentions = output.stderr.matches("\"pairs_from_journal\":32");
        assert_eq!(mentions.count(), 2, "{}", output.stderr);
        assert!(
            output.stderr.contains("\"restarted_pairs\":0"),
            "{}",
            output.stderr
        );
    }
    assert_eq!(second.ok(), first);
    let other = ["--metric", "scanmatch"];
    let runs = pair.run(&other, &["--limit-per-scanpath", "4"], &[]);
    both_fail(
        runs,
        3,
        [
            &[
                "8 including earlier sessions",
                "limit is 4",
                "--limit-per-scanpath 8",
                "--reveal mean",
            ],
            &["declined", "exceeds the other side's limit"],
        ],
    );
}

#[test]
fn invalid_arguments_are_refused_before_any_connection() {
    let pair = Pair::with_cohorts();
    let refused = |arguments: &[&str], words: &[&str]| {
        let output = pair.join("127.0.0.1:9", arguments).end();
        assert_eq!(output.code, 2, "{}", output.stderr);
        for word in words {
            assert!(output.stderr.contains(word), "{word}: {}", output.stderr);
        }
    };
    refused(
        &["--identity", "none.pem"],
        &["none.pem", "veilpath identity"],
    );
    refused(&["--cohort", "none.csv"], &["none.csv"]);
    refused(&["--metric", "levenshtein", "--gap", "2"], &["--gap"]);
    refused(&["-o", "no/such/folder.csv"], &["folder.csv"]);
    refused(&["--timeout", "0"], &["--timeout"]);
    let output = pair.folder.run(&[
        "join",
        "127.0.0.1:9",
        "--cohort",
        "b.csv",
        "--engine",
        "plain",
        "--peer",
        "12",
    ]);
    assert!(output.refused().contains("64 hexadecimal digits"));
}

#[test]
fn a_port_in_use_and_a_missing_host_are_network_failures() {
    let pair = Pair::with_cohorts();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let peer = pair.fingerprint(Side::Join);
    let call = [
        "host", "--listen", &address, "--peer", &peer, "--engine", "plain", "--cohort", "a.csv",
    ];
    let identity = ["--identity", "host/identity.pem"];
    let output = pair.folder.run(&[&call[..], &identity].concat());
    assert_eq!(output.code, 4, "{}", output.stderr);
    assert!(output.stderr.contains("already"), "{}", output.stderr);
    // No other test uses this address, as it could a port that has just become free.
    let output = pair.join("127.99.0.1:7070", &["--wait", "1"]).end();
    assert_eq!(output.code, 4, "{}", output.stderr);
    assert!(
        output.stderr.contains("cannot be reached"),
        "{}",
        output.stderr
    );
}

#[test]
fn an_identity_is_created_once_and_shown() {
    let folder = common::Folder::new();
    let missing = folder.run(&["identity", "--show"]).refused();
    assert!(missing.contains("veilpath identity"), "{missing}");
    let made = folder.run(&["identity"]);
    assert!(made.stderr.contains("new identity"), "{}", made.stderr);
    let fingerprint = made.ok();
    assert_eq!(fingerprint.trim().len(), 79);
    assert_eq!(folder.run(&["identity", "--show"]).ok(), fingerprint);
    assert_ne!(
        folder.run(&["identity", "--identity", "other.pem"]).ok(),
        fingerprint
    );
}

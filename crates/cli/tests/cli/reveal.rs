//! One bit for each pair instead of its score, and hidden lengths: what is revealed, and what is refused.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;
use crate::common::pair;

use common::Folder;
use pair::Pair;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file(
        "a.csv",
        "participant,stimulus,scanpath\nP1,cows,ABCD\nP1,boat,AAB\nP2,cows,\n",
    );
    folder.file(
        "b.csv",
        "participant,stimulus,scanpath\nQ1,boat,AB\nQ1,cows,ABCE\n",
    );
    folder
}

fn words(call: &str) -> Vec<&str> {
    call.split(' ').collect()
}

#[test]
fn csv_and_json_have_a_bit_in_place_of_the_numbers() {
    let folder = folder();
    let call = "compare a.csv b.csv --engine garbled --reveal threshold:3.5 --format";
    let output = folder.run(&words(&format!("{call} csv")));
    let message = "3 pairs by levenshtein: 2 with a score of at most 3.5";
    assert!(output.stderr.contains(message), "{}", output.stderr);
    assert_eq!(
        output.ok(),
        "a,b,stimulus,within\nP1,Q1,cows,true\nP1,Q1,boat,true\nP2,Q1,cows,false\n"
    );
    let value = folder.run(&words(&format!("{call} json"))).json();
    assert_eq!(value["spec"]["reveal"], "threshold:3.5");
    let rows = value["results"].as_array().unwrap();
    let bits: Vec<_> = rows.iter().map(|row| row["within"].as_bool()).collect();
    assert_eq!(bits, [Some(true), Some(true), Some(false)]);
    for row in rows {
        assert!(row.get("score").is_none() && row.get("similarity").is_none());
    }
    let revealed = value["revealed"].to_string();
    assert!(revealed.contains("score is at most 3.5"), "{revealed}");
    let table = folder.run(&words(&format!("{call} table"))).ok();
    assert!(table.contains("within") && table.contains("yes"), "{table}");
    let scores = folder
        .run(&words("compare a.csv b.csv --reveal score --format json"))
        .json();
    assert_eq!(scores["spec"]["reveal"], "score");
    assert_eq!(scores["results"][0]["score"], 1);
}

/// The bits match the list of scores.
#[test]
fn bits_agree_with_scores_for_every_metric() {
    let folder = Folder::new();
    for (file, seed) in [("a.csv", 5), ("b.csv", 6)] {
        let call =
            format!("synth random --count 6 --length 3-12 --letters 49 --seed {seed} -o {file}");
        folder.run(&words(&call)).ok();
    }
    for (metric, distance) in [
        ("levenshtein", true),
        ("needleman-wunsch --substitution euclidean --grid 7x7", true),
        ("needleman-wunsch --match 0.5", false),
        ("smith-waterman --gap 0.5", false),
        ("scanmatch --grid 7x7", false),
        ("scanmatch --grid 7x7 --scale 100", false),
    ] {
        let call = format!("compare a.csv b.csv --engine plain --metric {metric} --format csv -q");
        let column = |out: &str| -> Vec<String> {
            let rows = out.lines().skip(1);
            rows.map(|row| row.split(',').nth(3).unwrap().to_string())
                .collect()
        };
        let scores = column(&folder.run(&words(&call)).ok());
        let mut sorted: Vec<f64> = scores.iter().map(|score| score.parse().unwrap()).collect();
        sorted.sort_by(f64::total_cmp);
        let threshold = sorted[sorted.len() / 2];
        let bits = column(
            &folder
                .run(&words(&format!("{call} --reveal threshold:{threshold}")))
                .ok(),
        );
        let expected: Vec<String> = scores
            .iter()
            .map(|score| {
                let score: f64 = score.parse().unwrap();
                let within = if distance {
                    score <= threshold
                } else {
                    score >= threshold
                };
                within.to_string()
            })
            .collect();
        assert_eq!(bits, expected, "{metric}");
        assert!(bits.contains(&"true".into()) && bits.contains(&"false".into()));
    }
}

#[test]
fn sessions_and_compare_give_the_same_bits() {
    let pair = Pair::with_cohorts();
    let flags = "--reveal threshold:0.4 --metric scanmatch --format csv";
    let compare = format!("compare a.csv b.csv --engine plain {flags}");
    let expected = pair.folder.run(&words(&compare)).ok();
    assert!(expected.starts_with("a,b,stimulus,within\n"));
    let both = words(flags);
    for output in pair.run(&both, &["-o", "host.csv"], &["-o", "join.csv"]) {
        assert_eq!(output.ok(), "");
    }
    assert_eq!(pair.folder.read("host.csv"), expected);
    assert_eq!(pair.folder.read("join.csv"), expected);
    // A second run takes the bits from the journal.
    for output in pair.run(&both, &[], &[]) {
        assert!(
            output.stderr.contains("\"pairs_from_journal\":32"),
            "{}",
            output.stderr
        );
        assert_eq!(output.ok(), expected);
    }
    let [host, join] = pair.run(&both, &["--reveal-to", "join"], &["--reveal-to", "join"]);
    assert_eq!(host.ok(), "a,b,stimulus,within\n");
    assert!(
        join.stderr.contains("\"max_agreements\":2"),
        "{}",
        join.stderr
    );
    assert_eq!(join.ok(), expected);
}

#[test]
fn both_sides_agree_on_what_is_revealed() {
    let pair = Pair::with_cohorts();
    let runs = pair.run(
        &[],
        &["--reveal", "threshold:4"],
        &["--reveal", "threshold:5"],
    );
    for (output, words) in runs.into_iter().zip([
        "reveal: threshold:4 here, threshold:5 there",
        "reveal: threshold:5 here, threshold:4 there",
    ]) {
        assert_eq!(output.code, 3, "{}", output.stderr);
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    let estimate = ["--reveal", "threshold:4", "--estimate"];
    for output in pair.run(&estimate, &[], &[]) {
        for words in ["\"reveal\":\"threshold:4\"", "\"bytes_to_join\":32,"] {
            assert!(output.stderr.contains(words), "{}", output.stderr);
        }
        output.ok();
    }
    let in_words = [&estimate[..], &["--log", "text"]].concat();
    let host = pair.host(&estimate);
    let address = host.address.clone().unwrap();
    let peer = pair.fingerprint(pair::Side::Host);
    let mut call: Vec<String> = words("join ADDRESS --peer PEER --cohort b.csv --engine plain")
        .into_iter()
        .chain(in_words)
        .map(str::to_string)
        .collect();
    call[1] = address;
    call[3] = peer;
    let join = pair.start(pair::Side::Join, &call).end();
    host.end().ok();
    assert!(
        join.stderr.contains(
            "a yes or no for every pair: whether its score is at most 4; both sides know the lengths"
        ),
        "{}",
        join.stderr
    );
    join.ok();
}

#[test]
fn every_threshold_counts_as_a_comparison() {
    let pair = Pair::with_cohorts();
    let ask = |threshold: &str| {
        let both = ["--reveal", threshold];
        pair.run(&both, &["--limit-per-scanpath", "8"], &[])
    };
    for threshold in ["threshold:4", "threshold:5", "threshold:4"] {
        for output in ask(threshold) {
            output.ok();
        }
    }
    for (output, words) in ask("threshold:6")
        .into_iter()
        .zip(["limit is 8", "the other side's limit"])
    {
        assert_eq!(output.code, 3, "{}", output.stderr);
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
}

#[test]
fn impossible_options_are_refused_with_advice() {
    let folder = folder();
    let refused = |flags: &str, expected: &[&str]| {
        let message = folder
            .run(&words(&format!("compare a.csv b.csv {flags}")))
            .refused();
        for word in expected {
            assert!(message.contains(word), "{flags}: {message}");
        }
    };
    refused(
        "--engine paillier --reveal threshold:3",
        &["paillier", "use --engine garbled, or"],
    );
    refused("--reveal threshold", &["threshold:T"]);
    refused("--reveal threshold:near", &["must be a finite number"]);
    refused("--reveal threshold:nan", &["finite"]);
    refused("--reveal threshold:-1", &["no distance is below 0"]);
    refused(
        "--metric smith-waterman --reveal threshold:0",
        &["at least 0"],
    );
    refused("--pad-to 0", &["--pad-to"]);
    refused("--pad-to 99999999", &["--pad-to"]);
    refused("--engine plain --pad-to 9", &["plain", "--pad-to"]);
    refused("--engine paillier --pad-to 9", &["paillier", "--pad-to"]);
    refused(
        "--engine plain --pad-to 3",
        &["a.csv", "1 of 3 scanpaths", "longest has 4", "--pad-to 4"],
    );
}

#[test]
fn a_session_is_refused_before_any_connection() {
    let pair = Pair::with_cohorts();
    let refused = |arguments: &str, words: &[&str]| {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let output = pair.join("127.0.0.1:9", &arguments).end();
        assert_eq!(output.code, 2, "{}", output.stderr);
        for word in words {
            assert!(output.stderr.contains(word), "{word}: {}", output.stderr);
        }
    };
    refused(
        "--engine paillier --reveal threshold:3",
        &["use --engine garbled, or"],
    );
    refused("--pad-to 2", &["b.csv", "8 of 8", "--pad-to"]);
    refused("--pad-to 4000", &["plain", "--pad-to"]);
    refused("--reveal threshold:-3", &["below 0"]);
    refused("--engine paillier --reveal-to host", &["--reveal-to"]);
}

//! Garbled circuits on the command line, in one process and between two.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;
use crate::common::pair;

use common::Folder;
use pair::Pair;

const A: &str = "participant,stimulus,scanpath\na1,dog,ABCAB\na2,cat,CC\n";
const B: &str = "participant,stimulus,scanpath\nb1,dog,BCA\nb2,dog,ABCABC\nb3,cat,A\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("a.csv", A);
    folder.file("b.csv", B);
    folder
}

fn words(text: &str) -> Vec<&str> {
    text.split(' ').collect()
}

#[test]
fn scores_equal_those_of_the_plain_engine() {
    let folder = folder();
    for metric in [
        "--metric levenshtein",
        "--metric needleman-wunsch --substitution index --gap 2.5",
        "--metric needleman-wunsch --substitution euclidean --grid 7x7 --gap 150 --scale 100",
        "--metric smith-waterman --match 2 --mismatch 1",
        "--metric scanmatch --grid 7x7 --scale 1000",
        "--metric scanmatch --grid 7x7 --scale 71.5",
        "--metric scanmatch --grid 7x7 --gap -0.3 --precision 0.01",
    ] {
        let call = format!("compare a.csv b.csv --format csv {metric} --engine");
        let plain = folder.run(&words(&format!("{call} plain"))).ok();
        let garbled = folder.run(&words(&format!("{call} garbled"))).ok();
        assert_eq!(garbled, plain, "{metric}");
    }
}

#[test]
fn scanmatch_is_computed_to_the_default_precision() {
    let folder = folder();
    let json = |options: &str| {
        let call =
            format!("compare a.csv b.csv --format json --metric scanmatch --grid 7x7 {options}");
        folder.run(&words(&call)).json()
    };
    let scores = |json: &serde_json::Value| -> Vec<f64> {
        let results = json["results"].as_array().unwrap().iter();
        results
            .map(|pair| pair["score"].as_f64().unwrap())
            .collect()
    };
    let garbled = json("--engine garbled");
    assert_eq!(garbled["spec"]["metric"]["scale"], 128.0);
    let bound = garbled["error_bound"].as_f64().unwrap();
    assert!(bound < 1e-3, "{bound}");
    let double = json("--engine plain");
    assert!(double.get("error_bound").is_none() && double["spec"]["metric"]["scale"].is_null());
    for (score, exact) in scores(&garbled).iter().zip(scores(&double)) {
        assert!((score - exact).abs() <= bound, "{score} {exact}");
    }
    let integers = json("--engine plain --precision 0.001");
    assert_eq!(integers["results"], garbled["results"]);
    assert_eq!(integers["error_bound"], garbled["error_bound"]);
    let finer = json("--engine garbled --precision 0.0001");
    assert!(finer["error_bound"].as_f64().unwrap() < 1e-4);
    let call = "compare a.csv b.csv --engine garbled --metric scanmatch --grid 7x7";
    let run = folder.run(&words(call));
    assert!(run.stderr.contains("accurate to ±0.0"), "{}", run.stderr);
}

#[test]
fn the_result_contains_what_was_revealed_and_the_cost() {
    let call = "compare a.csv b.csv --format json --engine garbled";
    let json = folder().run(&words(call)).json();
    assert_eq!(json["spec"]["engine"], "garbled");
    let learned = json["revealed"].to_string();
    assert!(
        learned.contains("nothing else, if both follow the protocol"),
        "{learned}"
    );
    let cost = &json["cost"];
    assert_eq!(cost["cells"], 5 * 9 + 2);
    assert!(cost["bytes_sent"].as_u64().unwrap() > 47 * 96);
}

#[test]
fn padding_hides_lengths_and_a_threshold_hides_scores() {
    let folder = folder();
    let call = "compare a.csv b.csv --format csv -q --engine";
    let bits = folder.run(&words(&format!("{call} plain --reveal threshold:2")));
    let hidden = format!("{call} garbled --reveal threshold:2 --pad-to 9");
    assert_eq!(folder.run(&words(&hidden)).ok(), bits.ok());
    let hidden = "compare a.csv b.csv --format json -q --engine garbled --pad-to 9";
    let json = folder.run(&words(hidden)).json();
    assert_eq!(json["cost"]["cells"], 3 * 81);
    let learned = json["revealed"].to_string();
    assert!(
        learned.contains("no scanpath of the host has more than 9"),
        "{learned}"
    );
    assert!(json["results"][0]["similarity"].is_null());
}

#[test]
fn invalid_combinations_of_options_are_refused() {
    let folder = folder();
    let refused = |more: &str| {
        let call = format!("compare a.csv b.csv --engine garbled {more}");
        folder.run(&words(&call)).refused()
    };
    assert!(refused("--key-bits 2048").contains("--engine paillier"));
    let scanmatch = refused("--metric scanmatch --grid 7x7 --pad-to 9");
    assert!(scanmatch.contains("leave --pad-to out"), "{scanmatch}");
    let both = refused("--metric scanmatch --grid 7x7 --precision 0.1 --scale 9");
    assert!(both.contains("--scale is given"), "{both}");
    assert!(refused("--precision 0.1").contains("--metric scanmatch"));
    let tiny = refused("--metric scanmatch --grid 7x7 --precision 0");
    assert!(tiny.contains("the precision is 0"), "{tiny}");
}

#[test]
fn only_the_named_side_gets_results() {
    let pair = Pair::with_cohorts();
    let expected = pair
        .folder
        .run(&words("compare a.csv b.csv --engine plain --format csv -q"))
        .ok();
    for engine in ["garbled", "shares"] {
        let engine = ["--engine", engine];
        let [host, join] = pair.run(&engine, &["-o", "host.csv"], &["-o", "join.csv"]);
        assert!(
            !host.stderr.contains("\"event\":\"warning\""),
            "{}",
            host.stderr
        );
        host.ok();
        join.ok();
        assert_eq!(pair.folder.read("host.csv"), expected);
        assert_eq!(pair.folder.read("join.csv"), expected);
        pair.forget();
        let one_sided = [&engine[..], &["--reveal-to", "join"]].concat();
        let [host, join] = pair.run(&one_sided, &["-o", "none.csv"], &["-o", "alone.csv"]);
        host.ok();
        join.ok();
        assert_eq!(pair.folder.read("alone.csv"), expected);
        assert_eq!(pair.folder.read("none.csv").lines().count(), 1);
        pair.forget();
    }
}

#[test]
fn sessions_hide_lengths_and_scores() {
    let pair = Pair::with_cohorts();
    let call = "compare a.csv b.csv --engine plain --reveal threshold:19 --format csv -q";
    let expected = pair.folder.run(&words(call)).ok();
    for engine in ["garbled", "shares"] {
        let hidden = format!("--engine {engine} --reveal threshold:19 --pad-to 30");
        let [host, join] = pair.run(&words(&hidden), &["-o", "host.csv"], &["-o", "join.csv"]);
        host.ok();
        join.ok();
        for file in ["host.csv", "join.csv"] {
            assert_eq!(pair.folder.read(file), expected);
        }
        pair.forget();
    }
    assert!(expected.contains("true") && expected.contains("false"));
}

#[test]
fn bench_cell_measures_a_cell() {
    for (engine, gates, traffic) in [
        ("garbled", Some(3), 100.0..125.0),
        ("shares", None, 10.0..70.0),
    ] {
        let call = format!("bench cell --engine {engine} --seconds 0.5 --format json");
        let json = Folder::new().run(&words(&call)).json();
        assert_eq!(json["engine"], engine);
        assert_eq!(json["and_gates_per_cell"].as_u64(), gates);
        assert!(json.get("key_bits").is_none());
        for field in [
            "cells",
            "seconds",
            "seconds_per_cell",
            "host_seconds_per_cell",
            "join_seconds_per_cell",
        ] {
            assert!(json[field].as_f64().unwrap() > 0.0, "{engine}: {field}");
        }
        let bytes = json["bytes_per_cell"].as_f64().unwrap();
        assert!(traffic.contains(&bytes), "{engine}: {bytes}");
    }
}

//! The paper's protocol on the command line.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;

use common::Folder;

const A: &str = "participant,stimulus,scanpath\na1,dog,ABCAB\na2,cat,CC\n";
const B: &str = "participant,stimulus,scanpath\nb1,dog,BCA\nb2,dog,ABCABC\nb3,cat,A\n";
const WEAK_KEY_FLAGS: [&str; 5] = [
    "--engine",
    "paillier",
    "--key-bits",
    "512",
    "--allow-weak-key",
];

fn folder() -> Folder {
    let folder = Folder::new();
    folder.file("a.csv", A);
    folder.file("b.csv", B);
    folder
}

#[test]
fn scores_equal_those_of_the_plain_engine() {
    let folder = folder();
    for metric in [
        "--metric levenshtein",
        "--metric needleman-wunsch --substitution index --gap 2.5",
        "--metric smith-waterman --match 2 --mismatch 1",
        "--metric scanmatch --grid 7x7 --scale 1000",
    ] {
        let mut call = vec!["compare", "a.csv", "b.csv", "--format", "csv"];
        call.extend(metric.split(' '));
        let plain = folder.run(&call).ok();
        for more in [&[][..], &["--batch", "1", "--no-packing"], &["--hardened"]] {
            let call = [&call, &WEAK_KEY_FLAGS[..], more].concat();
            assert_eq!(folder.run(&call).ok(), plain, "{metric}");
        }
    }
}

#[test]
fn the_result_contains_the_plan_and_what_was_revealed() {
    let call = [
        &[
            "compare", "a.csv", "b.csv", "--format", "json", "--batch", "9",
        ],
        &WEAK_KEY_FLAGS[..],
    ]
    .concat();
    let json = folder().run(&call).json();
    let engine = &json["spec"]["engine"]["paillier"];
    assert_eq!(engine["key_bits"], 512);
    assert_eq!(engine["batch"], 9);
    assert_eq!(engine["packing"], true);
    let learned = json["revealed"].to_string();
    assert!(learned.contains("a curious host can guess many letters"));
    assert_eq!(json["cost"]["cells"], 5 * 9 + 2);
    assert_eq!(engine["hardened"], false);
    let json = folder().run(&[&call, &["--hardened"][..]].concat()).json();
    assert_eq!(json["spec"]["engine"]["paillier"]["hardened"], true);
    assert!(
        json["revealed"]
            .to_string()
            .contains("a little about the size")
    );
}

#[test]
fn weak_keys_and_misplaced_options_are_refused() {
    let folder = folder();
    let compare = |more: &[&str]| {
        let call = [&["compare", "a.csv", "b.csv"], more].concat();
        folder.run(&call).refused()
    };
    let weak = compare(&["--engine", "paillier", "--key-bits", "1024"]);
    assert!(weak.contains("--allow-weak-key"), "{weak}");
    let odd = compare(&["--engine", "paillier", "--key-bits", "2000"]);
    assert!(odd.contains("3072"), "{odd}");
    assert!(compare(&["--batch", "5"]).contains("--engine paillier"));
    assert!(compare(&["--hardened"]).contains("--engine paillier"));
    assert!(compare(&["--engine", "paillier", "--batch", "0"]).contains("4096"));
    let keygen = folder.run(&["keygen", "--key-bits", "512", "-o", "k"]);
    assert!(keygen.refused().contains("--allow-weak-key"));
    // The error is a plain sentence, with advice.
    let weak = compare(&["--engine", "paillier", "--key-bits", "512"]);
    assert!(weak.contains("error: a key of 512 bits"), "{weak}");
    // The help does not offer engines that cannot be measured.
    let cell = folder.run(&["bench", "cell", "--engine", "auto"]).refused();
    assert!(
        cell.contains("[possible values: paillier, garbled, shares, plain]"),
        "{cell}"
    );
}

#[test]
fn measurements_have_documented_names() {
    let folder = Folder::new();
    let call =
        "bench cell --engine paillier --key-bits 512 --allow-weak-key --seconds 0.1 --format json";
    let cell = folder.run(&call.split(' ').collect::<Vec<_>>()).json();
    assert_eq!(cell["engine"], "paillier");
    assert_eq!(cell["key_bits"], 512);
    for name in [
        "cells",
        "seconds",
        "seconds_per_cell",
        "host_seconds_per_cell",
        "join_seconds_per_cell",
        "bytes_per_cell",
    ] {
        assert!(cell[name].as_f64().unwrap() > 0.0, "{name}");
    }
    let call = "bench candidates --size 20 --runs 40 --format json";
    let candidates = folder.run(&call.split(' ').collect::<Vec<_>>()).json();
    let mean = candidates["sizes"][0]["mean_candidates"].as_f64().unwrap();
    assert!((7.0..7.4).contains(&mean), "{mean}");
    assert_eq!(
        candidates["sizes"][0]["cumulative_log2"]
            .as_array()
            .unwrap()
            .len(),
        400
    );
}

#[test]
fn audit_needs_its_feature() {
    let folder = Folder::new();
    let call =
        "audit leakage --length 3 --repetitions 1 --group-size 2 --hypotheses 10 --format csv";
    let run = folder.run(&call.split(' ').collect::<Vec<_>>());
    let help = folder.run(&["--help"]).ok();
    let listed = help.lines().any(|line| line.starts_with("  audit"));
    if cfg!(feature = "audit") {
        assert!(run.ok().starts_with("view,attack,correct,guessed\n"));
        assert!(listed, "{help}");
    } else {
        assert!(run.refused().contains("--features audit"));
        assert!(!listed, "{help}");
    }
}

#[test]
fn a_key_is_not_overwritten() {
    let folder = Folder::new();
    let call = [
        "keygen",
        "--key-bits",
        "512",
        "--allow-weak-key",
        "-o",
        "hospital.key",
        "--public",
        "hospital.pub",
    ];
    folder.run(&call).ok();
    assert!(
        folder
            .read("hospital.key")
            .starts_with("veilpath paillier secret key 1\n")
    );
    assert!(
        folder
            .read("hospital.pub")
            .starts_with("veilpath paillier public key 1\n")
    );
    assert!(folder.run(&call).refused().contains("exists"));
}

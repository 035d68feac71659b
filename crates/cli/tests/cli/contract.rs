//! What other programs rely on: rows, keys, exit codes, and output streams.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;

use common::Folder;

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

#[test]
fn csv_rows_pair_scanpaths_of_the_same_stimulus() {
    let out = folder()
        .run(&["compare", "a.csv", "b.csv", "--format", "csv"])
        .ok();
    assert_eq!(
        out,
        "a,b,stimulus,score,similarity\n\
         P1,Q1,cows,1,0.75\n\
         P1,Q1,boat,1,0.6666666666666667\n\
         P2,Q1,cows,4,0\n"
    );
}

#[test]
fn pairs_all_compares_all_with_all() {
    let call = [
        "compare", "a.csv", "b.csv", "--pairs", "all", "--format", "csv",
    ];
    let out = folder().run(&call).ok();
    assert_eq!(out.lines().count(), 1 + 6);
    assert!(out.contains("P1,Q1,cows|boat,"), "{out}");
    let folder = folder();
    folder.file("c.csv", "participant,scanpath\nQ1,AB\n");
    let out = folder
        .run(&["compare", "a.csv", "c.csv", "--format", "csv"])
        .ok();
    assert_eq!(
        out.lines().count(),
        1 + 3,
        "one side without stimuli: all with all"
    );
}

#[test]
fn the_mean_of_a_self_comparison_excludes_identical_scanpaths() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,scanpath\nP1,AAAA\nP2,AABB\nP3,AABB\n");
    let output = folder.run(&["compare", "a.csv", "a.csv", "--format", "csv"]);
    assert!(
        output.stderr.contains("compared with itself"),
        "{}",
        output.stderr
    );
    // Two pairs have a cost of 2, and one has none.
    assert!(
        output
            .stderr
            .contains("3 pairs by levenshtein (smaller is more alike): mean 1.333333"),
        "{}",
        output.stderr
    );
    assert_eq!(output.ok().lines().count(), 1 + 9);
    // The same id in two cohorts does not mean the same person.
    folder.file("b.csv", "participant,scanpath\nP1,AAAA\nP2,AABB\nP3,AABC\n");
    let output = folder.run(&["compare", "a.csv", "b.csv"]);
    assert!(
        output.stderr.contains("9 pairs by levenshtein"),
        "{}",
        output.stderr
    );
}

#[test]
fn json_has_the_documented_keys() {
    let value = folder()
        .run(&["compare", "a.csv", "b.csv", "--format", "json"])
        .json();
    for key in ["seconds", "bytes_sent", "bytes_received", "rounds", "cells"] {
        assert!(value["cost"][key].is_number(), "{key}");
    }
    assert_eq!(value["cost"]["cells"], 16 + 6);
    let row = &value["results"][1];
    assert_eq!(row["a"], "P1");
    assert_eq!(row["b"], "Q1");
    assert_eq!(row["stimulus"], "boat");
    assert_eq!(row["score"], 1);
    assert!(row["similarity"].is_number());
    assert!(value["spec"]["metric"]["name"] == "levenshtein" && value["spec"]["engine"] == "plain");
    // In the clear nobody else takes part.
    assert!(value["revealed"].as_array().unwrap().is_empty());
    assert_eq!(value["cost"]["bytes_sent"], 0);
}

#[test]
fn results_go_to_the_file_or_to_standard_output() {
    let folder = folder();
    let compare = ["compare", "a.csv", "b.csv", "--format", "csv"];
    let piped = folder.run(&compare);
    assert!(piped.stderr.contains("3 pairs"), "{}", piped.stderr);
    let rows = piped.ok();
    assert_eq!(rows.lines().count(), 1 + 3);
    let named = folder.run(&[&compare[..], &["-o", "out.csv"]].concat());
    for part in ["3 pairs", "out.csv"] {
        assert!(named.stderr.contains(part), "{}", named.stderr);
    }
    assert_eq!(named.ok(), "", "the rows are in the file");
    assert_eq!(folder.read("out.csv"), rows);
    let dash = folder.run(&[&compare[..], &["-o", "-"]].concat());
    assert_eq!(dash.ok(), rows);
    let quiet = folder.run(&["compare", "a.csv", "b.csv", "-q", "-o", "out.json"]);
    assert_eq!(quiet.stderr, "");
    let value: serde_json::Value = serde_json::from_str(&folder.read("out.json")).unwrap();
    assert_eq!(value["results"].as_array().unwrap().len(), 3);
}

/// The flags work before and after the subcommand. A unit test checks that every command has them.
#[test]
fn quiet_and_verbose_work_everywhere() {
    let folder = folder();
    for call in [
        "-q compare a.csv b.csv",
        "compare -q a.csv b.csv",
        "compare a.csv b.csv --quiet",
        "split a.csv --seed 1 -q",
        "-q synth random --count 2 --seed 1",
        "-q demo --engine plain",
    ] {
        let output = folder.run(&call.split(' ').collect::<Vec<_>>());
        assert_eq!((output.code, output.stderr.as_str()), (0, ""), "{call}");
    }
    let normal = folder.run(&["compare", "a.csv", "b.csv"]).stderr;
    for call in ["-v compare a.csv b.csv", "compare a.csv b.csv --verbose"] {
        let output = folder.run(&call.split(' ').collect::<Vec<_>>());
        assert!(output.stderr.len() > normal.len(), "{call}");
        assert!(output.stderr.contains("same stimulus"), "{}", output.stderr);
    }
    folder
        .run(&["-q", "-v", "compare", "a.csv", "b.csv"])
        .refused();
}

#[test]
fn cohorts_are_named_after_their_files_or_by_a_flag() {
    let folder = folder();
    let names = |more: &[&str]| {
        let call = [&["compare", "a.csv", "b.csv", "--format", "json"], more].concat();
        let cohorts = folder.run(&call).json()["cohorts"].clone();
        [0, 1].map(|side| cohorts[side]["name"].clone())
    };
    assert_eq!(names(&[]), ["a", "b"]);
    let named = names(&["--names", "Clinic, University"]);
    assert_eq!(named, ["Clinic", "University"]);
    folder
        .run(&["compare", "a.csv", "b.csv", "--names", "Clinic"])
        .refused();
}

#[test]
fn a_metric_without_a_similarity_leaves_it_empty() {
    let folder = Folder::new();
    folder.file("a.txt", "ABC\n");
    folder.file("t.csv", "-1,-1,-1\n-1,-1,-1\n-1,-1,-1\n");
    let call = [
        "compare",
        "a.txt",
        "a.txt",
        "--metric",
        "smith-waterman",
        "--substitution",
        "t.csv",
        "--format",
        "csv",
    ];
    assert!(folder.run(&call).ok().ends_with("1,1,,0,\n"));
}

#[test]
fn negative_gaps_parse_in_both_spellings() {
    let folder = folder();
    folder.file("c.csv", "participant,scanpath\nQ1,AB\n");
    for gap in [vec!["--gap", "-0.5"], vec!["--gap=-0.5"]] {
        let mut call = vec![
            "compare",
            "c.csv",
            "c.csv",
            "--metric",
            "scanmatch",
            "--grid",
            "7x7",
        ];
        call.extend(gap);
        folder.run(&call).ok();
    }
}

#[test]
fn plain_lists_and_ogama_texts_are_cohorts() {
    let folder = Folder::new();
    folder.file("list.txt", "ABCD\nABCE\n");
    folder.file("ogama.txt", "# exported\nP1\tABCD\nP2\tAB\n");
    let out = folder
        .run(&["compare", "list.txt", "ogama.txt", "--format", "csv"])
        .ok();
    assert_eq!(
        out,
        "a,b,stimulus,score,similarity\n1,P1,,0,1\n1,P2,,2,0.5\n2,P1,,1,0.75\n2,P2,,2,0.5\n"
    );
}

#[test]
fn dna_double_letters_and_numbers_are_read() {
    let folder = Folder::new();
    folder.file("dna.csv", "participant,scanpath\np,ACGT\nq,acga\n");
    let out = folder
        .run(&[
            "compare",
            "dna.csv",
            "dna.csv",
            "--notation",
            "dna",
            "--format",
            "csv",
        ])
        .ok();
    assert!(out.contains("p,q,,1,0.75"), "{out}");
    folder.file("double.csv", "participant,scanpath\np,aAaBdR\n");
    folder.file("numbers.csv", "participant,scanpath\np,0 1 95\n");
    let call = ["compare", "double.csv", "double.csv", "--format", "json"];
    assert_eq!(folder.run(&call).json()["cost"]["cells"], 9);
    let call = [
        "compare",
        "numbers.csv",
        "numbers.csv",
        "--metric",
        "scanmatch",
        "--grid",
        "12x8",
        "--format",
        "csv",
    ];
    assert!(folder.run(&call).ok().ends_with("p,p,,1,1\n"));
}

#[test]
fn split_keeps_participants_together_and_is_reproducible() {
    let folder = Folder::new();
    folder
        .run(&[
            "synth",
            "lifelike",
            "--participants",
            "11",
            "--seed",
            "3",
            "-o",
            "all.csv",
        ])
        .ok();
    let split = |seed: &str| {
        folder.run(&["split", "all.csv", "--seed", seed]).ok();
        (folder.read("all-a.csv"), folder.read("all-b.csv"))
    };
    let (a, b) = split("5");
    assert_eq!(split("5"), (a.clone(), b.clone()));
    assert_ne!(split("6").0, a);
    let people = |text: &str| {
        let rows = text.lines().filter(|line| !line.starts_with('#')).skip(1);
        rows.map(|row| row.split(',').next().unwrap().to_string())
            .collect::<std::collections::BTreeSet<_>>()
    };
    assert!(people(&a).is_disjoint(&people(&b)));
    assert_eq!((people(&a).len(), people(&b).len()), (6, 5));
    let rows = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count() - 1;
    assert_eq!(rows(&a) + rows(&b), 44);
}

#[test]
fn synth_random_respects_lengths_and_letters() {
    let folder = Folder::new();
    let call = "synth random --count 3 --length 8,20-30 --letters 5 --seed 9";
    let out = folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    let rows: Vec<Vec<&str>> = out
        .lines()
        .filter(|line| !line.starts_with('#'))
        .skip(1)
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!(rows.len(), 6);
    for row in &rows {
        let length = row[2].len();
        match row[1] {
            "length-8" => assert_eq!(length, 8),
            "length-20-30" => assert!((20..=30).contains(&length)),
            other => panic!("{other}"),
        }
        assert!(row[2].chars().all(|letter| ('A'..='E').contains(&letter)));
    }
    assert_eq!(out, folder.run(&call.split(' ').collect::<Vec<_>>()).ok());
}

#[test]
fn the_demo_cohorts_match_the_help_text() {
    let folder = Folder::new();
    let run = |call: &str| folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    run("synth lifelike --participants 8 --stimuli 2 --seed 2024 -o everyone.csv");
    run("split everyone.csv --seed 2 --first clinic.csv --second university.csv");
    for name in ["clinic.csv", "university.csv"] {
        let bundled = common::root().join("testdata/demo").join(name);
        assert_eq!(folder.read(name), std::fs::read_to_string(bundled).unwrap());
    }
    let compare = "compare clinic.csv university.csv --engine plain --metric scanmatch --precision 0.001 --format csv";
    let expected = run(compare);
    assert_eq!(run("demo --engine plain --format csv"), expected);
    let output = folder.run(&["demo", "--format", "csv"]);
    assert!(
        output
            .stderr
            .contains("All 32 scores equal those computed in the clear"),
        "{}",
        output.stderr
    );
    assert_eq!(output.ok(), expected);
}

/// The scores of the compared part are correct.
#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn the_demo_gives_a_slow_engine_a_part() {
    let folder = Folder::new();
    let expected = folder.run(&["demo", "--engine", "plain", "--format", "csv"]);
    let expected = expected.ok();
    let output = folder.run(&["demo", "--engine", "paillier", "--format", "csv"]);
    for words in [
        "within a group",
        "The paillier engine is slow",
        "paillier engine",
        "scores equal those computed in the clear",
    ] {
        assert!(output.stderr.contains(words), "{}", output.stderr);
    }
    let part = output.ok();
    let rows = part.lines().count();
    assert!((2..expected.lines().count()).contains(&rows), "{part}");
    for row in part.lines() {
        assert!(expected.lines().any(|other| other == row), "{row}");
    }
}

#[test]
fn keygen_writes_two_files_and_never_overwrites() {
    let folder = Folder::new();
    let call = [
        "keygen",
        "-o",
        "k.key",
        "--key-bits",
        "512",
        "--allow-weak-key",
    ];
    folder.run(&call).ok();
    assert!(
        folder
            .read("k.key")
            .starts_with("veilpath paillier secret key 1\nbits 512\n")
    );
    assert!(
        folder
            .read("k.key.pub")
            .starts_with("veilpath paillier public key 1\nbits 512\n")
    );
    assert!(!folder.read("k.key.pub").contains("\np "));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(folder.path().join("k.key"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert!(folder.run(&call).refused().contains("k.key"));
    let weak = folder
        .run(&["keygen", "-o", "w.key", "--key-bits", "1024"])
        .refused();
    assert!(weak.contains("--allow-weak-key"), "{weak}");
    assert!(
        folder
            .run(&["keygen", "-o", "w.key", "--key-bits", "1000"])
            .refused()
            .contains("2048")
    );
}

#[test]
fn bench_paillier_prints_every_operation() {
    let call = "bench paillier --key-bits 512 --seconds 0 --format json";
    let report = Folder::new()
        .run(&call.split(' ').collect::<Vec<_>>())
        .json();
    let rows = report["measurements"].as_array().unwrap();
    for operation in [
        "encrypt-key-holder",
        "encrypt-other-side",
        "decrypt",
        "add",
        "scalar-mul-64",
        "scalar-mul-128",
        "scalar-mul-full",
        "rerandomize",
    ] {
        let row = rows
            .iter()
            .find(|row| row["operation"] == operation)
            .unwrap();
        assert!(
            row["operations_per_second"].as_f64().unwrap() > 0.0,
            "{operation}"
        );
    }
}

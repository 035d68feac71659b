//! Calls that ask for too much, or for something that would be ignored, fail at once.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;

use common::Folder;

fn refused(arguments: &[&str], words: &str) {
    let folder = Folder::new();
    folder.file("fixations.csv", "participant,x,y,duration\nanna,1,1,200\n");
    folder.file("a.csv", "participant,stimulus,scanpath\nanna,cows,ABC\n");
    let message = folder.run(arguments).refused();
    assert!(message.contains(words), "{arguments:?} gives {message}");
}

#[test]
fn too_many_pairs_are_refused_early() {
    let folder = Folder::new();
    folder.file("many.txt", "A\n".repeat(8000));
    let message = folder.run(&["compare", "many.txt", "many.txt"]).refused();
    assert!(
        message.contains("64000000 pairs") && message.contains("--tile"),
        "{message}"
    );
    // A small enough part of them is compared.
    let call = [
        "compare", "many.txt", "many.txt", "--tile", "7/9999", "--format", "csv",
    ];
    let rows = folder.run(&call).ok().lines().count();
    assert!((6_000..7_000).contains(&rows), "{rows}");
}

#[test]
fn synthetic_cohorts_have_size_limits() {
    let count = u64::MAX.to_string();
    refused(
        &["synth", "random", "--count", &count, "--length", "0"],
        "--count",
    );
    let huge = ["--participants", "100000", "--stimuli", "10000"];
    for seconds in ["86400", "0.001"] {
        refused(
            &[&["synth", "lifelike", "--seconds", seconds], &huge[..]].concat(),
            "hours",
        );
    }
}

#[test]
fn negative_numbers_are_rejected_with_a_reason() {
    for (flag, words) in [
        ("--bin", "above 0"),
        ("--min-dwell", "above 0"),
        ("--max-gap", "at least 0"),
        ("--rate", "above 0"),
        ("--max-repeats", "not in 0"),
    ] {
        let call = ["encode", "fixations.csv", "--screen", "9x9", flag, "-1"];
        refused(&call, words);
    }
    let crqa = ["compare", "a.csv", "a.csv", "--metric", "crqa"];
    refused(
        &[&crqa[..], &["--line", "0"]].concat(),
        "--line: the minimum length of a line is 0, but must be from 2",
    );
    refused(&["split", "a.csv", "--fraction", "-1"], "from 0 to 1");
    refused(&["synth", "lifelike", "--seconds", "-1"], "above 0");
}

#[test]
fn gap_conflicts_with_insert_and_delete() {
    let call = "compare a.csv a.csv --metric needleman-wunsch --insert 1 --delete 2 --gap 5";
    let call: Vec<&str> = call.split(' ').collect();
    refused(&call, "--gap does not apply");
}

#[test]
fn unpaired_scanpaths_are_reported() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,stimulus,scanpath\np,x,AB\nq,y,AB\n");
    folder.file("b.csv", "participant,stimulus,scanpath\np,x,AB\n");
    let output = folder.run(&["compare", "a.csv", "b.csv"]);
    assert!(
        output.stderr.contains("a.csv: 1 of 2 scanpaths"),
        "{}",
        output.stderr
    );
    assert!(!output.stderr.contains("b.csv: 1 of"), "{}", output.stderr);
    let all = folder.run(&["compare", "a.csv", "b.csv", "--pairs", "all"]);
    assert!(!all.stderr.contains("1 of 2"), "{}", all.stderr);
}

#[test]
fn the_declared_notation_may_be_repeated() {
    let folder = Folder::new();
    folder.file(
        "a.csv",
        "# veilpath cohort 1\n# alphabet: letters 4\n# grid: 2x2\nparticipant,scanpath\np,AB\n",
    );
    folder.file("b.txt", "ABD\n");
    for other in ["a.csv", "b.txt"] {
        let call = ["compare", "a.csv", other, "--metric", "scanmatch", "-q"];
        let named = [&call[..], &["--notation", "letters"]].concat();
        assert_eq!(folder.run(&named).ok(), folder.run(&call).ok());
    }
}

/// A cohort's letters are decoded once the metric's grid is known, but a pipe can be read only once.
#[cfg(unix)]
#[test]
fn a_pipe_can_hold_a_cohort_without_an_alphabet() {
    use std::io::Write;
    use std::process::Stdio;
    let folder = Folder::new();
    let text = "participant,scanpath\na1,ABCA\na2,XYX\n";
    folder.file("a.csv", text);
    folder.file("b.csv", "participant,scanpath\nb1,ABBA\n");
    let call = |first: &str| {
        let call = format!("compare {first} b.csv --metric scanmatch --grid 5x5 --format csv");
        call.split(' ').map(str::to_string).collect::<Vec<_>>()
    };
    let words = call("a.csv");
    let expected = folder
        .run(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .ok();
    let words = call("/dev/stdin");
    let mut child = folder
        .command(&words.iter().map(String::as_str).collect::<Vec<_>>())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{message}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

#[test]
fn advice_for_costs_that_are_too_large_works() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,scanpath\na1,ABCA\n");
    let refused = |more: &str| {
        let call = format!("compare a.csv a.csv --metric needleman-wunsch {more}");
        folder.run(&call.split(' ').collect::<Vec<_>>()).refused()
    };
    let whole = refused("--gap 10000000000");
    assert!(
        whole.contains("smaller numbers") && !whole.contains("--scale"),
        "{whole}"
    );
    let scaled = refused("--gap 10000000 --scale 100000");
    assert!(scaled.contains("a smaller scale"), "{scaled}");
    for scale in ["-1", "0", "1.5", "1000001"] {
        let message = refused(&format!("--scale {scale}"));
        assert!(message.contains("a whole number between"), "{message}");
    }
}

#[test]
fn a_flag_without_effect_on_a_format_is_reported() {
    let folder = Folder::new();
    let file = common::root().join("testdata/formats/video007_p012.txt");
    let file = file.to_str().unwrap();
    let messages = folder
        .run(&["encode", file, "--units", "deg", "--rate", "30"])
        .stderr;
    assert!(messages.contains("--units has no effect"), "{messages}");
    let messages = folder.run(&["encode", file, "--rate", "30"]).stderr;
    assert!(!messages.contains("no effect"), "{messages}");
}

#[test]
fn named_columns_select_the_table_format() {
    let folder = Folder::new();
    folder.file(
        "odd.csv",
        "id,pic,gx,gy,dur\np1,s1,10,20,200\np1,s1,60,70,200\n",
    );
    let columns = "x=gx,y=gy,participant=id,stimulus=pic,duration=dur";
    let call = [
        "encode",
        "odd.csv",
        "--screen",
        "100x100",
        "--columns",
        columns,
    ];
    assert!(folder.run(&call).ok().ends_with("p1,s1,Hg\n"));
    assert!(folder.run(&call[..4]).refused().contains("--columns"));
}

//! Calls that ask for too much, or for something that would be ignored, are told so at once.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

mod common;

use common::Folder;

fn refused(arguments: &[&str], words: &str) {
    let folder = Folder::new();
    folder.file("fixations.csv", "participant,x,y,duration\nanna,1,1,200\n");
    folder.file("a.csv", "participant,stimulus,scanpath\nanna,cows,ABC\n");
    let said = folder.run(arguments).refused();
    assert!(said.contains(words), "{arguments:?} gives {said}");
}

#[test]
fn more_pairs_than_memory_are_refused_before_they_are_listed() {
    let folder = Folder::new();
    folder.file("many.txt", "A\n".repeat(8000));
    let said = folder.run(&["compare", "many.txt", "many.txt"]).refused();
    assert!(said.contains("64000000 pairs"), "{said}");
}

#[test]
fn made_up_cohorts_have_bounds() {
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
fn negative_numbers_get_the_reason_and_not_a_puzzle() {
    for (flag, words) in [
        ("--bin", "above 0"),
        ("--min-dwell", "above 0"),
        ("--max-gap", "from 0"),
        ("--rate", "above 0"),
        ("--max-repeats", "not in 0"),
    ] {
        let call = ["encode", "fixations.csv", "--screen", "9x9", flag, "-1"];
        refused(&call, words);
    }
    refused(&["split", "a.csv", "--share", "-1"], "between 0 and 1");
    refused(&["synth", "lifelike", "--seconds", "-1"], "above 0");
    refused(&["compare", "a.csv", "a.csv", "--scale", "-1"], "not in 0");
}

#[test]
fn a_gap_beside_both_of_its_parts_is_refused() {
    let call = "compare a.csv a.csv --metric needleman-wunsch --insert 1 --delete 2 --gap 5";
    let call: Vec<&str> = call.split(' ').collect();
    refused(&call, "--gap does not apply");
}

#[test]
fn scanpaths_that_are_compared_with_none_are_counted_aloud() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,stimulus,scanpath\np,x,AB\nq,y,AB\n");
    folder.file("b.csv", "participant,stimulus,scanpath\np,x,AB\n");
    let ran = folder.run(&["compare", "a.csv", "b.csv"]);
    assert!(
        ran.stderr.contains("a.csv: 1 of 2 scanpaths"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("b.csv: 1 of"), "{}", ran.stderr);
    let all = folder.run(&["compare", "a.csv", "b.csv", "--pairs", "all"]);
    assert!(!all.stderr.contains("1 of 2"), "{}", all.stderr);
}

#[test]
fn naming_the_notation_that_a_file_declares_changes_nothing() {
    let folder = Folder::new();
    folder.file(
        "a.csv",
        "# veilpath cohort 1\n# alphabet: letters 4\n# grid: 2x2\nparticipant,scanpath\np,AB\n",
    );
    folder.file("b.txt", "ABD\n");
    for other in ["a.csv", "b.txt"] {
        let call = ["compare", "a.csv", other, "--metric", "scanmatch", "-q"];
        let named = [&call[..], &["--alphabet", "letters"]].concat();
        assert_eq!(folder.run(&named).ok(), folder.run(&call).ok());
    }
}

//! Files that were once read wrongly without a message: what is read from them, and what is said about it.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

mod common;

use common::Folder;

/// The ScanMatch toolbox counts the two letters of a cell modulo the columns of its grid, and scores this pair 0.714.
#[test]
fn two_letters_per_cell_follow_the_grid() {
    let folder = Folder::new();
    folder.file("a.txt", "aFaFcF\n");
    folder.file("b.txt", "bFbFbF\n");
    let call = [
        "compare",
        "a.txt",
        "b.txt",
        "--pairs",
        "all",
        "--metric",
        "scanmatch",
    ];
    let options = ["--grid", "12x8", "--engine", "plain", "--format", "csv"];
    let done = folder.run(&[&call[..], &options[..]].concat());
    let score: f64 = done
        .stdout
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .nth(3)
        .unwrap()
        .parse()
        .unwrap();
    assert!((score - 0.714).abs() < 0.001, "{score}");
    assert!(done.stderr.contains("up to 12"), "{}", done.stderr);
}

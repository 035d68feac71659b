//! Bad arguments and files give exit code 2, a location and advice, and never a panic.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;

use common::Folder;

const GOOD: &str = "participant,stimulus,scanpath\nP1,cows,ABCD\n";

/// The error of `compare` for a first cohort file with this content.
fn complaint(content: impl AsRef<[u8]>) -> String {
    let folder = Folder::new();
    folder.file("a.csv", content);
    folder.file("b.csv", GOOD);
    folder.run(&["compare", "a.csv", "b.csv"]).refused()
}

#[test]
fn malformed_cohort_files_are_rejected() {
    for (content, parts) in [
        ("", vec!["a.csv", "empty"]),
        ("participant,stimulus,scanpath\n", vec!["a.csv"]),
        (
            "participant,stimulus,path\nP1,cows,AB\n",
            vec!["a.csv", "line 1", "scanpath"],
        ),
        (
            "participant,stimulus,scanpath\nP1,cows,AB?C\n",
            vec!["a.csv", "line 2", "column 3"],
        ),
        (
            "participant,stimulus,scanpath\nP1,cows\n",
            vec!["a.csv", "line 2"],
        ),
        (
            "participant,stimulus,scanpath\n\"P1,cows,AB\n",
            vec!["a.csv", "line 2", "quote"],
        ),
        (
            "# veilpath cohort 1\n# alphabet: letters 4\nparticipant,scanpath\nP1,ABE\n",
            vec!["line 4", "letters 4"],
        ),
        (
            "# veilpath cohort 1\n# alphabet: runes\nparticipant,scanpath\nP1,ABE\n",
            vec!["line 2", "letters"],
        ),
        (
            "{\n\"veilpath_result\": 2,\n\"spec\": {\"engine\":\"garbled\"},\n\"results\": [\n]}\n",
            vec!["a.csv", "this is a result file, not a cohort"],
        ),
        (
            "a,b,stimulus,score,similarity\nP,Q,cows,3,0.5\n",
            vec!["a.csv", "this is a result file, not a cohort"],
        ),
        (
            "26fd-99d2-0a47-26fd-99d2-0a47-26fd-99d2-0a47-26fd-99d2-0a47-26fd-99d2-0a47-26fd\n",
            vec!["a.csv", "this is a fingerprint, not a cohort"],
        ),
        (
            "-----BEGIN PRIVATE KEY-----\nMC4C\n-----END PRIVATE KEY-----\n",
            vec!["a.csv", "this is a key, not a cohort"],
        ),
    ] {
        let message = complaint(content);
        for part in parts {
            assert!(
                message.contains(part),
                "{content:?} gives {message:?}, without {part:?}"
            );
        }
    }
    let folder = Folder::new();
    folder.file("b.csv", GOOD);
    let message = folder.run(&["compare", "missing.csv", "b.csv"]).refused();
    assert!(
        message.contains("missing.csv: there is no such file"),
        "{message}"
    );
    assert!(
        folder
            .run(&["compare", ".", "b.csv"])
            .refused()
            .contains("folder")
    );
}

#[test]
fn unusual_but_valid_cohort_files_are_accepted() {
    let utf16: Vec<u8> = "participant,stimulus,scanpath\r\nP1,cows,ABCE\r\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let with_mark = [&[0xff, 0xfe], utf16.as_slice()].concat();
    for content in [
        b"\xef\xbb\xbfparticipant,stimulus,scanpath\nP1,cows,ABCE\n".to_vec(),
        b"participant,stimulus,scanpath\r\nP1,cows,ABCE\r\n".to_vec(),
        b"participant;stimulus;scanpath\nP1;cows;ABCE\n".to_vec(),
        b"scanpath\tstimulus\tparticipant\nABCE\tcows\tP1".to_vec(),
        b"# a comment\n\"participant\",\"stimulus\",\"scanpath\"\n\"P1\",\"cows\",\"ABCE\"\n"
            .to_vec(),
        utf16,
        with_mark,
    ] {
        let folder = Folder::new();
        folder.file("a.csv", &content);
        folder.file("b.csv", GOOD);
        let out = folder
            .run(&["compare", "a.csv", "b.csv", "--format", "csv"])
            .ok();
        assert!(out.ends_with("P1,P1,cows,1,0.75\n"), "{content:?}");
    }
}

#[test]
fn incompatible_cohorts_are_rejected() {
    let folder = Folder::new();
    folder.file(
        "a.csv",
        "# veilpath cohort 1\n# alphabet: letters 49\n# grid: 7x7\nparticipant,stimulus,scanpath\nP,x,AB\n",
    );
    folder.file(
        "b.csv",
        "# veilpath cohort 1\n# alphabet: letters 48\n# grid: 8x6\nparticipant,stimulus,scanpath\nP,x,AB\n",
    );
    let message = folder.run(&["compare", "a.csv", "b.csv"]).refused();
    assert!(
        message.contains("7x7") && message.contains("8x6")
            || message.contains("49") && message.contains("48"),
        "{message}"
    );
    let call = [
        "compare",
        "a.csv",
        "a.csv",
        "--metric",
        "scanmatch",
        "--grid",
        "12x8",
    ];
    let message = folder.run(&call).refused();
    assert!(
        message.contains("12x8") && message.contains("7x7"),
        "{message}"
    );
    folder.file("c.csv", "participant,stimulus,scanpath\nP,y,AB\n");
    let message = folder.run(&["compare", "a.csv", "c.csv"]).refused();
    assert!(
        message.contains("no stimulus in common") && message.contains("--pairs all"),
        "{message}"
    );
    let four = "participant,stimulus,scanpath\nP,k,AB\nP,l,AB\nP,m,AB\nP,n,AB\n";
    folder.file("d.csv", four);
    let message = folder.run(&["compare", "c.csv", "d.csv"]).refused();
    let listed = "stimuli of d.csv: \"k\", \"l\", \"m\" and 1 more\n";
    assert!(message.contains(listed), "{message}");
}

#[test]
fn names_may_be_in_capitals() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,scanpath\nP,AB\n");
    let call = "compare a.csv a.csv --metric ScanMatch --grid 7x7 --engine Plain --format CSV";
    let scores = folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    assert!(scores.ends_with("P,P,,1,1\n"), "{scores}");
}

#[test]
fn malformed_tables_are_rejected() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,scanpath\nP,AB\n");
    for (table, metric, parts) in [
        (
            "0,1\n1\n",
            "needleman-wunsch",
            vec!["t.csv", "line 2", "square"],
        ),
        (
            "0,1\n-1,0\n",
            "needleman-wunsch",
            vec!["t.csv", "line 2", "column 1", "negative"],
        ),
        (
            "0,x\n1,0\n",
            "needleman-wunsch",
            vec!["t.csv", "line 1", "column 2"],
        ),
        (
            "0,NaN\n1,0\n",
            "smith-waterman",
            vec!["t.csv", "line 1", "column 2"],
        ),
        ("", "needleman-wunsch", vec!["t.csv", "empty"]),
        (
            "0\n",
            "needleman-wunsch",
            vec!["a.csv", "line 2", "letters 1"],
        ),
        ("0,1e300\n1,0\n", "needleman-wunsch", vec!["too large"]),
    ] {
        folder.file("t.csv", table);
        let call = [
            "compare",
            "a.csv",
            "a.csv",
            "--metric",
            metric,
            "--substitution",
            "t.csv",
        ];
        let message = folder.run(&call).refused();
        for part in parts {
            assert!(
                message.contains(part),
                "{table:?} gives {message:?}, without {part:?}"
            );
        }
    }
    folder.file("t.csv", "1,-1\n-1,1\n");
    let call = [
        "compare",
        "a.csv",
        "a.csv",
        "--metric",
        "smith-waterman",
        "--substitution",
        "t.csv",
    ];
    folder.run(&call).ok();
}

#[test]
fn invalid_flags_are_rejected() {
    let folder = Folder::new();
    folder.file("a.csv", "participant,scanpath\nP,AB\nQ,\n");
    for (arguments, part) in [
        ("--metric levenshtein --gap 2", "needleman-wunsch"),
        ("--metric needleman-wunsch --gap -1", "0 or more"),
        ("--metric needleman-wunsch --gap nan", "finite"),
        (
            "--metric needleman-wunsch --substitution manhattan",
            "--grid",
        ),
        (
            "--metric needleman-wunsch --substitution nonsense",
            "unit, index",
        ),
        ("--metric needleman-wunsch --threshold 2", "scanmatch"),
        ("--threshold 0.5", "for --metric scanmatch"),
        (
            "--metric smith-waterman --threshold 2",
            "for --metric scanmatch",
        ),
        (
            "--metric needleman-wunsch --gap 1,5",
            "a number with a decimal point, like 1.5",
        ),
        (
            "--metric needleman-wunsch --substitution index --mismatch 2",
            "--mismatch",
        ),
        (
            "--metric smith-waterman --substitution euclidean --grid 7x7",
            "--match",
        ),
        ("--metric smith-waterman --mismatch -1", "0 or more"),
        ("--metric scanmatch", "--grid"),
        ("--metric scanmatch --grid 7x7", "for it: Q"),
        (
            "--metric scanmatch --grid 7x7 --gap 3",
            "half the threshold",
        ),
        ("--metric scanmatch --grid 7x7 --threshold 0", "above zero"),
        ("--metric needleman-wunsch --scale 0", "scale"),
        ("--metric needleman-wunsch --gap 1e12", "too large"),
        ("--grid 0x7", "COLUMNSxROWS"),
        ("--metric nonsense", "levenshtein"),
        ("-o no/such/folder/x.csv", "there is no folder"),
    ] {
        let mut call = vec!["compare", "a.csv", "a.csv"];
        call.extend(arguments.split(' '));
        let message = folder.run(&call).refused();
        assert!(
            message.contains(part),
            "{arguments} gives {message:?}, without {part:?}"
        );
    }
}

#[test]
fn malformed_gaze_files_are_rejected() {
    let folder = Folder::new();
    for (content, parts) in [
        ("", vec!["g.csv", "empty"]),
        (
            "x,y,duration\n1,2,abc\n",
            vec!["g.csv", "line 2", "column 3 (duration)"],
        ),
        ("x,y,duration\n1,2\n", vec!["g.csv", "line 2"]),
        ("a,b,c\n1,2,3\n", vec!["g.csv", "--input-format"]),
        ("x,y,duration\n1,2,3\n", vec!["--screen"]),
    ] {
        folder.file("g.csv", content);
        let mut call = vec!["encode", "g.csv"];
        if !parts.contains(&"--screen") {
            call.extend(["--screen", "100x100"]);
        }
        let message = folder.run(&call).refused();
        for part in parts {
            assert!(
                message.contains(part),
                "{content:?} gives {message:?}, without {part:?}"
            );
        }
    }
}

#[test]
fn dropped_rows_are_reported() {
    let folder = Folder::new();
    folder.file(
        "g.csv",
        "participant,stimulus,x,y,duration\np,s,10,10,200\np,s,NaN,10,200\np,s,10,10,-5\np,s,500,10,200\n",
    );
    let output = folder.run(&[
        "encode",
        "g.csv",
        "--screen",
        "100x100",
        "--summary",
        "json",
    ]);
    let summary: serde_json::Value = serde_json::from_str(output.stderr.trim()).unwrap();
    assert_eq!(summary["rows_read"], 4);
    assert_eq!(summary["rows_used"], 1);
    assert_eq!(summary["dropped"]["lost"], 1);
    assert_eq!(summary["dropped"]["negative-duration"], 1);
    assert_eq!(summary["dropped"]["outside"], 1);
    assert_eq!(summary["scanpaths"], 1);
    assert_eq!(summary["mean_length"], 1.0);
    assert!(
        output
            .ok()
            .ends_with("participant,stimulus,scanpath\np,s,A\n")
    );
}

#[test]
fn participants_without_usable_data_keep_a_row() {
    let folder = Folder::new();
    folder.file(
        "g.csv",
        "participant,stimulus,x,y,duration\np,s,1,1,100\nq,s,,,100\n",
    );
    let out = folder.run(&["encode", "g.csv", "--screen", "10x10"]).ok();
    assert!(out.ends_with("p,s,A\nq,s,\n"), "{out}");
}

#[test]
fn a_scanpath_of_a_million_letters_is_compared() {
    let folder = Folder::new();
    let long: String = ('A'..='Z').cycle().take(1_000_000).collect();
    folder.file("long.csv", format!("participant,scanpath\nP,{long}\n"));
    folder.file("short.csv", "participant,scanpath\nQ,HELLOWORLD\n");
    let call = [
        "compare",
        "long.csv",
        "short.csv",
        "--engine",
        "plain",
        "--format",
        "csv",
    ];
    assert!(folder.run(&call).ok().contains("P,Q,,999990,"));
    let call = [
        "compare",
        "long.csv",
        "short.csv",
        "--engine",
        "plain",
        "--metric",
        "needleman-wunsch",
        "--substitution",
        "index",
        "--gap",
        "30",
        "--format",
        "csv",
    ];
    assert!(folder.run(&call).ok().contains("P,Q,,29999700,"));
}

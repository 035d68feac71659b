//! Settings on which the two sides differ are reported to both.

use super::both_fail;
use super::pair::Pair;

#[test]
fn both_sides_report_differences_with_both_values() {
    let pair = Pair::with_cohorts();
    let changed = pair
        .folder
        .read("b.csv")
        .replace("# grid: 7x7", "# grid: 7x7\n# bin: 50 ms");
    pair.folder.file("binned.csv", changed);
    let wider = "# veilpath cohort 1\n# alphabet: letters 48\n# grid: 8x6\nparticipant,stimulus,scanpath\nP1,scene-1,ABC\n";
    pair.folder.file("wider.csv", wider);
    let cases: [(&str, &str, &str, &str, &str); 12] = [
        (
            "--metric scanmatch --cohort wider.csv",
            "--metric scanmatch",
            "encoding.grid",
            "8x6",
            "7x7",
        ),
        (
            "--metric needleman-wunsch --substitution manhattan",
            "--metric needleman-wunsch --substitution manhattan --cohort wider.csv",
            "encoding.grid",
            "7x7",
            "8x6",
        ),
        (
            "--engine garbled",
            "--engine paillier",
            "engine",
            "garbled",
            "paillier",
        ),
        (
            "--engine paillier",
            "--engine auto",
            "engine",
            "paillier",
            "auto",
        ),
        (
            "--metric levenshtein",
            "--metric scanmatch",
            "--metric",
            "levenshtein",
            "scanmatch",
        ),
        (
            "--metric needleman-wunsch --gap 2",
            "--metric needleman-wunsch --insert 2 --delete 3",
            "metric.delete",
            "2",
            "3",
        ),
        (
            "--metric scanmatch --threshold 3",
            "--metric scanmatch --threshold 3.25",
            "metric.threshold",
            "3",
            "3.25",
        ),
        (
            "--metric scanmatch --engine garbled --precision 0.0001",
            "--metric scanmatch --engine garbled",
            "--precision or --scale (metric.scale)",
            "432",
            "128",
        ),
        (
            "--pairs all",
            "--pairs same-stimulus",
            "pair-rule",
            "all",
            "same-stimulus",
        ),
        (
            "--reveal-to host",
            "--reveal-to both",
            "reveal-to",
            "host",
            "both",
        ),
        (
            "--notation letters",
            "--notation numbers",
            "alphabet",
            "letters 52",
            "numbers 65536",
        ),
        (
            "--pairs all",
            "--pairs all --cohort binned.csv",
            "encoding.bin",
            "(not given)",
            "50 ms",
        ),
    ];
    for (host, join, field, ours, theirs) in cases {
        let split = |text: &'static str| text.split(' ').collect::<Vec<_>>();
        if field == "alphabet" {
            pair.folder.file("n.csv", "participant,scanpath\nP,1 2 3\n");
            pair.folder.file("l.csv", "participant,scanpath\nP,ABC\n");
        }
        let (mut host, mut join) = (split(host), split(join));
        if field == "alphabet" {
            host.extend(["--cohort", "l.csv"]);
            join.extend(["--cohort", "n.csv"]);
        }
        let runs = pair.run(&[], &host, &join);
        for output in &runs {
            // Options of an engine that only one side uses are not reported.
            assert!(
                !output.stderr.contains("engine.paillier"),
                "{}",
                output.stderr
            );
        }
        both_fail(
            runs,
            3,
            [
                &[&format!("{field}: {ours} here, {theirs} there")],
                &[&format!("{field}: {theirs} here, {ours} there")],
            ],
        );
    }
}

/// Without the settings, nobody can tell whether the two files are compatible, so both sides get a note.
#[test]
fn both_sides_note_a_file_without_encoding_settings() {
    let pair = Pair::with_cohorts();
    let bare: String = pair.folder.read("b.csv");
    let bare = bare.lines().filter(|line| !line.starts_with('#'));
    let bare: Vec<&str> = bare.collect();
    pair.folder.file("bare.csv", bare.join("\n"));
    let declared: (&[&str], bool) = (&["--cohort", "b.csv"], false);
    // For a file that does not declare its letters, their number must be given.
    let bare: (&[&str], bool) = (&["--cohort", "bare.csv", "--letters", "49"], true);
    for (file, noted) in [declared, bare] {
        for output in pair.run(&["--estimate"], &[], file) {
            let said = format!("\"encoding_on_one_side\":{noted}");
            assert!(output.stderr.contains(&said), "{file:?}: {}", output.stderr);
            output.ok();
        }
    }
}

#[test]
fn both_sides_note_that_they_use_the_same_cohort() {
    let pair = Pair::with_cohorts();
    for (file, noted) in [("a.csv", true), ("b.csv", false)] {
        for output in pair.run(&["--estimate"], &[], &["--cohort", file]) {
            let said = format!("\"same_scanpaths\":{noted}");
            assert!(output.stderr.contains(&said), "{file}: {}", output.stderr);
            output.ok();
        }
    }
}

/// Both sides log which engine computes, why, and what each would take.
#[test]
fn the_choice_of_the_engine_is_logged() {
    let pair = Pair::with_cohorts();
    let cases = [
        ("auto", "auto", ["estimated"; 2]),
        ("garbled", "auto", ["named_here", "named_by_peer"]),
        ("auto", "shares", ["named_by_peer", "named_here"]),
        ("shares", "shares", ["named"; 2]),
    ];
    for (host, join, reasons) in cases {
        let (host, join) = (["--engine", host], ["--engine", join]);
        let runs = pair.run(&["--estimate"], &host, &join);
        let logs = runs.each_ref().map(|output| {
            let agreed = output
                .stderr
                .lines()
                .find(|line| line.contains("\"agreed\""));
            serde_json::from_str::<serde_json::Value>(agreed.unwrap()).unwrap()
        });
        for (log, reason) in logs.iter().zip(reasons) {
            let engine = &log["engine"];
            assert_eq!(engine["reason"], reason, "{engine}");
            assert!(engine["name"] == "garbled" || engine["name"] == "shares");
            let seconds = |name: &str| engine["estimates"][name]["seconds"].as_f64();
            assert_eq!(seconds("garbled").is_some(), reason == "estimated");
            assert_eq!(seconds("shares").is_some(), reason == "estimated");
        }
        assert_eq!(logs[0]["engine"]["name"], logs[1]["engine"]["name"]);
    }
}

/// If the other side declares fewer letters, no letter of a participant and no position may reach a log.
#[test]
fn an_alphabet_that_does_not_fit_is_reported_without_letters() {
    let pair = Pair::new();
    pair.folder.file("a.csv", "participant,scanpath\np1,ABQ\n");
    pair.folder.file(
        "b.csv",
        "# veilpath cohort 1\n# alphabet: letters 4\nparticipant,scanpath\nq1,ABC\n",
    );
    let [host, join] = pair.run(&[], &[], &[]);
    assert_eq!((host.code, join.code), (3, 3), "{}", host.stderr);
    assert!(host.stderr.contains("letters 4"), "{}", host.stderr);
    for log in [&host.stderr, &join.stderr] {
        assert!(!log.contains("position") && !log.contains('Q'), "{log}");
    }
}

//! What sessions leave in the state folder: results that are written without the peer, bans, and permissions.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use crate::common;
use crate::common::pair;

use common::RunOutput;
use pair::{Pair, Side};
use std::path::PathBuf;

/// The first field of each row after the header.
fn first_fields(csv: &str) -> Vec<String> {
    let rows = csv.lines().skip(1);
    rows.map(|row| row.split(',').next().unwrap().to_string())
        .collect()
}

/// The only file with this extension in a folder of a side's state folder.
fn only_file(pair: &Pair, folder: &str, extension: &str) -> PathBuf {
    let entries = std::fs::read_dir(pair.folder.path().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let paths: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|it| it == extension))
        .collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    paths[0].clone()
}

#[test]
fn results_are_written_again_without_the_peer() {
    let pair = Pair::with_cohorts();
    let none = pair.run_alone(Side::Host, "results");
    assert!(none.stderr.contains("no results"), "{}", none.stderr);
    assert!(first_fields(&none.ok()).is_empty());
    let engine = ["--engine", "garbled", "--format", "csv"];
    let [host, join] = pair.run(&engine, &[], &[]).map(RunOutput::ok);
    for (side, expected) in [(Side::Host, host), (Side::Join, join)] {
        let list = pair.run_alone(side, "results").ok();
        let ids = first_fields(&list);
        assert_eq!(ids.len(), 1, "{list}");
        assert!(list.contains(",32,32,complete"), "{list}");
        let written = pair.run_alone(side, &format!("results {} --format csv", ids[0]));
        assert_eq!(written.ok(), expected);
        let file = format!("results {} -o again.csv", ids[0]);
        pair.run_alone(side, &file).ok();
        assert_eq!(pair.folder.read("again.csv"), expected);
    }
    let unknown = pair
        .run_alone(Side::Host, "results ffffffffffffffffffff")
        .refused();
    assert!(unknown.contains("veilpath results"), "{unknown}");
}

/// The journal of a session that was killed: its last records are missing.
#[test]
fn results_of_an_interrupted_session_are_marked_in_every_format() {
    const RECORD: u64 = 32;
    let pair = Pair::with_cohorts();
    for output in pair.run(&[], &[], &[]) {
        output.ok();
    }
    let path = only_file(&pair, "host/journals", "journal");
    let journal = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
    let length = journal.metadata().unwrap().len();
    journal.set_len(length - 20 * RECORD - 5).unwrap();
    let list = pair.run_alone(Side::Host, "results").ok();
    let id = &first_fields(&list)[0];
    assert!(list.contains(",32,incomplete"), "{list}");
    let write = |format: &str| {
        pair.run_alone(Side::Host, &format!("results {id} {format}"))
            .ok()
    };
    let table = write("--format table");
    assert!(table.starts_with("incomplete: "), "{table}");
    let csv = write("--format csv");
    let mut lines = csv.lines();
    assert!(lines.next().unwrap().ends_with(",incomplete"), "{csv}");
    assert!(lines.all(|line| line.ends_with("of 32 pairs")), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&write("--format json")).unwrap();
    assert_eq!(json["complete"], false);
    assert_eq!(json["pairs"], 32);
    for file in ["part.csv", "part.json"] {
        write(&format!("-o {file}"));
        let report = format!("report {file} -o {file}.html");
        pair.run_alone(Side::Host, &report).ok();
        let page = pair.folder.read(&format!("{file}.html"));
        assert!(page.contains("Incomplete: "), "{file}");
    }
    // As if a session had the journal open.
    journal.try_lock().unwrap();
    let busy = pair
        .run_alone(Side::Host, &format!("results {id}"))
        .refused();
    assert!(busy.contains("another veilpath process"), "{busy}");
    assert!(
        pair.run_alone(Side::Host, "results")
            .ok()
            .contains("running")
    );
}

#[test]
fn a_ban_holds_until_this_sides_user_lifts_it() {
    let pair = Pair::with_cohorts();
    for output in pair.run(&[], &[], &[]) {
        output.ok();
    }
    let peer = pair.fingerprint(Side::Join);
    let list = pair.run_alone(Side::Host, "peers").ok();
    assert_eq!(first_fields(&list), [peer.as_str()]);
    let path = only_file(&pair, "host/peers", "json");
    let ledger = std::fs::read_to_string(&path).unwrap();
    let banned = ledger.replace("\"banned\":null", "\"banned\":\"changed_answer\"");
    assert_ne!(ledger, banned);
    std::fs::write(&path, banned).unwrap();
    assert!(
        pair.run_alone(Side::Host, "peers")
            .ok()
            .contains("known pair")
    );

    let [host, join] = pair.run(&[], &[], &[]);
    assert_eq!((host.code, join.code), (3, 3), "{}", host.stderr);
    assert!(
        host.stderr.contains("veilpath peers unban"),
        "{}",
        host.stderr
    );
    assert!(
        join.stderr.contains("only the other side"),
        "{}",
        join.stderr
    );

    // There is no prompt for an unknown peer.
    let other = pair.fingerprint(Side::Host);
    let unknown = pair
        .run_alone(Side::Host, &format!("peers unban {other}"))
        .refused();
    assert!(unknown.contains("veilpath peers") && !unknown.contains("--yes"));
    let unasked = pair.run_alone(Side::Host, &format!("peers unban {peer}"));
    let lifted = pair.run_alone(Side::Host, &format!("peers unban {peer} --yes"));
    // The warning comes before the question, and also where the answer is given in advance.
    for output in [&unasked, &lifted] {
        let words = [
            "known pair",
            "without the ban it may repeat that",
            "learn more about your scanpaths",
        ];
        for word in words {
            assert!(output.stderr.contains(word), "{word}: {}", output.stderr);
        }
    }
    assert!(unasked.refused().contains("--yes"));
    lifted.ok();
    for output in pair.run(&[], &[], &[]) {
        output.ok();
    }
}

/// A damaged file of one peer or comparison does not hide the others.
#[test]
fn damaged_files_are_reported_alongside_the_list() {
    let pair = Pair::with_cohorts();
    for output in pair.run(&[], &[], &[]) {
        output.ok();
    }
    let (peer, other) = (pair.fingerprint(Side::Join), "1".repeat(64));
    let folder = pair.folder.path().join("host");
    std::fs::write(folder.join(format!("peers/{other}.json")), "{").unwrap();
    std::fs::write(folder.join(format!("journals/{other}.comparison")), "{").unwrap();
    for (call, listed) in [
        ("peers", peer.as_str()),
        ("results", ",plain,levenshtein,score,32,32,complete"),
    ] {
        let output = pair.run_alone(Side::Host, call);
        assert_eq!(output.code, 2, "{}", output.stderr);
        assert!(output.stdout.contains(listed), "{}", output.stdout);
        assert!(output.stderr.contains(&other), "{}", output.stderr);
    }
}

/// An empty table must not replace results.
#[test]
fn results_for_the_other_side_do_not_replace_a_file() {
    let pair = Pair::with_cohorts();
    let both = ["-o", "scores.csv"];
    for output in pair.run(&[], &["-o", "host.csv"], &both) {
        output.ok();
    }
    let before = pair.folder.read("scores.csv");
    let threshold = ["--reveal", "threshold:3", "--reveal-to", "host"];
    let [_, join] = pair.run(&threshold, &["-o", "host.csv"], &both);
    assert!(
        join.stderr.contains("results of an earlier comparison"),
        "{}",
        join.stderr
    );
    join.ok();
    assert_eq!(pair.folder.read("scores.csv"), before);
    assert!(pair.folder.read("host.csv").contains("within"));
}

#[test]
fn an_estimate_says_that_the_limit_forbids_the_plan() {
    let pair = Pair::with_cohorts();
    let limit = ["--estimate", "--limit-per-scanpath"];
    for (count, within) in [("3", false), ("4", true)] {
        let host = [&limit[..], &[count]].concat();
        let [host, join] = pair.run(&[], &host, &["--estimate"]);
        let text = format!("\"within_limit\":{within}");
        assert!(host.stderr.contains(&text), "{}", host.stderr);
        host.ok();
        join.ok();
    }
}

#[test]
fn a_new_agreement_needs_both_sides() {
    let pair = Pair::with_cohorts();
    for output in pair.run(&[], &[], &[]) {
        output.ok();
    }
    for [host, join] in [[&["--fresh"][..], &[]], [&[], &["--fresh"]]] {
        for output in pair.run(&[], host, join) {
            assert_eq!(output.code, 3, "{}", output.stderr);
            assert!(
                output.stderr.contains("both sides pass --fresh"),
                "{}",
                output.stderr
            );
        }
    }
    for output in pair.run(&["--fresh"], &[], &[]) {
        assert!(
            output.stderr.contains("\"pairs_from_journal\":0"),
            "{}",
            output.stderr
        );
        output.ok();
    }
    // Each scanpath has had eight comparisons. Four more are refused, with the limit that would be needed.
    let limit = ["--fresh", "--limit-per-scanpath", "8"];
    let [host, _] = pair.run(&limit, &[], &[]);
    assert_eq!(host.code, 3, "{}", host.stderr);
    assert!(
        host.stderr.contains("--limit-per-scanpath 12"),
        "{}",
        host.stderr
    );
}

#[cfg(unix)]
#[test]
fn a_state_directory_that_others_may_change_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let pair = Pair::with_cohorts();
    let set_mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (folder, mode) in [("join", 0o777), ("join/peers", 0o777), ("join", 0o770)] {
        let path = pair.folder.path().join(folder);
        std::fs::create_dir_all(&path).unwrap();
        set_mode(&path, mode);
        let message = pair.join("127.0.0.1:9", &[]).end().refused();
        assert!(message.contains("chmod go-w"), "{message}");
        for call in [
            "identity",
            "identity --show",
            "record",
            "record verify",
            "results",
            "peers",
            "policy init",
        ] {
            let message = pair.run_alone(Side::Join, call).refused();
            assert!(message.contains("chmod go-w"), "{call}: {message}");
        }
        set_mode(&path, 0o700);
    }
}

/// A host that waits for its peer, and a joining side that waits for a host.
#[cfg(target_os = "linux")]
#[test]
fn sessions_disable_core_dumps() {
    let pair = Pair::with_cohorts();
    let mut host = pair.host(&[]);
    host.assert_no_core_dumps();
    host.kill();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = listener.local_addr().unwrap().to_string();
    let mut join = pair.join(&silent, &[]);
    // By the time it connects, the joining side has read its files.
    listener.accept().unwrap();
    join.assert_no_core_dumps();
    join.kill();
}

/// What a killed process was writing when it ended.
#[test]
fn files_of_killed_runs_are_removed_at_the_next_start() {
    let pair = Pair::with_cohorts();
    let folder = pair.folder.path();
    for output in pair.run(&["-o", "scores.csv"], &["--estimate"], &["--estimate"]) {
        output.ok();
    }
    let left = [
        folder.join("host/journals/0123.new"),
        folder.join("host/peers/0123.new"),
        folder.join("host/agreements/0123.new"),
        folder.join("host/disclosures/0123.new"),
        folder.join("host/identity.new-4000000"),
        folder.join(".veilpath-a1B2c3"),
    ];
    for path in &left {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "half").unwrap();
    }
    std::fs::rename(folder.join("host/identity.pem"), folder.join("host.pem")).unwrap();
    pair.run_alone(Side::Host, "identity").ok();
    std::fs::rename(folder.join("host.pem"), folder.join("host/identity.pem")).unwrap();
    for output in pair.run(&[], &["-o", "host.csv"], &[]) {
        output.ok();
    }
    for path in left {
        assert!(!path.exists(), "{}", path.display());
    }
}

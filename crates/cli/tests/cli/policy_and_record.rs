//! Plans that the policy does not allow are refused before anything is sent, and every change to the record is detected.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use crate::common::pair::{Pair, Side};
use crate::common::{Folder, root};

/// A policy for sessions with the other side.
fn policy(pair: &Pair, partner: Side, change: (&str, &str)) -> String {
    let fingerprint = pair.fingerprint(partner);
    let text = format!(
        "expires = 2099-12-31\nmetrics = [\"levenshtein\"]\nanswers = [\"score\"]\n\
         comparisons_per_scanpath = 100\n[[partners]]\nname = \"Other\"\nfingerprint = \"{fingerprint}\"\n"
    );
    let changed = text.replace(change.0, change.1);
    pair.folder.file("policy.toml", &changed);
    pair.folder
        .path()
        .join("policy.toml")
        .to_string_lossy()
        .into_owned()
}

/// A joining side ends before it connects, and a host before it listens.
#[test]
fn a_plan_beyond_the_policy_is_refused_before_anything_is_sent() {
    let pair = Pair::with_cohorts();
    let fingerprint = pair.fingerprint(Side::Host);
    let other = fingerprint.replace(['0', '1', '2', '3'], "4");
    for (change, flags, line) in [
        (("2099", "2020"), "", "line 1, expires"),
        (("levenshtein", "scanmatch"), "", "line 2, metrics"),
        (("score", "mean"), "", "line 3, answers"),
        (("", ""), " --reveal threshold:3", "line 3, answers"),
        (
            ("", ""),
            " --limit-per-scanpath 101",
            "line 4, comparisons_per_scanpath",
        ),
        (
            (fingerprint.as_str(), other.as_str()),
            "",
            "line 5, partners",
        ),
    ] {
        let path = policy(&pair, Side::Host, change);
        let session = format!("--peer {fingerprint} --cohort b.csv --policy {path}{flags}");
        let check = format!("policy check --peer {fingerprint} --policy {path}{flags}");
        let [join, check] = [format!("join 127.0.0.1:1 {session}"), check].map(|call| {
            let output = pair.run_alone(Side::Join, &call);
            assert!(!output.stderr.contains("connecting"), "{}", output.stderr);
            output.refused()
        });
        assert!(
            join.contains(line) && check.contains(line),
            "{join}\n{check}"
        );
    }
    let fingerprint = pair.fingerprint(Side::Join);
    let path = policy(&pair, Side::Join, ("score", "mean"));
    let host = format!(
        "host --listen 127.0.0.1:0 --peer {fingerprint} --cohort a.csv --policy {path} --sessions 2 -o results"
    );
    let output = pair.run_alone(Side::Host, &host);
    assert!(!output.stderr.contains("listening"), "{}", output.stderr);
    assert!(output.refused().contains("line 3, answers"));
}

/// The number of comparisons is known once the rosters are exchanged. The policy in the state folder applies without a
/// flag.
#[test]
fn comparisons_beyond_the_policy_are_refused_with_the_line_number() {
    let pair = Pair::with_cohorts();
    let path = policy(&pair, Side::Join, ("scanpath = 100", "scanpath = 1"));
    std::fs::copy(path, pair.folder.path().join("host/policy.toml")).unwrap();
    let start = |side: Side, call: String| {
        let arguments: Vec<String> = call.split(' ').map(String::from).collect();
        pair.start(side, &arguments)
    };
    let [host, join] = [Side::Host, Side::Join].map(|side| pair.fingerprint(side));
    let host_call = format!("host --listen 127.0.0.1:0 --peer {join} --cohort a.csv");
    let running = start(Side::Host, host_call);
    let address = running.wait_for_line("listening on ");
    let join_call =
        format!("join {address} --peer {host} --cohort b.csv --limit-per-scanpath 1000");
    let join = start(Side::Join, join_call).end();
    let host = running.end().refused();
    assert!(host.contains("line 4, comparisons_per_scanpath"), "{host}");
    assert_eq!(join.code, 3, "{}", join.stderr);
    let list = pair.run_alone(Side::Host, "record").ok();
    assert_eq!(list.lines().count(), 1, "{list}");
}

#[test]
fn an_invalid_policy_is_reported_with_the_line_number() {
    let pair = Pair::with_cohorts();
    let fingerprint = pair.fingerprint(Side::Host);
    let path = policy(&pair, Side::Host, ("metrics", "metric"));
    let call = format!("join 127.0.0.1:1 --peer {fingerprint} --cohort b.csv --policy {path}");
    let message = pair.run_alone(Side::Join, &call).refused();
    assert!(message.contains("line 2, metric"), "{message}");
}

#[test]
fn a_new_policy_is_read_and_not_overwritten() {
    let pair = Pair::with_cohorts();
    pair.run_alone(Side::Host, "policy init").ok();
    let again = pair.run_alone(Side::Host, "policy init").refused();
    assert!(again.contains("policy.toml"), "{again}");
    let fingerprint = "0".repeat(64);
    let check = format!("policy check --peer {fingerprint} --reveal score");
    let message = pair.run_alone(Side::Host, &check).refused();
    assert!(message.contains("answers: score"), "{message}");
    assert!(!message.contains("partners"), "{message}");
}

#[test]
fn the_record_shows_what_was_disclosed_and_every_change() {
    let pair = Pair::with_cohorts();
    for output in pair.run(&["--engine", "garbled"], &[], &[]) {
        output.ok();
    }
    let records = [Side::Host, Side::Join].map(|side| {
        let list = pair.run_alone(side, "record").ok();
        let rows: Vec<&str> = list.lines().skip(1).collect();
        assert!(
            rows[0].contains(",intent,") && rows[1].contains(",completion,"),
            "{list}"
        );
        assert!(
            rows.len() == 2 && rows[1].ends_with(",32,levenshtein,score,both"),
            "{list}"
        );
        // Both lines name the comparison as `results` does.
        let results = pair.run_alone(side, "results").ok();
        let id = results.lines().nth(1).unwrap().split(',').next().unwrap();
        for row in &rows {
            assert_eq!(row.split(',').nth(5), Some(id), "{list}\n{results}");
        }
        pair.run_alone(side, "record verify").ok();
        let name = match side {
            Side::Host => "host/record.jsonl",
            Side::Join => "join/record.jsonl",
        };
        pair.folder.path().join(name)
    });
    // The same comparison again discloses nothing new, so nothing is signed again.
    let before = std::fs::read_to_string(&records[0]).unwrap();
    for output in pair.run(&["--engine", "garbled"], &[], &[]) {
        output.ok();
    }
    assert_eq!(std::fs::read_to_string(&records[0]).unwrap(), before);
    let [ours, theirs] = records.each_ref().map(|path| path.display().to_string());
    let compare = format!("record compare {ours} {theirs}");
    pair.run_alone(Side::Host, &compare).ok();
    let same = format!("record compare {ours} {ours}");
    let same = pair.run_alone(Side::Host, &same).refused();
    assert!(same.contains("same institution"), "{same}");

    let missing = pair.run_alone(Side::Host, "record verify nothing.jsonl");
    let missing = missing.refused();
    assert!(
        missing.contains("nothing.jsonl: there is no such file"),
        "{missing}"
    );

    let damaged = before.replacen("\"pairs\":32", "\"pairs\":31", 1);
    let copy = pair.folder.path().join("copy.jsonl").display().to_string();
    std::fs::write(&copy, &damaged).unwrap();
    let of_partner = pair.run_alone(Side::Host, &format!("record compare {ours} {copy}"));
    let of_partner = of_partner.refused();
    assert!(
        of_partner.contains("line 1") && of_partner.contains("ask your partner"),
        "{of_partner}"
    );

    std::fs::write(&records[0], damaged).unwrap();
    let changed = pair.run_alone(Side::Host, "record verify").refused();
    assert!(
        changed.contains("line 1") && changed.contains("changed"),
        "{changed}"
    );
    assert!(
        pair.run_alone(Side::Host, "record")
            .refused()
            .contains("line 1")
    );

    let (first, second) = before.split_once('\n').unwrap();
    std::fs::write(&records[0], second).unwrap();
    let removed = pair.run_alone(Side::Host, "record verify").refused();
    assert!(
        removed.contains("line 1") && removed.contains("removed"),
        "{removed}"
    );

    std::fs::write(&records[0], format!("{second}{first}\n")).unwrap();
    let moved = pair.run_alone(Side::Host, "record verify").refused();
    assert!(
        moved.contains("line 1") && moved.contains("moved"),
        "{moved}"
    );

    std::fs::write(&records[0], format!("{first}\n")).unwrap();
    pair.run_alone(Side::Host, "record verify").ok();
    let cut = pair.run_alone(Side::Host, &compare).refused();
    assert!(cut.contains("lacks line 2"), "{cut}");
    let wrong = format!(
        "record verify {theirs} --owner {}",
        pair.fingerprint(Side::Host)
    );
    assert!(
        pair.run_alone(Side::Host, &wrong)
            .refused()
            .contains("line 1")
    );

    // A session does not continue a broken record, no matter which line is broken.
    for changes in [1, 2] {
        let broken = before.replacen("\"pairs\":32", "\"pairs\":31", changes);
        std::fs::write(&records[0], &broken).unwrap();
        let [host, _] = pair.run(&["--engine", "garbled", "--fresh"], &[], &[]);
        let message = host.refused();
        assert!(message.contains("line 1"), "{message}");
        assert_eq!(std::fs::read_to_string(&records[0]).unwrap(), broken);
    }
}

/// The chapter's example is what the command prints for the chapter's policy, with headings one level deeper.
#[test]
fn the_document_in_the_book_is_what_the_command_prints() {
    let chapter = std::fs::read_to_string(root().join("docs/data-protection.md")).unwrap();
    let (_, policy) = chapter.split_once("```toml\n").unwrap();
    let (policy, _) = policy.split_once("```").unwrap();
    let (_, fingerprint) = policy.split_once("fingerprint = \"").unwrap();
    let (fingerprint, _) = fingerprint.split_once('"').unwrap();
    let (_, call) = chapter.split_once("```text\nveilpath ").unwrap();
    let (call, _) = call.split_once(" -o ").unwrap();
    let folder = Folder::new();
    folder.file("policy.toml", policy);
    let call = call.replace("FINGERPRINT", fingerprint);
    let call: Vec<&str> = call.split(' ').collect();
    let printed = folder.run(&call).ok();
    let lines = printed.lines().map(|line| match line.starts_with('#') {
        true => format!("#{line}\n"),
        false => format!("{line}\n"),
    });
    let expected: String = lines.collect();
    let (_, shown) = chapter.split_once("\n---\n\n").unwrap();
    assert_eq!(shown, expected, "copy it to docs/data-protection.md");

    let page = [&call[..], &["-o", "document.html"]].concat();
    folder.run(&page).ok();
    let page = folder.read("document.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("dpo@example.org"));
    folder
        .run(&[&call[..], &["-o", "document.md"]].concat())
        .ok();
    assert_eq!(folder.read("document.md"), printed);
    folder.file("notes.md", "mine");
    folder
        .run(&[&call[..], &["-o", "notes.md"]].concat())
        .refused();
}

/// A document about what the policy forbids would be misleading.
#[test]
fn a_document_about_a_forbidden_plan_is_refused() {
    let pair = Pair::with_cohorts();
    let fingerprint = pair.fingerprint(Side::Host);
    let path = policy(&pair, Side::Host, ("", ""));
    let call = format!("policy document --policy {path} --peer {fingerprint} --metric scanmatch");
    let message = pair.run_alone(Side::Join, &call).refused();
    assert!(message.contains("line 2, metrics"), "{message}");
}

#[test]
fn a_withdrawal_of_somebody_unknown_is_stored_and_pointed_out() {
    let pair = Pair::with_cohorts();
    let fingerprint = pair.fingerprint(Side::Host);
    let call = format!("policy withdraw --peer {fingerprint} --yes expert-1");
    for new in [1, 0] {
        let done = pair.run_alone(Side::Join, &call);
        let message = done.stderr.clone();
        done.ok();
        assert!(
            message.contains("about expert-1; the withdrawal is stored"),
            "{message}"
        );
        assert!(message.contains(&format!("{new} participant")), "{message}");
    }
    let list = pair.run_alone(Side::Join, "record").ok();
    assert_eq!(list.lines().count(), 2, "{list}");
}

//! Questions about groups that are refused: by a minimum, by the policy, or because they cannot be answered.

use super::{counted, pair, words};
use crate::common::RunOutput;
use crate::common::pair::{Pair, Side};

/// Writes `name` without the scanpaths of its first participant, whose id is returned.
fn without_first(pair: &Pair, from: &str, name: &str) -> String {
    let text = pair.folder.read(from);
    let is_row = |line: &&str| !line.starts_with(['#']) && !line.starts_with("participant");
    let first = text.lines().find(is_row).unwrap();
    let id = first.split(',').next().unwrap().to_string();
    let kept = text.lines().filter(|it| !it.starts_with(&format!("{id},")));
    let kept: String = kept.map(|line| format!("{line}\n")).collect();
    pair.folder.file(name, kept);
    id
}

/// The other side learns that it is refused, but no sizes.
#[test]
fn groups_below_the_minimum_are_refused() {
    let pair = pair();
    let flags = words("--engine garbled --reveal groups");
    // An answer about two participants tells each of them about the other.
    for few in ["1", "2"] {
        let call = ["host", "--listen", "127.0.0.1:0", "--peer", &"0".repeat(64)];
        let call = call
            .into_iter()
            .chain(["--cohort", "host.csv", "--minimum-group", few]);
        let refused = pair.folder.run(&call.collect::<Vec<_>>()).refused();
        assert!(
            refused.contains("--minimum-group") && refused.contains("3"),
            "{refused}"
        );
    }
    let [host, join] = pair.run(&flags, &["--minimum-group", "7"], &[]);
    for message in ["6 of this side", "at least 7", "--minimum-group"] {
        assert!(host.stderr.contains(message), "{}", host.stderr);
    }
    assert!(!join.stderr.contains("6 of"), "{}", join.stderr);
    assert_eq!([host.code, join.code], [3, 3], "{}", join.stderr);
    assert_eq!([host.stdout, join.stdout], ["", ""]);
    let flags = words("--engine garbled --reveal nearest:3,rate");
    let ran = pair.run(&flags, &[], &[]);
    assert_eq!([ran[0].code, ran[1].code], [3, 3], "{}", ran[0].stderr);
    let advice = |ran: &RunOutput| ran.stderr.contains("a larger K in --reveal nearest");
    assert!(ran.iter().any(advice), "{}", ran[0].stderr);
}

/// Two means that differ by one participant would disclose this participant's scores.
#[test]
fn a_cohort_with_one_participant_fewer_is_refused() {
    let pair = pair();
    let flags = words("--engine garbled --reveal mean --format csv");
    for ran in pair.run(&flags, &[], &[]) {
        ran.ok();
    }
    let withdrawn = without_first(&pair, "b.csv", "fewer.csv");
    let again = || pair.run(&flags, &[], &["--cohort", "fewer.csv"]);
    let [host, join] = again();
    assert_eq!([host.code, join.code], [3, 3], "{}", join.stderr);
    assert!(join.stderr.contains("earlier answers"), "{}", join.stderr);
    assert!(join.stderr.contains("policy withdraw"), "{}", join.stderr);
    // The host is not told the numbers.
    assert!(!host.stderr.contains("1 of"), "{}", host.stderr);
    let host_key = pair.fingerprint(Side::Host);
    let withdraw = format!("policy withdraw --peer {host_key} --yes {withdrawn}");
    pair.run_alone(Side::Join, &withdraw).ok();
    for ran in again() {
        assert!(ran.stderr.contains(&counted(2)), "{}", ran.stderr);
        ran.ok();
    }
}

#[test]
fn answers_beyond_the_policy_are_refused_with_the_line_number() {
    let pair = pair();
    let join_key = pair.fingerprint(Side::Join);
    let policy = |change: (&str, &str)| {
        let text = format!(
            "expires = 2099-12-31\nmetrics = [\"levenshtein\"]\nanswers = [\"mean\", \"groups\"]\n\
             minimum_group = 4\nanswers_per_partner = 1\n[[partners]]\nname = \"Other\"\nfingerprint = \"{join_key}\"\n"
        );
        pair.folder
            .file("policy.toml", text.replace(change.0, change.1));
    };
    let run = |reveal: &str| {
        let flags = ["--engine", "garbled", "--reveal", reveal];
        pair.run(
            &flags,
            &["--policy", "policy.toml", "--limit-per-scanpath", "9"],
            &[],
        )
    };
    let refused = |[host, join]: [RunOutput; 2], line: &str| {
        assert!(host.stderr.contains(line), "{}", host.stderr);
        assert_eq!([host.code, join.code], [2, 3], "{}", join.stderr);
        assert!(!join.stderr.contains("policy.toml"), "{}", join.stderr);
    };
    policy(("group = 4", "group = 7"));
    refused(run("groups"), "line 4, minimum_group");
    policy(("", ""));
    for ran in run("mean") {
        ran.ok();
    }
    refused(run("groups"), "line 5, answers_per_partner");
    // These refusals happen before anybody connects.
    for (change, reveal, line) in [
        (("2099", "2020"), "mean", "line 1, expires"),
        (("", ""), "test:groups,99", "line 3, answers"),
        (("", ""), "groups,published", "line 3, answers"),
    ] {
        policy(change);
        let call = format!(
            "host --listen 127.0.0.1:0 --peer {join_key} --cohort a.csv --policy policy.toml --reveal {reveal}"
        );
        let message = pair.run_alone(Side::Host, &call).refused();
        assert!(
            message.contains(line) && !message.contains("listening"),
            "{message}"
        );
        let check =
            format!("policy check --policy policy.toml --peer {join_key} --reveal {reveal}");
        let message = pair.run_alone(Side::Host, &check).refused();
        assert!(message.contains(line), "{message}");
    }
    policy(("", ""));
    let document =
        format!("policy document --policy policy.toml --peer {join_key} --reveal mean:overall");
    let document = pair.run_alone(Side::Host, &document).ok();
    assert!(document.contains("at least 4 participants"), "{document}");
}

#[test]
fn impossible_questions_are_refused_with_advice() {
    let pair = pair();
    let folder = &pair.folder;
    folder.file("none.csv", "participant,scanpath\nP1,ABC\nP2,ABD\n");
    let coins = "0".repeat(64);
    for (call, expected) in [
        ("none.csv b.csv --reveal groups", "none.csv"),
        ("none.csv b.csv --reveal groups", "`group`"),
        ("a.csv a.csv --reveal mean", "veilpath stats"),
        ("a.csv b.csv --reveal nearest", "nearest:5"),
        ("a.csv b.csv --reveal medians", "mean:overall"),
        ("a.csv b.csv --reveal mean --coins COINS", "--reveal test:"),
        (
            "a.csv b.csv --reveal test:groups --coins COINS --engine shares",
            "--engine plain",
        ),
        ("a.csv b.csv --reveal test:groups --coins 12", "64"),
        ("a.csv b.csv --reveal nearest:999", "smaller K"),
        ("a.csv b.csv --reveal mean,published", "published"),
        (
            "a.csv b.csv --engine paillier --reveal groups",
            "--reveal groups,published",
        ),
        (
            "a.csv b.csv --engine paillier --reveal histogram:3",
            "--engine garbled",
        ),
    ] {
        let call = format!("compare {call}").replace("COINS", &coins);
        let message = folder.run(&words(&call)).refused();
        assert!(message.contains(expected), "{call}: {message}");
    }
    for (flags, expected) in [
        ("--engine plain --reveal mean", "--engine garbled"),
        (
            "--engine garbled --reveal groups --cohort none.csv",
            "`group`",
        ),
    ] {
        let ran = pair.join("127.0.0.1:9", &words(flags)).end();
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
        assert!(!ran.stderr.contains("connecting"), "{}", ran.stderr);
    }
}

/// The limit on comparisons does not apply to group answers, and its message says so.
#[test]
fn a_refusal_of_too_many_comparisons_suggests_group_answers() {
    let pair = pair();
    let limit = ["--limit-per-scanpath", "1"];
    let [host, _] = pair.run(&["--engine", "garbled"], &limit, &[]);
    assert_eq!(host.code, 3, "{}", host.stderr);
    assert!(host.stderr.contains("--reveal mean"), "{}", host.stderr);
    let flags = words("--engine garbled --reveal mean");
    for ran in pair.run(&flags, &limit, &limit) {
        ran.ok();
    }
}

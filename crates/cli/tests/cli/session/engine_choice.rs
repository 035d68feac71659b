//! Which engine computes if one of them cannot, and how this is logged.

use super::pair::{Pair, Side};
use serde_json::Value;

/// Two cohorts with more letters than the `shares` engine can look up.
fn with_many_letters() -> Pair {
    let pair = Pair::new();
    let head = "# veilpath cohort 1\n# alphabet: numbers 1100\nparticipant,scanpath\n";
    pair.folder.file("a.csv", format!("{head}P1,1 2 1099\n"));
    pair.folder.file("b.csv", format!("{head}Q1,1 3 1099\n"));
    pair
}

#[test]
fn shares_refuses_large_alphabets_before_anything_is_sent() {
    let pair = with_many_letters();
    let compare = pair.folder.run(&[
        "compare", "a.csv", "b.csv", "--engine", "shares", "--format", "csv",
    ]);
    let said = compare.refused();
    assert!(said.contains("1024") && said.contains("1100"), "{said}");
    // Nobody has connected.
    let mut host = pair.host(&["--engine", "shares", "--estimate"]);
    assert!(host.ends_within(std::time::Duration::from_secs(20)));
    let output = host.end();
    assert_eq!(output.code, 2, "{}", output.stderr);
    assert!(
        !output.stderr.contains("\"listening\""),
        "{}",
        output.stderr
    );
}

#[test]
fn auto_skips_an_engine_that_cannot_run() {
    let pair = with_many_letters();
    for output in pair.run(&["--estimate", "--engine", "auto"], &[], &[]) {
        let agreed = output
            .stderr
            .lines()
            .find(|line| line.contains("\"agreed\""));
        let agreed: Value = serde_json::from_str(agreed.unwrap()).unwrap();
        let engine = &agreed["engine"];
        assert_eq!(engine["name"], "garbled");
        assert_eq!(engine["reason"], "shares_impossible");
        assert_eq!(engine["shares_obstacle"], "alphabet");
        assert!(engine["estimates"]["shares"].is_null());
        output.ok();
    }
    let compare = "compare a.csv b.csv --engine auto --format csv";
    let output = pair.folder.run(&compare.split(' ').collect::<Vec<_>>());
    assert!(output.stderr.contains("engine: garbled") && output.stderr.contains("1024"));
    output.ok();
}

#[test]
fn every_line_of_a_json_log_is_an_event() {
    let pair = Pair::with_cohorts();
    let one_sided = ["--reveal-to", "host"];
    for (both, withheld) in [(&[][..], [false; 2]), (&one_sided, [false, true])] {
        let _ = std::fs::remove_file(pair.folder.path().join("join.csv"));
        let runs = pair.run(both, &["-o", "host.csv"], &["-o", "join.csv"]);
        let files = ["host.csv", "join.csv"];
        for ((output, file), withheld) in runs.into_iter().zip(files).zip(withheld) {
            let events: Vec<Value> = output
                .stderr
                .lines()
                .map(|line| serde_json::from_str(line).expect(line))
                .collect();
            let results = events.iter().find(|event| event["event"] == "results");
            let results = results.expect(&output.stderr);
            assert_eq!(results["file"], file);
            assert_eq!(results["withheld"], withheld);
            output.ok();
        }
    }
}

/// If the files do not declare the number of letters, `compare` takes it as an option, like a session.
#[test]
fn compare_takes_the_number_of_letters() {
    let pair = Pair::new();
    pair.folder.file("a.csv", "participant,scanpath\nP1,ABC\n");
    pair.folder.file("b.csv", "participant,scanpath\nQ1,ABD\n");
    let run = |letters: &str| {
        let call = format!("compare a.csv b.csv --letters {letters} --format json");
        pair.folder.run(&call.split(' ').collect::<Vec<_>>())
    };
    assert_eq!(run("9").json()["spec"]["alphabet"], "letters 9");
    assert!(run("3").refused().contains("--letters 3"));
}

/// Engines that reveal only the scores.
const PRIVATE: [&str; 2] = ["garbled", "shares"];

/// [`Pair::run`] names an engine, so this starts the commands itself.
#[test]
fn sessions_are_private_unless_both_choose_otherwise() {
    let pair = Pair::with_cohorts();
    let session = |cohort: &str, other: Side| {
        let peer = pair.fingerprint(other);
        format!("--peer {peer} --cohort {cohort} --limit-per-scanpath 1000 --log json")
    };
    let start = |side: Side, call: String| {
        let arguments: Vec<String> = call.split(' ').map(String::from).collect();
        pair.start(side, &arguments)
    };
    let flags = session("a.csv", Side::Join);
    let host = start(Side::Host, format!("host --listen 127.0.0.1:0 {flags}"));
    let address = host.wait_for("listening").unwrap()["address"].clone();
    let (address, flags) = (address.as_str().unwrap(), session("b.csv", Side::Host));
    let join = start(Side::Join, format!("join {address} {flags}"));
    for output in [host, join].map(super::pair::Running::end) {
        let agreed = output
            .stderr
            .lines()
            .find(|line| line.contains("\"agreed\""));
        let agreed: Value = serde_json::from_str(agreed.unwrap()).unwrap();
        let engine = agreed["engine"]["name"].as_str().unwrap();
        assert!(PRIVATE.contains(&engine), "{engine}");
        output.ok();
    }
    let demo = pair.folder.run(&["demo", "--format", "json"]).json();
    let engine = demo["spec"]["engine"].as_str().unwrap();
    assert!(PRIVATE.contains(&engine), "{engine}");
    assert_ne!(demo["cost"]["bytes_sent"], 0);
}

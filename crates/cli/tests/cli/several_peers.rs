//! A host serves several peers, as processes: no peer can disturb the others.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common::pair;

use pair::{Pair, Running, Side};
use std::time::Duration;
use veilpath_metrics::Alphabet;
use veilpath_protocol::Role;
use veilpath_session::limits::Timeouts;
use veilpath_session::{AlphabetInfo, Identity, Session, StateDir};

/// A host that also expects a peer that never connects, so that it keeps running when the first
/// peer is done.
fn host(pair: &Pair, arguments: &[&str]) -> (Running, String) {
    let nobody = Identity::ephemeral().unwrap().fingerprint().to_string();
    let several = ["--peer", &nobody, "-o", "results", "--format", "csv"];
    let host = pair.host(&[&several[..], arguments].concat());
    let address = host.address.clone().unwrap();
    (host, address)
}

/// The first peer's results.
fn results(pair: &Pair) -> String {
    let name = &pair.fingerprint(Side::Join)[..19];
    pair.folder.read(&format!("results/{name}.csv"))
}

#[test]
fn a_peer_gets_one_comparison_and_its_results_are_kept() {
    let pair = Pair::with_cohorts();
    // The same ids and lengths; only letters differ.
    let other = pair.folder.read("b.csv").replace('Z', "Y");
    assert_ne!(other, pair.folder.read("b.csv"));
    pair.folder.file("other.csv", other);
    let (mut host, address) = host(&pair, &["--fresh"]);
    let flags = ["--format", "csv"];
    let fresh = [&flags[..], &["--fresh"]].concat();
    let first = pair.join(&address, &fresh).end().ok();
    host.wait_for("finished").unwrap();
    assert_eq!(results(&pair), first);

    let refused = pair.join(&address, &["--cohort", "other.csv"]).end();
    assert_eq!(refused.code, 3, "{}", refused.stderr);
    assert!(
        refused.stderr.contains("another cohort"),
        "{}",
        refused.stderr
    );
    let event = host.wait_for("failed").unwrap();
    assert_eq!(event["exit_code"], 3, "{event}");
    assert_eq!(results(&pair), first);

    let again = pair.join(&address, &flags).end();
    assert!(
        again.stderr.contains("\"pairs_from_journal\":32"),
        "{}",
        again.stderr
    );
    assert_eq!(again.ok(), first);
    host.wait_for("finished").unwrap();
    assert_eq!(results(&pair), first);
    host.kill();
}

#[test]
fn a_mismatched_plan_does_not_end_the_host() {
    let pair = Pair::new();
    pair.folder.file("a.csv", "participant,scanpath\nP,ABCE\n");
    pair.folder.file("b.csv", "participant,scanpath\nQ,ACGT\n");
    let host = pair.host(&["--sessions", "1", "-o", "results", "--format", "csv"]);
    let address = host.address.clone().unwrap();
    let differs = pair.join(&address, &["--notation", "dna"]).end();
    assert_eq!(differs.code, 3, "{}", differs.stderr);
    assert!(differs.stderr.contains("--notation"), "{}", differs.stderr);
    let event = host.wait_for("failed").unwrap();
    assert_eq!(event["exit_code"], 3, "{event}");
    let results_of_peer = pair.join(&address, &["--format", "csv"]).end().ok();
    host.end().ok();
    assert_eq!(results(&pair), results_of_peer);
}

/// The file is read once, before the first peer connects.
#[test]
fn a_host_does_not_need_its_file_after_the_start() {
    let pair = Pair::new();
    pair.folder.file("a.csv", "participant,scanpath\nP,ACCA\n");
    pair.folder.file("b.csv", "participant,scanpath\nQ,ACGT\n");
    let dna = ["--notation", "dna"];
    let host = pair.host(&[&["--sessions", "1", "-o", "results"], &dna[..]].concat());
    let address = host.address.clone().unwrap();
    std::fs::remove_file(pair.folder.path().join("a.csv")).unwrap();
    pair.join(&address, &dna).end().ok();
    host.end().ok();
}

#[test]
fn a_second_connection_is_reported_as_declined() {
    let pair = Pair::with_cohorts();
    let (mut host, address) = host(&pair, &["--timeout", "20"]);
    // The peer sends its hello, and keep-alives twice per second.
    let timeouts = Timeouts::new(Duration::from_secs(2), Duration::from_secs(10));
    let [theirs, own] = &pair.identities;
    let channel = veilpath_session::join(&address, own, theirs.fingerprint(), &timeouts).unwrap();
    let letters = AlphabetInfo {
        named: None,
        declared: None,
        read_as: Alphabet::letters(4).unwrap(),
        grid: None,
    };
    let peer = theirs.fingerprint();
    let first = Session::open(channel, Role::Join, own, peer, &letters, timeouts).unwrap();
    host.wait_for("connected").unwrap();

    let second = pair.join(&address, &[]).end();
    assert_eq!(second.code, 3, "{}", second.stderr);
    assert!(
        second.stderr.contains("another connection"),
        "{}",
        second.stderr
    );
    let event = host.wait_for("declined").unwrap();
    assert_eq!(event["peer"], pair.fingerprint(Side::Join), "{event}");
    drop(first);
    host.wait_for("failed").unwrap();
    host.kill();
    let message = host.end().stderr;
    for (event, count) in [("connected", 1), ("declined", 1), ("failed", 1)] {
        let found = message.matches(&format!("\"event\":\"{event}\"")).count();
        assert_eq!(found, count, "{event}: {message}");
    }
}

/// Two partners, one with a name and one without, who leave the engine to the host.
#[test]
fn a_host_serves_named_and_unnamed_partners() {
    let mut pair = Pair::with_cohorts();
    let cohort = pair.folder.read("a.csv");
    pair.folder.file("clinic.csv", cohort);
    let named = pair.fingerprint(Side::Join);
    let other = Identity::create(&StateDir::at(pair.folder.path().join("third")).identity());
    let nameless = other.unwrap().fingerprint().to_string();
    pair.folder
        .file("partners.txt", format!("{named} university\n{nameless}\n"));
    let call = "host --listen 127.0.0.1:0 --peers partners.txt --sessions 4 --cohort clinic.csv \
                --engine shares -o results";
    let call: Vec<String> = call.split(' ').map(str::to_string).collect();
    let host = pair.start(Side::Host, &call);
    let address = host.wait_for_line("listening on ");
    let join = |pair: &Pair| {
        let own = pair.fingerprint(Side::Host);
        let call = format!("join {address} --peer {own} --cohort b.csv --format csv");
        let call: Vec<String> = call.split(' ').map(str::to_string).collect();
        pair.start(Side::Join, &call).end().ok()
    };
    let first = join(&pair);
    let third = pair.folder.path().join("third");
    pair.wrap(
        Side::Join,
        Some(Box::new(move |mut command| {
            command.env("VEILPATH_HOME", &third);
            command
        })),
    );
    let second = join(&pair);
    let table = host.end().ok();
    assert_eq!(table.matches(",finished,").count(), 2, "{table}");
    assert_eq!(pair.folder.read("results/university.csv"), first);
    let nameless = format!("results/{}.csv", &nameless[..19]);
    assert_eq!(pair.folder.read(&nameless), second);
    assert_eq!(first, second, "they brought the same cohort");
}

#[test]
fn an_excessive_wait_is_refused() {
    let pair = Pair::with_cohorts();
    let peer = pair.fingerprint(Side::Join);
    let longest = u64::MAX.to_string();
    for call in [
        &["host", "--listen", "127.0.0.1:0"][..],
        &[
            "host",
            "--listen",
            "127.0.0.1:0",
            "--sessions",
            "1",
            "-o",
            "results",
        ],
        &["join", "127.0.0.1:9"],
    ] {
        let both = ["--peer", &peer, "--cohort", "a.csv", "--wait", &longest];
        let message = pair.folder.run(&[call, &both].concat()).refused();
        assert!(message.contains("--wait"), "{message}");
    }
}

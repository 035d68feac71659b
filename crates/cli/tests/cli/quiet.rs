//! `-q` and `-v` before and after commands that need an identity or a partner. `contract.rs` tests the others.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common::RunOutput;
use crate::common::pair::{Pair, Running, Side};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Where a flag is.
#[derive(Clone, Copy, Debug)]
enum Place {
    BeforeCommand,
    AtEnd,
}

const PLACES: [Place; 2] = [Place::BeforeCommand, Place::AtEnd];

fn start(pair: &Pair, side: Side, flag: &str, place: Place, call: &str) -> Running {
    let call = match place {
        Place::BeforeCommand => format!("{flag} {call}"),
        Place::AtEnd => format!("{call} {flag}"),
    };
    let arguments: Vec<String> = call.split_whitespace().map(String::from).collect();
    pair.start(side, &arguments)
}

/// Starts a relay, and waits until it accepts connections. It gets a port that was free a moment ago, because a quiet relay
/// does not print its port.
fn relay(pair: &Pair, flag: &str, place: Place) -> (Running, String) {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let call = format!("relay --listen {address}");
    let relay = start(pair, Side::Host, flag, place, &call);
    let deadline = Instant::now() + Duration::from_secs(20);
    while TcpStream::connect(&address).is_err() {
        assert!(Instant::now() < deadline, "no relay on {address}");
        std::thread::sleep(Duration::from_millis(10));
    }
    (relay, address)
}

/// A session of two sides that meet at a relay.
fn session(pair: &Pair, relay: &str, flag: &str, place: Place, log: &str) -> [RunOutput; 2] {
    pair.forget();
    let sides = [
        (Side::Host, "host", "a.csv", Side::Join),
        (Side::Join, "join", "b.csv", Side::Host),
    ];
    let runs = sides.map(|(side, command, cohort, other)| {
        let peer = pair.fingerprint(other);
        let call = format!(
            "{command} --relay {relay} --peer {peer} --cohort {cohort} --engine plain \
             --limit-per-scanpath 1000 --log {log} --format csv --wait 20"
        );
        start(pair, side, flag, place, &call)
    });
    runs.map(Running::end)
}

#[test]
fn quiet_sessions_and_relays_print_only_results() {
    let pair = Pair::with_cohorts();
    let compare = ["compare", "a.csv", "b.csv", "--format", "csv"];
    let expected = pair.folder.run(&compare).ok();
    for place in PLACES {
        let (mut relay, address) = relay(&pair, "-q", place);
        for log in ["text", "json"] {
            for output in session(&pair, &address, "-q", place, log) {
                assert_eq!(output.stderr, "", "{}", output.call);
                assert_eq!(output.ok(), expected);
            }
        }
        relay.kill();
        assert_eq!(relay.end().stderr, "", "{place:?}");
    }
}

#[test]
fn verbose_sessions_print_more() {
    let pair = Pair::with_cohorts();
    for place in PLACES {
        let (_relay, address) = relay(&pair, "-v", place);
        let normal = session(&pair, &address, "", place, "text");
        let verbose = session(&pair, &address, "-v", place, "text");
        for (normal, verbose) in normal.into_iter().zip(verbose) {
            let [before, after] = [&normal, &verbose].map(|it| it.stderr.lines().count());
            assert!(after > before, "{}\n{}", normal.stderr, verbose.stderr);
            assert_eq!(normal.ok(), verbose.ok());
        }
        // Details are for people: the events are the same.
        let events = |flag| {
            session(&pair, &address, flag, place, "json").map(|output| {
                let lines = output.stderr.lines().map(|line| {
                    let event: serde_json::Value = serde_json::from_str(line).unwrap();
                    event["event"].as_str().unwrap().to_string()
                });
                lines.filter(|name| name != "progress").collect::<Vec<_>>()
            })
        };
        assert_eq!(events(""), events("-v"));
    }
}

/// A script sees the error, and nothing else.
#[test]
fn quiet_sessions_print_errors() {
    let pair = Pair::with_cohorts();
    let peer = pair.fingerprint(Side::Host);
    for place in PLACES {
        let join = |log: &str| {
            let call = format!(
                "join 127.0.0.1:1 --peer {peer} --cohort b.csv --limit-per-scanpath 1000 --wait 1 --log {log}"
            );
            start(&pair, Side::Join, "-q", place, &call).end()
        };
        let text = join("text");
        assert!(text.stderr.starts_with("error: "), "{}", text.stderr);
        let json = join("json");
        let event: serde_json::Value = serde_json::from_str(&json.stderr).unwrap();
        assert_eq!(event["event"], "error");
        assert_eq!(event["exit_code"], json.code);
        assert_ne!(json.code, 0);
        assert_eq!(text.code, json.code);
    }
}

#[test]
fn quiet_commands_about_earlier_sessions_print_only_results() {
    let pair = Pair::with_cohorts();
    for output in pair.run(&[], &[], &[]) {
        output.ok();
    }
    let partner = pair.fingerprint(Side::Join);
    let listed = pair.run_alone(Side::Host, "results").ok();
    let id = listed.lines().nth(1).unwrap().split(',').next().unwrap();
    let policy = pair.run_alone(Side::Host, "policy init -o -").ok();
    let valid = policy.replace("expires = 20", "expires = 29");
    pair.folder.file("policy.toml", valid);
    let nobody = "0".repeat(64);
    for (call, has_output) in [
        ("identity", true),
        ("results", true),
        (&format!("results {id}"), true),
        (&format!("results {id} -o scores.csv"), false),
        ("peers", true),
        (&format!("peers ban {partner} --yes"), false),
        (&format!("peers unban {partner} --yes"), false),
        ("record", true),
        ("record verify", false),
        ("policy init -o -", true),
        (
            &format!("policy check --policy policy.toml --peer {nobody} --reveal mean"),
            false,
        ),
    ] {
        let normal = start(&pair, Side::Host, "", Place::AtEnd, call).end();
        let (messages, normal) = (normal.stderr.clone(), normal.ok());
        assert_eq!(normal.is_empty(), !has_output, "{call}");
        for place in PLACES {
            let quiet = start(&pair, Side::Host, "-q", place, call).end();
            assert_eq!(quiet.stderr, "", "{}", quiet.call);
            assert_eq!(quiet.ok(), normal);
            let verbose = start(&pair, Side::Host, "-v", place, call).end();
            let prints_messages = !verbose.stderr.is_empty();
            assert_eq!(prints_messages, !messages.is_empty(), "{}", verbose.call);
            assert_eq!(verbose.ok(), normal);
        }
    }
}

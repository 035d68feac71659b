//! Two institutions meet at a relay, as processes: what they get, and what others at the relay can do.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common::pair;

use pair::{Pair, Running, Side};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use veilpath_protocol::Role;
use veilpath_session::fuzzing::relay_greeting;
use veilpath_session::limits::Timeouts;
use veilpath_session::{Identity, Listener, join_at_relay};

const FLAGS: [&str; 4] = ["--engine", "garbled", "--format", "csv"];

/// Starts a relay on this address; port 0 is a free port.
fn relay(pair: &Pair, address: &str, arguments: &[&str]) -> (Running, String) {
    let call = [&["relay", "--listen", address][..], arguments].concat();
    let call: Vec<String> = call.iter().map(ToString::to_string).collect();
    let running = pair.start(Side::Host, &call);
    let address = running.wait_for_line("listening on ");
    (running, address)
}

/// Starts one side's command, through the relay.
fn start(pair: &Pair, side: Side, relay: &str, arguments: &[&str]) -> Running {
    let (command, cohort, other) = match side {
        Side::Host => ("host", "a.csv", Side::Join),
        Side::Join => ("join", "b.csv", Side::Host),
    };
    let peer = pair.fingerprint(other);
    let call = [
        command, "--relay", relay, "--peer", &peer, "--cohort", cohort,
    ];
    let limit = ["--limit-per-scanpath", "1000", "--log", "json", "--wait"];
    let wait = ["20"];
    let call = [&call[..], &limit, &wait, arguments].concat();
    let call: Vec<String> = call.iter().map(ToString::to_string).collect();
    pair.start(side, &call)
}

fn both(pair: &Pair, relay: &str, arguments: &[&str]) -> [Running; 2] {
    [Side::Host, Side::Join].map(|side| start(pair, side, relay, arguments))
}

#[test]
fn results_equal_those_of_compare_and_the_relay_sees_no_fingerprint() {
    let pair = Pair::with_cohorts();
    let (mut relay, address) = relay(&pair, "127.0.0.1:0", &[]);
    let compare = ["compare", "a.csv", "b.csv", "--format", "csv"];
    let expected = pair.folder.run(&compare).ok();
    for output in both(&pair, &address, &FLAGS).map(Running::end) {
        assert_eq!(output.ok(), expected);
    }
    let line = relay.wait_for_line("session 1: ended after ");
    assert!(line.contains("B"), "{line}");
    relay.kill();
    let log = relay.end().stderr;
    for side in [Side::Host, Side::Join] {
        assert!(!log.contains(&pair.fingerprint(side)[..9]), "{log}");
    }
}

/// An impostor who knows both fingerprints waits in place of each side, and connects to each, with another key.
#[test]
fn an_impostor_gets_nothing_and_delays_little() {
    let pair = Pair::with_cohorts();
    let (_relay, address) = relay(&pair, "127.0.0.1:0", &[]);
    let impostor = Identity::ephemeral().unwrap();
    let [host, join] = [0, 1].map(|index: usize| pair.identities[index].fingerprint());
    let greeting = |role| relay_greeting(role, &host, &join);
    // Two impostors wait, and do not even speak TLS.
    let waiting: Vec<TcpStream> = [Role::Host, Role::Join]
        .into_iter()
        .map(|role| {
            let mut socket = TcpStream::connect(&address).unwrap();
            socket.write_all(&greeting(role)).unwrap();
            let mut ping = [0];
            socket.read_exact(&mut ping).unwrap();
            assert_eq!(ping, [1]);
            socket.write_all(&[1]).unwrap();
            socket
        })
        .collect();
    // The two were connected to each other.
    for mut socket in waiting {
        let mut start = [0];
        socket.read_exact(&mut start).unwrap();
        assert_eq!(start, [2]);
    }
    let timeouts = Timeouts::new(Duration::from_secs(5), Duration::from_secs(2));
    let running = start(&pair, Side::Host, &address, &FLAGS);
    // With its own fingerprint, the impostor meets nobody.
    assert!(
        join_at_relay(
            &|| false,
            &address,
            &impostor,
            pair.identities[0].fingerprint(),
            &timeouts
        )
        .is_err()
    );
    let mut socket = TcpStream::connect(&address).unwrap();
    socket.write_all(&greeting(Role::Join)).unwrap();
    let mut replies = Vec::new();
    let mut byte = [0];
    while byte != [2] {
        socket.read_exact(&mut byte).unwrap();
        replies.push(byte[0]);
        if byte == [1] {
            socket.write_all(&[1]).unwrap();
        }
    }
    // Once connected to the host, anything but TLS gets an alert, and the connection is closed.
    socket.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = socket.read_to_end(&mut answer);
    assert!(answer.len() < 100, "{answer:?}");
    assert!(running.wait_for("rejected").is_some(), "{replies:?}");
    let joined = start(&pair, Side::Join, &address, &FLAGS);
    assert_eq!(joined.end().ok(), running.end().ok());
}

#[test]
fn sessions_survive_a_crash_of_the_relay() {
    let pair = Pair::new();
    for (file, seed) in [("a.csv", "1"), ("b.csv", "2")] {
        let call =
            format!("synth random --count 12 --length 60 --letters 49 --seed {seed} -o {file}");
        pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    }
    let compare = ["compare", "a.csv", "b.csv", "--format", "csv"];
    let expected = pair.folder.run(&compare).ok();
    let (mut first, address) = relay(&pair, "127.0.0.1:0", &[]);
    let arguments = [&FLAGS[..], &["--timeout", "5"]].concat();
    let [host, join] = both(&pair, &address, &arguments);
    assert!(host.wait_for("agreed").is_some());
    std::thread::sleep(Duration::from_millis(100));
    first.kill();
    let start = Instant::now();
    for output in [host.end(), join.end()] {
        // Either side may have finished before that.
        assert!([0, 4].contains(&output.code), "{}", output.stderr);
    }
    assert!(start.elapsed() < Duration::from_secs(20));
    // A waiting host finds the relay again when it comes back.
    let (mut second, address) = relay(&pair, "127.0.0.1:0", &[]);
    let host = self::start(&pair, Side::Host, &address, &arguments);
    assert!(host.wait_for("connecting").is_some());
    std::thread::sleep(Duration::from_millis(500));
    second.kill();
    second.end();
    let (_third, _) = relay(&pair, &address, &[]);
    let join = self::start(&pair, Side::Join, &address, &arguments);
    for output in [host.end(), join.end()] {
        // Comparisons count once, although the relay died in between.
        assert!(
            output.stderr.contains("\"comparisons_per_scanpath\":12"),
            "{}",
            output.stderr
        );
        assert_eq!(output.ok(), expected);
    }
}

#[test]
fn refusals_and_wrong_addresses_are_explained() {
    let pair = Pair::with_cohorts();
    let nobody = Identity::ephemeral().unwrap().fingerprint();
    pair.folder.file("others.txt", format!("{nobody}\n"));
    let (_relay, address) = relay(&pair, "127.0.0.1:0", &["--institutions", "others.txt"]);
    for output in both(&pair, &address, &[]).map(Running::end) {
        assert_eq!(output.code, 4, "{}", output.stderr);
        assert!(
            output.stderr.contains("--institutions"),
            "{}",
            output.stderr
        );
    }
    // The address is that of a host instead of a relay.
    let host = pair.host(&[]);
    let wrong = host.address.clone().unwrap();
    let output = start(&pair, Side::Join, &wrong, &[]).end();
    assert_eq!(output.code, 4, "{}", output.stderr);
    assert!(
        output.stderr.contains("veilpath relay"),
        "{}",
        output.stderr
    );
    for call in [
        &["join", "--cohort", "b.csv", "--peer", &nobody.to_string()][..],
        &["host", "--cohort", "a.csv", "--peer", &nobody.to_string()],
    ] {
        let output = pair.folder.run(call);
        assert_eq!(output.code, 2, "{}", output.stderr);
        assert!(output.stderr.contains("--relay"), "{}", output.stderr);
    }
}

/// Silent connections, garbage, and clients that never answer: two institutions still meet.
#[test]
fn a_flood_does_not_keep_institutions_apart() {
    let pair = Pair::with_cohorts();
    let (relay, address) = relay(&pair, "127.0.0.1:0", &["--sessions", "2"]);
    let mut flood = Vec::new();
    for index in 0..300 {
        let Ok(mut socket) = TcpStream::connect(&address) else {
            continue;
        };
        let bytes: &[u8] = match index % 3 {
            0 => b"",
            1 => b"VPRELAY\x01",
            _ => b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 and more than a greeting has",
        };
        let _ = socket.write_all(bytes);
        flood.push(socket);
    }
    let outputs = both(&pair, &address, &FLAGS).map(|side| side.end().ok());
    assert_eq!(outputs[0], outputs[1]);
    drop(flood);
    drop(relay);
}

/// A host with several peers keeps a place at the relay for each.
#[test]
fn several_peers_meet_the_host_at_a_relay() {
    let pair = Pair::with_cohorts();
    let (_relay, address) = relay(&pair, "127.0.0.1:0", &[]);
    let other = Identity::ephemeral().unwrap();
    let (host, peer) = (
        pair.fingerprint(Side::Host),
        other.fingerprint().to_string(),
    );
    let arguments = ["--peer", &peer, "-o", "results", "--format", "csv"];
    let mut running = start(&pair, Side::Host, &address, &arguments);
    let joined = start(&pair, Side::Join, &address, &["--format", "csv"]);
    let output = joined.end().ok();
    assert!(running.wait_for("finished").is_some());
    let name = &pair.fingerprint(Side::Join)[..19];
    assert_eq!(pair.folder.read(&format!("results/{name}.csv")), output);
    // The other peer meets the host as well.
    let timeouts = Timeouts::new(Duration::from_secs(5), Duration::from_secs(10));
    let channel = join_at_relay(
        &|| false,
        &address,
        &other,
        host.parse().unwrap(),
        &timeouts,
    );
    assert!(channel.is_ok(), "{channel:?}");
    running.kill();
    // No host waits there any more.
    let short = Timeouts::new(Duration::from_secs(5), Duration::from_secs(1));
    drop(channel);
    assert!(join_at_relay(&|| false, &address, &other, host.parse().unwrap(), &short).is_err());
    // A host that finds no relay says so at once.
    let error = Listener::at_relay("127.0.0.1:9", &other, &[host.parse().unwrap()], &short);
    assert!(error.is_err());
}

//! A malicious peer with the right key: the command ends with an exit code and a message, in bounded time.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use crate::common;
use crate::common::pair;

use common::RunOutput;
use pair::{Pair, Side};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use veilpath_channel::Channel;
use veilpath_session::limits::{PROTOCOL_VERSION, Timeouts};
use veilpath_session::{ChecksummedChannel, Listener, SecureChannel, join};

fn timeouts() -> Timeouts {
    Timeouts::new(Duration::from_secs(5), Duration::from_secs(10))
}

/// What a malicious peer does with its channel, the exit code of the other side, and part of the error message.
type Attack = (&'static str, fn(&mut SecureChannel), i32, &'static str);

const HELLO: &[u8] =
    br#"{"idle_timeout_ms":1000,"named":null,"declared":null,"read_as":"letters 49","grid":null}"#;

fn send(channel: &mut SecureChannel, bytes: &[u8]) {
    let _ = channel.send(bytes);
    let _ = channel.flush();
}

/// Opens a session, and then sends these parts in valid packets.
fn send_packets(channel: &mut SecureChannel, parts: &[&[u8]]) {
    send(channel, OPENING);
    let _ = channel.receive(&mut [0; OPENING.len()]);
    let mut checksummed = ChecksummedChannel::new(channel);
    for part in parts {
        let _ = checksummed.send(part);
    }
    let _ = checksummed.flush();
}

fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
    bytes.extend(content);
    bytes
}

/// Reads until the other side closes the connection.
fn drain(channel: &mut SecureChannel) {
    while channel.receive(&mut [0]).is_ok() {}
}

const OPENING: &[u8] = b"VEILPATH\x10\x00";
const _: () = assert!(OPENING[8] as u16 == PROTOCOL_VERSION);

const ATTACKS: &[Attack] = &[
    ("disconnects at once", |_| (), 4, "closed the connection"),
    (
        "disconnects in the middle of a message",
        |channel| send_packets(channel, &[&[1, 100, 0, 0, 0, b'{']]),
        4,
        "closed the connection",
    ),
    (
        "sends nothing",
        |_| std::thread::sleep(Duration::from_millis(2500)),
        4,
        "in time",
    ),
    (
        "speaks another protocol",
        |channel| {
            send(channel, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            drain(channel);
        },
        3,
        "does not speak Veilpath's protocol",
    ),
    (
        "speaks another version",
        |channel| {
            send(channel, b"VEILPATH\xff\x7f");
            drain(channel);
        },
        3,
        "here, 32767 there",
    ),
    (
        "sends an invalid packet",
        |channel| {
            send(channel, OPENING);
            send(channel, &[9; 64]);
            drain(channel);
        },
        4,
        "a packet arrived corrupted",
    ),
    (
        "announces four gigabytes",
        |channel| {
            send_packets(channel, &[&[1, 255, 255, 255, 255]]);
            drain(channel);
        },
        3,
        "at most 4096",
    ),
    (
        "sends an unexpected message",
        |channel| {
            send_packets(channel, &[&message(6, b"{}")]);
            drain(channel);
        },
        3,
        "broke the protocol",
    ),
    (
        "sends garbage for a message",
        |channel| {
            send_packets(channel, &[&message(1, &[0xff; 300])]);
            drain(channel);
        },
        3,
        "malformed",
    ),
    (
        "sends an invalid alphabet",
        |channel| {
            let hello = String::from_utf8_lossy(HELLO).replace("49", "4900");
            send_packets(channel, &[&message(1, hello.as_bytes())]);
            drain(channel);
        },
        3,
        "an invalid alphabet or grid",
    ),
    (
        "sends impossible terms",
        |channel| {
            let terms = br#"{"fields":{},"encoding":{},"scanpaths":99999999999,"letters":1,"id_bytes":1,"cohort_tag":"","estimate_only":false}"#;
            send_packets(channel, &[&message(1, HELLO), &message(2, terms)]);
            drain(channel);
        },
        3,
        "a cohort larger than allowed",
    ),
    (
        "declines with text of its own",
        |channel| {
            let decline = br#"{"reason":"\u001b[31mno"}"#;
            send_packets(channel, &[&message(1, HELLO), &message(15, decline)]);
            drain(channel);
        },
        3,
        "a malformed Decline message",
    ),
];

fn check((name, _, code, word): &Attack, output: &RunOutput, took: Duration) {
    assert_eq!(output.code, *code, "{name}\n{}", output.stderr);
    assert!(output.stderr.contains(word), "{name}\n{}", output.stderr);
    assert!(
        !output.stderr.contains("panicked"),
        "{name}\n{}",
        output.stderr
    );
    assert!(took < Duration::from_secs(15), "{name} took {took:?}");
}

#[test]
fn a_host_survives_every_attack() {
    let pair = Pair::with_cohorts();
    let [host, own] = &pair.identities;
    for attack in ATTACKS {
        let start = Instant::now();
        let running = pair.host(&["--timeout", "1"]);
        let address = running.address.clone().unwrap();
        let mut channel = join(&address, own, host.fingerprint(), &timeouts()).unwrap();
        attack.1(&mut channel);
        drop(channel);
        check(attack, &running.end(), start.elapsed());
    }
}

#[test]
fn a_joining_side_survives_every_attack() {
    let pair = Pair::with_cohorts();
    let [own, peer] = &pair.identities;
    for attack in ATTACKS {
        let start = Instant::now();
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let running = pair.join(&listener.address().to_string(), &["--timeout", "1"]);
        let channel = listener.accept(own, peer.fingerprint(), &timeouts(), &mut |_| ());
        let mut channel = channel.unwrap();
        attack.1(&mut channel);
        drop(channel);
        check(attack, &running.end(), start.elapsed());
    }
}

#[test]
fn unauthenticated_connections_do_not_end_a_host() {
    use std::io::Write;
    let pair = Pair::with_cohorts();
    let host = pair.host(&["--format", "csv"]);
    let address = host.address.clone().unwrap();
    for garbage in [
        &b"GET / HTTP/1.0\r\n\r\n"[..],
        &[0; 4096],
        &[22, 3, 1, 255, 255],
        b"",
    ] {
        let mut rejected = std::net::TcpStream::connect(&address).unwrap();
        let _ = rejected.write_all(garbage);
    }
    let silent = std::net::TcpStream::connect(&address).unwrap();
    let joined = pair.join(&address, &["--format", "csv"]).end();
    assert_eq!(joined.ok(), host.end().ok());
    drop(silent);
    assert_eq!(pair.fingerprint(Side::Host).len(), 79);
}

/// A common mistake with an address: another service has the port.
#[test]
fn another_service_is_not_mistaken_for_a_broken_peer() {
    let pair = Pair::with_cohorts();
    for greeting in [
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "SSH-2.0-OpenSSH_9.9\r\n",
    ] {
        let service = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = service.local_addr().unwrap().to_string();
        let answers = std::thread::spawn(move || {
            let (mut caller, _) = service.accept().unwrap();
            let _ = caller.read(&mut [0; 4096]);
            let _ = caller.write_all(greeting.as_bytes());
        });
        let output = pair.join(&address, &["--wait", "5"]).end();
        answers.join().unwrap();
        assert_eq!(output.code, 3, "{}", output.stderr);
        for words in ["does not speak Veilpath's protocol", "the port"] {
            assert!(output.stderr.contains(words), "{}", output.stderr);
        }
    }
}

//! A peer with the right key that does everything wrong: the command ends with a code and a word, in bounded time.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

mod common;
#[path = "common/pair.rs"]
mod pair;

use common::Ran;
use pair::{Pair, Side};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};
use veilpath_protocol::{Channel, ChannelError};
use veilpath_session::limits::Timeouts;
use veilpath_session::{ChecksummedChannel, Listener, SecureChannel, join};

fn timeouts() -> Timeouts {
    Timeouts::new(Duration::from_secs(5), Duration::from_secs(10))
}

/// What a hostile peer does with its channel, the exit code of the other side, and a word that it says.
type Misdeed = (&'static str, fn(&mut SecureChannel), i32, &'static str);

const HELLO: &[u8] =
    br#"{"idle_timeout_ms":1000,"named":null,"declared":null,"read_as":"letters 49","grid":null}"#;

fn send(channel: &mut SecureChannel, bytes: &[u8]) {
    let _ = channel.send(bytes);
    let _ = channel.flush();
}

/// Greets, and then says these things in packets that are in order.
fn speak(channel: &mut SecureChannel, parts: &[&[u8]]) {
    send(channel, OPENING);
    let _ = channel.receive(&mut [0; OPENING.len()]);
    let mut checksummed = ChecksummedChannel::new(Lent(channel));
    for part in parts {
        let _ = checksummed.send(part);
    }
    let _ = checksummed.flush();
}

/// A channel that is given back.
struct Lent<'a>(&'a mut SecureChannel);

impl Channel for Lent<'_> {
    fn send(&mut self, bytes: &[u8]) -> Result<(), ChannelError> {
        self.0.send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8]) -> Result<(), ChannelError> {
        self.0.receive(buffer)
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        self.0.flush()
    }
}

fn message(tag: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![tag];
    bytes.extend(u32::try_from(content.len()).unwrap().to_le_bytes());
    bytes.extend(content);
    bytes
}

/// Reads what an honest side says until it says no more.
fn listen(channel: &mut SecureChannel) {
    while channel.receive(&mut [0]).is_ok() {}
}

const OPENING: &[u8] = b"VEILPATH\x02\x00";

const MISDEEDS: &[Misdeed] = &[
    ("leaves at once", |_| (), 4, "closed the connection"),
    (
        "leaves in the middle of a message",
        |channel| speak(channel, &[&[1, 100, 0, 0, 0, b'{']]),
        4,
        "closed the connection",
    ),
    (
        "says nothing",
        |_| std::thread::sleep(Duration::from_millis(2500)),
        4,
        "in time",
    ),
    (
        "speaks another protocol",
        |channel| {
            send(channel, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            listen(channel);
        },
        3,
        "does not speak veilpath's protocol",
    ),
    (
        "speaks another version",
        |channel| {
            send(channel, b"VEILPATH\xff\x7f");
            listen(channel);
        },
        3,
        "protocol version: 2 here, 32767 there",
    ),
    (
        "sends a packet that is not in order",
        |channel| {
            send(channel, OPENING);
            send(channel, &[9; 64]);
            listen(channel);
        },
        4,
        "what arrived is not what was sent",
    ),
    (
        "announces four gigabytes",
        |channel| {
            speak(channel, &[&[1, 255, 255, 255, 255]]);
            listen(channel);
        },
        3,
        "at most 4096",
    ),
    (
        "sends another message than is due",
        |channel| {
            speak(channel, &[&message(6, b"{}")]);
            listen(channel);
        },
        3,
        "broke the protocol",
    ),
    (
        "sends garbage for a message",
        |channel| {
            speak(channel, &[&message(1, &[0xff; 300])]);
            listen(channel);
        },
        3,
        "malformed",
    ),
    (
        "sends an alphabet that does not exist",
        |channel| {
            let hello = String::from_utf8_lossy(HELLO).replace("49", "4900");
            speak(channel, &[&message(1, hello.as_bytes())]);
            listen(channel);
        },
        3,
        "does not exist",
    ),
    (
        "sends impossible terms",
        |channel| {
            let terms = br#"{"fields":{},"encoding":{},"scanpaths":99999999999,"letters":1,"cohort_tag":"","estimate_only":false}"#;
            speak(channel, &[&message(1, HELLO), &message(2, terms)]);
            listen(channel);
        },
        3,
        "beyond all limits",
    ),
    (
        "declines with control characters",
        |channel| {
            let decline = br#"{"reason":"\u001b[31mno"}"#;
            speak(channel, &[&message(1, HELLO), &message(15, decline)]);
            listen(channel);
        },
        3,
        "declined: \u{fffd}[31mno",
    ),
];

fn check((name, _, code, word): &Misdeed, ran: &Ran, took: Duration) {
    assert_eq!(ran.code, *code, "{name}\n{}", ran.stderr);
    assert!(ran.stderr.contains(word), "{name}\n{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{name}\n{}", ran.stderr);
    assert!(took < Duration::from_secs(15), "{name} took {took:?}");
}

#[test]
fn a_host_survives_every_misdeed() {
    let pair = Pair::with_cohorts();
    let [host, own] = &pair.identities;
    for misdeed in MISDEEDS {
        let start = Instant::now();
        let running = pair.host(&["--timeout", "1"]);
        let address = running.address.clone().unwrap();
        let mut channel = join(&address, own, host.fingerprint(), &timeouts()).unwrap();
        misdeed.1(&mut channel);
        drop(channel);
        check(misdeed, &running.end(), start.elapsed());
    }
}

#[test]
fn a_joining_side_survives_every_misdeed() {
    let pair = Pair::with_cohorts();
    let [own, peer] = &pair.identities;
    for misdeed in MISDEEDS {
        let start = Instant::now();
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let running = pair.join(&listener.address().to_string(), &["--timeout", "1"]);
        let channel = listener.accept(own, peer.fingerprint(), &timeouts(), &mut |_| ());
        let mut channel = channel.unwrap();
        misdeed.1(&mut channel);
        drop(channel);
        check(misdeed, &running.end(), start.elapsed());
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

/// The usual mistake with an address: another service has the port.
#[test]
fn a_service_of_another_kind_is_told_apart_from_a_broken_peer() {
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
        let ran = pair.join(&address, &["--wait", "5"]).end();
        answers.join().unwrap();
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        for words in ["it does not speak veilpath's protocol", "and the port?"] {
            assert!(ran.stderr.contains(words), "{}", ran.stderr);
        }
    }
}

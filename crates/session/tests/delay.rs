//! A connection with latency: it may cost a fixed number of round trips beyond the time on loopback.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test's helpers may fail the test; it prints what it measured

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
use veilpath_protocol::{Engine, KeySize, Outcome, PaillierOptions, PairRule, Role, Spec};
use veilpath_session::limits::Timeouts;
use veilpath_session::{
    AlphabetInfo, Fingerprint, Identity, Listener, Proposal, ScanpathLimit, SecureChannel, Session,
    join,
};

const ROUND_TRIP: Duration = Duration::from_millis(20);

/// A proxy between two sides that delays every byte by half a round trip, each way.
fn delaying_proxy(upstream: SocketAddr) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (down, _) = listener.accept().unwrap();
        let up = TcpStream::connect(upstream).unwrap();
        for (from, to) in [(&down, &up), (&up, &down)] {
            from.set_nodelay(true).unwrap();
            relay(from.try_clone().unwrap(), to.try_clone().unwrap());
        }
    });
    address
}

fn relay(mut from: TcpStream, mut to: TcpStream) {
    let (sent, arrivals) = channel::<(Instant, Vec<u8>)>();
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(count @ 1..) = from.read(&mut buffer) {
            let arrives = Instant::now() + ROUND_TRIP / 2;
            if sent.send((arrives, buffer[..count].to_vec())).is_err() {
                break;
            }
        }
    });
    std::thread::spawn(move || {
        for (arrives, bytes) in arrivals {
            std::thread::sleep(arrives.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}

/// One comparison of two scanpaths of this length, from the first connection attempt to the outcomes of both sides.
fn compare(size: KeySize, length: u16, delayed: bool) -> (Duration, Outcome) {
    let cohort = |step: u16| Cohort {
        alphabet: Alphabet::letters(52).unwrap(),
        encoding: Encoding::default(),
        entries: vec![Entry {
            participant: "one".into(),
            stimulus: None,
            scanpath: Scanpath::new((0..length).map(|index| index * step % 52).collect()),
        }],
    };
    let identities = [(); 2].map(|()| Identity::ephemeral().unwrap());
    let [alice, bob] = &identities;
    let timeouts = Timeouts::new(Duration::from_secs(60), Duration::from_secs(10));
    let start = Instant::now();
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = match delayed {
        true => delaying_proxy(listener.address()),
        false => listener.address(),
    };
    let run = |role: Role, channel: SecureChannel, identity: &Identity, peer: Fingerprint| {
        let cohort = cohort(if role == Role::Host { 7 } else { 11 });
        let letters = AlphabetInfo {
            named: None,
            declared: None,
            read_as: cohort.alphabet,
            grid: None,
        };
        let engine = Engine::Paillier(PaillierOptions::new(size, true).unwrap());
        let spec = Spec::new(engine, Metric::Levenshtein, PairRule::All, &cohort, &cohort);
        let proposal = Proposal {
            spec: spec.unwrap(),
            cohort,
            pseudonyms: false,
            estimate_only: false,
            fresh: false,
            limit_per_scanpath: ScanpathLimit::Unlimited,
            memory: None,
            key: None,
        };
        let opened = Session::open(channel, role, identity, peer, &letters, timeouts);
        let agreed = opened
            .unwrap()
            .0
            .agree(proposal, None, &mut |_| ())
            .unwrap();
        agreed.run(&()).unwrap().outcome
    };
    let outcome = std::thread::scope(|scope| {
        let joining = scope.spawn(|| {
            let peer = alice.fingerprint();
            let channel = join(&address.to_string(), bob, peer, &timeouts).unwrap();
            run(Role::Join, channel, bob, peer)
        });
        let peer = bob.fingerprint();
        let channel = listener
            .accept(alice, peer, &timeouts, &mut |_| {})
            .unwrap();
        run(Role::Host, channel, alice, peer);
        joining.join().unwrap()
    });
    (start.elapsed(), outcome)
}

/// With a latency of 20 ms, at most 1.5 times the time without it, plus so many round trips. On a busy machine a sleep lasts
/// longer than it should: one of three runs must meet this.
fn costs_at_most(size: KeySize, length: u16, round_trips: u32) {
    let met = (0..3).any(|_| is_met(size, length, round_trips));
    assert!(met, "more than {round_trips} round trips beyond loopback");
}

fn is_met(size: KeySize, length: u16, round_trips: u32) -> bool {
    let (here, _) = compare(size, length, false);
    let (there, outcome) = compare(size, length, true);
    let beyond = there.saturating_sub(here).as_secs_f64() / ROUND_TRIP.as_secs_f64();
    eprintln!(
        "{length}×{length}, {} bits: {here:.2?} on loopback, {there:.2?} with {ROUND_TRIP:?}; {} rounds; {beyond:.0} round trips beyond",
        size.bits(),
        outcome.cost.rounds
    );
    // The delay is real: no round of question and answer can be faster.
    assert!(there > ROUND_TRIP * u32::from(length));
    there < here.mul_f64(1.5) + ROUND_TRIP * round_trips
}

#[test]
fn a_short_comparison_with_latency() {
    // A batch takes two thirds of the cells that are ready, which makes about five rounds for a letter; a cell at a time
    // would be four hundred in all.
    costs_at_most(KeySize::Bits512, 20, 160);
}

/// The full size, with a key that protects. It has about five hundred rounds; the two sides compute during a part of them.
#[test]
#[ignore = "takes half a minute on a quiet machine"]
fn a_long_comparison_with_latency() {
    costs_at_most(KeySize::Bits2048, 100, 400);
}

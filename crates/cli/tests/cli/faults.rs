//! Network faults between two real processes: the connection is cut, half-closed, stalled, delayed or slowed, and its bytes are
//! flipped, repeated, swapped, lost or added. Each case ends in bounded time, with the correct result or with an error and an
//! exit code, and running both commands again gives the correct result.
//!
//! `VEILPATH_FAULTS=long` runs many more cases. `VEILPATH_FAULTS_SEED` repeats a run.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test's helpers may fail the test; it prints what ran

use crate::common;
use crate::common::pair;
use crate::common::proxy;

use common::RunOutput;
use pair::Pair;
use proxy::{Fault, FaultKind, Proxy};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeMap;
use std::time::Duration;

/// The options of both sides, except for their files.
const ENGINES: [&str; 4] = [
    "--engine garbled --format csv --timeout 2",
    "--engine shares --format csv --timeout 2",
    "--engine plain --format csv --timeout 2",
    "--engine paillier --key-bits 512 --allow-weak-key --batch 8 --format csv --timeout 2",
];

/// Two institutions with small cohorts, and their expected results.
struct Setup {
    pair: Pair,
    expected: String,
    flags: &'static str,
}

impl Setup {
    fn new(flags: &'static str) -> Self {
        let pair = Pair::new();
        for (file, seed) in [("a.csv", "1"), ("b.csv", "2")] {
            let call = format!("synth random --count 4 --length 9 --seed {seed} -o {file}");
            pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
        }
        let call = "compare a.csv b.csv --engine plain --format csv";
        let expected = pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
        Self {
            pair,
            expected,
            flags,
        }
    }

    fn flags(&self) -> Vec<&str> {
        self.flags.split(' ').collect()
    }

    /// The number of bytes sent in each direction without a fault.
    fn bytes_without_fault(&self) -> [u64; 2] {
        let fault = Fault {
            kind: FaultKind::Nothing,
            to_host: true,
            at: 0,
            seed: 0,
        };
        let host = self.pair.host(&self.flags());
        let proxy = Proxy::start(host.address.as_ref().unwrap(), fault);
        let join = self.pair.join(&proxy.address.to_string(), &self.flags());
        for output in [host.end(), join.end()] {
            assert_eq!(output.ok(), self.expected);
        }
        proxy.forwarded()
    }

    /// Runs both sides with a fault, and then again without one; returns the exit codes of the first run.
    fn run_with_fault(&self, fault: Fault) -> [i32; 2] {
        self.pair.forget();
        let mut host = self.pair.host(&self.flags());
        let address = host.address.clone().unwrap();
        let proxy = Proxy::start(&address, fault);
        let mut join = self.pair.join(&proxy.address.to_string(), &self.flags());
        assert!(
            join.ends_within(Duration::from_secs(40)),
            "{fault:?}: it hangs"
        );
        let join = join.end();
        self.check(&fault, &join);
        let result = host.ends_within(Duration::from_millis(300))
            || host.has_connected() && host.ends_within(Duration::from_secs(30));
        if !result {
            // The connection failed before it was authenticated, and the host still waits for its peer.
            assert!(!host.has_connected(), "{fault:?}: it hangs");
            assert_ne!(join.code, 0, "{fault:?}");
            let again = self.pair.join(&address, &self.flags()).end();
            // Or the connection failed just after that, and the host notices only now.
            let noticed = again.code == 4 && host.ends_within(Duration::from_secs(1));
            if !noticed {
                assert_eq!(again.ok(), self.expected, "{fault:?}");
                assert_eq!(host.end().ok(), self.expected, "{fault:?}");
                return [0, join.code];
            }
        }
        let host = host.end();
        self.check(&fault, &host);
        let codes = [host.code, join.code];
        for output in self.pair.run(&self.flags(), &[], &[]) {
            assert_eq!(output.ok(), self.expected, "after {fault:?}");
        }
        codes
    }

    /// Checks for the correct result, or a reported fault of the other side or the network.
    fn check(&self, fault: &Fault, output: &RunOutput) {
        assert!(
            !output.stderr.contains("panicked"),
            "{fault:?}: {}",
            output.stderr
        );
        match output.code {
            0 => assert_eq!(output.stdout, self.expected, "{fault:?}"),
            3 | 4 => {
                assert!(
                    !fault.kind.preserves_bytes(),
                    "{fault:?}: {}",
                    output.stderr
                );
                assert!(output.stdout.is_empty(), "{fault:?}");
                let event = format!("\"exit_code\":{}", output.code);
                assert!(
                    output.stderr.contains(&event),
                    "{fault:?}: {}",
                    output.stderr
                );
            }
            code => assert_eq!(code, 4, "{fault:?}: {}", output.stderr),
        }
    }
}

#[test]
fn a_faulty_connection_ends_in_the_right_result_or_in_an_error() {
    let long = std::env::var("VEILPATH_FAULTS").is_ok_and(|value| value == "long");
    let given = std::env::var("VEILPATH_FAULTS_SEED").ok();
    let seed = given
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::rng().random::<u32>().into());
    eprintln!("VEILPATH_FAULTS_SEED={seed}");
    // The runs mostly wait, so many run at once. The short version tests every fault once, with the default engine.
    let parts: Vec<(&'static str, &[FaultKind], usize)> = match long {
        true => ENGINES
            .iter()
            .map(|flags| (*flags, &FaultKind::ALL[..], 10))
            .collect(),
        false => FaultKind::ALL
            .chunks(3)
            .map(|kinds| (ENGINES[0], kinds, 1))
            .collect(),
    };
    let ends: Vec<_> = std::thread::scope(|scope| {
        let parts: Vec<_> = (seed..)
            .zip(parts)
            .map(|(seed, (flags, kinds, times))| {
                scope.spawn(move || run_all(flags, kinds, seed, times))
            })
            .collect();
        let result = parts.into_iter().map(|part| part.join().unwrap());
        result.flatten().collect()
    });
    let mut tally = BTreeMap::new();
    for end in &ends {
        *tally.entry(end).or_insert(0) += 1;
    }
    eprintln!(
        "a faulty connection: {} cases; the exit codes of host and joining side, and both right when run again:",
        ends.len()
    );
    for ((kind, codes), count) in tally {
        eprintln!("  {kind:?}: {count} × {codes:?}");
    }
}

/// Runs each kind of fault `times` times, at random bytes; returns the exit codes of both sides.
fn run_all(
    flags: &'static str,
    kinds: &[FaultKind],
    seed: u64,
    times: usize,
) -> Vec<(FaultKind, [i32; 2])> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let setup = Setup::new(flags);
    let bytes = setup.bytes_without_fault();
    let mut ends = Vec::new();
    for &kind in kinds {
        for _ in 0..times {
            let to_host = rng.random();
            let fault = Fault {
                kind,
                to_host,
                at: rng.random_range(0..bytes[usize::from(!to_host)]),
                seed: rng.random(),
            };
            ends.push((kind, setup.run_with_fault(fault)));
        }
    }
    ends
}

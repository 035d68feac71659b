//! Either process is killed at random moments; running both commands again ends with the same files.
//!
//! `VEILPATH_KILL_ROUNDS` sets the number of rounds; a round has three kills.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test's helpers may fail the test

mod common;
#[path = "common/pair.rs"]
mod pair;

use pair::Pair;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde_json::Value;
use std::time::{Duration, Instant};

const BOTH: [&str; 10] = [
    "--metric",
    "needleman-wunsch",
    "--substitution",
    "manhattan",
    "--grid",
    "7x7",
    "--format",
    "csv",
    "--timeout",
    "5",
];

#[test]
fn killed_processes_lose_nothing() {
    let rounds: u32 = std::env::var("VEILPATH_KILL_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(5);
    let pair = Pair::new();
    for (file, seed) in [("a.csv", "1"), ("b.csv", "2")] {
        let call =
            format!("synth random --count 80 --length 80 --letters 49 --seed {seed} -o {file}");
        pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    }
    let compare = [&["compare", "a.csv", "b.csv"], &BOTH[..8]].concat();
    let expected = pair.folder.run(&compare).ok();
    assert_eq!(expected.lines().count(), 1 + 80 * 80);

    let start = Instant::now();
    for ran in pair.run(&BOTH, &[], &[]) {
        assert_eq!(ran.ok(), expected);
    }
    let whole = start.elapsed();

    let seed = rand::rng().random();
    let mut numbers = ChaCha20Rng::seed_from_u64(seed);
    eprintln!("seed {seed}, an undisturbed run takes {whole:?}");
    let (mut resumed, mut halfway) = (0, 0);
    for round in 0..rounds {
        pair.forget();
        for file in ["host.out", "join.out"] {
            let _ = std::fs::remove_file(pair.folder.path().join(file));
        }
        let mut kills = 0;
        loop {
            let mut host = pair.host(&[&BOTH[..], &["-o", "host.out"]].concat());
            let address = host.address.clone().unwrap();
            let mut join = pair.join(&address, &[&BOTH[..], &["-o", "join.out"]].concat());
            if kills < 3 {
                let moment = whole.mul_f64(numbers.random_range(0.0..1.0));
                std::thread::sleep(moment);
                kills += 1;
                let other = if numbers.random_bool(0.5) {
                    host.kill();
                    &mut join
                } else {
                    join.kill();
                    &mut host
                };
                // The survivor notices by itself, unless it never met the other.
                let ended = other.ends_within(Duration::from_millis(500))
                    || other.has_met() && other.ends_within(Duration::from_secs(20));
                assert!(ended || !other.has_met(), "a survivor hangs, seed {seed}");
                for file in ["host.out", "join.out"] {
                    // Whole, or not there.
                    if let Ok(text) = std::fs::read_to_string(pair.folder.path().join(file)) {
                        assert_eq!(text, expected, "round {round}, seed {seed}");
                    }
                }
                continue;
            }
            let ended = [host.end(), join.end()];
            let events = ended[0].stderr.lines();
            let agreed = events.filter_map(|line| serde_json::from_str::<Value>(line).ok());
            let mut known = agreed.filter_map(|event| event["pairs_from_journal"].as_u64());
            let known = known.next_back().unwrap_or(0);
            resumed += u32::from(known > 0);
            halfway += u32::from(known > 0 && known < 80 * 80);
            for ran in ended {
                assert_eq!(ran.ok(), expected, "round {round}, seed {seed}");
            }
            break;
        }
        for file in ["host.out", "join.out"] {
            assert_eq!(
                pair.folder.read(file),
                expected,
                "round {round}, seed {seed}"
            );
        }
    }
    eprintln!("{resumed} of {rounds} rounds went on from a journal, {halfway} from the middle");
}

//! Either process is killed at random moments; running both commands again gives the same files.
//!
//! `VEILPATH_KILL_ROUNDS` sets the number of rounds for each engine; a round has three kills. `VEILPATH_FAULTS=long` sets twelve
//! rounds.
#![allow(clippy::unwrap_used, clippy::print_stderr)] // a test's helpers may fail the test

use crate::common::pair;

use crate::common::RunOutput;
use pair::Pair;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde_json::Value;
use std::cell::RefCell;
use std::time::{Duration, Instant};
use veilpath_session::StateDir;

/// The arguments of both sides, except for their files.
type Flags<'a> = &'a str;

const PLAIN: Flags<'_> =
    "--metric needleman-wunsch --substitution manhattan --grid 7x7 --format csv --timeout 5";

const PAILLIER: Flags<'_> =
    "--engine paillier --key-bits 512 --allow-weak-key --batch 8 --format csv --timeout 5";

const GARBLED: Flags<'_> = "--engine garbled --format csv --timeout 5";

const SHARES: Flags<'_> = "--engine shares --format csv --timeout 5";

#[test]
fn killed_processes_lose_nothing() {
    let compare = PLAIN.replace(" --timeout 5", "");
    kill("80", "80", PLAIN, &compare, rounds(2));
}

#[test]
fn killed_processes_lose_no_bits() {
    let flags = format!("{PLAIN} --reveal threshold:200");
    kill(
        "80",
        "80",
        &flags,
        &flags.replace(" --timeout 5", ""),
        rounds(1),
    );
}

/// Scores arrive slowly, one by one: kills fall between them.
#[test]
fn killed_processes_of_the_paillier_engine_lose_nothing() {
    kill("6", "10", PAILLIER, "--format csv", rounds(1));
}

/// Scores arrive in batches: kills fall between and within them.
#[test]
fn killed_processes_of_the_garbled_engine_lose_nothing() {
    kill("25", "40", GARBLED, "--format csv", rounds(1));
}

/// Many comparisons finish at once, in portions.
#[test]
fn killed_processes_of_the_shares_engine_lose_nothing() {
    kill("66", "15", SHARES, "--format csv", rounds(1));
}

#[test]
fn killed_processes_open_one_group_answer() {
    kill_answer("test:groups,300", "garbled", rounds(1));
    kill_answer("groups", "shares", rounds(1));
    kill_answer("test:groups,300,published", "shares", rounds(1));
}

fn rounds(few: u32) -> u32 {
    let asked = std::env::var("VEILPATH_KILL_ROUNDS").ok();
    let long = std::env::var("VEILPATH_FAULTS").is_ok_and(|value| value == "long");
    let usual = if long { 12 } else { few };
    asked
        .and_then(|rounds| rounds.parse().ok())
        .unwrap_or(usual)
}

fn kill(count: &str, length: &str, flags: Flags<'_>, compare: &str, rounds: u32) {
    let pair = Pair::new();
    for (file, seed) in [("a.csv", "1"), ("b.csv", "2")] {
        let call = format!(
            "synth random --count {count} --length {length} --letters 49 --seed {seed} -o {file}"
        );
        pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    }
    let call: Vec<&str> = ["compare", "a.csv", "b.csv"]
        .into_iter()
        .chain(compare.split(' '))
        .collect();
    let expected = pair.folder.run(&call).ok();
    let pairs = expected.lines().count() as u64 - 1;
    let both: Vec<&str> = flags.split(' ').collect();

    let start = Instant::now();
    for output in pair.run(&both, &[], &[]) {
        assert_eq!(output.ok(), expected);
    }
    let whole = start.elapsed();
    let once = counted(&pair);

    let (seed, mut rng) = seeded_rng(whole);
    let (mut resumed, mut halfway) = (0, 0);
    for round in 0..rounds {
        pair.forget();
        remove_outputs(&pair);
        let outputs = interrupted(&pair, &both, whole, &mut rng, &|text| {
            assert_eq!(text, expected, "round {round}, seed {seed}");
        });
        let events = outputs[0].stderr.lines();
        let events = events.filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let mut known = events.filter_map(|event| event["pairs_from_journal"].as_u64());
        let known = known.next().unwrap_or(0);
        resumed += u32::from(known > 0);
        halfway += u32::from(known > 0 && known < pairs);
        for output in outputs {
            output.ok();
        }
        for file in OUTPUTS {
            let text = pair.folder.read(file);
            assert_eq!(text, expected, "round {round}, seed {seed}");
        }
        let after = counted(&pair);
        // Both sides of `plain`, and the joining side of `paillier`, count every start.
        let counts_starts = [
            flags.starts_with(PLAIN),
            !flags.contains("garbled") && !flags.contains("shares"),
        ];
        for (side, starts) in counts_starts.into_iter().enumerate() {
            let is_right = match starts {
                true => after[side] >= once[side],
                false => after[side] == once[side],
            };
            assert!(is_right, "{after:?}, {once:?}, round {round}, seed {seed}");
        }
    }
    eprintln!(
        "killed processes: {} cases; {resumed} of {rounds} rounds resumed from a journal, {halfway} from the middle",
        3 * rounds
    );
}

/// The most comparisons of a scanpath that each side has counted.
fn counted(pair: &Pair) -> [u64; 2] {
    ["host", "join"].map(|name| {
        let peers = StateDir::at(pair.folder.path().join(name)).peers().unwrap();
        let counts = peers.entries.iter().map(|peer| peer.max_comparisons);
        counts.max().unwrap_or(0)
    })
}

/// After any kill there is one answer, with the coins that were agreed on first, and it counts once.
fn kill_answer(question: &str, engine: &str, rounds: u32) {
    let pair = Pair::new();
    for call in [
        "synth lifelike --groups patients=12,controls=12 --stimuli 1 --seconds 4 --seed 7 -o all.csv",
        "split all.csv --seed 1 --first a.csv --second b.csv",
    ] {
        pair.folder.run(&call.split(' ').collect::<Vec<_>>()).ok();
    }
    let flags = format!("--engine {engine} --reveal {question} --format json --timeout 5");
    let both: Vec<&str> = flags.split(' ').collect();
    let start = Instant::now();
    for output in pair.run(&both, &[], &[]) {
        output.ok();
    }
    let whole = start.elapsed();
    let (seed, mut rng) = seeded_rng(whole);
    for round in 0..rounds {
        let case = format!("{question}, round {round}, seed {seed}");
        pair.forget();
        remove_outputs(&pair);
        let early = RefCell::new(Vec::new());
        let outputs = interrupted(&pair, &both, whole, &mut rng, &|text| {
            early.borrow_mut().push(answer(text));
        });
        for output in outputs {
            // The answer is counted once, no matter how often it was interrupted. Means with two groups of the partner
            // count as two numbers, and so does a test.
            let two = ["groups", "test"].iter().any(|it| question.starts_with(it));
            let cost = 1 + u32::from(two);
            let counted = format!("\"answers\":{cost},\"answers_per_partner\"");
            assert!(
                output.stderr.contains(&counted),
                "{case}: {}",
                output.stderr
            );
            output.ok();
        }
        let [host, join] = OUTPUTS.map(|file| answer(&pair.folder.read(file)));
        assert_eq!(host, join, "{case}");
        for early in early.into_inner() {
            assert_eq!(early, host, "{case}");
        }
        let coins = host["coins"].as_str().map(|it| format!(" --coins {it}"));
        let clear = format!(
            "compare a.csv b.csv --reveal {question} --format json{}",
            coins.unwrap_or_default()
        );
        let clear = pair.folder.run(&clear.split(' ').collect::<Vec<_>>()).ok();
        assert_eq!(answer(&clear), host, "{case}");
    }
}

fn answer(result: &str) -> Value {
    let result: Value = serde_json::from_str(result).unwrap();
    result["answers"][0].clone()
}

const OUTPUTS: [&str; 2] = ["host.out", "join.out"];

fn remove_outputs(pair: &Pair) {
    for file in OUTPUTS {
        let _ = std::fs::remove_file(pair.folder.path().join(file));
    }
}

/// A random number generator and its seed.
fn seeded_rng(whole: Duration) -> (u64, ChaCha20Rng) {
    let given = std::env::var("VEILPATH_FAULTS_SEED").ok();
    let seed = given
        .and_then(|seed| seed.parse().ok())
        .unwrap_or_else(|| rand::rng().random());
    eprintln!("VEILPATH_FAULTS_SEED={seed}, an undisturbed run takes {whole:?}");
    (seed, ChaCha20Rng::seed_from_u64(seed))
}

/// Runs both sides four times, and kills one of them in the first three runs. `check` gets every output file that exists after
/// a kill.
fn interrupted(
    pair: &Pair,
    both: &[&str],
    whole: Duration,
    rng: &mut ChaCha20Rng,
    check: &dyn Fn(&str),
) -> [RunOutput; 2] {
    let run = || {
        let host = pair.host(&[both, &["-o", OUTPUTS[0]]].concat());
        let address = host.address.clone().unwrap();
        let join = pair.join(&address, &[both, &["-o", OUTPUTS[1]]].concat());
        (host, join)
    };
    for _ in 0..3 {
        let (mut host, mut join) = run();
        std::thread::sleep(whole.mul_f64(rng.random_range(0.0..1.0)));
        let survivor = if rng.random_bool(0.5) {
            host.kill();
            &mut join
        } else {
            join.kill();
            &mut host
        };
        // The survivor notices, unless it never connected to the other side.
        let has_ended = survivor.ends_within(Duration::from_millis(500))
            || survivor.has_connected() && survivor.ends_within(Duration::from_secs(20));
        assert!(has_ended || !survivor.has_connected(), "it hangs");
        for file in OUTPUTS {
            // The file is either complete or missing.
            if let Ok(text) = std::fs::read_to_string(pair.folder.path().join(file)) {
                check(&text);
            }
        }
    }
    let (host, join) = run();
    [host.end(), join.end()]
}

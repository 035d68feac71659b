//! `veilpath bench cell`: what one matrix cell costs when many comparisons are in flight.

use super::{Format, print, seconds};
use crate::engine_args::{EngineName, PaillierArgs};
use crate::failure::Failure;
use clap::Args;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric, Scanpath};
#[cfg(feature = "gmp")]
use veilpath_paillier::bench::gmp_powm_seconds;
use veilpath_protocol::{Engine, Observer, Outcome, PairRule, Spec};
use veilpath_session::compare_on_loopback;

const EXAMPLES: &str = "\
Examples:
  veilpath bench cell --key-bits 512 --allow-weak-key --seconds 0.2
  veilpath bench cell --engine paillier --key-bits 512 --allow-weak-key --seconds 0.2 --format json

Both parties run on this machine, share its cores and talk over TLS. Seconds per cell are time on the clock from the first finished \
batch to the last, so keys, tables and Alice's substitution costs are not in it; those of a party are the time that its \
work took on all cores together. Bytes are all others, in both directions.";

/// The length of scanpaths: short ones, so that many are in flight even in a short run.
const LENGTH: usize = 16;
/// Letters, as in the paper.
const LETTERS: u32 = 52;

/// The arguments of `bench cell`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CellArgs {
    /// The engine to measure
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "paillier")]
    engine: EngineName,

    #[command(flatten)]
    paillier: PaillierArgs,

    /// About how long to measure
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: f64,

    /// Measure one GMP powm with modulus of twice and exponent of once the key's length in the same run
    #[cfg(feature = "gmp")]
    #[arg(long)]
    gmp: bool,

    /// How to write the numbers
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// Measures and prints.
pub(crate) fn run(args: &CellArgs) -> Result<(), Failure> {
    if args.engine != EngineName::Paillier {
        return Err(Failure::input(
            "only --engine paillier is measured cell by cell; `cargo bench` measures the comparison in the clear",
        ));
    }
    let options = args.paillier.options()?;
    let measured = measure_for(Engine::Paillier(options), args.seconds)?;
    let key_bits = options.key_size().bits();
    #[cfg_attr(not(feature = "gmp"), allow(unused_mut))]
    let mut report = json!({
        "engine": "paillier",
        "key_bits": key_bits,
        "cells": measured.cells,
        "seconds": measured.seconds_per_cell * measured.cells as f64,
        "seconds_per_cell": measured.seconds_per_cell,
        "alice_seconds_per_cell": measured.alice,
        "bob_seconds_per_cell": measured.bob,
        "bytes_per_cell": measured.bytes,
    });
    #[cfg(feature = "gmp")]
    if args.gmp {
        let powm = gmp_powm_seconds(options.key_size(), Duration::from_secs(1))
            .map_err(|error| Failure::input(error.to_string()))?;
        report["gmp_powm_seconds"] = json!(powm);
        report["ratio"] = json!(measured.seconds_per_cell / powm);
    }
    if args.format == Format::Json {
        return print(&report.to_string());
    }
    let lines: Vec<String> = report
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| format!("{name:<24} {value}"))
        .collect();
    print(&lines.join("\n"))
}

/// What a cell costs.
pub(super) struct Measured {
    cells: u64,
    pub(super) seconds_per_cell: f64,
    pub(super) alice: f64,
    pub(super) bob: f64,
    pub(super) bytes: f64,
}

/// Measures for about so many seconds.
pub(super) fn measure_for(engine: Engine, seconds: f64) -> Result<Measured, Failure> {
    // A short run tells how many comparisons fill the time.
    let trial = measure(engine, 4)?;
    let cells = seconds / trial.seconds_per_cell.max(1e-9);
    let comparisons = (cells / (LENGTH * LENGTH) as f64).ceil().clamp(8.0, 1e5);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
    measure(engine, comparisons as usize)
}

fn measure(engine: Engine, comparisons: usize) -> Result<Measured, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let alphabet = Alphabet::letters(LETTERS).map_err(|error| Failure::input(error.to_string()))?;
    let (a, b) = (
        cohort(alphabet, 1, &mut rng),
        cohort(alphabet, comparisons, &mut rng),
    );
    let metric = Metric::Levenshtein;
    let spec = Spec::new(engine, metric, PairRule::All, &a, &b)?;
    let (alice, bob) = (Watch::default(), Watch::default());
    let outcome: Outcome = compare_on_loopback(&spec, None, [&a, &b], [&alice, &bob])?;
    let (cells, time) = bob.span();
    let cost = outcome.cost;
    // Everything but Alice's substitution costs, which are shared by all comparisons.
    let rows = match engine {
        Engine::Paillier(options) => {
            LENGTH * LETTERS as usize * options.key_size().ciphertext_bytes()
        }
        _ => 0,
    };
    let bytes = (cost.bytes_sent + cost.bytes_received).saturating_sub(rows as u64);
    let each = |nanoseconds: u64| nanoseconds as f64 / 1e9 / cells.max(1) as f64;
    Ok(Measured {
        cells,
        seconds_per_cell: time.as_secs_f64() / cells.max(1) as f64,
        alice: each(alice.busy_after_first_cells()),
        bob: each(bob.busy_after_first_cells()),
        bytes: bytes as f64 / cost.cells.max(1) as f64,
    })
}

fn cohort(alphabet: Alphabet, count: usize, rng: &mut ChaCha20Rng) -> Cohort {
    let entries = (0..count).map(|index| Entry {
        participant: index.to_string(),
        stimulus: None,
        scanpath: Scanpath::new(
            (0..LENGTH)
                .map(|_| rng.random_range(0..LETTERS as u16))
                .collect(),
        ),
    });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        entries: entries.collect(),
    }
}

/// Times one party.
#[derive(Default)]
struct Watch {
    busy: AtomicU64,
    seen: Mutex<Option<Seen>>,
}

struct Seen {
    first: Instant,
    last: Instant,
    /// Cells after the first batch.
    cells: u64,
    busy_before: u64,
}

impl Watch {
    /// Cells after the first batch, and the time they took.
    fn span(&self) -> (u64, Duration) {
        self.with(|seen| (seen.cells, seen.last - seen.first))
            .unwrap_or_default()
    }

    fn busy_after_first_cells(&self) -> u64 {
        let before = self.with(|seen| seen.busy_before).unwrap_or(0);
        self.busy.load(Ordering::Relaxed).saturating_sub(before)
    }

    fn with<T>(&self, read: impl FnOnce(&Seen) -> T) -> Option<T> {
        let seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        seen.as_ref().map(read)
    }
}

impl Observer for Watch {
    fn cells(&self, finished: u64) {
        if finished == 0 {
            return;
        }
        let now = Instant::now();
        let busy = self.busy.load(Ordering::Relaxed);
        let mut seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        match &mut *seen {
            Some(seen) => {
                seen.last = now;
                seen.cells += finished;
            }
            None => {
                *seen = Some(Seen {
                    first: now,
                    last: now,
                    cells: 0,
                    busy_before: busy,
                });
            }
        }
    }

    fn work(&self, work: &mut dyn FnMut()) {
        let start = time_on_core().map_or_else(|| Err(Instant::now()), Ok);
        work();
        let spent = match start {
            Ok(start) => time_on_core().unwrap_or(start).saturating_sub(start),
            Err(start) => start.elapsed(),
        };
        let spent = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
        self.busy.fetch_add(spent, Ordering::Relaxed);
    }
}

/// The time that this thread has spent on a core, where the system tells.
fn time_on_core() -> Option<Duration> {
    // The account is brought up to date only when the scheduler runs.
    std::thread::yield_now();
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = statistics.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

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
use veilpath_metrics::{Alphabet, Cohort, Comparison, Encoding, Entry, Metric, Scanpath};
#[cfg(feature = "gmp")]
use veilpath_paillier::bench::gmp_powm_seconds;
use veilpath_protocol::{
    Engine, Observer, Outcome, PairRule, Spec, and_gates_per_cell, compare_here_observed,
};

const EXAMPLES: &str = "\
Examples:
  veilpath bench cell --key-bits 512 --allow-weak-key --seconds 0.2
  veilpath bench cell --engine paillier --key-bits 512 --allow-weak-key --seconds 0.2 --format json
  veilpath bench cell --engine garbled --seconds 0.2 --format json

Both parties run on this machine and share its cores. Seconds per cell are time on the clock from the first finished \
batch to the last, so keys, tables and Alice's substitution costs are not in it; those of a party are the time that its \
work took on all cores together. Bytes are those of cells and results, in both directions; with garbled circuits, also those \
of starting and of Bob's letters. There is no network and no TLS in between.";

/// Letters, as in the paper.
const LETTERS: u32 = 52;
/// The paper's simplest metric.
const METRIC: Metric = Metric::Levenshtein;

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
    if args.engine == EngineName::Plain {
        return Err(Failure::input(
            "only --engine paillier and --engine garbled are measured cell by cell; `cargo bench` measures the comparison in the clear",
        ));
    }
    let engine = args.engine.with(&args.paillier)?;
    // A short run tells how many comparisons fill the time.
    let trial = measure(engine, Shape::trial(engine))?;
    let cells = args.seconds / trial.seconds_per_cell;
    let measured = measure(engine, Shape::of(engine, cells))?;
    let mut report = json!({ "engine": engine.name() });
    match engine {
        Engine::Paillier(options) => report["key_bits"] = json!(options.key_size().bits()),
        _ => {
            let comparison = Comparison::new(METRIC, alphabet()?)?;
            let gates = and_gates_per_cell(&comparison, Shape::trial(engine).length);
            report["and_gates_per_cell"] = json!(gates);
        }
    }
    report["cells"] = json!(measured.cells);
    report["seconds"] = json!(measured.seconds_per_cell * measured.cells as f64);
    report["seconds_per_cell"] = json!(measured.seconds_per_cell);
    report["alice_seconds_per_cell"] = json!(measured.alice);
    report["bob_seconds_per_cell"] = json!(measured.bob);
    report["bytes_per_cell"] = json!(measured.bytes);
    #[cfg(feature = "gmp")]
    if let (true, Engine::Paillier(options)) = (args.gmp, engine) {
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

/// What is compared.
#[derive(Clone, Copy)]
struct Shape {
    alices: usize,
    bobs: usize,
    length: usize,
}

impl Shape {
    /// A short run.
    fn trial(engine: Engine) -> Self {
        match engine {
            Engine::Paillier(_) => Self {
                alices: 1,
                bobs: 4,
                length: 16,
            },
            // As long as the scanpaths of the paper's data, and enough of them that starting is soon over.
            _ => Self {
                alices: 20,
                bobs: 20,
                length: 24,
            },
        }
    }

    /// About so many cells.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
    fn of(engine: Engine, cells: f64) -> Self {
        let trial = Self::trial(engine);
        let comparisons = (cells / (trial.length * trial.length) as f64).ceil();
        match engine {
            Engine::Paillier(_) => Self {
                bobs: comparisons.clamp(8.0, 1e6) as usize,
                ..trial
            },
            _ => {
                let side = comparisons.sqrt().clamp(20.0, 1e3) as usize;
                Self {
                    alices: side,
                    bobs: side,
                    ..trial
                }
            }
        }
    }
}

struct Measured {
    cells: u64,
    seconds_per_cell: f64,
    alice: f64,
    bob: f64,
    bytes: f64,
}

fn measure(engine: Engine, shape: Shape) -> Result<Measured, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let alphabet = alphabet()?;
    let (a, b) = (
        cohort(alphabet, shape.alices, shape.length, &mut rng),
        cohort(alphabet, shape.bobs, shape.length, &mut rng),
    );
    let spec = Spec::new(engine, METRIC, PairRule::All, &a, &b)?;
    let (alice, bob) = (Watch::default(), Watch::default());
    let outcome: Outcome = compare_here_observed(spec, &a, &b, &alice, &bob)?;
    let (cells, time) = bob.span();
    let cost = outcome.cost;
    // Everything but Alice's encrypted substitution costs, which are shared by all comparisons.
    let shared = match engine {
        Engine::Paillier(options) => {
            shape.length * LETTERS as usize * options.key_size().ciphertext_bytes()
        }
        _ => 0,
    };
    let bytes = (cost.bytes_sent + cost.bytes_received).saturating_sub(shared as u64);
    let each = |nanoseconds: u64| nanoseconds as f64 / 1e9 / cells.max(1) as f64;
    Ok(Measured {
        cells,
        seconds_per_cell: time.as_secs_f64() / cells.max(1) as f64,
        alice: each(alice.busy_after_first_cells()),
        bob: each(bob.busy_after_first_cells()),
        bytes: bytes as f64 / cost.cells.max(1) as f64,
    })
}

fn alphabet() -> Result<Alphabet, Failure> {
    Alphabet::letters(LETTERS).map_err(|error| Failure::input(error.to_string()))
}

fn cohort(alphabet: Alphabet, count: usize, length: usize, rng: &mut ChaCha20Rng) -> Cohort {
    let entries = (0..count).map(|index| Entry {
        participant: index.to_string(),
        stimulus: None,
        scanpath: Scanpath::new(
            (0..length)
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

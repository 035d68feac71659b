//! `veilpath bench cell`: what one matrix cell costs when many comparisons are in flight.

use super::{Format, print, seconds};
use crate::engine_args::{EngineName, PaillierArgs};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use clap::{Args, ValueEnum};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde_json::json;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use veilpath_metrics::{Alphabet, Cohort, Comparison, Encoding, Entry, Metric, Scanpath};
#[cfg(feature = "gmp")]
use veilpath_paillier::bench::gmp_powm_seconds;
use veilpath_protocol::{Engine, Observer, Outcome, PairRule, Spec, and_gates_per_cell};
use veilpath_session::compare_on_loopback;

const EXAMPLES: &str = "\
Examples:
  veilpath bench cell --key-bits 512 --allow-weak-key --seconds 0.2
  veilpath bench cell --engine paillier --key-bits 512 --allow-weak-key --seconds 0.2 --format json
  veilpath bench cell --engine garbled --seconds 0.2 --format json
  veilpath bench cell --engine garbled --seconds 0.2 --metric scanmatch --grid 8x6

Both parties run on this machine, share its cores and talk over TLS. Seconds per cell are time on the clock while the \
middle half of all cells is filled: keys, tables and Alice's substitution costs are not in it, nor the start and the end, \
when few comparisons are in flight. The seconds of a party are the time that its work took on all cores together; cores \
used are those that the whole process kept busy meanwhile. The ratio is to one GMP powm; the ratio if alone is what it \
would be with all cores busy with nothing else. Bytes are those of the whole run in both directions, but for Alice's \
encrypted substitution costs.";

/// The fewest comparisons in a measurement of the engine paillier: so many keep a few batches in flight.
const MANY_COMPARISONS: f64 = 16.0;
/// Letters, as in the paper, where there is no grid.
const LETTERS: u32 = 52;

/// The arguments of `bench cell`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CellArgs {
    /// The engine to measure
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "paillier")]
    engine: MeasuredEngine,

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

    // Last, because its heading goes on to all that follows.
    #[command(flatten)]
    metric: MetricArgs,
}

/// What is computed in a cell.
#[derive(Clone)]
pub(super) struct Rule {
    metric: Metric,
    alphabet: Alphabet,
}

impl Rule {
    /// The paper's simplest metric, over its letters.
    pub(super) fn of_paper() -> Result<Self, Failure> {
        Ok(Self {
            metric: Metric::Levenshtein,
            alphabet: alphabet(LETTERS)?,
        })
    }

    fn asked(args: &MetricArgs) -> Result<Self, Failure> {
        let alphabet = alphabet(args.grid.map_or(LETTERS, |grid| grid.cells()))?;
        let metric = args.metric(&alphabet, None)?;
        Ok(Self { metric, alphabet })
    }
}

/// The engines that work cell by cell between two parties. `cargo bench` measures the comparison in the clear.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MeasuredEngine {
    /// The paper's protocol over Paillier encryption
    Paillier,
    /// Garbled circuits
    Garbled,
}

impl From<MeasuredEngine> for EngineName {
    fn from(engine: MeasuredEngine) -> Self {
        match engine {
            MeasuredEngine::Paillier => EngineName::Paillier,
            MeasuredEngine::Garbled => EngineName::Garbled,
        }
    }
}

/// Measures and prints.
pub(crate) fn run(args: &CellArgs) -> Result<(), Failure> {
    let engine = EngineName::from(args.engine).with(&args.paillier)?;
    let rule = Rule::asked(&args.metric)?;
    let measured = measure_for(engine, &rule, args.seconds)?;
    let mut report = json!({ "engine": engine.name(), "metric": rule.metric.name() });
    match engine {
        Engine::Paillier(options) => report["key_bits"] = json!(options.key_size().bits()),
        _ => {
            let comparison = Comparison::new(rule.metric.clone(), rule.alphabet)?;
            let gates = and_gates_per_cell(&comparison, Shape::trial(engine).length);
            report["and_gates_per_cell"] = json!(gates);
        }
    }
    report["cells"] = json!(measured.cells);
    report["seconds"] = json!(measured.seconds_per_cell * measured.cells as f64);
    report["cores_used"] = json!(measured.cores_used);
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
        let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
        let busy = measured.cores_used.map(|used| used / cores);
        report["ratio_if_alone"] = json!(busy.map(|busy| measured.seconds_per_cell * busy / powm));
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
                bobs: comparisons.clamp(MANY_COMPARISONS, 1e6) as usize,
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

/// What a cell costs.
pub(super) struct Measured {
    cells: u64,
    pub(super) seconds_per_cell: f64,
    cores_used: Option<f64>,
    pub(super) alice: f64,
    pub(super) bob: f64,
    pub(super) bytes: f64,
}

/// Measures for about so many seconds.
pub(super) fn measure_for(engine: Engine, rule: &Rule, seconds: f64) -> Result<Measured, Failure> {
    // A short run tells how many comparisons fill the time.
    let trial = measure_shortly(engine, rule)?;
    let cells = seconds / trial.seconds_per_cell;
    measure(engine, rule, Shape::of(engine, cells))
}

/// Measures a few comparisons: less than keeps all cores busy.
pub(super) fn measure_shortly(engine: Engine, rule: &Rule) -> Result<Measured, Failure> {
    measure(engine, rule, Shape::trial(engine))
}

fn measure(engine: Engine, rule: &Rule, shape: Shape) -> Result<Measured, Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let alphabet = rule.alphabet;
    let (a, b) = (
        cohort(alphabet, shape.alices, shape.length, &mut rng),
        cohort(alphabet, shape.bobs, shape.length, &mut rng),
    );
    let spec = Spec::new(engine, rule.metric.clone(), PairRule::All, &a, &b)?;
    let all_cells = (shape.alices * shape.bobs * shape.length * shape.length) as u64;
    let (alice, bob) = (Watch::new(all_cells), Watch::new(all_cells));
    let outcome: Outcome = compare_on_loopback(&spec, None, [&a, &b], [&alice, &bob])?;
    // Garbled circuits are made in pieces of many cells, whose time is known when they are done: the whole run counts.
    let own_work = |watch: &Watch, middle: &Span| match engine {
        Engine::Paillier(_) => middle.busy.as_secs_f64() / middle.cells as f64,
        _ => watch.now(0).busy.as_secs_f64() / all_cells as f64,
    };
    let (alices, bobs) = (alice.middle(), bob.middle());
    let (alice, bob) = (own_work(&alice, &alices), own_work(&bob, &bobs));
    let cost = outcome.cost;
    // Everything but Alice's encrypted substitution costs, which are shared by all comparisons.
    let shared = match engine {
        Engine::Paillier(options) => {
            shape.length * alphabet.size() as usize * options.key_size().ciphertext_bytes()
        }
        _ => 0,
    };
    let bytes = (cost.bytes_sent + cost.bytes_received).saturating_sub(shared as u64);
    Ok(Measured {
        cells: bobs.cells,
        seconds_per_cell: bobs.clock.as_secs_f64() / bobs.cells as f64,
        cores_used: bobs
            .process
            .map(|time| time.as_secs_f64() / bobs.clock.as_secs_f64()),
        alice,
        bob,
        bytes: bytes as f64 / cost.cells.max(1) as f64,
    })
}

fn alphabet(letters: u32) -> Result<Alphabet, Failure> {
    Alphabet::for_cells(letters).map_err(|error| Failure::input(error.to_string()))
}

fn cohort(alphabet: Alphabet, count: usize, length: usize, rng: &mut ChaCha20Rng) -> Cohort {
    let entries = (0..count).map(|index| Entry {
        participant: index.to_string(),
        stimulus: None,
        scanpath: Scanpath::new(
            (0..length)
                .map(|_| rng.random_range(0..alphabet.size()) as u16)
                .collect(),
        ),
    });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        entries: entries.collect(),
    }
}

/// Times one party while it fills the middle half of all cells.
struct Watch {
    all_cells: u64,
    start: Instant,
    busy: AtomicU64,
    seen: Mutex<Seen>,
}

#[derive(Default)]
struct Seen {
    cells: u64,
    /// When a quarter of the cells was filled, and three quarters.
    quarter: Option<Moment>,
    three_quarters: Option<Moment>,
}

#[derive(Clone, Copy)]
struct Moment {
    cells: u64,
    clock: Instant,
    busy: Duration,
    process: Option<Duration>,
}

/// The time between two moments, and the cells filled in it.
struct Span {
    cells: u64,
    clock: Duration,
    busy: Duration,
    process: Option<Duration>,
}

impl Watch {
    fn new(all_cells: u64) -> Self {
        Self {
            all_cells,
            start: Instant::now(),
            busy: AtomicU64::new(0),
            seen: Mutex::default(),
        }
    }

    fn middle(&self) -> Span {
        let seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        let now = self.now(seen.cells);
        let (first, last) = match (seen.quarter, seen.three_quarters) {
            (Some(first), Some(last)) if first.cells < last.cells => (first, last),
            // A run so short that all was told at once counts from its start.
            _ => {
                let start = Moment {
                    cells: 0,
                    clock: self.start,
                    busy: Duration::ZERO,
                    process: None,
                };
                (start, now)
            }
        };
        Span {
            cells: (last.cells - first.cells).max(1),
            clock: last.clock - first.clock,
            busy: last.busy.saturating_sub(first.busy),
            process: last
                .process
                .zip(first.process)
                .map(|(last, first)| last.saturating_sub(first)),
        }
    }

    fn now(&self, cells: u64) -> Moment {
        Moment {
            cells,
            clock: Instant::now(),
            busy: Duration::from_nanos(self.busy.load(Ordering::Relaxed)),
            process: process_time(),
        }
    }
}

impl Observer for Watch {
    fn cells(&self, finished: u64) {
        let mut seen = self.seen.lock().unwrap_or_else(|e| e.into_inner());
        seen.cells += finished;
        let now = self.now(seen.cells);
        if 4 * seen.cells >= self.all_cells {
            seen.quarter.get_or_insert(now);
        }
        if 4 * seen.cells >= 3 * self.all_cells {
            seen.three_quarters.get_or_insert(now);
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

/// The time that all threads of this process have spent on a core, where the system tells.
fn process_time() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program may hold anything; user and system time are the 12th and 13th field after it.
    let mut fields = statistics.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

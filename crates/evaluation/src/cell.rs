//! The cost of one matrix cell while many comparisons run at once.
//!
//! Both parties run on this machine, share its cores and talk over TLS. The time per cell is wall-clock time while the middle half
//! of all cells is filled: keys, tables and the host's substitution costs are not included, nor are the start and the end, when
//! few comparisons are running.

use crate::timer::{PartyTimer, Span};
use crate::{Error, PAPER_LETTERS, random_scanpath};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use std::fmt::Write as _;
#[cfg(feature = "gmp")]
use std::time::Duration;
use veilpath_metrics::{
    Alphabet, Cohort, Comparison, Encoding, Entry, Metric, Screen, ScreenUnit, ViewingGeometry,
};
use veilpath_protocol::{Engine, Outcome, PairRule, Spec, and_gates_per_cell};
use veilpath_session::compare_on_loopback;

/// The minimum number of comparisons for the `paillier` engine: enough to keep a few batches in flight.
const MIN_COMPARISONS: f64 = 16.0;

/// The settings of a measurement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engine, with its settings.
    pub engine: Engine,
    /// The metric and alphabet of a cell.
    pub scoring: Scoring,
    /// About how long to measure.
    pub seconds: f64,
    /// Whether to measure GMP's powm in the same run, for the `paillier` engine.
    #[cfg(feature = "gmp")]
    pub gmp: bool,
}

/// The computation of a cell: a metric over an alphabet.
#[derive(Clone, Debug)]
pub struct Scoring {
    /// The metric.
    pub metric: Metric,
    /// The letters of both sides.
    pub alphabet: Alphabet,
}

impl Scoring {
    /// A metric over an alphabet, or over the letters to which the metric rounds fixations.
    pub fn new(metric: Metric, alphabet: Alphabet) -> Result<Self, Error> {
        let alphabet = match metric.quantisation() {
            None => alphabet,
            Some(rounded) => rounded.alphabet()?,
        };
        Ok(Self { metric, alphabet })
    }

    /// The paper's simplest metric over its 52 letters.
    pub fn paper() -> Result<Self, Error> {
        Ok(Self {
            metric: Metric::Levenshtein,
            alphabet: alphabet(None)?,
        })
    }
}

/// An alphabet of this size; the default is the paper's size.
pub fn alphabet(letters: Option<u32>) -> Result<Alphabet, Error> {
    Ok(Alphabet::for_cells(letters.unwrap_or(PAPER_LETTERS))?)
}

/// The screen of synthetic fixations: 1920 × 1080 pixels, 53 × 30 cm, 60 cm away.
pub fn screen() -> Result<Screen, Error> {
    let viewing = ViewingGeometry {
        width_cm: 53.0,
        height_cm: 30.0,
        distance_cm: 60.0,
    };
    let screen = Screen::new(ScreenUnit::Pixels, (1920.0, 1080.0), Some(viewing));
    Ok(screen?)
}

/// The result, in seconds and bytes. The field names are those of the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The engine's name.
    pub engine: &'static str,
    /// The metric's name.
    pub metric: &'static str,
    /// The size of the key, for the `paillier` engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_bits: Option<u32>,
    /// AND gates in the circuit of one cell, for garbled circuits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub and_gates_per_cell: Option<u64>,
    /// Costs of a cell.
    #[serde(flatten)]
    pub cost: CellCost,
    /// The comparison with GMP, if it was requested.
    #[serde(flatten)]
    pub gmp: Option<Gmp>,
}

/// The cost of a cell, in seconds and bytes.
#[derive(Clone, Debug, Serialize)]
pub struct CellCost {
    /// The number of timed cells.
    pub cells: u64,
    /// The time for all of them.
    pub seconds: f64,
    /// Cores that the process kept busy on average; `None` where the system does not report it.
    pub cores_used: Option<f64>,
    /// Wall-clock time.
    pub seconds_per_cell: f64,
    /// The host's own work, on all cores together.
    pub host_seconds_per_cell: f64,
    /// The joining side's own work, on all cores together.
    pub join_seconds_per_cell: f64,
    /// Bytes of the whole run in both directions, except the host's encrypted substitution costs.
    pub bytes_per_cell: f64,
}

/// One GMP powm with a modulus of twice the key's length and an exponent of the key's length, measured in the same run.
#[derive(Clone, Debug, Serialize)]
pub struct Gmp {
    /// The time of the powm.
    pub gmp_powm_seconds: f64,
    /// The time of a cell, divided by that of the powm.
    pub ratio: f64,
    /// The ratio on an otherwise idle machine.
    pub ratio_if_alone: Option<f64>,
}

/// Measures one engine.
pub fn run(options: &Options) -> Result<Report, Error> {
    let (engine, scoring) = (options.engine, &options.scoring);
    let cost = measure_for(engine, scoring, options.seconds)?;
    let (key_bits, and_gates_per_cell) = match engine {
        Engine::Paillier(options) => (Some(options.key_size().bits()), None),
        Engine::Garbled => {
            let comparison = Comparison::new(scoring.metric.clone(), scoring.alphabet)?;
            let gates =
                and_gates_per_cell(&comparison, Shape::trial(engine, options.seconds).length);
            (None, Some(gates))
        }
        _ => (None, None),
    };
    #[cfg(feature = "gmp")]
    let gmp = compare_with_gmp(options, &cost)?;
    #[cfg(not(feature = "gmp"))]
    let gmp = None;
    Ok(Report {
        engine: engine.name(),
        metric: scoring.metric.name(),
        key_bits,
        and_gates_per_cell,
        cost,
        gmp,
    })
}

#[cfg(feature = "gmp")]
fn compare_with_gmp(options: &Options, cost: &CellCost) -> Result<Option<Gmp>, Error> {
    let (true, Engine::Paillier(paillier)) = (options.gmp, options.engine) else {
        return Ok(None);
    };
    let size = paillier.key_size();
    let powm = veilpath_paillier::bench::gmp_powm_seconds(size, Duration::from_secs(1))?;
    let ratio = cost.seconds_per_cell / powm;
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    Ok(Some(Gmp {
        gmp_powm_seconds: powm,
        ratio,
        ratio_if_alone: cost.cores_used.map(|used| ratio * used / cores),
    }))
}

impl Report {
    /// The report as one JSON object.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The report as human-readable text.
    pub fn table(&self) -> String {
        let mut text = String::new();
        let mut line = |name: &str, value: String| {
            let _ = writeln!(text, "{name:<18} {value}");
        };
        let cost = &self.cost;
        line("engine", self.engine.into());
        line("metric", self.metric.into());
        if let Some(bits) = self.key_bits {
            line("key", format!("{bits} bits"));
        }
        if let Some(gates) = self.and_gates_per_cell {
            line("circuit of a cell", format!("{gates} AND gates"));
        }
        line("cells", cost.cells.to_string());
        line("time", seconds(cost.seconds));
        if let Some(cores) = cost.cores_used {
            line("cores used", format!("{cores:.2}"));
        }
        line("time per cell", seconds(cost.seconds_per_cell));
        line("  host", seconds(cost.host_seconds_per_cell));
        line("  join", seconds(cost.join_seconds_per_cell));
        line(
            "traffic per cell",
            format!("{:.1} bytes", cost.bytes_per_cell),
        );
        if let Some(gmp) = &self.gmp {
            line("one GMP powm", seconds(gmp.gmp_powm_seconds));
            line("ratio", format!("{:.3}", gmp.ratio));
            if let Some(ratio) = gmp.ratio_if_alone {
                line("ratio if alone", format!("{ratio:.3}"));
            }
        }
        text
    }
}

/// The size of a measurement.
#[derive(Clone, Copy)]
struct Shape {
    /// The number of scanpaths of the host, and of the joining side.
    scanpaths: [usize; 2],
    length: usize,
}

impl Shape {
    /// A short trial run before a run of this many seconds.
    fn trial(engine: Engine, seconds: f64) -> Self {
        match engine {
            Engine::Paillier(_) => Self {
                scanpaths: [1, 4],
                length: 16,
            },
            // Scanpaths as long as those in the paper's data and, if there is time, enough of them that the start does not matter.
            _ => Self {
                scanpaths: [if seconds < 0.5 { 4 } else { 20 }; 2],
                length: 24,
            },
        }
    }

    /// A run of about this many seconds and cells.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
    fn of(engine: Engine, seconds: f64, cells: f64) -> Self {
        let Self { scanpaths, length } = Self::trial(engine, seconds);
        let comparisons = (cells / (length * length) as f64).ceil();
        let scanpaths = match engine {
            Engine::Paillier(_) => [1, comparisons.clamp(MIN_COMPARISONS, 1e6) as usize],
            _ => [comparisons.sqrt().clamp(scanpaths[0] as f64, 1e3) as usize; 2],
        };
        Self { scanpaths, length }
    }
}

/// Measures for about this long.
pub(crate) fn measure_for(
    engine: Engine,
    scoring: &Scoring,
    seconds: f64,
) -> Result<CellCost, Error> {
    // A trial run shows how many comparisons fill the time.
    let trial = measure(engine, scoring, Shape::trial(engine, seconds))?;
    let cores = std::thread::available_parallelism().map_or(1.0, |cores| cores.get() as f64);
    let cells = cells_in(seconds, &trial, cores);
    measure(engine, scoring, Shape::of(engine, seconds, cells))
}

/// About how many cells take this long. If the trial's comparisons all fit in one chunk, its middle half takes almost no time, so
/// each party's work in the whole run counts, too.
fn cells_in(seconds: f64, trial: &CellCost, cores: f64) -> f64 {
    let own_work = f64::max(trial.host_seconds_per_cell, trial.join_seconds_per_cell);
    seconds / trial.seconds_per_cell.max(own_work / cores)
}

/// Measures a few comparisons, which do not keep all cores busy.
pub(crate) fn measure_briefly(engine: Engine, scoring: &Scoring) -> Result<CellCost, Error> {
    measure(engine, scoring, Shape::trial(engine, 1.0))
}

fn measure(engine: Engine, scoring: &Scoring, shape: Shape) -> Result<CellCost, Error> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let alphabet = scoring.alphabet;
    let [a, b] = shape
        .scanpaths
        .map(|count| cohort(alphabet, count, shape.length, &mut rng));
    let spec = Spec::new(engine, scoring.metric.clone(), PairRule::All, &a, &b)?;
    let comparisons: usize = shape.scanpaths.iter().product();
    let all_cells = (comparisons * shape.length * shape.length) as u64;
    let (host, join) = (PartyTimer::new(all_cells), PartyTimer::new(all_cells));
    let outcome: Outcome = compare_on_loopback(&spec, None, [&a, &b], [&host, &join])?;
    // Garbled circuits and shares are computed in chunks of many cells, and timed only when a chunk is done. Therefore the whole
    // run counts.
    let own_work = |timer: &PartyTimer, middle: &Span| match engine {
        Engine::Paillier(_) => middle.busy.as_secs_f64() / middle.cells as f64,
        _ => timer.busy().as_secs_f64() / all_cells as f64,
    };
    let host_seconds_per_cell = own_work(&host, &host.middle());
    let middle = join.middle();
    let join_seconds_per_cell = own_work(&join, &middle);
    let cost = outcome.cost;
    // The host's encrypted substitution costs are sent once for all comparisons.
    let shared = match engine {
        Engine::Paillier(options) => {
            shape.length * alphabet.size() as usize * options.key_size().ciphertext_bytes()
        }
        _ => 0,
    };
    let bytes = (cost.bytes_sent + cost.bytes_received).saturating_sub(shared as u64);
    let seconds = middle.clock.as_secs_f64();
    Ok(CellCost {
        cells: middle.cells,
        seconds,
        cores_used: middle.process.map(|time| time.as_secs_f64() / seconds),
        seconds_per_cell: seconds / middle.cells as f64,
        host_seconds_per_cell,
        join_seconds_per_cell,
        bytes_per_cell: bytes as f64 / cost.cells.max(1) as f64,
    })
}

/// A cohort of random scanpaths of the same length.
pub(crate) fn cohort(
    alphabet: Alphabet,
    count: usize,
    length: usize,
    rng: &mut ChaCha20Rng,
) -> Cohort {
    let entries = (0..count).map(|index| Entry {
        participant: index.to_string(),
        group: None,
        stimulus: None,
        scanpath: random_scanpath(alphabet, length, rng),
        fixations: None,
    });
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: entries.collect(),
    }
}

/// A time in a suitable unit, with more digits than `units::seconds` shows: a cell takes far less than a millisecond.
fn seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 1e-6 => (s * 1e9, "ns"),
        s if s < 1e-3 => (s * 1e6, "µs"),
        s if s < 1.0 => (s * 1e3, "ms"),
        s => (s, "s"),
    };
    format!("{value:.3} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_in_one_chunk_is_not_followed_by_a_run_without_end() {
        let trial = |seconds_per_cell: f64| CellCost {
            cells: 100_000,
            seconds: 1e5 * seconds_per_cell,
            cores_used: None,
            seconds_per_cell,
            host_seconds_per_cell: 2e-7,
            join_seconds_per_cell: 4e-7,
            bytes_per_cell: 17.0,
        };
        let cells = |seconds_per_cell| cells_in(2.0, &trial(seconds_per_cell), 2.0).round();
        assert_eq!(cells(1e-9), 1e7);
        assert_eq!(cells(1e-6), 2e6);
    }
}

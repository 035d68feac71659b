//! The cost of one matrix cell in the clear, on one core.

use crate::cell::{Scoring, screen};
use crate::{Error, random_scanpath};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;
use veilpath_metrics::{
    Comparison, Fixation, FixationComparison, Fixations, MetricError, Scanpath, Screen,
};

/// Scanpaths per side.
const SCANPATHS: usize = 20;

/// The settings of a measurement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The metric and alphabet of a cell.
    pub scoring: Scoring,
    /// Letters or fixations per scanpath.
    pub length: usize,
    /// About how long to measure.
    pub seconds: f64,
}

/// The result. The field names are those of the JSON form.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Always `plain`.
    pub engine: &'static str,
    /// The metric's name.
    pub metric: &'static str,
    /// Letters or fixations per scanpath.
    pub length: usize,
    /// The number of timed cells.
    pub cells: u64,
    /// The time for all of them.
    pub seconds: f64,
    /// The time for one cell.
    pub seconds_per_cell: f64,
    /// Cells per second.
    pub cells_per_second: f64,
}

/// Measures comparisons of random scanpaths on one core.
pub fn run(options: &Options) -> Result<Report, Error> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    let pool = pool.map_err(std::io::Error::other)?;
    let work = Work::new(options)?;
    // The best of several rounds, because other programs may use the machine.
    let mut best = f64::INFINITY;
    let cells = (SCANPATHS * SCANPATHS * options.length * options.length) as u64;
    let (mut rounds, start) = (0u64, Instant::now());
    while rounds == 0 || start.elapsed().as_secs_f64() < options.seconds {
        let round = Instant::now();
        pool.install(|| work.compare())?;
        best = best.min(round.elapsed().as_secs_f64());
        rounds += 1;
    }
    Ok(Report {
        engine: "plain",
        metric: options.scoring.metric.name(),
        length: options.length,
        cells: cells * rounds,
        seconds: start.elapsed().as_secs_f64(),
        seconds_per_cell: best / cells as f64,
        cells_per_second: cells as f64 / best,
    })
}

/// The scanpaths of both sides, and how they are compared.
enum Work {
    Letters(Box<Comparison>, [Vec<Scanpath>; 2]),
    Fixations(Box<FixationComparison>, [Vec<Fixations>; 2]),
}

impl Work {
    fn new(options: &Options) -> Result<Self, Error> {
        let Scoring { metric, alphabet } = options.scoring.clone();
        let mut rng = ChaCha20Rng::seed_from_u64(1);
        if !metric.needs_fixations() {
            let comparison = Comparison::new(metric, alphabet)?;
            let mut side = || {
                let scanpath = |_| random_scanpath(alphabet, options.length, &mut rng);
                (0..SCANPATHS).map(scanpath).collect()
            };
            return Ok(Self::Letters(Box::new(comparison), [side(), side()]));
        }
        let screen = screen()?;
        let comparison = FixationComparison::new(metric, screen)?;
        let mut side = || -> Result<Vec<Fixations>, Error> {
            let scanpath = |_| fixations(&screen, options.length, &mut rng);
            (0..SCANPATHS).map(scanpath).collect()
        };
        Ok(Self::Fixations(Box::new(comparison), [side()?, side()?]))
    }

    fn compare(&self) -> Result<(), MetricError> {
        let all = |index: usize| (index / SCANPATHS, index % SCANPATHS);
        let pairs: Vec<(usize, usize)> = (0..SCANPATHS * SCANPATHS).map(all).collect();
        match self {
            Self::Letters(comparison, [a, b]) => {
                let [a, b] = [a, b].map(|side| side.iter().collect::<Vec<_>>());
                comparison.compare_pairs(&a, &b, &pairs, &|_| ())?;
            }
            Self::Fixations(comparison, [a, b]) => {
                let [a, b] = [a, b].map(|side| side.iter().collect::<Vec<_>>());
                comparison.compare_pairs(&a, &b, &pairs, &|_| ())?;
            }
        }
        Ok(())
    }
}

/// Fixations anywhere on the screen.
fn fixations(screen: &Screen, count: usize, rng: &mut ChaCha20Rng) -> Result<Fixations, Error> {
    let fixation = |_| Fixation {
        x: rng.random_range(0.0..screen.width()),
        y: rng.random_range(0.0..screen.height()),
        start: None,
        duration: rng.random_range(80.0..600.0),
    };
    Ok(Fixations::new((0..count).map(fixation).collect())?)
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
        line("engine", self.engine.into());
        line("metric", self.metric.into());
        line("length", self.length.to_string());
        line("cells", self.cells.to_string());
        line(
            "time per cell",
            format!("{:.3} ns", self.seconds_per_cell * 1e9),
        );
        line("cells per second", format!("{:.3e}", self.cells_per_second));
        text
    }
}

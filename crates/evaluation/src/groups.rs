//! How much longer group answers take than the scores that they are computed from.
//!
//! Both sides run in this process and communicate through memory. The time of the scores ends with the last matrix cell; the rest
//! is the time of the answer.

use crate::{Error, random_scanpath};
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use veilpath_metrics::{Alphabet, Cohort, DEFAULT_PRECISION, Encoding, Entry, Grid, Metric};
use veilpath_protocol::{Engine, GroupQuestion, Observer, PairRule, Reveal, Spec, compare_locally};

/// The settings of a measurement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engines.
    pub engines: Vec<Engine>,
    /// The metrics.
    pub metrics: Vec<GroupMetric>,
    /// The grid of the letters.
    pub grid: Grid,
    /// Permutations per test.
    pub permutations: u32,
    /// Participants per side, in two groups.
    pub participants: usize,
    /// Stimuli that every participant has seen.
    pub stimuli: usize,
    /// Letters per scanpath.
    pub length: usize,
}

/// The default and the maximum number of permutations.
pub const PERMUTATIONS: [u32; 2] = [
    GroupQuestion::DEFAULT_PERMUTATIONS,
    GroupQuestion::MAX_PERMUTATIONS,
];

/// The number of answers that are measured.
pub const QUESTIONS: usize = 5;

/// The metrics that can be measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupMetric {
    /// ScanMatch with the usual threshold and gap.
    ScanMatch,
    /// Levenshtein.
    Levenshtein,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Participants per side.
    pub participants: usize,
    /// Stimuli.
    pub stimuli: usize,
    /// Letters per scanpath.
    pub length: usize,
    /// Pairs compared for each answer.
    pub pairs: usize,
    /// One for each engine, metric and answer.
    pub rows: Vec<Row>,
}

/// The cost of one answer.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The engine.
    pub engine: &'static str,
    /// The metric.
    pub metric: &'static str,
    /// The answer.
    pub answer: String,
    /// The time until all scores were computed, in seconds.
    pub scores_seconds: f64,
    /// The time after that.
    pub answer_seconds: f64,
    /// Bytes of both together, in both directions.
    pub bytes: u64,
}

impl Row {
    /// The time of the answer, as a fraction of the time of the scores.
    pub fn added(&self) -> f64 {
        self.answer_seconds / self.scores_seconds.max(f64::MIN_POSITIVE)
    }
}

impl GroupMetric {
    fn metric(self, grid: Grid) -> Result<Metric, Error> {
        let metric = match self {
            Self::Levenshtein => Metric::Levenshtein,
            Self::ScanMatch => Metric::ScanMatch {
                grid,
                wrap: false,
                threshold: 3.5,
                gap: 0.0,
                scale: None,
            },
        };
        Ok(metric.with_automatic_scale(DEFAULT_PRECISION)?)
    }
}

/// Records when the last matrix cells were finished.
struct LastCells(Mutex<Instant>);

impl Observer for LastCells {
    fn cells(&self, _: u64) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// Measures every engine, metric and answer; `step` is called after each.
pub fn run(options: &Options, step: &mut dyn FnMut()) -> Result<Report, Error> {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let [a, b] = [0, 1].map(|_| cohort(options, &mut rng));
    let (a, b) = (a?, b?);
    let mut rows = Vec::new();
    for &engine in &options.engines {
        for &metric in &options.metrics {
            for question in questions(options.permutations) {
                let metric = metric.metric(options.grid)?;
                rows.push(measure(engine, metric, question, [&a, &b])?);
                step();
            }
        }
    }
    Ok(Report {
        participants: options.participants,
        stimuli: options.stimuli,
        length: options.length,
        pairs: options.participants * options.participants * options.stimuli,
        rows,
    })
}

/// Both tests, and one question of every other kind that needs more than local sums.
fn questions(permutations: u32) -> [GroupQuestion; QUESTIONS] {
    [
        GroupQuestion::TestGroups {
            permutations,
            published: false,
        },
        GroupQuestion::TestSites { permutations },
        GroupQuestion::Groups { published: false },
        GroupQuestion::Nearest {
            k: 5,
            rate_only: true,
        },
        GroupQuestion::Histogram { bins: 20 },
    ]
}

fn measure(
    engine: Engine,
    metric: Metric,
    question: GroupQuestion,
    [a, b]: [&Cohort; 2],
) -> Result<Row, Error> {
    let name = metric.name();
    let mut spec = Spec::new(engine, metric, PairRule::SameStimulus, a, b)?;
    spec.reveal = Reveal::Group(question);
    let start = Instant::now();
    let last = LastCells(Mutex::new(start));
    let outcome = compare_locally(spec, a, b, &last)?;
    let end = Instant::now();
    let last = last.0.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(Row {
        engine: engine.name(),
        metric: name,
        answer: question.to_string(),
        scores_seconds: (last - start).as_secs_f64(),
        answer_seconds: (end - last).as_secs_f64(),
        bytes: outcome.cost.bytes_sent + outcome.cost.bytes_received,
    })
}

/// Random scanpaths; participants alternate between two groups.
fn cohort(options: &Options, rng: &mut ChaCha20Rng) -> Result<Cohort, Error> {
    let alphabet = Alphabet::for_cells(options.grid.cells())?;
    let mut entries = Vec::new();
    for participant in 0..options.participants {
        for stimulus in 0..options.stimuli {
            entries.push(Entry {
                participant: format!("P{participant}"),
                group: Some(["control", "patient"][participant % 2].into()),
                stimulus: Some(format!("S{stimulus}")),
                scanpath: random_scanpath(alphabet, options.length, rng),
                fixations: None,
            });
        }
    }
    Ok(Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries,
    })
}

impl Report {
    /// The report as one JSON object.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The report as human-readable text.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{0} + {0} participants, {1} stimuli, {2} letters: {3} pairs; both sides on this machine\n\n",
            self.participants, self.stimuli, self.length, self.pairs
        );
        let _ = writeln!(
            text,
            "{:8}  {:12}  {:20}  {:>10}  {:>10}  {:>9}  {:>10}",
            "engine", "metric", "answer", "scores", "answer", "adds", "traffic"
        );
        for row in &self.rows {
            let _ = writeln!(
                text,
                "{:8}  {:12}  {:20}  {:8.3} s  {:8.3} s  {:7.1} %  {:7.1} MB",
                row.engine,
                row.metric,
                row.answer,
                row.scores_seconds,
                row.answer_seconds,
                100.0 * row.added(),
                row.bytes as f64 / 1e6
            );
        }
        text
    }
}

#[cfg(test)]
mod tests;

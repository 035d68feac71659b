//! The paper's two figures on its random order: the number of candidate cells, and the number of orders that this allows.

use crate::mean_and_deviation;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde::Serialize;
use std::fmt::Write as _;
use veilpath_protocol::candidate_counts;

/// Steps at which the table shows the cumulative number, in addition to the last step.
const STEPS: [usize; 6] = [10, 46, 65, 100, 1_000, 10_000];

/// The settings of a count.
#[derive(Clone, Debug)]
pub struct Options {
    /// Lengths of both scanpaths.
    pub sizes: Vec<u32>,
    /// The number of matrices to fill for each length.
    pub runs: u32,
    /// The seed of the random orders.
    pub seed: u64,
}

/// The counts.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The number of matrices filled for each length.
    pub runs: u32,
    /// The counts by length.
    pub sizes: Vec<Counts>,
}

/// The counts of one length.
#[derive(Clone, Debug, Serialize)]
pub struct Counts {
    /// The length of both scanpaths.
    pub size: u32,
    /// The mean number of candidate cells at a step.
    pub mean_candidates: f64,
    /// The standard deviation of that mean between matrices.
    pub deviation: f64,
    /// The mean base-2 logarithm of the number of orders after each step.
    pub cumulative_log2: Vec<f64>,
}

/// Fills matrices in a random order, and counts the candidates.
pub fn run(options: &Options) -> Report {
    let mut rng = ChaCha20Rng::seed_from_u64(options.seed);
    let sizes = options.sizes.iter();
    Report {
        runs: options.runs,
        sizes: sizes
            .map(|&size| count(size, options.runs, &mut rng))
            .collect(),
    }
}

/// Fills `runs` square matrices in a random order.
pub(crate) fn count(size: u32, runs: u32, rng: &mut ChaCha20Rng) -> Counts {
    let mut cumulative_log2 = vec![0.0; size as usize * size as usize];
    let mut means = Vec::new();
    for _ in 0..runs {
        let counts = candidate_counts(size, size, rng);
        let mut log = 0.0;
        for (sum, &count) in cumulative_log2.iter_mut().zip(&counts) {
            log += f64::from(count).log2();
            *sum += log;
        }
        let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
        means.push(total / counts.len() as f64);
    }
    let runs = f64::from(runs);
    cumulative_log2.iter_mut().for_each(|sum| *sum /= runs);
    let (mean_candidates, deviation) = mean_and_deviation(&means);
    Counts {
        size,
        mean_candidates,
        deviation,
        cumulative_log2,
    }
}

impl Counts {
    fn steps(&self) -> impl Iterator<Item = (usize, f64)> {
        let cells = self.cumulative_log2.len();
        STEPS
            .into_iter()
            .filter(move |&step| step < cells)
            .chain([cells])
            .filter_map(|step| Some((step, *self.cumulative_log2.get(step - 1)?)))
    }
}

impl Report {
    /// The report as one JSON object.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// The report as human-readable text.
    pub fn table(&self) -> String {
        let mut text = format!(
            "candidates per step: mean of {} matrices (standard deviation); then log2 of the number of orders up to a step, as step: log2\n",
            self.runs
        );
        for counts in &self.sizes {
            let size = format!("{0}x{0}", counts.size);
            let (mean, deviation) = (counts.mean_candidates, counts.deviation);
            let _ = write!(text, "{size:>9}  {mean:8.3} ({deviation:.3})");
            for (step, log) in counts.steps() {
                let _ = write!(text, "  {step}: {log:.1}");
            }
            text.push('\n');
        }
        text
    }
}

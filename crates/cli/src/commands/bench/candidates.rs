//! `veilpath bench candidates`: the paper's two figures about the random order.

use super::{Format, print};
use crate::failure::Failure;
use clap::Args;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use serde_json::json;
use std::fmt::Write as _;
use veilpath_protocol::candidate_counts;

const EXAMPLES: &str = "\
Examples:
  veilpath bench candidates --size 8,20 --runs 20
  veilpath bench candidates --size 20 --runs 50 --format json

The paper reports 6.8 candidates on average for 20x20, and 80 bits of choice by step 46 and 128 by step 65 of \
200x200. The cumulative log2 counts orders of the cells; it is no measure of what Alice can learn.";

/// Steps at which the cumulative number is shown, besides the last.
const STEPS: [usize; 6] = [10, 46, 65, 100, 1_000, 10_000];

/// The arguments of `bench candidates`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CandidatesArgs {
    /// Lengths of both scanpaths
    #[arg(
        long,
        value_name = "LENGTHS",
        value_delimiter = ',',
        default_value = "10,20,50,100,200"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=2000))]
    size: Vec<u32>,

    /// Matrices to fill for each length
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// Choose the same cells again
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// How to write the numbers
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// What was counted for one length.
pub(super) struct Counted {
    size: u32,
    pub(super) mean: f64,
    pub(super) deviation: f64,
    /// The mean cumulative log₂ after each step.
    pub(super) cumulative: Vec<f64>,
}

/// Fills matrices in a random order and counts.
pub(crate) fn run(args: &CandidatesArgs) -> Result<(), Failure> {
    let mut rng = ChaCha20Rng::seed_from_u64(args.seed);
    let counted: Vec<Counted> = args
        .size
        .iter()
        .map(|&size| count(size, args.runs, &mut rng))
        .collect();
    print(&match args.format {
        Format::Table => table(&counted, args.runs),
        Format::Json => json(&counted, args.runs),
    })
}

/// Fills so many square matrices.
pub(super) fn count(size: u32, runs: u32, rng: &mut ChaCha20Rng) -> Counted {
    let mut cumulative = vec![0.0; size as usize * size as usize];
    let mut means = Vec::new();
    for _ in 0..runs {
        let counts = candidate_counts(size, size, rng);
        let mut log = 0.0;
        for (sum, &count) in cumulative.iter_mut().zip(&counts) {
            log += f64::from(count).log2();
            *sum += log;
        }
        let total: f64 = counts.iter().map(|&count| f64::from(count)).sum();
        means.push(total / counts.len() as f64);
    }
    let runs = f64::from(runs);
    let mean = means.iter().sum::<f64>() / runs;
    let variance = means.iter().map(|m| (m - mean).powi(2)).sum::<f64>() / runs;
    cumulative.iter_mut().for_each(|sum| *sum /= runs);
    Counted {
        size,
        mean,
        deviation: variance.sqrt(),
        cumulative,
    }
}

fn steps(counted: &Counted) -> impl Iterator<Item = (usize, f64)> {
    let cells = counted.cumulative.len();
    STEPS
        .into_iter()
        .filter(move |&step| step < cells)
        .chain([cells])
        .filter_map(|step| Some((step, *counted.cumulative.get(step - 1)?)))
}

fn table(counted: &[Counted], runs: u32) -> String {
    let mut text = format!(
        "candidates per step, mean of {runs} matrices (deviation), and log2 of the orders up to a step"
    );
    for row in counted {
        let size = format!("{0}x{0}", row.size);
        let _ = write!(text, "\n{size:>9}  {:8.3} ({:.3})", row.mean, row.deviation);
        for (step, log) in steps(row) {
            let _ = write!(text, "  {step}: {log:.1}");
        }
    }
    text
}

fn json(counted: &[Counted], runs: u32) -> String {
    let rows: Vec<_> = counted
        .iter()
        .map(|row| {
            json!({
                "size": row.size,
                "mean_candidates": row.mean,
                "deviation": row.deviation,
                "cumulative_log2": row.cumulative,
            })
        })
        .collect();
    json!({ "runs": runs, "sizes": rows }).to_string()
}

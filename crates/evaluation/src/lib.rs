//! Measures Veilpath itself: its speed, its traffic and what its engines leak.
//!
//! | module | what it measures |
//! |---|---|
//! | [`cell`] | the time and traffic of one matrix cell |
//! | [`candidates`] | the paper's random order of the cells |
//! | [`groups`] | what group answers add to the time of the scores |
//! | [`network`] | whole comparisons between two processes over connections with different rates and latencies |
//! | [`paillier`] | the operations of the Paillier cryptosystem |
//! | [`paper`] | the tables and figures of the paper's evaluation, next to the paper's own numbers |
//! | `leakage` | what attacks on the engines reveal (feature `audit`) |
//! | `reconstruct` | how many comparisons reconstruct a scanpath (feature `audit`) |
//!
//! Each measurement takes options and returns a typed result, which can be rendered as text or as JSON. Progress is
//! reported through a callback. Nothing is printed here.

pub mod candidates;
pub mod cell;
pub mod clear_cell;
mod error;
pub mod groups;
#[cfg(feature = "audit")]
pub mod leakage;
pub mod network;
mod page;
pub mod paillier;
pub mod paper;
#[cfg(feature = "audit")]
pub mod reconstruct;
mod timer;

pub use error::Error;

use veilpath_metrics::{Alphabet, Cohort, Metric, Scanpath};

/// The default size of the alphabet, as in the paper.
const PAPER_LETTERS: u32 = 52;

/// Two cohorts over one alphabet, and the metric that compares them.
#[derive(Clone, Debug)]
pub struct CohortPair {
    /// The host's cohort.
    pub a: Cohort,
    /// The joining side's cohort.
    pub b: Cohort,
    /// How two scanpaths are compared.
    pub metric: Metric,
}

fn random_scanpath<R: rand::Rng>(alphabet: Alphabet, length: usize, rng: &mut R) -> Scanpath {
    use rand::RngExt;
    let letter = |_| u16::try_from(rng.random_range(0..alphabet.size())).unwrap_or(0);
    Scanpath::new((0..length).map(letter).collect())
}

/// The mean and the population standard deviation.
fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / count).sqrt())
}

//! `veilpath bench candidates`: the paper's two figures on its random order.

use super::{Format, write};
use crate::failure::Failure;
use clap::Args;
use veilpath_evaluation::candidates::{self, Options};

const EXAMPLES: &str = "\
Examples:
  veilpath bench candidates --size 8,20 --runs 20
  veilpath bench candidates --size 20 --runs 50 --format json

Ozdel et al. (2024) report 6.8 candidates on average for 20x20, and 80 bits of choice by step 46 and 128 by step 65 of \
200x200. The cumulative log2 counts orders of cells; it does not measure what the host can learn.";

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

    /// Number of matrices to fill for each length
    #[arg(long, value_name = "N", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,

    /// The seed of the random orders
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    /// The output format
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "FORMAT",
        default_value = "table"
    )]
    format: Format,
}

/// Fills matrices in a random order, and prints the counts.
pub(crate) fn run(args: &CandidatesArgs) -> Result<(), Failure> {
    let report = candidates::run(&Options {
        sizes: args.size.clone(),
        runs: args.runs,
        seed: args.seed,
    });
    write(args.format, || report.table(), || report.json())
}

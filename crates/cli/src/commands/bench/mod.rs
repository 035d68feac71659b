//! `veilpath bench`: measurements on this machine.

mod candidates;
mod cell;
mod groups;
mod network;
mod paillier;
mod paper;

use crate::destination::Destination;
use crate::failure::Failure;
use clap::{Args, Subcommand, ValueEnum};

const EXAMPLES: &str = "\
Examples:
  veilpath bench cell --key-bits 512 --allow-weak-key --seconds 0.2
  veilpath bench candidates --size 8,20 --runs 20
  veilpath bench groups --participants 5 --stimuli 1 --length 8 --permutations 20
  veilpath bench network --engine garbled,shares --round-trip 0 --scanpaths 2 --length 20
  veilpath bench paillier --key-bits 512 --seconds 0.01";

/// The arguments of `bench`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: BenchCommand,
}

#[derive(Debug, Subcommand)]
enum BenchCommand {
    /// Measure the time and traffic of one matrix cell while many comparisons run at once
    Cell(cell::CellArgs),
    /// Count the candidate cells while a matrix is filled in random order
    Candidates(candidates::CandidatesArgs),
    /// Measure how much longer group answers take than the scores
    Groups(groups::GroupsArgs),
    /// Measure whole comparisons with all private engines, over connections with different rates and latencies
    Network(network::NetworkArgs),
    /// A process that `bench network` starts
    #[command(name = network::PROCESS, hide = true)]
    NetworkProcess,
    /// Measure every operation of the Paillier cryptosystem, on one core
    Paillier(paillier::PaillierArgs),
    /// Reproduce the tables and figures of Ozdel et al. (2024), next to their numbers
    Paper(paper::PaperArgs),
}

/// The output format of measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Human-readable text
    Table,
    /// One JSON object
    Json,
}

/// Measures, and prints the report.
pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    match &args.what {
        BenchCommand::Cell(args) => cell::run(args),
        BenchCommand::Candidates(args) => candidates::run(args),
        BenchCommand::Groups(args) => groups::run(args),
        BenchCommand::Network(args) => network::run(args),
        BenchCommand::NetworkProcess => network::run_process(),
        BenchCommand::Paillier(args) => paillier::run(args),
        BenchCommand::Paper(args) => paper::run(args),
    }
}

/// Prints a report.
fn write(
    format: Format,
    table: impl FnOnce() -> String,
    json: impl FnOnce() -> serde_json::Result<String>,
) -> Result<(), Failure> {
    let text = match format {
        Format::Table => table(),
        Format::Json => json().map_err(Failure::json)? + "\n",
    };
    write_text(&text)
}

fn write_text(text: &str) -> Result<(), Failure> {
    Destination::Stdout.write(|out| out.write_all(text.as_bytes()))
}

/// A positive number of seconds.
fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Ok(seconds),
        _ => Err("expected a number of seconds above 0".into()),
    }
}

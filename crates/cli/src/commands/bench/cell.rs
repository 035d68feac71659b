//! `veilpath bench cell`: what one matrix cell costs while many comparisons run at once.

use super::{Format, seconds, write};
use crate::engine_args::{EngineName, PaillierArgs};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use clap::{Args, ValueEnum};
use veilpath::{Engine, MetricOptions};
use veilpath_evaluation::cell::{self, Options, Scoring};
use veilpath_evaluation::clear_cell;

const EXAMPLES: &str = "\
Examples:
  veilpath bench cell --key-bits 512 --allow-weak-key --seconds 0.2
  veilpath bench cell --engine paillier --key-bits 512 --allow-weak-key --seconds 0.2 --format json
  veilpath bench cell --engine garbled --seconds 0.2 --format json
  veilpath bench cell --engine shares --seconds 0.2 --format json
  veilpath bench cell --engine garbled --seconds 0.2 --metric scanmatch --grid 8x6
  veilpath bench cell --engine shares --metric dtw --positions fixations --fixation-grid 16x9
  veilpath bench cell --engine plain --seconds 0.2 --metric multimatch
  veilpath bench cell --engine plain --seconds 0.2 --metric scasim --length 50 --format json

Fixations are on a screen of 1920 x 1080 pixels and 53 x 30 cm, 60 cm away. Both parties run on this machine, share its cores and talk over TLS. The time per cell is wall-clock time while the middle \
half of all cells is filled. It does not include keys, tables, the host's substitution costs, or the start and the end, when \
few comparisons are running. The time of a party is the CPU time of its work on all cores; \"cores used\" is the average number \
of cores that the process kept busy. Bytes are those of the whole run in both directions, except the host's encrypted substitution costs. With the plain engine, one core compares 400 pairs of random scanpaths again and \
again, and the fastest round counts.";

/// Explains what only a build with GMP prints.
#[cfg(feature = "gmp")]
const GMP_HELP: &str = "

With --gmp, the ratio is to one GMP powm; \"if alone\" is what the ratio would be on an otherwise idle machine.";
#[cfg(not(feature = "gmp"))]
const GMP_HELP: &str = "";

/// The arguments of `bench cell`.
#[derive(Debug, Args)]
#[command(after_help = format!("{EXAMPLES}{GMP_HELP}"))]
pub(crate) struct CellArgs {
    /// The engine to measure
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "ENGINE",
        default_value = "paillier"
    )]
    engine: MeasuredEngine,

    #[command(flatten)]
    paillier: PaillierArgs,

    /// About how long to measure
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    seconds: f64,

    /// Also measure one GMP powm with a modulus of twice the key's length and an exponent of the key's length
    #[cfg(feature = "gmp")]
    #[arg(long)]
    gmp: bool,

    /// Letters or fixations per scanpath, for the plain engine
    #[arg(long, value_name = "N", default_value = "300", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    length: u32,

    /// The output format
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "FORMAT",
        default_value = "table"
    )]
    format: Format,

    // Last, because its heading applies to everything that follows.
    #[command(flatten)]
    metric: MetricArgs,
}

/// The engines that work cell by cell.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MeasuredEngine {
    /// The protocol of Ozdel et al. (2024) over Paillier encryption
    Paillier,
    /// Garbled circuits
    Garbled,
    /// Secret sharing
    Shares,
    /// In the clear, on one core
    Plain,
}

impl MeasuredEngine {
    fn with(self, paillier: &PaillierArgs) -> Result<Engine, Failure> {
        let name = match self {
            MeasuredEngine::Paillier => EngineName::Paillier,
            MeasuredEngine::Garbled => EngineName::Garbled,
            MeasuredEngine::Shares => EngineName::Shares,
            MeasuredEngine::Plain => EngineName::Plain,
        };
        Ok(name.with(paillier)?.representative())
    }
}

/// Measures, and prints the report.
pub(crate) fn run(args: &CellArgs) -> Result<(), Failure> {
    let alphabet = cell::alphabet(args.metric.grid.map(|grid| grid.cells()))?;
    let screen = cell::screen()?;
    let metric = MetricOptions::from(&args.metric).metric(&alphabet, None, Some(&screen))?;
    let scoring = Scoring::new(metric, alphabet)?;
    let engine = args.engine.with(&args.paillier)?;
    if let MeasuredEngine::Plain = args.engine {
        let report = clear_cell::run(&clear_cell::Options {
            scoring,
            length: args.length as usize,
            seconds: args.seconds,
        })?;
        return write(args.format, || report.table(), || report.json());
    }
    let report = cell::run(&Options {
        engine,
        scoring,
        seconds: args.seconds,
        #[cfg(feature = "gmp")]
        gmp: args.gmp,
    })?;
    write(args.format, || report.table(), || report.json())
}

//! `veilpath bench groups`: how much longer group answers take than the scores.

use super::{Format, write};
use crate::failure::Failure;
use crate::{messages, progress};
use clap::{Args, ValueEnum};
use veilpath::{Engine, Grid};
use veilpath_evaluation::groups::{self, GroupMetric, Options};

const EXAMPLES: &str = "\
Examples:
  veilpath bench groups --participants 5 --stimuli 1 --length 8 --permutations 20
  veilpath bench groups --engine shares --participants 5 --stimuli 1 --length 8 --format json

Both sides run on this machine, share its cores, and talk through memory. \"scores\" is the time until all pairs are compared, \
\"answer\" the time after that. Every answer is measured in a separate run.";

/// The arguments of `bench groups`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GroupsArgs {
    /// Engines, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "ENGINES",
        value_delimiter = ',',
        default_value = "garbled,shares"
    )]
    engine: Vec<MeasuredEngine>,

    /// Metrics, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "METRICS",
        value_delimiter = ',',
        default_value = "scanmatch,levenshtein"
    )]
    metric: Vec<MeasuredMetric>,

    /// The grid of the letters
    #[arg(long, value_name = "COLUMNSxROWS", default_value = "8x6")]
    grid: Grid,

    /// Participants per side
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(5..=1000))]
    participants: u32,

    /// Stimuli that every participant has seen
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    stimuli: u32,

    /// Letters per scanpath
    #[arg(long, value_name = "LETTERS", default_value_t = 40)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    length: u32,

    /// Permutations per test
    #[arg(long, value_name = "N", default_value_t = groups::PERMUTATIONS[0])]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=i64::from(groups::PERMUTATIONS[1])))]
    permutations: u32,

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

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MeasuredEngine {
    /// Garbled circuits
    Garbled,
    /// Secret sharing
    Shares,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum MeasuredMetric {
    /// ScanMatch with its usual threshold and gap
    #[value(name = "scanmatch")]
    ScanMatch,
    /// Levenshtein
    Levenshtein,
}

/// Measures, and prints the report.
pub(super) fn run(args: &GroupsArgs) -> Result<(), Failure> {
    let options = Options {
        engines: args
            .engine
            .iter()
            .map(|engine| match engine {
                MeasuredEngine::Garbled => Engine::Garbled,
                MeasuredEngine::Shares => Engine::Shares,
            })
            .collect(),
        metrics: args
            .metric
            .iter()
            .map(|metric| match metric {
                MeasuredMetric::ScanMatch => GroupMetric::ScanMatch,
                MeasuredMetric::Levenshtein => GroupMetric::Levenshtein,
            })
            .collect(),
        grid: args.grid,
        permutations: args.permutations,
        participants: args.participants as usize,
        stimuli: args.stimuli as usize,
        length: args.length as usize,
    };
    let rows = options.engines.len() * options.metrics.len() * groups::QUESTIONS;
    let bar = progress::bar(rows as u64, progress::Unit::Steps, messages::is_quiet());
    let report = groups::run(&options, &mut || bar.inc(1));
    bar.finish_and_clear();
    let report = report?;
    write(args.format, || report.table(), || report.json())
}

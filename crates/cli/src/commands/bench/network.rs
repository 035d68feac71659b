//! `veilpath bench network`: whole comparisons over connections with different rates and latencies.

use super::write_text;
use crate::engine_args::{EngineName, PaillierArgs};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::{messages, progress};
use clap::{Args, ValueEnum};
use std::process::Command;
use veilpath::MetricOptions;
use veilpath_evaluation::cell;
use veilpath_evaluation::network::{self, Options, Work};

const EXAMPLES: &str = "\
Examples:
  veilpath bench network --scanpaths 2 --length 20 --paillier-scanpaths 1 --paillier-length 5
  veilpath bench network --engine shares --rate loopback --scanpaths 2 --length 20 --format csv
  veilpath bench network --engine shares --scanpaths 2 --length 20 --metric scanmatch --grid 8x6

Both sides run on this machine, share its cores, and do what `veilpath host` and `veilpath join` do. As root on Linux, rates \
are limited by `tc` between two network namespaces; elsewhere by a relay, and the output says so. A relay delays every \
byte by half the round trip. \"estimated\" is the estimate before the computation started. paillier is slow, so it compares fewer and shorter scanpaths.";

/// The arguments of `bench network`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct NetworkArgs {
    /// Engines, separated by commas
    #[arg(
        long,
        value_enum,
        value_name = "ENGINES",
        value_delimiter = ',',
        default_value = "garbled,shares,paillier"
    )]
    engine: Vec<EngineName>,

    /// Scanpaths per side; each is compared with all of the other side
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000))]
    scanpaths: u32,

    /// Letters per scanpath
    #[arg(long, value_name = "LETTERS", default_value_t = 100)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    length: u32,

    /// Use the scanpath lengths of the Salient360 data set: 70,796 comparisons
    #[arg(long, conflicts_with_all = ["scanpaths", "length"])]
    salient360: bool,

    /// Scanpaths per side for the paillier engine
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    paillier_scanpaths: u32,

    /// Letters per scanpath for the paillier engine
    #[arg(long, value_name = "LETTERS", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    paillier_length: u32,

    /// Rates in megabits per second, separated by commas, or "loopback" for no limit
    #[arg(long, value_name = "RATES", value_delimiter = ',', default_value = "loopback,1000,100", value_parser = rate)]
    rate: Vec<Rate>,

    /// Round-trip times in milliseconds, separated by commas
    #[arg(long, value_name = "MS", value_delimiter = ',', default_value = "0,20")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=10_000))]
    round_trip: Vec<u32>,

    /// The output format
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "FORMAT",
        default_value = "table"
    )]
    format: Format,

    #[command(flatten)]
    paillier: PaillierArgs,

    // Last, because its heading applies to everything that follows.
    #[command(flatten)]
    metric: MetricArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// Human-readable text
    Table,
    /// One row per engine and connection
    Csv,
    /// One JSON object
    Json,
}

/// Megabits per second; `None` for loopback.
#[derive(Clone, Copy, Debug)]
struct Rate(Option<u32>);

fn rate(text: &str) -> Result<Rate, String> {
    match text.parse() {
        _ if text == "loopback" => Ok(Rate(None)),
        Ok(rate @ 1..=4000) => Ok(Rate(Some(rate))),
        _ => Err("expected \"loopback\" or megabits per second from 1 to 4000".into()),
    }
}

/// The hidden command that the processes of a measurement run.
pub(super) const PROCESS: &str = "network-process";

/// Measures, and prints the report.
pub(super) fn run(args: &NetworkArgs) -> Result<(), Failure> {
    let alphabet = cell::alphabet(args.metric.grid.map(|grid| grid.cells()))?;
    let mut engines = Vec::new();
    for name in &args.engine {
        let (engine, work) = match name {
            EngineName::Paillier => (
                name.with(&args.paillier)?,
                Work::Square {
                    scanpaths: args.paillier_scanpaths as usize,
                    length: args.paillier_length as usize,
                },
            ),
            _ => (
                name.with(&PaillierArgs::default())?,
                match args.salient360 {
                    true => Work::Salient360,
                    false => Work::Square {
                        scanpaths: args.scanpaths as usize,
                        length: args.length as usize,
                    },
                },
            ),
        };
        engines.push((engine, work));
    }
    let failed = |error: std::io::Error| Failure::input(format!("temporary files: {error}"));
    let program = std::env::current_exe().map_err(failed)?;
    let mut process = Command::new(program);
    process.args(["bench", PROCESS]);
    let folder = std::env::temp_dir().join(format!("veilpath-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(failed)?;
    let options = Options {
        engines,
        metric: MetricOptions::from(&args.metric).metric(&alphabet, None, None)?,
        alphabet,
        rates: args.rate.iter().map(|rate| rate.0).collect(),
        round_trips: args.round_trip.clone(),
        process,
        folder: folder.clone(),
    };
    let bar = progress::bar(0, progress::Unit::Steps, messages::is_quiet());
    let report = network::run(&options, &mut |_, rows| {
        bar.set_length(rows as u64);
        bar.inc(1);
    });
    bar.finish_and_clear();
    // It contains only throw-away keys, journals and counters.
    let removed = std::fs::remove_dir_all(&folder);
    let report = report?;
    removed.map_err(failed)?;
    let text = match args.format {
        Format::Table => report.table(),
        Format::Csv => report.csv().map_err(Failure::json)?,
        Format::Json => report.json().map_err(Failure::json)? + "\n",
    };
    write_text(&text)
}

/// Runs the task that it reads from standard input.
pub(super) fn run_process() -> Result<(), Failure> {
    Ok(network::run_process(
        std::io::stdin().lock(),
        std::io::stdout(),
    )?)
}

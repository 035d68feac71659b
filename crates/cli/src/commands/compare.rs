//! `veilpath compare`: both cohorts are on this machine.

use crate::engine_args::{EngineName, KeyArgs, PaillierArgs};
use crate::failure::Failure;
use crate::metric_args::MetricArgs;
use crate::output::{OutputArgs, names};
use crate::progress::Bar;
use crate::reveal_args::RevealArgs;
use crate::session_log::engine;
use crate::{inputs, messages};
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use veilpath::table;
use veilpath::{CompareOptions, MetricOptions, Notation, PairRule, PlanOptions, TestCoins, Tile};

const EXAMPLES: &str = "\
Examples:
  veilpath compare a.csv b.csv
  veilpath compare a.csv b.csv --metric needleman-wunsch --substitution manhattan --gap 2
  veilpath compare a.csv b.csv --metric scanmatch --threshold 3.5 --gap -0.5 --format csv
  veilpath compare a.csv b.csv --metric smith-waterman --match 2 --mismatch 1 -o scores.json
  veilpath compare a.csv b.csv --metric dtw --divide-by lengths --format csv
  veilpath compare a.csv b.csv --metric crqa --measures rec,det --radius 1
  veilpath compare a.csv b.csv --engine garbled
  veilpath compare a.csv b.csv --engine garbled --reveal threshold:12
  veilpath compare a.csv b.csv --engine shares --reveal mean
  veilpath encode gaze.csv --screen 1280x720 -o - | veilpath compare - b.csv -o scores.csv

Both cohorts are on this machine, so the default engine computes in the clear. Another --engine rehearses a private run: \
it runs both institutions here, over TLS within this machine.

A cohort file is CSV with the columns participant, stimulus (optional) and scanpath, as `veilpath encode` \
writes it; one string per line; or lines of participant, tab, letters (OGAMA, ScanGraph).";

/// The arguments of `compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// The first cohort (- for standard input)
    a: PathBuf,

    /// The second cohort (- for standard input)
    b: PathBuf,

    /// The engine; any engine other than plain rehearses a private run
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "ENGINE",
        default_value = "plain"
    )]
    engine: EngineName,

    /// Which scanpaths to compare
    #[arg(long, value_enum, value_name = "RULE", default_value = "same-stimulus")]
    pairs: PairsName,

    /// The notation of the letters, even if the files declare another [default: the declared one, else detected from the content]
    #[arg(long, value_enum, value_name = "NOTATION")]
    notation: Option<NotationName>,

    /// Number of different letters, if the files do not declare it
    #[arg(long, value_name = "COUNT")]
    letters: Option<u32>,

    /// Compare only one tile of the pairs, as in 3/8 for the third of eight; `veilpath merge` combines the results
    #[arg(long, value_name = "I/K")]
    tile: Option<Tile>,

    /// Names of the two cohorts in results and reports [default: the file names]
    #[arg(long, value_name = "FIRST,SECOND", value_parser = names)]
    names: Option<[String; 2]>,

    #[command(flatten)]
    reveal: RevealArgs,

    /// Repeat the random shuffles of an earlier private test to check its answer in the clear; HEX is the field `coins` of its
    /// JSON result
    #[arg(long, value_name = "HEX")]
    coins: Option<TestCoins>,

    #[command(flatten)]
    output: OutputArgs,

    // Last, because their headings apply to everything that follows.
    #[command(flatten)]
    metric: MetricArgs,

    #[command(flatten)]
    paillier: PaillierArgs,

    #[command(flatten)]
    key: KeyArgs,
}

/// The pair rules on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PairsName {
    /// Pairs with the same stimulus; all pairs if a cohort has no stimuli
    SameStimulus,
    /// All pairs
    All,
}

/// The notations on the command line.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum NotationName {
    /// A…Z a…z
    Letters,
    /// Two letters per grid cell, its row and column, as in ScanMatch
    DoubleLetters,
    /// Grid cell numbers from 0, separated by spaces
    Numbers,
    /// A C G T
    Dna,
}

impl From<PairsName> for PairRule {
    fn from(name: PairsName) -> Self {
        match name {
            PairsName::SameStimulus => PairRule::SameStimulus,
            PairsName::All => PairRule::All,
        }
    }
}

impl From<NotationName> for Notation {
    fn from(name: NotationName) -> Self {
        match name {
            NotationName::Letters => Notation::Letters,
            NotationName::DoubleLetters => Notation::DoubleLetters,
            NotationName::Numbers => Notation::Numbers,
            NotationName::Dna => Notation::Dna,
        }
    }
}

/// Compares the cohorts, and writes the results.
pub(crate) fn run(args: &CompareArgs) -> Result<(), Failure> {
    let metric = MetricOptions::from(&args.metric);
    let table = metric.table_file().map(Path::to_path_buf);
    let (choice, key) = args.key.engine(args.engine, &args.paillier)?;
    let options = PlanOptions {
        notation: args.notation.map(Notation::from),
        letters: args.letters,
        pairs: args.pairs.into(),
        reveal: args.reveal.reveal,
        pad_to: args.reveal.pad_to,
        tile: args.tile,
        ..PlanOptions::new(choice, metric)
    };
    let read_from: Vec<&Path> = [&args.a, &args.b]
        .into_iter()
        .chain(&table)
        .map(PathBuf::as_path)
        .chain(args.key.file())
        .collect();
    inputs::check_single_stdin(&read_from)?;
    let files = [inputs::cohort(&args.a)?, inputs::cohort(&args.b)?];
    let bar = Bar::cells();
    let planned = veilpath::plan([&files[0], &files[1]], &options, &bar)?;
    // The file itself is created at the end, so that an interrupted comparison leaves nothing behind.
    let output = args.output.check(&read_from)?;
    messages::detail(&table::plan(&planned.spec));
    if let Some(chosen) = &planned.chosen {
        messages::info(&engine::line(chosen));
    }
    let coins = args.coins;
    let outcome = veilpath::compare(&planned, CompareOptions { key, coins }, &bar)?;
    bar.finish();
    let file_names = || [&args.a, &args.b].map(|path| inputs::short_name(path));
    let outcome = outcome.with_names(args.names.clone().unwrap_or_else(file_names));
    let written = output.write(&args.output, &read_from, &outcome)?;
    written.print();
    if outcome.one_cohort {
        let columns = 0..outcome.results.measures().len();
        let ordered = columns.clone().any(|it| outcome.counts_both_orders(it));
        messages::note(&format!(
            "a cohort is compared with itself: the results contain every pair in both orders, and every scanpath with \
             itself; the summary counts each pair of different scanpaths once{}",
            match ordered {
                true => ", or in both orders where the measure depends on the order",
                false => "",
            }
        ));
    }
    messages::info(&written.summary(&outcome));
    Ok(())
}

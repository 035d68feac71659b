//! `veilpath audit leakage`: an honest-but-curious host records a comparison and tries the known attacks.

use crate::destination::Destination;
use crate::engine_args::key_size;
use crate::failure::Failure;
use crate::messages;
use crate::metric_args::MetricArgs;
use crate::output::Format;
use crate::progress::{Unit, bar};
use clap::Args;
use veilpath::{Alphabet, KeySize, MetricOptions};
use veilpath_evaluation::leakage::{self, Options, STEPS};

const EXAMPLES: &str = "\
Examples:
  veilpath audit leakage --length 4 --repetitions 2 --group-size 2 --hypotheses 100
  veilpath audit leakage --substitution index --metric needleman-wunsch --length 3 --repetitions 1

Both sides run in this process on synthetic scanpaths, with the code of `veilpath host` and `veilpath join`. The host follows \
the protocol, keeps what it decrypts, and then guesses the letters of the other side. \"Correct\" is the fraction of letters that the \
best guess gets right; a better attack might find more. --seed determines the scanpaths; masks and orders are always \
random.";

/// The arguments of `audit leakage`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct LeakageArgs {
    /// Number of letters in every scanpath
    #[arg(long, value_name = "LETTERS", default_value_t = 8)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=16))]
    length: u8,

    /// Number of different letters
    #[arg(long, value_name = "NUMBER", default_value_t = 52)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=52))]
    letters: u8,

    /// Number of comparisons to attack per row
    #[arg(long, value_name = "N", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=10_000))]
    repetitions: u16,

    /// Number of comparisons in flight in one run; each attacked scanpath is compared with as many of the host's
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=50))]
    group_size: u8,

    /// Number of hypotheses that an attack keeps; more hypotheses find more letters and take longer
    #[arg(long, value_name = "N", default_value_t = 1000)]
    #[arg(value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    hypotheses: u32,

    /// Bits of the Paillier key; the length of the masks does not depend on it, so a short key gives the same results
    #[arg(long, value_name = "BITS", default_value = "512", value_parser = key_size)]
    key_bits: KeySize,

    /// The seed of the scanpaths
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    metric: MetricArgs,

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

/// Runs the attacks, and prints the results.
pub(crate) fn run(args: &LeakageArgs) -> Result<(), Failure> {
    let alphabet = Alphabet::letters(args.letters.into())
        .map_err(|error| Failure::input(format!("--letters: {}", error.problem)))?;
    let options = Options {
        metric: MetricOptions::from(&args.metric).metric(&alphabet, None, None)?,
        alphabet,
        length: args.length.into(),
        repetitions: args.repetitions.into(),
        group_size: args.group_size.into(),
        hypotheses: args.hypotheses as usize,
        key_size: args.key_bits,
        seed: args.seed,
    };
    let bar = bar(STEPS, Unit::Steps, messages::is_quiet());
    let report = leakage::run(&options, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let text = match args.format {
        Format::Table => report.table(),
        Format::Csv => report.csv(),
        Format::Json => report.json().map_err(Failure::json)? + "\n",
    };
    Destination::Stdout.write(|out| out.write_all(text.as_bytes()))
}

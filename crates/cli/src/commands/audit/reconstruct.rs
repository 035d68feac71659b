//! `veilpath audit reconstruct`: how many comparisons a partner that chooses its own scanpaths needs to reconstruct one.

use crate::destination::Destination;
use crate::failure::Failure;
use crate::messages;
use crate::metric_args::MetricArgs;
use crate::progress::{Unit, bar};
use clap::{Args, ValueEnum};
use veilpath::{Alphabet, MetricOptions, Reveal};
use veilpath_evaluation::cell::{self, Scoring};
use veilpath_evaluation::reconstruct::{self, Effort, Options};

const EXAMPLES: &str = "\
Examples:
  veilpath audit reconstruct --length 4 --letters 16 --repetitions 2 --sweeps 10
  veilpath audit reconstruct --length 20,50 --longest-search 0 --format markdown
  veilpath audit reconstruct --length 5 --repetitions 1 --metric scanmatch --grid 6x5 --letters 26
  veilpath audit reconstruct --length 4 --repetitions 1 --reveal threshold:2 --metric needleman-wunsch
  veilpath audit reconstruct --length 2 --metric frechet --positions fixations --fixation-grid 4x3

The partner follows the protocol, but makes up its cohort. Each attack reconstructs random scanpaths from the answers, and a \
scanpath counts only if everything that the metric depends on is right: every letter or, for some metrics, less. Without options about the metric, a list of common metrics is measured. MultiMatch and SubsMatch are not among them, because \
no private engine computes them. \
\"letter by letter\" chooses all of its scanpaths in advance; the other attacks choose each one after the previous answer. \
Another attack might need fewer comparisons, but none needs fewer than the bound on average, even if it adapts or cheats: \
the bound is the information in a scanpath divided by that in an answer. The default limit of `veilpath host` \
and `veilpath join` is half of the bound. Fixations are on the screen of `veilpath bench cell`.";

/// The arguments of `audit reconstruct`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReconstructArgs {
    /// Lengths of the scanpaths, separated by commas
    #[arg(
        long,
        value_name = "LETTERS",
        value_delimiter = ',',
        default_value = "5,10,20"
    )]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    length: Vec<u16>,

    /// Number of different letters
    #[arg(long, value_name = "NUMBER", default_value_t = 26)]
    #[arg(value_parser = clap::value_parser!(u8).range(2..=52))]
    letters: u8,

    /// What is revealed about each pair, as in `veilpath host`
    #[arg(
        long,
        value_name = "WHAT",
        value_delimiter = ',',
        default_value = "score"
    )]
    reveal: Vec<Reveal>,

    /// Hide the lengths, which the attack then has to find first
    #[arg(long)]
    hidden_lengths: bool,

    /// Number of scanpaths to reconstruct per row
    #[arg(long, value_name = "N", default_value_t = 10)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=10_000))]
    repetitions: u16,

    /// Length of the longest scanpaths to search for; the time grows quickly with the length
    #[arg(long, value_name = "LETTERS", default_value_t = 10)]
    longest_search: u16,

    /// Number of search passes for each answer; with more passes, fewer comparisons are enough
    #[arg(long, value_name = "N", default_value_t = 40)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=10_000))]
    sweeps: u16,

    /// The seed of the scanpaths and the attacks
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
    format: ReportFormat,

    #[command(flatten)]
    metric: MetricArgs,
}

/// The form of a report.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ReportFormat {
    /// Human-readable text
    Table,
    /// One row for each attack
    Csv,
    /// One JSON object
    Json,
    /// A table in Markdown
    Markdown,
}

/// Runs the attacks, and prints the results.
pub(crate) fn run(args: &ReconstructArgs) -> Result<(), Failure> {
    let alphabet = Alphabet::letters(args.letters.into())
        .map_err(|error| Failure::input(format!("--letters: {}", error.problem)))?;
    let metric = MetricOptions::from(&args.metric);
    let (metrics, alphabet) = if metric == MetricOptions::default() {
        (reconstruct::default_metrics(alphabet), alphabet)
    } else {
        let metric = metric.metric(&alphabet, None, Some(&cell::screen()?))?;
        let Scoring { metric, alphabet } = Scoring::new(metric, alphabet)?;
        (vec![(metric.name().to_string(), metric)], alphabet)
    };
    let options = Options {
        metrics,
        alphabet,
        lengths: args.length.iter().copied().map(usize::from).collect(),
        reveal: args.reveal.clone(),
        hidden_lengths: args.hidden_lengths,
        repetitions: args.repetitions.into(),
        effort: Effort {
            members: 16,
            sweeps: args.sweeps.into(),
            proposals: 60,
            max_comparisons: 2000,
        },
        longest_search: args.longest_search.into(),
        seed: args.seed,
    };
    let steps = reconstruct::steps(&options)?;
    if steps == 0 {
        return Err(Failure::input(
            "no attack supports this metric, answer and length\n  for crqa, choose one of --measures; see also --reveal and --longest-search",
        ));
    }
    let bar = bar(steps, Unit::Steps, messages::is_quiet());
    let report = reconstruct::run(&options, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let text = match args.format {
        ReportFormat::Table => report.table(),
        ReportFormat::Csv => report.csv(),
        ReportFormat::Markdown => report.markdown(),
        ReportFormat::Json => report.json().map_err(Failure::json)? + "\n",
    };
    Destination::Stdout.write(|out| out.write_all(text.as_bytes()))
}

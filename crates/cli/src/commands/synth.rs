//! `veilpath synth`: synthetic cohorts, for experiments, dry runs and demonstrations.

use crate::commands::compare::NotationName;
use crate::destination::Destination;
use crate::failure::Failure;
use crate::messages;
use crate::numbers::decimal;
use clap::{Args, Subcommand, ValueEnum};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use veilpath::Contents;
use veilpath::Grid;
use veilpath::synth::{self, LifelikeOptions, RandomOptions, Viewers};

const EXAMPLES: &str = "\
Examples:
  veilpath synth random --count 10 --length 8,20,50 --seed 1 -o random.csv
  veilpath synth lifelike --participants 12 --stimuli 4 --seed 7 -o everyone.csv";

const RANDOM_EXAMPLES: &str = "\
Examples:
  veilpath synth random --count 10 --length 8,20,50 --seed 1 -o random-a.csv
  veilpath synth random --count 10 --length 8,20,50 --seed 2 -o random-b.csv
  veilpath synth random --count 5 --length 20-60 --notation dna --seed 3

Scanpaths of the same length share a stimulus named after it, so that `veilpath compare` pairs equal lengths.";

const LIFELIKE_EXAMPLES: &str = "\
Examples:
  veilpath synth lifelike --participants 12 --stimuli 4 --seed 7 -o everyone.csv
  veilpath synth lifelike --groups patients=20,controls=20 --difference 0.5 --seed 7 -o everyone.csv
  veilpath synth lifelike --seed 7 --as fixations -o fixations.csv
  veilpath encode fixations.csv --screen 1280x720 -o cohort.csv";

/// The arguments of `synth`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SynthArgs {
    #[command(subcommand)]
    kind: Kind,
}

#[derive(Debug, Subcommand)]
enum Kind {
    /// Generate random letters, as in the synthetic experiments of Ozdel et al. (2024)
    Random(RandomArgs),
    /// Generate scanpaths of several groups of participants who look at the same stimuli
    Lifelike(LifelikeArgs),
}

/// The arguments of `synth random`.
#[derive(Debug, Args)]
#[command(after_help = RANDOM_EXAMPLES)]
struct RandomArgs {
    /// Number of scanpaths of each length
    #[arg(long, value_name = "NUMBER", default_value_t = RandomOptions::default().count)]
    count: usize,

    /// The lengths: numbers and ranges, separated by commas; in a range, each scanpath gets a random length
    #[arg(long, value_name = "LENGTHS", default_value = "100", value_delimiter = ',', value_parser = length)]
    length: Vec<RangeInclusive<usize>>,

    /// The notation of the letters
    #[arg(long, value_enum, value_name = "NOTATION", default_value = "letters")]
    notation: NotationName,

    /// Number of different letters [default: all letters of the notation; numbers: 49]
    #[arg(long, value_name = "NUMBER")]
    letters: Option<u32>,

    #[command(flatten)]
    shared: SharedArgs,
}

/// The arguments of `synth lifelike`.
#[derive(Debug, Args)]
#[command(after_help = LIFELIKE_EXAMPLES)]
struct LifelikeArgs {
    /// Number of participants, half of them novices and half of them experts
    #[arg(long, value_name = "NUMBER", default_value_t = 12, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    participants: u32,

    /// Groups and their sizes, instead of novices and experts; the cohort gets a column `group`
    #[arg(long, value_name = "NAME=NUMBER", value_delimiter = ',', value_parser = group, conflicts_with = "participants")]
    groups: Vec<(String, u32)>,

    /// How much the groups differ: 0 for not at all, 1 for entirely different favourite places
    #[arg(
        long,
        value_name = "FRACTION",
        default_value_t = LifelikeOptions::default().difference,
        allow_negative_numbers = true,
        value_parser = decimal
    )]
    difference: f64,

    /// Number of stimuli that every participant looks at
    #[arg(long, value_name = "NUMBER", default_value_t = LifelikeOptions::default().stimuli, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    stimuli: u32,

    /// How long a participant looks at a stimulus
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = LifelikeOptions::default().seconds,
        allow_negative_numbers = true
    )]
    seconds: f64,

    /// The grid of the letters
    #[arg(long, value_name = "GRID", default_value = "7x7")]
    grid: Grid,

    /// What to write
    #[arg(long = "as", value_enum, value_name = "WHAT", default_value = "cohort")]
    what: SynthOutput,

    /// Also write fixations, with positions and durations, for metrics that need them
    #[arg(long)]
    keep_fixations: bool,

    #[command(flatten)]
    shared: SharedArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SynthOutput {
    /// Scanpaths, ready to be compared
    Cohort,
    /// A table of fixations on a 1280x720 screen, as input for `veilpath encode`
    Fixations,
}

#[derive(Debug, Args)]
struct SharedArgs {
    /// The seed [default: a new one, which is printed]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Write to this file [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Replace the file even if it is not a cohort
    #[arg(long)]
    force: bool,
}

/// Generates and writes a cohort or a table of fixations.
pub(crate) fn run(args: &SynthArgs) -> Result<(), Failure> {
    match &args.kind {
        Kind::Random(args) => random(args),
        Kind::Lifelike(args) => lifelike(args),
    }
}

fn random(args: &RandomArgs) -> Result<(), Failure> {
    let cohort = synth::random(&RandomOptions {
        count: args.count,
        lengths: args.length.clone(),
        notation: args.notation.into(),
        letters: args.letters,
        seed: args.shared.seed,
    })?;
    args.shared.print_seed(cohort.seed);
    let output = args.shared.destination(Contents::Cohort)?;
    output.write_table("cohort.csv", |out| cohort.write(out))
}

fn lifelike(args: &LifelikeArgs) -> Result<(), Failure> {
    let options = LifelikeOptions {
        viewers: match args.groups.as_slice() {
            [] => Viewers::NovicesAndExperts(args.participants),
            groups => Viewers::Groups(groups.to_vec()),
        },
        difference: args.difference,
        stimuli: args.stimuli,
        seconds: args.seconds,
        keep_fixations: args.keep_fixations,
        seed: args.shared.seed,
    };
    match args.what {
        SynthOutput::Cohort => {
            let output = args.shared.destination(Contents::Cohort)?;
            let cohort = synth::lifelike(&options, args.grid)?;
            args.shared.print_seed(cohort.seed);
            output.write_table("cohort.csv", |out| cohort.write(out))
        }
        SynthOutput::Fixations => {
            if args.keep_fixations {
                messages::note("--keep-fixations has no effect: a table of fixations is written");
            }
            let output = args.shared.destination(Contents::Fixations)?;
            let table = synth::fixations(&options)?;
            args.shared.print_seed(table.seed);
            output.write_table("fixations.csv", |out| table.write(out))
        }
    }
}

impl SharedArgs {
    fn destination(&self, contents: Contents) -> Result<Destination, Failure> {
        Destination::prepare(contents, self.output.as_deref(), &[], self.force)
    }

    /// Prints the seed if the user did not choose it.
    fn print_seed(&self, seed: u64) {
        if self.seed.is_none() {
            messages::note(&format!(
                "the seed is {seed}: use --seed {seed} to generate the same data again"
            ));
        }
    }
}

fn length(text: &str) -> Result<RangeInclusive<usize>, String> {
    let number = |text: &str| {
        text.trim()
            .parse::<usize>()
            .map_err(|_| "expected a number, as in 100, or a range, as in 20-60".to_string())
    };
    let (from, to) = match text.split_once('-') {
        Some((from, to)) => (number(from)?, number(to)?),
        None => (number(text)?, number(text)?),
    };
    if from > to {
        return Err("the range ends before it starts".into());
    }
    Ok(from..=to)
}

fn group(text: &str) -> Result<(String, u32), String> {
    text.split_once('=')
        .and_then(|(name, size)| Some((name.trim().to_string(), size.trim().parse().ok()?)))
        .filter(|(_, size)| (1..=100_000).contains(size))
        .ok_or_else(|| "expected NAME=NUMBER, as in patients=20".to_string())
}

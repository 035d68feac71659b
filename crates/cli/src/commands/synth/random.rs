//! Random strings: the paper's synthetic experiment compares ten scanpaths of one length with ten others.

use super::{generator, numbered};
use crate::commands::compare::NotationName;
use crate::failure::Failure;
use crate::output::to_file_or_stdout;
use clap::Args;
use rand::RngExt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use veilpath_encode::cohort_file;
use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Notation, Scanpath};

const EXAMPLES: &str = "\
Examples:
  veilpath synth random --count 10 --length 100 --seed 1 -o alice.csv
  veilpath synth random --count 10 --length 8,20,50 --seed 2 -o bob.csv
  veilpath synth random --count 5 --length 20-60 --alphabet dna --seed 3

Scanpaths of the same length share a stimulus named after it, so that `veilpath compare` pairs equal lengths.";

/// No experiment needs more letters, and a slip of the finger should not fill memory or disk. An empty scanpath counts
/// as one letter here, because its ids take room as well.
const MAX_LETTERS: u64 = 1 << 30;

/// The arguments of `synth random`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RandomArgs {
    /// How many scanpaths of each length
    #[arg(long, value_name = "NUMBER", default_value_t = 10)]
    count: usize,

    /// The lengths: numbers and ranges, separated by commas; a range draws a length for every scanpath
    #[arg(long, value_name = "LENGTHS", default_value = "100", value_delimiter = ',', value_parser = length)]
    length: Vec<RangeInclusive<usize>>,

    /// How the letters are written
    #[arg(long, value_enum, value_name = "NOTATION", default_value = "letters")]
    alphabet: NotationName,

    /// How many different letters [default: all that the notation has; numbers: 49]
    #[arg(long, value_name = "NUMBER")]
    letters: Option<u32>,

    /// The seed [default: a new one, which is printed]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Where the cohort goes [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Makes and writes a cohort.
pub(super) fn run(args: &RandomArgs) -> Result<(), Failure> {
    let notation = Notation::from(args.alphabet);
    let letters = args.letters.unwrap_or(match notation {
        Notation::Numbers => 49,
        _ => notation.capacity(),
    });
    let alphabet = Alphabet::new(notation, letters)
        .map_err(|error| Failure::input(format!("--letters: {}", error.problem)))?;
    let total = args
        .length
        .iter()
        .map(|range| (*range.end() as u64).max(1))
        .try_fold(0u64, u64::checked_add)
        .and_then(|sum| sum.checked_mul(args.count as u64));
    if total.is_none_or(|total| total > MAX_LETTERS) {
        return Err(Failure::input(format!(
            "this would be more than {MAX_LETTERS} letters; choose a smaller --count or --length"
        )));
    }
    let (mut random, seed) = generator(args.seed);
    let last = u16::try_from(letters - 1).unwrap_or(u16::MAX);
    let mut entries = Vec::new();
    for range in &args.length {
        for _ in 0..args.count {
            let length = random.random_range(range.clone());
            entries.push(Entry {
                participant: numbered("r", entries.len() + 1, args.count * args.length.len()),
                stimulus: Some(stimulus(range)),
                scanpath: Scanpath::new(
                    (0..length).map(|_| random.random_range(0..=last)).collect(),
                ),
            });
        }
    }
    let cohort = Cohort {
        alphabet,
        encoding: Encoding::default(),
        entries,
    };
    let note = format!("random letters, seed {seed}");
    to_file_or_stdout(args.output.as_deref(), |out| {
        cohort_file::write(&cohort, &[note], out)
    })
}

fn stimulus(range: &RangeInclusive<usize>) -> String {
    if range.start() == range.end() {
        format!("length-{}", range.start())
    } else {
        format!("length-{}-{}", range.start(), range.end())
    }
}

fn length(text: &str) -> Result<RangeInclusive<usize>, String> {
    let number = |text: &str| {
        text.trim()
            .parse::<usize>()
            .map_err(|_| "a length is a number, as in 100, or a range, as in 20-60".to_string())
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

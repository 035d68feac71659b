//! `veilpath split`: deals participants to two cohorts, as the paper's experiments do.

use crate::failure::Failure;
use crate::new_file::{NewFile, same_place};
use crate::numbers::decimal;
use crate::{inputs, messages, notes};
use clap::Args;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use veilpath_encode::cohort_file;
use veilpath_metrics::Cohort;

const EXAMPLES: &str = "\
Examples:
  veilpath split everyone.csv --seed 1
  veilpath split everyone.csv --seed 1 --share 0.25 --first pilot.csv --second rest.csv

All scanpaths of a participant go to the same side. The same seed and file give the same sides on every machine.";

/// The arguments of `split`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SplitArgs {
    /// The cohort to deal out
    cohort: PathBuf,

    /// Where the first cohort goes [default: the file's name with -a]
    #[arg(long, value_name = "FILE")]
    first: Option<PathBuf>,

    /// Where the second cohort goes [default: the file's name with -b]
    #[arg(long, value_name = "FILE")]
    second: Option<PathBuf>,

    /// The share of participants that the first cohort gets
    #[arg(
        long,
        value_name = "FRACTION",
        default_value_t = 0.5,
        allow_negative_numbers = true,
        value_parser = decimal
    )]
    share: f64,

    /// The seed of the deal [default: a new one, which is printed]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
}

/// Deals and writes both cohorts.
pub(crate) fn run(args: &SplitArgs) -> Result<(), Failure> {
    if !(0.0..=1.0).contains(&args.share) {
        return Err(Failure::input(
            "--share is a fraction between 0 and 1, as in 0.5",
        ));
    }
    let raw = inputs::cohort(&args.cohort)?;
    let cohort = veilpath::cohort_of(&raw, &|event| notes::print(&event))?;
    let first = args
        .first
        .clone()
        .unwrap_or_else(|| with_suffix(&args.cohort, "-a"));
    let second = args
        .second
        .clone()
        .unwrap_or_else(|| with_suffix(&args.cohort, "-b"));
    if same_place(&first, &second)
        || same_place(&first, &args.cohort)
        || same_place(&second, &args.cohort)
    {
        return Err(Failure::input(
            "the cohort and its two parts must be three different files; choose others with --first and --second",
        ));
    }
    let seed = args.seed.unwrap_or_else(|| rand::rng().random());
    let chosen = deal(&cohort, args.share, seed);
    let (a, b) = divide(cohort, &chosen);
    if a.entries.is_empty() || b.entries.is_empty() {
        return Err(Failure::input(
            "one of the two cohorts would have no participants\n  choose another --share, or a cohort with more people",
        ));
    }
    let (first_file, second_file) = (
        NewFile::create(&first, &[])?,
        NewFile::create(&second, &[])?,
    );
    first_file.write(|out| cohort_file::write(&a, raw.header_notes(), out))?;
    second_file.write(|out| cohort_file::write(&b, raw.header_notes(), out))?;
    if !messages::is_quiet() {
        for (path, cohort) in [(&first, &a), (&second, &b)] {
            let people: HashSet<&str> = cohort
                .entries
                .iter()
                .map(|entry| entry.participant.as_str())
                .collect();
            messages::info(&format!(
                "{}: {} participants, {} scanpaths\n",
                path.display(),
                people.len(),
                cohort.entries.len()
            ));
        }
        messages::info(&format!(
            "seed {seed}: give --seed {seed} to deal the same again\n"
        ));
    }
    Ok(())
}

/// The participants of the first cohort.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)] // a count of people times a share between 0 and 1
fn deal(cohort: &Cohort, share: f64, seed: u64) -> HashSet<String> {
    let mut people: Vec<&str> = cohort
        .entries
        .iter()
        .map(|entry| entry.participant.as_str())
        .collect();
    people.sort_unstable();
    people.dedup();
    people.shuffle(&mut ChaCha20Rng::seed_from_u64(seed));
    let count = (people.len() as f64 * share).round() as usize;
    people.into_iter().take(count).map(str::to_string).collect()
}

fn divide(cohort: Cohort, chosen: &HashSet<String>) -> (Cohort, Cohort) {
    let (first, second) = cohort
        .entries
        .into_iter()
        .partition(|entry| chosen.contains(&entry.participant));
    let side = |entries| Cohort {
        alphabet: cohort.alphabet,
        encoding: cohort.encoding.clone(),
        entries,
    };
    (side(first), side(second))
}

/// `everyone.csv` becomes `everyone-a.csv`.
fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let stem = path
        .file_stem()
        .map(|stem| stem.to_string_lossy())
        .unwrap_or_default();
    let extension = path
        .extension()
        .map_or("csv".into(), |extension| extension.to_string_lossy());
    path.with_file_name(format!("{stem}{suffix}.{extension}"))
}

//! `veilpath split`: splits the participants of a cohort into two cohorts at random.

use crate::failure::Failure;
use crate::inputs::{self, is_dash};
use crate::messages;
use crate::notes;
use crate::numbers::decimal;
use clap::Args;
use std::path::{Path, PathBuf};
use veilpath::split::{self, SplitOptions};
use veilpath::{Contents, OutputFile, check_distinct_outputs, units, write_cohort_part};

const EXAMPLES: &str = "\
Examples:
  veilpath split everyone.csv --seed 1
  veilpath split everyone.csv --seed 1 --fraction 0.25 --first pilot.csv --second rest.csv

All scanpaths of a participant go to the same cohort, and every group is split in the same proportion. The same seed and file give the same cohorts on every machine.";

/// The arguments of `split`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SplitArgs {
    /// The cohort to split (- for standard input)
    cohort: PathBuf,

    /// Write the first cohort to this file [default: COHORT with -a before the extension]
    #[arg(long, value_name = "FILE")]
    first: Option<PathBuf>,

    /// Write the second cohort to this file [default: COHORT with -b before the extension]
    #[arg(long, value_name = "FILE")]
    second: Option<PathBuf>,

    /// The fraction of participants in the first cohort
    #[arg(
        long,
        value_name = "FRACTION",
        default_value_t = SplitOptions::default().fraction,
        allow_negative_numbers = true,
        value_parser = decimal
    )]
    fraction: f64,

    /// The seed of the random choice [default: a new one, which is printed]
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,

    /// Replace the files even if they are not cohorts
    #[arg(long)]
    force: bool,
}

/// Splits the cohort, and writes both parts.
pub(crate) fn run(args: &SplitArgs) -> Result<(), Failure> {
    let paths = paths(args)?;
    let raw = inputs::cohort(&args.cohort)?;
    let cohort = veilpath::decode_cohort(&raw, &|event| notes::print(&event))?;
    let options = SplitOptions {
        fraction: args.fraction,
        seed: args.seed,
    };
    let split = split::split(cohort, options)?;
    let inputs = [args.cohort.as_path()];
    let create = |path: &Path| -> Result<OutputFile, Failure> {
        let file = OutputFile::create_for(Contents::Cohort, path, &inputs, args.force)?;
        // A name that follows from that of the cohort is as good as that.
        let is_named = [&args.first, &args.second].contains(&&Some(path.to_path_buf()));
        if is_named {
            file.check_table_name()?;
        }
        Ok(file)
    };
    let files = [create(&paths[0])?, create(&paths[1])?];
    for (file, cohort) in files.into_iter().zip(&split.cohorts) {
        file.write(|out| write_cohort_part(&raw, cohort, out))?;
    }
    for (path, cohort) in paths.iter().zip(&split.cohorts) {
        messages::info(&format!(
            "{}: {}, {}\n",
            path.display(),
            units::counted(split::participants(cohort) as u64, "participant"),
            units::counted(cohort.entries.len() as u64, "scanpath")
        ));
    }
    if args.seed.is_none() {
        let seed = split.seed;
        messages::info(&format!(
            "seed {seed}: use --seed {seed} to get the same split again\n"
        ));
    }
    Ok(())
}

/// The files of the two parts.
fn paths(args: &SplitArgs) -> Result<[PathBuf; 2], Failure> {
    let named = [&args.first, &args.second];
    if is_dash(&args.cohort) && named.iter().any(|path| path.is_none()) {
        return Err(Failure::input(
            "a cohort from standard input has no file name to derive the names of its parts from\n  add --first and --second",
        ));
    }
    if named.into_iter().flatten().any(|path| is_dash(path)) {
        return Err(Failure::input(
            "-: the two cohorts cannot be written to standard output\n  name a file for each",
        ));
    }
    let [first, second] = split::default_paths(&args.cohort);
    let paths = [
        args.first.clone().unwrap_or(first),
        args.second.clone().unwrap_or(second),
    ];
    check_distinct_outputs(&[&paths[0], &paths[1]])?;
    Ok(paths)
}

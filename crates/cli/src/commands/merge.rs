//! `veilpath merge`: merges the results of tiles.

use crate::failure::Failure;
use crate::output::OutputArgs;
use crate::{inputs, messages};
use clap::Args;
use std::path::{Path, PathBuf};

const EXAMPLES: &str = "\
Examples:
  veilpath compare a.csv b.csv --tile 1/2 -o part-1.json
  veilpath compare a.csv b.csv --tile 2/2 -o part-2.json
  veilpath merge part-1.json part-2.json -o merged.json

`veilpath compare`, `veilpath host` and `veilpath join` with --tile I/K compute tile I of K of a large comparison, for \
example in one task of a SLURM array. Every tile writes its results as JSON. Apart from its cost, the merged result equals \
that of one run without --tile. Between institutions, all tiles belong to one agreement: a pair counts as in one run, a failed \
tile can be run again, and limits apply to all tiles together.";

/// The arguments of `merge`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct MergeArgs {
    /// The result files of all tiles of one plan, in JSON (- for standard input)
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Merges the files, and writes the results.
pub(crate) fn run(args: &MergeArgs) -> Result<(), Failure> {
    let inputs: Vec<&Path> = args.files.iter().map(PathBuf::as_path).collect();
    inputs::check_single_stdin(&inputs)?;
    let output = args.output.check(&inputs)?;
    let tiles = inputs.iter().map(|path| inputs::outcome(path));
    let outcome = veilpath::merge_named(tiles.collect::<Result<_, _>>()?)?;
    let written = output.write(&args.output, &inputs, &outcome)?;
    written.print();
    messages::info(&written.summary(&outcome));
    Ok(())
}

//! `veilpath results`: writes results of earlier sessions again, without the other side.

use crate::failure::Failure;
use crate::output::{OutputArgs, list, names};
use crate::{inputs, messages};
use clap::Args;
use std::path::PathBuf;
use veilpath::write_comparisons;

const EXAMPLES: &str = "\
Examples:
  veilpath results

Without an ID it prints one row for each comparison as CSV, the newest first, with the time in UTC. With an ID, or the start of one, it writes the \
results of that comparison like `veilpath host` and `veilpath join`, as in `veilpath results 3fa4c1d09b27 -o scores.csv`.

Results are stored as soon as they are known, even those of an interrupted session. If some are missing, every \
format says so. To compute them, run the two commands of the session again.";

/// The arguments of `results`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ResultsArgs {
    /// The id of the comparison, or a prefix of it [default: list all]
    #[arg(value_name = "ID")]
    id: Option<String>,

    /// Names of the two cohorts in the results [default: host,join]
    #[arg(long, value_name = "HOST,JOIN", value_parser = names, requires = "id")]
    names: Option<[String; 2]>,

    /// The identity file. Needed only without a home directory: the state folder is then `veilpath` next to this file
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    identity: Option<PathBuf>,

    #[command(flatten)]
    output: OutputArgs,
}

/// Lists the comparisons, or writes the results of one.
pub(crate) fn run(args: &ResultsArgs) -> Result<(), Failure> {
    let state_dir = veilpath::state_dir(args.identity.as_deref())?;
    let Some(id) = &args.id else {
        if args.output.output.is_some() || args.output.format().is_some() {
            return Err(Failure::input(
                "name the comparison whose results to write: `veilpath results` lists their ids",
            ));
        }
        let listing = state_dir.comparisons()?;
        if listing.entries.is_empty() && listing.unreadable.is_empty() {
            messages::info("there are no results of earlier sessions\n");
        }
        return list(&listing, write_comparisons);
    };
    let output = args.output.check(&[])?;
    let mut outcome = state_dir.stored_outcome(id)?;
    if let Some(names) = &args.names {
        outcome = outcome.with_names(names.clone());
    }
    let written = output.write(&args.output, &[], &outcome)?;
    written.print();
    messages::info(&written.summary(&outcome));
    if outcome.is_incomplete() {
        messages::note("to compute the missing pairs, run the two commands of this session again");
    }
    Ok(())
}

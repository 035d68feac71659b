//! `veilpath audit`: attacks on the engines, to see what they leak.

mod leakage;

use crate::failure::Failure;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  veilpath audit leakage --length 4 --rounds 2 --many 2 --hypotheses 100";

/// The arguments of `audit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// How many of the other side's letters a curious host can guess
    Leakage(leakage::LeakageArgs),
}

/// Attacks and prints.
pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    match &args.what {
        What::Leakage(args) => leakage::run(args),
    }
}

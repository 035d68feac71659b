//! `veilpath audit`: attacks the engines to measure what they leak.
//!
//! The attacks watch the key holder of a comparison. An installed program must not have the hooks for that, so the command
//! exists only in a build with the feature `audit`; in any other it is hidden and says how to get it.

#[cfg(feature = "audit")]
mod leakage;

use crate::failure::Failure;
use clap::Args;

#[cfg(feature = "audit")]
const EXAMPLES: &str = "\
Examples:
  veilpath audit leakage --length 4 --rounds 2 --group-size 2 --hypotheses 100";

/// The arguments of `audit`.
#[cfg(feature = "audit")]
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    what: What,
}

#[cfg(feature = "audit")]
#[derive(Debug, clap::Subcommand)]
enum What {
    /// How many of the other side's letters a curious host can guess
    Leakage(leakage::LeakageArgs),
}

/// Attacks and prints.
#[cfg(feature = "audit")]
pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    match &args.what {
        What::Leakage(args) => leakage::run(args),
    }
}

/// The arguments of `audit`, all of which are ignored.
#[cfg(not(feature = "audit"))]
#[derive(Debug, Args)]
pub(crate) struct AuditArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    ignored: Vec<std::ffi::OsString>,
}

/// Says which build has the command.
#[cfg(not(feature = "audit"))]
pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    let AuditArgs { ignored: _ } = args;
    Err(Failure::input(
        "this build has no `veilpath audit`: the hooks that it needs are left out of installed programs\n  \
         run it from the source: cargo run --release -p veilpath-cli --features audit -- audit leakage",
    ))
}

//! `veilpath audit`: attacks the engines and the answers to measure what they leak.
//!
//! Some attacks observe the key holder during a comparison. An installed program must not contain the hooks for this, so the
//! command exists only in builds with the feature `audit`. In other builds it is hidden and explains how to get it.

#[cfg(feature = "audit")]
mod leakage;
#[cfg(feature = "audit")]
mod reconstruct;

use crate::failure::Failure;
use clap::Args;

#[cfg(feature = "audit")]
const EXAMPLES: &str = "\
Examples:
  veilpath audit leakage --length 4 --repetitions 2 --group-size 2 --hypotheses 100
  veilpath audit reconstruct --length 4 --letters 16 --repetitions 2 --sweeps 10";

/// The arguments of `audit`.
#[cfg(feature = "audit")]
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct AuditArgs {
    #[command(subcommand)]
    what: AuditCommand,
}

#[cfg(feature = "audit")]
#[derive(Debug, clap::Subcommand)]
enum AuditCommand {
    /// Measure how many of the partner's letters a curious host can guess
    Leakage(leakage::LeakageArgs),
    /// Measure how many comparisons reconstruct a scanpath
    Reconstruct(reconstruct::ReconstructArgs),
}

/// Runs the attacks, and prints the results.
#[cfg(feature = "audit")]
pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    match &args.what {
        AuditCommand::Leakage(args) => leakage::run(args),
        AuditCommand::Reconstruct(args) => reconstruct::run(args),
    }
}

/// The arguments of `audit`, all of which are ignored.
#[cfg(not(feature = "audit"))]
#[derive(Debug, Args)]
#[command(
    after_help = "This build does not include it; `veilpath audit` says how to build it from source."
)]
pub(crate) struct AuditArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    ignored: Vec<std::ffi::OsString>,
}

/// Explains which build has the command.
#[cfg(not(feature = "audit"))]
pub(crate) fn run(args: &AuditArgs) -> Result<(), Failure> {
    let AuditArgs { ignored: _ } = args;
    Err(Failure::input(
        "this build does not include `veilpath audit`, which needs hooks that an installed program must not have\n  \
         run it from source: cargo run --release -p veilpath-cli --features audit -- audit --help",
    ))
}

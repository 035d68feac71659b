//! `veilpath bench`: what things cost on this machine.

mod paillier;

use crate::failure::Failure;
use clap::{Args, Subcommand};

const EXAMPLES: &str = "\
Examples:
  veilpath bench paillier --key-bits 512 --seconds 0.01";

/// The arguments of `bench`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Operations of the Paillier cryptosystem, per core
    Paillier(paillier::PaillierArgs),
}

/// Measures and prints.
pub(crate) fn run(args: &BenchArgs) -> Result<(), Failure> {
    match &args.what {
        What::Paillier(args) => paillier::run(args),
    }
}

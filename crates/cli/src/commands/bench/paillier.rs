//! `veilpath bench paillier`: Paillier operations per second on one core, and GMP's if it is built in.

use super::{Format, write};
use crate::engine_args::key_size;
use crate::failure::Failure;
use crate::messages;
use clap::Args;
use std::io::IsTerminal;
use std::time::Duration;
use veilpath::KeySize;
use veilpath_evaluation::paillier::{self, Options};

const EXAMPLES: &str = "\
Examples:
  veilpath bench paillier --key-bits 512 --seconds 0.01
  veilpath bench paillier --key-bits 512,1024 --seconds 0.01 --format json

Every operation is measured on one core, eight ciphertexts at a time. Built with `--features gmp` (which needs a C \
compiler and m4), the command also measures GMP's powm of the same sizes.";

/// The arguments of `bench paillier`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PaillierArgs {
    /// Key sizes, separated by commas
    #[arg(long, value_name = "BITS", value_delimiter = ',', default_value = "512,1024,2048,3072,4096", value_parser = key_size)]
    key_bits: Vec<KeySize>,

    /// How long to measure each operation
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = time)]
    seconds: Duration,

    /// The output format
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "FORMAT",
        default_value = "table"
    )]
    format: Format,
}

/// Measures and prints.
pub(super) fn run(args: &PaillierArgs) -> Result<(), Failure> {
    messages::info("measuring; results are most stable while nothing else runs on this machine\n");
    let terminal = std::io::stderr().is_terminal();
    let options = Options {
        key_sizes: args.key_bits.clone(),
        time: args.seconds,
    };
    let report = paillier::run(&options, |operation| {
        if terminal {
            messages::info(&format!("  {operation}\n"));
        }
    })?;
    write(args.format, || report.table(), || report.json())
}

fn time(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok();
    seconds
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .filter(|time| *time <= Duration::from_secs(3600))
        .ok_or_else(|| "expected a number of seconds from 0 to 3600".into())
}

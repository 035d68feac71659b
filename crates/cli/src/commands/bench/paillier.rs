//! `veilpath bench paillier`: operations of the cryptosystem per second and core, beside GMP where that is built in.

use super::Format;
use crate::engine_args::{KeyBits, key_size};
use crate::failure::Failure;
use crate::messages;
use crate::output::to_file_or_stdout;
use clap::Args;
use std::io::{IsTerminal, Write};
use std::time::Duration;
use veilpath_paillier::bench::{self, BenchPlan, BenchReport};

const EXAMPLES: &str = "\
Examples:
  veilpath bench paillier --key-bits 512 --seconds 0.01
  veilpath bench paillier --key-bits 512,1024 --seconds 0.01 --format json

Every operation is measured on one core, eight ciphertexts at a time. Built with `--features gmp` (which needs a C \
compiler and m4), GMP's powm of the same sizes is measured in the same run.";

/// The arguments of `bench paillier`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PaillierArgs {
    /// Key sizes, separated by commas
    #[arg(long, value_name = "BITS", value_delimiter = ',', default_value = "512,1024,2048,3072,4096", value_parser = key_size)]
    key_bits: Vec<KeyBits>,

    /// Time for each measurement
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5)]
    seconds: f64,

    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// Measures and prints.
pub(super) fn run(args: &PaillierArgs) -> Result<(), Failure> {
    let time = Duration::try_from_secs_f64(args.seconds)
        .ok()
        .filter(|time| *time <= Duration::from_secs(3600))
        .ok_or_else(|| Failure::input("--seconds is a time from 0 to 3600"))?;
    let plan = BenchPlan {
        sizes: args.key_bits.clone(),
        time,
        ..BenchPlan::default()
    };
    messages::info("measuring; a quiet machine gives steady numbers\n");
    let terminal = std::io::stderr().is_terminal();
    let report = bench::run(&plan, |row| {
        if !terminal {
            return;
        }
        messages::info(&format!(
            "  {} bits, {}, {}\n",
            row.bits,
            word(&row.kernel),
            word(&row.operation)
        ));
    })?;
    to_file_or_stdout(None, |out| match args.format {
        Format::Json => writeln!(out, "{}", serde_json::to_string_pretty(&report)?),
        Format::Table => table(&report, out),
    })
}

fn table(report: &BenchReport, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(
        out,
        "{:>5}  {:<9} {:<25} {:>14} {:>14} {:>10}",
        "bits", "kernel", "operation", "per second", "microseconds", "times GMP"
    )?;
    for row in &report.measurements {
        let ratio = row
            .times_gmp
            .map_or("-".to_string(), |ratio| format!("{ratio:.2}"));
        writeln!(
            out,
            "{:>5}  {:<9} {:<25} {:>14.0} {:>14.2} {ratio:>10}",
            row.bits,
            word(&row.kernel),
            word(&row.operation),
            row.operations_per_second,
            row.microseconds
        )?;
    }
    Ok(())
}

/// A name as it stands in JSON.
fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value)
        .ok()
        .and_then(|value| value.as_str().map(str::to_string))
        .unwrap_or_default()
}

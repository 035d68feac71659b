//! `veilpath bench paillier`: every operation of the cryptosystem.

use super::{Format, print, seconds};
use crate::engine_args::{KeyBits, key_size};
use crate::failure::Failure;
use clap::Args;
use std::fmt::Write as _;
use std::time::Duration;
use veilpath_paillier::bench::{BenchPlan, run as measure};

const EXAMPLES: &str = "\
Examples:
  veilpath bench paillier --key-bits 512 --seconds 0.01
  veilpath bench paillier --key-bits 512 --seconds 0.01 --format json";

/// The arguments of `bench paillier`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PaillierArgs {
    /// Sizes of key [default: all]
    #[arg(long, value_name = "BITS", value_delimiter = ',', value_parser = key_size)]
    key_bits: Vec<KeyBits>,

    /// Time for each measurement
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = seconds)]
    seconds: f64,

    /// How to write the numbers
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "table")]
    format: Format,
}

/// Measures and prints.
pub(crate) fn run(args: &PaillierArgs) -> Result<(), Failure> {
    let mut plan = BenchPlan {
        time: Duration::from_secs_f64(args.seconds),
        ..BenchPlan::default()
    };
    if !args.key_bits.is_empty() {
        plan.sizes.clone_from(&args.key_bits);
    }
    let report = measure(&plan, |_| {}).map_err(|error| Failure::input(error.to_string()))?;
    if args.format == Format::Json {
        let text = serde_json::to_string(&report);
        return print(&text.map_err(|error| Failure::input(error.to_string()))?);
    }
    let mut text = String::from(" bits  kernel    operation                 microseconds");
    for row in &report.measurements {
        let name = |value| serde_json::to_value(value).unwrap_or_default();
        let (kernel, operation) = (
            name(serde_json::json!(row.kernel)),
            name(serde_json::json!(row.operation)),
        );
        let _ = write!(
            text,
            "\n{:5}  {:8}  {:24}  {:12.1}",
            row.bits,
            kernel.as_str().unwrap_or_default(),
            operation.as_str().unwrap_or_default(),
            row.microseconds
        );
        if let Some(times) = row.times_gmp {
            let _ = write!(text, "  {times:.2} x GMP");
        }
    }
    print(&text)
}

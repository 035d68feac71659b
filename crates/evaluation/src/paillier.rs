//! Operations of the Paillier cryptosystem per second on one core, and GMP's if it is built in.

use crate::Error;
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Duration;
use veilpath_paillier::KeySize;
use veilpath_paillier::bench::{self, BenchOptions, BenchReport, Measurement};

/// The settings of a measurement.
#[derive(Clone, Debug)]
pub struct Options {
    /// The sizes of the keys.
    pub key_sizes: Vec<KeySize>,
    /// How long to measure each operation.
    pub time: Duration,
}

/// The result.
#[derive(Clone, Debug)]
pub struct Report(BenchReport);

/// Measures every operation on one core. `finished` is called with a description of each operation when it is done.
pub fn run(options: &Options, mut finished: impl FnMut(&str)) -> Result<Report, Error> {
    let options = BenchOptions {
        sizes: options.key_sizes.clone(),
        time: options.time,
        ..BenchOptions::default()
    };
    let report = bench::run(&options, |row: &Measurement| {
        let (kernel, operation) = (name(&row.kernel), name(&row.operation));
        finished(&format!("{} bits, {kernel}, {operation}", row.bits));
    })?;
    Ok(Report(report))
}

impl Report {
    /// The report as one JSON object.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(&self.0)
    }

    /// The report as human-readable text.
    pub fn table(&self) -> String {
        let mut text = format!(
            "{:>5}  {:<9} {:<25} {:>14} {:>14} {:>10}\n",
            "bits", "kernel", "operation", "per second", "microseconds", "times GMP"
        );
        for row in &self.0.measurements {
            let ratio = row
                .times_gmp
                .map_or("-".to_string(), |ratio| format!("{ratio:.2}"));
            let _ = writeln!(
                text,
                "{:>5}  {:<9} {:<25} {:>14.0} {:>14.2} {ratio:>10}",
                row.bits,
                name(&row.kernel),
                name(&row.operation),
                row.operations_per_second,
                row.microseconds
            );
        }
        text
    }
}

/// A variant's name in JSON.
fn name(variant: &impl Serialize) -> String {
    serde_json::to_value(variant)
        .ok()
        .and_then(|value| value.as_str().map(str::to_string))
        .unwrap_or_default()
}

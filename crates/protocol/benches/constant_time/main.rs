//! Tests whether operations on secrets take the same time for special and for random inputs, on the kernels of this processor.
//! Run with `cargo bench -p veilpath-protocol --features watch --bench constant_time [-- PART-OF-A-NAME]`.
//! `VEILPATH_TIMING_SECONDS` sets the time for each operation, 4 by default. Fails if the times of an operation differ beyond
//! doubt, if the control's deliberate leak is not found, or if nothing was measured.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    missing_docs,
    reason = "a bench prints what it finds, and may fail loudly"
)]

mod controls;
mod garbled;
mod hardened;
mod paillier;
mod probe;
mod shares;
mod statistics;

use std::process::ExitCode;

fn main() -> ExitCode {
    let seconds = std::env::var("VEILPATH_TIMING_SECONDS");
    let seconds = seconds.ok().and_then(|seconds| seconds.parse().ok());
    // Cargo adds `--bench`.
    let name_filter = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let mut experiment =
        probe::Experiment::new(seconds.unwrap_or(4.0), name_filter.unwrap_or_default());
    controls::all(&mut experiment);
    paillier::all(&mut experiment);
    garbled::all(&mut experiment);
    shares::all(&mut experiment);
    if experiment.all_as_expected() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

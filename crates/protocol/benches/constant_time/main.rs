//! Whether operations on secrets take the same time for special inputs and for random ones, on the kernels of this processor.
//! `cargo bench -p veilpath-protocol --features watch --bench constant_time [-- PART-OF-A-NAME]`; `VEILPATH_TIMING_SECONDS`
//! for each operation, 4 by default. Fails if the times of an operation differ beyond doubt, or if the leak of the control is not
//! found.

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
    let wanted = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let mut experiment = probe::Experiment::new(seconds.unwrap_or(4.0), wanted.unwrap_or_default());
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

//! Measures every operation, per core, as one result record.
//!
//! With the cargo feature `gmp`, the same run also measures the exponentiations of a plain implementation on GMP,
//! alternating with ours, so that the ratios are right even if the clock frequency varies.

#[cfg(feature = "gmp")]
mod gmp;
mod workload;

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::arith::Kernel;
use crate::error::Result;
use crate::key_size::KeySize;
use crate::rng::system_rng;
#[cfg(feature = "gmp")]
pub use gmp::gmp_powm_seconds;
pub use workload::Workload;

/// Ciphertexts per call: the lanes of the wide kernel.
const BATCH: usize = 8;
/// Each measurement is the best of this many rounds, because disturbances only make it slower.
const REPETITIONS: u32 = 5;

/// The settings of a measurement.
#[derive(Clone, Debug)]
pub struct BenchOptions {
    /// Key sizes.
    pub sizes: Vec<KeySize>,
    /// Kernels; those that this CPU cannot run are skipped.
    pub kernels: Vec<Kernel>,
    /// Time for each measurement.
    pub time: Duration,
}

impl Default for BenchOptions {
    /// All sizes, all kernels of this CPU, half a second for each measurement.
    fn default() -> Self {
        Self {
            sizes: KeySize::ALL.to_vec(),
            kernels: Kernel::all_available(),
            time: Duration::from_millis(500),
        }
    }
}

/// An operation of the cryptosystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Operation {
    /// Encryption by the key holder, including a randomiser from its tables.
    EncryptKeyHolder,
    /// Encryption by the key holder without tables.
    EncryptKeyHolderFresh,
    /// Encryption by the other side, including a randomiser from its tables.
    EncryptOtherSide,
    /// Encryption by the other side with a full exponentiation for each randomiser.
    EncryptOtherSideFresh,
    /// Decryption.
    Decrypt,
    /// The sum of two ciphertexts.
    Add,
    /// Multiplication by a 64-bit scalar.
    #[serde(rename = "scalar-mul-64")]
    ScalarMul64,
    /// Multiplication by a 128-bit scalar.
    #[serde(rename = "scalar-mul-128")]
    ScalarMul128,
    /// Multiplication by a scalar as long as the modulus: a full exponentiation.
    ScalarMulFull,
    /// Re-randomising by the other side, including a randomiser from its tables.
    Rerandomize,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 10] = [
        Self::EncryptKeyHolder,
        Self::EncryptKeyHolderFresh,
        Self::EncryptOtherSide,
        Self::EncryptOtherSideFresh,
        Self::Decrypt,
        Self::Add,
        Self::ScalarMul64,
        Self::ScalarMul128,
        Self::ScalarMulFull,
        Self::Rerandomize,
    ];
}

/// One operation, measured.
#[derive(Clone, Debug, Serialize)]
pub struct Measurement {
    /// κ.
    pub bits: u32,
    /// The operation.
    pub operation: Operation,
    /// The kernel.
    pub kernel: Kernel,
    /// Operations per second on one core.
    pub operations_per_second: f64,
    /// Microseconds per operation.
    pub microseconds: f64,
    /// Operations per second with one plain `powm` of GMP (for sums: one product and one division); absent without the
    /// feature `gmp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gmp_operations_per_second: Option<f64>,
    /// Our speed over that of GMP.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub times_gmp: Option<f64>,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct BenchReport {
    /// The version of this crate.
    pub version: &'static str,
    /// The fastest kernel of this CPU.
    pub detected_kernel: Kernel,
    /// Ciphertexts per call.
    pub batch: usize,
    /// One row for each size, kernel and operation.
    pub measurements: Vec<Measurement>,
}

/// Measures on the calling thread. `progress` is called with each row as soon as it is known.
pub fn run(options: &BenchOptions, mut progress: impl FnMut(&Measurement)) -> Result<BenchReport> {
    let mut rng = system_rng()?;
    let mut measurements = Vec::new();
    for &size in &options.sizes {
        let mut key = crate::SecretKey::generate(size, &mut rng)?;
        for &kernel in options
            .kernels
            .iter()
            .filter(|kernel| kernel.is_available())
        {
            key = key.with_kernel(kernel)?;
            let mut workload = Workload::new(key, &mut rng)?;
            #[cfg(feature = "gmp")]
            let gmp_workload = gmp::GmpWorkload::new(&workload);
            for operation in Operation::ALL {
                let mut ours = f64::INFINITY;
                let mut theirs: Option<f64> = None;
                let start = Instant::now();
                for repetition in 0..REPETITIONS {
                    // The slowest operations exceed their time already in the first repetition.
                    if repetition > 0 && start.elapsed() > 4 * options.time {
                        break;
                    }
                    let repetition_time = options.time / REPETITIONS;
                    ours = ours.min(
                        time_per_call(repetition_time, || workload.run(operation, &mut rng))?
                            / BATCH as f64,
                    );
                    #[cfg(feature = "gmp")]
                    {
                        let time = time_per_call(repetition_time, || {
                            gmp_workload.run(operation);
                            Ok(())
                        })?;
                        theirs = Some(theirs.map_or(time, |best| best.min(time)));
                    }
                }
                let row = Measurement {
                    bits: size.bits(),
                    operation,
                    kernel,
                    operations_per_second: 1.0 / ours,
                    microseconds: ours * 1e6,
                    gmp_operations_per_second: theirs.take().map(|time| 1.0 / time),
                    times_gmp: None,
                };
                let times_gmp = row
                    .gmp_operations_per_second
                    .map(|gmp| row.operations_per_second / gmp);
                let row = Measurement { times_gmp, ..row };
                progress(&row);
                measurements.push(row);
            }
            key = workload.into_key()?;
        }
    }
    Ok(BenchReport {
        version: env!("CARGO_PKG_VERSION"),
        detected_kernel: Kernel::detect(),
        batch: BATCH,
        measurements,
    })
}

/// Seconds per call, over as many calls as fit.
fn time_per_call(time: Duration, mut call: impl FnMut() -> Result<()>) -> Result<f64> {
    // Rounds become longer, because reading the clock takes longer than the shortest calls.
    let mut calls = 1u32;
    loop {
        let watch = Stopwatch::start();
        for _ in 0..calls {
            call()?;
        }
        let elapsed = watch.elapsed();
        if 2 * elapsed >= time || calls > u32::MAX / 2 {
            return Ok(elapsed.as_secs_f64() / f64::from(calls));
        }
        calls *= 2;
    }
}

/// The CPU time of this thread if the system reports it, else the wall-clock time.
struct Stopwatch {
    clock: Instant,
    on_core: Option<Duration>,
}

impl Stopwatch {
    fn start() -> Self {
        Self {
            clock: Instant::now(),
            on_core: time_on_core(),
        }
    }

    fn elapsed(&self) -> Duration {
        let on_core = self
            .on_core
            .and_then(|start| time_on_core()?.checked_sub(start));
        on_core.unwrap_or_else(|| self.clock.elapsed())
    }
}

fn time_on_core() -> Option<Duration> {
    // The CPU time is updated only when the scheduler runs, so it may lag by up to a tick.
    std::thread::yield_now();
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    statistics
        .split(' ')
        .next()?
        .parse()
        .ok()
        .map(Duration::from_nanos)
}

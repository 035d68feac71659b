//! Measures one operation with inputs of two classes, in random order.

use crate::statistics::{Class, DIFFERENT, Measurements, SUSPICIOUS};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::time::{Duration, Instant};

/// Slow operations are measured for longer, until there are this many measurements.
const MIN_MEASUREMENTS: usize = 400;
/// Slow operations are measured for at most this many times as long.
const MAX_OVERRUN: f64 = 6.0;

/// A timed operation. It first prepares an input of the class, outside the measurement.
pub(crate) type Operation<'a> = dyn FnMut(Class, &mut ChaCha20Rng) -> Duration + 'a;

/// The expected result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// No detectable difference.
    ConstantTime,
    /// A difference: the code leaks on purpose.
    Leak,
}

/// How long to measure, and the results so far.
pub(crate) struct Experiment {
    seconds: f64,
    /// Measures only operations whose name contains this.
    name_filter: String,
    probed: usize,
    as_expected: bool,
}

impl Experiment {
    pub(crate) fn new(seconds: f64, name_filter: String) -> Self {
        println!(
            "{:<52} {:>9} {:>10} {:>8} {:>8}",
            "operation", "measured", "mean", "t", "differ"
        );
        Self {
            seconds,
            name_filter,
            probed: 0,
            as_expected: true,
        }
    }

    /// Whether every operation was as expected. If none was measured, that is a failure: the name may be misspelt.
    pub(crate) fn all_as_expected(&self) -> bool {
        if self.probed == 0 {
            println!(
                "    NOTHING MEASURED: no operation has `{}` in its name",
                self.name_filter
            );
        }
        self.as_expected && self.probed > 0
    }

    /// Measures an operation and prints a line. Measures again if the classes differ: what a busy machine did to one
    /// measurement does not happen twice in the same direction.
    pub(crate) fn probe(&mut self, name: &str, expected: Expected, operation: &mut Operation<'_>) {
        if !name.contains(&self.name_filter) {
            return;
        }
        self.probed += 1;
        let first = self.measure(name, operation, 2026);
        if expected == Expected::Leak {
            let is_found = first.abs() >= DIFFERENT;
            println!(
                "    {}",
                if is_found {
                    "found, as it must be"
                } else {
                    "NOT FOUND: the test is blind"
                }
            );
            self.as_expected &= is_found;
        } else if first.abs() >= DIFFERENT {
            let second = self.measure(name, operation, 2027);
            let differs = second.abs() >= DIFFERENT && second.signum() == first.signum();
            println!(
                "    {}",
                if differs {
                    "DIFFERENT, twice"
                } else {
                    "not confirmed by the second measurement"
                }
            );
            self.as_expected &= !differs;
        }
    }

    /// Measures an operation, prints a line, and returns t.
    fn measure(&self, name: &str, operation: &mut Operation<'_>, seed: u64) -> f64 {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        for class in [Class::Fixed, Class::Random].repeat(4) {
            operation(class, &mut rng);
        }
        let mut measurements = Measurements::default();
        let (start, mut total) = (Instant::now(), 0.0);
        let more = |elapsed: f64, count: usize| {
            elapsed < self.seconds
                || (count < MIN_MEASUREMENTS && elapsed < MAX_OVERRUN * self.seconds)
        };
        while more(start.elapsed().as_secs_f64(), measurements.len()) {
            let class = if rng.random::<bool>() {
                Class::Fixed
            } else {
                Class::Random
            };
            let time = operation(class, &mut rng).as_secs_f64() * 1e9;
            total += time;
            measurements.push(class, time);
        }
        let found = measurements.largest();
        let verdict = match found.t.abs() {
            t if t >= DIFFERENT => "different",
            t if t >= SUSPICIOUS => "unclear: measure longer",
            _ => "no difference found",
        };
        #[allow(clippy::cast_precision_loss, reason = "a count for a mean")]
        let mean = total / measurements.len() as f64 / 1000.0;
        println!(
            "{name:<52} {:>9} {mean:>7.1} µs {:>8.2} {:>5.1} ns  {verdict}",
            measurements.len(),
            found.t,
            found.nanoseconds
        );
        found.t
    }
}

/// Measures how long some work takes.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = work();
    let elapsed = start.elapsed();
    // The result is dropped, and erased, outside the measurement.
    std::hint::black_box(result);
    elapsed
}

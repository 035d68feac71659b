//! Measuring one operation with inputs of two classes, in random order.

use crate::statistics::{Class, DIFFERENT, Measurements, SUSPICIOUS};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::time::{Duration, Instant};

/// Slow operations are measured for longer, until there are this many measurements,
const MIN_MEASUREMENTS: usize = 400;
/// but at most this many times as long.
const MAX_OVERRUN: f64 = 6.0;

/// An operation that is timed. It first prepares an input of the class, outside the measurement.
pub(crate) type Operation<'a> = dyn FnMut(Class, &mut ChaCha20Rng) -> Duration + 'a;

/// The expected result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expected {
    /// No detectable difference.
    NoDifference,
    /// A difference: the code leaks on purpose.
    Difference,
}

/// How long to measure, and the results so far.
pub(crate) struct Experiment {
    seconds: f64,
    /// Only operations with this in their name.
    wanted: String,
    as_expected: bool,
}

impl Experiment {
    pub(crate) fn new(seconds: f64, wanted: String) -> Self {
        println!(
            "{:<52} {:>9} {:>10} {:>8}",
            "operation", "measured", "mean", "t"
        );
        Self {
            seconds,
            wanted,
            as_expected: true,
        }
    }

    /// Whether every operation was as expected.
    pub(crate) fn all_as_expected(&self) -> bool {
        self.as_expected
    }

    /// Measures an operation and prints a line.
    pub(crate) fn probe(&mut self, name: &str, expected: Expected, operation: &mut Operation<'_>) {
        if !name.contains(&self.wanted) {
            return;
        }
        let mut rng = ChaCha20Rng::seed_from_u64(2026);
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
        let t = measurements.largest_t();
        let verdict = match (t.abs(), expected) {
            (t, Expected::NoDifference) if t < SUSPICIOUS => "no difference found",
            (t, Expected::NoDifference) if t < DIFFERENT => "unclear: measure longer",
            (_, Expected::NoDifference) => "DIFFERENT",
            (t, Expected::Difference) if t < DIFFERENT => "NOT FOUND: the test is blind",
            (_, Expected::Difference) => "found, as it must be",
        };
        self.as_expected &= (t.abs() < DIFFERENT) == (expected == Expected::NoDifference);
        #[allow(clippy::cast_precision_loss, reason = "a count for a mean")]
        let mean = total / measurements.len() as f64 / 1000.0;
        println!(
            "{name:<52} {:>9} {mean:>7.1} µs {t:>8.2}  {verdict}",
            measurements.len()
        );
    }
}

/// The time that some work takes.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    let result = work();
    let elapsed = start.elapsed();
    // The result is dropped, and erased, outside the measurement.
    std::hint::black_box(result);
    elapsed
}

//! Tests whether two classes of inputs take the same time, with Welch's t-test on cropped measurements, after Reparaz,
//! Balasch and Verbauwhede, "Dude, is my code constant time?" (DATE 2017).

/// Above this, chance is not a plausible explanation for a single test.
pub(crate) const SUSPICIOUS: f64 = 4.5;
/// Above this, the two classes differ.
pub(crate) const DIFFERENT: f64 = 10.0;
/// The number of thresholds above which measurements are dropped as interrupted.
const CROP_THRESHOLDS: i32 = 100;

/// The class of a measurement's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A special value: zero, all ones, a single letter.
    Fixed,
    /// Random values.
    Random,
}

/// How much longer the fixed inputs take, on average.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Difference {
    /// Welch's t.
    pub(crate) t: f64,
    pub(crate) nanoseconds: f64,
}

/// Measured times, with the class of their input.
#[derive(Default)]
pub(crate) struct Measurements(Vec<(Class, f64)>);

impl Measurements {
    /// Adds a measurement.
    pub(crate) fn push(&mut self, class: Class, time: f64) {
        self.0.push((class, time));
    }

    /// The number of measurements.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The difference with the largest |t|, over all measurements and over those below each threshold.
    pub(crate) fn largest(&self) -> Difference {
        let mut times: Vec<f64> = self.0.iter().map(|(_, time)| *time).collect();
        times.sort_by(f64::total_cmp);
        let thresholds = (1..=CROP_THRESHOLDS).filter_map(|crop| {
            // Denser towards the slow end, where measurements are distorted.
            let fraction = 1.0 - 0.5f64.powf(10.0 * f64::from(crop) / f64::from(CROP_THRESHOLDS));
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "an index from a fraction of the length"
            )]
            times.get((times.len() as f64 * fraction) as usize).copied()
        });
        thresholds
            .chain([f64::INFINITY])
            .map(|threshold| self.below(threshold))
            .max_by(|a, b| a.t.abs().total_cmp(&b.t.abs()))
            .unwrap_or_default()
    }

    fn below(&self, threshold: f64) -> Difference {
        let of_class = |class| {
            let times = self.0.iter().filter(|(of, _)| *of == class);
            Moments::of(
                times
                    .map(|(_, time)| *time)
                    .filter(|time| *time <= threshold),
            )
        };
        let (fixed, random) = (of_class(Class::Fixed), of_class(Class::Random));
        // Too few measurements for a variance.
        if fixed.count < 30.0 || random.count < 30.0 {
            return Difference::default();
        }
        let nanoseconds = fixed.mean - random.mean;
        let spread = fixed.variance() / fixed.count + random.variance() / random.count;
        let t = if nanoseconds == 0.0 {
            0.0
        } else {
            // Infinite if the clock is so coarse that there are two constants.
            nanoseconds / spread.sqrt()
        };
        Difference { t, nanoseconds }
    }
}

/// Count, mean and sum of squared distances from it, in one pass.
#[derive(Default)]
struct Moments {
    count: f64,
    mean: f64,
    squares: f64,
}

impl Moments {
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let mut moments = Self::default();
        for value in values {
            moments.count += 1.0;
            let distance = value - moments.mean;
            moments.mean += distance / moments.count;
            moments.squares += distance * (value - moments.mean);
        }
        moments
    }

    fn variance(&self) -> f64 {
        self.squares / (self.count - 1.0)
    }
}

//! Whether two classes of inputs take the same time: Welch's t-test on cropped measurements, after Reparaz, Balasch and
//! Verbauwhede, "Dude, is my code constant time?" (DATE 2017).

/// Above this, chance is not a plausible explanation for a single test.
pub(crate) const SUSPICIOUS: f64 = 4.5;
/// Beyond it, the two classes differ.
pub(crate) const DIFFERENT: f64 = 10.0;
/// Thresholds above which measurements are dropped as interrupted.
const CROP_THRESHOLDS: i32 = 100;

/// Which inputs a measurement had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// A special value: zero, all ones, a single letter.
    Fixed,
    /// Random values.
    Random,
}

/// Measured times, with the class of their input.
#[derive(Default)]
pub(crate) struct Measurements(Vec<(Class, f64)>);

impl Measurements {
    /// Adds one.
    pub(crate) fn push(&mut self, class: Class, time: f64) {
        self.0.push((class, time));
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Welch's t with the largest absolute value, over all measurements and over those below each threshold. A
    /// positive one says that the fixed inputs take longer.
    pub(crate) fn largest_t(&self) -> f64 {
        let mut times: Vec<f64> = self.0.iter().map(|(_, time)| *time).collect();
        times.sort_by(f64::total_cmp);
        let thresholds = (1..=CROP_THRESHOLDS).filter_map(|crop| {
            // Denser towards the slow end, where measurements are distorted.
            let kept = 1.0 - 0.5f64.powf(10.0 * f64::from(crop) / f64::from(CROP_THRESHOLDS));
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                clippy::cast_precision_loss,
                reason = "a place in a list from its share of the list"
            )]
            times.get((times.len() as f64 * kept) as usize).copied()
        });
        thresholds
            .chain([f64::INFINITY])
            .map(|threshold| self.t_below(threshold))
            .fold(
                0.0,
                |largest: f64, t| {
                    if t.abs() > largest.abs() { t } else { largest }
                },
            )
    }

    fn t_below(&self, threshold: f64) -> f64 {
        let of_class = |class| {
            let times = self.0.iter().filter(|(of, _)| *of == class);
            Moments::of(
                times
                    .map(|(_, time)| *time)
                    .filter(|time| *time <= threshold),
            )
        };
        let (fixed, random) = (of_class(Class::Fixed), of_class(Class::Random));
        // Too few for a variance.
        if fixed.count < 30.0 || random.count < 30.0 {
            return 0.0;
        }
        let spread = fixed.variance() / fixed.count + random.variance() / random.count;
        if spread == 0.0 {
            // A clock that is too coarse to see anything, or two constants.
            return if fixed.mean == random.mean {
                0.0
            } else {
                f64::INFINITY.copysign(fixed.mean - random.mean)
            };
        }
        (fixed.mean - random.mean) / spread.sqrt()
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

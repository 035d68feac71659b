//! Fixations with places and times, for measures that need more than letters.

use std::collections::BTreeMap;
use std::fmt;

/// One fixation.
#[derive(Clone, Copy, PartialEq)]
pub struct Fixation {
    /// From the left edge, in the unit of the cohort's [`Screen`].
    pub x: f64,
    /// From the upper edge, in the same unit.
    pub y: f64,
    /// When it started, in milliseconds, where this is known.
    pub start: Option<f64>,
    /// How long it lasted, in milliseconds.
    pub duration: f64,
}

/// The fixations of one participant on one stimulus, in the order of time. All numbers are finite, and no duration is negative.
///
/// Its `Debug` form shows only their number, so that a log or an assertion never prints what somebody looked at.
#[derive(Clone, PartialEq, Default)]
pub struct Fixations(Vec<Fixation>);

/// Why numbers are not a fixation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixationError {
    /// A coordinate, start or duration that is not a number, or infinite.
    #[error("fixation {position} has a number that is not finite")]
    NotFinite {
        /// Its position, from 1.
        position: usize,
    },
    /// A duration below zero.
    #[error("fixation {position} has a duration below zero")]
    NegativeDuration {
        /// Its position, from 1.
        position: usize,
    },
}

impl Fixations {
    /// Checks that all numbers are finite and no duration is negative.
    pub fn new(fixations: Vec<Fixation>) -> Result<Self, FixationError> {
        for (position, fixation) in (1..).zip(&fixations) {
            let Fixation {
                x,
                y,
                start,
                duration,
            } = *fixation;
            let mut numbers = [x, y, start.unwrap_or(0.0), duration].into_iter();
            if !numbers.all(f64::is_finite) {
                return Err(FixationError::NotFinite { position });
            }
            if duration < 0.0 {
                return Err(FixationError::NegativeDuration { position });
            }
        }
        Ok(Self(fixations))
    }

    /// The fixations.
    pub fn list(&self) -> &[Fixation] {
        &self.0
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Finite numbers are equal to themselves.
impl Eq for Fixations {}

impl fmt::Debug for Fixations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fixations({})", self.0.len())
    }
}

/// Shows nothing, as that of [`Fixations`].
impl fmt::Debug for Fixation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixation").finish_non_exhaustive()
    }
}

/// What the coordinates of fixations mean: x to the right and y down from the upper left corner of a screen or stimulus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    unit: ScreenUnit,
    width: f64,
    height: f64,
    viewing: Option<Viewing>,
}

/// The unit of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenUnit {
    /// Pixels.
    Pixels,
    /// Degrees of visual angle.
    Degrees,
}

/// Where a screen was, so that lengths on it become visual angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Viewing {
    /// Width of the screen in centimetres.
    pub width_cm: f64,
    /// Its height in centimetres.
    pub height_cm: f64,
    /// From the eye to its centre, in centimetres.
    pub distance_cm: f64,
}

/// A size or distance that is not a finite number above zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the size of the screen and the viewing distance must be finite numbers above 0")]
pub struct ScreenError;

impl Screen {
    /// A screen of this width and height in its unit.
    pub fn new(
        unit: ScreenUnit,
        (width, height): (f64, f64),
        viewing: Option<Viewing>,
    ) -> Result<Self, ScreenError> {
        let lengths = viewing.map(|viewing| {
            let Viewing {
                width_cm,
                height_cm,
                distance_cm,
            } = viewing;
            [width_cm, height_cm, distance_cm]
        });
        let mut lengths = [width, height]
            .into_iter()
            .chain(lengths.into_iter().flatten());
        if !lengths.all(|length| length.is_finite() && length > 0.0) {
            return Err(ScreenError);
        }
        Ok(Self {
            unit,
            width,
            height,
            viewing,
        })
    }

    /// The unit of coordinates.
    pub fn unit(&self) -> ScreenUnit {
        self.unit
    }

    /// The width in that unit.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// The height in that unit.
    pub fn height(&self) -> f64 {
        self.height
    }

    /// Its size in centimetres and its distance, where these are known.
    pub fn viewing(&self) -> Option<Viewing> {
        self.viewing
    }

    /// The length of the diagonal in the unit of coordinates.
    pub fn diagonal(&self) -> f64 {
        self.width.hypot(self.height)
    }

    /// The named settings that describe it, for comparing two cohorts and for files.
    pub fn settings(&self) -> BTreeMap<String, String> {
        let Screen {
            unit,
            width,
            height,
            viewing,
        } = self;
        let mut settings = BTreeMap::from([(
            SCREEN.to_string(),
            format!("{width} x {height} {}", unit.name()),
        )]);
        if let Some(viewing) = viewing {
            let Viewing {
                width_cm,
                height_cm,
                distance_cm,
            } = viewing;
            settings.insert(
                VIEWING.to_string(),
                format!("{width_cm} x {height_cm} cm from {distance_cm} cm"),
            );
        }
        settings
    }
}

/// The setting that says how large a screen is in the unit of coordinates.
pub const SCREEN: &str = "screen";

/// The setting that says how large a screen is in centimetres, and how far away it was.
pub const VIEWING: &str = "viewing";

/// Finite numbers are equal to themselves.
impl Eq for Screen {}

impl ScreenUnit {
    /// The word for it in files and results.
    pub fn name(self) -> &'static str {
        match self {
            ScreenUnit::Pixels => "pixels",
            ScreenUnit::Degrees => "degrees",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixation(x: f64, start: Option<f64>, duration: f64) -> Fixation {
        Fixation {
            x,
            y: 777.5,
            start,
            duration,
        }
    }

    #[test]
    fn numbers_are_checked() {
        let good = fixation(1.0, Some(0.0), 200.0);
        for bad in [
            fixation(f64::NAN, None, 1.0),
            fixation(1.0, Some(f64::INFINITY), 1.0),
            fixation(1.0, None, f64::NAN),
        ] {
            let error = FixationError::NotFinite { position: 2 };
            assert_eq!(Fixations::new(vec![good, bad]), Err(error));
        }
        let error = FixationError::NegativeDuration { position: 1 };
        assert_eq!(Fixations::new(vec![fixation(1.0, None, -1.0)]), Err(error));
        assert_eq!(Fixations::new(vec![good]).map(|all| all.len()), Ok(1));
    }

    #[test]
    fn debug_forms_show_no_gaze() {
        let one = fixation(1.0, Some(0.0), 200.0);
        let shown = format!("{one:?} {:?}", Fixations::new(vec![one]));
        assert_eq!(shown, "Fixation { .. } Ok(Fixations(1))");
    }

    #[test]
    fn screens_describe_themselves() {
        let viewing = Viewing {
            width_cm: 53.0,
            height_cm: 30.0,
            distance_cm: 65.5,
        };
        let screen = Screen::new(ScreenUnit::Pixels, (1920.0, 1080.0), Some(viewing));
        let settings = screen.map(|screen| screen.settings().into_iter().collect::<Vec<_>>());
        let expected = [
            (SCREEN, "1920 x 1080 pixels"),
            (VIEWING, "53 x 30 cm from 65.5 cm"),
        ]
        .map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(settings, Ok(expected.to_vec()));
        for size in [(0.0, 1.0), (1.0, f64::NAN), (f64::INFINITY, 1.0)] {
            assert_eq!(
                Screen::new(ScreenUnit::Degrees, size, None),
                Err(ScreenError)
            );
        }
    }
}

//! Fixations with positions and times, for metrics that need more than letters.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// One fixation.
#[derive(Clone, Copy, PartialEq)]
pub struct Fixation {
    /// Distance from the left edge, in the unit of the cohort's [`Screen`].
    pub x: f64,
    /// Distance from the upper edge, in the same unit.
    pub y: f64,
    /// The start time in milliseconds, if known.
    pub start: Option<f64>,
    /// The duration in milliseconds.
    pub duration: f64,
}

/// One participant's fixations on one stimulus, in chronological order. All numbers are finite and no duration is
/// negative.
///
/// Clones share the data. The `Debug` form shows only the count, so that logs and assertions never print what somebody
/// looked at.
#[derive(Clone, PartialEq, Default)]
pub struct Fixations(Arc<[Fixation]>);

/// Why a list of numbers is not a valid list of fixations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FixationError {
    /// A coordinate, start or duration that is NaN or infinite.
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
        Ok(Self(fixations.into()))
    }

    /// The fixations.
    pub fn list(&self) -> &[Fixation] {
        &self.0
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// All numbers are finite, so `PartialEq` is an equivalence relation.
impl Eq for Fixations {}

impl fmt::Debug for Fixations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fixations({})", self.0.len())
    }
}

/// Hides the numbers, like the `Debug` form of [`Fixations`].
impl fmt::Debug for Fixation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fixation").finish_non_exhaustive()
    }
}

/// The coordinate system of fixations: x to the right and y down, from the upper left corner of a screen or stimulus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Screen {
    unit: ScreenUnit,
    width: f64,
    height: f64,
    viewing: Option<ViewingGeometry>,
}

/// The unit of coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScreenUnit {
    /// Pixels.
    Pixels,
    /// Degrees of visual angle.
    Degrees,
}

/// The size and distance of a screen, for converting lengths on it to visual angles.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewingGeometry {
    /// Width of the screen in centimetres.
    pub width_cm: f64,
    /// Its height in centimetres.
    pub height_cm: f64,
    /// The distance from the eye to its centre, in centimetres.
    pub distance_cm: f64,
}

/// An invalid screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScreenError {
    /// A size or distance that is not a finite number above zero.
    #[error("the size of the screen and the viewing distance must be finite numbers above 0")]
    Size,
    /// A setting that is not in the form that [`Screen::settings`] writes.
    #[error("the setting \"{setting}\" must look like \"{}\"", example(setting))]
    Form {
        /// Its name.
        setting: &'static str,
    },
}

impl Screen {
    /// A screen of this width and height in its unit.
    pub fn new(
        unit: ScreenUnit,
        (width, height): (f64, f64),
        viewing: Option<ViewingGeometry>,
    ) -> Result<Self, ScreenError> {
        let lengths = viewing.map(|viewing| {
            let ViewingGeometry {
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
            return Err(ScreenError::Size);
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

    /// The size in centimetres and the viewing distance, if known.
    pub fn viewing(&self) -> Option<ViewingGeometry> {
        self.viewing
    }

    /// The length of the diagonal in the unit of coordinates.
    pub fn diagonal(&self) -> f64 {
        libm::hypot(self.width, self.height)
    }

    /// The named settings that describe the screen, for files and for comparing two cohorts.
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
            let ViewingGeometry {
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

    /// Parses the values of the settings [`SCREEN`] and [`VIEWING`].
    pub fn from_settings(screen: &str, viewing: Option<&str>) -> Result<Self, ScreenError> {
        let form = |setting| ScreenError::Form { setting };
        let (size, unit) = screen.trim().rsplit_once(' ').ok_or(form(SCREEN))?;
        let unit = [ScreenUnit::Pixels, ScreenUnit::Degrees]
            .into_iter()
            .find(|known| known.name() == unit)
            .ok_or(form(SCREEN))?;
        let size = parse_size(size).ok_or(form(SCREEN))?;
        let viewing = match viewing {
            Some(text) => Some(parse_viewing(text).ok_or(form(VIEWING))?),
            None => None,
        };
        Self::new(unit, size, viewing)
    }
}

/// The setting that holds a screen's size in the unit of coordinates.
pub const SCREEN: &str = "screen";

/// The setting that holds a screen's size in centimetres and the viewing distance.
pub const VIEWING: &str = "viewing";

/// All numbers are finite, so `PartialEq` is an equivalence relation.
impl Eq for Screen {}

impl ScreenUnit {
    /// The unit's name in files and results.
    pub fn name(self) -> &'static str {
        match self {
            ScreenUnit::Pixels => "pixels",
            ScreenUnit::Degrees => "degrees",
        }
    }
}

fn example(setting: &str) -> &'static str {
    match setting {
        VIEWING => "53 x 30 cm from 60 cm",
        _ => "1920 x 1080 pixels",
    }
}

fn parse_size(text: &str) -> Option<(f64, f64)> {
    let (width, height) = text.split_once('x')?;
    Some((width.trim().parse().ok()?, height.trim().parse().ok()?))
}

fn parse_viewing(text: &str) -> Option<ViewingGeometry> {
    let (size, distance) = text.split_once("from")?;
    let (width_cm, height_cm) = parse_size(size.trim().strip_suffix("cm")?)?;
    let distance_cm = distance.trim().strip_suffix("cm")?.trim().parse().ok()?;
    Some(ViewingGeometry {
        width_cm,
        height_cm,
        distance_cm,
    })
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
        let viewing = ViewingGeometry {
            width_cm: 53.0,
            height_cm: 30.0,
            distance_cm: 65.5,
        };
        let screen = Screen::new(ScreenUnit::Pixels, (1920.0, 1080.0), Some(viewing));
        let read = Screen::from_settings("1920 x 1080 pixels", Some("53 x 30 cm from 65.5 cm"));
        assert_eq!(read, screen);
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
                Err(ScreenError::Size)
            );
        }
    }

    #[test]
    fn settings_of_another_form_are_refused() {
        for (screen, viewing, setting) in [
            ("1920x1080", None, SCREEN),
            ("1920 x 1080 inches", None, SCREEN),
            ("1920 pixels", None, SCREEN),
            ("wide x high pixels", None, SCREEN),
            ("36 x 24 degrees", Some("60 cm"), VIEWING),
            ("36 x 24 degrees", Some("53 x 30 cm from afar"), VIEWING),
        ] {
            let refused = Screen::from_settings(screen, viewing);
            assert_eq!(refused, Err(ScreenError::Form { setting }), "{screen}");
        }
        let refused = Screen::from_settings("0 x 24 degrees", None);
        assert_eq!(refused, Err(ScreenError::Size));
        assert!(Screen::from_settings("36x24.5 degrees", None).is_ok());
    }
}

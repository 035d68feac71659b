//! How fixations are detected in raw gaze.

use crate::{EncodeField, ReadError};
use std::fmt;
use std::str::FromStr;
use veilpath_metrics::EncodingSetting;

/// The key of the detector's name among the settings of a cohort.
pub(crate) const DETECTOR_KEY: &str = EncodingSetting::Detector.name();

/// How raw gaze becomes a scanpath, and the parameters of all detectors. Parameters of a detector that is not in use
/// have no effect.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DetectionOptions {
    /// The rule. Default: runs.
    pub detector: Detector,
    /// I-VT: the speed, per second, at which the eye counts as moving. Default: 20 degrees.
    pub velocity: ScreenLength,
    /// I-VT: how speed is computed. Default: from five points.
    pub velocity_method: VelocityMethod,
    /// I-DT: the largest extent of a fixation, width plus height. Default: 1 degree.
    pub dispersion: ScreenLength,
    /// The minimum duration of a fixation. Default: 100.
    pub min_duration_ms: f64,
}

/// A rule that reduces raw gaze.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detector {
    /// Runs of samples in the same cell or area; there are no fixations.
    #[default]
    Runs,
    /// I-VT: a fixation is where the eye is slow.
    Ivt,
    /// I-DT: a fixation is where gaze stays within a small extent.
    Idt,
}

/// A length on the screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScreenLength {
    /// How many units.
    pub value: f64,
    /// The unit.
    pub unit: LengthUnit,
}

/// The unit of a length on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LengthUnit {
    /// Degrees of visual angle.
    Degrees,
    /// Pixels.
    Pixels,
}

/// How speed is computed from positions; the names are those of pymovements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VelocityMethod {
    /// The difference between a sample and the previous one.
    Preceding,
    /// The difference between the next sample and the previous one.
    Neighbors,
    /// The difference between the means of the next two and the previous two samples.
    #[default]
    FivePoint,
    /// The slope of a polynomial fitted to the surrounding samples.
    SavitzkyGolay {
        /// How many samples, an odd number.
        window: u16,
        /// The degree of the polynomial.
        degree: u16,
    },
}

/// The longest window of a polynomial.
const MAX_WINDOW: u16 = 999;

/// The highest degree of a polynomial.
const MAX_DEGREE: u16 = 9;

/// The largest minimum duration: one minute.
const MAX_MIN_DURATION_MS: f64 = 60_000.0;

impl Default for DetectionOptions {
    fn default() -> Self {
        let degrees = |value| ScreenLength {
            value,
            unit: LengthUnit::Degrees,
        };
        Self {
            detector: Detector::Runs,
            velocity: degrees(20.0),
            velocity_method: VelocityMethod::FivePoint,
            dispersion: degrees(1.0),
            min_duration_ms: 100.0,
        }
    }
}

impl DetectionOptions {
    pub(crate) fn check(&self) -> Result<(), ReadError> {
        let refuse = |problem: &str, remedy: &str, field| {
            let error = ReadError::new("encoding options", problem);
            Err(error.with_remedy(remedy).with_fields(&[field]))
        };
        let is_length = |length: ScreenLength| length.value.is_finite() && length.value > 0.0;
        if !is_length(self.velocity) {
            return refuse(
                "the velocity threshold must be a number above 0",
                "it is given per second, as in 20deg or 800px",
                EncodeField::Velocity,
            );
        }
        if !is_length(self.dispersion) {
            return refuse(
                "the dispersion threshold must be a number above 0",
                "it is given as in 1deg or 40px",
                EncodeField::Dispersion,
            );
        }
        if !(self.min_duration_ms > 0.0 && self.min_duration_ms <= MAX_MIN_DURATION_MS) {
            return refuse(
                "the minimum duration of a fixation must be above 0 and at most 60,000",
                "it is given in milliseconds, as in 100",
                EncodeField::MinDuration,
            );
        }
        match self.velocity_method {
            VelocityMethod::SavitzkyGolay { window, degree }
                if window % 2 == 0
                    || window > MAX_WINDOW
                    || !(1..=MAX_DEGREE).contains(&degree)
                    || degree >= window =>
            {
                refuse(
                    "a Savitzky-Golay filter needs an odd window of at most 999 samples, and a degree from 1 to 9 that is smaller than the window",
                    "7 samples and degree 2 are usual",
                    EncodeField::VelocityMethod,
                )
            }
            _ => Ok(()),
        }
    }

    /// The threshold's unit.
    pub(crate) fn unit(&self) -> Option<LengthUnit> {
        match self.detector {
            Detector::Runs => None,
            Detector::Ivt => Some(self.velocity.unit),
            Detector::Idt => Some(self.dispersion.unit),
        }
    }

    /// The settings that must be equal on both sides of a comparison.
    pub(crate) fn settings(&self) -> Vec<(&'static str, String)> {
        let detector = (DETECTOR_KEY, self.detector.name().to_string());
        let min_duration = (
            EncodingSetting::MinDuration.name(),
            format!("{} ms", self.min_duration_ms),
        );
        match self.detector {
            Detector::Runs => Vec::new(),
            Detector::Ivt => vec![
                detector,
                ("velocity", format!("{}/s", self.velocity)),
                ("velocity-method", self.velocity_method.to_string()),
                min_duration,
            ],
            Detector::Idt => vec![
                detector,
                ("dispersion", self.dispersion.to_string()),
                min_duration,
            ],
        }
    }
}

impl Detector {
    /// The name in cohort files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Detector::Runs => "runs",
            Detector::Ivt => "ivt",
            Detector::Idt => "idt",
        }
    }
}

impl fmt::Display for ScreenLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            LengthUnit::Degrees => "deg",
            LengthUnit::Pixels => "px",
        };
        write!(f, "{} {unit}", self.value)
    }
}

/// A text that is not a length on the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected a number with its unit, as in 1deg or 40px")]
pub struct ScreenLengthError;

impl FromStr for ScreenLength {
    type Err = ScreenLengthError;

    fn from_str(text: &str) -> Result<Self, ScreenLengthError> {
        let text = text.trim();
        let units = [
            ("deg", LengthUnit::Degrees),
            ("°", LengthUnit::Degrees),
            ("px", LengthUnit::Pixels),
        ];
        units
            .into_iter()
            .find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))
            .and_then(|(number, unit)| {
                let value = number.trim().parse().ok()?;
                Some(ScreenLength { value, unit })
            })
            .ok_or(ScreenLengthError)
    }
}

impl fmt::Display for VelocityMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VelocityMethod::Preceding => f.write_str("preceding"),
            VelocityMethod::Neighbors => f.write_str("neighbors"),
            VelocityMethod::FivePoint => f.write_str("fivepoint"),
            VelocityMethod::SavitzkyGolay { window, degree } => {
                write!(f, "savitzky-golay:{window}:{degree}")
            }
        }
    }
}

/// A text that is not the name of a velocity method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected preceding, neighbors, fivepoint, savitzky-golay or savitzky-golay:WINDOW:DEGREE")]
pub struct VelocityMethodError;

/// `savitzky-golay` alone means a window of 7 samples and degree 2.
impl FromStr for VelocityMethod {
    type Err = VelocityMethodError;

    fn from_str(text: &str) -> Result<Self, VelocityMethodError> {
        let parts: Vec<&str> = text.split(':').collect();
        let polynomial = |window: &str, degree: &str| {
            Some(VelocityMethod::SavitzkyGolay {
                window: window.parse().ok()?,
                degree: degree.parse().ok()?,
            })
        };
        match parts[..] {
            ["preceding"] => Some(VelocityMethod::Preceding),
            ["neighbors" | "neighbours"] => Some(VelocityMethod::Neighbors),
            ["fivepoint"] => Some(VelocityMethod::FivePoint),
            ["savitzky-golay"] => polynomial("7", "2"),
            ["savitzky-golay", window, degree] => polynomial(window, degree),
            _ => None,
        }
        .ok_or(VelocityMethodError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_their_units() {
        for (text, shown) in [
            ("1deg", Some("1 deg")),
            ("0.5 deg", Some("0.5 deg")),
            ("1.5°", Some("1.5 deg")),
            ("30px", Some("30 px")),
            ("30", None),
            ("px", None),
            ("1cm", None),
        ] {
            let read = text.parse::<ScreenLength>().ok();
            assert_eq!(read.map(|it| it.to_string()).as_deref(), shown, "{text}");
        }
        for (text, shown) in [
            ("fivepoint", Some("fivepoint")),
            ("neighbours", Some("neighbors")),
            ("savitzky-golay", Some("savitzky-golay:7:2")),
            ("savitzky-golay:11:3", Some("savitzky-golay:11:3")),
            ("savitzky-golay:11", None),
            ("mean", None),
        ] {
            let read = text.parse::<VelocityMethod>().ok();
            assert_eq!(read.map(|it| it.to_string()).as_deref(), shown, "{text}");
        }
    }

    #[test]
    fn numbers_that_make_no_sense_are_refused() {
        let usual = DetectionOptions::default();
        assert!(usual.check().is_ok());
        let polynomial = |window, degree| DetectionOptions {
            velocity_method: VelocityMethod::SavitzkyGolay { window, degree },
            ..usual
        };
        assert!(polynomial(7, 2).check().is_ok());
        let length = |value| ScreenLength {
            value,
            unit: LengthUnit::Pixels,
        };
        for (bad, field) in [
            (polynomial(6, 2), EncodeField::VelocityMethod),
            (polynomial(3, 3), EncodeField::VelocityMethod),
            (polynomial(3, 0), EncodeField::VelocityMethod),
            (polynomial(1001, 2), EncodeField::VelocityMethod),
            (
                DetectionOptions {
                    velocity: length(0.0),
                    ..usual
                },
                EncodeField::Velocity,
            ),
            (
                DetectionOptions {
                    dispersion: length(f64::NAN),
                    ..usual
                },
                EncodeField::Dispersion,
            ),
            (
                DetectionOptions {
                    min_duration_ms: 60_001.0,
                    ..usual
                },
                EncodeField::MinDuration,
            ),
        ] {
            let fields = bad.check().map_err(|error| error.fields);
            assert_eq!(fields, Err(vec![field]));
        }
    }
}

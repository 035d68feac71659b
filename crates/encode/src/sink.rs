//! The interface between readers and the encoder: points in the file's own coordinates, recording by recording.
//!
//! A reader knows its format and nothing about grids and letters; the sink knows nothing about formats. Every row of a
//! file that is not a header, comment or blank line is reported exactly once, as a fixation, a sample or a drop, so
//! that `read = used + dropped` always holds in the summary.

use crate::{ColumnRoles, EncodeField, EncodeNote, ReadError};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;

/// Receives what a reader finds.
pub trait Sink {
    /// The recording that the following rows belong to. A reader may call this for every row; recordings of one file may
    /// be interleaved.
    fn recording(&mut self, recording: &Recording<'_>) -> Result<RecordingId, ReadError>;

    /// A fixation.
    fn fixation(&mut self, recording: RecordingId, fixation: Fixation<'_>);

    /// A gaze sample.
    fn sample(&mut self, recording: RecordingId, sample: Sample<'_>);

    /// A row without a gaze point.
    fn dropped(&mut self, reason: Dropped);

    /// A row of an event that was not requested, with the label that the file gives it.
    fn unrequested_event(&mut self, label: &str);

    /// The same for a gaze sample of a recording: it has no point, but takes its place in time, so that the samples before
    /// and after it are not neighbours.
    fn unrequested_sample(&mut self, recording: RecordingId, time_ms: Option<f64>, label: &str);

    /// An assumption about something that the file does not state, for the summary, with the options that change it.
    /// Repeating it is harmless.
    fn assumed(&mut self, assumption: &str, changed_by: &[EncodeField]);

    /// Something that the user may not expect, for the summary. A sink without a summary ignores it.
    fn note(&mut self, _note: EncodeNote) {}

    /// Called for each line that a reader looks at before it reports any, so that the caller can stop it.
    fn looked_at_line(&mut self) -> Result<(), ReadError> {
        Ok(())
    }

    /// Whether the size of the screen or stimulus must be known, because points become positions on it.
    fn needs_size(&self) -> bool {
        true
    }

    /// Whether the durations of fixations matter. If not, neither does their unit.
    fn needs_durations(&self) -> bool {
        true
    }

    /// The groups that a file names for its participants, and whether the user asked for them. A sink without a cohort ignores
    /// them.
    fn groups(&mut self, _groups: HashMap<String, String>, _requested: bool) {}

    /// The roles of a table's columns, for the summary. A sink without a summary ignores it.
    fn columns(&mut self, _roles: ColumnRoles) {}
}

/// A handle for a recording, given out by a [`Sink`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordingId(pub usize);

/// One participant viewing one stimulus, and what the rows mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording<'a> {
    /// The participant.
    pub participant: &'a str,
    /// The stimulus.
    pub stimulus: Option<&'a str>,
    /// The kind of rows.
    pub kind: Kind,
    /// Where the stimulus lies in the file's coordinates; `None` if neither the file nor the user says so, which is
    /// possible only with an AOI encoding.
    pub space: Option<Space>,
}

/// The kind of rows of a recording.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Fixations, as the tracker's software found them.
    Fixations,
    /// Raw gaze, sample by sample.
    Gaze {
        /// Samples per second, if the format or the user gives it.
        rate_hz: Option<f64>,
    },
}

/// The stimulus in the file's coordinates. `top > bottom` where y points up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Space {
    /// x of the left edge.
    pub left: f64,
    /// y of the upper edge.
    pub top: f64,
    /// x of the right edge.
    pub right: f64,
    /// y of the lower edge.
    pub bottom: f64,
    /// The kind of coordinates.
    pub kind: SpaceKind,
}

/// The kinds of coordinates, as far as placing points depends on them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpaceKind {
    /// Pixels, each of which lies in one grid cell as a whole.
    Pixels,
    /// Pixels from the centre of the screen, which may have fractions.
    CentredPixels,
    /// Fractions of the stimulus.
    Fractions,
    /// Fractions of a panorama, 360° by 180°.
    PanoramaFractions,
    /// x is an angle around a globe: a value beyond one edge by less than a full turn wraps around to the other.
    Globe,
    /// Degrees of visual angle from the centre of a screen, whose edges are in centimetres.
    VisualAngle {
        /// The distance from the eye to the screen, in centimetres.
        distance_cm: f64,
    },
}

impl Space {
    /// Pixels with the origin at the top left.
    pub fn pixels(width: f64, height: f64) -> Self {
        Self {
            left: 0.0,
            top: 0.0,
            right: width,
            bottom: height,
            kind: SpaceKind::Pixels,
        }
    }

    /// 0 to 1 with the origin at the top left.
    pub fn unit() -> Self {
        Self {
            kind: SpaceKind::Fractions,
            ..Self::pixels(1.0, 1.0)
        }
    }

    /// 0 to 1 of a panorama, with the origin at the top left.
    pub fn panorama() -> Self {
        Self {
            kind: SpaceKind::PanoramaFractions,
            ..Self::unit()
        }
    }

    /// Width divided by height; `None` if it is not known from the coordinates.
    pub fn aspect(&self) -> Option<f64> {
        let aspect = ((self.right - self.left) / (self.bottom - self.top)).abs();
        match self.kind {
            SpaceKind::PanoramaFractions => Some(2.0),
            // Fractions always look square, so they do not reveal the aspect.
            SpaceKind::Fractions if (aspect - 1.0).abs() < 1e-9 => None,
            _ => Some(aspect).filter(|aspect| aspect.is_finite()),
        }
    }

    /// 0 to 100 with the origin at the top left.
    pub fn percent() -> Self {
        Self {
            kind: SpaceKind::Fractions,
            ..Self::pixels(100.0, 100.0)
        }
    }

    /// Coordinates from the centre of the screen, with y pointing up; `width` and `height` are those of the screen.
    pub fn centred(width: f64, height: f64) -> Self {
        Self {
            left: -width / 2.0,
            top: height / 2.0,
            right: width / 2.0,
            bottom: -height / 2.0,
            kind: SpaceKind::Fractions,
        }
    }

    /// Pixels from the centre of the screen, with y pointing up.
    pub fn centred_pixels(width: f64, height: f64) -> Self {
        Self {
            kind: SpaceKind::CentredPixels,
            ..Self::centred(width, height)
        }
    }

    /// Degrees of visual angle from the centre of the screen, with y pointing up.
    pub fn visual_angle((width_cm, height_cm): (f64, f64), distance_cm: f64) -> Self {
        Self {
            kind: SpaceKind::VisualAngle { distance_cm },
            ..Self::centred(width_cm, height_cm)
        }
    }

    /// Longitude −180 to 180 and latitude −90 (bottom) to 90.
    pub fn globe() -> Self {
        Self {
            left: -180.0,
            top: 90.0,
            right: 180.0,
            bottom: -90.0,
            kind: SpaceKind::Globe,
        }
    }

    /// The same space with y pointing the other way.
    pub fn flipped(self) -> Self {
        Self {
            top: self.bottom,
            bottom: self.top,
            ..self
        }
    }

    /// Converts a point to the coordinates of the edges. A visual angle is projected onto the screen; at 90° or more it
    /// becomes infinite.
    pub(crate) fn project(&self, x: f64, y: f64) -> (f64, f64) {
        let SpaceKind::VisualAngle { distance_cm } = self.kind else {
            return (x, y);
        };
        let to_cm = |degrees: f64| match degrees {
            ahead if ahead.abs() < 90.0 => distance_cm * ahead.to_radians().tan(),
            behind => f64::INFINITY.copysign(behind),
        };
        (to_cm(x), to_cm(y))
    }

    /// The point as fractions of width and height from the top left.
    pub fn fraction(&self, x: f64, y: f64) -> (f64, f64) {
        (
            (x - self.left) / (self.right - self.left),
            (y - self.top) / (self.bottom - self.top),
        )
    }
}

/// One fixation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixation<'a> {
    /// x in the file's coordinates.
    pub x: f64,
    /// y in the file's coordinates.
    pub y: f64,
    /// The start, if the file has it.
    pub start_ms: Option<f64>,
    /// The duration, if the file has it; never negative or NaN.
    pub duration_ms: Option<f64>,
    /// The area of interest that the tracker's software names.
    pub aoi: Option<&'a str>,
}

/// One gaze sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// The time, if the file has it.
    pub time_ms: Option<f64>,
    /// The point; `None` for a lost sample (NaN, `.`, confidence 0, blink).
    pub point: Option<(f64, f64)>,
    /// The area of interest that the tracker's software names.
    pub aoi: Option<&'a str>,
}

/// Why a row is not used. The order is that of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dropped {
    /// A sample or fixation without coordinates: NaN, `.`, `n/a`, a blink, confidence 0.
    Lost,
    /// Outside the stimulus.
    Outside,
    /// In no area of interest.
    NoAoi,
    /// Marked invalid by the tracker.
    Invalid,
    /// A saccade, a blink event, a message: a row that does not say where somebody looked.
    OtherEvent,
    /// The other eye of a binocular file.
    OtherEye,
    /// Another row of a fixation that is already counted.
    SameFixation,
    /// A duration below zero.
    NegativeDuration,
    /// A fixation while no stimulus was shown (calibration, pause).
    NoStimulus,
    /// The first fixation of a recording, which the ScanMatch toolbox leaves out.
    FirstFixation,
    /// A fixation of less than half a bin, which temporal binning rounds to zero.
    TooShort,
}

/// The words that follow a number of rows.
impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Dropped::Lost => "lost: no coordinates, a blink or confidence 0",
            Dropped::Outside => "outside the stimulus",
            Dropped::NoAoi => "in no area of interest",
            Dropped::Invalid => "marked invalid by the tracker",
            Dropped::OtherEvent => "of other events, such as saccades, blinks or samples",
            Dropped::OtherEye => "of the other eye",
            Dropped::SameFixation => "of a fixation already used",
            Dropped::NegativeDuration => "with a negative duration",
            Dropped::NoStimulus => "between stimuli",
            Dropped::FirstFixation => "left out as the first of a recording",
            Dropped::TooShort => "shorter than half a temporal bin",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panoramas_are_twice_as_wide_as_high() {
        assert_eq!(Space::globe().aspect(), Some(2.0));
        assert_eq!(Space::panorama().aspect(), Some(2.0));
        assert_eq!(Space::unit().aspect(), None);
        assert_eq!(Space::pixels(1600.0, 1000.0).aspect(), Some(1.6));
    }
}

//! The error if neither the unit of coordinates nor the size of the screen is known.

use crate::{Columns, EncodeField, ReadError};

/// A unit that the first rows suggest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LikelyUnit {
    /// Degrees of visual angle from the centre.
    VisualAngle,
    /// Longitude and latitude, or pixels from the centre.
    LonLatOrPixels,
    /// Pixels from the centre.
    CentredPixels,
    /// Percent from the top left, or pixels of a small stimulus.
    Percent,
}

impl LikelyUnit {
    /// The error that asks for the unit, and for the settings that it needs.
    pub(super) fn error(self, columns: &Columns) -> ReadError {
        use EncodeField::{CentredPixels, LonLat, Percent, Screen, VisualAngle};
        let (look, remedy, fields): (&str, &str, &[EncodeField]) = match self {
            LikelyUnit::VisualAngle => (
                "they are small numbers around zero, so probably degrees of visual angle from the centre of the screen",
                "for degrees, give that unit, the size of the screen in centimetres and the viewing distance; for pixels from the centre, give that unit and the size of the screen in pixels",
                &[VisualAngle, CentredPixels, Screen],
            ),
            LikelyUnit::LonLatOrPixels => (
                "they lie within ±180 and ±90, so they may be longitude and latitude on a panorama, or pixels from the centre of the screen",
                "give the unit, and for pixels the size of the screen",
                &[LonLat, CentredPixels, Screen],
            ),
            LikelyUnit::CentredPixels => (
                "many are below zero, so they are probably pixels from the centre of the screen",
                "give that unit and the size of the screen in pixels; for pixels from the top left, the size alone",
                &[CentredPixels, Screen],
            ),
            LikelyUnit::Percent => (
                "they range from 0 to 100, so they are probably percent of the screen",
                "give that unit, or for pixels the size of the screen or stimulus",
                &[Percent, Screen],
            ),
        };
        columns
            .error(format!("the unit of the coordinates is not stated; {look}"))
            .with_remedy(remedy)
            .with_fields(fields)
    }
}

//! How much rounding fixations to letters changes them, for users and result files.

use crate::Spec;
use serde::{Deserialize, Serialize};
use veilpath_metrics::{Grid, SCREEN, Screen};

/// How fixations become letters, and the largest change that this makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FixationRounding {
    /// The grid over the whole screen.
    pub grid: Grid,
    /// The largest distance by which a fixation on the screen moves, in the unit of coordinates.
    pub largest_shift: f64,
    /// The unit of coordinates, if the cohorts specify it.
    pub unit: Option<String>,
    /// The durations in milliseconds to which all others are rounded; empty if durations do not count.
    pub durations: Vec<f64>,
    /// The largest change of a duration up to the last of `durations`, in milliseconds.
    pub largest_duration_change: Option<f64>,
}

impl Spec {
    /// How fixations are rounded, if the metric compares rounded ones.
    pub fn fixation_rounding(&self) -> Option<FixationRounding> {
        let quantisation = self.metric.quantisation()?;
        let screen = self.encoding.get(SCREEN);
        let screen = screen.and_then(|screen| Screen::from_settings(screen, None).ok());
        let largest_shift = quantisation.largest_shift();
        // A plan from a file may contain any numbers.
        largest_shift.is_finite().then(|| FixationRounding {
            grid: quantisation.grid(),
            largest_shift,
            unit: screen.map(|screen| screen.unit().name().to_string()),
            durations: quantisation.durations().to_vec(),
            largest_duration_change: quantisation.largest_duration_change(),
        })
    }
}

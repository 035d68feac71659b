//! The names of the encoding settings that have a meaning beyond the program that wrote them.

use crate::Encoding;
use std::collections::BTreeMap;

/// A setting that says how letters were made. A cohort file can have others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EncodingSetting {
    /// What the letters were made from: `fixations`, `gaze`, or both.
    Data,
    /// The grid whose cells are the letters, as in `7x7`.
    Grid,
    /// What happened to points off the stimulus, as in `dropped`.
    Outside,
    /// The names of the areas of interest, in letter order.
    Areas,
    /// How fixations were detected in gaze.
    Detector,
    /// The shortest detected fixation.
    MinDuration,
    /// The time that each letter stands for, for fixations.
    Bin,
    /// The time that each letter stands for, for runs of gaze.
    MinDwell,
    /// How a run that is not a multiple of [`Self::MinDwell`] is rounded: `floor`, `round` or `ceil`.
    Downsize,
    /// The most letters of a run; 0 for any number.
    MaxRepeats,
    /// Whether equal neighbouring runs are merged: `yes` or `no`.
    Merge,
    /// The longest gap that does not end a run.
    MaxGap,
    /// What the length of a run is measured by: `time` or `count`.
    Runs,
}

impl EncodingSetting {
    /// All settings, in the order in which to describe them.
    pub const ALL: [EncodingSetting; 13] = [
        EncodingSetting::Data,
        EncodingSetting::Grid,
        EncodingSetting::Areas,
        EncodingSetting::Outside,
        EncodingSetting::Detector,
        EncodingSetting::MinDuration,
        EncodingSetting::Bin,
        EncodingSetting::MinDwell,
        EncodingSetting::Downsize,
        EncodingSetting::MaxRepeats,
        EncodingSetting::Merge,
        EncodingSetting::MaxGap,
        EncodingSetting::Runs,
    ];

    /// The name in cohort and result files.
    pub const fn name(self) -> &'static str {
        match self {
            EncodingSetting::Data => "data",
            EncodingSetting::Grid => "grid",
            EncodingSetting::Outside => "outside",
            EncodingSetting::Areas => "areas",
            EncodingSetting::Detector => "detect",
            EncodingSetting::MinDuration => "min-duration",
            EncodingSetting::Bin => "bin",
            EncodingSetting::MinDwell => "min-dwell",
            EncodingSetting::Downsize => "downsize",
            EncodingSetting::MaxRepeats => "max-repeats",
            EncodingSetting::Merge => "merge",
            EncodingSetting::MaxGap => "max-gap",
            EncodingSetting::Runs => "runs",
        }
    }

    /// The value among named settings.
    pub fn value_in(self, settings: &BTreeMap<String, String>) -> Option<&str> {
        settings.get(self.name()).map(String::as_str)
    }

    /// Whether this is the setting with that name.
    pub fn is_named(self, name: &str) -> bool {
        self.name() == name
    }
}

impl Encoding {
    /// The value of a setting, if it is given.
    pub fn get(&self, setting: EncodingSetting) -> Option<&str> {
        setting.value_in(&self.0)
    }
}

//! Notes for the user about what was encoded.

mod find;
mod text;

pub(crate) use find::notes;
pub(crate) use text::{first_of, pluralized};

use crate::{Dropped, EncodeField, GroupsNotUsed};
use serde::Serialize;

/// Something that is not an error, but that a user may not expect.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EncodeNote {
    /// Scanpaths with the participant and stimulus of an earlier file.
    RepeatedIds {
        /// How many.
        scanpaths: u64,
    },
    /// Trials with a stimulus that the participant had seen before in the same file.
    StimuliRepeated {
        /// How many.
        trials: u64,
    },
    /// Gaze samples with an earlier time than the previous one.
    TimeBackwards {
        /// How many.
        rows: u64,
    },
    /// Scanpaths whose fixations were sorted by their start.
    FixationsSorted {
        /// How many.
        scanpaths: u64,
    },
    /// Scanpaths whose fixations are not in temporal order and would overlap if they were sorted.
    FixationsOverlap {
        /// How many.
        scanpaths: u64,
    },
    /// Most durations are too short or too long for a fixation.
    UnlikelyDurations {
        /// How many.
        fixations: u64,
        /// Of how many with a duration.
        of: u64,
    },
    /// Most fixations have the position and duration of the row before them, which they overlap.
    RepeatedFixations {
        /// How many.
        fixations: u64,
        /// Of how many.
        of: u64,
    },
    /// Gaze samples that are further apart than a tracker's.
    LongSteps {
        /// The median step of the first rows, in milliseconds.
        step_ms: f64,
    },
    /// Participants whose durations are too short or too long for a fixation, unlike those of the others.
    OddDurations {
        /// How many.
        participants: usize,
        /// Of how many.
        of: usize,
        /// The files that contain only their recordings.
        files: Vec<String>,
    },
    /// More points lie outside the screen than on it; or more than a quarter do, apart from those of a few participants.
    ManyOutside {
        /// How many.
        outside: u64,
        /// How many were used.
        used: u64,
        /// The likely reason.
        cause: LikelyCause,
    },
    /// Most rows have no coordinates.
    MostlyLost {
        /// How many.
        lost: u64,
        /// Of how many.
        rows: u64,
    },
    /// Nearly all points fall into one grid cell.
    OneCell {
        /// How many.
        points: u64,
        /// Of how many.
        used: u64,
        /// The likely reason.
        cause: LikelyCause,
    },
    /// All longitudes and latitudes are too small for degrees.
    Radians {
        /// How many points there are.
        points: u64,
    },
    /// Nearly all points lie in one half of the grid.
    HalfEmpty {
        /// The half with the points.
        half: Half,
        /// How many points were used.
        used: u64,
    },
    /// Participants whose points lie outside the screen or in one grid cell, unlike those of the others.
    OddParticipants {
        /// How many.
        participants: usize,
        /// Of how many.
        of: usize,
        /// The files that contain only their recordings.
        files: Vec<String>,
    },
    /// No scanpath has a letter.
    NoLetters {
        /// How many scanpaths there are.
        scanpaths: usize,
        /// Why.
        cause: NoLetters,
    },
    /// Files from which no row was used, although rows of other files were.
    FilesNotUsed {
        /// Their names, as the user gave them.
        files: Vec<String>,
        /// Whether rows of the other eye are in them.
        other_eye: bool,
    },
    /// Many points lie exactly at the origin.
    ManyAtOrigin {
        /// How many.
        points: u64,
        /// Of how many.
        all: u64,
    },
    /// Many points are the same one outside the screen.
    ManyOffScreen {
        /// Its x in the file's coordinates.
        x: f64,
        /// Its y in the file's coordinates.
        y: f64,
        /// How many.
        points: u64,
        /// Of how many.
        all: u64,
    },
    /// Stimuli without any area of interest.
    StimuliWithoutArea {
        /// How many.
        stimuli: usize,
    },
    /// Requested areas of interest that no row names.
    AreasNotNamed {
        /// The areas.
        areas: Vec<String>,
        /// The most frequent of the names that were not requested, with the number of their rows.
        others: Vec<(String, u64)>,
        /// How many more of these names there are.
        more: usize,
    },
    /// A column that may contain event labels, but is not used.
    LabelsNotUsed {
        /// Its name.
        column: String,
        /// Some of its labels.
        labels: Vec<String>,
        /// How many more there are.
        more: usize,
        /// Why the column is not used.
        doubt: LabelDoubt,
    },
    /// Event labels that the user asked for and that do not occur in a file.
    LabelsMissing {
        /// The labels.
        labels: Vec<String>,
    },
    /// Groups in the recordings that are not used.
    GroupsNotUsed {
        /// Why.
        reason: GroupsNotUsed,
    },
    /// An option without effect on these files.
    NoEffect {
        /// The option.
        field: EncodeField,
        /// Why.
        reason: NoEffect,
    },
}

/// Why points are not where they are expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LikelyCause {
    /// They lie between 0 and 1.
    Fractions,
    /// They lie between -1 and 1.
    Centred,
    /// They lie between 0 and 100.
    Percent,
    /// They lie between -60 and 60, and many are below zero.
    VisualAngle,
    /// Many are below zero, as if counted from the centre.
    CentreOrigin,
    /// None of the above: probably the size of the screen or the unit.
    SizeOrUnit,
}

/// A half of the screen or stimulus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Half {
    /// The left one.
    Left,
    /// The right one.
    Right,
    /// The upper one.
    Upper,
    /// The lower one.
    Lower,
}

/// Why no scanpath has a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoLetters {
    /// All runs of raw gaze were shorter than the minimum dwell.
    ShortRuns {
        /// How many runs.
        runs: u64,
    },
    /// A detector found no fixation, or none with a letter.
    NoFixations {
        /// How many it found.
        found: u64,
    },
    /// Most fixations were shorter than half a temporal bin.
    ShortFixations {
        /// How many.
        fixations: u64,
    },
    /// The most frequent reason why rows were not used.
    Dropped(Dropped),
    /// There are no rows.
    NoRows,
}

/// Why a column that may contain event labels is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabelDoubt {
    /// No value is a known word for a fixation.
    NoFixation,
    /// Beside a word for a fixation, it has this value, which is not a known eye movement.
    UnknownLabel(String),
    /// It has a word for a fixation, and otherwise too many values.
    ManyValues,
    /// It has only words for fixations, and rows without a value.
    RowsWithoutLabel,
}

/// Why an option has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoEffect {
    /// The format of this name defines it.
    Format(String),
    /// All rows are fixations.
    OnlyFixations,
    /// No column has event labels.
    NoEventColumn,
    /// No column names an eye.
    NoEyeColumn,
    /// Nothing is measured in degrees of visual angle.
    NoVisualAngles,
    /// All coordinates are longitudes and latitudes.
    Panorama,
    /// Areas of interest are compared with the coordinates as they are.
    AreasInFile,
    /// A column names the areas of interest.
    AreasInColumn,
    /// The durations of fixations are not used.
    NoDurationsUsed,
    /// No column has times or durations.
    NoTimes,
    /// A column gives the names instead.
    NamedInColumn,
    /// The detector of this name does not use it.
    Detector(&'static str),
}

impl EncodeNote {
    /// Whether it says that the points of all files together are not where they are expected.
    pub(crate) fn is_about_all_points(&self) -> bool {
        matches!(
            self,
            EncodeNote::ManyOutside { .. }
                | EncodeNote::OneCell { .. }
                | EncodeNote::Radians { .. }
                | EncodeNote::HalfEmpty { .. }
        )
    }

    /// The option fields that could change it; [`Summary::fields_of`](crate::Summary::fields_of) leaves out those
    /// without effect on the files.
    pub fn fields(&self) -> &'static [EncodeField] {
        match self {
            EncodeNote::RepeatedIds { .. } => &[EncodeField::NamePattern],
            EncodeNote::FixationsOverlap { .. } => &[EncodeField::TrialColumn],
            EncodeNote::UnlikelyDurations { .. }
            | EncodeNote::OddDurations { .. }
            | EncodeNote::LongSteps { .. } => &[EncodeField::TimeUnit],
            EncodeNote::RepeatedFixations { .. } => &[EncodeField::SampleRows],
            EncodeNote::ManyOutside {
                cause: LikelyCause::CentreOrigin,
                ..
            }
            | EncodeNote::OneCell {
                cause: LikelyCause::CentreOrigin,
                ..
            } => &[EncodeField::CentredPixels, EncodeField::VisualAngle],
            EncodeNote::ManyOutside {
                cause: LikelyCause::VisualAngle,
                ..
            }
            | EncodeNote::OneCell {
                cause: LikelyCause::VisualAngle,
                ..
            } => &[EncodeField::VisualAngle],
            EncodeNote::ManyOutside { .. }
            | EncodeNote::OneCell { .. }
            | EncodeNote::HalfEmpty { .. } => &[EncodeField::Units, EncodeField::Screen],
            EncodeNote::MostlyLost { .. } => &[EncodeField::Eye, EncodeField::CoordinateColumns],
            EncodeNote::NoLetters {
                cause: NoLetters::ShortRuns { .. },
                ..
            } => &[EncodeField::MinDwell, EncodeField::Rate, EncodeField::Rows],
            EncodeNote::NoLetters {
                cause: NoLetters::ShortFixations { .. },
                ..
            } => &[EncodeField::Bin, EncodeField::TimeUnit],
            EncodeNote::NoLetters {
                cause: NoLetters::NoFixations { found: 0 },
                ..
            } => &[
                EncodeField::Velocity,
                EncodeField::Dispersion,
                EncodeField::MinDuration,
            ],
            EncodeNote::NoLetters {
                cause: NoLetters::NoFixations { .. } | NoLetters::Dropped(Dropped::Outside),
                ..
            } => &[EncodeField::Units, EncodeField::Screen],
            EncodeNote::FilesNotUsed {
                other_eye: true, ..
            } => &[EncodeField::Eye],
            EncodeNote::NoLetters { .. }
            | EncodeNote::FilesNotUsed { .. }
            | EncodeNote::Radians { .. }
            | EncodeNote::ManyAtOrigin { .. }
            | EncodeNote::ManyOffScreen { .. } => &[],
            EncodeNote::LabelsNotUsed { .. } | EncodeNote::LabelsMissing { .. } => {
                &[EncodeField::Events]
            }
            EncodeNote::AreasNotNamed { .. } => &[EncodeField::AoiColumn],
            EncodeNote::StimuliWithoutArea { .. } => &[EncodeField::AoiFile],
            EncodeNote::GroupsNotUsed {
                reason: GroupsNotUsed::TableGiven,
            } => &[],
            EncodeNote::GroupsNotUsed { .. } => &[EncodeField::Groups],
            EncodeNote::StimuliRepeated { .. }
            | EncodeNote::OddParticipants { .. }
            | EncodeNote::TimeBackwards { .. }
            | EncodeNote::FixationsSorted { .. }
            | EncodeNote::NoEffect { .. } => &[],
        }
    }
}

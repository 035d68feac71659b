//! The fields of the options that errors and notes refer to.

use serde::Serialize;

/// A field of [`ReadOptions`](crate::ReadOptions), [`EncodeOptions`](crate::EncodeOptions) or of the whole job.
///
/// Errors and notes name the relevant fields; a front end says which flag or box that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncodeField {
    /// The input format.
    Format,
    /// The size of the screen or stimulus in pixels.
    Screen,
    /// The size of the screen in centimetres.
    ScreenCm,
    /// The viewing distance in centimetres.
    Distance,
    /// The unit of coordinates.
    Units,
    /// Pixels from the centre as the unit of coordinates.
    CentredPixels,
    /// Degrees of visual angle as the unit of coordinates, with the size of the screen and its distance.
    VisualAngle,
    /// The unit of times.
    TimeUnit,
    /// Samples per second.
    Rate,
    /// Whether the vertical axis is turned around.
    FlipY,
    /// Which eye.
    Eye,
    /// Fixations or samples.
    Rows,
    /// Which events.
    Events,
    /// The column of event labels.
    EventColumn,
    /// The column of participants.
    ParticipantColumn,
    /// The column of stimuli.
    StimulusColumn,
    /// The columns of coordinates.
    PlaceColumns,
    /// The column of trials.
    TrialColumn,
    /// The column of groups of participants.
    GroupColumn,
    /// The table of participants and their groups.
    Groups,
    /// The participant's name.
    Participant,
    /// The stimulus' name.
    Stimulus,
    /// Where names are in file names.
    NameTemplate,
    /// The names of columns.
    Columns,
    /// The grid.
    Grid,
    /// The areas of interest of an AOI file.
    AoiFile,
    /// The areas of interest of a column.
    AoiColumn,
    /// The notation of letters.
    Notation,
    /// The temporal bin.
    Bin,
    /// Whether the first fixation is left out with a bin.
    MatlabCompat,
    /// Whether empty scanpaths are left out.
    DropEmpty,
    /// The minimum dwell.
    MinDwell,
    /// The rest of a run.
    Downsize,
    /// Whether equal neighbours are merged.
    Merge,
    /// The most letters of a run.
    MaxRepeats,
    /// The longest gap in a run.
    MaxGap,
    /// How runs are measured.
    Runs,
    /// The detector of fixations.
    Detect,
    /// The speed from which on the eye moves.
    Velocity,
    /// How speed is computed.
    VelocityMethod,
    /// The largest extent of a fixation.
    Dispersion,
    /// The shortest fixation.
    MinDuration,
    /// Whether fixations are kept beside letters.
    KeepFixations,
}

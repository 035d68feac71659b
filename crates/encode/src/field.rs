//! The option fields that errors and notes refer to.

use serde::Serialize;

/// A field of [`ReadOptions`](crate::ReadOptions), [`LetterOptions`](crate::LetterOptions) or of the whole job.
///
/// Errors and notes name the relevant fields; the front end maps them to its own flags or form fields.
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
    /// Fractions from the centre, from -1 to 1, as the unit of coordinates.
    CentredFractions,
    /// Heights of the screen from its centre as the unit of coordinates.
    ScreenHeights,
    /// Longitude and latitude as the unit of coordinates.
    LonLat,
    /// Percent of the screen as the unit of coordinates.
    Percent,
    /// The unit of times.
    TimeUnit,
    /// Samples per second.
    Rate,
    /// Whether the vertical axis is flipped.
    FlipY,
    /// Which eye.
    Eye,
    /// Fixations or samples.
    Rows,
    /// The choice of fixations.
    FixationRows,
    /// The choice of samples.
    SampleRows,
    /// Which events.
    Events,
    /// The event label column.
    EventColumn,
    /// The participant column.
    ParticipantColumn,
    /// The stimulus column.
    StimulusColumn,
    /// The coordinate columns.
    CoordinateColumns,
    /// The trial column.
    TrialColumn,
    /// The column of participants' groups.
    GroupColumn,
    /// The table of participants and their groups.
    Groups,
    /// The participant's name.
    Participant,
    /// The stimulus' name.
    Stimulus,
    /// The pattern that finds names in file names.
    NamePattern,
    /// The names of columns.
    Columns,
    /// The grid.
    Grid,
    /// Areas of interest from an AOI file.
    AoiFile,
    /// Areas of interest from a column.
    AoiColumn,
    /// The notation of letters.
    Notation,
    /// The temporal bin.
    Bin,
    /// Whether binning leaves out the first fixation.
    MatlabCompat,
    /// Whether empty scanpaths are left out.
    DropEmpty,
    /// The minimum dwell.
    MinDwell,
    /// How the remainder of a run is rounded.
    Downsize,
    /// Whether equal neighbours are merged.
    Merge,
    /// The maximum number of letters per run.
    MaxRepeats,
    /// The longest gap in a run.
    MaxGap,
    /// How runs are measured.
    Runs,
    /// The fixation detector.
    Detect,
    /// The speed at which the eye counts as moving.
    Velocity,
    /// How speed is computed.
    VelocityMethod,
    /// The largest extent of a fixation.
    Dispersion,
    /// The minimum duration of a fixation.
    MinDuration,
    /// Whether fixations are kept alongside letters.
    KeepFixations,
}

impl EncodeField {
    /// The field itself, or the one of which it is a value.
    pub fn setting(self) -> Self {
        match self {
            EncodeField::CentredPixels
            | EncodeField::VisualAngle
            | EncodeField::CentredFractions
            | EncodeField::ScreenHeights
            | EncodeField::LonLat
            | EncodeField::Percent => EncodeField::Units,
            EncodeField::FixationRows | EncodeField::SampleRows => EncodeField::Rows,
            field => field,
        }
    }
}

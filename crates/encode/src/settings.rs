//! Encoding options, and which of them must be equal on both sides of a comparison.
//!
//! Each question that the paper leaves open is an option here; [`LetterOptions::default`] is our answer.

use crate::{Areas, DetectionOptions, Detector, EncodeField, ReadError};
use std::collections::BTreeMap;
use veilpath_metrics::{Alphabet, Encoding, EncodingSetting, Grid, Notation};

/// Stands in for a file name in errors about options.
const OPTIONS: &str = "encoding options";

/// How gaze points become letters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LetterOptions {
    /// The meaning of the letters. Default: the cells of a 7×7 grid.
    pub letter_map: LetterMap,
    /// What happens to points beyond the edge of the stimulus. Default: they are dropped.
    pub outside: Outside,
    /// How fixations are detected in raw gaze. Default: they are not; runs become letters.
    pub detection: DetectionOptions,
    /// How raw gaze is reduced without a detector. It does not apply to fixations.
    pub runs: RunOptions,
    /// ScanMatch's temporal binning of fixations: a letter is repeated `round(duration / bin)` times. Default: off.
    pub bin_ms: Option<f64>,
    /// With binning, leave out the first fixation of each recording, as the ScanMatch toolbox does (its paper does not).
    /// Without binning it has no effect. Default: off.
    pub matlab_compat: bool,
    /// Leave out recordings without a letter. Default: off, they are empty scanpaths.
    pub drop_empty: bool,
    /// Keep the fixations that became letters, with positions and times, alongside the letters. Default: off.
    pub keep_fixations: bool,
    /// How letters are written. Default: the shortest notation that can write all of them.
    pub notation: Option<Notation>,
    /// Fields of `runs` and `detection` that the user has set, perhaps to their defaults: a note names those without effect.
    pub given: Vec<EncodeField>,
}

/// The meaning of the letters.
#[derive(Clone, Debug, PartialEq)]
pub enum LetterMap {
    /// The cells of a grid over the stimulus.
    Grid(Grid),
    /// Areas of interest, drawn in a file.
    AoiFile(Areas),
    /// The areas of interest that the tracker's software names in a column.
    AoiColumn {
        /// The areas in letter order; rows that name any other area count as in no area. `None` takes all names that
        /// occur, sorted.
        names: Option<Vec<String>>,
    },
}

/// What happens to points beyond the edge of the stimulus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outside {
    /// They are dropped and counted.
    #[default]
    Drop,
    /// They go to the nearest cell.
    Clamp,
}

/// How raw gaze is reduced to a scanpath; see the `runs` module for the rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunOptions {
    /// Runs shorter than this are removed, and longer ones become one letter per this duration. Default: 100.
    pub min_dwell_ms: f64,
    /// What happens to the remainder if a run is not a whole multiple of the minimum. Default: it is
    /// cut off.
    pub downsize: Downsize,
    /// Whether neighbours that are equal after the removal of short runs are merged. Default: yes.
    pub merge: bool,
    /// The maximum number of letters per run. Default: 3.
    pub cap: Option<u32>,
    /// The longest gap of lost samples that does not end a run. Default: 75.
    pub max_gap_ms: f64,
    /// The measure of a run's length. Default: time.
    pub by: RunsBy,
}

/// How a run's length in minimum dwells becomes a number of letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Downsize {
    /// Rounded down.
    #[default]
    Floor,
    /// Rounded to the nearest, halves up.
    Round,
    /// Rounded up.
    Ceil,
}

/// How a run's length is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RunsBy {
    /// By timestamps if there are any, else by the number of samples over the rate.
    #[default]
    Time,
    /// Only by the number of samples; the minimum dwell is a whole number of samples.
    Count,
}

impl LetterOptions {
    /// Checks that the options make sense; the command line calls this before it opens any file.
    pub fn check(&self) -> Result<(), ReadError> {
        let refuse = |problem: &str, remedy: &str, field: EncodeField| {
            Err(ReadError::new(OPTIONS, problem)
                .with_remedy(remedy)
                .with_fields(&[field]))
        };
        if !(self.runs.min_dwell_ms.is_finite() && self.runs.min_dwell_ms > 0.0) {
            return refuse(
                "the minimum dwell must be a number above 0",
                "it is given in milliseconds, as in 100",
                EncodeField::MinDwell,
            );
        }
        if !(self.runs.max_gap_ms.is_finite() && self.runs.max_gap_ms >= 0.0) {
            return refuse(
                "the longest gap must be a number of at least 0",
                "it is given in milliseconds, as in 75; 0 ends a run at every lost sample",
                EncodeField::MaxGap,
            );
        }
        if self.runs.cap == Some(0) {
            return refuse(
                "the cap must be at least 1",
                "with 0 no letter would be left; leave the cap out for no limit",
                EncodeField::MaxRepeats,
            );
        }
        if self
            .bin_ms
            .is_some_and(|bin| !(bin.is_finite() && bin > 0.0))
        {
            return refuse(
                "the temporal bin must be a number above 0",
                "it is given in milliseconds, as in 50",
                EncodeField::Bin,
            );
        }
        self.detection.check()?;
        if let LetterMap::AoiColumn { .. } = &self.letter_map
            && self.detection.detector != Detector::Runs
        {
            return refuse(
                "a column names an area for each sample, but a detected fixation has several samples",
                "draw the areas in a file, use a grid, or use runs instead of a detector",
                EncodeField::Detect,
            );
        }
        if let LetterMap::AoiColumn { names: Some(names) } = &self.letter_map {
            if names.is_empty() || names.iter().any(|name| name.trim().is_empty()) {
                return refuse(
                    "the list of areas is empty or contains an empty name",
                    "name every area, or leave the list out to take all names that occur",
                    EncodeField::AoiColumn,
                );
            }
            let distinct: std::collections::BTreeSet<&str> =
                names.iter().map(|name| name.trim()).collect();
            if distinct.len() < names.len() {
                return refuse(
                    "the list of areas names one twice",
                    "name every area once",
                    EncodeField::AoiColumn,
                );
            }
        }
        match self.letter_map.known_letters() {
            Some(letters) => self.alphabet_for(letters).map(|_| ()),
            None => Ok(()),
        }
    }

    /// The alphabet for this many cells or areas, in the notation that was asked for.
    pub(crate) fn alphabet_for(&self, letters: usize) -> Result<Alphabet, ReadError> {
        let size = u32::try_from(letters).unwrap_or(u32::MAX);
        match (&self.letter_map, self.notation) {
            (LetterMap::Grid(grid), Some(notation)) => Alphabet::on_grid(notation, grid),
            (LetterMap::Grid(grid), None) => Alphabet::for_grid(grid),
            (_, Some(notation)) => Alphabet::new(notation, size),
            (_, None) => Alphabet::for_cells(size),
        }
        .map_err(|error| {
            ReadError::new(OPTIONS, format!("{letters} letters are needed: {error}")).with_remedy(
                "choose another notation, or none: letters write up to 52 cells, double letters 26 columns and 26 rows, numbers 65536 cells",
            )
            .with_fields(&[EncodeField::Notation])
        })
    }

    /// The settings that must be equal on both sides of a comparison.
    ///
    /// `areas` are the names behind the letters of an AOI encoding. Their outlines are not among the settings: two
    /// institutions may have shown their stimuli at different positions and sizes and still mean the same things. Nor
    /// is the alphabet, which is part of the cohort itself. Settings without effect are left out, so that binning
    /// without fixations or a dwell without gaze cannot make two cohorts differ.
    pub(crate) fn encoding(&self, data: DataKinds, areas: &[String]) -> Encoding {
        let mut settings = BTreeMap::new();
        let mut set = |name: &str, value: String| {
            settings.insert(name.to_string(), value);
        };
        set(EncodingSetting::Data.name(), data.name().into());
        match &self.letter_map {
            LetterMap::Grid(grid) => {
                set(EncodingSetting::Grid.name(), grid.to_string());
                set(
                    EncodingSetting::Outside.name(),
                    match self.outside {
                        Outside::Drop => "dropped",
                        Outside::Clamp => "clamped",
                    }
                    .into(),
                );
            }
            LetterMap::AoiFile(_) | LetterMap::AoiColumn { .. } => {
                set(EncodingSetting::Areas.name(), listed(areas))
            }
        }
        let detects = self.detection.detector != Detector::Runs;
        if data.gaze && detects {
            for (name, value) in self.detection.settings() {
                set(name, value);
            }
        }
        if data.gaze && !detects {
            let runs = &self.runs;
            set(
                EncodingSetting::MinDwell.name(),
                format!("{} ms", runs.min_dwell_ms),
            );
            set(
                EncodingSetting::MaxGap.name(),
                format!("{} ms", runs.max_gap_ms),
            );
            set(
                EncodingSetting::Downsize.name(),
                runs.downsize.name().into(),
            );
            set(
                EncodingSetting::Merge.name(),
                if runs.merge { "yes" } else { "no" }.into(),
            );
            set(
                EncodingSetting::MaxRepeats.name(),
                runs.cap.unwrap_or(0).to_string(),
            );
            set(EncodingSetting::Runs.name(), runs.by.name().into());
        }
        if let (Some(bin), true) = (self.bin_ms, data.fixations || detects) {
            set(EncodingSetting::Bin.name(), format!("{bin} ms"));
            if self.matlab_compat {
                set("matlab-compat", "yes".into());
            }
        }
        Encoding(settings)
    }
}

impl Downsize {
    /// The name in cohort files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Downsize::Floor => "floor",
            Downsize::Round => "round",
            Downsize::Ceil => "ceil",
        }
    }
}

impl RunsBy {
    /// The name in cohort files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            RunsBy::Time => "time",
            RunsBy::Count => "count",
        }
    }
}

impl LetterMap {
    /// The number of letters, if it is known before any file is read.
    pub(crate) fn known_letters(&self) -> Option<usize> {
        match self {
            LetterMap::Grid(grid) => Some(grid.cells() as usize),
            LetterMap::AoiFile(areas) => Some(areas.names().len()),
            LetterMap::AoiColumn { names } => names.as_ref().map(Vec::len),
        }
    }
}

/// Which kinds of rows a cohort was made from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct DataKinds {
    /// Fixations.
    pub fixations: bool,
    /// Raw gaze.
    pub gaze: bool,
}

impl DataKinds {
    fn name(self) -> &'static str {
        match (self.fixations, self.gaze) {
            (_, false) => "fixations",
            (false, true) => "gaze",
            (true, true) => "fixations and gaze",
        }
    }
}

/// Joins names with commas, and quotes those that contain a comma or quote, so that the list is unambiguous.
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names
        .iter()
        .map(|name| {
            if name.contains([',', '"']) {
                format!("\"{}\"", name.replace('"', "\"\""))
            } else {
                name.clone()
            }
        })
        .collect();
    quoted.join(", ")
}

impl Default for LetterMap {
    fn default() -> Self {
        LetterMap::Grid(Grid::default())
    }
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            min_dwell_ms: 100.0,
            downsize: Downsize::Floor,
            merge: true,
            cap: Some(3),
            max_gap_ms: 75.0,
            by: RunsBy::Time,
        }
    }
}

//! Collects what readers find into a cohort.
//!
//! Within a file, recordings are identified by participant and stimulus. Their rows may be consecutive or interleaved;
//! recordings keep the order in which they first appeared. A recording without usable rows becomes an empty scanpath:
//! that somebody's data were lost is a fact about the cohort.
//!
//! The same participant and stimulus in a second file make another scanpath, with a note. Joining the two would invent
//! eye movements between recordings, and an error would make files that do not name stimuli unusable.
//!
//! If the coordinates of a recording change midway (a picture shown again at another size), each row is placed in the
//! space that was named most recently before it.

mod finish;
mod fixations;
mod limits;
mod spaces;
mod tally;

use crate::aoi_column::{AoiNames, TooManyNames};
use crate::detector::FixationDetector;
use crate::fixation_path::FixationPath;
use crate::grid_cell::cell_at;
use crate::groups::FileGroups;
use crate::observations::{DurationCounts, FixationRow, PointCounts, RepeatCounts};
use crate::runs::RunEncoder;
use crate::screen_mapping::{ScreenMapping, ScreenSettings};
use crate::summary::{DetectedCount, FileSummary};
use crate::{
    ColumnRoles, Detector, Dropped, EncodeField, EncodeNote, Fixation, Kind, LetterMap,
    LetterOptions, Outside, ReadError, ReadOptions, Recording, RecordingId, Sample, Sink, Space,
};
use fixations::Origin;
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use tally::Tally;
use veilpath_metrics::Screen;

/// Turns what readers find into scanpaths.
///
/// Call [`Collector::begin_file`] before each file and [`Collector::finish`] after the last. A problem in the middle of
/// a file is reported by the next call that can return an error.
pub struct Collector {
    options: LetterOptions,
    recordings: Vec<State>,
    /// Recordings of this file by the hash of their ids, so that a lookup does not build a key.
    index: HashMap<u64, Vec<usize>>,
    hashing: RandomState,
    latest: Option<usize>,
    column: AoiNames,
    /// The number of letters of all fixations so far.
    letters: usize,
    /// The number of fixations kept so far.
    kept: usize,
    screen_settings: ScreenSettings,
    /// The screen of kept fixations.
    screen: Option<Screen>,
    detected: DetectedCount,
    point_counts: PointCounts,
    durations: DurationCounts,
    repeats: RepeatCounts,
    groups: FileGroups,
    files: Vec<FileSummary>,
    /// Notes from readers.
    notes: Vec<EncodeNote>,
    failure: Option<ReadError>,
}

struct State {
    participant: String,
    stimulus: Option<String>,
    file: usize,
    space: Option<Space>,
    /// Set if fixations are kept or detected.
    mapping: Option<ScreenMapping>,
    /// The areas that apply to the stimulus.
    areas: Vec<usize>,
    tally: Tally,
    /// The last fixation that was read from a row.
    latest: Option<FixationRow>,
    path: Path,
}

enum Path {
    Fixations(FixationPath),
    Gaze(RunEncoder),
    /// Raw gaze whose fixations are detected. The detector is `None` once the recording has ended.
    Detected {
        detector: Option<Box<FixationDetector>>,
        path: FixationPath,
    },
}

impl Path {
    /// The path that collects the letters of fixations, if there is one.
    fn fixations(&mut self) -> Option<&mut FixationPath> {
        match self {
            Path::Fixations(path) | Path::Detected { path, .. } => Some(path),
            Path::Gaze(_) => None,
        }
    }
}

impl Collector {
    /// Creates an empty collector. Fails if the options are invalid.
    pub fn new(options: &LetterOptions) -> Result<Self, ReadError> {
        options.check()?;
        Ok(Self {
            options: options.clone(),
            recordings: Vec::new(),
            index: HashMap::new(),
            hashing: RandomState::new(),
            latest: None,
            column: AoiNames::new(&options.letter_map),
            letters: 0,
            kept: 0,
            screen_settings: ScreenSettings::default(),
            screen: None,
            detected: DetectedCount::default(),
            point_counts: PointCounts::default(),
            durations: DurationCounts::default(),
            repeats: RepeatCounts::default(),
            groups: FileGroups::default(),
            files: Vec::new(),
            notes: Vec::new(),
            failure: None,
        })
    }

    /// Sets the user's screen settings, which are needed if fixations are kept or detected.
    pub fn set_screen_settings(&mut self, options: &ReadOptions) {
        self.screen_settings = ScreenSettings::new(options);
    }

    /// Begins a file; the following rows come from it.
    pub fn begin_file(&mut self, name: &str, format: &str, title: &str) {
        self.index.clear();
        self.latest = None;
        self.files.push(FileSummary::new(name, format, title));
    }

    fn file(&mut self) -> &mut FileSummary {
        if self.files.is_empty() {
            self.files.push(FileSummary::default());
        }
        let last = self.files.len() - 1;
        &mut self.files[last]
    }

    fn error(&self, problem: impl Into<String>) -> ReadError {
        let file = self.files.last().map_or("", |file| file.file.as_str());
        ReadError::new(file, problem)
    }

    fn fail(&mut self, error: ReadError) {
        self.failure.get_or_insert(error);
    }

    fn find(&mut self, recording: &Recording<'_>) -> Result<usize, ReadError> {
        let is_same = |state: &State| {
            state.participant == recording.participant
                && state.stimulus.as_deref() == recording.stimulus
        };
        if let Some(latest) = self
            .latest
            .filter(|&latest| is_same(&self.recordings[latest]))
        {
            return Ok(latest);
        }
        let hash = self
            .hashing
            .hash_one((recording.participant, recording.stimulus));
        let known = self.index.get(&hash).and_then(|candidates| {
            candidates
                .iter()
                .copied()
                .find(|&candidate| is_same(&self.recordings[candidate]))
        });
        let found = match known {
            Some(found) => found,
            None => {
                let state = self.new_state(recording)?;
                self.recordings.push(state);
                let new = self.recordings.len() - 1;
                self.index.entry(hash).or_default().push(new);
                new
            }
        };
        self.latest = Some(found);
        Ok(found)
    }

    fn new_state(&mut self, recording: &Recording<'_>) -> Result<State, ReadError> {
        self.file();
        let path = match recording.kind {
            Kind::Fixations => Path::Fixations(FixationPath::new()),
            Kind::Gaze { rate_hz } if self.options.detection.detector != Detector::Runs => {
                let detector = FixationDetector::new(self.options.detection, rate_hz);
                Path::Detected {
                    detector: Some(Box::new(detector)),
                    path: FixationPath::new(),
                }
            }
            Kind::Gaze { .. } if self.options.keep_fixations => {
                return Err(self
                    .error("this file has raw gaze, but only fixations can be kept")
                    .with_remedy("choose a detector of fixations, ivt or idt")
                    .with_fields(&[EncodeField::Detect]));
            }
            Kind::Gaze { .. } if self.options.bin_ms.is_some() => {
                return Err(self
                    .error("temporal binning repeats the letters of fixations, but this file has raw gaze")
                    .with_remedy("leave the bin out: raw gaze keeps its durations through the minimum dwell; or detect or export fixations")
                    .with_fields(&[EncodeField::Detect]));
            }
            Kind::Gaze { rate_hz } => Path::Gaze(RunEncoder::new(self.options.runs, rate_hz)),
        };
        Ok(State {
            participant: recording.participant.to_string(),
            stimulus: recording.stimulus.map(str::to_string),
            file: self.files.len() - 1,
            space: recording.space,
            mapping: None,
            areas: match &self.options.letter_map {
                LetterMap::AoiFile(areas) => areas.on(recording.stimulus),
                _ => Vec::new(),
            },
            tally: Tally::default(),
            latest: None,
            path,
        })
    }

    /// The letter of a point, or why it has none.
    fn letter_of(
        &mut self,
        recording: usize,
        point: Option<(f64, f64)>,
        aoi: Option<&str>,
    ) -> Result<u16, Dropped> {
        let point = point.filter(|(x, y)| x.is_finite() && y.is_finite());
        if let LetterMap::AoiColumn { .. } = &self.options.letter_map {
            return match aoi.map(|name| self.column.letter(name)) {
                Some(Ok(Some(letter))) => Ok(letter),
                Some(Err(TooManyNames)) => {
                    let error = self
                        .error("there are more than 65536 names of areas of interest")
                        .with_remedy("this seems to be a column of something else; use a grid or an AOI file");
                    self.fail(error);
                    Err(Dropped::NoAoi)
                }
                _ if point.is_none() => Err(Dropped::Lost),
                _ => Err(Dropped::NoAoi),
            };
        }
        let (x, y) = point.ok_or(Dropped::Lost)?;
        let state = self.recordings.get_mut(recording).ok_or(Dropped::Lost)?;
        match (&self.options.letter_map, &state.space) {
            (LetterMap::AoiFile(areas), _) => {
                areas.letter_at(&state.areas, x, y).ok_or(Dropped::NoAoi)
            }
            (LetterMap::Grid(grid), Some(space)) => {
                self.point_counts.point(space, x, y);
                let on_screen = cell_at(grid, space, Outside::Drop, x, y);
                if on_screen.is_none() {
                    self.point_counts.off_screen(x, y);
                }
                let cell = match self.options.outside {
                    Outside::Drop => on_screen,
                    Outside::Clamp => cell_at(grid, space, Outside::Clamp, x, y),
                };
                let Some(cell) = cell else {
                    state.tally.outside();
                    return Err(Dropped::Outside);
                };
                state.tally.cell(cell);
                self.point_counts.cell(cell);
                Ok(cell)
            }
            _ => Err(Dropped::Outside),
        }
    }
}

impl Sink for Collector {
    fn recording(&mut self, recording: &Recording<'_>) -> Result<RecordingId, ReadError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if let LetterMap::Grid(_) = self.options.letter_map {
            spaces::check(recording.space.as_ref(), |problem| self.error(problem))?;
        }
        let found = self.find(recording)?;
        self.update_mapping(found, recording.space)?;
        let state = &mut self.recordings[found];
        state.space = recording.space;
        match (&state.path, recording.kind) {
            (Path::Fixations(_), Kind::Fixations)
            | (Path::Gaze(_) | Path::Detected { .. }, Kind::Gaze { .. }) => Ok(RecordingId(found)),
            _ => Err(self
                .error("fixations and raw gaze of one participant and stimulus are mixed")
                .with_remedy("choose which rows to read: fixations or samples")
                .with_fields(&[EncodeField::Rows])),
        }
    }

    fn fixation(&mut self, recording: RecordingId, fixation: Fixation<'_>) {
        self.add_fixation(recording.0, fixation, Origin::Row);
    }

    fn sample(&mut self, recording: RecordingId, sample: Sample<'_>) {
        match self.recordings.get(recording.0).map(|state| &state.path) {
            Some(Path::Gaze(_)) => self.add_to_runs(recording.0, sample),
            Some(Path::Detected { .. }) => self.detect_in(recording.0, sample),
            _ => {
                let error = self.error("a gaze sample is in a recording of fixations");
                self.fail(error);
            }
        }
    }

    fn dropped(&mut self, reason: Dropped) {
        self.file().drop_row(reason);
    }

    fn unrequested_event(&mut self, label: &str) {
        self.file().leave_out(label);
    }

    fn unrequested_sample(&mut self, recording: RecordingId, time_ms: Option<f64>, label: &str) {
        self.file().leave_out(label);
        self.add_lost(recording.0, time_ms);
    }

    fn assumed(&mut self, assumption: &str, changed_by: &[EncodeField]) {
        self.file().assume(assumption, changed_by);
    }

    fn note(&mut self, note: EncodeNote) {
        // Each file reports its own count, so add them up.
        if let EncodeNote::StimuliRepeated { trials: more } = note {
            let known = self.notes.iter_mut().find_map(|known| match known {
                EncodeNote::StimuliRepeated { trials } => Some(trials),
                _ => None,
            });
            if let Some(trials) = known {
                *trials += more;
                return;
            }
        }
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn needs_size(&self) -> bool {
        matches!(self.options.letter_map, LetterMap::Grid(_))
            || self.options.keep_fixations
            || self.options.detection.detector != Detector::Runs
    }

    fn needs_durations(&self) -> bool {
        self.options.bin_ms.is_some() || self.options.keep_fixations
    }

    fn groups(&mut self, groups: HashMap<String, String>, requested: bool) {
        self.groups.add(groups, requested);
    }

    fn columns(&mut self, roles: ColumnRoles) {
        self.file().columns = Some(roles);
    }
}

#[cfg(test)]
mod tests;

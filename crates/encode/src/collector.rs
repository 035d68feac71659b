//! What readers find becomes a cohort.
//!
//! Recordings are distinguished by participant and stimulus within a file; they may come one after the other or interleaved,
//! and leave in the order in which they first appeared. One that has no usable row stays as an empty scanpath: that
//! somebody's data were lost is a fact about the cohort.
//!
//! The same participant and stimulus in a second file make a further scanpath, with a note: joining them would invent
//! eye movements between two recordings, and refusing them would punish those whose files do not name stimuli.
//!
//! Where the coordinates of a recording change half-way (a picture shown again at another size), each row counts in the
//! space that was named last before it.

mod finish;
mod limits;
mod spaces;
mod tally;

use crate::aoi_column::{ColumnNames, TooManyNames};
use crate::fixation_path::FixationPath;
use crate::groups::GroupsOfFiles;
use crate::observations::Places;
use crate::place::cell_at;
use crate::runs::{Gaze, MAX_LETTERS, RunEncoder};
use crate::summary::FileSummary;
use crate::{
    ColumnRoles, Dropped, EncodeField, EncodeNote, EncodeOptions, Fixation, Kind, Placing,
    ReadError, Recording, RecordingId, Sample, Sink, Space,
};
use limits::{ABOUT_TIME, CHECK_TIME_UNIT, MAX_ALL_LETTERS, TOO_LONG, TOO_MANY};
use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use tally::Tally;
use veilpath_metrics::temporal_repeats;

/// Turns what readers find into scanpaths.
///
/// Call [`Collector::begin_file`] before each file and [`Collector::finish`] after the last. A problem that shows in the
/// middle of a file is reported by the next call that can report one.
pub struct Collector {
    options: EncodeOptions,
    recordings: Vec<State>,
    /// Recordings of this file by the hash of their ids: a look-up without building a key.
    index: HashMap<u64, Vec<usize>>,
    hashing: RandomState,
    latest: Option<usize>,
    column: ColumnNames,
    /// Letters of all fixations so far.
    letters: usize,
    places: Places,
    groups: GroupsOfFiles,
    files: Vec<FileSummary>,
    /// Those of readers.
    notes: Vec<EncodeNote>,
    failure: Option<ReadError>,
}

struct State {
    participant: String,
    stimulus: Option<String>,
    file: usize,
    space: Option<Space>,
    /// The areas that count for the stimulus.
    areas: Vec<usize>,
    tally: Tally,
    path: Path,
}

enum Path {
    Fixations(FixationPath),
    Gaze(RunEncoder),
}

impl Collector {
    /// A collector without any file; refuses options that make no sense.
    pub fn new(options: &EncodeOptions) -> Result<Self, ReadError> {
        options.check()?;
        Ok(Self {
            options: options.clone(),
            recordings: Vec::new(),
            index: HashMap::new(),
            hashing: RandomState::new(),
            latest: None,
            column: ColumnNames::new(&options.placing),
            letters: 0,
            places: Places::default(),
            groups: GroupsOfFiles::default(),
            files: Vec::new(),
            notes: Vec::new(),
            failure: None,
        })
    }

    /// The following rows come from this file.
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
        let is_it = |state: &State| {
            state.participant == recording.participant
                && state.stimulus.as_deref() == recording.stimulus
        };
        if let Some(latest) = self
            .latest
            .filter(|&latest| is_it(&self.recordings[latest]))
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
                .find(|&candidate| is_it(&self.recordings[candidate]))
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
            Kind::Gaze { .. } if self.options.bin_ms.is_some() => {
                return Err(self
                    .error("temporal binning repeats the letters of fixations, and this file has raw gaze")
                    .with_remedy("leave the bin out: raw gaze keeps its durations through the minimum dwell; or export fixations"));
            }
            Kind::Gaze { rate_hz } => Path::Gaze(RunEncoder::new(self.options.runs, rate_hz)),
        };
        Ok(State {
            participant: recording.participant.to_string(),
            stimulus: recording.stimulus.map(str::to_string),
            file: self.files.len() - 1,
            space: recording.space,
            areas: match &self.options.placing {
                Placing::AoiFile(areas) => areas.on(recording.stimulus),
                _ => Vec::new(),
            },
            tally: Tally::default(),
            path,
        })
    }

    /// The letter of a point, or why it has none.
    fn place(
        &mut self,
        recording: usize,
        point: Option<(f64, f64)>,
        aoi: Option<&str>,
    ) -> Result<u16, Dropped> {
        let point = point.filter(|(x, y)| x.is_finite() && y.is_finite());
        if let Placing::AoiColumn { .. } = &self.options.placing {
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
        match (&self.options.placing, &state.space) {
            (Placing::AoiFile(areas), _) => {
                areas.letter_at(&state.areas, x, y).ok_or(Dropped::NoAoi)
            }
            (Placing::Grid(grid), Some(space)) => {
                self.places.point(space, x, y);
                let cell = cell_at(grid, space, self.options.outside, x, y);
                let Some(cell) = cell else {
                    state.tally.outside();
                    return Err(Dropped::Outside);
                };
                state.tally.cell(cell);
                self.places.cell(cell);
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
        if let Placing::Grid(_) = self.options.placing {
            spaces::check(recording.space.as_ref(), |problem| self.error(problem))?;
        }
        let found = self.find(recording)?;
        let state = &mut self.recordings[found];
        state.space = recording.space;
        match (&state.path, recording.kind) {
            (Path::Fixations(_), Kind::Fixations) | (Path::Gaze(_), Kind::Gaze { .. }) => {
                Ok(RecordingId(found))
            }
            _ => Err(self
                .error("fixations and raw gaze of one participant and stimulus are mixed")
                .with_remedy("say which rows to take: fixations or samples")
                .with_fields(&[EncodeField::Rows])),
        }
    }

    fn fixation(&mut self, recording: RecordingId, fixation: Fixation<'_>) {
        let placed = self.place(recording.0, Some((fixation.x, fixation.y)), fixation.aoi);
        let binning = self.options.bin_ms;
        let leave_out_first = self.options.matlab_compat && binning.is_some();
        let Some(Path::Fixations(path)) = self
            .recordings
            .get_mut(recording.0)
            .map(|state| &mut state.path)
        else {
            let error = self.error("a fixation came for a recording of raw gaze");
            return self.fail(error);
        };
        let row = path.next_row(fixation.start_ms, fixation.duration_ms, placed);
        let row = match leave_out_first {
            true => path.hold_back_first(row),
            false => Some(row),
        };
        let Some(row) = row else {
            return self.file().drop_row(Dropped::FirstFixation);
        };
        let outcome = match row.placed {
            Err(reason) => Err(reason),
            Ok(letter) => match (binning, row.duration_ms) {
                (None, _) => Ok((letter, 1)),
                (Some(bin), Some(duration)) => match temporal_repeats(duration, bin) {
                    0 => Err(Dropped::TooShort),
                    repeats => Ok((letter, repeats)),
                },
                (Some(_), None) => {
                    let error = self
                        .error("a fixation has no duration, and temporal binning needs one")
                        .with_remedy("leave the bin out, or export the durations as well")
                        .with_fields(&[EncodeField::Bin]);
                    return self.fail(error);
                }
            },
        };
        match outcome {
            Ok((_, repeats)) if repeats > MAX_LETTERS.saturating_sub(path.len()) => {
                let error = self
                    .error(TOO_LONG)
                    .with_remedy(CHECK_TIME_UNIT)
                    .with_fields(ABOUT_TIME);
                self.fail(error);
            }
            // Many recordings below that bound would still fill the memory.
            Ok((_, repeats)) if repeats > MAX_ALL_LETTERS.saturating_sub(self.letters) => {
                let error = self
                    .error(TOO_MANY)
                    .with_remedy(CHECK_TIME_UNIT)
                    .with_fields(ABOUT_TIME);
                self.fail(error);
            }
            Ok((letter, repeats)) => {
                self.letters += repeats;
                path.push(&row, letter, repeats);
                self.file().used();
            }
            Err(reason) => self.file().drop_row(reason),
        }
    }

    fn sample(&mut self, recording: RecordingId, sample: Sample<'_>) {
        let placed = self.place(recording.0, sample.point, sample.aoi);
        let Some(Path::Gaze(encoder)) = self
            .recordings
            .get_mut(recording.0)
            .map(|state| &mut state.path)
        else {
            let error = self.error("a gaze sample came for a recording of fixations");
            return self.fail(error);
        };
        let gaze = match placed {
            Ok(letter) => Gaze::At(letter),
            Err(Dropped::Lost) => Gaze::Lost,
            Err(_) => Gaze::Elsewhere,
        };
        encoder.push(sample.time_ms, gaze);
        match placed {
            Ok(_) => self.file().used(),
            Err(reason) => self.file().drop_row(reason),
        }
    }

    fn dropped(&mut self, reason: Dropped) {
        self.file().drop_row(reason);
    }

    fn left_out(&mut self, label: &str) {
        self.file().leave_out(label);
    }

    fn assumed(&mut self, assumption: &str, changed_by: &[EncodeField]) {
        self.file().assume(assumption, changed_by);
    }

    fn note(&mut self, note: EncodeNote) {
        // Every file counts its own trials.
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

    fn places_points(&self) -> bool {
        matches!(self.options.placing, Placing::Grid(_))
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

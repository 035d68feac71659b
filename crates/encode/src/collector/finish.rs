//! Turns the collected recordings into the scanpaths of a cohort.

use super::limits::reduction_error;
use super::tally::Tallies;
use super::{Collector, Path};
use crate::aoi_column::LetterOrder;
use crate::grid_cell::common_aspect;
use crate::groups::UnusableGroups;
use crate::notes::notes;
use crate::observations::Observations;
use crate::runs::Reduced;
use crate::{
    DataKinds, Detector, EncodeField, EncodeNote, LengthUnit, LetterMap, NoEffect, ReadError,
    Space, SpaceKind, Summary,
};
use std::collections::{HashMap, HashSet};
use veilpath_metrics::{Cohort, Entry, Fixations, Scanpath};

impl Collector {
    /// Returns the scanpaths of all files, and a summary of what became of their rows.
    pub fn finish(mut self) -> Result<(Cohort, Summary), ReadError> {
        let backwards = self
            .finish_detection()
            .map_err(|(file, why)| reduction_error(&self.files, file, why))?;
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let (areas, order) = self.areas()?;
        let mut kinds = DataKinds::default();
        let mut observed = Observations {
            points: std::mem::take(&mut self.point_counts),
            durations: self.durations,
            repeats: self.repeats,
            ..Observations::default()
        };
        observed.times.backwards = backwards;
        let aspect = common_aspect(self.recordings.iter().map(|state| &state.space));
        let is_angle = |space: Space| matches!(space.kind, SpaceKind::VisualAngle { .. });
        let spaces: Vec<Option<Space>> = self.recordings.iter().map(|it| it.space).collect();
        let has_angles = spaces.iter().any(|it| it.is_some_and(is_angle));
        let participants = self.recordings.iter().map(|it| it.participant.as_str());
        let groups = match self.groups.resolve(participants) {
            Ok(groups) => groups,
            Err(UnusableGroups::Error(error)) => return Err(error),
            Err(UnusableGroups::Note(note)) => {
                self.notes.push(note);
                HashMap::new()
            }
        };
        let mut entries = Vec::with_capacity(self.recordings.len());
        let (mut removed_runs, mut empty_left_out) = (0, 0);
        let mut unmapped: HashSet<Option<String>> = HashSet::new();
        let mut tallies = Tallies::default();
        for state in self.recordings {
            tallies.add(&state.participant, state.file, state.tally);
            let (letters, fixations) = match state.path {
                Path::Fixations(path) => {
                    kinds.fixations = true;
                    let ordered = path.finish();
                    observed.times.count(ordered.order);
                    (ordered.letters, ordered.fixations)
                }
                Path::Detected { path, .. } => {
                    kinds.gaze = true;
                    let ordered = path.finish();
                    (ordered.letters, ordered.fixations)
                }
                Path::Gaze(encoder) => {
                    kinds.gaze = true;
                    let Reduced {
                        letters,
                        removed,
                        backwards: resets,
                    } = encoder
                        .finish()
                        .map_err(|why| reduction_error(&self.files, state.file, why))?;
                    removed_runs += removed;
                    observed.times.backwards += resets;
                    (letters, Vec::new())
                }
            };
            let fixations = match self.options.keep_fixations {
                true => Some(Fixations::new(fixations).map_err(|error| {
                    let name = self.files.get(state.file).map_or("", |file| &file.file);
                    ReadError::new(name, error.to_string())
                })?),
                false => None,
            };
            let letters = match &order {
                Some(order) => order.apply(letters),
                None => letters,
            };
            if matches!(self.options.letter_map, LetterMap::AoiFile(_)) && state.areas.is_empty() {
                unmapped.insert(state.stimulus.clone());
            }
            if letters.is_empty() && self.options.drop_empty {
                empty_left_out += 1;
                continue;
            }
            entries.push(Entry {
                group: groups.get(&state.participant).cloned(),
                participant: state.participant,
                stimulus: state.stimulus,
                scanpath: Scanpath::new(letters),
                fixations,
            });
        }
        let letters = self
            .options
            .letter_map
            .known_letters()
            .unwrap_or(areas.len());
        let cohort = Cohort {
            alphabet: self.options.alphabet_for(letters)?,
            encoding: self.options.encoding(kinds, &areas),
            screen: self.screen.filter(|_| self.options.keep_fixations),
            entries,
        };
        let cause = observed.points.likely_cause();
        observed.odd_participants = tallies.odd_places(&self.files, cause);
        observed.odd_durations = tallies.odd_durations(&self.files);
        let mut summary = Summary::new(std::mem::take(&mut self.files), &cohort);
        (summary.removed_runs, summary.empty_left_out) = (removed_runs, empty_left_out);
        summary.data = kinds;
        let detects = kinds.gaze && self.options.detection.detector != Detector::Runs;
        if detects {
            let settings = self.options.detection.settings().into_iter();
            self.detected.settings = settings
                .map(|(name, value)| (name.to_string(), value))
                .collect();
            summary.detected = Some(self.detected);
        }
        let is_panorama =
            |space: Space| matches!(space.kind, SpaceKind::Globe | SpaceKind::PanoramaFractions);
        if !spaces.is_empty()
            && spaces.iter().all(|it| it.is_some_and(is_panorama))
            && self.screen_settings.has_pixels()
        {
            self.notes.push(EncodeNote::NoEffect {
                field: EncodeField::Screen,
                reason: NoEffect::Panorama,
            });
        }
        let detects_angles = detects && self.options.detection.unit() == Some(LengthUnit::Degrees);
        if !(has_angles || detects_angles || self.options.keep_fixations) {
            let unused = self.screen_settings.viewing_fields();
            self.notes.extend(unused.map(|field| EncodeNote::NoEffect {
                field,
                reason: NoEffect::NoVisualAngles,
            }));
        }
        summary.aspect = aspect;
        observed.stimuli_without_area = unmapped.len();
        self.notes.extend(self.column.not_named());
        summary.notes = self.notes;
        let about_all = notes(&cohort, &summary, &self.options, &observed);
        summary.notes.extend(about_all);
        Ok((cohort, summary))
    }

    /// The names behind the letters of an AOI encoding, and how to renumber the letters of names that were found in a
    /// column.
    fn areas(&self) -> Result<(Vec<String>, Option<LetterOrder>), ReadError> {
        match &self.options.letter_map {
            LetterMap::Grid(_) => Ok((Vec::new(), None)),
            LetterMap::AoiFile(areas) => Ok((areas.names().to_vec(), None)),
            LetterMap::AoiColumn { names: Some(names) } => {
                Ok((names.iter().map(|name| name.trim().into()).collect(), None))
            }
            LetterMap::AoiColumn { names: None } => {
                if self.column.is_empty() {
                    let file = self.files.last().map_or("", |file| file.file.as_str());
                    return Err(ReadError::new(file, "no row names an area of interest")
                        .with_remedy("export the column with the areas of interest, draw them in an AOI file, or use a grid"));
                }
                let (names, order) = self.column.sorted();
                Ok((names, Some(order)))
            }
        }
    }
}

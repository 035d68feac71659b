//! Turns fixations into letters, whether they come from a file or from a detector.

use super::limits::{
    ABOUT_TIME, CHECK_TIME_UNIT, MAX_ALL_KEPT, MAX_ALL_LETTERS, MAX_KEPT, TOO_LONG, TOO_MANY,
    TOO_MANY_KEPT,
};
use super::{Collector, Path};
use crate::detector::{DetectedFixation, Point};
use crate::observations::FixationRow;
use crate::runs::{Gaze, MAX_LETTERS, ReductionError};
use crate::screen_mapping::ScreenMapping;
use crate::{Dropped, EncodeField, Fixation, ReadError, Sample, Space};
use veilpath_metrics::{Fixation as KeptFixation, temporal_repeats};

/// Where a fixation comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A row of a file, which is counted.
    Row,
    /// A detector, which returns fixations in row order. They are not sorted by start: a clock reset must not reorder
    /// them.
    Detector,
}

impl Collector {
    /// Adds the letters of a fixation to its recording.
    pub(super) fn add_fixation(
        &mut self,
        recording: usize,
        fixation: Fixation<'_>,
        origin: Origin,
    ) {
        if origin == Origin::Row {
            self.observe(recording, &fixation);
        }
        let letter = self.letter_of(recording, Some((fixation.x, fixation.y)), fixation.aoi);
        let kept = match letter.is_ok() && self.options.keep_fixations {
            true => match self.kept_fixation(recording, &fixation) {
                Ok(kept) => Some(kept),
                Err(error) => return self.fail(error),
            },
            false => None,
        };
        let binning = self.options.bin_ms;
        let leave_out_first = self.options.matlab_compat && binning.is_some();
        let state = self.recordings.get_mut(recording);
        let Some(path) = state.and_then(|state| state.path.fixations()) else {
            let error = self.error("a fixation is in a recording of raw gaze");
            return self.fail(error);
        };
        let start = fixation.start_ms.filter(|_| origin == Origin::Row);
        let row = path.next_row(start, fixation.duration_ms, letter, kept);
        let row = match leave_out_first {
            true => path.hold_back_first(row),
            false => Some(row),
        };
        let Some(row) = row else {
            return self.count(origin, Err(Dropped::FirstFixation));
        };
        let outcome = match row.letter {
            Err(reason) => Err(reason),
            Ok(letter) => match (binning, row.duration_ms) {
                (None, _) => Ok((letter, 1)),
                (Some(bin), Some(duration)) => match temporal_repeats(duration, bin) {
                    0 => Err(Dropped::TooShort),
                    repeats => Ok((letter, repeats)),
                },
                (Some(_), None) => {
                    let error = self
                        .error("a fixation has no duration, but temporal binning needs one")
                        .with_remedy("leave the bin out, or export the durations as well")
                        .with_fields(&[EncodeField::Bin]);
                    return self.fail(error);
                }
            },
        };
        let too_many = match outcome {
            Ok((_, repeats)) if repeats > MAX_LETTERS.saturating_sub(path.len()) => Some(TOO_LONG),
            // Many recordings below that limit could still exhaust the memory.
            Ok((_, repeats)) if repeats > MAX_ALL_LETTERS.saturating_sub(self.letters) => {
                Some(TOO_MANY)
            }
            Ok(_)
                if row.kept.is_some() && (path.kept() == MAX_KEPT || self.kept == MAX_ALL_KEPT) =>
            {
                Some(TOO_MANY_KEPT)
            }
            _ => None,
        };
        if let Some(problem) = too_many {
            let error = self.error(problem).with_remedy(CHECK_TIME_UNIT);
            return self.fail(error.with_fields(ABOUT_TIME));
        }
        if let Ok((letter, repeats)) = outcome {
            path.push(&row, letter, repeats);
            self.letters += repeats;
            self.kept += usize::from(row.kept.is_some());
        }
        self.count(origin, outcome.map(|_| ()));
    }

    /// Adds a sample to a recording that is reduced by runs.
    pub(super) fn add_to_runs(&mut self, recording: usize, sample: Sample<'_>) {
        let letter = self.letter_of(recording, sample.point, sample.aoi);
        let gaze = match letter {
            Ok(letter) => Gaze::At(letter),
            Err(Dropped::Lost) => Gaze::Lost,
            Err(_) => Gaze::Elsewhere,
        };
        if let Some(Path::Gaze(encoder)) = self
            .recordings
            .get_mut(recording)
            .map(|state| &mut state.path)
        {
            encoder.push(sample.time_ms, gaze);
        }
        self.count(Origin::Row, letter.map(|_| ()));
    }

    /// Adds a sample to a recording whose fixations are detected.
    pub(super) fn detect_in(&mut self, recording: usize, sample: Sample<'_>) {
        let unit = self.options.detection.unit();
        let Some(state) = self.recordings.get_mut(recording) else {
            return;
        };
        let point = sample
            .point
            .filter(|(x, y)| x.is_finite() && y.is_finite())
            .zip(state.mapping.zip(unit))
            .map(|((x, y), (mapping, unit))| Point {
                file: (x, y),
                measured: mapping.measured(unit, x, y),
            });
        let mut found = Vec::new();
        if let Path::Detected {
            detector: Some(detector),
            ..
        } = &mut state.path
        {
            detector.push(sample.time_ms, point, &mut found);
        }
        self.count(Origin::Row, point.map(|_| ()).ok_or(Dropped::Lost));
        self.add_detected(recording, &found);
    }

    /// Adds a sample that has no point and has already been counted.
    pub(super) fn add_lost(&mut self, recording: usize, time_ms: Option<f64>) {
        let mut found = Vec::new();
        match self
            .recordings
            .get_mut(recording)
            .map(|state| &mut state.path)
        {
            Some(Path::Gaze(encoder)) => encoder.push(time_ms, Gaze::Lost),
            Some(Path::Detected {
                detector: Some(detector),
                ..
            }) => detector.push(time_ms, None, &mut found),
            _ => {}
        }
        self.add_detected(recording, &found);
    }

    /// Adds the last fixations of all recordings, after the last sample. Returns how often time went backwards, or the
    /// file that cannot be reduced, and why.
    pub(super) fn finish_detection(&mut self) -> Result<u64, (usize, ReductionError)> {
        let mut backwards = 0;
        for recording in 0..self.recordings.len() {
            let state = &mut self.recordings[recording];
            let Path::Detected { detector, .. } = &mut state.path else {
                continue;
            };
            let Some(detector) = detector.take() else {
                continue;
            };
            let mut found = Vec::new();
            let finished = detector.finish(&mut found);
            backwards += finished.map_err(|why| (state.file, why))?;
            self.add_detected(recording, &found);
        }
        Ok(backwards)
    }

    fn add_detected(&mut self, recording: usize, found: &[DetectedFixation]) {
        for one in found {
            let fixation = Fixation {
                x: one.x,
                y: one.y,
                start_ms: Some(one.onset_ms),
                duration_ms: Some(one.offset_ms - one.onset_ms),
                aoi: None,
            };
            self.detected.fixations += 1;
            self.add_fixation(recording, fixation, Origin::Detector);
        }
    }

    /// Counts what the notes need to know about a fixation in a file.
    fn observe(&mut self, recording: usize, fixation: &Fixation<'_>) {
        let Some(state) = self.recordings.get_mut(recording) else {
            return;
        };
        if let Some(duration) = fixation.duration_ms {
            self.durations.count(duration);
            state.tally.duration(duration);
        }
        let row = FixationRow::of(fixation);
        self.repeats.count(state.latest.as_ref(), &row);
        state.latest = Some(row);
    }

    fn count(&mut self, origin: Origin, outcome: Result<(), Dropped>) {
        match (origin, outcome) {
            (Origin::Row, Ok(())) => self.file().used(),
            (Origin::Row, Err(reason)) => self.file().drop_row(reason),
            (Origin::Detector, Ok(())) => {}
            (Origin::Detector, Err(reason)) => {
                *self.detected.dropped.entry(reason).or_default() += 1;
            }
        }
    }

    fn kept_fixation(
        &self,
        recording: usize,
        fixation: &Fixation<'_>,
    ) -> Result<KeptFixation, ReadError> {
        let refuse = |problem: &str, remedy: &str| {
            let error = self.error(problem).with_remedy(remedy);
            Err(error.with_fields(&[EncodeField::KeepFixations]))
        };
        let Some(duration) = fixation.duration_ms.filter(|duration| duration.is_finite()) else {
            return refuse(
                "a fixation has no duration, but kept fixations need one",
                "export the durations as well, or do not keep the fixations",
            );
        };
        let mapping = self
            .recordings
            .get(recording)
            .and_then(|state| state.mapping);
        let point = mapping.map(|mapping| mapping.point(fixation.x, fixation.y));
        match point.filter(|(x, y)| x.is_finite() && y.is_finite()) {
            Some((x, y)) => Ok(KeptFixation {
                x,
                y,
                start: fixation.start_ms.filter(|start| start.is_finite()),
                duration,
            }),
            None => refuse(
                "a fixation has no coordinates, but kept fixations need them",
                "export the coordinates as well, or do not keep the fixations",
            ),
        }
    }

    /// Updates how points of a recording map to the screen, if fixations are kept or detected.
    pub(super) fn update_mapping(
        &mut self,
        recording: usize,
        space: Option<Space>,
    ) -> Result<(), ReadError> {
        let keep = self.options.keep_fixations;
        let state = &self.recordings[recording];
        let detects = matches!(state.path, Path::Detected { .. });
        let is_known = state.mapping.is_some() && state.space == space;
        if !(keep || detects) || is_known {
            return Ok(());
        }
        let Some(space) = space else {
            return Err(self
                .error("the size of the screen or stimulus is unknown, but fixations with coordinates need it")
                .with_remedy("give its width and height in pixels")
                .with_fields(&[EncodeField::Screen]));
        };
        let unit = self.options.detection.unit().filter(|_| detects);
        let mapping = ScreenMapping::new(&space, &self.screen_settings).and_then(|mapping| {
            unit.map_or(Ok(()), |unit| mapping.check_unit(unit))?;
            Ok(mapping)
        });
        let mapping = mapping.map_err(|why| {
            let error = self.error(why.problem()).with_remedy(why.remedy());
            error.with_fields(why.fields())
        })?;
        let screen = *self.screen.get_or_insert(mapping.screen());
        if keep && screen != mapping.screen() {
            return Err(self
                .error("the recordings have screens or stimuli of different sizes, but kept fixations need the same size")
                .with_remedy("encode those of each size separately, or do not keep the fixations")
                .with_fields(&[EncodeField::KeepFixations]));
        }
        self.recordings[recording].mapping = Some(mapping);
        Ok(())
    }
}

//! Finds the notes about a finished cohort.

use super::{EncodeNote, NoEffect, NoLetters};
use crate::observations::{MIN_ROWS_FOR_NOTE, Observations};
use crate::{
    DataKinds, DetectedCount, Detector, Dropped, EncodeField, LetterMap, LetterOptions, Outside,
    Summary,
};
use std::collections::HashSet;
use veilpath_metrics::Cohort;

/// All notes about the finished cohort.
pub(crate) fn notes(
    cohort: &Cohort,
    summary: &Summary,
    options: &LetterOptions,
    observations: &Observations,
) -> Vec<EncodeNote> {
    let mut notes = Vec::new();
    let mut ids = HashSet::new();
    let repeated = cohort
        .entries
        .iter()
        .filter(|entry| !ids.insert((entry.participant.as_str(), entry.stimulus.as_deref())))
        .count() as u64;
    if repeated > 0 {
        notes.push(EncodeNote::RepeatedIds {
            scanpaths: repeated,
        });
    }
    notes.extend(observations.times.notes());
    // Without binning or kept fixations, durations do not matter.
    if options.bin_ms.is_some() || options.keep_fixations {
        let unlikely = observations.durations.note();
        notes.extend(unlikely.or_else(|| observations.odd_durations.clone()));
    }
    notes.extend(observations.repeats.note());
    let dropped = |reason| summary.dropped.get(&reason).copied().unwrap_or(0);
    let (outside, lost) = (dropped(Dropped::Outside), dropped(Dropped::Lost));
    // Samples that are all at one place have a note of their own.
    let at_one_place = match summary.data.gaze {
        true => observations.points.off_screen_at_one_place(),
        false => 0,
    };
    if outside.saturating_sub(at_one_place) > summary.rows_used {
        notes.push(EncodeNote::ManyOutside {
            outside,
            used: summary.rows_used,
            cause: observations.points.likely_cause(),
        });
    }
    if lost * 2 > summary.rows_read && summary.rows_read >= MIN_ROWS_FOR_NOTE {
        notes.push(EncodeNote::MostlyLost {
            lost,
            rows: summary.rows_read,
        });
    }
    notes.extend(observations.points.at_origin());
    // Dropped fixations are counted, but clamped ones become letters, and samples end a run.
    if options.outside == Outside::Clamp || summary.data.gaze {
        notes.extend(observations.points.at_one_place_off_screen());
    }
    notes.extend(observations.points.radians());
    notes.extend(observations.points.one_cell());
    if let LetterMap::Grid(grid) = &options.letter_map {
        notes.extend(observations.points.half_empty(grid));
    }
    // If all participants are unusual, the notes above already say so.
    if !notes.iter().any(EncodeNote::is_about_all_points) {
        notes.extend(observations.odd_participants.clone());
    }
    if observations.stimuli_without_area > 0 {
        notes.push(EncodeNote::StimuliWithoutArea {
            stimuli: observations.stimuli_without_area,
        });
    }
    notes.extend(no_letters(summary));
    notes.extend(files_not_used(summary));
    notes.extend(without_effect(options, summary.data));
    notes
}

fn no_letters(summary: &Summary) -> Option<EncodeNote> {
    let most = summary.dropped.iter().max_by_key(|(_, count)| **count);
    let cause = match (summary.removed_runs, most) {
        _ if summary.rows_used > 0 && summary.detected.is_some() => {
            let detected = summary.detected.as_ref();
            match detected.map(DetectedCount::reasons).as_deref() {
                Some(&[(Dropped::TooShort, fixations), ..]) => {
                    NoLetters::ShortFixations { fixations }
                }
                _ => NoLetters::NoFixations {
                    found: detected.map_or(0, |it| it.fixations),
                },
            }
        }
        (runs @ 1.., _) if summary.rows_used > 0 => NoLetters::ShortRuns { runs },
        (_, Some((Dropped::TooShort, &fixations))) => NoLetters::ShortFixations { fixations },
        (_, Some((&reason, _))) => NoLetters::Dropped(reason),
        _ => NoLetters::NoRows,
    };
    (summary.scanpaths > 0 && summary.empty == summary.scanpaths).then_some(EncodeNote::NoLetters {
        scanpaths: summary.scanpaths,
        cause,
    })
}

/// Notes the files from which no row was used. If that is true of all files, the rest of the summary says so.
fn files_not_used(summary: &Summary) -> Option<EncodeNote> {
    let unused = || summary.files.iter().filter(|file| file.rows_used == 0);
    let count = unused().count();
    (count > 0 && count < summary.files.len()).then(|| EncodeNote::FilesNotUsed {
        files: unused().map(|file| file.file.clone()).collect(),
        other_eye: unused().any(|file| file.dropped.contains_key(&Dropped::OtherEye)),
    })
}

/// Finds options for a kind of row or a detector that did not occur, if the user has set them or they differ from the
/// defaults.
fn without_effect(options: &LetterOptions, data: DataKinds) -> Vec<EncodeNote> {
    let (runs, detection) = (&options.runs, &options.detection);
    let usual = LetterOptions::default();
    let (usual_runs, usual_detection) = (usual.runs, usual.detection);
    use Detector::{Idt, Ivt, Runs};
    let for_gaze: [(EncodeField, bool, &[Detector]); 11] = [
        (
            EncodeField::Detect,
            detection.detector != usual_detection.detector,
            &[Runs, Ivt, Idt],
        ),
        (
            EncodeField::Velocity,
            detection.velocity != usual_detection.velocity,
            &[Ivt],
        ),
        (
            EncodeField::VelocityMethod,
            detection.velocity_method != usual_detection.velocity_method,
            &[Ivt],
        ),
        (
            EncodeField::Dispersion,
            detection.dispersion != usual_detection.dispersion,
            &[Idt],
        ),
        (
            EncodeField::MinDuration,
            detection.min_duration_ms != usual_detection.min_duration_ms,
            &[Ivt, Idt],
        ),
        (
            EncodeField::MinDwell,
            runs.min_dwell_ms != usual_runs.min_dwell_ms,
            &[Runs],
        ),
        (
            EncodeField::Downsize,
            runs.downsize != usual_runs.downsize,
            &[Runs],
        ),
        (EncodeField::Merge, runs.merge != usual_runs.merge, &[Runs]),
        (EncodeField::MaxRepeats, runs.cap != usual_runs.cap, &[Runs]),
        (
            EncodeField::MaxGap,
            runs.max_gap_ms != usual_runs.max_gap_ms,
            &[Runs],
        ),
        (EncodeField::Runs, runs.by != usual_runs.by, &[Runs]),
    ];
    let only_fixations = data.fixations && !data.gaze;
    let given = for_gaze
        .into_iter()
        .filter(|(field, differs, _)| *differs || options.given.contains(field));
    let no_effect = given.filter_map(|(field, _, detectors)| {
        let reason = match detectors.contains(&detection.detector) {
            _ if only_fixations => NoEffect::OnlyFixations,
            true => return None,
            false => NoEffect::Detector(detection.detector.name()),
        };
        Some(EncodeNote::NoEffect { field, reason })
    });
    no_effect.collect()
}

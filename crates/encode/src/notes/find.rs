//! Which notes a finished cohort calls for.

use super::{EncodeNote, NoEffect, NoLetters};
use crate::observations::{ENOUGH_ROWS, Observations};
use crate::{DataKinds, Dropped, EncodeField, EncodeOptions, Placing, Summary};
use std::collections::HashSet;
use veilpath_metrics::Cohort;

/// What the user should know about everything.
pub(crate) fn notes(
    cohort: &Cohort,
    summary: &Summary,
    options: &EncodeOptions,
    seen: &Observations,
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
    notes.extend(seen.times.notes());
    let dropped = |reason| summary.dropped.get(&reason).copied().unwrap_or(0);
    let (outside, lost) = (dropped(Dropped::Outside), dropped(Dropped::Lost));
    if outside > summary.rows_used {
        notes.push(EncodeNote::MostlyOutside {
            outside,
            used: summary.rows_used,
            cause: seen.places.likely_cause(),
        });
    }
    if lost * 2 > summary.rows_read && summary.rows_read >= ENOUGH_ROWS {
        notes.push(EncodeNote::MostlyLost {
            lost,
            rows: summary.rows_read,
        });
    }
    notes.extend(seen.places.at_origin());
    notes.extend(seen.places.one_cell());
    if let Placing::Grid(grid) = &options.placing {
        notes.extend(seen.places.half_empty(grid));
    }
    // Where all are odd, the notes above say so.
    if !notes.iter().any(EncodeNote::is_about_all_places) {
        notes.extend(seen.odd_participants.clone());
    }
    if seen.stimuli_without_area > 0 {
        notes.push(EncodeNote::StimuliWithoutArea {
            stimuli: seen.stimuli_without_area,
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
        (runs @ 1.., _) if summary.rows_used > 0 => NoLetters::ShortRuns { runs },
        (_, Some((&reason, _))) => NoLetters::Dropped(reason),
        _ => NoLetters::NoRows,
    };
    (summary.scanpaths > 0 && summary.empty == summary.scanpaths).then_some(EncodeNote::NoLetters {
        scanpaths: summary.scanpaths,
        cause,
    })
}

/// Files without a row in use, where others have some: where none has, everything else in the summary says so.
fn files_not_used(summary: &Summary) -> Option<EncodeNote> {
    let unused = || summary.files.iter().filter(|file| file.rows_used == 0);
    let count = unused().count();
    (count > 0 && count < summary.files.len()).then(|| EncodeNote::FilesNotUsed {
        files: unused().map(|file| file.file.clone()).collect(),
        other_eye: unused().any(|file| file.dropped.contains_key(&Dropped::OtherEye)),
    })
}

/// Options for the kind of rows that did not occur, as far as the user has set them or they differ from the defaults.
fn without_effect(options: &EncodeOptions, data: DataKinds) -> Vec<EncodeNote> {
    let (given, usual) = (&options.runs, EncodeOptions::default().runs);
    let for_gaze = [
        (
            EncodeField::MinDwell,
            given.min_dwell_ms != usual.min_dwell_ms,
        ),
        (EncodeField::Downsize, given.downsize != usual.downsize),
        (EncodeField::Merge, given.merge != usual.merge),
        (EncodeField::MaxRepeats, given.cap != usual.cap),
        (EncodeField::MaxGap, given.max_gap_ms != usual.max_gap_ms),
        (EncodeField::Runs, given.by != usual.by),
    ];
    let only_fixations = data.fixations && !data.gaze;
    for_gaze
        .into_iter()
        .filter(|(field, differs)| *differs || options.given.contains(field))
        .filter(|_| only_fixations)
        .map(|(field, _)| EncodeNote::NoEffect {
            field,
            reason: NoEffect::OnlyFixations,
        })
        .collect()
}

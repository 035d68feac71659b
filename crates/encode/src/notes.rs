//! What a user should know about everything that was encoded.

use crate::observations::{ENOUGH_ROWS, Observations};
use crate::{DataKinds, Dropped, EncodeField, EncodeOptions, Summary};
use serde::Serialize;
use std::collections::HashSet;
use std::fmt;
use veilpath_metrics::Cohort;

/// Something that is not wrong, but that a user may not expect.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "note", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EncodeNote {
    /// Scanpaths with the participant and stimulus of an earlier file.
    RepeatedIds {
        /// How many.
        scanpaths: usize,
    },
    /// Gaze samples that are earlier than the one before them.
    TimeBackwards {
        /// How many.
        rows: u64,
    },
    /// Scanpaths whose fixations were sorted by their start.
    FixationsSorted {
        /// How many.
        scanpaths: u64,
    },
    /// Scanpaths whose fixations are not in the order of time and would overlap if they were sorted.
    FixationsOverlap {
        /// How many.
        scanpaths: u64,
    },
    /// More points lie outside the screen than on it.
    MostlyOutside {
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
    /// Nearly all points fall into one cell of the grid.
    OneCell {
        /// How many.
        points: u64,
        /// Of how many.
        used: u64,
        /// The likely reason.
        cause: LikelyCause,
    },
    /// No scanpath has a letter.
    NoLetters {
        /// How many scanpaths there are.
        scanpaths: usize,
        /// Why.
        cause: NoLetters,
    },
    /// Files of which no row was used, next to others.
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
    /// Stimuli that no area of interest is drawn for.
    StimuliWithoutArea {
        /// How many.
        stimuli: usize,
    },
    /// A column that seems to have labels of events, in words that are not known.
    LabelsNotUsed {
        /// Its name.
        column: String,
        /// Some of its labels.
        labels: Vec<String>,
        /// How many more there are.
        more: usize,
    },
    /// Labels of events that the user asked for and that do not occur in a file.
    LabelsMissing {
        /// The labels.
        labels: Vec<String>,
    },
    /// An option that changes nothing about these files.
    NoEffect {
        /// The option.
        field: EncodeField,
        /// Why.
        reason: NoEffect,
    },
}

/// Why points are not where one would expect them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LikelyCause {
    /// They lie between 0 and 1.
    Fractions,
    /// They lie between -1 and 1.
    Centred,
    /// They lie between 0 and 100.
    Percent,
    /// Many are below zero, as if counted from the centre.
    CentreOrigin,
    /// None of these: the size of the screen or the unit.
    SizeOrUnit,
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
    /// The most frequent reason why rows were not used.
    Dropped(Dropped),
    /// There are no rows.
    NoRows,
}

/// Why an option has no effect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoEffect {
    /// The format of this name settles it.
    Format(String),
    /// All rows are fixations.
    OnlyFixations,
    /// All rows are gaze samples.
    OnlyGaze,
}

impl EncodeNote {
    /// The fields of the options that would change it.
    pub fn fields(&self) -> &'static [EncodeField] {
        match self {
            EncodeNote::RepeatedIds { .. } => &[EncodeField::NameTemplate],
            EncodeNote::FixationsOverlap { .. } => &[EncodeField::TrialColumn],
            EncodeNote::MostlyOutside {
                cause: LikelyCause::CentreOrigin,
                ..
            }
            | EncodeNote::OneCell {
                cause: LikelyCause::CentreOrigin,
                ..
            } => &[EncodeField::CentredPixels, EncodeField::VisualAngle],
            EncodeNote::MostlyOutside { .. } | EncodeNote::OneCell { .. } => {
                &[EncodeField::Units, EncodeField::Screen]
            }
            EncodeNote::MostlyLost { .. } => &[EncodeField::Eye, EncodeField::PlaceColumns],
            EncodeNote::NoLetters {
                cause: NoLetters::ShortRuns { .. },
                ..
            } => &[EncodeField::MinDwell, EncodeField::Rate, EncodeField::Rows],
            EncodeNote::NoLetters {
                cause: NoLetters::Dropped(Dropped::Outside),
                ..
            } => &[EncodeField::Units, EncodeField::Screen],
            EncodeNote::FilesNotUsed {
                other_eye: true, ..
            } => &[EncodeField::Eye],
            EncodeNote::NoLetters { .. }
            | EncodeNote::FilesNotUsed { .. }
            | EncodeNote::ManyAtOrigin { .. } => &[],
            EncodeNote::LabelsNotUsed { .. } | EncodeNote::LabelsMissing { .. } => {
                &[EncodeField::Events]
            }
            EncodeNote::StimuliWithoutArea { .. } => &[EncodeField::AoiFile],
            EncodeNote::TimeBackwards { .. }
            | EncodeNote::FixationsSorted { .. }
            | EncodeNote::NoEffect { .. } => &[],
        }
    }
}

impl fmt::Display for EncodeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeNote::RepeatedIds { scanpaths } => write!(
                f,
                "{} with the participant and stimulus of an earlier file, kept separately (a pattern for file names can tell them apart)",
                counted(*scanpaths as u64, "scanpath")
            ),
            EncodeNote::TimeBackwards { rows } => write!(
                f,
                "time goes backwards at {}; each was taken for a new start",
                counted(*rows, "row")
            ),
            EncodeNote::FixationsSorted { scanpaths } => write!(
                f,
                "the rows of {scanpaths} of the scanpaths were not in the order of time; their fixations were sorted by their start"
            ),
            EncodeNote::FixationsOverlap { scanpaths } => write!(
                f,
                "the rows of {scanpaths} of the scanpaths are not in the order of time, and their fixations would overlap if they were sorted; the order of the file was kept (several trials under one name? name the column of trials)"
            ),
            EncodeNote::MostlyOutside {
                outside,
                used,
                cause,
            } => write!(
                f,
                "{} outside the screen or stimulus and {used} on it: {cause}",
                match outside {
                    1 => "1 point lies".to_string(),
                    more => format!("{more} points lie"),
                }
            ),
            EncodeNote::MostlyLost { lost, rows } => write!(
                f,
                "{lost} of {rows} rows have no coordinates: the tracker lost the eyes, or the coordinates are in other columns or of the other eye"
            ),
            EncodeNote::OneCell {
                points,
                used,
                cause,
            } => write!(
                f,
                "{points} of {used} points fall into one cell of the grid: {cause}"
            ),
            EncodeNote::NoLetters { scanpaths, cause } => {
                match scanpaths {
                    1 => f.write_str("the scanpath has no letter: ")?,
                    more => write!(f, "none of the {more} scanpaths has a letter: ")?,
                }
                write!(f, "{cause}")
            }
            EncodeNote::FilesNotUsed { files, other_eye } => {
                const LISTED: usize = 5;
                let listed: Vec<&str> = files.iter().take(LISTED).map(String::as_str).collect();
                write!(f, "no row was used of {}", listed.join(", "))?;
                match files.len().saturating_sub(LISTED) {
                    0 => {}
                    more => write!(f, " and {more} more")?,
                }
                match other_eye {
                    true => f.write_str(", with rows of the other eye"),
                    false => Ok(()),
                }
            }
            EncodeNote::ManyAtOrigin { points, all } => write!(
                f,
                "{points} of {all} points are exactly 0,0, which trackers write for a lost eye; if that is so here, leave their coordinates empty in the file"
            ),
            EncodeNote::StimuliWithoutArea { stimuli } => write!(
                f,
                "{} no area of interest: check that the AOI file names stimuli as the recordings do",
                match stimuli {
                    1 => "1 stimulus has".to_string(),
                    more => format!("{more} stimuli have"),
                }
            ),
            EncodeNote::LabelsNotUsed {
                column,
                labels,
                more,
            } => {
                let more = match more {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                write!(
                    f,
                    "the column \"{column}\" has labels ({}{more}) that were not used, so rows of all of them were taken; choose the labels of fixations",
                    labels.join(", ")
                )
            }
            EncodeNote::LabelsMissing { labels } => write!(
                f,
                "no row of some file has the label {}",
                labels.join(" or ")
            ),
            EncodeNote::NoEffect { reason, .. } => write!(f, "has no effect: {reason}"),
        }
    }
}

/// `1 row`, `2 rows`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

impl fmt::Display for LikelyCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LikelyCause::Fractions => "their coordinates lie between 0 and 1, so they are probably fractions of the screen, not pixels",
            LikelyCause::Centred => "their coordinates lie between -1 and 1, so they are probably counted from the centre, not pixels",
            LikelyCause::Percent => "their coordinates lie between 0 and 100, so they are probably percent of the screen, not pixels",
            LikelyCause::CentreOrigin => "many coordinates are below zero, so they are probably counted from the centre of the screen, in pixels or degrees of visual angle, not from its top left",
            LikelyCause::SizeOrUnit => "check the size of the screen and the unit of coordinates",
        })
    }
}

impl fmt::Display for NoLetters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self {
            NoLetters::ShortRuns { runs } => {
                return write!(
                    f,
                    "all runs of raw gaze ({runs}) are shorter than the minimum dwell (are the rows fixations, or is the sampling rate or the unit of time another one?)"
                );
            }
            NoLetters::NoRows => "there are no rows of gaze",
            NoLetters::Dropped(Dropped::Lost) => "most rows have no coordinates",
            NoLetters::Dropped(Dropped::Outside) => {
                "most points lie outside the screen or stimulus"
            }
            NoLetters::Dropped(Dropped::NoAoi) => "most points lie in no area of interest",
            NoLetters::Dropped(_) => "the rows were dropped",
        };
        f.write_str(reason)
    }
}

impl fmt::Display for NoEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoEffect::Format(name) => write!(f, "the format {name} settles that itself"),
            NoEffect::OnlyFixations => {
                f.write_str("it is for raw gaze, and all rows are fixations")
            }
            NoEffect::OnlyGaze => f.write_str("it is for fixations, and all rows are raw gaze"),
        }
    }
}

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
        .count();
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

/// Options for the kind of rows that did not occur, as far as they differ from the defaults.
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
        .filter(|(_, given)| *given && only_fixations)
        .map(|(field, _)| EncodeNote::NoEffect {
            field,
            reason: NoEffect::OnlyFixations,
        })
        .collect()
}

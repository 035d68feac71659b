//! What a user should know about everything that was encoded.

use crate::fixation_path::RowOrder;
use crate::{DataKinds, Dropped, EncodeField, EncodeOptions, Space, SpaceKind, Summary};
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
    /// Stimuli that no area of interest is drawn for.
    StimuliWithoutArea {
        /// How many.
        stimuli: usize,
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
            EncodeNote::FixationsOverlap { .. } => &[EncodeField::Columns],
            EncodeNote::MostlyOutside { .. } | EncodeNote::OneCell { .. } => {
                &[EncodeField::Units, EncodeField::Screen]
            }
            EncodeNote::MostlyLost { .. } => &[EncodeField::Eye, EncodeField::Columns],
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
                "{scanpaths} of the scanpaths have the participant and stimulus of an earlier file; each is kept as a row of its own (a pattern for file names can tell them apart)"
            ),
            EncodeNote::TimeBackwards { rows } => write!(
                f,
                "time goes backwards at {rows} rows; each was taken for a new start"
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
                "{outside} points lie outside the screen or stimulus and {used} on it: {cause}"
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
            EncodeNote::StimuliWithoutArea { stimuli } => write!(
                f,
                "{stimuli} stimuli have no area of interest: check that the AOI file names them as the recordings do"
            ),
            EncodeNote::NoEffect { reason, .. } => write!(f, "has no effect: {reason}"),
        }
    }
}

impl fmt::Display for LikelyCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LikelyCause::Fractions => "their coordinates lie between 0 and 1, so they are probably fractions of the screen, not pixels",
            LikelyCause::Centred => "their coordinates lie between -1 and 1, so they are probably counted from the centre, not pixels",
            LikelyCause::Percent => "their coordinates lie between 0 and 100, so they are probably percent of the screen, not pixels",
            LikelyCause::CentreOrigin => "many coordinates are below zero, so they are probably counted from the centre of the screen, not from its top left",
            LikelyCause::SizeOrUnit => "check the size of the screen and the unit of coordinates",
        })
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

/// What was counted besides the rows themselves.
#[derive(Debug, Default)]
pub(crate) struct Observations {
    pub(crate) times: OddTimes,
    pub(crate) stimuli_without_area: usize,
    pub(crate) places: Places,
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
    notes.extend(seen.places.one_cell());
    if seen.stimuli_without_area > 0 {
        notes.push(EncodeNote::StimuliWithoutArea {
            stimuli: seen.stimuli_without_area,
        });
    }
    notes.extend(without_effect(options, summary.data));
    notes
}

/// Fewer rows say nothing about the whole.
const ENOUGH_ROWS: u64 = 20;

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

/// Where the points of all files lie.
#[derive(Debug, Default)]
pub(crate) struct Places {
    /// Points by letter.
    letters: Vec<u64>,
    points: u64,
    below_zero: u64,
    /// The smallest and the largest coordinate of points in pixels; `None` where no file has any.
    pixels: Option<(f64, f64)>,
}

impl Places {
    /// A point with finite coordinates.
    pub(crate) fn point(&mut self, space: &Space, x: f64, y: f64) {
        if space.kind == SpaceKind::Pixels {
            let (least, most) = self.pixels.unwrap_or((f64::INFINITY, f64::NEG_INFINITY));
            self.pixels = Some((least.min(x).min(y), most.max(x).max(y)));
            self.points += 1;
            self.below_zero += u64::from(x < 0.0 || y < 0.0);
        }
    }

    /// A point that fell into a cell.
    pub(crate) fn cell(&mut self, letter: u16) {
        let letter = usize::from(letter);
        if letter >= self.letters.len() {
            self.letters.resize(letter + 1, 0);
        }
        self.letters[letter] += 1;
    }

    /// Says so where nearly all points are in one cell.
    fn one_cell(&self) -> Option<EncodeNote> {
        let used: u64 = self.letters.iter().sum();
        let points = self.letters.iter().copied().max().unwrap_or(0);
        (used >= ENOUGH_ROWS && points * 20 >= used * 19).then(|| EncodeNote::OneCell {
            points,
            used,
            cause: self.likely_cause(),
        })
    }

    fn likely_cause(&self) -> LikelyCause {
        match self.pixels {
            Some((least, most)) if least >= 0.0 && most <= 1.2 => LikelyCause::Fractions,
            Some((least, most)) if least >= -1.2 && most <= 1.2 => LikelyCause::Centred,
            Some((least, most)) if least >= 0.0 && most <= 100.0 => LikelyCause::Percent,
            Some(_) if self.below_zero * 4 > self.points => LikelyCause::CentreOrigin,
            _ => LikelyCause::SizeOrUnit,
        }
    }
}

/// Where rows were not in the order of time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OddTimes {
    /// Gaze samples before the one before them.
    pub(crate) backwards: u64,
    /// Scanpaths whose fixations were sorted.
    sorted: u64,
    /// Scanpaths whose fixations were left in the order of their rows.
    overlapping: u64,
}

impl OddTimes {
    /// One more recording of fixations.
    pub(crate) fn count(&mut self, order: RowOrder) {
        match order {
            RowOrder::Kept => {}
            RowOrder::Sorted => self.sorted += 1,
            RowOrder::ClockRestarts => self.overlapping += 1,
        }
    }

    /// A note for each kind.
    fn notes(self) -> impl Iterator<Item = EncodeNote> {
        let Self {
            backwards,
            sorted,
            overlapping,
        } = self;
        let notes = [
            (backwards, EncodeNote::TimeBackwards { rows: backwards }),
            (sorted, EncodeNote::FixationsSorted { scanpaths: sorted }),
            (
                overlapping,
                EncodeNote::FixationsOverlap {
                    scanpaths: overlapping,
                },
            ),
        ];
        notes
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(_, note)| note)
    }
}

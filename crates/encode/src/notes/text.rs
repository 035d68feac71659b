//! The messages of notes.

use super::{EncodeNote, Half, LabelDoubt, LikelyCause, NoEffect, NoLetters};
use crate::{Dropped, EncodeField};
use std::fmt;

impl fmt::Display for EncodeNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EncodeNote::RepeatedIds { scanpaths } => write!(
                f,
                "{} with the participant and stimulus of an earlier file, kept separately (a pattern for file names can tell them apart)",
                pluralized(*scanpaths, "scanpath")
            ),
            EncodeNote::StimuliRepeated { trials } => write!(
                f,
                "{} a stimulus that the participant had already seen; it is named \"name (2)\" the second time, and so on",
                have(*trials, "trial")
            ),
            EncodeNote::TimeBackwards { rows } => write!(
                f,
                "time goes backwards at {}; a new run starts at each of them",
                pluralized(*rows, "row")
            ),
            EncodeNote::FixationsSorted { scanpaths } => write!(
                f,
                "the fixations of {} were not in order of time, and were sorted by their start",
                pluralized(*scanpaths, "scanpath")
            ),
            EncodeNote::FixationsOverlap { scanpaths } => write!(
                f,
                "the fixations of {} are not in order of time and would overlap if sorted, so the order of the file was kept: several trials may have the same name",
                pluralized(*scanpaths, "scanpath")
            ),
            EncodeNote::UnlikelyDurations { fixations, of } => write!(
                f,
                "{} of {} fixations last less than 10 ms or more than 10 s: check the time unit",
                grouped(*fixations),
                grouped(*of)
            ),
            EncodeNote::LongSteps { step_ms } => write!(
                f,
                "gaze samples are {} s apart, which is unusual: check the time unit",
                step_ms / 1000.0
            ),
            EncodeNote::RepeatedFixations { fixations, of } => write!(
                f,
                "{} of {} fixations have the position and duration of the row before: these rows seem to be gaze samples, each with the fixation that it belongs to; keep one row for each fixation, or read the rows as samples",
                grouped(*fixations),
                grouped(*of)
            ),
            EncodeNote::OddDurations {
                participants,
                of,
                files,
            } => {
                write!(
                    f,
                    "most fixations of {participants} of {of} participants last less than 10 ms or more than 10 s, unlike those of the others: check the unit of their times"
                )?;
                in_files(f, files)
            }
            EncodeNote::ManyOutside {
                outside,
                used,
                cause,
            } => write!(
                f,
                "{} outside the screen or stimulus and {} on it: {cause}",
                match outside {
                    1 => "1 point lies".to_string(),
                    more => format!("{} points lie", grouped(*more)),
                },
                grouped(*used)
            ),
            EncodeNote::MostlyLost { lost, rows } => write!(
                f,
                "{} of {} rows are lost (no coordinates, a blink or confidence 0): the tracker lost the eyes, or the coordinates are elsewhere in the file",
                grouped(*lost),
                grouped(*rows)
            ),
            EncodeNote::OneCell {
                points,
                used,
                cause,
            } => write!(
                f,
                "{} of {} points fall into one grid cell: {cause}",
                grouped(*points),
                grouped(*used)
            ),
            EncodeNote::Radians { points } => write!(
                f,
                "the longitudes and latitudes of all {points} points are at most 6.29 and 1.58, so they are probably radians; convert them to degrees"
            ),
            EncodeNote::HalfEmpty { half, used } => write!(
                f,
                "nearly all of the {} points lie in the {half} half: if the stimulus filled the screen, check the size of the screen and the unit of coordinates",
                grouped(*used)
            ),
            EncodeNote::OddParticipants {
                participants,
                of,
                files,
            } => {
                write!(
                    f,
                    "the points of {participants} of {of} participants lie outside the screen or in one grid cell, unlike those of the others: check the unit of their coordinates and the size of their screen"
                )?;
                in_files(f, files)
            }
            EncodeNote::NoLetters { scanpaths, cause } => {
                match scanpaths {
                    1 => f.write_str("the scanpath has no letter: ")?,
                    more => write!(f, "none of the {more} scanpaths has a letter: ")?,
                }
                write!(f, "{cause}")
            }
            EncodeNote::FilesNotUsed { files, other_eye } => {
                write!(f, "no row was used from {}", listed(files))?;
                match other_eye {
                    true if files.len() == 1 => f.write_str(", which has rows of the other eye"),
                    true => f.write_str(", which have rows of the other eye"),
                    false => Ok(()),
                }
            }
            EncodeNote::ManyAtOrigin { points, all } => write!(
                f,
                "{} of {} points are exactly 0,0, which some trackers write when they lose the eye; if yours does, leave those coordinates empty in the file",
                grouped(*points),
                grouped(*all)
            ),
            EncodeNote::ManyOffScreen { x, y, points, all } => write!(
                f,
                "{} of {} points are exactly {x},{y}, outside the screen or stimulus, which some trackers write when they lose the eye; if yours does, leave those coordinates empty in the file",
                grouped(*points),
                grouped(*all)
            ),
            EncodeNote::GroupsNotUsed { reason } => {
                write!(f, "the group column is not used: {reason}")
            }
            EncodeNote::StimuliWithoutArea { stimuli } => write!(
                f,
                "{} no area of interest: check that the stimulus names in the AOI file match those in the recordings",
                match stimuli {
                    1 => "1 stimulus has".to_string(),
                    more => format!("{more} stimuli have"),
                }
            ),
            EncodeNote::AreasNotNamed {
                areas,
                others,
                more,
            } => {
                write!(f, "no row names {}", listed(areas))?;
                if others.is_empty() {
                    return Ok(());
                }
                let named = others.iter();
                let named =
                    named.map(|(name, rows)| format!("{name} ({})", pluralized(*rows, "row")));
                let named: Vec<String> = named.collect();
                write!(f, "; not in the list: {}", named.join(", "))?;
                match more {
                    0 => Ok(()),
                    more => write!(f, " and {more} more"),
                }
            }
            EncodeNote::LabelsNotUsed {
                column,
                labels,
                more,
                doubt,
            } => {
                let more = match more {
                    0 => String::new(),
                    more => format!(" and {more} more"),
                };
                write!(
                    f,
                    "the column \"{column}\" may have event labels ({}{more}), but {doubt}, so all rows were used; choose the labels of fixations",
                    labels.join(", ")
                )
            }
            EncodeNote::LabelsMissing { labels } => write!(
                f,
                "in at least one file, no row has the label {}",
                labels.join(" or ")
            ),
            EncodeNote::NoEffect {
                field,
                reason: NoEffect::Format(name),
            } => match field {
                EncodeField::Eye => {
                    write!(f, "has no effect: the format {name} has no eye to choose")
                }
                EncodeField::Events => write!(
                    f,
                    "has no effect: the format {name} has no event labels to choose from"
                ),
                EncodeField::Columns => {
                    write!(f, "has no effect: the format {name} has fixed columns")
                }
                _ => write!(f, "has no effect: the format {name} defines it"),
            },
            EncodeNote::NoEffect { reason, .. } => write!(f, "has no effect: {reason}"),
        }
    }
}

/// `, in a.csv, b.csv`, or nothing.
fn in_files(f: &mut fmt::Formatter<'_>, files: &[String]) -> fmt::Result {
    match files.is_empty() {
        true => Ok(()),
        false => write!(f, ", in {}", listed(files)),
    }
}

fn listed(files: &[String]) -> String {
    first_of(files, 5)
}

/// `a, b and 3 more`: the first few names, and how many others there are.
pub(crate) fn first_of(names: &[impl AsRef<str>], shown: usize) -> String {
    let first: Vec<&str> = names.iter().take(shown).map(AsRef::as_ref).collect();
    let first = first.join(", ");
    match names.len().saturating_sub(shown) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

impl fmt::Display for Half {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Half::Left => "left",
            Half::Right => "right",
            Half::Upper => "upper",
            Half::Lower => "lower",
        })
    }
}

/// `1 scanpath has`, `2 scanpaths have`.
fn have(count: u64, one: &str) -> String {
    let verb = if count == 1 { "has" } else { "have" };
    format!("{} {verb}", pluralized(count, one))
}

/// `1 row`, `2,000 rows`.
pub(crate) fn pluralized(count: u64, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {one}{ending}", grouped(count))
}

/// A number with commas between the thousands: `13,768`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

impl fmt::Display for LikelyCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            LikelyCause::Fractions => "their coordinates lie between 0 and 1, so they are probably fractions of the screen, not pixels",
            LikelyCause::Centred => "their coordinates lie between -1 and 1, so they are probably measured from the centre, not pixels",
            LikelyCause::Percent => "their coordinates lie between 0 and 100, so they are probably percent of the screen, or centimetres, not pixels",
            LikelyCause::VisualAngle => "their coordinates are small numbers around zero, so they are probably degrees of visual angle from the centre of the screen, not pixels",
            LikelyCause::CentreOrigin => "many coordinates are below zero, so they are probably measured from the centre of the screen, in pixels or degrees of visual angle, not from its top left",
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
                    "all {runs} runs of raw gaze are shorter than the minimum dwell; check the sampling rate and the unit of time, and whether the rows are fixations"
                );
            }
            NoLetters::NoFixations { found: 0 } => {
                "no fixation was found in raw gaze; check the thresholds, the sampling rate and the unit of time"
            }
            NoLetters::NoFixations { found } => {
                return write!(
                    f,
                    "none of the {found} detected fixations lies on the screen or stimulus, or in an area of interest"
                );
            }
            NoLetters::ShortFixations { fixations: 1 } => {
                "the fixation is shorter than half a temporal bin"
            }
            NoLetters::ShortFixations { fixations } => {
                return write!(
                    f,
                    "{fixations} fixations are shorter than half a temporal bin"
                );
            }
            NoLetters::NoRows => "there are no rows of gaze",
            NoLetters::Dropped(Dropped::Lost) => {
                "most rows are lost (no coordinates, a blink or confidence 0)"
            }
            NoLetters::Dropped(Dropped::Outside) => {
                "most points lie outside the screen or stimulus"
            }
            NoLetters::Dropped(Dropped::NoAoi) => "most points lie in no area of interest",
            NoLetters::Dropped(_) => "the rows were dropped",
        };
        f.write_str(reason)
    }
}

impl fmt::Display for LabelDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LabelDoubt::NoFixation => f.write_str("none is a known word for a fixation"),
            LabelDoubt::UnknownLabel(label) => {
                write!(f, "\"{label}\" is not a known eye movement")
            }
            LabelDoubt::ManyValues => f.write_str("it has many other values"),
            LabelDoubt::RowsWithoutLabel => f.write_str("the other rows have no label"),
        }
    }
}

impl fmt::Display for NoEffect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoEffect::Format(name) => write!(f, "the format {name} defines it"),
            NoEffect::OnlyFixations => {
                f.write_str("it is for raw gaze, and all rows are fixations")
            }
            NoEffect::Detector(name) => write!(f, "the detector is {name}"),
            NoEffect::NoEventColumn => {
                f.write_str("there is no event column, and all rows were used")
            }
            NoEffect::NoVisualAngles => f.write_str(
                "it is for degrees of visual angle, for thresholds in them, and for fixations that are kept",
            ),
            NoEffect::Panorama => f.write_str("all coordinates are longitudes and latitudes"),
            NoEffect::AreasInFile => f.write_str(
                "the areas are in the coordinates of the files, and a point in an area counts wherever the screen ends",
            ),
            NoEffect::AreasInColumn => {
                f.write_str("a column names the areas, whatever the coordinates are")
            }
            NoEffect::NoDurationsUsed => f.write_str(
                "without temporal binning and without kept fixations, durations do not matter",
            ),
            NoEffect::NoTimes => f.write_str("no column has times or durations"),
            NoEffect::NamedInColumn => f.write_str("the names in the file are used"),
            NoEffect::NoEyeColumn => f.write_str("no column names the eye of a row"),
        }
    }
}

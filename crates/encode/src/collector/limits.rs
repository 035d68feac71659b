//! How long scanpaths may get, and the errors for longer ones.

use crate::runs::ReductionError;
use crate::summary::FileSummary;
use crate::{EncodeField, ReadError};

/// The maximum number of letters of all fixations together. No study has this many, and a wrong unit must not exhaust
/// the memory. Tests use a lower limit.
pub(super) const MAX_ALL_LETTERS: usize = if cfg!(test) { 1 << 25 } else { 1 << 29 };

/// The maximum number of fixations kept, per recording and in total, so that Veilpath can read back every row of a
/// cohort file, and the whole file.
pub(super) const MAX_KEPT: usize = 1 << 18;
pub(super) const MAX_ALL_KEPT: usize = 1 << 24;

pub(super) const TOO_MANY_KEPT: &str =
    "more than 262,144 fixations in a recording, or 16 million in all, are too many to keep";
pub(super) const TOO_MANY: &str = "the scanpaths would have more than 500 million letters in all";
pub(super) const TOO_LONG: &str = "a scanpath would have more than 16 million letters";
pub(super) const CHECK_TIME_UNIT: &str = "check the unit of time, the bin and the minimum dwell";
pub(super) const ABOUT_TIME: &[EncodeField] = &[
    EncodeField::TimeUnit,
    EncodeField::Bin,
    EncodeField::MinDwell,
];

pub(super) fn reduction_error(
    files: &[FileSummary],
    file: usize,
    why: ReductionError,
) -> ReadError {
    let name = files.get(file).map_or("", |file| file.file.as_str());
    match why {
        ReductionError::NoTime => ReadError::new(
            name,
            "raw gaze without timestamps, and the sampling rate is unknown",
        )
        .with_remedy("give the sampling rate")
        .with_fields(&[EncodeField::Rate]),
        ReductionError::TooManySamples => ReadError::new(
            name,
            "the shortest fixation would have more than 65,536 samples",
        )
        .with_remedy("check the unit of time, the sampling rate and the minimum duration")
        .with_fields(&[
            EncodeField::TimeUnit,
            EncodeField::Rate,
            EncodeField::MinDuration,
        ]),
        ReductionError::TooLong => ReadError::new(name, TOO_LONG)
            .with_remedy(CHECK_TIME_UNIT)
            .with_fields(ABOUT_TIME),
    }
}

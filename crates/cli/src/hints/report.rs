//! Advice about result files and cohorts that cannot be drawn.

use veilpath::report::{DrawingError, ResultFileError};
use veilpath::{Error, ResultFormatError};

/// A file that is not a result file.
pub(super) fn result_file(error: &Error, cause: &ResultFileError) -> String {
    const WRITTEN_BY: &str = "name a file that `veilpath compare a.csv b.csv -o scores.json` wrote";
    match cause {
        ResultFileError::Format(ResultFormatError::Version { .. }) => format!(
            "{error}\n  use the version of veilpath that wrote it, or compare again with this one"
        ),
        ResultFileError::Empty | ResultFileError::NotATable | ResultFileError::Format(_) => {
            format!("{error}\n  {WRITTEN_BY}")
        }
        _ => error.to_string(),
    }
}

/// A stimulus that the result file does not have.
pub(super) fn stimuli(error: &Error, known: &[String]) -> String {
    const SHOWN: usize = 10;
    match known.is_empty() {
        true => format!("{error}\n  its pairs have no stimuli; leave --stimulus out"),
        false => format!(
            "{error}\n  available stimuli: {}",
            super::listed(known, SHOWN)
        ),
    }
}

/// A measure that the result file does not have.
pub(super) fn measures(error: &Error, known: &[String]) -> String {
    const SHOWN: usize = 32;
    format!(
        "--measure: {error}\n  available measures: {}",
        super::listed(known, SHOWN)
    )
}

/// A cohort that cannot be drawn.
pub(super) fn drawing(error: &DrawingError) -> String {
    match error {
        DrawingError::NoGrid { .. } => {
            format!("{error}\n  add it, as in --grid 7x7; areas of interest cannot be drawn")
        }
        DrawingError::GridDiffers { .. } => format!("--grid: {error}\n  leave --grid out"),
        DrawingError::NoSuchStimulus { .. } => format!(
            "--image: {error}\n  use STIMULUS=FILE, with the stimulus as in the cohort file"
        ),
        DrawingError::NoSuchParticipant { .. } => format!(
            "--pair: {error}\n  --pair takes two ids as in the cohort files; --second-cohort names the file of the second, if it is a different one"
        ),
        DrawingError::NoCommonStimulus { .. } => format!("--pair: {error}"),
        DrawingError::BeyondGrid { .. } | DrawingError::Image { .. } => error.to_string(),
    }
}

//! What to do about a result file or a cohort that cannot be drawn.

use veilpath::report::{OwnError, ResultFileError};
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
    const NAMED: usize = 10;
    let named: Vec<&String> = known.iter().take(NAMED).collect();
    let more = match known.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    match named.is_empty() {
        true => format!("{error}\n  its pairs have no stimuli; leave --stimulus out"),
        false => format!("{error}\n  it has these: {named:?}{more}"),
    }
}

/// One's own scanpaths that cannot be drawn.
pub(super) fn own(error: &OwnError) -> String {
    match error {
        OwnError::NoGrid { .. } => {
            format!("{error}\n  name it, as in --grid 7x7; areas of interest cannot be drawn")
        }
        OwnError::GridDiffers { .. } => format!("--grid: {error}\n  leave --grid out"),
        OwnError::NoSuchStimulus { .. } => format!(
            "--image: {error}\n  it is written STIMULUS=FILE, with the stimulus as in the cohort file"
        ),
        OwnError::BeyondGrid { .. } | OwnError::Image { .. } => error.to_string(),
    }
}

//! The one definition of a result file: how an [`Outcome`] is written, and how it is read back.
//!
//! ```text
//! {"veilpath_result": 1,                       the version of this format; always the first field
//!  "spec": {…},                                what was computed, and how
//!  "cohorts": [{"name": "Clinic", "scanpaths": [{"participant": "P1", "stimulus": "cows"}, …]}, {…}],
//!  "one_cohort": false,                        whether both sides are the same cohort
//!  "pairs": 812,                               how many pairs the comparison has
//!  "tile": {"tile": "3/8", "plan": "5d0f…", "pairs": 6496},   only where this is a part of a plan: which one, of which plan
//!  "error_bound": 0.00051,                     how far a score can be from double precision; only where numbers are rounded
//!  "fixation_rounding": {…},                   only where fixations are rounded to letters: to what, and how far they move
//!  "complete": false,                          only where a session was interrupted and results are missing
//!  "outputs": [{"name": "score", "kind": "distance"}, …],
//!  "results": [{"a": "P1", "b": "Q1", "stimulus": "cows", "a_index": 0, "b_index": 0, "score": 1, …}, …],
//!  "answers": [{"kind": "means", …}, {"kind": "test", …}],
//!  "cost": {…}, "revealed": [{"to": "host", "what": "…"}, …]}
//! ```
//!
//! A result has one field for each output, so that `results` is a data frame in R or pandas. Its ids repeat the labels of
//! the cohorts that `a_index` and `b_index` point to.
//!
//! A file may come from anybody. Results are read one by one into [`Results`], every list and text has a limit, and what
//! does not belong together is refused with a [`ResultFormatError`].

mod read;
mod write;

pub use read::OutcomeSeed;

use crate::GroupAnswerError;
use std::collections::BTreeMap;
use veilpath_metrics::Cohort;

/// The version of the format that this program writes and reads.
pub const RESULT_VERSION: u64 = 1;

/// The field that a result file starts with.
pub const RESULT_MARK: &str = "veilpath_result";

/// The longest id, name or other short text in a result file, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 10;

/// The most scanpaths of one side, groups of a matrix and the like.
const MAX_SCANPATHS: usize = 1 << 20;

/// The most outputs: a metric has a handful.
const MAX_OUTPUTS: usize = 32;

/// The most answers about groups, and the most groups of one.
const MAX_ANSWERS: usize = 1 << 10;

/// The longest text of all answers about groups.
const MAX_ANSWERS_BYTES: usize = 1 << 24;

/// The most lines of what was revealed.
const MAX_REVEALED: usize = 64;

/// The longest plan: a table of a million numbers is the largest part of one.
const MAX_SPEC_BYTES: usize = 1 << 25;

/// The most values of a plan: a table of a million numbers, and as many commas in texts.
const MAX_SPEC_VALUES: usize = 1 << 21;

/// The most settings in the encoding of a plan.
const MAX_ENCODING_SETTINGS: usize = 1 << 10;

/// The fields of a result before its outputs.
const ID_FIELDS: [&str; 5] = ["a", "b", "stimulus", "a_index", "b_index"];

/// Whether a result file can contain the ids and the encoding settings of a cohort.
pub fn check_cohort(cohort: &Cohort) -> Result<(), ResultFormatError> {
    if cohort.entries.len() > MAX_SCANPATHS {
        return Err(ResultFormatError::TooMany {
            what: "scanpaths",
            limit: MAX_SCANPATHS,
        });
    }
    for entry in &cohort.entries {
        check_text("an id", &entry.participant)?;
        check_text("an id", entry.stimulus.as_deref().unwrap_or_default())?;
    }
    check_encoding(&cohort.encoding.0)
}

/// Whether a result file can contain these encoding settings.
pub fn check_encoding(encoding: &BTreeMap<String, String>) -> Result<(), ResultFormatError> {
    if encoding.len() > MAX_ENCODING_SETTINGS {
        return Err(ResultFormatError::TooMany {
            what: "settings of the encoding",
            limit: MAX_ENCODING_SETTINGS,
        });
    }
    for text in encoding.iter().flat_map(|(key, value)| [key, value]) {
        check_text("a setting of the encoding", text)?;
    }
    Ok(())
}

fn check_text(what: &'static str, text: &str) -> Result<(), ResultFormatError> {
    let limit = MAX_TEXT_BYTES;
    if text.len() > limit {
        return Err(ResultFormatError::TooLong { what, limit });
    }
    Ok(())
}

/// Why a file is not a result file that this program can read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResultFormatError {
    /// It does not start with the field that every result file starts with.
    #[error("this is not a result file: its first field is not \"{RESULT_MARK}\"")]
    NotAResult,
    /// It has another version.
    #[error(
        "this result file has version {found} of the format, but this program reads version {supported}"
    )]
    Version {
        /// The version of the file.
        found: u64,
        /// The version that can be read.
        supported: u64,
    },
    /// A field comes too late to be used.
    #[error("\"cohorts\" and \"outputs\" must come before \"results\"")]
    Order,
    /// There is too much of something.
    #[error("there are more than {limit} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many are read.
        limit: usize,
    },
    /// A text is too long.
    #[error("{what} has more than {limit} bytes")]
    TooLong {
        /// Which text.
        what: &'static str,
        /// How long it may be.
        limit: usize,
    },
    /// An output without a usable name.
    #[error(
        "an output needs a unique, non-empty name other than a, b, stimulus, a_index and b_index"
    )]
    OutputName,
    /// A result that points to no scanpath, or whose ids are not those of the scanpaths.
    #[error("a result must have the ids and indices of two scanpaths of the cohorts")]
    Ids,
    /// A value that its output cannot have.
    #[error("{expected}")]
    Value {
        /// The expected kind of value.
        expected: &'static str,
    },
    /// The number of pairs and the list of results differ.
    #[error("the file has {results} results, but says that {pairs} pairs were compared")]
    PairCount {
        /// How many pairs the file says were compared.
        pairs: u64,
        /// How many results it has.
        results: usize,
    },
    /// The file says wrongly whether results are missing.
    #[error("\"complete\" must be false if results are missing, and absent otherwise")]
    Completeness,
    /// The tile is not one of a plan with at least its pairs.
    #[error(
        "\"tile\" must name a plan by 64 hexadecimal digits, with at least as many pairs as the tile"
    )]
    Tile,
    /// The error bound is negative, or not a number.
    #[error("\"error_bound\" must be a non-negative number, and absent if nothing is rounded")]
    ErrorBound,
    /// The time is not a number of seconds.
    #[error("the seconds of the cost must be a non-negative number")]
    Seconds,
    /// An invalid answer about groups.
    #[error(transparent)]
    Group(#[from] GroupAnswerError),
}

#[cfg(test)]
mod tests;

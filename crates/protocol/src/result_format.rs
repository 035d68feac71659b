//! The result file format: how an [`Outcome`] is written and read back.
//!
//! ```text
//! {"veilpath_result": 2,                       the version of this format; always the first field
//!  "spec": {…},                                what was computed, and how
//!  "cohorts": [{"name": "Clinic", "scanpaths": [{"participant": "P1", "stimulus": "cows"}, …]}, {…}],
//!  "one_cohort": false,                        whether both sides are the same cohort
//!  "pairs": 812,                               how many pairs the comparison has
//!  "tile": {"tile": "3/8", "agreement": "5d0f…", "pairs": 6496},   only for a part of a plan: which part, of which plan
//!  "error_bound": 0.00051,                     how far a score can be from double precision; only if numbers are rounded
//!  "fixation_rounding": {…},                   only if fixations are rounded to letters: to what, and how far they move
//!  "complete": false,                          only if a session was interrupted and results are missing
//!  "measures": [{"name": "score", "kind": "distance"}, …],
//!  "results": [{"a": "P1", "b": "Q1", "stimulus": "cows", "a_index": 0, "b_index": 0, "score": 1, …}, …],
//!  "answers": [{"kind": "group-means", …}, {"kind": "test", …}],
//!  "cost": {…}, "revealed": [{"to": "host", "what": "…"}, …]}
//! ```
//!
//! A result has one field for each measure, so that R or pandas read `results` as a data frame. Its ids repeat those
//! of the scanpaths that `a_index` and `b_index` point to.
//!
//! Files are untrusted. Results are read one by one into [`Results`], every list and text has a limit, and inconsistent
//! contents are rejected with a [`ResultFormatError`].

mod read;
mod write;

pub use read::OutcomeSeed;

use crate::GroupAnswerError;
use std::collections::BTreeMap;
use veilpath_metrics::Cohort;

/// The version of the format that this program writes and reads.
pub const RESULT_VERSION: u64 = 2;

/// The first field of a result file.
pub const RESULT_MARK: &str = "veilpath_result";

/// The longest id, name or other short text in a result file, in bytes.
pub const MAX_TEXT_BYTES: usize = 1 << 10;

/// The largest number of scanpaths of one side.
const MAX_SCANPATHS: usize = 1 << 20;

/// The largest number of measures. A metric has a handful.
const MAX_MEASURES: usize = 32;

/// The largest number of group answers, and of groups of one side in an answer.
const MAX_ANSWERS: usize = 1 << 10;

/// The largest total size of all group answers, in bytes of text.
const MAX_ANSWERS_BYTES: usize = 1 << 24;

/// The largest number of entries in `revealed`.
const MAX_REVEALED: usize = 64;

/// The longest plan. Its largest part is a table of a million numbers.
const MAX_SPEC_BYTES: usize = 1 << 25;

/// The largest number of values in a plan: a table of a million numbers, and as many commas in texts.
const MAX_SPEC_VALUES: usize = 1 << 21;

/// The largest number of settings in a plan's encoding.
const MAX_ENCODING_SETTINGS: usize = 1 << 10;

/// The fields of a result before its measures.
const ID_FIELDS: [&str; 5] = ["a", "b", "stimulus", "a_index", "b_index"];

/// Checks that a result file can contain the ids and the encoding settings of a cohort.
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

/// Checks that a result file can contain these encoding settings.
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
    /// It does not start with [`RESULT_MARK`].
    #[error("this is not a result file: its first field is not \"{RESULT_MARK}\"")]
    NotAResult,
    /// It has an unsupported version.
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
    #[error("\"cohorts\" and \"measures\" must come before \"results\"")]
    Order,
    /// There are too many items.
    #[error("there are more than {limit} {what}")]
    TooMany {
        /// The kind of item.
        what: &'static str,
        /// How many are allowed.
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
    /// A measure has no usable name.
    #[error(
        "a measure needs a unique, non-empty name other than a, b, stimulus, a_index and b_index"
    )]
    MeasureName,
    /// A result points to no scanpath, or its ids are not those of the scanpaths.
    #[error("a result must have the ids and indices of two scanpaths of the cohorts")]
    Ids,
    /// A value is not possible for its measure.
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
    /// `complete` contradicts whether results are missing.
    #[error("\"complete\" must be false if results are missing, and absent otherwise")]
    Completeness,
    /// The tile names no valid agreement, or has more pairs than the whole plan.
    #[error(
        "\"tile\" must have an agreement of 64 hexadecimal digits, and at least as many pairs as the tile"
    )]
    Tile,
    /// The error bound is negative, or not a number.
    #[error("\"error_bound\" must be a non-negative number, and absent if nothing is rounded")]
    ErrorBound,
    /// The time is not a number of seconds.
    #[error("the seconds of the cost must be a non-negative number")]
    Seconds,
    /// A group answer is invalid.
    #[error(transparent)]
    Group(#[from] GroupAnswerError),
}

#[cfg(test)]
mod tests;

//! From files to a cohort.

use crate::{EncodeOptions, ReadError, ReadOptions, Summary};
use std::path::PathBuf;
use veilpath_metrics::Cohort;

/// What comes out of encoding.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoded {
    /// The scanpaths.
    pub cohort: Cohort,
    /// What was read, used and dropped.
    pub summary: Summary,
}

/// Encodes files; `format` names one of the formats for all of them, else each is recognised by itself. `progress` is
/// told how many bytes of all files have been consumed so far.
pub fn encode_files(
    paths: &[PathBuf],
    format: Option<&str>,
    read: &ReadOptions,
    options: &EncodeOptions,
    progress: &dyn Fn(u64),
) -> Result<Encoded, ReadError> {
    let _ = (paths, format, read, progress);
    options.check()?;
    Err(ReadError::new("", "not yet"))
}

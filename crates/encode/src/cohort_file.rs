//! Cohort files: scanpaths as letters, with ids.

use crate::{Input, ReadError};
use std::io::{self, Write};
use veilpath_metrics::{Alphabet, Cohort, Grid};

/// What a cohort file holds, and what was taken for granted in reading it.
#[derive(Clone, Debug, PartialEq)]
pub struct CohortFile {
    /// The scanpaths.
    pub cohort: Cohort,
    /// What the user should know: a guessed alphabet, ignored columns, numbered participants, repeated ids.
    pub notes: Vec<String>,
    /// The grid that the file's header names.
    pub declared_grid: Option<Grid>,
    /// The alphabet that the file's header names; `None` where it was given by the caller or guessed.
    pub declared_alphabet: Option<Alphabet>,
    /// The notes that were written into the file.
    pub header_notes: Vec<String>,
}

/// Reads a cohort file; `alphabet` overrides what the file says and what would be guessed.
pub fn read(input: Input, alphabet: Option<Alphabet>) -> Result<CohortFile, ReadError> {
    let _ = alphabet;
    Err(ReadError::new(input.name(), "not yet"))
}

/// Writes a cohort file; notes are for people and take no part in comparing encodings.
pub fn write(cohort: &Cohort, notes: &[String], out: &mut dyn Write) -> io::Result<()> {
    let _ = (cohort, notes);
    out.flush()
}

/// Whether a file starts as our cohort files do.
pub(crate) fn starts_with_magic(head: &crate::Head) -> bool {
    head.first_line().starts_with("# veilpath cohort")
}

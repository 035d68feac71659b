//! File formats for results.

use std::ffi::OsStr;
use std::io::{self, Write};
use veilpath_protocol::Outcome;
use veilpath_report::{csv, json, table};

/// A format for writing results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutcomeFormat {
    /// An aligned, human-readable table with rounded numbers.
    Table,
    /// One row per pair, with exact numbers.
    Csv,
    /// Everything. The only format from which an outcome can be read back.
    Json,
}

impl OutcomeFormat {
    /// All formats.
    pub const ALL: [Self; 3] = [Self::Table, Self::Csv, Self::Json];

    /// The usual file extension.
    pub fn extension(self) -> &'static str {
        match self {
            OutcomeFormat::Table => "txt",
            OutcomeFormat::Csv => "csv",
            OutcomeFormat::Json => "json",
        }
    }

    /// The format with this file extension, in upper or lower case.
    pub fn from_extension(extension: &OsStr) -> Option<Self> {
        let mut formats = Self::ALL.into_iter();
        formats.find(|format| extension.eq_ignore_ascii_case(format.extension()))
    }
}

/// Writes an outcome.
pub fn write_outcome(
    outcome: &Outcome,
    format: OutcomeFormat,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        OutcomeFormat::Table => table::write(outcome, out),
        OutcomeFormat::Csv => csv::write(outcome, out),
        OutcomeFormat::Json => json::write(outcome, out),
    }
}

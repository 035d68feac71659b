//! What can be wrong with a file, and where.

use crate::EncodeField;
use std::fmt;

/// A file that cannot be read: what is wrong, where, and what to do about it.
///
/// The text never quotes a participant's data; the place is enough to find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file's name as the user gave it.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The row of a frame in memory, from 0.
    pub row: Option<u64>,
    /// The column of a table, from 1, with its name where it has one.
    pub column: Option<Box<(usize, String)>>,
    /// The problem.
    pub problem: String,
    /// The remedy; empty if the problem implies it.
    pub remedy: Box<str>,
    /// The fields of the options that the remedy is about; a front end says what they are called there.
    pub fields: Vec<EncodeField>,
    /// The columns that are probably x and y, where the remedy is to name those of the coordinates.
    pub places: Option<Box<(String, String)>>,
}

impl ReadError {
    /// A problem with a whole file.
    pub fn new(file: &str, problem: impl Into<String>) -> Self {
        Self {
            file: file.to_string(),
            line: None,
            row: None,
            column: None,
            problem: problem.into(),
            remedy: Box::default(),
            fields: Vec::new(),
            places: None,
        }
    }

    /// The same, at a line; 0 means before the first line and adds no place.
    pub fn at_line(self, line: u64) -> Self {
        Self {
            line: (line > 0).then_some(line),
            ..self
        }
    }

    /// The same, at a row of a frame.
    pub fn at_row(self, row: u64) -> Self {
        Self {
            row: Some(row),
            ..self
        }
    }

    /// The same, at a column of a table.
    pub fn at_column(self, index: usize, name: &str) -> Self {
        Self {
            column: Some(Box::new((index + 1, name.to_string()))),
            ..self
        }
    }

    /// The same, with the options that the advice is about.
    pub fn with_fields(self, fields: &[EncodeField]) -> Self {
        Self {
            fields: fields.to_vec(),
            ..self
        }
    }

    /// The same, with the columns that are probably x and y.
    pub fn with_places(self, places: Option<(String, String)>) -> Self {
        Self {
            places: places.map(Box::new),
            ..self
        }
    }

    /// The same, with advice.
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self {
            remedy: remedy.into().into_boxed_str(),
            ..self
        }
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        if let Some(row) = self.row {
            write!(f, ", row {row}")?;
        }
        match self.column.as_deref() {
            Some((number, name)) if name.is_empty() => write!(f, ", column {number}")?,
            Some((number, name)) => write!(f, ", column {number} ({name})")?,
            None => {}
        }
        write!(f, ": {}", self.problem)?;
        if !self.remedy.is_empty() {
            write!(f, "\n  {}", self.remedy)?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

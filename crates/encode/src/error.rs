//! What can be wrong with a file, and where.

use crate::EncodeField;
use std::fmt;

/// A file that cannot be read: what is wrong, where, and what to do about it.
///
/// The text never quotes a participant's data; the position is enough to find them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file's name as the user gave it.
    pub file: String,
    /// The line, from 1.
    pub line: Option<u64>,
    /// The row of a frame in memory, from 0.
    pub row: Option<u64>,
    /// The column of a table, from 1, with its name if it has one.
    pub column: Option<Box<(usize, String)>>,
    /// The problem.
    pub problem: String,
    /// The remedy; empty if the problem implies it.
    pub remedy: Box<str>,
    /// The option fields that the remedy is about; the front end knows what it calls them.
    pub fields: Vec<EncodeField>,
    /// The columns that are probably x and y, if the remedy is to name the coordinate columns.
    pub coordinate_columns: Option<Box<(String, String)>>,
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
            coordinate_columns: None,
        }
    }

    /// Adds a line; 0 means before the first line and adds nothing.
    pub fn at_line(self, line: u64) -> Self {
        Self {
            line: (line > 0).then_some(line),
            ..self
        }
    }

    /// Adds a row of a frame.
    pub fn at_row(self, row: u64) -> Self {
        Self {
            row: Some(row),
            ..self
        }
    }

    /// Adds a column of a table; `index` counts from 0.
    pub fn at_column(self, index: usize, name: &str) -> Self {
        Self {
            column: Some(Box::new((index + 1, name.to_string()))),
            ..self
        }
    }

    /// Adds the option fields that the remedy is about.
    pub fn with_fields(self, fields: &[EncodeField]) -> Self {
        Self {
            fields: fields.to_vec(),
            ..self
        }
    }

    /// Adds the columns that are probably x and y.
    pub fn with_coordinate_columns(self, columns: Option<(String, String)>) -> Self {
        Self {
            coordinate_columns: columns.map(Box::new),
            ..self
        }
    }

    /// Adds a remedy.
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

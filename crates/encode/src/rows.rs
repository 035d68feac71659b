//! Reads tables row by row, from delimited text under a header or from a frame in memory. Errors name line and column.

mod source;

use crate::frame::ColumnKind;
use crate::notes::first_of;
use crate::{EncodeField, Head, Input, Lines, ReadError, explain_binary};
use source::{Source, TextRows, split};
use std::borrow::Cow;

/// A table that is read row by row, with memory bounded by the longest line.
///
/// A quoted field must end on its line: no tracker writes line breaks into fields, and an unclosed quote must not
/// swallow the rest of the file.
pub struct Rows {
    source: Source,
    columns: Columns,
}

/// The header of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    file: String,
    line: u64,
    names: Vec<String>,
    /// The kinds of a frame's values; `None` for a file, whose fields are text that may be numbers.
    kinds: Option<Vec<ColumnKind>>,
}

/// One row, borrowed from [`Rows`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    rows: &'a Rows,
}

impl Rows {
    /// A table whose header is the first line that is neither blank nor a comment (`#`), or a frame.
    pub fn open(input: Input) -> Result<Self, ReadError> {
        let input = match Source::of_frame(input) {
            Ok((source, columns)) => return Ok(Self { source, columns }),
            Err(input) => *input,
        };
        // Binary content must not appear in messages as the names of columns.
        if input.is_binary()
            && let Some(error) = explain_binary(&input.head())
        {
            return Err(error);
        }
        let mut lines = input.into_lines();
        while let Some(line) = lines.next_line()? {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let header = line.to_string();
            let delimiter = guess_delimiter(&header);
            return Ok(Self::after_header(lines, &header, delimiter));
        }
        Err(ReadError::new(lines.name(), "the file is empty")
            .with_remedy("expected a table with a header line"))
    }

    /// A table whose header line has already been read from `lines`.
    pub fn after_header(lines: Lines, header: &str, delimiter: u8) -> Self {
        let columns = Columns::of_header(lines.name(), lines.number(), header, delimiter);
        Self::with_names(lines, columns.names, delimiter)
    }

    /// A table without a header line, with the given column names: the rows begin with the next line of `lines`.
    pub fn with_names(lines: Lines, names: Vec<String>, delimiter: u8) -> Self {
        let columns = Columns {
            file: lines.name().to_string(),
            line: lines.number(),
            names,
            kinds: None,
        };
        Self {
            source: Source::Text(TextRows::new(lines, delimiter)),
            columns,
        }
    }

    /// Sets the character that starts a comment, in place of `#`.
    pub fn with_comments(mut self, comment: char) -> Self {
        if let Source::Text(rows) = &mut self.source {
            rows.comment = comment;
        }
        self
    }

    /// The header.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        &self.columns.file
    }

    /// The next row that is neither blank nor a comment.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, ReadError> {
        let found = match &mut self.source {
            Source::Text(rows) => rows.advance(&self.columns.file)?,
            Source::Frame(rows) => rows.advance(&self.columns.file)?,
        };
        Ok(found.then_some(Row { rows: self }))
    }
}

impl Columns {
    /// The columns that a header line names.
    pub fn of_header(file: &str, line: u64, header: &str, delimiter: u8) -> Self {
        let mut text = String::new();
        let mut fields = Vec::new();
        split(header, delimiter, &mut text, &mut fields);
        Self {
            file: file.to_string(),
            line,
            names: fields
                .iter()
                .map(|field| text[field.clone()].trim().to_string())
                .collect(),
            kinds: None,
        }
    }

    /// The columns that [`Rows::open`] would find, for format detection.
    pub fn of_head(head: &Head) -> Self {
        let header = head
            .lines
            .iter()
            .map(|line| line.trim())
            .find(|line| !line.is_empty() && !line.starts_with('#'))
            .unwrap_or("");
        Self::of_header(&head.name, 1, header, guess_delimiter(header))
    }

    /// Whether [`Columns::find`] finds all of these columns.
    pub fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.find(&[name]).is_some())
    }

    /// The names as written in the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The column with the first of these names that occurs. Case, spaces around the name and a unit in brackets after
    /// it are ignored.
    pub fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|wanted| {
            self.names
                .iter()
                .position(|name| bare_name(name).eq_ignore_ascii_case(wanted))
        })
    }

    /// Like [`Columns::find`], but a missing column is an error that lists the columns.
    pub fn require(&self, names: &[&str]) -> Result<usize, ReadError> {
        self.find(names).ok_or_else(|| {
            self.error(format!("there is no column \"{}\"", names.join("\" or \"")))
                .with_remedy(format!(
                    "{}; if another format was meant, name it",
                    self.listed()
                ))
                .with_fields(&[EncodeField::Format])
        })
    }

    /// An error at the header, or about the whole file if the names come from elsewhere.
    pub fn error(&self, problem: impl Into<String>) -> ReadError {
        ReadError::new(&self.file, problem).at_line(self.line)
    }

    /// Lists the names for a remedy: "the columns are: …".
    pub fn listed(&self) -> String {
        // If participants' data are in place of a header, they must not appear in a message.
        if self
            .names
            .iter()
            .any(|name| parse_number(name, true).is_some())
        {
            return "the first row contains numbers, so the line with the columns' names seems to be missing".into();
        }
        format!("the columns are: {}", first_of(&self.names, 12))
    }

    /// Rejects a column of a frame whose values cannot be numbers.
    pub(crate) fn require_numbers(&self, column: usize) -> Result<(), ReadError> {
        match self.kinds.as_ref().and_then(|kinds| kinds.get(column)) {
            None | Some(ColumnKind::Numbers) => Ok(()),
            Some(kind) => Err(self.wrong_kind(column, kind, "numbers")),
        }
    }

    /// Rejects a column of a frame whose values cannot be names or numbers.
    pub(crate) fn require_names(&self, column: usize) -> Result<(), ReadError> {
        match self.kinds.as_ref().and_then(|kinds| kinds.get(column)) {
            Some(kind @ ColumnKind::Other(_)) => {
                Err(self.wrong_kind(column, kind, "text or whole numbers"))
            }
            _ => Ok(()),
        }
    }

    fn wrong_kind(&self, column: usize, kind: &ColumnKind, needed: &str) -> ReadError {
        let name = self.names.get(column).map_or("", String::as_str);
        let kind = match kind {
            ColumnKind::Numbers => "numbers",
            ColumnKind::Texts => "texts",
            ColumnKind::Other(kind) => kind,
        };
        self.error(format!("this column has {kind}, but {needed} are needed"))
            .at_column(column, name)
            .with_remedy(format!(
                "convert it to {needed}, or name another column in its place"
            ))
            .with_fields(&[EncodeField::Columns])
    }

    /// The unit in brackets after a column's name, as in `Recording timestamp [μs]`.
    pub fn unit(&self, column: usize) -> Option<&str> {
        let name = self.names.get(column)?;
        let (_, unit) = name.rsplit_once('[')?;
        unit.strip_suffix(']').map(str::trim)
    }
}

impl<'a> Row<'a> {
    /// The line in the file, from 1, or the row of a frame, from 0.
    pub fn line(&self) -> u64 {
        match &self.rows.source {
            Source::Text(rows) => rows.lines.number(),
            Source::Frame(rows) => rows.cursor.count().saturating_sub(1),
        }
    }

    /// [`Row::line`] in words: `line 7` of a file, `row 5` of a frame.
    pub fn location(&self) -> String {
        match self.rows.source {
            Source::Text(_) => format!("line {}", self.line()),
            Source::Frame(_) => format!("row {}", self.line()),
        }
    }

    /// A field's text without spaces around it; empty if the row is too short.
    pub fn text(&self, column: usize) -> &'a str {
        match &self.rows.source {
            Source::Text(rows) => rows.text(column),
            Source::Frame(rows) => rows.cursor.text(column),
        }
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        match &self.rows.source {
            Source::Text(rows) => rows.fields.len(),
            Source::Frame(_) => self.rows.columns.names.len(),
        }
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A number, or `None` for the usual missing-value markers (empty, `NaN`, `.`, `n/a` and the like). A row that is
    /// too short is an error: a truncated line must not pass for a lost sample.
    pub fn number_or_missing(&self, column: usize) -> Result<Option<f64>, ReadError> {
        if let Source::Frame(rows) = &self.rows.source {
            return rows.cursor.number(column).ok_or_else(|| {
                self.error(column, "this is text, but a number is needed")
                    .with_remedy("convert the column to numbers")
            });
        }
        if column >= self.len() {
            return Err(self
                .error(
                    column,
                    format!(
                        "this row ends after {} fields, but there are {} columns",
                        self.len(),
                        self.rows.columns.names.len()
                    ),
                )
                .with_remedy("complete the row or remove it"));
        }
        let text = self.text(column);
        match parse_number(text, self.may_have_decimal_commas()) {
            Some(number) if number.is_finite() => Ok(Some(number)),
            Some(_) => Ok(None),
            None if is_missing(text) => Ok(None),
            None => Err(self
                .error(column, "this field is not a number")
                .with_remedy("correct it, or leave it empty if there is no value; numbers have a decimal point and no thousands separator")),
        }
    }

    /// A required number.
    pub fn number(&self, column: usize) -> Result<f64, ReadError> {
        self.number_or_missing(column)?.ok_or_else(|| {
            self.error(column, "this field is empty, but a number is needed")
                .with_remedy("enter the value, or remove the row")
        })
    }

    /// The number in a field; `None` if it is not a number.
    pub(crate) fn number_if_any(&self, column: usize) -> Option<f64> {
        match &self.rows.source {
            Source::Text(_) => parse_number(self.text(column), true),
            Source::Frame(rows) => rows.cursor.number(column).flatten(),
        }
    }

    /// Whether a comma within a field may be a decimal comma.
    pub(crate) fn may_have_decimal_commas(&self) -> bool {
        match &self.rows.source {
            Source::Text(rows) => rows.delimiter != b',',
            Source::Frame(_) => false,
        }
    }

    /// An error at a field of this row.
    pub fn error(&self, column: usize, problem: impl Into<String>) -> ReadError {
        let name = self
            .rows
            .columns
            .names
            .get(column)
            .map_or("", String::as_str);
        let error = ReadError::new(self.rows.name(), problem).at_column(column, name);
        match self.rows.source {
            Source::Text(_) => error.at_line(self.line()),
            Source::Frame(_) => error.at_row(self.line()),
        }
    }
}

/// The delimiter of a header line; a comma if there is none. A space means any run of spaces.
pub fn guess_delimiter(header: &str) -> u8 {
    let header = header.trim().as_bytes();
    // Tabs come first: a comma in a tab-separated header is part of a name. So is a space in nearly every header.
    [b'\t', b';', b',', b' ']
        .into_iter()
        .find(|delimiter| header.contains(delimiter))
        .unwrap_or(b',')
}

/// Whether text is one of the usual missing-value markers.
pub fn is_missing(text: &str) -> bool {
    [
        "",
        ".",
        "nan",
        "na",
        "n/a",
        "-",
        "?",
        "null",
        "none",
        "<undefined>",
    ]
    .iter()
    .any(|missing| text.eq_ignore_ascii_case(missing))
}

/// Parses a number; with `decimal_comma` also one such as `0,5`, as some locales write it.
pub fn parse_number(text: &str, decimal_comma: bool) -> Option<f64> {
    text.parse().ok().or_else(|| {
        let swapped: Cow<'_, str> = if decimal_comma && text.matches(',').count() == 1 {
            text.replace(',', ".").into()
        } else {
            return None;
        };
        swapped.parse().ok()
    })
}

/// A column's name without the unit in brackets.
fn bare_name(name: &str) -> &str {
    match name.rfind('[') {
        Some(open) if name.ends_with(']') => name[..open].trim(),
        _ => name.trim(),
    }
}

#[cfg(test)]
mod tests;

//! Tables: rows of delimited fields under a header, with errors that name line and column.

use crate::{EncodeField, Head, Input, Lines, ReadError};
use std::borrow::Cow;
use std::ops::Range;

/// A table that is read row by row, in memory bounded by the longest line.
///
/// Quotes work within a line only: no tracker writes line breaks into fields, and a forgotten quote must not swallow the
/// rest of the file.
pub struct Rows {
    lines: Lines,
    delimiter: u8,
    comment: char,
    columns: Columns,
    text: String,
    fields: Vec<Range<usize>>,
}

/// The header of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    file: String,
    line: u64,
    names: Vec<String>,
}

/// One row, borrowed from [`Rows`].
#[derive(Clone, Copy)]
pub struct Row<'a> {
    rows: &'a Rows,
}

impl Rows {
    /// A table whose header is the first line that is neither blank nor a comment (`#`).
    pub fn open(input: Input) -> Result<Self, ReadError> {
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

    /// A table whose header line has been read from `lines` already.
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
        };
        Self {
            lines,
            delimiter,
            comment: '#',
            columns,
            text: String::new(),
            fields: Vec::new(),
        }
    }

    /// The same with another sign than `#` before comments.
    pub fn with_comments(self, comment: char) -> Self {
        Self { comment, ..self }
    }

    /// The header.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The file's name.
    pub fn name(&self) -> &str {
        self.lines.name()
    }

    /// The next row that is neither blank nor a comment.
    pub fn next_row(&mut self) -> Result<Option<Row<'_>>, ReadError> {
        loop {
            let number = self.lines.number() + 1;
            let name_for_errors = self.columns.file.as_str();
            let Some(line) = self.lines.next_line()? else {
                return Ok(None);
            };
            if line.trim().is_empty() || line.starts_with(self.comment) {
                continue;
            }
            if !split(&line, self.delimiter, &mut self.text, &mut self.fields) {
                return Err(ReadError::new(
                    name_for_errors,
                    "a quoted field does not end on this line",
                )
                .at_line(number)
                .with_remedy("close the quote, or remove it"));
            }
            break;
        }
        Ok(Some(Row { rows: self }))
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

    /// Whether all of these columns are there, as [`Columns::find`] would find them.
    pub fn has_all(&self, names: &[&str]) -> bool {
        names.iter().all(|name| self.find(&[name]).is_some())
    }

    /// The names as written in the file.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The column with one of these names, the first name that occurs. Upper and lower case, a unit in brackets behind
    /// the name and spaces around it do not count.
    pub fn find(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|wanted| {
            self.names
                .iter()
                .position(|name| bare_name(name).eq_ignore_ascii_case(wanted))
        })
    }

    /// Like [`Columns::find`], but a missing column is an error that lists what is there.
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

    /// An error at the header, or at the whole file where the names are elsewhere.
    pub fn error(&self, problem: impl Into<String>) -> ReadError {
        ReadError::new(&self.file, problem).at_line(self.line)
    }

    /// The names for an error's advice: "the columns are: …".
    pub fn listed(&self) -> String {
        // A row of a participant's data in the header's place must not end up in a message.
        if self
            .names
            .iter()
            .any(|name| parse_number(name, true).is_some())
        {
            return "the first row contains numbers, so the line with the columns' names seems to be missing".into();
        }
        let listed: Vec<&str> = self.names.iter().take(12).map(String::as_str).collect();
        let more = match self.names.len().saturating_sub(listed.len()) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("the columns are: {}{more}", listed.join(", "))
    }

    /// The unit in brackets behind a column's name, as in `Recording timestamp [μs]`.
    pub fn unit(&self, column: usize) -> Option<&str> {
        let name = self.names.get(column)?;
        let (_, unit) = name.rsplit_once('[')?;
        unit.strip_suffix(']').map(str::trim)
    }
}

impl<'a> Row<'a> {
    /// The line in the file, from 1.
    pub fn line(&self) -> u64 {
        self.rows.lines.number()
    }

    /// A field's text without spaces around it; empty where the row is shorter.
    pub fn text(&self, column: usize) -> &'a str {
        self.rows
            .fields
            .get(column)
            .map_or("", |field| self.rows.text[field.clone()].trim())
    }

    /// The number of fields.
    pub fn len(&self) -> usize {
        self.rows.fields.len()
    }

    /// Whether there is no field.
    pub fn is_empty(&self) -> bool {
        self.rows.fields.is_empty()
    }

    /// A number, or `None` for the usual ways to say that there is none (empty, `NaN`, `.`, `n/a` and the like). A field
    /// that the row is too short for is an error: a cut line must not pass for a lost sample.
    pub fn number_or_missing(&self, column: usize) -> Result<Option<f64>, ReadError> {
        if column >= self.rows.fields.len() {
            return Err(self
                .error(
                    column,
                    format!(
                        "this row ends after {} fields, but there are {} columns",
                        self.rows.fields.len(),
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

    /// A number that must be there.
    pub fn number(&self, column: usize) -> Result<f64, ReadError> {
        self.number_or_missing(column)?.ok_or_else(|| {
            self.error(column, "this field has no number")
                .with_remedy("enter the value, or remove the row")
        })
    }

    /// Whether a comma within a field may be a decimal comma.
    pub(crate) fn may_have_decimal_commas(&self) -> bool {
        self.rows.delimiter != b','
    }

    /// An error at a field of this row.
    pub fn error(&self, column: usize, problem: impl Into<String>) -> ReadError {
        let name = self
            .rows
            .columns
            .names
            .get(column)
            .map_or("", String::as_str);
        ReadError::new(self.rows.lines.name(), problem)
            .at_line(self.line())
            .at_column(column, name)
    }
}

/// The delimiter of a header line; a comma where there is none at all. A space means any run of spaces.
pub fn guess_delimiter(header: &str) -> u8 {
    let header = header.trim().as_bytes();
    // Tabs first: a comma inside a tab-separated header is part of a name, and so is a space nearly everywhere.
    [b'\t', b';', b',', b' ']
        .into_iter()
        .find(|delimiter| header.contains(delimiter))
        .unwrap_or(b',')
}

/// The usual ways to say that there is no value.
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

/// A number; with `decimal_comma` also one that is written `0,5`, as some locales export it.
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

/// Splits a line into fields of `text`; `false` where a quote is not closed.
fn split(line: &str, delimiter: u8, text: &mut String, fields: &mut Vec<Range<usize>>) -> bool {
    text.clear();
    fields.clear();
    // A run of spaces is one delimiter.
    let spaces = delimiter == b' ';
    let line = if spaces { line.trim() } else { line };
    if !line.contains('"') {
        text.push_str(line);
        let mut start = 0;
        if spaces {
            for field in line.split_ascii_whitespace() {
                let length = field.len();
                start += line[start..].find(field).unwrap_or(0);
                fields.push(start..start + length);
                start += length;
            }
            return true;
        }
        for (index, byte) in line.bytes().enumerate() {
            if byte == delimiter {
                fields.push(start..index);
                start = index + 1;
            }
        }
        fields.push(start..line.len());
        return true;
    }
    let delimiter = char::from(delimiter);
    let mut rest = line;
    loop {
        let start = text.len();
        if let Some(mut quoted) = rest.strip_prefix('"') {
            loop {
                let Some(end) = quoted.find('"') else {
                    return false;
                };
                text.push_str(&quoted[..end]);
                quoted = &quoted[end + 1..];
                // A doubled quote means one.
                match quoted.strip_prefix('"') {
                    Some(after) => {
                        text.push('"');
                        quoted = after;
                    }
                    None => break,
                }
            }
            rest = quoted;
        }
        let end = rest.find(delimiter);
        text.push_str(&rest[..end.unwrap_or(rest.len())]);
        fields.push(start..text.len());
        match end {
            Some(end) if spaces => rest = rest[end..].trim_start(),
            Some(end) => rest = &rest[end + 1..],
            None => return true,
        }
    }
}

#[cfg(test)]
mod tests;

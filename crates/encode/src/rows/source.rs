//! Where rows come from: lines of a file, or a frame.

use super::Columns;
use crate::frame::{FrameCursor, row_bytes};
use crate::input::{Consumed, STOPPED};
use crate::{Input, Lines, ReadError};
use std::ops::Range;
use std::sync::Arc;

/// Where rows come from.
pub(super) enum Source {
    Text(TextRows),
    Frame(FrameRows),
}

/// Lines, and the fields of the current one.
pub(super) struct TextRows {
    pub(super) lines: Lines,
    pub(super) delimiter: u8,
    pub(super) comment: char,
    text: String,
    pub(super) fields: Vec<Range<usize>>,
}

pub(super) struct FrameRows {
    pub(super) cursor: FrameCursor,
    /// The maximum number of rows to read.
    max_rows: u64,
    /// The number of rows that were added to `consumed`.
    reported: u64,
    consumed: Arc<Consumed>,
}

/// How many rows of a frame are read between two checks for a request to stop.
const ROWS_AT_A_TIME: u64 = 4096;

impl Source {
    /// The rows of a frame, or the input if it is not a frame.
    pub(super) fn of_frame(input: Input) -> Result<(Self, Columns), Box<Input>> {
        let Some((named, max_rows, consumed)) = input.frame() else {
            return Err(Box::new(input));
        };
        let frame = Arc::clone(&named.frame);
        let all = frame.columns();
        let columns = Columns {
            file: named.name.clone(),
            line: 0,
            names: all.iter().map(|column| column.name.clone()).collect(),
            kinds: Some(all.iter().map(|column| column.kind.clone()).collect()),
        };
        let rows = FrameRows {
            cursor: FrameCursor::new(frame),
            max_rows,
            reported: 0,
            consumed,
        };
        Ok((Source::Frame(rows), columns))
    }
}

impl TextRows {
    pub(super) fn new(lines: Lines, delimiter: u8) -> Self {
        Self {
            lines,
            delimiter,
            comment: '#',
            text: String::new(),
            fields: Vec::new(),
        }
    }

    /// Reads the next row that is neither blank nor a comment; `false` at the end.
    pub(super) fn advance(&mut self, file: &str) -> Result<bool, ReadError> {
        loop {
            let number = self.lines.number() + 1;
            let Some(line) = self.lines.next_line()? else {
                return Ok(false);
            };
            if line.trim().is_empty() || line.starts_with(self.comment) {
                continue;
            }
            if !split(&line, self.delimiter, &mut self.text, &mut self.fields) {
                let problem = "a quoted field does not end on this line";
                return Err(ReadError::new(file, problem)
                    .at_line(number)
                    .with_remedy("close the quote, or remove it"));
            }
            return Ok(true);
        }
    }

    pub(super) fn text(&self, column: usize) -> &str {
        self.fields
            .get(column)
            .map_or("", |field| self.text[field.clone()].trim())
    }
}

impl FrameRows {
    /// Moves to the next row; `false` at the end.
    pub(super) fn advance(&mut self, name: &str) -> Result<bool, ReadError> {
        let done = self.cursor.count();
        let at_end = done == self.max_rows || !self.cursor.advance();
        if at_end || done.is_multiple_of(ROWS_AT_A_TIME) {
            let rows = done - self.reported;
            self.reported = done;
            self.consumed.add(rows * row_bytes(self.cursor.frame()));
            if !at_end && self.consumed.is_stopped() {
                return Err(ReadError::new(name, STOPPED));
            }
        }
        Ok(!at_end)
    }
}

/// Splits a line into fields, which are ranges of `text`; returns `false` if a quote is not closed.
pub(super) fn split(
    line: &str,
    delimiter: u8,
    text: &mut String,
    fields: &mut Vec<Range<usize>>,
) -> bool {
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
                // A doubled quote stands for one quote.
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

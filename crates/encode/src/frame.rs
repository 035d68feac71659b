//! Tables already in memory, such as Python data frames, which are read without copying them.

use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

/// A table in memory. Its rows come in batches, as most libraries store them.
pub trait Frame: Send + Sync {
    /// The columns, in order.
    fn columns(&self) -> &[FrameColumn];

    /// The number of batches.
    fn batches(&self) -> usize;

    /// The number of rows of a batch.
    fn rows(&self, batch: usize) -> usize;

    /// One value. Readers only ask for existing rows, and for columns that they found by name.
    fn value(&self, batch: usize, row: usize, column: usize) -> Value<'_>;
}

/// A column of a [`Frame`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameColumn {
    /// Its name.
    pub name: String,
    /// The kind of its values.
    pub kind: ColumnKind,
}

/// The kind of values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers, booleans, or only missing values.
    Numbers,
    /// Text.
    Texts,
    /// Another type, by its name, which never holds gaze or ids.
    Other(String),
}

/// A value of a [`Frame`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value.
    Missing,
    /// A number. Infinity and NaN count as missing.
    Number(f64),
    /// A whole number.
    Integer(i64),
    /// A boolean.
    Flag(bool),
    /// Text.
    Text(&'a str),
}

impl Value<'_> {
    /// The value as a field of a file. A whole number has no decimals: some programs turn an id 3 into 3.0 if another
    /// id is missing.
    fn text(self) -> String {
        match self {
            Value::Missing => String::new(),
            Value::Number(number) if !number.is_finite() => String::new(),
            Value::Number(number) => number.to_string(),
            Value::Integer(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Text(text) => text.trim().to_string(),
        }
    }

    /// The number, `Some(None)` if it is missing, or `None` for text.
    #[allow(clippy::cast_precision_loss)] // as in a file, which is read as floating-point numbers
    fn number(self) -> Option<Option<f64>> {
        match self {
            Value::Missing => Some(None),
            Value::Number(number) => Some(Some(number).filter(|number| number.is_finite())),
            Value::Integer(number) => Some(Some(number as f64)),
            Value::Flag(flag) => Some(Some(u8::from(flag).into())),
            Value::Text(_) => None,
        }
    }
}

/// A frame with a name, which is used in messages and as the id of an unnamed participant.
#[derive(Clone)]
pub struct NamedFrame {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub frame: Arc<dyn Frame>,
}

impl NamedFrame {
    /// The approximate size in bytes, for progress reports.
    pub fn bytes(&self) -> u64 {
        let rows: usize = (0..self.frame.batches())
            .map(|batch| self.frame.rows(batch))
            .sum();
        rows as u64 * row_bytes(&*self.frame)
    }
}

/// Shows nothing about participants.
impl fmt::Debug for NamedFrame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedFrame")
            .field("name", &self.name)
            .field("columns", &self.frame.columns().len())
            .finish_non_exhaustive()
    }
}

/// The approximate size of a row in bytes.
pub(crate) fn row_bytes(frame: &dyn Frame) -> u64 {
    8 * frame.columns().len() as u64
}

/// A cursor over the rows of a frame.
pub(crate) struct FrameCursor {
    frame: Arc<dyn Frame>,
    batch: usize,
    /// The index of the next row in the batch.
    next: usize,
    /// The number of rows visited, including the current one.
    count: u64,
    /// A cache of values converted to text: ids repeat from row to row.
    texts: Vec<OnceCell<String>>,
}

impl FrameCursor {
    /// Creates a cursor before the first row.
    pub(crate) fn new(frame: Arc<dyn Frame>) -> Self {
        let texts = frame.columns().iter().map(|_| OnceCell::new()).collect();
        Self {
            frame,
            batch: 0,
            next: 0,
            count: 0,
            texts,
        }
    }

    pub(crate) fn frame(&self) -> &dyn Frame {
        &*self.frame
    }

    /// Moves to the next row; `false` at the end.
    pub(crate) fn advance(&mut self) -> bool {
        let last = (self.count > 0).then(|| (self.batch, self.next - 1));
        let batches = self.frame.batches();
        while self.batch >= batches || self.next == self.frame.rows(self.batch) {
            if self.batch + 1 >= batches {
                return false;
            }
            (self.batch, self.next) = (self.batch + 1, 0);
        }
        self.next += 1;
        self.count += 1;
        let frame = &self.frame;
        let (batch, row) = (self.batch, self.next - 1);
        for (column, text) in self.texts.iter_mut().enumerate() {
            if text.get().is_none() {
                continue;
            }
            let same = last.is_some_and(|(last_batch, last_row)| {
                frame.value(last_batch, last_row, column) == frame.value(batch, row, column)
            });
            if !same {
                text.take();
            }
        }
        true
    }

    /// The number of rows visited, including the current one.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// A value of the current row; missing before the first row.
    pub(crate) fn value(&self, column: usize) -> Value<'_> {
        match self.next.checked_sub(1) {
            Some(row) if column < self.texts.len() => self.frame.value(self.batch, row, column),
            _ => Value::Missing,
        }
    }

    /// A value of the current row as text.
    pub(crate) fn text(&self, column: usize) -> &str {
        match (self.value(column), self.texts.get(column)) {
            (Value::Text(text), _) => text.trim(),
            (Value::Missing, _) | (_, None) => "",
            (value, Some(text)) => text.get_or_init(|| value.text()),
        }
    }

    /// A number of the current row, `Some(None)` if it is missing, or `None` for text.
    pub(crate) fn number(&self, column: usize) -> Option<Option<f64>> {
        self.value(column).number()
    }
}

#[cfg(test)]
pub(crate) mod tests;

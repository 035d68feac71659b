//! Reads a result file back: what [`json`](crate::json) or [`csv`](crate::csv) wrote, here or at another institution.
//!
//! The file may come from anybody. Its size, the number of its rows and the length of every id are bounded, every number
//! is finite, and whatever else is wrong ends in an error with line and column. Ids are kept once, rows by number.

mod from_csv;
mod from_json;

use serde_json::Value;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};
use veilpath_protocol::{Cost, Revealed};

/// The most pairs that are read: a picture of more has no pixel left for each.
pub const MAX_ROWS: usize = 2_000_000;

/// The most bytes that are read; a row with long ids has some 200.
pub const MAX_BYTES: u64 = 1 << 30;

/// The longest id.
pub const MAX_ID_BYTES: usize = 1 << 10;

/// No metric comes near this; squares and sums of such numbers are still numbers.
const MAX_SCORE: f64 = 1e30;

/// What a result file says. What a CSV file does not hold is `None`.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultFile {
    /// The plan, as it was written.
    pub spec: Option<Value>,
    /// The ids of the first side, in the order in which they come.
    pub a: Vec<String>,
    /// The ids of the second side.
    pub b: Vec<String>,
    /// What was looked at.
    pub stimuli: Vec<String>,
    /// The pairs, in the order of the file.
    pub rows: Vec<Row>,
    /// What it cost.
    pub cost: Option<Cost>,
    /// What each side learned.
    pub revealed: Option<Vec<Revealed>>,
}

/// One pair, by numbers of its ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Index into the first side's ids.
    pub a: usize,
    /// Index into the second side's.
    pub b: usize,
    /// Index into the stimuli.
    pub stimulus: Option<usize>,
    /// What came out.
    pub answer: Answer,
}

/// What came out for a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Answer {
    /// The score, and a similarity where the metric has one.
    Score {
        /// The metric's number.
        score: f64,
        /// From 0 to 1.
        similarity: Option<f64>,
    },
    /// Whether the score was on the near side of a threshold; no more came out.
    Within(bool),
}

/// How a result file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFormat {
    /// The whole outcome.
    Json,
    /// The numbers of the pairs only.
    Csv,
}

impl ResultFormat {
    /// Recognises a result file by how it starts.
    pub fn of_start(start: &str) -> Option<Self> {
        let start = start.trim_start_matches('\u{feff}').trim_start();
        if start.starts_with('{') {
            return start.contains("\"spec\"").then_some(ResultFormat::Json);
        }
        let header = start.lines().next()?;
        header
            .starts_with("a,b,stimulus,")
            .then_some(ResultFormat::Csv)
    }
}

/// A file that is no result file, or not one that can be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ResultFileError {
    /// The file itself.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Something at a place.
    #[error("line {line}, column {column}: {problem}")]
    At {
        /// The line, from 1.
        line: u64,
        /// In JSON the character of the line, in CSV the field, from 1.
        column: u64,
        /// What is wrong there.
        problem: String,
    },
    /// It has no bytes.
    #[error(
        "the file is empty; a result file is what `veilpath compare -o` writes, as .json or .csv"
    )]
    Empty,
    /// It has too many.
    #[error(
        "the file has more than {MAX_BYTES} bytes; make a report of a part of it, for example one stimulus"
    )]
    TooLarge,
}

impl ResultFile {
    /// Reads JSON or CSV; the first character tells which.
    pub fn read(input: impl Read) -> Result<Self, ResultFileError> {
        let mut input = io::BufReader::new(Bounded {
            inner: input,
            left: MAX_BYTES,
        });
        // Spreadsheets mark UTF-8 so.
        if input.fill_buf()?.starts_with(b"\xef\xbb\xbf") {
            input.consume(3);
        }
        let first = input
            .fill_buf()?
            .iter()
            .find(|byte| !byte.is_ascii_whitespace());
        match first {
            None => Err(ResultFileError::Empty),
            Some(b'{') => from_json::read(input),
            Some(_) => from_csv::read(input),
        }
    }

    /// Whether the file says which scanpaths were paired, and that it was all with all.
    pub fn pairs_all(&self) -> Option<bool> {
        Some(self.spec.as_ref()?.get("pairs")?.as_str()? == "all")
    }
}

/// Collects rows, whatever they are read from.
#[derive(Default)]
struct Rows {
    a: Ids,
    b: Ids,
    stimuli: Ids,
    rows: Vec<Row>,
}

/// Ids by number, each kept once.
#[derive(Default)]
struct Ids {
    numbers: HashMap<String, usize>,
    names: Vec<String>,
}

impl Ids {
    fn number(&mut self, id: &str) -> Result<usize, String> {
        if let Some(&number) = self.numbers.get(id) {
            return Ok(number);
        }
        if id.len() > MAX_ID_BYTES {
            return Err(format!("an id has at most {MAX_ID_BYTES} bytes"));
        }
        let number = self.names.len();
        self.numbers.insert(id.to_string(), number);
        self.names.push(id.to_string());
        Ok(number)
    }
}

impl Rows {
    fn push(
        &mut self,
        [a, b]: [&str; 2],
        stimulus: Option<&str>,
        answer: Answer,
    ) -> Result<(), String> {
        if self.rows.len() == MAX_ROWS {
            return Err(format!(
                "there are more than {MAX_ROWS} pairs; make a report of a part, for example one stimulus"
            ));
        }
        let bits = |row: &Row| matches!(row.answer, Answer::Within(_));
        if let Some(first) = self.rows.first()
            && bits(first) != matches!(answer, Answer::Within(_))
        {
            return Err("some pairs have a score and others only yes or no".into());
        }
        let row = Row {
            a: self.a.number(a)?,
            b: self.b.number(b)?,
            stimulus: stimulus
                .map(|stimulus| self.stimuli.number(stimulus))
                .transpose()?,
            answer,
        };
        self.rows.push(row);
        Ok(())
    }

    fn into_file(
        self,
        spec: Option<Value>,
        cost: Option<Cost>,
        revealed: Option<Vec<Revealed>>,
    ) -> ResultFile {
        ResultFile {
            spec,
            a: self.a.names,
            b: self.b.names,
            stimuli: self.stimuli.names,
            rows: self.rows,
            cost,
            revealed,
        }
    }
}

/// A score that can be drawn.
fn scored(score: f64, similarity: Option<f64>) -> Result<Answer, String> {
    if !score.is_finite() || score.abs() > MAX_SCORE {
        return Err("a score must be a number below 1e30".into());
    }
    if similarity.is_some_and(|similarity| !(0.0..=1.0).contains(&similarity)) {
        return Err("a similarity lies between 0 and 1".into());
    }
    Ok(Answer::Score { score, similarity })
}

/// What is said about a file must not steer the terminal, nor fill it.
fn at(line: u64, column: u64, problem: &str) -> ResultFileError {
    let problem = crate::table::printable(problem);
    ResultFileError::At {
        line,
        column,
        problem: problem.chars().take(300).collect(),
    }
}

/// Ends in an error where a plain `take` would end in half a file.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.left = self.left.checked_sub(count as u64).ok_or_else(|| {
            io::Error::new(
                io::ErrorKind::FileTooLarge,
                ResultFileError::TooLarge.to_string(),
            )
        })?;
        Ok(count)
    }
}

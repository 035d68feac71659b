//! Reads a result file back: what [`json`](crate::json) or [`csv`](crate::csv) wrote, here or at another institution.
//!
//! The file may come from anybody. Its size, its number of rows and the length of every id are bounded, and every
//! number is finite. Any other problem is an error with line and column. Ids are stored once; rows refer to them by
//! index.

mod from_csv;
mod from_json;

use crate::table;
use std::collections::HashMap;
use std::io::{self, BufRead, Read};
use veilpath_protocol::{
    MAX_PAIRS, MAX_TEXT_BYTES, MeasureColumn, Outcome, RESULT_MARK, ResultFormatError, Results,
    Value,
};

/// The most pairs that are read. A picture of more would have less than a pixel for each.
pub const MAX_ROWS: usize = 2_000_000;

/// The most bytes that are read. A row with long ids has about 200.
pub const MAX_BYTES: u64 = 1 << 30;

/// The longest stimulus name of a pair, which is `x|y` if its two stimuli differ.
const MAX_STIMULI_BYTES: usize = 2 * MAX_TEXT_BYTES + 1;

/// The contents of a result file: the pairs by id, and from JSON the whole outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultFile {
    outcome: Option<Outcome>,
    /// How many pairs have results, in words, if some are missing.
    incomplete: Option<String>,
    a: Ids,
    b: Ids,
    stimuli: Ids,
    /// The pairs, by indices into the two sides' ids.
    results: Results,
    /// The stimulus of each pair.
    stimulus: Vec<Option<u32>>,
}

/// One pair, with its ids as indices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairRow<'a> {
    /// Index into the first side's ids.
    pub a: usize,
    /// Index into the second side's ids.
    pub b: usize,
    /// Index into the stimuli.
    pub stimulus: Option<usize>,
    /// One value for each measure.
    pub values: &'a [Value],
}

/// The format of a result file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultFormat {
    /// The whole outcome.
    Json,
    /// Only the pairs' numbers.
    Csv,
}

impl ResultFormat {
    /// Recognises a result file by its first characters.
    pub fn of_start(start: &str) -> Option<Self> {
        let start = start.trim_start_matches('\u{feff}').trim_start();
        if let Some(object) = start.strip_prefix('{') {
            let key = object.trim_start().strip_prefix('"')?;
            return key.starts_with(RESULT_MARK).then_some(ResultFormat::Json);
        }
        let header = start.lines().next()?;
        let is_table = header.starts_with("a,b,stimulus,") || is_answers(header);
        is_table.then_some(ResultFormat::Csv)
    }
}

/// Whether this is the first line of a table of group answers.
fn is_answers(header: &str) -> bool {
    header.trim_end().split(',').eq(crate::csv::ANSWER_COLUMNS)
}

/// A file that is not a result file, or one that cannot be drawn.
#[derive(Debug, thiserror::Error)]
pub enum ResultFileError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    /// Not a result file, or one of another version.
    #[error(transparent)]
    Format(#[from] ResultFormatError),
    /// Neither JSON nor a table with the columns of a result table.
    #[error(
        "this is not a result file: it is neither JSON nor a CSV file with results (a .txt table cannot be read back; write .csv or .json)"
    )]
    NotATable,
    /// A table of group answers, which cannot be drawn.
    #[error(
        "this table has group answers only; a result file in JSON has them with everything else"
    )]
    AnswersOnly,
    /// Content that a result file cannot have.
    #[error("line {line}, column {column}: {problem}")]
    Content {
        /// The line, from 1.
        line: u64,
        /// The character of the line, from 1.
        column: u64,
        /// The problem there.
        problem: ResultFormatError,
    },
    /// A damaged file.
    #[error("line {line}, column {column}: {problem}")]
    Syntax {
        /// The line, from 1.
        line: u64,
        /// The character in the line for JSON, or the field for CSV, from 1.
        column: u64,
        /// The problem there.
        problem: String,
    },
    /// Not JSON, the only format with all that is needed.
    #[error("this is not a result file in JSON, the only format with the plan")]
    NotJson,
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is too large.
    #[error(
        "the file has more than {MAX_BYTES} bytes; make a report of a part of it, for example one stimulus"
    )]
    TooLarge,
}

/// Reads the whole outcome from JSON, with up to as many results as one comparison may have. For files that are merged,
/// not drawn.
pub fn read_outcome(input: impl Read) -> Result<Outcome, ResultFileError> {
    let max_pairs = usize::try_from(MAX_PAIRS).unwrap_or(usize::MAX);
    let mut input = io::BufReader::new(input);
    match input.fill_buf()?.first() {
        None => Err(ResultFileError::Empty),
        Some(b'{') => from_json::read_outcome(input, max_pairs),
        Some(_) => Err(ResultFileError::NotJson),
    }
}

impl ResultFile {
    /// Reads JSON or CSV, depending on the first character.
    pub fn read(input: impl Read) -> Result<Self, ResultFileError> {
        let mut input = io::BufReader::new(BoundedReader {
            inner: input,
            left: MAX_BYTES,
        });
        // Some spreadsheets start UTF-8 files with this mark.
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

    /// The whole outcome; `None` for CSV, which contains only the pairs' numbers.
    pub fn outcome(&self) -> Option<&Outcome> {
        self.outcome.as_ref()
    }

    /// How many pairs have results, as in `12 of 900 pairs`, if some are missing.
    pub fn incomplete(&self) -> Option<&str> {
        self.incomplete.as_deref()
    }

    /// The ids of the first side, in the order of the file.
    pub fn a(&self) -> &[String] {
        &self.a.names
    }

    /// The ids of the second side.
    pub fn b(&self) -> &[String] {
        &self.b.names
    }

    /// The stimuli.
    pub fn stimuli(&self) -> &[String] {
        &self.stimuli.names
    }

    /// The measures of each pair.
    pub fn measures(&self) -> &[MeasureColumn] {
        self.results.measures()
    }

    /// The number of pairs with results in the file.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Whether no pair has a result in the file.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// The pairs, in the order of the file.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = PairRow<'_>> + Clone {
        self.results
            .iter()
            .zip(&self.stimulus)
            .map(|(pair, stimulus)| PairRow {
                a: pair.a,
                b: pair.b,
                stimulus: stimulus.map(|index| index as usize),
                values: pair.values,
            })
    }

    fn empty(measures: Vec<MeasureColumn>) -> Self {
        Self {
            outcome: None,
            incomplete: None,
            a: Ids::default(),
            b: Ids::default(),
            stimuli: Ids::default(),
            results: Results::new(measures),
            stimulus: Vec::new(),
        }
    }

    fn push(
        &mut self,
        [a, b]: [&str; 2],
        stimulus: Option<&str>,
        values: &[Value],
    ) -> Result<(), String> {
        if self.results.len() == MAX_ROWS {
            return Err(format!("there are more than {MAX_ROWS} pairs"));
        }
        let id = |ids: &mut Ids, id| ids.number(id, MAX_TEXT_BYTES);
        let (a, b) = (id(&mut self.a, a)?, id(&mut self.b, b)?);
        let stimuli = &mut self.stimuli;
        let stimulus = stimulus.map(|name| stimuli.number(name, MAX_STIMULI_BYTES));
        let stimulus = stimulus.transpose()?;
        self.results.push(a, b, values);
        let stimulus = stimulus.and_then(|index| u32::try_from(index).ok());
        self.stimulus.push(stimulus);
        Ok(())
    }
}

impl From<Outcome> for ResultFile {
    fn from(outcome: Outcome) -> Self {
        let mut file = Self::empty(outcome.results.measures().to_vec());
        for (pair, row) in outcome.results.iter().zip(outcome.rows()) {
            let stimulus = row.stimulus.as_deref().map(|name| file.stimuli.add(name));
            let (a, b) = (file.a.add(row.a), file.b.add(row.b));
            file.results.push(a, b, pair.values);
            file.stimulus
                .push(stimulus.and_then(|index| u32::try_from(index).ok()));
        }
        if outcome.results.is_empty() {
            // The results are for the other side only, but the participants are still known.
            let stimuli = |id: &'_ veilpath_protocol::ScanpathId| id.stimulus.clone();
            for id in &outcome.a {
                file.a.add(&id.participant);
            }
            for id in &outcome.b {
                file.b.add(&id.participant);
            }
            for name in outcome.a.iter().chain(&outcome.b).filter_map(stimuli) {
                file.stimuli.add(&name);
            }
        }
        file.incomplete = outcome
            .is_incomplete()
            .then(|| table::result_count(&outcome));
        file.outcome = Some(outcome);
        file
    }
}

/// Ids by index, each stored once.
#[derive(Clone, Debug, Default, PartialEq)]
struct Ids {
    numbers: HashMap<String, usize>,
    names: Vec<String>,
}

impl Ids {
    /// The index of an id from a file, which may be too long.
    fn number(&mut self, id: &str, max_bytes: usize) -> Result<usize, String> {
        if id.len() > max_bytes {
            return Err(format!("an id has at most {max_bytes} bytes"));
        }
        Ok(self.add(id))
    }

    fn add(&mut self, id: &str) -> usize {
        if let Some(&number) = self.numbers.get(id) {
            return number;
        }
        let number = self.names.len();
        self.numbers.insert(id.to_string(), number);
        self.names.push(id.to_string());
        number
    }
}

/// Text from a file must neither control the terminal nor flood it.
fn at(line: u64, column: u64, problem: &str) -> ResultFileError {
    let problem = table::printable(problem);
    ResultFileError::Syntax {
        line,
        column,
        problem: problem.chars().take(300).collect(),
    }
}

/// Returns an error where a plain `take` would silently truncate the file.
struct BoundedReader<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for BoundedReader<R> {
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

//! Reads the rows of [`crate::csv`]: ids and numbers only.

use super::{ResultFile, ResultFileError, at};
use crate::csv::{ANSWER_COLUMNS, INCOMPLETE};
use crate::table::printable;
use csv::StringRecord;
use std::io::Read;
use veilpath_metrics::MeasureKind;
use veilpath_metrics::text::from_csv_field;
use veilpath_protocol::{MAX_TEXT_BYTES, MeasureColumn, Value};

struct Columns {
    a: usize,
    b: usize,
    stimulus: Option<usize>,
    /// The column that says that results are missing.
    incomplete: Option<usize>,
    /// The measure columns, in file order.
    measures: Vec<(usize, MeasureColumn)>,
}

pub(super) fn read(input: impl Read) -> Result<ResultFile, ResultFileError> {
    let mut reader = csv::Reader::from_reader(input);
    let columns = columns(reader.headers().map_err(|error| failed(error, 1))?)?;
    let measures = columns.measures.iter().map(|(_, measure)| measure.clone());
    let mut file = ResultFile::empty(measures.collect());
    let mut record = StringRecord::new();
    loop {
        let before = reader.position().line();
        if !reader
            .read_record(&mut record)
            .map_err(|error| failed(error, before))?
        {
            break;
        }
        let line = record.position().map_or(before, |position| position.line());
        if let Some(column) = columns.incomplete.filter(|_| file.incomplete.is_none()) {
            let count = record.get(column).unwrap_or_default();
            let count = count.chars().take(MAX_COUNT_CHARS).collect::<String>();
            file.incomplete = Some(printable(&count));
        }
        push(&record, &columns, &mut file)
            .map_err(|(column, problem)| at(line, column as u64 + 1, &problem))?;
    }
    Ok(file)
}

fn columns(header: &StringRecord) -> Result<Columns, ResultFileError> {
    if header.iter().eq(ANSWER_COLUMNS) {
        return Err(ResultFileError::AnswersOnly);
    }
    let names = header.iter().map(|name| from_csv_field(name.trim()));
    let names: Vec<String> = names.map(String::from).collect();
    let position = |name: &str| names.iter().position(|other| other == name);
    let (a, b, stimulus) = (position("a"), position("b"), position("stimulus"));
    let incomplete = position(INCOMPLETE);
    let measure = |(column, name): (usize, &String)| {
        let is_id = [a, b, stimulus, incomplete].contains(&Some(column));
        // A table does not say whether small or large scores mean similar scanpaths.
        let kind = match name.as_str() {
            "similarity" => MeasureKind::Fraction,
            "within" => MeasureKind::Bit,
            _ => MeasureKind::Number,
        };
        let usable = !is_id && !name.is_empty() && name.len() <= MAX_TEXT_BYTES;
        usable.then(|| (column, MeasureColumn::new(name, kind)))
    };
    let measures: Vec<(usize, MeasureColumn)> =
        names.iter().enumerate().filter_map(measure).collect();
    match (a, b) {
        (Some(a), Some(b)) if (1..=MAX_MEASURES).contains(&measures.len()) => Ok(Columns {
            a,
            b,
            stimulus,
            incomplete,
            measures,
        }),
        _ => Err(ResultFileError::NotATable),
    }
}

/// The longest text in the `incomplete` column.
const MAX_COUNT_CHARS: usize = 64;

/// The most measure columns. A metric has a handful.
const MAX_MEASURES: usize = 32;

fn push(
    record: &StringRecord,
    columns: &Columns,
    file: &mut ResultFile,
) -> Result<(), (usize, String)> {
    let field = |column: usize| record.get(column).unwrap_or_default();
    let mut values = Vec::with_capacity(columns.measures.len());
    for (column, measure) in &columns.measures {
        let value = value(field(*column).trim(), measure.kind);
        values.push(value.map_err(|problem| (*column, problem.to_string()))?);
    }
    let id = |column: usize| from_csv_field(field(column));
    let stimulus = columns.stimulus.map(id);
    let stimulus = stimulus.as_deref().filter(|stimulus| !stimulus.is_empty());
    file.push([&id(columns.a), &id(columns.b)], stimulus, &values)
        .map_err(|problem| (columns.a, problem))
}

fn value(text: &str, kind: MeasureKind) -> Result<Value, &'static str> {
    let value = match (text, kind) {
        ("", MeasureKind::Bit) => return Err("this is neither true nor false"),
        ("", _) => Value::Missing,
        ("true", MeasureKind::Bit) => Value::Bit(true),
        ("false", MeasureKind::Bit) => Value::Bit(false),
        (_, MeasureKind::Bit) => return Err("this is neither true nor false"),
        (text, _) => Value::Number(text.parse().map_err(|_| "this is not a number")?),
    };
    value.check(kind).map(|()| value)
}

fn failed(error: csv::Error, line: u64) -> ResultFileError {
    let line = error.position().map_or(line, |position| position.line());
    match error.into_kind() {
        csv::ErrorKind::Io(error) => ResultFileError::Io(error),
        csv::ErrorKind::UnequalLengths {
            expected_len, len, ..
        } => at(
            line,
            len,
            &format!("{len} fields, where the first line has {expected_len}"),
        ),
        csv::ErrorKind::Utf8 { err, .. } => {
            at(line, err.field() as u64 + 1, "this is not UTF-8 text")
        }
        _ => at(line, 1, "this line cannot be read as CSV"),
    }
}

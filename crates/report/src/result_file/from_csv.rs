//! The rows of [`crate::csv`]: ids and numbers alone.

use super::{Answer, ResultFile, ResultFileError, Rows, at, scored};
use csv::StringRecord;
use std::io::Read;

/// Where each column stands.
struct Columns {
    a: usize,
    b: usize,
    stimulus: Option<usize>,
    score: Option<usize>,
    similarity: Option<usize>,
    within: Option<usize>,
}

pub(super) fn read(input: impl Read) -> Result<ResultFile, ResultFileError> {
    let mut reader = csv::Reader::from_reader(input);
    let columns = columns(reader.headers().map_err(|error| failed(error, 1))?)?;
    let mut rows = Rows::default();
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
        push(&record, &columns, &mut rows)
            .map_err(|(column, problem)| at(line, column as u64 + 1, &problem))?;
    }
    Ok(rows.into_file(None, None, None))
}

fn columns(header: &StringRecord) -> Result<Columns, ResultFileError> {
    let place = |name: &str| header.iter().position(|field| field.trim() == name);
    let (score, within) = (place("score"), place("within"));
    match (place("a"), place("b")) {
        (Some(a), Some(b)) if score.is_some() != within.is_some() => Ok(Columns {
            a,
            b,
            stimulus: place("stimulus"),
            score,
            similarity: place("similarity"),
            within,
        }),
        _ => Err(at(
            1,
            1,
            "this is no result file: its first line is not \"a,b,stimulus,score,similarity\", \
             nor \"a,b,stimulus,within\"; `veilpath compare … -o scores.json` writes one",
        )),
    }
}

fn push(record: &StringRecord, columns: &Columns, rows: &mut Rows) -> Result<(), (usize, String)> {
    let field = |column: usize| record.get(column).unwrap_or_default();
    let number = |column: usize| {
        let value = field(column).trim().parse::<f64>();
        value.map_err(|_| (column, "this is no number".to_string()))
    };
    let answer = match (columns.score, columns.within) {
        (Some(score), _) => {
            let similarity = columns
                .similarity
                .filter(|&at| !field(at).trim().is_empty());
            let similarity = similarity.map(number).transpose()?;
            scored(number(score)?, similarity).map_err(|problem| (score, problem))?
        }
        (None, Some(within)) => match field(within).trim() {
            "true" => Answer::Within(true),
            "false" => Answer::Within(false),
            _ => return Err((within, "this is neither true nor false".into())),
        },
        (None, None) => return Err((0, "the file has no column score".into())),
    };
    let stimulus = columns
        .stimulus
        .map(field)
        .filter(|stimulus| !stimulus.is_empty());
    rows.push([field(columns.a), field(columns.b)], stimulus, answer)
        .map_err(|problem| (columns.a, problem))
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

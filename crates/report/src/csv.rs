//! One row per pair: `a,b,stimulus` and a column for each measure, as in `a,b,stimulus,score,similarity`.
//!
//! If results are missing, a last column `incomplete` says so in every row, as in `12 of 900 pairs`. So every program
//! can still read the table, and rows that are copied elsewhere keep the mark.
//!
//! An outcome with group answers and no pairs becomes a table with one row per number; see [`ANSWER_COLUMNS`].
//!
//! Text follows the rules of [`veilpath_metrics::text`]: no control characters, and no spreadsheet formulas.

mod answers;

pub use answers::ANSWER_COLUMNS;

use crate::{exact, table};
use answers::answer_rows;
use std::borrow::Cow;
use std::io::{self, Write};
use veilpath_metrics::text::csv_field;
use veilpath_protocol::{Outcome, Value};

/// The columns before the measures.
pub(crate) const IDS: [&str; 3] = ["a", "b", "stimulus"];

/// The column that marks a table with missing results.
pub(crate) const INCOMPLETE: &str = "incomplete";

/// Writes all rows, or the answers if the outcome has group answers and no pairs.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let asks_about_groups = outcome.spec.reveal.group_question().is_some();
    if outcome.results.is_empty() && (asks_about_groups || !outcome.answers.is_empty()) {
        let rows = outcome.answers.iter().flat_map(answer_rows);
        return write_table(ANSWER_COLUMNS, rows, out);
    }
    write_rows(outcome, out).map_err(io_error)
}

/// Writes any table of text, quoting fields as needed.
pub fn write_table<const N: usize>(
    columns: [&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns).map_err(io_error)?;
    for row in rows {
        let fields = row.iter().map(|field| csv_field(field).into_owned());
        writer.write_record(fields).map_err(io_error)?;
    }
    writer.flush()
}

fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        // Keep the original error: its kind tells a closed pipe from a full disk.
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("the table cannot be written: {other:?}")),
    }
}

fn write_rows(outcome: &Outcome, out: &mut dyn Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    let measures = outcome.results.measures().iter();
    let missing = outcome
        .is_incomplete()
        .then(|| table::result_count(outcome));
    let columns = IDS
        .map(Cow::from)
        .into_iter()
        .chain(measures.map(|measure| csv_field(&measure.name)))
        .chain(missing.as_ref().map(|_| INCOMPLETE.into()));
    let columns = columns.map(Cow::into_owned);
    writer.write_record(columns)?;
    for row in outcome.rows() {
        for id in [row.a, row.b, row.stimulus.as_deref().unwrap_or_default()] {
            writer.write_field(csv_field(id).as_ref())?;
        }
        for value in row.values {
            writer.write_field(match value {
                Value::Missing => String::new(),
                Value::Number(number) => exact(*number),
                Value::Bit(bit) => bit.to_string(),
            })?;
        }
        if let Some(missing) = &missing {
            writer.write_field(missing)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(writer.flush()?)
}

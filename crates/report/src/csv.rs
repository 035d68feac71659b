//! `a,b,stimulus,score,similarity`, one row per pair; `a,b,stimulus,within` where one bit of each was asked for.

use crate::exact;
use std::io::{self, Write};
use veilpath_protocol::{Answer, Outcome, Reveal};

/// The header that other programs rely on.
pub const HEADER: [&str; 5] = ["a", "b", "stimulus", "score", "similarity"];

/// The header where each pair has one bit.
pub const HEADER_OF_BITS: [&str; 4] = ["a", "b", "stimulus", "within"];

/// Writes all rows.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    write_rows(outcome, out).map_err(|error| match error.into_kind() {
        // As it is: whether a pipe was closed, or the disk is full, is told by its kind.
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("the table cannot be written: {other:?}")),
    })
}

fn write_rows(outcome: &Outcome, out: &mut dyn Write) -> Result<(), csv::Error> {
    let mut writer = csv::Writer::from_writer(out);
    match outcome.spec.reveal {
        Reveal::Score => writer.write_record(HEADER)?,
        Reveal::Threshold(_) => writer.write_record(HEADER_OF_BITS)?,
    }
    for row in outcome.rows() {
        let ids = [row.a, row.b, row.stimulus.as_deref().unwrap_or_default()];
        for id in ids {
            writer.write_field(id)?;
        }
        match row.answer {
            Answer::Score(reading) => {
                writer.write_field(exact(reading.score))?;
                writer.write_field(reading.similarity.map(exact).unwrap_or_default())?;
            }
            Answer::Within(within) => writer.write_field(within.to_string())?,
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(writer.flush()?)
}

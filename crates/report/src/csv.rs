//! `a,b,stimulus,score,similarity`, one row per pair.

use crate::exact;
use std::io::{self, Write};
use veilpath_protocol::Outcome;

/// The header that other programs rely on.
pub const HEADER: [&str; 5] = ["a", "b", "stimulus", "score", "similarity"];

/// Writes all rows.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(HEADER)?;
    for row in outcome.rows() {
        writer.write_record([
            row.a,
            row.b,
            row.stimulus.as_deref().unwrap_or_default(),
            &exact(row.reading.score),
            &row.reading.similarity.map(exact).unwrap_or_default(),
        ])?;
    }
    writer.flush()
}

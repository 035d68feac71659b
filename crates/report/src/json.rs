//! One object: `spec`, `results`, `cost`, `revealed`. A result has `score` and `similarity`, or `within` alone.
//!
//! It is written row by row, one result a line, so that millions of pairs need no second copy in memory and a person can
//! still read and compare files.

use serde::Serialize;
use serde::ser::SerializeMap;
use std::io::{self, Write};
use veilpath_protocol::{Outcome, Output, ResultRow};

/// Writes the whole outcome.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\n\"spec\": ")?;
    serde_json::to_writer(&mut *out, &outcome.spec)?;
    write!(out, ",\n\"results\": [")?;
    for (index, row) in outcome.rows().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &JsonRow(outcome.results.outputs(), row))?;
    }
    write!(out, "\n],\n\"cost\": ")?;
    serde_json::to_writer(&mut *out, &outcome.cost)?;
    write!(out, ",\n\"revealed\": ")?;
    serde_json::to_writer(&mut *out, &outcome.revealed)?;
    writeln!(out, "\n}}")?;
    out.flush()
}

struct JsonRow<'a>(&'a [Output], ResultRow<'a>);

impl Serialize for JsonRow<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let JsonRow(outputs, row) = self;
        let mut fields = serializer.serialize_map(Some(3 + outputs.len()))?;
        fields.serialize_entry("a", row.a)?;
        fields.serialize_entry("b", row.b)?;
        fields.serialize_entry("stimulus", &row.stimulus)?;
        for (output, value) in outputs.iter().zip(row.values) {
            fields.serialize_entry(&output.name, value)?;
        }
        fields.end()
    }
}

//! One object: `spec`, `results`, `cost`, `revealed`. A result has `score` and `similarity`, or `within` alone.
//!
//! It is written row by row, one result a line, so that millions of pairs need no second copy in memory and a person can
//! still read and compare files.

use serde::Serialize;
use std::io::{self, Write};
use veilpath_protocol::{Answer, Outcome, ResultRow};

/// Writes the whole outcome.
pub fn write(outcome: &Outcome, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "{{\n\"spec\": ")?;
    serde_json::to_writer(&mut *out, &outcome.spec)?;
    write!(out, ",\n\"results\": [")?;
    for (index, row) in outcome.rows().enumerate() {
        out.write_all(if index == 0 { b"\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &JsonRow::from(&row))?;
    }
    write!(out, "\n],\n\"cost\": ")?;
    serde_json::to_writer(&mut *out, &outcome.cost)?;
    write!(out, ",\n\"revealed\": ")?;
    serde_json::to_writer(&mut *out, &outcome.revealed)?;
    writeln!(out, "\n}}")?;
    out.flush()
}

#[derive(Serialize)]
struct JsonRow<'a> {
    a: &'a str,
    b: &'a str,
    stimulus: Option<&'a str>,
    #[serde(flatten)]
    answer: JsonAnswer,
}

#[derive(Serialize)]
#[serde(untagged)]
enum JsonAnswer {
    Score {
        score: serde_json::Value,
        similarity: Option<serde_json::Value>,
    },
    Within {
        within: bool,
    },
}

impl<'a> From<&'a ResultRow<'a>> for JsonRow<'a> {
    fn from(row: &'a ResultRow<'a>) -> Self {
        Self {
            a: row.a,
            b: row.b,
            stimulus: row.stimulus.as_deref(),
            answer: match row.answer {
                Answer::Score(reading) => JsonAnswer::Score {
                    score: number(reading.score),
                    similarity: reading.similarity.map(number),
                },
                Answer::Within(within) => JsonAnswer::Within { within },
            },
        }
    }
}

/// Whole numbers without a decimal point, as most metrics mean them.
#[allow(clippy::cast_possible_truncation)] // checked to be whole and small
fn number(value: f64) -> serde_json::Value {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return (value as i64).into();
    }
    value.into()
}

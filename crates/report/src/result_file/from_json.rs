//! The object of [`crate::json`], row by row: the rows never stand in memory as text.

use super::{ResultFile, ResultFileError, Rows, at, scored};
use crate::result_file::Answer;
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;
use std::io::BufRead;
use veilpath_protocol::{Cost, Revealed};

pub(super) fn read(input: impl BufRead) -> Result<ResultFile, ResultFileError> {
    let mut json = serde_json::Deserializer::from_reader(input);
    let read = json
        .deserialize_map(File)
        .and_then(|file| json.end().map(|()| file));
    read.map_err(|error| {
        if error.is_io() {
            return ResultFileError::Io(error.into());
        }
        let (line, column) = (error.line() as u64, error.column() as u64);
        let text = error.to_string();
        // serde_json writes the place behind its words; ours stands before them.
        let problem = text.split(" at line ").next().unwrap_or(&text);
        at(line, column, problem)
    })
}

struct File;

impl<'de> Visitor<'de> for File {
    type Value = ResultFile;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with spec, results, cost and revealed")
    }

    fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<ResultFile, M::Error> {
        let mut rows = None;
        let (mut spec, mut cost, mut revealed) = (None::<Value>, None::<Cost>, None);
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "spec" => spec = Some(small(&map.next_value::<Box<RawValue>>()?)?),
                "results" if rows.is_some() => return Err(de::Error::duplicate_field("results")),
                "results" => rows = Some(map.next_value_seed(Results)?),
                "cost" => cost = Some(map.next_value()?),
                "revealed" => revealed = Some(few(map.next_value::<Vec<Revealed>>()?)?),
                // A later version may say more.
                _ => {
                    map.next_value::<de::IgnoredAny>()?;
                }
            }
        }
        let Some(rows) = rows else {
            return Err(de::Error::custom(
                "this is no result file: it has no \"results\"; `veilpath compare … -o scores.json` writes one",
            ));
        };
        if let Some(cost) = &cost
            && !(cost.seconds.is_finite() && cost.seconds >= 0.0)
        {
            return Err(de::Error::custom("the seconds are no time"));
        }
        Ok(rows.into_file(spec, cost, revealed))
    }
}

/// A plan of some kilobytes is as large as they get; as values, many more would fill the memory.
fn small<E: de::Error>(text: &RawValue) -> Result<Value, E> {
    if text.get().len() > MAX_SPEC_BYTES {
        return Err(E::custom(format_args!(
            "the spec has more than {MAX_SPEC_BYTES} bytes"
        )));
    }
    serde_json::from_str(text.get()).map_err(E::custom)
}

const MAX_SPEC_BYTES: usize = 1 << 16;

/// The most lines of what was revealed, and bytes of each: a file of ours has a handful.
const MAX_REVEALED: usize = 64;
const MAX_REVEALED_BYTES: usize = 1 << 10;

fn few<E: serde::de::Error>(revealed: Vec<Revealed>) -> Result<Vec<Revealed>, E> {
    let long = |line: &Revealed| line.to.len().max(line.what.len()) > MAX_REVEALED_BYTES;
    if revealed.len() > MAX_REVEALED || revealed.iter().any(long) {
        return Err(E::custom(format!(
            "`revealed` has more than {MAX_REVEALED} lines, or one of more than {MAX_REVEALED_BYTES} bytes"
        )));
    }
    Ok(revealed)
}

struct Results;

impl<'de> DeserializeSeed<'de> for Results {
    type Value = Rows;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Rows, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Results {
    type Value = Rows;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of results")
    }

    fn visit_seq<S: SeqAccess<'de>>(self, mut list: S) -> Result<Rows, S::Error> {
        let mut rows = Rows::default();
        while list.next_element_seed(OneRow(&mut rows))?.is_some() {}
        Ok(rows)
    }
}

/// Takes a row while the reader still stands at it, so that an error names its place.
struct OneRow<'a>(&'a mut Rows);

impl<'de> DeserializeSeed<'de> for OneRow<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for OneRow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result with a, b and a score")
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<(), M::Error> {
        let row = JsonRow::deserialize(MapAccessDeserializer::new(map))?;
        let answer = match (row.score, row.within) {
            (Some(score), None) => scored(score, row.similarity),
            (None, Some(within)) => Ok(Answer::Within(within)),
            (Some(_), Some(_)) => Err("a result has a score or within, not both".into()),
            (None, None) => Err("a result has neither a score nor within".into()),
        };
        let stimulus = row.stimulus.as_deref();
        answer
            .and_then(|answer| self.0.push([&row.a, &row.b], stimulus, answer))
            .map_err(de::Error::custom)
    }
}

#[derive(Deserialize)]
struct JsonRow {
    a: String,
    b: String,
    stimulus: Option<String>,
    score: Option<f64>,
    similarity: Option<f64>,
    within: Option<bool>,
}

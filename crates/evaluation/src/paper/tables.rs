//! Our rows and the paper's, as CSV and JSON.
//!
//! The column `source` of each row says whether its numbers were `measured`, or `extrapolated` from the measured time per cell.
//! No row has both.

use super::measurements::{Header, MeasuredEngine, Measurement};
use super::published::{
    ALICE_PER_CELL, BOB_PER_CELL, CANDIDATES, KEYS, MEGABYTES, ORDERS, Spread, TIMES,
};
use super::schedule::{ENGINES, single};
use super::{data_set_tables, extrapolate};
use crate::mean_and_deviation;
use serde_json::{Map, Value, json};

/// The length at which the paper measures traffic.
pub(super) const TRAFFIC_LENGTH: usize = 100;

/// Pairs and cells of a data set.
pub(super) struct Size {
    pub(super) name: &'static str,
    pub(super) comparisons: usize,
    pub(super) cells: Spread,
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) columns: &'static [&'static str],
    pub(super) rows: Vec<Vec<Value>>,
}

impl Table {
    /// A value of a row; null if the table has no such column.
    pub(super) fn value<'a>(&self, row: &'a [Value], column: &str) -> &'a Value {
        let index = self.columns.iter().position(|name| *name == column);
        let value = index.and_then(|index| row.get(index));
        value.unwrap_or(&Value::Null)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Tables(pub(super) Vec<Table>);

impl Tables {
    pub(super) fn new(measurements: &[Measurement], sizes: &[Size]) -> Self {
        Self(vec![
            times(measurements),
            cells(measurements),
            traffic(measurements),
            candidates(measurements),
            orders(measurements),
            data_set_tables::sample(measurements, sizes),
            data_set_tables::full(measurements),
        ])
    }

    /// File names and contents.
    pub(super) fn csv(&self) -> impl Iterator<Item = (String, String)> {
        self.0.iter().map(|table| {
            let mut text = table.columns.join(",");
            for row in &table.rows {
                let fields: Vec<String> = row.iter().map(field).collect();
                text.push('\n');
                text.push_str(&fields.join(","));
            }
            text.push('\n');
            (format!("{}.csv", table.name), text)
        })
    }

    /// Everything in one object.
    pub(super) fn json(&self, header: &Header) -> Value {
        let mut object = Map::new();
        object.insert("machine".into(), json!(header.machine));
        object.insert("cores".into(), json!(header.cores));
        object.insert("seed".into(), json!(header.seed));
        object.insert("quick".into(), json!(header.quick));
        for table in &self.0 {
            let rows = table.rows.iter().map(|row| {
                let pairs = table.columns.iter().zip(row);
                Value::Object(
                    pairs
                        .map(|(name, value)| ((*name).into(), value.clone()))
                        .collect(),
                )
            });
            object.insert(table.name.into(), rows.collect());
        }
        Value::Object(object)
    }

    /// The most important numbers, one line each.
    pub(super) fn summary(&self) -> Vec<String> {
        let lines = self
            .0
            .iter()
            .filter(|table| table.name == "times")
            .flat_map(|table| {
                table
                    .rows
                    .iter()
                    .filter(|row| *table.value(row, "length") == json!(TRAFFIC_LENGTH))
                    .map(|row| {
                        let number = |column| table.value(row, column).as_f64();
                        let text = |column| table.value(row, column).as_str().unwrap_or_default();
                        let times = number("speedup").map_or(String::new(), |times| {
                            format!(", {times:.0} times as fast as in the paper")
                        });
                        format!(
                            "{TRAFFIC_LENGTH}x{TRAFFIC_LENGTH}, {}: {:.3} s {}{times}",
                            text("engine"),
                            number("seconds").unwrap_or(f64::NAN),
                            text("source"),
                        )
                    })
            });
        lines.collect()
    }
}

/// A field of a CSV file. No field contains a comma or a quote, because all names are defined in this crate.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

pub(super) fn published(spread: Option<Spread>) -> [Value; 2] {
    spread.map_or([Value::Null, Value::Null], |spread| {
        [json!(spread.mean), json!(spread.deviation)]
    })
}

/// The paper's number for an engine's key size.
pub(super) fn of_key<T: Copy>(engine: MeasuredEngine, values: &[T; 4]) -> Option<T> {
    let MeasuredEngine::Paillier(bits) = engine else {
        return None;
    };
    let index = KEYS.iter().position(|key| key.bits() == bits)?;
    Some(values[index])
}

fn times(measurements: &[Measurement]) -> Table {
    let mut rows = Vec::new();
    for (length, paper) in TIMES {
        for engine in ENGINES {
            let (source, count, ours) = match single(measurements, engine, length) {
                Some(seconds) => {
                    let (mean, deviation) = mean_and_deviation(seconds);
                    let deviation = (seconds.len() > 1).then_some(deviation);
                    ("measured", seconds.len(), Some((mean, deviation)))
                }
                None => {
                    let mean = extrapolate::seconds(measurements, engine, (length * length) as f64);
                    ("extrapolated", 0, mean.map(|mean| (mean, None)))
                }
            };
            let Some((mean, deviation)) = ours else {
                continue;
            };
            let paper = of_key(engine, &paper);
            let [paper_mean, paper_deviation] = published(paper);
            rows.push(vec![
                json!(length),
                json!(engine.name()),
                json!(source),
                json!(count),
                json!(mean),
                json!(deviation),
                paper_mean,
                paper_deviation,
                json!(paper.map(|paper| paper.mean / mean)),
            ]);
        }
    }
    Table {
        name: "times",
        title: "Seconds per comparison of two random scanpaths of the same length, each in its own session",
        columns: &[
            "length",
            "engine",
            "source",
            "comparisons",
            "seconds",
            "deviation",
            "paper_seconds",
            "paper_deviation",
            "speedup",
        ],
        rows,
    }
}

fn cells(measurements: &[Measurement]) -> Table {
    let rows = measurements
        .iter()
        .filter_map(|measurement| match measurement {
            Measurement::Cell {
                engine,
                seconds,
                host,
                join,
                bytes,
            } => {
                let [paper_alice, paper_alice_deviation] =
                    published(of_key(*engine, &ALICE_PER_CELL));
                let [paper_bob, paper_bob_deviation] = published(of_key(*engine, &BOB_PER_CELL));
                Some(vec![
                    json!(engine.name()),
                    json!("measured"),
                    json!(seconds),
                    json!(host),
                    json!(join),
                    json!(bytes),
                    paper_alice,
                    paper_alice_deviation,
                    paper_bob,
                    paper_bob_deviation,
                ])
            }
            _ => None,
        });
    Table {
        name: "cells",
        title: "Seconds per cell while many comparisons run at once: wall-clock time, and each party's own work. The paper's Alice is the host and its Bob the joining side; its time of Bob includes Alice's and the network",
        columns: &[
            "engine",
            "source",
            "seconds",
            "host_seconds",
            "join_seconds",
            "bytes",
            "paper_alice_seconds",
            "paper_alice_deviation",
            "paper_bob_seconds",
            "paper_bob_deviation",
        ],
        rows: rows.collect(),
    }
}

fn traffic(measurements: &[Measurement]) -> Table {
    let rows = ENGINES.into_iter().filter_map(|engine| {
        let measured = measurements
            .iter()
            .find_map(|measurement| match measurement {
                Measurement::Single {
                    engine: e,
                    length: TRAFFIC_LENGTH,
                    bytes,
                    ..
                } if *e == engine => Some(*bytes),
                _ => None,
            });
        let (source, [host, join]) = match measured {
            Some(bytes) => ("measured", bytes),
            None => (
                "extrapolated",
                extrapolate::bytes(measurements, engine, TRAFFIC_LENGTH)?,
            ),
        };
        Some(vec![
            json!(engine.name()),
            json!(source),
            json!(host),
            json!(join),
            json!((host + join) as f64 / 1e6),
            json!(of_key(engine, &MEGABYTES)),
        ])
    });
    Table {
        name: "traffic",
        title: "Bytes of one comparison of 100 × 100 letters, by sender",
        columns: &[
            "engine",
            "source",
            "host_bytes",
            "join_bytes",
            "megabytes",
            "paper_megabytes",
        ],
        rows: rows.collect(),
    }
}

fn candidates(measurements: &[Measurement]) -> Table {
    let rows = measurements
        .iter()
        .filter_map(|measurement| match measurement {
            Measurement::Order {
                size,
                candidates,
                deviation,
                ..
            } => {
                let paper = (*size == CANDIDATES.0).then_some(CANDIDATES.1);
                Some(vec![
                    json!(size),
                    json!("measured"),
                    json!(candidates),
                    json!(deviation),
                    json!(paper),
                ])
            }
            _ => None,
        });
    Table {
        name: "candidates",
        title: "Average number of cells to choose from while a square matrix is filled in a random order",
        columns: &[
            "length",
            "source",
            "candidates",
            "deviation",
            "paper_candidates",
        ],
        rows: rows.collect(),
    }
}

fn orders(measurements: &[Measurement]) -> Table {
    let rows = measurements
        .iter()
        .flat_map(|measurement| match measurement {
            Measurement::Order {
                size, log2_orders, ..
            } => log2_orders
                .iter()
                .map(|(step, bits)| {
                    let (paper_size, paper) = ORDERS;
                    let paper = paper
                        .iter()
                        .find(|(at, _)| at == step && *size == paper_size);
                    vec![
                        json!(size),
                        json!(step),
                        json!("measured"),
                        json!(bits),
                        json!(paper.map(|(_, bits)| bits)),
                    ]
                })
                .collect(),
            _ => Vec::new(),
        });
    Table {
        name: "orders",
        title: "Base-2 logarithm of the number of orders of cells up to a step. It reproduces the paper's figure and does not measure what the key holder can learn",
        columns: &["length", "step", "source", "bits", "paper_bits"],
        rows: rows.collect(),
    }
}

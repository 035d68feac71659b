//! Rows of ours and of the paper's, as CSV and JSON.
//!
//! Every row says in its column `how` where its numbers come from: `measured`, or `extrapolated` from the measured time per
//! cell. The two are never mixed in one row.

use super::extrapolate;
use super::lengths::mean_and_deviation;
use super::published::{
    ALICE_PER_CELL, BOB_PER_CELL, CANDIDATES, DATA_SETS, KEYS, MEGABYTES, ORDERS, Spread, TIMES,
};
use super::record::{Header, Measured, Record};
use super::schedule::{ENGINES, alone};
use serde_json::{Map, Value, json};

/// The length of the paper's measurement of traffic.
pub(super) const TRAFFIC_LENGTH: usize = 100;

/// Pairs and cells of a data set.
pub(super) struct Size {
    pub(super) name: String,
    pub(super) comparisons: usize,
    pub(super) cells: Spread,
}

/// One table.
pub(super) struct Table {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) columns: &'static [&'static str],
    pub(super) rows: Vec<Vec<Value>>,
}

/// All tables.
pub(super) struct Tables(pub(super) Vec<Table>);

impl Tables {
    pub(super) fn new(records: &[Record], sizes: &[Size]) -> Self {
        Self(vec![
            times(records),
            cells(records),
            traffic(records),
            candidates(records),
            orders(records),
            data_sets(records, sizes),
            whole(records),
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

    /// The headline, in a few lines.
    pub(super) fn summary(&self) -> Vec<String> {
        let lines = self
            .0
            .iter()
            .filter(|table| table.name == "times")
            .flat_map(|table| {
                table
                    .rows
                    .iter()
                    .filter(|row| row[0] == json!(TRAFFIC_LENGTH))
                    .map(|row| {
                        let number = |index: usize| row[index].as_f64();
                        let times = number(8).map_or(String::new(), |times| {
                            format!(", the paper's code takes {times:.0} times as long")
                        });
                        format!(
                            "{0}x{0}, {1}: {2:.3} s {3}{times}",
                            row[0],
                            row[1].as_str().unwrap_or_default(),
                            number(4).unwrap_or(f64::NAN),
                            row[2].as_str().unwrap_or_default(),
                        )
                    })
            });
        lines.collect()
    }
}

/// Names come from us and from file names that are not written here: numbers, words and nothing.
fn field(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn published(spread: Option<Spread>) -> [Value; 2] {
    spread.map_or([Value::Null, Value::Null], |spread| {
        [json!(spread.mean), json!(spread.deviation)]
    })
}

/// The paper's number for an engine's key.
fn of_key<T: Copy>(engine: Measured, values: &[T; 4]) -> Option<T> {
    let Measured::Paillier(bits) = engine else {
        return None;
    };
    let index = KEYS.iter().position(|key| key.bits() == bits)?;
    Some(values[index])
}

fn times(records: &[Record]) -> Table {
    let mut rows = Vec::new();
    for (length, paper) in TIMES {
        for engine in ENGINES {
            let (how, count, ours) = match alone(records, engine, length) {
                Some(seconds) => {
                    let (mean, deviation) = mean_and_deviation(seconds);
                    let deviation = (seconds.len() > 1).then_some(deviation);
                    ("measured", seconds.len(), Some((mean, deviation)))
                }
                None => {
                    let mean = extrapolate::seconds(records, engine, (length * length) as f64);
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
                json!(how),
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
        title: "Seconds per comparison of two random scanpaths of the same length, each comparison by itself",
        columns: &[
            "length",
            "engine",
            "how",
            "comparisons",
            "seconds",
            "deviation",
            "paper_seconds",
            "paper_deviation",
            "times_faster",
        ],
        rows,
    }
}

fn cells(records: &[Record]) -> Table {
    let rows = records.iter().filter_map(|record| match record {
        Record::Cell {
            engine,
            seconds,
            alice,
            bob,
            bytes,
        } => {
            let [paper_alice, paper_alice_deviation] = published(of_key(*engine, &ALICE_PER_CELL));
            let [paper_bob, paper_bob_deviation] = published(of_key(*engine, &BOB_PER_CELL));
            Some(vec![
                json!(engine.name()),
                json!("measured"),
                json!(seconds),
                json!(alice),
                json!(bob),
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
        title: "Seconds per cell with many comparisons at once: on the clock, and each party's own work. The paper's time of Bob has Alice's and the line in it",
        columns: &[
            "engine",
            "how",
            "seconds",
            "alice_seconds",
            "bob_seconds",
            "bytes",
            "paper_alice_seconds",
            "paper_alice_deviation",
            "paper_bob_seconds",
            "paper_bob_deviation",
        ],
        rows: rows.collect(),
    }
}

fn traffic(records: &[Record]) -> Table {
    let rows = ENGINES.into_iter().filter_map(|engine| {
        let measured = records.iter().find_map(|record| match record {
            Record::Alone {
                engine: e,
                length: TRAFFIC_LENGTH,
                bytes,
                ..
            } if *e == engine => Some(*bytes),
            _ => None,
        });
        let (how, [alice, bob]) = match measured {
            Some(bytes) => ("measured", bytes),
            None => (
                "extrapolated",
                extrapolate::bytes(records, engine, TRAFFIC_LENGTH)?,
            ),
        };
        Some(vec![
            json!(engine.name()),
            json!(how),
            json!(alice),
            json!(bob),
            json!((alice + bob) as f64 / 1e6),
            json!(of_key(engine, &MEGABYTES)),
        ])
    });
    Table {
        name: "traffic",
        title: "Bytes of one comparison of 100 × 100 letters, by who sends them",
        columns: &[
            "engine",
            "how",
            "alice_bytes",
            "bob_bytes",
            "megabytes",
            "paper_megabytes",
        ],
        rows: rows.collect(),
    }
}

fn candidates(records: &[Record]) -> Table {
    let rows = records.iter().filter_map(|record| match record {
        Record::Order {
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
        title: "Cells to choose from, on average, while a square matrix is filled in a random order",
        columns: &[
            "length",
            "how",
            "candidates",
            "deviation",
            "paper_candidates",
        ],
        rows: rows.collect(),
    }
}

fn orders(records: &[Record]) -> Table {
    let rows = records.iter().flat_map(|record| match record {
        Record::Order { size, choices, .. } => choices
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
        title: "Base-2 logarithm of the orders of cells up to a step: the paper's figure, and no measure of what Alice can learn",
        columns: &["length", "step", "how", "bits", "paper_bits"],
        rows: rows.collect(),
    }
}

fn data_sets(records: &[Record], sizes: &[Size]) -> Table {
    let mut rows = Vec::new();
    for size in sizes {
        let paper = DATA_SETS.iter().find(|data| data.name == size.name);
        let [paper_cells, paper_cells_deviation] = published(paper.map(|data| data.cells));
        for engine in ENGINES {
            let sample = records.iter().find_map(|record| match record {
                Record::Sample {
                    data,
                    engine: e,
                    seconds,
                    ..
                } if *data == size.name && *e == engine => Some(seconds),
                _ => None,
            });
            let (how, count, mean, deviation) = match sample {
                Some(seconds) => {
                    let (mean, deviation) = mean_and_deviation(seconds);
                    ("measured", seconds.len(), mean, Some(deviation))
                }
                None => match extrapolate::seconds(records, engine, size.cells.mean) {
                    Some(mean) => ("extrapolated", 0, mean, None),
                    None => continue,
                },
            };
            let seconds = paper.and_then(|data| of_key(engine, &data.seconds));
            let [paper_mean, paper_deviation] = published(seconds);
            rows.push(vec![
                json!(size.name),
                json!(size.comparisons),
                json!(size.cells.mean),
                json!(size.cells.deviation),
                json!(engine.name()),
                json!(how),
                json!(count),
                json!(mean),
                json!(deviation),
                paper_cells.clone(),
                paper_cells_deviation.clone(),
                paper_mean,
                paper_deviation,
            ]);
        }
    }
    Table {
        name: "datasets",
        title: "Seconds per comparison of the paper's data sets, in size: cohorts with the published lengths, some pairs of them each by itself",
        columns: &[
            "data",
            "comparisons_in_all",
            "cells",
            "cells_deviation",
            "engine",
            "how",
            "comparisons",
            "seconds",
            "deviation",
            "paper_cells",
            "paper_cells_deviation",
            "paper_seconds",
            "paper_deviation",
        ],
        rows,
    }
}

fn whole(records: &[Record]) -> Table {
    let rows = records.iter().filter_map(|record| match record {
        Record::Whole {
            data,
            engine,
            comparisons,
            cells,
            seconds,
            bytes,
        } => {
            let paper = DATA_SETS.iter().find(|set| set.name == *data);
            // The paper's mean per comparison at 112 bits, times the comparisons of this run.
            let paper_days = paper.map(|set| set.seconds[2].mean * *comparisons as f64 / 86_400.0);
            Some(vec![
                json!(data),
                json!(engine.name()),
                json!(if paper.is_some_and(|set| set.comparisons > *comparisons) {
                    "measured, a part"
                } else {
                    "measured"
                }),
                json!(comparisons),
                json!(cells),
                json!(seconds),
                json!((bytes[0] + bytes[1]) as f64 / 1e6),
                json!(paper.map(|set| set.comparisons)),
                json!(paper_days),
            ])
        }
        _ => None,
    });
    Table {
        name: "whole",
        title: "Whole data sets in one session",
        columns: &[
            "data",
            "engine",
            "how",
            "comparisons",
            "cells",
            "seconds",
            "megabytes",
            "paper_comparisons",
            "paper_days_at_2048",
        ],
        rows: rows.collect(),
    }
}

//! The HTML page: plots, and the tables they are made from.

use super::measurements::Header;
use super::published::{ALICE_PER_CELL, BOB_PER_CELL, KEYS, MEGABYTES, TIMES};
use super::schedule::ENGINES;
use super::tables::{Table, Tables};
use crate::page::{self, Axis, Page, Plot, Row, Section, Series};
use serde_json::Value;

/// The whole page.
pub(super) fn render(tables: &Tables, header: &Header) -> String {
    let quick = if header.quick {
        " (a quick run: short measurements, parts of the data sets)"
    } else {
        ""
    };
    let notes = vec![
        format!(
            "Measured on {} with {} cores{quick}. Both parties ran on this machine, over TLS on loopback; \
             the times include everything except generating keys.",
            header.machine, header.cores
        ),
        "Dashed lines are the paper's own numbers (Privacy-preserving Scanpath Comparison for Pervasive Eye Tracking, ETRA 2024), \
         measured on its authors' machine. Hollow points and rows in italics are extrapolated from the measured time per cell."
            .into(),
    ];
    let page = Page {
        title: "The paper's evaluation on this machine".into(),
        notes,
        sections: tables.0.iter().map(section).collect(),
    };
    page::render(&page)
}

fn section(table: &Table) -> Section {
    let rows = table.rows.iter().map(|row| Row {
        fields: row.iter().map(shown).collect(),
        extrapolated: table.value(row, "source") == "extrapolated",
    });
    Section {
        title: table.title.into(),
        plots: plots(table),
        columns: table
            .columns
            .iter()
            .map(|name| name.replace('_', " "))
            .collect(),
        rows: rows.collect(),
    }
}

/// Four significant digits; the files contain all digits.
fn shown(value: &Value) -> String {
    match value {
        Value::Null => "–".into(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_u64() => number.to_string(),
        other => match other.as_f64() {
            Some(number) if number != 0.0 && !(1e-4..1e7).contains(&number.abs()) => {
                format!("{number:.3e}")
            }
            Some(number) => {
                #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                // a number of decimals from 0 to 8
                let decimals =
                    (3.0 - number.abs().max(1e-9).log10().floor()).clamp(0.0, 8.0) as usize;
                format!("{number:.decimals$}")
            }
            None => other.to_string(),
        },
    }
}

fn plots(table: &Table) -> Vec<Plot> {
    match table.name {
        "times" => vec![times(table)],
        "cells" => vec![per_key(
            "Seconds per cell by key size",
            "seconds per cell",
            &[
                (
                    "host",
                    ours(table, "host_seconds"),
                    ALICE_PER_CELL.map(|spread| spread.mean),
                ),
                (
                    "join",
                    ours(table, "join_seconds"),
                    BOB_PER_CELL.map(|spread| spread.mean),
                ),
            ],
        )],
        "traffic" => vec![per_key(
            "Megabytes of a comparison of 100 × 100 letters by key size",
            "megabytes",
            &[("both directions", ours(table, "megabytes"), MEGABYTES)],
        )],
        "candidates" => vec![Plot {
            description: "Mean number of candidates by length of both scanpaths".into(),
            x: axis("letters of each scanpath", false),
            y: axis("candidates, on average", false),
            series: vec![line(
                "random order",
                0,
                &points(table, "length", "candidates", |_| true),
            )],
        }],
        "orders" => vec![Plot {
            description: "Base-2 logarithm of the orders up to a step, by length".into(),
            x: axis("step", true),
            y: axis("bits", true),
            series: [20, 50, 100, 200]
                .into_iter()
                .enumerate()
                .map(|(colour, length)| {
                    let of_length = |row: &[Value]| *table.value(row, "length") == length;
                    line(
                        &format!("{length} × {length}"),
                        colour,
                        &points(table, "step", "bits", of_length),
                    )
                })
                .collect(),
        }],
        _ => Vec::new(),
    }
}

fn times(table: &Table) -> Plot {
    let mut series = Vec::new();
    for (colour, engine) in ENGINES.into_iter().enumerate() {
        let name = engine.name();
        let of_engine = |row: &[Value]| *table.value(row, "engine") == name.as_str();
        series.push(line(
            &name,
            colour,
            &points(table, "length", "seconds", of_engine),
        ));
    }
    for (index, key) in KEYS.iter().enumerate() {
        series.push(Series {
            name: format!("paper {}", key.bits()),
            colour: index + 1,
            published: true,
            points: TIMES
                .iter()
                .map(|(length, spreads)| (*length as f64, spreads[index].mean, true))
                .collect(),
        });
    }
    Plot {
        description:
            "Seconds per comparison by length of both scanpaths, for every engine and for the paper"
                .into(),
        x: axis("letters of each scanpath", true),
        y: axis("seconds per comparison", true),
        series,
    }
}

/// A name, our values and whether each was measured, and the paper's.
type KeySizeSeries<'a> = (&'a str, Vec<(f64, bool)>, [f64; 4]);

/// Lines over the size of the key, with the paper's.
fn per_key(description: &str, y: &str, lines: &[KeySizeSeries<'_>]) -> Plot {
    let keys = || KEYS.iter().map(|key| f64::from(key.bits()));
    let series = lines
        .iter()
        .enumerate()
        .flat_map(|(colour, (name, ours, paper))| {
            let ours = keys()
                .zip(ours)
                .map(|(key, &(value, measured))| (key, value, measured))
                .collect();
            let paper = keys()
                .zip(paper)
                .map(|(key, &value)| (key, value, true))
                .collect();
            [
                Series {
                    name: (*name).into(),
                    colour,
                    published: false,
                    points: ours,
                },
                Series {
                    name: format!("{name}, paper"),
                    colour,
                    published: true,
                    points: paper,
                },
            ]
        });
    Plot {
        description: description.into(),
        x: axis("key size in bits", false),
        y: axis(y, true),
        series: series.collect(),
    }
}

/// A column of the four rows of the `paillier` engine.
fn ours(table: &Table, column: &str) -> Vec<(f64, bool)> {
    KEYS.iter()
        .map(|key| {
            let name = format!("paillier {}", key.bits());
            let of_key = |row: &[Value]| *table.value(row, "engine") == name.as_str();
            let value = points(table, column, column, of_key)
                .first()
                .map(|&(_, value, measured)| (value, measured));
            value.unwrap_or((f64::NAN, false))
        })
        .collect()
}

fn axis(title: &str, logarithmic: bool) -> Axis {
    Axis {
        title: title.into(),
        logarithmic,
    }
}

fn line(name: &str, colour: usize, points: &[(f64, f64, bool)]) -> Series {
    Series {
        name: name.into(),
        colour,
        published: false,
        points: points.to_vec(),
    }
}

/// Two columns of the selected rows, and whether each was measured.
fn points(
    table: &Table,
    x: &str,
    y: &str,
    selected: impl Fn(&[Value]) -> bool,
) -> Vec<(f64, f64, bool)> {
    table
        .rows
        .iter()
        .filter(|row| selected(row))
        .filter_map(|row| {
            Some((
                table.value(row, x).as_f64()?,
                table.value(row, y).as_f64()?,
                table.value(row, "source") == "measured",
            ))
        })
        .collect()
}

//! The tables as Markdown, to paste into a document: measured and extrapolated numbers in separate tables, next to the paper's,
//! and how they were obtained.

use super::measurements::Header;
use super::tables::{TRAFFIC_LENGTH, Table, Tables};
use serde_json::Value;
use std::fmt::Write;
use std::time::SystemTime;
use veilpath_session::date;

/// The origin of a summary.
pub(super) struct Origin<'a> {
    pub(super) header: &'a Header,
    /// The command that produced it.
    pub(super) command: &'a str,
    /// When the last measurement ended.
    pub(super) time: Option<SystemTime>,
}

/// A column: its heading, the columns of the table that it shows (a mean, or a mean and its deviation), and the factor that they
/// are multiplied by.
struct Column {
    heading: &'static str,
    sources: &'static [&'static str],
    factor: f64,
}

const fn column(heading: &'static str, sources: &'static [&'static str]) -> Column {
    scaled(heading, sources, 1.0)
}

const fn scaled(heading: &'static str, sources: &'static [&'static str], factor: f64) -> Column {
    Column {
        heading,
        sources,
        factor,
    }
}

const MICRO: f64 = 1e6;
const MEGA: f64 = 1e-6;

/// The source of a row whose numbers are not measured.
const EXTRAPOLATED: &str = "extrapolated";

/// The size of the matrix for which the paper counts orders.
const PAPER_ORDERS_SIZE: u32 = super::published::ORDERS.0;

/// The line above a table.
const MEASURED: &str = "Measured";
const NOT_MEASURED: &str = "Extrapolated from the measured cost per cell, **not measured**";

const TIMES: &[Column] = &[
    column("length", &["length"]),
    column("engine", &["engine"]),
    column("comparisons", &["comparisons"]),
    column("seconds", &["seconds", "deviation"]),
    column("the paper's seconds", &["paper_seconds", "paper_deviation"]),
    column("speed-up", &["speedup"]),
];

const CELLS: &[Column] = &[
    column("engine", &["engine"]),
    scaled("wall-clock time, µs", &["seconds"], MICRO),
    scaled("host, µs", &["host_seconds"], MICRO),
    scaled("join, µs", &["join_seconds"], MICRO),
    column("bytes", &["bytes"]),
    scaled(
        "the paper's Alice, µs",
        &["paper_alice_seconds", "paper_alice_deviation"],
        MICRO,
    ),
    scaled(
        "the paper's Bob, µs",
        &["paper_bob_seconds", "paper_bob_deviation"],
        MICRO,
    ),
];

const TRAFFIC: &[Column] = &[
    column("engine", &["engine"]),
    scaled("host sends, MB", &["host_bytes"], MEGA),
    scaled("join sends, MB", &["join_bytes"], MEGA),
    column("total, MB", &["megabytes"]),
    column("the paper's, MB", &["paper_megabytes"]),
];

const CANDIDATES: &[Column] = &[
    column("length", &["length"]),
    column("candidates", &["candidates", "deviation"]),
    column("the paper's", &["paper_candidates"]),
];

const ORDERS: &[Column] = &[
    column("length", &["length"]),
    column("step", &["step"]),
    column("bits", &["bits"]),
    column("the paper's bits", &["paper_bits"]),
];

const DATA_SETS: &[Column] = &[
    column("data", &["data"]),
    column("cells of a comparison", &["cells", "cells_deviation"]),
    column(
        "the paper's cells",
        &["paper_cells", "paper_cells_deviation"],
    ),
    column("engine", &["engine"]),
    column("comparisons", &["comparisons"]),
    column("seconds", &["seconds", "deviation"]),
    column("the paper's seconds", &["paper_seconds", "paper_deviation"]),
];

const FULL_DATA_SETS: &[Column] = &[
    column("data", &["data"]),
    column("engine", &["engine"]),
    column("", &["source"]),
    column("comparisons", &["comparisons"]),
    column("cells", &["cells"]),
    column("seconds", &["seconds"]),
    column("MB", &["megabytes"]),
    column("the paper's comparisons", &["paper_comparisons"]),
    column(
        "days at the paper's speed, 2048 bits",
        &["paper_days_at_2048"],
    ),
];

/// The file. Its headings start at the third level, so that it fits below a heading of the document.
pub(super) fn render(tables: &Tables, origin: &Origin<'_>) -> String {
    let mut text = String::new();
    let header = origin.header;
    let quick = if header.quick {
        " **This was a quick run: few and short measurements, and parts of the data sets.**"
    } else {
        ""
    };
    let date = origin.time.map_or("an unknown date".into(), date);
    let _ = writeln!(
        text,
        "Measured on {date} by `{}` (veilpath {}) on one machine: {}, {} cores. Both parties ran on it, over TLS on loopback; \
         the times include everything except generating keys.{quick} A number after ± is the standard deviation. The \
         paper's numbers were measured on its authors' machine.",
        origin.command,
        env!("CARGO_PKG_VERSION"),
        header.machine,
        header.cores,
    );
    headline(tables, &mut text);
    for table in &tables.0 {
        let (heading, columns) = match table.name {
            "times" => ("Time per comparison", TIMES),
            "cells" => ("Time per cell", CELLS),
            "traffic" => ("Traffic", TRAFFIC),
            "candidates" => ("Candidates", CANDIDATES),
            "orders" => ("Orders", ORDERS),
            "datasets" => ("Comparisons of the data sets", DATA_SETS),
            _ => ("Full data sets", FULL_DATA_SETS),
        };
        // Only the curve that the paper discusses.
        let selected = |row: &&[Value]| {
            table.name != "orders" || *table.value(row, "length") == PAPER_ORDERS_SIZE
        };
        let _ = write!(text, "\n### {heading}\n\n{}.\n", table.title);
        let rows: Vec<&[Value]> = table
            .rows
            .iter()
            .map(Vec::as_slice)
            .filter(selected)
            .collect();
        let (extrapolated, measured): (Vec<&[Value]>, Vec<&[Value]>) = rows
            .into_iter()
            .partition(|row| is_extrapolated(table, row));
        if !measured.is_empty() {
            write_table(&mut text, table, columns, MEASURED, &measured);
        }
        if !extrapolated.is_empty() {
            write_table(&mut text, table, columns, NOT_MEASURED, &extrapolated);
        }
    }
    text
}

/// The most important numbers: one comparison of a hundred letters, and full data sets.
fn headline(tables: &Tables, text: &mut String) {
    let of = |name: &str| tables.0.iter().find(|table| table.name == name);
    let (mut measured, mut extrapolated) = (Vec::new(), Vec::new());
    if let Some(table) = of("times") {
        for row in &table.rows {
            let value = |name: &str| table.value(row, name);
            if value("length").as_u64() != Some(TRAFFIC_LENGTH as u64) {
                continue;
            }
            let rows = match is_extrapolated(table, row) {
                true => &mut extrapolated,
                false => &mut measured,
            };
            rows.push([
                format!("one comparison of {TRAFFIC_LENGTH} × {TRAFFIC_LENGTH} letters"),
                shown(value("engine")),
                shown(value("seconds")),
                shown(value("paper_seconds")),
            ]);
        }
    }
    if let Some(table) = of("full_datasets") {
        for row in &table.rows {
            let value = |name: &str| table.value(row, name);
            let days = value("paper_days_at_2048").as_f64();
            measured.push([
                format!(
                    "{} comparisons with the lengths of {}",
                    shown(value("comparisons")),
                    shown(value("data"))
                ),
                shown(value("engine")),
                shown(value("seconds")),
                days.map_or("–".into(), |days| shown(&Value::from(days * 86_400.0))),
            ]);
        }
    }
    text.push_str("\n### In short\n");
    for (label, rows) in [(MEASURED, measured), (NOT_MEASURED, extrapolated)] {
        if rows.is_empty() {
            continue;
        }
        let head = "| work | engine | seconds | the paper's seconds |\n|---|---|---|---|";
        let _ = writeln!(text, "\n{label}:\n\n{head}");
        for row in rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
    }
    text.push_str(
        "\nThe paper's seconds for full data sets are its mean per comparison with a key of 2048 bits, times the number of comparisons.\n",
    );
}

fn write_table(
    text: &mut String,
    table: &Table,
    columns: &[Column],
    label: &str,
    rows: &[&[Value]],
) {
    let is_not_count = |column: &&Column| column.sources != ["comparisons"];
    let extrapolated = rows.iter().any(|row| is_extrapolated(table, row));
    let columns: Vec<&Column> = columns
        .iter()
        .filter(|column| !extrapolated || is_not_count(column))
        .collect();
    let headings: Vec<&str> = columns.iter().map(|column| column.heading).collect();
    let _ = write!(text, "\n{label}:\n\n| {} |\n|", headings.join(" | "));
    text.push_str(&"---|".repeat(columns.len()));
    text.push('\n');
    for row in rows {
        let fields: Vec<String> = columns
            .iter()
            .map(|column| field(table, row, column))
            .collect();
        let _ = writeln!(text, "| {} |", fields.join(" | "));
    }
}

fn field(table: &Table, row: &[Value], column: &Column) -> String {
    let scaled = |name: &&str| {
        let value = table.value(row, name);
        match value.as_f64() {
            Some(number) if column.factor != 1.0 => Value::from(number * column.factor),
            _ => value.clone(),
        }
    };
    let parts: Vec<String> = column
        .sources
        .iter()
        .map(scaled)
        .enumerate()
        .filter(|(at, value)| *at == 0 || !value.is_null())
        .map(|(_, value)| shown(&value))
        .collect();
    // An unescaped bar would end the field.
    parts.join(" ± ").replace('|', "\\|")
}

fn is_extrapolated(table: &Table, row: &[Value]) -> bool {
    table.value(row, "source") == EXTRAPOLATED
}

/// Three significant digits of a fraction, all digits of a whole number, with thousands separators.
fn shown(value: &Value) -> String {
    let number = match value {
        Value::Null => return "–".into(),
        Value::String(text) => return text.clone(),
        other => other.as_f64().unwrap_or(f64::NAN),
    };
    if number == 0.0 {
        return "0".into();
    }
    // Whole numbers are lengths or counts.
    let digits = if value.is_u64() || number.abs() >= 1000.0 {
        format!("{number:.0}")
    } else {
        // Rounded first: 0.9999 becomes 1.00.
        let number: f64 = format!("{number:.2e}").parse().unwrap_or(number);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // from 0 to 12
        let decimals = (2.0 - number.abs().log10().floor()).clamp(0.0, 12.0) as usize;
        return format!("{number:.decimals$}");
    };
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::super::measurements::{MeasuredEngine, Measurement};
    use super::super::published::Spread;
    use super::super::tables::Size;
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    fn single(engine: MeasuredEngine, length: usize, seconds: f64) -> Measurement {
        Measurement::Single {
            engine,
            length,
            seconds: vec![seconds, seconds],
            bytes: [1_000_000, 2_000_000],
        }
    }

    #[test]
    fn measured_and_extrapolated_numbers_are_in_separate_tables() {
        let measurements = [
            single(MeasuredEngine::Garbled, 100, 0.02),
            single(MeasuredEngine::Paillier(512), 10, 0.01),
            single(MeasuredEngine::Paillier(512), 20, 0.04),
            Measurement::Full {
                data: "Salient360".into(),
                engine: MeasuredEngine::Garbled,
                comparisons: 70_796,
                cells: 1000,
                seconds: 7.5,
                bytes: [1, 2],
            },
        ];
        let sizes = [Size {
            name: "yours",
            comparisons: 4,
            cells: Spread {
                mean: 100.0,
                deviation: 1.0,
            },
        }];
        let header = Header {
            version: 1,
            seed: 1,
            quick: true,
            machine: "a machine".into(),
            cores: 2,
            own_cohorts: None,
        };
        let text = render(
            &Tables::new(&measurements, &sizes),
            &Origin {
                header: &header,
                command: "the command",
                time: Some(UNIX_EPOCH + Duration::from_secs(951_827_696)),
            },
        );
        for part in [
            "Measured on 2000-02-29 by `the command`",
            "a machine, 2 cores",
            "quick run",
            "| one comparison of 100 × 100 letters | garbled | 0.0200 | – |",
            "| one comparison of 100 × 100 letters | paillier 512 | 1.00 | 58.5 |",
            "| 70,796 comparisons with the lengths of Salient360 | garbled | 7.50 | 10,569,843 |",
            "| 20 | paillier 512 | 2 | 0.0400 ± 0 | 2.27 ± 0.0900 | 56.8 |",
            "not measured**:\n\n| length | engine | seconds |",
            "| 100 | paillier 512 | 1.00 | 58.5 ± 7.64 | 58.5 |",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        // No table contains both measured and extrapolated numbers.
        let parts: Vec<&str> = text.split("Extrapolated from").collect();
        assert!(parts.len() > 1, "{text}");
        for part in &parts[1..] {
            let rows = part.split("###").next().unwrap_or_default();
            assert!(!rows.contains("| 2 |"), "a number of comparisons in {rows}");
        }
    }
}

//! The tables as Markdown, to paste into a document: what was measured and what was extrapolated in tables of their own, the
//! paper's numbers beside ours, and how all of it was made.

use super::record::Header;
use super::tables::{TRAFFIC_LENGTH, Table, Tables};
use serde_json::Value;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// What the summary says of the run itself.
pub(super) struct Origin<'a> {
    pub(super) header: &'a Header,
    /// The command that makes it again.
    pub(super) command: String,
    /// When the last measurement ended.
    pub(super) time: Option<SystemTime>,
}

/// A column of ours: its heading, the columns of the table that it shows (a mean, or a mean and its deviation), and what they
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

/// How a row says that its numbers are not measured.
const EXTRAPOLATED: &str = "extrapolated";

/// The size of the matrix whose orders the paper counts.
const OF_THE_PAPERS_ORDERS: u32 = super::published::ORDERS.0;

/// What stands above a table.
const MEASURED: &str = "Measured";
const DERIVED: &str = "Extrapolated from the measured cost per cell, **not measured**";

const TIMES: &[Column] = &[
    column("letters of each", &["length"]),
    column("engine", &["engine"]),
    column("comparisons", &["comparisons"]),
    column("seconds", &["seconds", "deviation"]),
    column("the paper's seconds", &["paper_seconds", "paper_deviation"]),
    column("times as fast", &["times_faster"]),
];

const CELLS: &[Column] = &[
    column("engine", &["engine"]),
    scaled("µs on the clock", &["seconds"], MICRO),
    scaled("Alice, µs", &["alice_seconds"], MICRO),
    scaled("Bob, µs", &["bob_seconds"], MICRO),
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
    scaled("Alice sends, MB", &["alice_bytes"], MEGA),
    scaled("Bob sends, MB", &["bob_bytes"], MEGA),
    column("together, MB", &["megabytes"]),
    column("the paper's, MB", &["paper_megabytes"]),
];

const CANDIDATES: &[Column] = &[
    column("letters of each", &["length"]),
    column("candidates", &["candidates", "deviation"]),
    column("the paper's", &["paper_candidates"]),
];

const ORDERS: &[Column] = &[
    column("letters of each", &["length"]),
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

const WHOLE: &[Column] = &[
    column("data", &["data"]),
    column("engine", &["engine"]),
    column("", &["how"]),
    column("comparisons", &["comparisons"]),
    column("cells", &["cells"]),
    column("seconds", &["seconds"]),
    column("MB", &["megabytes"]),
    column("the paper's comparisons", &["paper_comparisons"]),
    column(
        "days for as many at the paper's pace, 2048 bits",
        &["paper_days_at_2048"],
    ),
];

/// The whole file. Its headings start at the third level, so that it fits below a heading of its reader's.
pub(super) fn render(tables: &Tables, origin: &Origin<'_>) -> String {
    let mut text = String::new();
    let header = origin.header;
    let quick = if header.quick {
        " **This is a quick look: few and short measurements, and parts of the data sets.**"
    } else {
        ""
    };
    let date = origin.time.map_or("an unknown day".into(), date);
    let _ = writeln!(
        text,
        "Measured on {date} by `{}` (veilpath {}) on one machine: {}, {} cores. Both parties ran on it, over TLS on loopback; \
         keys were made beforehand, everything else is in the times.{quick} A number after ± is the standard deviation. The \
         paper's numbers were made on its authors' machine.",
        origin.command,
        env!("CARGO_PKG_VERSION"),
        header.machine,
        header.cores,
    );
    headline(tables, &mut text);
    for table in &tables.0 {
        let (heading, columns) = match table.name {
            "times" => ("Time of one comparison", TIMES),
            "cells" => ("Time of a cell", CELLS),
            "traffic" => ("Traffic", TRAFFIC),
            "candidates" => ("Candidates", CANDIDATES),
            "orders" => ("Orders", ORDERS),
            "datasets" => ("Comparisons of the data sets", DATA_SETS),
            _ => ("Whole data sets", WHOLE),
        };
        // Of the figure with the orders, the curve that the paper speaks of.
        let wanted = |row: &&[Value]| table.name != "orders" || row[0] == OF_THE_PAPERS_ORDERS;
        let _ = write!(text, "\n### {heading}\n\n{}.\n", table.title);
        let rows: Vec<&[Value]> = table
            .rows
            .iter()
            .map(Vec::as_slice)
            .filter(wanted)
            .collect();
        let (derived, measured): (Vec<&[Value]>, Vec<&[Value]>) = rows
            .into_iter()
            .partition(|row| is_extrapolated(table, row));
        if !measured.is_empty() {
            put(&mut text, table, columns, MEASURED, &measured);
        }
        if !derived.is_empty() {
            put(&mut text, table, columns, DERIVED, &derived);
        }
    }
    text
}

/// What to tell first: one comparison of a hundred letters, and whole data sets.
fn headline(tables: &Tables, text: &mut String) {
    let of = |name: &str| tables.0.iter().find(|table| table.name == name);
    let (mut measured, mut derived) = (Vec::new(), Vec::new());
    if let Some(table) = of("times") {
        for row in &table.rows {
            let value = |name: &str| value(table, row, name);
            if value("length").as_u64() != Some(TRAFFIC_LENGTH as u64) {
                continue;
            }
            let rows = match is_extrapolated(table, row) {
                true => &mut derived,
                false => &mut measured,
            };
            rows.push([
                format!("one comparison of {TRAFFIC_LENGTH} × {TRAFFIC_LENGTH} letters"),
                shown(&value("engine")),
                shown(&value("seconds")),
                shown(&value("paper_seconds")),
            ]);
        }
    }
    if let Some(table) = of("whole") {
        for row in &table.rows {
            let value = |name: &str| value(table, row, name);
            let days = value("paper_days_at_2048").as_f64();
            measured.push([
                format!(
                    "{} comparisons with the lengths of {}",
                    shown(&value("comparisons")),
                    shown(&value("data"))
                ),
                shown(&value("engine")),
                shown(&value("seconds")),
                days.map_or("–".into(), |days| shown(&Value::from(days * 86_400.0))),
            ]);
        }
    }
    text.push_str("\n### In short\n");
    for (label, rows) in [(MEASURED, measured), (DERIVED, derived)] {
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
        "\nThe paper's seconds for whole data sets are its mean per comparison with a key of 2048 bits, times the comparisons.\n",
    );
}

fn put(text: &mut String, table: &Table, columns: &[Column], label: &str, rows: &[&[Value]]) {
    let number_of_comparisons = |column: &&Column| column.sources != ["comparisons"];
    let extrapolated = rows.iter().any(|row| is_extrapolated(table, row));
    let columns: Vec<&Column> = columns
        .iter()
        .filter(|column| !extrapolated || number_of_comparisons(column))
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
        let value = value(table, row, name);
        match value.as_f64() {
            Some(number) if column.factor != 1.0 => Value::from(number * column.factor),
            _ => value,
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
    // A cell of a table must not end it.
    parts.join(" ± ").replace('|', "\\|")
}

fn value(table: &Table, row: &[Value], name: &str) -> Value {
    let place = table.columns.iter().position(|column| *column == name);
    let value = place.and_then(|place| row.get(place));
    value.cloned().unwrap_or(Value::Null)
}

fn is_extrapolated(table: &Table, row: &[Value]) -> bool {
    value(table, row, "how") == EXTRAPOLATED
}

/// Three digits of a fraction, all of a whole number, in groups of three.
fn shown(value: &Value) -> String {
    let number = match value {
        Value::Null => return "–".into(),
        Value::String(text) => return text.clone(),
        other => other.as_f64().unwrap_or(f64::NAN),
    };
    if number == 0.0 {
        return "0".into();
    }
    // A whole number is a length or a count.
    let digits = if value.is_u64() || number.abs() >= 1000.0 {
        format!("{number:.0}")
    } else {
        // Rounded first: 0.9999 is 1.00.
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

/// The day in Greenwich, as year, month and day.
fn date(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let mut days = since.as_secs() / 86_400;
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

#[cfg(test)]
mod tests {
    use super::super::published::Spread;
    use super::super::record::{Measured, Record};
    use super::super::tables::Size;
    use super::*;
    use std::time::Duration;

    fn alone(engine: Measured, length: usize, seconds: f64) -> Record {
        Record::Alone {
            engine,
            length,
            seconds: vec![seconds, seconds],
            bytes: [1_000_000, 2_000_000],
        }
    }

    #[test]
    fn measured_and_extrapolated_numbers_stand_apart_beside_the_papers() {
        let records = [
            alone(Measured::Garbled, 100, 0.02),
            alone(Measured::Paillier(512), 10, 0.01),
            alone(Measured::Paillier(512), 20, 0.04),
            Record::Whole {
                data: "Salient360".into(),
                engine: Measured::Garbled,
                comparisons: 70_796,
                cells: 1000,
                seconds: 7.5,
                bytes: [1, 2],
            },
        ];
        let sizes = [Size {
            name: "yours".into(),
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
            cohorts: None,
        };
        let text = render(
            &Tables::new(&records, &sizes),
            &Origin {
                header: &header,
                command: "veilpath bench paper --quick -o FOLDER".into(),
                time: Some(UNIX_EPOCH + Duration::from_secs(951_827_696)),
            },
        );
        for part in [
            "Measured on 2000-02-29 by `veilpath bench paper --quick -o FOLDER`",
            "a machine, 2 cores",
            "quick look",
            "| one comparison of 100 × 100 letters | garbled | 0.0200 | – |",
            "| one comparison of 100 × 100 letters | paillier 512 | 1.00 | 58.5 |",
            "| 70,796 comparisons with the lengths of Salient360 | garbled | 7.50 | 10,569,843 |",
            "| 20 | paillier 512 | 2 | 0.0400 ± 0 | 2.27 ± 0.0900 | 56.8 |",
            "not measured**:\n\n| letters of each | engine | seconds |",
            "| 100 | paillier 512 | 1.00 | 58.5 ± 7.64 | 58.5 |",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        // No table holds both kinds: what follows a label goes to the next one.
        let parts: Vec<&str> = text.split("Extrapolated from").collect();
        assert!(parts.len() > 1, "{text}");
        for part in &parts[1..] {
            let rows = part.split("###").next().unwrap_or_default();
            assert!(!rows.contains("| 2 |"), "a number of comparisons in {rows}");
        }
    }

    #[test]
    fn days_are_told_as_calendars_tell_them() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_400, "2000-02-29"),
            (1_709_251_199, "2024-02-29"),
            (1_709_251_200, "2024-03-01"),
            (1_798_761_599, "2026-12-31"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), day);
        }
    }
}

//! The measurements as text, CSV and JSON.

use super::Case;
use super::process::SideReport;
use serde::Serialize;
use std::fmt::Write as _;
use veilpath_protocol::{Engine, EngineChoice, TreeLevels};

/// All measurements of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The metric's name.
    pub metric: &'static str,
    /// The size of the alphabet.
    pub letters: u32,
    /// Why a relay limits the rates, instead of the kernel between two network namespaces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relay_reason: Option<String>,
    /// The measurements.
    pub rows: Vec<Row>,
}

/// What limits the rate of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Limiter {
    /// The kernel, configured by `tc`, between two network namespaces.
    Tc,
    /// The relay.
    Relay,
}

/// One engine over one connection. The field names are those of JSON and CSV.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The engine.
    pub engine: String,
    /// The levels of the seed trees of `shares`, which both sides agree on.
    pub tree_levels: Option<TreeLevels>,
    /// Megabits per second in each direction; `None` is loopback.
    pub megabits_per_second: Option<u32>,
    /// What limits it.
    pub limited_by: Option<Limiter>,
    /// The round-trip time in milliseconds.
    pub round_trip_ms: u32,
    /// The number of comparisons.
    pub comparisons: u64,
    /// Matrix cells of all comparisons.
    pub cells: u64,
    /// Wall-clock time from the joining side's first packet to its outcome.
    pub seconds: f64,
    /// The estimate that both sides had before they started.
    pub estimated_seconds: f64,
    /// CPU time of the host's process; `None` where the system does not report it.
    pub host_cpu_seconds: Option<f64>,
    /// The same for the joining side.
    pub join_cpu_seconds: Option<f64>,
    /// Bytes that the host sent, per cell.
    pub host_bytes_per_cell: f64,
    /// Bytes that the joining side sent, per cell.
    pub join_bytes_per_cell: f64,
    /// Peak memory of the host's process in megabytes; `None` where the system does not report it.
    pub host_memory_megabytes: Option<f64>,
    /// The same for the joining side.
    pub join_memory_megabytes: Option<f64>,
}

impl Row {
    pub(super) fn new(
        case: &Case,
        in_namespaces: bool,
        host: &SideReport,
        join: &SideReport,
    ) -> Self {
        let cells = host.cells.max(1) as f64;
        let megabytes = |side: &SideReport| side.peak_memory.map(|bytes| bytes as f64 / 1e6);
        Self {
            engine: match (case.engine, host.engine) {
                (EngineChoice::Auto, engine) => format!("auto: {}", engine.name()),
                (_, Engine::Paillier(options)) => {
                    format!("paillier {}", options.key_size().bits())
                }
                (_, engine) => engine.name().into(),
            },
            tree_levels: host.tree_levels,
            megabits_per_second: case.rate,
            limited_by: case.rate.map(|_| match in_namespaces {
                true => Limiter::Tc,
                false => Limiter::Relay,
            }),
            round_trip_ms: case.round_trip,
            comparisons: host.comparisons,
            cells: host.cells,
            seconds: join.seconds,
            estimated_seconds: join.estimated_seconds,
            host_cpu_seconds: host.cpu_seconds,
            join_cpu_seconds: join.cpu_seconds,
            host_bytes_per_cell: host.bytes[0] as f64 / cells,
            join_bytes_per_cell: host.bytes[1] as f64 / cells,
            host_memory_megabytes: megabytes(host),
            join_memory_megabytes: megabytes(join),
        }
    }

    /// A description of the connection.
    fn connection(&self) -> String {
        match (self.megabits_per_second, self.limited_by) {
            (None, _) => "loopback".into(),
            (Some(rate), Some(Limiter::Relay)) => format!("{rate} Mbit/s (relay)"),
            (Some(rate), _) => format!("{rate} Mbit/s"),
        }
    }
}

const COLUMNS: [&str; 15] = [
    "engine",
    "tree_levels",
    "megabits_per_second",
    "limited_by",
    "round_trip_ms",
    "comparisons",
    "cells",
    "seconds",
    "estimated_seconds",
    "host_cpu_seconds",
    "join_cpu_seconds",
    "host_bytes_per_cell",
    "join_bytes_per_cell",
    "host_memory_megabytes",
    "join_memory_megabytes",
];

/// Explains the columns of the table.
const LEGEND: &str = "\
seconds: of the whole session; estimated: before it started; CPU: seconds of each side; sends: bytes per matrix cell; \
memory: the most of each side, in MB
";

impl Report {
    /// The report as one JSON object.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(self)
    }

    /// A CSV row for each measurement.
    pub fn csv(&self) -> serde_json::Result<String> {
        let mut text = COLUMNS.join(",");
        for row in &self.rows {
            let row = serde_json::to_value(row)?;
            for (at, column) in COLUMNS.iter().enumerate() {
                text.push(if at == 0 { '\n' } else { ',' });
                match &row[*column] {
                    serde_json::Value::Null => {}
                    // Names in this crate contain neither commas nor quotes.
                    serde_json::Value::String(name) => text.push_str(name),
                    number => {
                        let _ = write!(text, "{number}");
                    }
                }
            }
        }
        text.push('\n');
        Ok(text)
    }

    /// The report as human-readable text.
    pub fn table(&self) -> String {
        let mut text = format!("{}, {} letters\n", self.metric, self.letters);
        if let Some(reason) = &self.relay_reason {
            let _ = writeln!(
                text,
                "rates are limited by a relay, not between network namespaces: {reason}"
            );
        }
        let heading = [
            "engine",
            "tree levels",
            "connection",
            "round trip",
            "comparisons",
            "cells",
            "seconds",
            "estimated",
            "host CPU",
            "join CPU",
            "host sends",
            "join sends",
            "host memory",
            "join memory",
        ];
        let optional = |value: Option<f64>, decimals: usize| match value {
            Some(value) => format!("{value:.decimals$}"),
            None => "–".into(),
        };
        let mut rows = vec![heading.map(String::from)];
        rows.extend(self.rows.iter().map(|row| {
            [
                row.engine.clone(),
                row.tree_levels
                    .map_or_else(|| "–".into(), |levels| u8::from(levels).to_string()),
                row.connection(),
                format!("{} ms", row.round_trip_ms),
                row.comparisons.to_string(),
                row.cells.to_string(),
                format!("{:.2}", row.seconds),
                format!("{:.2}", row.estimated_seconds),
                optional(row.host_cpu_seconds, 2),
                optional(row.join_cpu_seconds, 2),
                format!("{:.1}", row.host_bytes_per_cell),
                format!("{:.1}", row.join_bytes_per_cell),
                optional(row.host_memory_megabytes, 0),
                optional(row.join_memory_megabytes, 0),
            ]
        }));
        let width = |column: usize| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0)
        };
        for row in &rows {
            let mut line = String::new();
            for (column, field) in row.iter().enumerate() {
                let width = width(column);
                // Names are aligned to the left, numbers to the right.
                let _ = match column {
                    0 | 2 => write!(line, "{field:<width$}  "),
                    _ => write!(line, "{field:>width$}  "),
                };
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
        text.push_str(LEGEND);
        text
    }
}

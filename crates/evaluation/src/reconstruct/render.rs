//! The report as text, CSV, JSON and Markdown.

use super::{Report, Row};
use serde_json::json;
use std::fmt::Write as _;

impl Row {
    /// The cells of a row in a human-readable table.
    fn cells(&self) -> [String; 9] {
        let count = |count: Option<usize>| count.map_or("-".into(), |count| count.to_string());
        [
            self.metric.clone(),
            self.reveal.clone(),
            self.length.to_string(),
            self.attack.to_string(),
            count(self.median),
            count(self.maximum),
            format!("{:.0} %", 100.0 * self.reconstructed),
            format!("{:.1}", self.bound),
            self.default_limit
                .map_or("-".into(), |limit| limit.to_string()),
        ]
    }
}

const HEADINGS: [&str; 9] = [
    "metric", "reveals", "length", "attack", "median", "most", "found", "bound", "limit",
];

/// Which columns contain numbers; these are aligned to the right.
const NUMBERS: [bool; 9] = [false, false, true, false, true, true, true, true, true];

impl Report {
    /// The report as human-readable text.
    pub fn table(&self) -> String {
        let cells: Vec<[String; 9]> = self.rows.iter().map(Row::cells).collect();
        let width = |column: usize| {
            let widths = cells.iter().map(|row| row[column].chars().count());
            widths.max().unwrap_or(0).max(HEADINGS[column].len())
        };
        let mut text = format!(
            "comparisons that reconstruct a scanpath of {} letters, {} repetitions\n\n",
            self.options.alphabet.size(),
            self.options.repetitions
        );
        for row in std::iter::once(&HEADINGS.map(String::from)).chain(&cells) {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                let width = width(column);
                let _ = if NUMBERS[column] {
                    write!(line, "{cell:>width$}  ")
                } else {
                    write!(line, "{cell:width$}  ")
                };
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text.push_str(
            "\nmedian, most: comparisons for each scanpath; found: scanpaths of which every letter was right;\n\
             bound: comparisons that every attack needs on average; limit: the default limit per scanpath\n",
        );
        text
    }

    /// The report as a table in Markdown.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String; 9]| {
            format!("| {} |\n", cells.join(" | ").replace("|a-b|", "\\|a−b\\|"))
        };
        let mut text = line(&HEADINGS.map(String::from));
        text.push_str("|---|---|---|---|---|---|---|---|---|\n");
        for row in &self.rows {
            text.push_str(&line(&row.cells()));
        }
        text
    }

    /// The report as CSV, with one row for each attack.
    pub fn csv(&self) -> String {
        let mut text = String::from(
            "metric,reveals,length,attack,adaptive,median,most,reconstructed,bound,default_limit\n",
        );
        for row in &self.rows {
            let count = |count: Option<usize>| count.map_or(String::new(), |it| it.to_string());
            let _ = writeln!(
                text,
                "\"{}\",{},{},{},{},{},{},{},{},{}",
                row.metric,
                row.reveal,
                row.length,
                row.attack,
                row.adaptive,
                count(row.median),
                count(row.maximum),
                row.reconstructed,
                row.bound,
                row.default_limit
                    .map_or(String::new(), |limit| limit.to_string()),
            );
        }
        text
    }

    /// The report as one JSON object.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string(&json!({
            "letters": self.options.alphabet.size(),
            "hidden_lengths": self.options.hidden_lengths,
            "repetitions": self.options.repetitions,
            "seed": self.options.seed,
            "rows": self.rows,
        }))
    }
}

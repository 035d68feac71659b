//! The summary as text: what was read, used and dropped.

use crate::hints::encode::{flag, with_flags};
use std::fmt::Write;
use veilpath::encode::{ColumnRoles, DetectedCount, Dropped, EncodeField, EncodeNote, Summary};
use veilpath::units::{counted, first_of, grouped};

/// The summary as human-readable text.
pub(super) fn text(summary: &Summary) -> String {
    let mut lines = Lines::default();
    let mut formats: Vec<String> = Vec::new();
    for file in &summary.files {
        let named = format!("{} ({})", file.title, file.format);
        if !formats.contains(&named) {
            formats.push(named);
        }
    }
    lines.add("format", &formats.join(", "));
    if summary.files.len() > 1 {
        lines.add("files", &summary.files.len().to_string());
    }
    for columns in columns(summary) {
        lines.add("columns", &columns);
    }
    lines.add("rows read", &grouped(summary.rows_read));
    lines.add("rows used", &grouped(summary.rows_used));
    lines.add(
        "not used",
        &not_used(summary.rows_not_used(), &summary.reasons()),
    );
    if !summary.unrequested_events.is_empty() {
        let labels = summary.unrequested_events.iter();
        let labels = labels.map(|(label, count)| format!("{} {label}", grouped(*count)));
        let labels: Vec<String> = labels.collect();
        let text = format!("not used: {}", labels.join(", "));
        lines.add("labels", &with_flags(&text, &[EncodeField::Events]));
    }
    if summary.removed_runs > 0 {
        let runs = format!("{} shorter than the minimum dwell", summary.removed_runs);
        lines.add("short runs", &runs);
    }
    if let Some(detected) = &summary.detected {
        lines.add("detected", &detected_fixations(detected));
    }
    lines.add("scanpaths", &scanpaths(summary));
    if !summary.groups.is_empty() {
        let groups = summary.groups.iter();
        let groups = groups.map(|(name, size)| format!("{name} {size}"));
        lines.add("groups", &first_of(groups, 12));
    }
    lines.add("length", &length(summary));
    if let Some(kept) = summary.fixations_kept {
        let fixations = counted(kept as u64, "fixation");
        let text = format!("{fixations}, with positions and times, beside the letters");
        lines.add("kept", &text);
    }
    for assumption in &summary.assumed {
        let text = with_flags(&assumption.text, &assumption.changed_by);
        let files = summary.files_of(assumption).into_iter().map(str::to_string);
        match files.len() {
            0 => lines.add("assumed", &text),
            _ => lines.add("assumed", &format!("{}: {text}", first_of(files, 3))),
        }
    }
    for note in &summary.notes {
        let text = match note {
            EncodeNote::NoEffect { field, .. } => format!("{} {note}", flag(*field)),
            note => with_flags(&note.to_string(), &summary.fields_of(note)),
        };
        lines.add("note", &text);
    }
    lines.0
}

/// What was used and assumed of each of several files; [`text`] says it of a single one.
pub(super) fn files(summary: &Summary) -> String {
    let mut lines = Lines::default();
    if summary.files.len() < 2 {
        return lines.0;
    }
    for file in &summary.files {
        let (used, read) = (grouped(file.rows_used), counted(file.rows_read, "row"));
        lines.add("file", &format!("{}: {used} of {read} used", file.file));
        if let Some(columns) = &file.columns {
            lines.add("columns", &roles(columns, columns.not_used.len()));
        }
        for assumption in &file.assumed {
            let text = with_flags(&assumption.text, &assumption.changed_by);
            lines.add("assumed", &text);
        }
    }
    lines.0
}

fn length(summary: &Summary) -> String {
    let (least, most) = (summary.min_length, summary.max_length);
    match summary.scanpaths {
        1 => counted(most as u64, "letter"),
        _ if least == most => format!("{} each", counted(most as u64, "letter")),
        _ => format!(
            "{:.1} letters on average, {least} to {most}",
            summary.mean_length
        ),
    }
}

/// What a detector found, with its settings.
fn detected_fixations(detected: &DetectedCount) -> String {
    let parameters: Vec<String> = detected
        .parameters()
        .map(|(name, value)| format!("{name} {value}"))
        .collect();
    let dropped = match detected.not_used() {
        0 => String::new(),
        count => format!("; not used: {}", not_used(count, &detected.reasons())),
    };
    format!(
        "{} by {}: {}{dropped}",
        counted(detected.fixations, "fixation"),
        detected.detector(),
        parameters.join(", ")
    )
}

/// The roles of the columns, once for all files with the same roles.
fn columns(summary: &Summary) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for columns in summary
        .files
        .iter()
        .filter_map(|file| file.columns.as_ref())
    {
        let line = roles(columns, 12);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    const MAX_LINES: usize = 3;
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!(
            "and {more} other layouts (--summary json lists all)"
        ));
    }
    lines
}

/// The columns with a role, and the first `shown` of the others.
fn roles(columns: &ColumnRoles, shown: usize) -> String {
    let used = columns.used.iter();
    let used: Vec<String> = used
        .map(|one| format!("{}={}", one.role, one.column))
        .collect();
    let used = used.join(" ");
    match columns.not_used.is_empty() {
        true => used,
        false => {
            let not_used = first_of(columns.not_used.iter().cloned(), shown);
            format!("{used}; not used: {not_used}")
        }
    }
}

fn scanpaths(summary: &Summary) -> String {
    let mut text = format!(
        "{} of {}",
        grouped(summary.scanpaths as u64),
        counted(summary.participants as u64, "participant")
    );
    if summary.stimuli > 0 {
        let word = if summary.stimuli == 1 {
            "stimulus"
        } else {
            "stimuli"
        };
        text.push_str(&format!(" on {} {word}", grouped(summary.stimuli as u64)));
    } else if summary.scanpaths > 0 {
        let fields = [
            EncodeField::StimulusColumn,
            EncodeField::Stimulus,
            EncodeField::NamePattern,
        ];
        let fields = fields.into_iter();
        let fields: Vec<_> = fields.filter(|field| summary.accepts.has(*field)).collect();
        text.push_str(&with_flags(", without a stimulus", &fields));
    }
    if summary.empty > 0 {
        let empty = format!(", {} empty (--drop-empty leaves them out)", summary.empty);
        text.push_str(&empty);
    }
    if summary.empty_left_out > 0 {
        text.push_str(&format!(", {} empty left out", summary.empty_left_out));
    }
    text
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, label: &str, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.0, "{label:<11}{text}");
    }
}

/// `7 (4 of another event; 3 outside the stimulus)`.
fn not_used(all: u64, reasons: &[(Dropped, u64)]) -> String {
    let reasons = reasons.iter();
    let reasons = reasons.map(|&(it, count)| format!("{} {it}", grouped(count)));
    counted_parts(all, reasons)
}

/// `7 (4 of this; 3 of that)`.
fn counted_parts(all: u64, parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match parts.len() {
        0 => grouped(all),
        _ => format!("{} ({})", grouped(all), parts.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use veilpath::encode::{Assumption, ColumnRole, FileSummary, NoEffect};

    #[test]
    fn the_summary_is_aligned() {
        let file = FileSummary {
            title: "a table".into(),
            format: "table".into(),
            columns: Some(ColumnRoles {
                used: vec![ColumnRole {
                    role: "x",
                    column: "gaze_x".into(),
                }],
                not_used: vec!["pupil".into()],
            }),
            ..FileSummary::default()
        };
        let summary = Summary {
            rows_read: 7,
            rows_used: 4,
            dropped: [(Dropped::Lost, 1), (Dropped::OtherEvent, 2)].into(),
            unrequested_events: [("SACC".to_string(), 2)].into(),
            scanpaths: 3,
            mean_length: 7.0 / 3.0,
            max_length: 4,
            empty: 1,
            participants: 2,
            stimuli: 1,
            detected: Some(DetectedCount {
                settings: [
                    ("detect", "idt"),
                    ("dispersion", "1 deg"),
                    ("min-duration", "100 ms"),
                ]
                .map(|(name, value)| (name.to_string(), value.to_string()))
                .into(),
                fixations: 9,
                dropped: [(Dropped::Outside, 2)].into(),
            }),
            fixations_kept: Some(1700),
            assumed: vec![Assumption {
                text: "pixels".into(),
                changed_by: vec![EncodeField::Units],
            }],
            notes: vec![EncodeNote::NoEffect {
                field: EncodeField::Rate,
                reason: NoEffect::OnlyFixations,
            }],
            files: vec![file],
            ..Summary::default()
        };
        let expected = "\
format     a table (table)
columns    x=gaze_x; not used: pupil
rows read  7
rows used  4
not used   3 (2 of other events, such as saccades, blinks or samples; 1 lost: no coordinates, a blink or confidence 0)
labels     not used: 2 SACC (--events)
detected   9 fixations by idt: dispersion 1 deg, min-duration 100 ms; not used: 2 (2 outside the stimulus)
scanpaths  3 of 2 participants on 1 stimulus, 1 empty (--drop-empty leaves them out)
length     2.3 letters on average, 0 to 4
kept       1,700 fixations, with positions and times, beside the letters
assumed    pixels (--units)
note       --rate has no effect: it is for raw gaze, and all rows are fixations
";
        assert_eq!(text(&summary), expected);
    }

    #[test]
    fn each_file_has_its_own_assumptions() {
        let assumed = |text: &str| Assumption {
            text: text.into(),
            changed_by: vec![EncodeField::Units],
        };
        let file = |name: &str, text: &str| FileSummary {
            file: name.into(),
            rows_read: 3,
            rows_used: 2,
            assumed: vec![assumed(text), assumed("both")],
            ..FileSummary::default()
        };
        let summary = Summary {
            assumed: ["pixels", "both", "fractions"].map(assumed).into(),
            files: vec![file("a.csv", "pixels"), file("b.csv", "fractions")],
            ..Summary::default()
        };
        let lines = text(&summary);
        for line in [
            "\nassumed    a.csv: pixels (--units)\n",
            "\nassumed    both (--units)\n",
            "\nassumed    b.csv: fractions (--units)\n",
        ] {
            assert!(lines.contains(line), "{lines}");
        }
        let details = "\
file       a.csv: 2 of 3 rows used
assumed    pixels (--units)
assumed    both (--units)
file       b.csv: 2 of 3 rows used
assumed    fractions (--units)
assumed    both (--units)
";
        assert_eq!(files(&summary), details);
    }

    #[test]
    fn equal_lengths_are_printed_once() {
        let of = |scanpaths, least, most| {
            length(&Summary {
                scanpaths,
                min_length: least,
                max_length: most,
                mean_length: 2.0,
                ..Summary::default()
            })
        };
        assert_eq!(of(1, 109, 109), "109 letters");
        assert_eq!(of(1, 1, 1), "1 letter");
        assert_eq!(of(3, 2, 2), "2 letters each");
        assert_eq!(of(2, 1, 3), "2.0 letters on average, 1 to 3");
    }
}

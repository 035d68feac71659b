//! Ids that would control a terminal, pass for others, or be evaluated by a spreadsheet, in every format.

#![allow(clippy::unwrap_used)] // test helpers may panic

mod common;

use common::{outcome, spec};
use std::io::{self, Write};
use veilpath_metrics::text::is_unprintable;
use veilpath_protocol::{GroupAnswer, GroupMeans, Outcome, Value};
use veilpath_report::{ResultFile, csv, html, json, table};

/// 7-bit and 8-bit escape sequences, a bell, line breaks, and invisible characters that reverse the writing direction.
const TERMINAL_CONTROLS: [&str; 8] = [
    "\u{1b}[2J",
    "\u{9b}2J",
    "\u{7}",
    "a\rb",
    "a\nb",
    "\u{202e}gpj.exe",
    "a\u{2066}b",
    "\u{7f}\u{200f}",
];

const FORMULAS: [&str; 7] = [
    "=HYPERLINK(\"http://x\",\"y\")",
    "+1+1",
    "-2+3",
    "@SUM(1)",
    "'=1",
    "x;=1+1",
    "＝1",
];

/// Umlauts, right-to-left letters and numbers are ordinary ids.
const ORDINARY: [&str; 5] = ["Müller, A.", "עברית", "العربية", "東京", "-5"];

fn with_ids(ids: &[&str]) -> Outcome {
    let values = [Value::Number(-3.5), Value::Number(0.25)];
    let rows: Vec<_> = ids.iter().map(|id| (*id, *id, *id, &values[..])).collect();
    let mut outcome = outcome(spec("score"), &rows);
    outcome.names = [ids[0].into(), ids[1].into()];
    let setting = ids[0].to_string();
    outcome.spec.encoding.insert("grid".into(), setting);
    outcome
}

/// A group answer with these names, and no pairs.
fn with_groups(names: &[&str]) -> Outcome {
    let mut outcome = with_ids(names);
    outcome.results.clear();
    let groups: Vec<String> = names.iter().map(|it| (*it).to_string()).collect();
    outcome.answers = vec![GroupAnswer::GroupMeans(GroupMeans {
        measure: "score".into(),
        stimulus: Some(names[0].into()),
        means: vec![vec![Some(-3.5); names.len()]; names.len()],
        counts: vec![vec![6; names.len()]; names.len()],
        intervals: Vec::new(),
        rows: groups.clone(),
        columns: groups,
    })];
    outcome
}

fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn no_format_contains_characters_that_control_a_terminal() {
    for outcome in [
        with_ids(&TERMINAL_CONTROLS),
        with_groups(&TERMINAL_CONTROLS),
    ] {
        assert_no_terminal_controls(&outcome);
    }
}

fn assert_no_terminal_controls(outcome: &Outcome) {
    let json = written(|out| json::write(outcome, out));
    let file = ResultFile::read(json.as_bytes()).unwrap();
    let report = html::Report::new(&file, html::Options::default()).unwrap();
    let row = TERMINAL_CONTROLS.map(String::from);
    for text in [
        written(|out| table::write(outcome, out)),
        written(|out| csv::write(outcome, out)),
        written(|out| csv::write_table(["x"; 8], [row.clone()], out)),
        written(|out| report.write_html(out)),
        match outcome.results.is_empty() {
            true => String::new(),
            false => written(|out| report.write_svg(out)),
        },
        table::summary(outcome),
        json.clone(),
    ] {
        let found = text.chars().find(|&c| c != '\n' && is_unprintable(c));
        assert_eq!(found, None, "{text:?}");
    }
    // JSON escapes them, so nothing is lost.
    assert_eq!(file.outcome(), Some(outcome));
    assert!(json.contains("\\u202e") && json.contains("\\u009b"));
}

#[test]
fn no_field_of_a_csv_file_is_a_formula() {
    let row = FORMULAS.map(String::from);
    for text in [
        written(|out| csv::write(&with_ids(&FORMULAS), out)),
        written(|out| csv::write(&with_groups(&FORMULAS), out)),
        written(|out| csv::write_table(["x"; 7], [row.clone()], out)),
    ] {
        for delimiter in [b',', b';'] {
            let mut reader = ::csv::ReaderBuilder::new();
            let reader = reader.delimiter(delimiter).flexible(true);
            for record in reader.from_reader(text.as_bytes()).records() {
                for field in record.unwrap().iter() {
                    let is_number = field.parse::<f64>().is_ok();
                    let starts = field.starts_with(['=', '+', '-', '@', '＝']);
                    assert!(is_number || !starts, "{field}");
                }
            }
        }
    }
}

#[test]
fn ids_are_the_same_after_they_are_read_back() {
    for ids in [&FORMULAS[..], &ORDINARY] {
        let outcome = with_ids(ids);
        let csv = written(|out| csv::write(&outcome, out));
        let json = written(|out| json::write(&outcome, out));
        assert!(csv.contains(",-3.5,0.25\n"), "{csv}");
        for text in [csv, json] {
            let file = ResultFile::read(text.as_bytes()).unwrap();
            assert_eq!(file.a(), ids);
            assert_eq!(file.b(), ids);
            assert_eq!(file.stimuli(), ids);
        }
    }
    let ordinary = with_ids(&ORDINARY);
    let table = written(|out| table::write(&ordinary, out));
    let csv = written(|out| csv::write(&ordinary, out));
    for id in ORDINARY {
        assert!(table.contains(id) && csv.contains(id), "{id}");
    }
}

//! Round trips of result files, and errors with line and column for malformed ones.
#![allow(clippy::unwrap_used, clippy::panic)] // test helpers may panic

mod common;

use veilpath_protocol::{MAX_TEXT_BYTES, Outcome, ResultFormatError, Value};
use veilpath_report::result_file::{PairRow, ResultFileError, ResultFormat};
use veilpath_report::{ResultFile, csv, json};

fn outcome() -> Outcome {
    let number = Value::Number;
    common::outcome(
        common::spec("score"),
        &[
            ("P1", "Q1", "cows", &[number(1.0), number(0.75)]),
            ("P,\"2", "=Q [31m2", "boat", &[number(3.0), Value::Missing]),
        ],
    )
}

type NamedRow = (String, String, Option<String>, Vec<Value>);

fn rows(file: &ResultFile) -> Vec<NamedRow> {
    let named = |row: PairRow<'_>| {
        let stimulus = row.stimulus.map(|at| file.stimuli()[at].clone());
        let (a, b) = (file.a()[row.a].clone(), file.b()[row.b].clone());
        (a, b, stimulus, row.values.to_vec())
    };
    file.rows().map(named).collect()
}

fn json(outcome: &Outcome) -> String {
    let mut bytes = Vec::new();
    json::write(outcome, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn refused(text: impl AsRef<[u8]>) -> String {
    ResultFile::read(text.as_ref()).unwrap_err().to_string()
}

#[test]
fn both_formats_round_trip() {
    let outcome = outcome();
    let expected: Vec<NamedRow> = outcome
        .rows()
        .map(|row| {
            let stimulus = row.stimulus.map(|name| name.to_string());
            (row.a.into(), row.b.into(), stimulus, row.values.to_vec())
        })
        .collect();
    let file = ResultFile::read(json(&outcome).as_bytes()).unwrap();
    assert_eq!(rows(&file), expected);
    assert_eq!(file.outcome(), Some(&outcome));
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    csv::write(&outcome, &mut bytes).unwrap();
    let file = ResultFile::read(bytes.as_slice()).unwrap();
    assert_eq!(rows(&file), expected);
    assert_eq!(file.outcome(), None);
}

#[test]
fn threshold_results_are_read() {
    let file = ResultFile::read(b"a,b,stimulus,within\np,q,,true\np,r,,false\n".as_slice());
    let values: Vec<Vec<Value>> = rows(&file.unwrap()).into_iter().map(|row| row.3).collect();
    assert_eq!(values, [[Value::Bit(true)], [Value::Bit(false)]]);
}

#[test]
fn several_measures_per_pair_are_read() {
    let text = "a,b,stimulus,shape,direction\np,q,,0.5,\n";
    let file = ResultFile::read(text.as_bytes()).unwrap();
    let names: Vec<&str> = file
        .measures()
        .iter()
        .map(|measure| measure.name.as_str())
        .collect();
    assert_eq!(names, ["shape", "direction"]);
    assert_eq!(rows(&file)[0].3, [Value::Number(0.5), Value::Missing]);
}

#[test]
fn files_without_rows_are_valid() {
    let file = ResultFile::read(b"a,b,stimulus,score,similarity\n".as_slice()).unwrap();
    assert!(file.is_empty());
    let mut hidden = outcome();
    hidden.results.clear();
    let file = ResultFile::read(json(&hidden).as_bytes()).unwrap();
    assert!(file.is_empty());
    assert_eq!(
        (file.a().len(), file.stimuli().len()),
        (2, 2),
        "who took part is known"
    );
}

#[test]
fn results_are_recognised_by_their_start() {
    let text = json(&outcome());
    assert_eq!(ResultFormat::of_start(&text), Some(ResultFormat::Json));
    assert_eq!(
        ResultFormat::of_start("a,b,stimulus,score\n"),
        Some(ResultFormat::Csv)
    );
    for other in ["", "{}", "participant,scanpath\n", "{\"other\": 1}"] {
        assert_eq!(ResultFormat::of_start(other), None, "{other}");
    }
}

#[test]
fn another_version_is_refused_by_its_number() {
    let text = json(&outcome()).replace("\"veilpath_result\": 2", "\"veilpath_result\": 9");
    let error = ResultFile::read(text.as_bytes()).unwrap_err();
    let ResultFileError::Format(ResultFormatError::Version { found, .. }) = error else {
        panic!("{error}");
    };
    assert_eq!(found, 9);
    let error = ResultFile::read(b"{\"results\": []}".as_slice()).unwrap_err();
    assert!(matches!(
        error,
        ResultFileError::Format(ResultFormatError::NotAResult)
    ));
}

#[test]
fn broken_json_is_refused_with_line_and_column() {
    let whole = json(&outcome());
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        whole.replacen(from, to, 1)
    };
    let long = "q".repeat(MAX_TEXT_BYTES + 1);
    for (text, expected) in [
        (String::new(), "the file is empty"),
        ("  \n ".into(), "the file is empty"),
        ("{}".into(), "this is not a result file"),
        (format!("{whole} x"), "trailing characters"),
        (
            whole.split_once("\"score\":1").unwrap().0.into(),
            "the file ends too early",
        ),
        (changed("\"score\":1", "\"score\":NaN"), "line 15, column"),
        (changed("\"score\":1", "\"score\":1e999"), "line 15, column"),
        (changed("\"score\":1", "\"score\":\"3\""), "line 15, column"),
        (changed("\"score\":1", "\"score\":1e31"), "line 15, column"),
        (changed("\"score\":1,", ""), "line 15, column"),
        (
            changed("\"similarity\":0.75", "\"similarity\":1.5"),
            "a number from 0 to 1",
        ),
        (
            changed(
                "\"participant\":\"P1\"",
                &format!("\"participant\":\"{long}\""),
            ),
            "an id has more than",
        ),
        (changed("\"a_index\":0", "\"a_index\":7"), "line 15, column"),
        (changed("\"seconds\":0.25", "\"seconds\":-1"), "the seconds"),
        (
            changed("\"engine\":\"plain\"", "\"engine\":\"\\u001b[2J\""),
            "unknown variant",
        ),
        (
            changed(
                "\"spec\": {",
                &format!("\"spec\": {{\"more\":{}", "[".repeat(100_000)),
            ),
            "line",
        ),
    ] {
        let message = refused(&text);
        assert!(message.contains(expected), "{message}\nfor {text:.200}");
        assert!(
            !message.contains('\u{1b}') && message.len() < 1000,
            "{message}"
        );
    }
}

#[test]
fn broken_csv_is_refused_with_line_and_column() {
    let rows = |rows: &str| format!("a,b,stimulus,score,similarity\np,q,,1,0.5\n{rows}\n");
    for (text, expected) in [
        (
            "participant,scanpath\np,ABC\n".to_string(),
            "this is not a result file",
        ),
        (
            "a;b;stimulus;score;similarity\n".into(),
            "this is not a result file",
        ),
        ("a,b,stimulus\n".into(), "this is not a result file"),
        (
            " a  b  stimulus  score\n p  q  cows      3\n".into(),
            "a .txt table cannot be read back; write .csv or .json",
        ),
        (rows("p,r,,x,"), "line 3, column 4: this is not a number"),
        (
            rows("p,r,,NaN,"),
            "line 3, column 4: this value must be a number between −1e30 and 1e30",
        ),
        (
            rows("p,r,,1,nan"),
            "line 3, column 5: this value must be a number from 0 to 1",
        ),
        (
            rows("p,r,,inf,1"),
            "line 3, column 4: this value must be a number between −1e30 and 1e30",
        ),
        (
            rows("p,r,,1,-2"),
            "line 3, column 5: this value must be a number from 0 to 1",
        ),
        (
            rows("p,r,1"),
            "line 3, column 3: 3 fields, where the first line has 5",
        ),
        (
            "a,b,within\np,q,yes\n".into(),
            "line 2, column 3: this is neither true nor false",
        ),
    ] {
        let message = refused(&text);
        assert!(message.contains(expected), "{message}\nfor {text}");
    }
    let message = refused(b"a,b,stimulus,score,similarity\np,\xff\xfe,,1,\n");
    assert_eq!(message, "line 2, column 2: this is not UTF-8 text");
}

/// Every prefix of a file, and every file with one byte changed, is either read or rejected without a panic.
#[test]
fn damaged_files_are_errors() {
    let outcome = outcome();
    for format in [json::write, csv::write] {
        let mut bytes = Vec::new();
        format(&outcome, &mut bytes).unwrap();
        for at in 0..bytes.len() {
            let _ = ResultFile::read(&bytes[..at]);
            for change in [0, b'"', b'}', b',', 0xff] {
                let mut damaged = bytes.clone();
                damaged[at] = change;
                let _ = ResultFile::read(damaged.as_slice());
            }
        }
    }
}

/// Parts that are kept as text are rejected while they are read.
#[test]
fn an_endless_field_is_refused() {
    use std::io::{Read, repeat};
    for part in ["spec", "answers"] {
        let start = format!("{{\"veilpath_result\": 2, \"{part}\": \"");
        let endless = start.as_bytes().chain(repeat(b'x'));
        let error = ResultFile::read(endless).unwrap_err();
        assert!(error.to_string().contains("too long"), "{error}");
    }
    let many = format!(
        "{{\"veilpath_result\": 2, \"spec\": [{}0]}}",
        "0,".repeat(1 << 22)
    );
    assert!(refused(many).contains("more than 2097152"));
}

#[test]
fn every_group_answer_round_trips() {
    let mut outcome = outcome();
    outcome.answers = common::every_answer();
    let file = ResultFile::read(json(&outcome).as_bytes()).unwrap();
    assert_eq!(file.outcome(), Some(&outcome));
    outcome.results.clear();
    let mut bytes = Vec::new();
    csv::write(&outcome, &mut bytes).unwrap();
    let start = std::str::from_utf8(&bytes).unwrap();
    assert_eq!(ResultFormat::of_start(start), Some(ResultFormat::Csv));
    let error = ResultFile::read(bytes.as_slice()).unwrap_err();
    assert!(matches!(error, ResultFileError::AnswersOnly), "{error}");
}

#[test]
fn broken_answers_are_refused_with_the_line_of_the_answer() {
    let mut outcome = outcome();
    outcome.answers = common::every_answer();
    let whole = json(&outcome);
    let line_of = |text: &str| 1 + whole.lines().position(|line| line.contains(text)).unwrap();
    for (from, to, words) in [
        ("\"p_value\":0.0312", "\"p_value\":1.5", "between 0 and 1"),
        ("\"counts\":[[25,30],", "\"counts\":[", "2 × 2"),
        ("\"low\":0.58", "\"low\":0.7", "lower end"),
        ("\"correct\":31", "\"correct\":32", "add up"),
        ("\"edges\":[0.0,0.25", "\"edges\":[0.5,0.25", "ascending"),
        (
            "\"majority\":\"controls\"",
            "\"majority\":\"x\"",
            "list of groups",
        ),
        ("\"minimum\":5", "\"maximum\":5", "unknown field"),
    ] {
        assert!(whole.contains(from), "{from}");
        let message = refused(whole.replacen(from, to, 1));
        let location = format!("line {}, column", line_of(from));
        assert!(
            message.contains(&location) && message.contains(words),
            "{message} for {from}, {location}"
        );
    }
    let mut many = outcome.clone();
    many.answers = vec![many.answers[0].clone(); 1025];
    let message = refused(json(&many));
    let location = format!("line {}, column", 1025 + line_of("experts") - 1);
    assert!(
        message.contains("1024") && message.starts_with(&location),
        "{message} at {location}"
    );
}

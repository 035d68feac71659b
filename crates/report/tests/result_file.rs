//! Result files read back: what was written comes again, and what is broken is refused with its place.
#![allow(clippy::unwrap_used, clippy::panic)] // a test's helpers may fail the test

use veilpath_metrics::{Alphabet, Cohort, Encoding, Entry, Metric};
use veilpath_protocol::{Engine, Outcome, PairRule, Spec, compare_locally};
use veilpath_report::result_file::{Answer, MAX_ID_BYTES};
use veilpath_report::{ResultFile, csv, json};

fn outcome() -> Outcome {
    let alphabet = Alphabet::letters(52).unwrap();
    let cohort = |rows: &[(&str, &str, &str)]| Cohort {
        alphabet,
        encoding: Encoding::default(),
        entries: rows
            .iter()
            .map(|(participant, stimulus, text)| Entry {
                participant: (*participant).to_string(),
                stimulus: Some((*stimulus).to_string()),
                scanpath: alphabet.parse(text).unwrap(),
            })
            .collect(),
    };
    let a = cohort(&[("P1", "cows", "ABCD"), ("P,\"2", "boat", "AAB")]);
    let b = cohort(&[("Q1", "cows", "ABD"), ("Q\u{1b}[31m2", "boat", "C")]);
    let spec = Spec::new(
        Engine::Plain,
        Metric::Levenshtein,
        PairRule::SameStimulus,
        &a,
        &b,
    );
    compare_locally(spec.unwrap(), &a, &b, &()).unwrap()
}

fn rows(file: &ResultFile) -> Vec<(String, String, Option<String>, Answer)> {
    let named = |row: &veilpath_report::result_file::Row| {
        let stimulus = row.stimulus.map(|at| file.stimuli[at].clone());
        (
            file.a[row.a].clone(),
            file.b[row.b].clone(),
            stimulus,
            row.answer,
        )
    };
    file.rows.iter().map(named).collect()
}

fn refused(text: impl AsRef<[u8]>) -> String {
    ResultFile::read(text.as_ref()).unwrap_err().to_string()
}

#[test]
fn what_was_written_comes_again_from_both_formats() {
    let outcome = outcome();
    let expected: Vec<_> = outcome
        .rows()
        .map(|row| {
            let answer = Answer::Score {
                score: row.values[0].number().unwrap(),
                similarity: row.values[1].number(),
            };
            (
                row.a.to_string(),
                row.b.to_string(),
                row.stimulus.map(|name| name.to_string()),
                answer,
            )
        })
        .collect();
    let mut bytes = Vec::new();
    json::write(&outcome, &mut bytes).unwrap();
    let file = ResultFile::read(bytes.as_slice()).unwrap();
    assert_eq!(rows(&file), expected);
    assert_eq!(file.cost, Some(outcome.cost));
    assert_eq!(file.revealed, Some(outcome.revealed.clone()));
    assert_eq!(
        file.spec,
        Some(serde_json::to_value(&outcome.spec).unwrap())
    );
    assert_eq!(file.pairs_all(), Some(false));
    let mut bytes = b"\xef\xbb\xbf".to_vec();
    csv::write(&outcome, &mut bytes).unwrap();
    let file = ResultFile::read(bytes.as_slice()).unwrap();
    assert_eq!(rows(&file), expected);
    assert_eq!((file.spec, file.cost, file.revealed), (None, None, None));
}

#[test]
fn one_bit_of_each_pair_is_read() {
    let answers = |text: &str| {
        let file = ResultFile::read(text.as_bytes()).unwrap();
        file.rows.iter().map(|row| row.answer).collect::<Vec<_>>()
    };
    let expected = [Answer::Within(true), Answer::Within(false)];
    assert_eq!(
        answers("a,b,stimulus,within\np,q,,true\np,r,,false\n"),
        expected
    );
    let rows = r#"{"results": [{"a":"p","b":"q","stimulus":null,"within":true},{"a":"p","b":"r","within":false}]}"#;
    assert_eq!(answers(rows), expected);
}

#[test]
fn files_without_rows_are_files() {
    for text in [
        "a,b,stimulus,score,similarity\n",
        "{\"results\": []}",
        " \n{\"results\":[],\"new\":{\"x\":[1]}}",
    ] {
        assert!(
            ResultFile::read(text.as_bytes()).unwrap().rows.is_empty(),
            "{text}"
        );
    }
}

#[test]
fn broken_json_is_refused_with_its_place() {
    let row =
        |fields: &str| format!("{{\n\"results\": [\n{{\"a\":\"p\",\"b\":\"q\",{fields}}}\n]}}");
    for (text, expected) in [
        (String::new(), "the file is empty"),
        ("  \n ".into(), "the file is empty"),
        ("{}".into(), "has no \"results\""),
        ("{\"results\": 3}".into(), "line 1, column 14: invalid type: integer `3`, expected a list of results"),
        ("{\"results\": [], \"results\": []}".into(), "duplicate field `results`"),
        ("{\"results\": []} x".into(), "line 1, column 17: trailing characters"),
        (row("\"score\":NaN"), "line 3, column"),
        (row("\"score\":1e999"), "line 3, column"),
        (row("\"score\":null"), "line 3, column 30: a result has neither a score nor within"),
        (row("\"score\":\"3\""), "line 3, column"),
        (row("\"score\":1,\"similarity\":1.5"), "a similarity lies between 0 and 1"),
        (row("\"score\":1,\"within\":true"), "a score or within, not both"),
        (row("\"score\":1},{\"a\":\"p\",\"b\":\"r\",\"within\":true"), "some pairs have a score and others only yes or no"),
        (row("\"score\":1").replace("\"a\":\"p\",", ""), "missing field `a`"),
        (row("\"score\":1").replace('q', &"q".repeat(MAX_ID_BYTES + 1)), "an id has at most"),
        ("{\"results\": [], \"cost\": {\"seconds\": -1, \"bytes_sent\":0,\"bytes_received\":0,\"rounds\":0,\"cells\":0}}".into(), "the seconds are no time"),
        (format!("{{\"spec\": [{}0], \"results\": []}}", "0,".repeat(40_000)), "the spec has more than"),
        (format!("{{\"spec\": {}", "[".repeat(100_000)), "line 1"),
        ("{\"results\": [{\"a\":\"\\u001b[2J".into(), "line 1"),
    ] {
        let said = refused(&text);
        assert!(said.contains(expected), "{said}\nfor {:.200}", text);
        assert!(!said.contains('\u{1b}') && said.len() < 1000, "{said}");
    }
}

#[test]
fn broken_csv_is_refused_with_its_place() {
    let rows = |rows: &str| format!("a,b,stimulus,score,similarity\np,q,,1,0.5\n{rows}\n");
    for (text, expected) in [
        (
            "participant,scanpath\np,ABC\n".to_string(),
            "line 1, column 1: this is no result file",
        ),
        (
            "a;b;stimulus;score;similarity\n".into(),
            "this is no result file",
        ),
        ("a,b,score,within\n".into(), "this is no result file"),
        (rows("p,r,,x,"), "line 3, column 4: this is no number"),
        (rows("p,r,,,"), "line 3, column 4: this is no number"),
        (
            rows("p,r,,NaN,"),
            "line 3, column 4: a score must be a number below 1e30",
        ),
        (
            rows("p,r,,1,nan"),
            "line 3, column 4: a similarity lies between 0 and 1",
        ),
        (
            rows("p,r,,inf,1"),
            "line 3, column 4: a score must be a number below 1e30",
        ),
        (
            rows("p,r,,1,-2"),
            "line 3, column 4: a similarity lies between 0 and 1",
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
        let said = refused(&text);
        assert!(said.contains(expected), "{said}\nfor {text}");
    }
    let said = refused(b"a,b,stimulus,score,similarity\np,\xff\xfe,,1,\n");
    assert_eq!(said, "line 2, column 2: this is not UTF-8 text");
}

/// Every prefix of a file, and every file with one byte changed, is read or refused; none panics.
#[test]
fn damaged_files_end_in_errors() {
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

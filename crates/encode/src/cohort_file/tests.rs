//! Every form of a cohort file, round trips, and errors.

mod alphabets;
mod fixations;
mod parts;

use super::*;
use crate::{EncodeField, Input, ReadError};
use proptest::prelude::*;
use std::collections::BTreeMap;
use veilpath_metrics::{Alphabet, Encoding, Entry, Notation, Scanpath};

/// A file read in its own alphabet or in a requested one.
#[derive(Debug)]
struct ReadFile {
    raw: RawCohort,
    cohort: Cohort,
    notes: Vec<String>,
}

fn read_bytes(bytes: &[u8], asked: Option<Notation>) -> Result<ReadFile, ReadError> {
    let raw = RawCohort::read(Input::from_bytes("c.csv", bytes.to_vec())?)?;
    let alphabet = raw.alphabet(asked);
    Ok(ReadFile {
        cohort: raw.cohort(alphabet)?,
        notes: raw
            .notes(alphabet, asked, raw.declared_grid())
            .iter()
            .map(ToString::to_string)
            .collect(),
        raw,
    })
}

fn read_text(text: &str) -> Result<ReadFile, ReadError> {
    read_bytes(text.as_bytes(), None)
}

/// `participant/stimulus/scanpath`.
fn rows(file: &ReadFile) -> Vec<String> {
    let entry = |entry: &Entry| {
        let stimulus = entry.stimulus.as_deref().unwrap_or("");
        let letters = file.cohort.alphabet.format(&entry.scanpath);
        format!("{}/{stimulus}/{letters}", entry.participant)
    };
    file.cohort.entries.iter().map(entry).collect()
}

fn written(cohort: &Cohort, notes: &[String]) -> String {
    let mut bytes = Vec::new();
    write(cohort, None, notes, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

fn small() -> Cohort {
    let entry = |participant: &str, stimulus: Option<&str>, letters: &[u16]| Entry {
        participant: participant.into(),
        group: None,
        stimulus: stimulus.map(Into::into),
        scanpath: Scanpath::new(letters.to_vec()),
        fixations: None,
    };
    Cohort {
        alphabet: Alphabet::letters(49).unwrap(),
        encoding: Encoding(BTreeMap::from([
            ("data".to_string(), "fixations".to_string()),
            ("grid".to_string(), "7x7".to_string()),
        ])),
        screen: None,
        entries: vec![
            entry("p1", Some("a.png"), &[0, 48]),
            entry("Müller, \"A\"", None, &[]),
            entry("#3", Some("a\nb"), &[26]),
        ],
    }
}

#[test]
fn a_cohort_is_written_as_documented_and_read_again() {
    let text = written(&small(), &["made for a test".to_string()]);
    let expected = "\
# veilpath cohort 1
# alphabet: letters 49
# data: fixations
# grid: 7x7
# note: made for a test
participant,stimulus,scanpath
p1,a.png,Aw
\"Müller, \"\"A\"\"\",,
\"#3\",a b,a
";
    assert_eq!(text, expected);
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(text.replace('\n', "\r\n").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    for bytes in [
        text.clone().into_bytes(),
        text.replace('\n', "\r\n").into_bytes(),
        format!("\u{feff}{text}").into_bytes(),
        utf16,
    ] {
        let file = read_bytes(&bytes, None).unwrap();
        let mut expected = small();
        expected.entries[2].stimulus = Some("a b".into());
        assert_eq!(file.cohort, expected);
        assert!(file.notes.is_empty(), "{:?}", file.notes);
        assert_eq!(file.raw.header_notes(), ["made for a test"]);
        assert_eq!(file.raw.declared_grid().unwrap().to_string(), "7x7");
        assert_eq!(file.raw.declared_alphabet(), Some(expected.alphabet));
    }
}

#[test]
fn columns_may_be_in_any_order_with_others_between() {
    for (text, expected, notes) in [
        ("participant,scanpath\np,AB\nq,\n", vec!["p//AB", "q//"], 1),
        ("Scanpath;Stimulus;Participant\nAB;s;p\n", vec!["p/s/AB"], 1),
        ("scanpath\tage\tsubject\nAB\t30\tp\n", vec!["p//AB"], 2),
        ("scanpath\nAB\nCD\n", vec!["1//AB", "2//CD"], 2),
        (
            "participant,stimulus,scanpath\np,s,AB\np,s,AB\n",
            vec!["p/s/AB"; 2],
            2,
        ),
        (
            "# any comment: here\n\nparticipant,scanpath\n# and here\np,AB\n",
            vec!["p//AB"],
            1,
        ),
        (
            "# grid: 7x7\nparticipant,scanpath\np,AB\n",
            vec!["p//AB"],
            2,
        ),
    ] {
        let file = read_text(text).unwrap();
        assert_eq!(rows(&file), expected, "{text}");
        assert_eq!(file.notes.len(), notes, "{:?}", file.notes);
        assert!(file.cohort.encoding.0.is_empty());
        assert_eq!(file.raw.declared_alphabet(), None);
    }
}

#[test]
fn ogama_and_scangraph_text_is_read() {
    let file = read_text("# Levels: 3\n# A = map\np one\tABC\n\np two\t\n").unwrap();
    assert_eq!(rows(&file), ["p one//ABC", "p two//"]);
    let file = read_text("p one\t\np two\tAB\n").unwrap();
    assert_eq!(rows(&file), ["p one//", "p two//AB"]);
    let export = "# Contents: Similarity Measurements of scanpaths.\r\n#\r\nSequence Similarity\tScanpath string\tp1\r\np1\tAA#B\t1\r\np2\tbb\t0.5\r\n";
    let file = read_text(export).unwrap();
    assert_eq!(rows(&file), ["p1//AAB", "p2//bb"]);
    let notes = file.notes.join("; ");
    assert!(
        notes.contains("1 fixation in no area") && notes.contains("columns after"),
        "{notes}"
    );
    let error = read_text("p1\tAB\np2 AB\n").unwrap_err();
    assert_eq!(error.line, Some(2));
}

#[test]
fn one_string_per_line_is_read() {
    let file = read_text("\nABC\n\n# comment\nxyz\n\n\n").unwrap();
    assert_eq!(rows(&file), ["1//ABC", "2//xyz"]);
    let notes = file.notes.join("; ");
    assert!(
        notes.contains("2 blank lines") && notes.contains("numbered from 1"),
        "{notes}"
    );
}

/// Spreadsheets pad every line with delimiters, and quote comments that contain one.
#[test]
fn a_cohort_that_a_spreadsheet_saved_is_read() {
    let plain = "# veilpath cohort 1\n# alphabet: letters 2\n# areas: eye, mouth, \"a, b\"\nparticipant,stimulus,scanpath\np,s,AB\nq,s,\n";
    let padded = "# veilpath cohort 1,,\r\n# alphabet: letters 2,,\r\n\"# areas: eye, mouth, \"\"a, b\"\"\",,\r\nparticipant,stimulus,scanpath\r\np,s,AB\r\nq,s,\r\n";
    let wide = "# veilpath cohort 1,,,\n# alphabet: letters 2,,,\n# areas: eye, mouth, \"a, b\"\nparticipant,stimulus,scanpath,\np,s,AB,\nq,s,,\n";
    let expected = read_text(plain).unwrap();
    assert!(expected.notes.is_empty(), "{:?}", expected.notes);
    for saved in [padded, wide] {
        let file = read_text(saved).unwrap();
        assert_eq!(file.cohort, expected.cohort, "{saved}");
        assert_eq!(file.notes, expected.notes);
    }
    let file = read_text(&format!("{padded},,\r\n,,,\r\n")).unwrap();
    assert_eq!(file.cohort, expected.cohort);
    assert_eq!(file.notes, ["skipped 2 empty rows"]);
}

#[test]
fn errors_name_the_place_and_a_remedy() {
    for (text, place) in [
        ("", "c.csv: the file is empty"),
        ("\n# only a comment\n", "c.csv: there is no scanpath"),
        (
            "participant,scanpath\n",
            "c.csv: there is a header, but no scanpath",
        ),
        (
            "Sequence Similarity\tScanpath string\n",
            "c.csv: there is a header",
        ),
        ("p1,AB\np2,CD\n", "c.csv, line 1: the first line is neither"),
        (
            "participant,letters\np,AB\n",
            "c.csv, line 1: there is no column \"scanpath\"",
        ),
        (
            "participant,stimulus,scanpath\np,AB\n",
            "c.csv, line 2, column 2 (stimulus): this row has 2 fields",
        ),
        (
            "participant,scanpath\nA, B,AB\n",
            "c.csv, line 2, column 2 (scanpath): this row has 3 fields",
        ),
        (
            "participant,stimulus,scanpath\np,s,AB\n,s,CD\n",
            "c.csv, line 3, column 1 (participant): the participant is missing in this row",
        ),
        (
            "p1\tAB\n\tCD\n",
            "c.csv, line 2: there is no participant before the tab",
        ),
        (
            "participant,scanpath\n\"p,AB\n",
            "c.csv, line 2: a quoted field",
        ),
        (
            "participant,scanpath\np,AB?\n",
            "c.csv, line 2, column 2 (scanpath): ",
        ),
        ("AB\nA-B\n", "c.csv, line 2: "),
        (
            "# veilpath cohort 2\n",
            "c.csv, line 1: this cohort file was written by another version",
        ),
        ("# veilpath cohort\n", "c.csv, line 1: this cohort file"),
        (
            "# veilpath cohort 1\n# grid: big\n",
            "c.csv, line 2: a grid is written",
        ),
        (
            "# veilpath cohort 1\n# alphabet: greek\n",
            "c.csv, line 2: an alphabet is one of",
        ),
        ("# veilpath cohort 1\n# screen: wide\n", "c.csv, line 2: "),
        ("A\0B\n", "c.csv: this is not a text file"),
    ] {
        let error = read_text(text).unwrap_err();
        assert!(error.to_string().starts_with(place), "{error}");
        assert!(!error.remedy.is_empty(), "{error}");
    }
    let error = read_text("participant,scanpath\np,ABC?\n").unwrap_err();
    assert!(error.problem.contains("position 4"), "{error}");
    assert!(error.fields == [EncodeField::Notation]);
    assert!(!error.to_string().contains("ABC"));
}

fn cohorts() -> impl Strategy<Value = Cohort> {
    let id = prop_oneof![".{0,12}", "[#,;\"' \t\r\na-c]{0,8}", "[-=+@;,\"' a5]{0,8}"];
    let name = id
        .clone()
        .prop_filter("a name", |id| !one_line(id).is_empty());
    let entry = (
        name,
        prop::option::of(id),
        prop::collection::vec(0u16..4, 0..12),
    );
    let notation = prop::sample::select(Notation::ALL.to_vec());
    let groups = prop::option::of(Just("controls, \"healthy\""));
    let entries = prop::collection::vec(entry, 1..8);
    (notation, groups, entries).prop_map(|(notation, group, entries)| Cohort {
        alphabet: Alphabet::new(notation, 4).unwrap(),
        encoding: Encoding(BTreeMap::from([("areas".into(), "a: b, \"c\"".into())])),
        screen: None,
        entries: entries
            .into_iter()
            .map(|(participant, stimulus, letters)| Entry {
                participant,
                group: group.map(str::to_string),
                stimulus,
                scanpath: Scanpath::new(letters),
                fixations: None,
            })
            .collect(),
    })
}

proptest! {
    #[test]
    fn a_written_cohort_is_read_back(cohort in cohorts()) {
        let written = written(&cohort, &[]);
        let mut expected = cohort;
        for entry in &mut expected.entries {
            entry.participant = one_line(&entry.participant);
            entry.stimulus = entry.stimulus.as_deref().map(one_line).filter(|text| !text.is_empty());
        }
        let file = read_text(&written).unwrap();
        prop_assert_eq!(file.cohort, expected);
    }

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), text in "[#a-cA-C0-9,;\t\"\r\n: ]{0,80}") {
        let _ = read_bytes(&bytes, None);
        let _ = read_text(&text);
        let _ = read_text(&format!("# veilpath cohort 1\n{text}"));
        let _ = read_text(&format!("participant,scanpath\n{text}"));
    }
}

#[test]
fn the_aspect_is_for_drawings_and_not_a_setting() {
    let text =
        "# veilpath cohort 1\n# alphabet: letters 4\n# aspect: 2\nparticipant,scanpath\np,AB\n";
    let read = |text: &str| {
        let input = Input::from_bytes("a.csv", text.as_bytes().to_vec()).unwrap();
        RawCohort::read(input).unwrap()
    };
    let raw = read(text);
    assert_eq!(raw.aspect(), Some(2.0));
    assert!(raw.encoding().0.is_empty());
    let cohort = raw.cohort(raw.alphabet(None)).unwrap();
    let mut bytes = Vec::new();
    write(&cohort, raw.aspect(), &[], &mut bytes).unwrap();
    let again = read(std::str::from_utf8(&bytes).unwrap());
    assert_eq!(again.aspect(), Some(2.0));
    for odd in ["0", "-1", "wide", "inf", "1e9"] {
        let text = text.replace("aspect: 2", &format!("aspect: {odd}"));
        assert_eq!(read(&text).aspect(), None, "{odd}");
    }
}

#[test]
fn ids_are_neither_formulas_nor_terminal_controls() {
    let text = "# veilpath cohort 1\n# alphabet: letters 4\n# data: \u{202e}x\nparticipant,scanpath\n'=p,AB\n\u{1b}[2J,AB\n";
    let file = read_text(text).unwrap();
    let ids: Vec<&str> = file
        .cohort
        .entries
        .iter()
        .map(|entry| entry.participant.as_str())
        .collect();
    assert_eq!(ids, ["=p", "\u{fffd}[2J"]);
    assert_eq!(file.cohort.encoding.0["data"], "\u{fffd}x");
    assert!(file.notes.contains(&CohortNote::Unprintable(2).to_string()));
    assert!(written(&file.cohort, &[]).contains("\n'=p,,AB\n"));
    // Other programs do not mark formulas.
    let other_program = read_text("participant,scanpath\n'=p,AB\n").unwrap();
    assert_eq!(other_program.cohort.entries[0].participant, "'=p");
}

/// Spreadsheets quote all fields, or split comments at their commas and join them with another delimiter.
#[test]
fn cohorts_that_a_spreadsheet_saved_are_read_alike() {
    let original = "# veilpath cohort 1\n# alphabet: letters 3\n# areas: left, right\nparticipant,stimulus,scanpath\np,s,AB\n";
    let expected = read_text(original).unwrap();
    for saved in [
        "\"# veilpath cohort 1\",\"\",\"\"\n\"# alphabet: letters 3\",\"\",\"\"\n\"# areas: left, right\",\"\",\"\"\n\"participant\",\"stimulus\",\"scanpath\"\n\"p\",\"s\",\"AB\"\n",
        "\"# veilpath cohort 1\",\"\",\"\",\"\"\n\"# alphabet: letters 3\",\"\",\"\",\"\"\n\"# areas: left\",\" right\",\"\",\"\"\n\"participant\",\"stimulus\",\"scanpath\",\"\"\n\"p\",\"s\",\"AB\",\"\"\n",
        "# veilpath cohort 1;;\n# alphabet: letters 3;;\n# areas: left; right;\nparticipant;stimulus;scanpath\np;s;AB\n",
        "\"# veilpath cohort 1\";\"\"\n\"# alphabet: letters 3\";\"\"\n\"# areas: left\";\" right\"\n\"participant\";\"stimulus\";\"scanpath\"\n\"p\";\"s\";\"AB\"\n",
    ] {
        let read = read_text(saved).unwrap();
        assert_eq!(read.cohort, expected.cohort, "{saved}");
        assert_eq!(read.notes, expected.notes, "{saved}");
    }
    let quoted = "\"# veilpath cohort 1\",\"\"\n\"# areas: a, \"\"b\"\"\",\"\"\nparticipant,scanpath\np,AB\n";
    let areas = &read_text(quoted).unwrap().cohort.encoding.0["areas"];
    assert_eq!(areas, "a, \"b\"");
}

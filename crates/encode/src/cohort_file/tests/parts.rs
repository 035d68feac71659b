//! Writes some scanpaths of a file to another file.

use super::{read_text, rows};
use crate::cohort_file::write_part;

/// The alphabet line of a file with the scanpaths at these positions.
fn declared(text: &str, kept: &[usize]) -> Option<String> {
    let whole = read_text(text).unwrap();
    let mut part = whole.cohort.clone();
    part.entries = kept.iter().map(|&at| part.entries[at].clone()).collect();
    let mut bytes = Vec::new();
    write_part(&whole.raw, &part, &mut bytes).unwrap();
    let written = String::from_utf8(bytes).unwrap();
    let again = read_text(&written).unwrap();
    assert_eq!(again.cohort, part, "{written}");
    assert_eq!(
        again.raw.declares_letters(None),
        whole.raw.declares_letters(None)
    );
    let line = written
        .lines()
        .find_map(|line| line.strip_prefix("# alphabet: "));
    line.map(String::from)
}

#[test]
fn a_part_declares_what_the_whole_does() {
    let table = "participant,scanpath\np,ABBA\nq,CA\n";
    assert_eq!(declared(table, &[0, 1]), None);
    let header = "# veilpath cohort 1\n";
    for (line, expected) in [
        ("# alphabet: letters 49\n", Some("letters 49")),
        ("# alphabet: letters\n", Some("letters")),
        ("# grid: 7x7\n", None),
    ] {
        let text = format!("{header}{line}{table}");
        assert_eq!(declared(&text, &[1]).as_deref(), expected, "{line}");
    }
}

#[test]
fn a_part_that_looks_different_says_how_it_is_written() {
    // Alone, the second one could be double letters.
    let table = "participant,scanpath\np,ABC\nq,aAbB\n";
    assert_eq!(declared(table, &[0]), None);
    assert_eq!(declared(table, &[1]).as_deref(), Some("letters"));
}

#[test]
fn a_part_keeps_groups_settings_and_notes() {
    let header = "# veilpath cohort 1\n# data: fixations\n# aspect: 2\n# note: pilot\nparticipant,group,stimulus,scanpath\n";
    let text = format!("{header}p,patients,s,ABC\nq,controls,s,CA\np,patients,t,B\n");
    assert_eq!(declared(&text, &[0, 2]), None);
    let whole = read_text(&text).unwrap();
    let mut part = whole.cohort.clone();
    part.entries.remove(1);
    let mut bytes = Vec::new();
    write_part(&whole.raw, &part, &mut bytes).unwrap();
    let expected = format!("{header}p,patients,s,ABC\np,patients,t,B\n");
    assert_eq!(String::from_utf8(bytes).unwrap(), expected);
}

/// Columns with ids have the same names as in tables of gaze.
#[test]
fn columns_with_ids_have_the_names_that_encode_knows() {
    let file =
        read_text("Subject_ID,Image,participant_group,scanpath\np1,a,g,AB\np1,a,g,AC\n").unwrap();
    assert_eq!(rows(&file), ["p1/a/AB", "p1/a/AC"]);
    assert_eq!(file.cohort.entries[0].group.as_deref(), Some("g"));
    let repeated = "2 rows have the same participant and stimulus; both are compared";
    assert!(
        file.notes.iter().any(|note| note == repeated),
        "{:?}",
        file.notes
    );
    // A column named after files may be about recordings.
    let file = read_text("participant,file,scanpath\np1,p1.asc,AB\n").unwrap();
    assert_eq!(rows(&file), ["p1//AB"]);
    let ignored = "ignored columns: file".to_string();
    assert!(file.notes.contains(&ignored), "{:?}", file.notes);
}

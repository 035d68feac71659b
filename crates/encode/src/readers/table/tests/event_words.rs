//! Event labels are recognised by their words, whatever the name of their column.

use super::*;
use crate::{EncodeNote, LabelDoubt};

fn used(column: &str, labels: &[&str]) -> (usize, Recorder) {
    let rows = labels.iter().map(|label| format!("1,2,200,{label}\n"));
    let rows: String = rows.collect();
    let read = plain(&format!("x,y,duration,{column}\n{rows}"));
    let points = read.recordings.first();
    (points.map_or(0, |it| it.fixations.len()), read)
}

fn doubts(read: &Recorder) -> Vec<(&str, Vec<&str>, &LabelDoubt)> {
    let notes = read.notes.iter();
    let doubts = notes.filter_map(|note| match note {
        EncodeNote::LabelsNotUsed {
            column,
            labels,
            doubt,
            ..
        } => {
            let labels = labels.iter().map(String::as_str).collect();
            Some((column.as_str(), labels, doubt))
        }
        _ => None,
    });
    doubts.collect()
}

#[test]
fn known_words_are_enough_in_a_column_with_any_name() {
    for column in [
        "prediction",
        "annotation",
        "EM_label",
        "fixation_type",
        "sample_type",
        "status",
        "handlabeller",
        "kind",
        "code",
        "tag",
        "msg",
    ] {
        for other in ["Unclassified", "noise", "unknown", "None", "undefined"] {
            let (points, read) = used(column, &["Fixation", other, "Fixation"]);
            assert_eq!(points, 2, "{column} {other}");
            assert!(assumes(&read, &format!("\"{column}\" has event labels")));
            assert_eq!(read.dropped[&Dropped::OtherEvent], 1);
        }
    }
}

#[test]
fn a_column_named_em_has_event_labels() {
    for other in [
        "noise", "unknown", "other", "none", "lost", "gap", "", "jump",
    ] {
        let (points, read) = used("em", &["fixation", other, "fixation"]);
        assert_eq!(points, 2, "{other}");
        assert_eq!(read.dropped[&Dropped::OtherEvent], 1);
    }
    // Nobody knows what the numbers mean.
    let (points, read) = used("em", &["0", "1", "2", "3", "1"]);
    assert_eq!(points, 5);
    let labels = vec!["0", "1", "2", "3"];
    assert_eq!(doubts(&read), [("em", labels, &LabelDoubt::NoFixation)]);
}

#[test]
fn words_are_known_in_german_and_french() {
    for (column, fixation, others) in [
        ("em_type", "Fixation", ["Sakkade", "Lidschlag"]),
        ("eye_event", "Fixation", ["Sakkade", "Lidschlag"]),
        ("ereignis", "Fixation", ["Sakkade", "Lidschlag"]),
        ("ereignis", "Fixationen", ["unbekannt", "Folgebewegung"]),
        ("mouvement", "fixation", ["poursuite lente", "clignement"]),
        ("mouvement", "fixation", ["bruit", "non classé"]),
    ] {
        let (points, read) = used(column, &[fixation, others[0], others[1], fixation]);
        assert_eq!(points, 2, "{column} {others:?}");
        assert_eq!(read.unrequested_events[others[0]], 1);
    }
}

/// Where it is not clear whether a column has labels, all rows are used, and a note says so.
#[test]
fn unclear_labels_are_noted() {
    let unknown = |label: &str| LabelDoubt::UnknownLabel(label.to_string());
    for (column, values, doubt) in [
        ("label", &["fixation", "movement"][..], unknown("movement")),
        ("phase", &["fixation", "stimulus"], unknown("stimulus")),
        ("event", &["start", "fixation", "end"], unknown("start")),
        ("remark", &["fixation", ""], LabelDoubt::RowsWithoutLabel),
        ("label", &["Fijacion", "Sacada"], LabelDoubt::NoFixation),
    ] {
        let (points, read) = used(column, values);
        assert_eq!(points, values.len(), "{column}");
        let [(name, _, found)] = doubts(&read)[..] else {
            panic!("a note about {column}");
        };
        assert_eq!((name, found), (column, &doubt));
    }
    let texts: Vec<String> = (0..20).map(|n| format!("text {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let (points, read) = used("message", &[&texts[..], &["fixation"]].concat());
    assert_eq!(points, 21);
    let doubt = ("message", vec!["fixation"], &LabelDoubt::ManyValues);
    assert_eq!(doubts(&read), [doubt]);
    // A word for a fixation in a longer text is not a label.
    let (_, read) = used("message", &["fixation cross", "stimulus"]);
    assert!(read.notes.is_empty());
}

#[test]
fn the_note_says_why_labels_are_not_used() {
    let (_, read) = used("label", &["fixation", "movement"]);
    assert_eq!(
        read.notes[0].to_string(),
        "the column \"label\" may have event labels (fixation, movement), but \"movement\" is not a known eye movement, so all rows were used; choose the labels of fixations"
    );
    // A column that marks valid rows does not say which rows are fixations.
    let table = "x,y,duration,valid,label\n1,2,200,1,fixation\n3,4,30,1,movement\n";
    assert_eq!(plain(table).notes.len(), 1);
}

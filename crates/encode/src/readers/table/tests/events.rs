//! Tables with labels of events: fixations are taken, and what is left out is counted.

use super::*;
use crate::EventChoice;

fn with_events(events: EventChoice) -> ReadOptions {
    ReadOptions {
        events: Some(events),
        ..ReadOptions::default()
    }
}

fn points(read: &Recorder) -> Vec<(f64, f64)> {
    let fixations = &read.recordings[0].fixations;
    fixations.iter().map(|&(x, y, ..)| (x, y)).collect()
}

#[test]
fn remodnav_lists_other_movements_too() {
    let options = ReadOptions::default();
    let (read, detected) = read_file(&Table, &tiny_file("remodnav.tsv"), &options).unwrap();
    assert_eq!(detected, "table");
    assert_eq!(
        points(&read),
        [(102.0, 201.0), (628.0, 360.0), (1000.0, 400.0)]
    );
    assert_eq!(read.recordings[0].fixations[0].2, Some(214.0));
    assert_eq!(read.recordings[0].starts[1], Some(278.0));
    assert_eq!(read.dropped[&Dropped::OtherEvent], 5);
    let counts: Vec<_> = read
        .left_out
        .iter()
        .map(|(label, n)| (label.as_str(), *n))
        .collect();
    let expected = [
        ("HPSO", 1),
        ("ISAC", 1),
        ("LPSO", 1),
        ("PURS", 1),
        ("SACC", 1),
    ];
    assert_eq!(counts, expected);
    assert!(assumes(&read, "mean of where it starts and ends"));
    assert!(assumes(&read, "\"label\" has labels of events"));
}

#[test]
fn the_user_chooses_the_events() {
    let file = tiny_file("remodnav.tsv");
    let count = |events| {
        let (read, _) = read_file(&Table, &file, &with_events(events)).unwrap();
        points(&read).len()
    };
    assert_eq!(count(EventChoice::Fixations), 3);
    assert_eq!(count(EventChoice::All), 8);
    let labels = vec!["fixa".to_string(), "PURS".to_string()];
    assert_eq!(count(EventChoice::Labels(labels)), 4);
}

#[test]
fn labels_have_many_names_and_spellings() {
    for (column, fixation, others) in [
        ("label", "FIXA", ["SACC", "PURS"]),
        ("event", "fixation", ["saccade", "blink"]),
        ("Event Type", "Fixation", ["Saccade", "Unclassified"]),
        ("type", "fix", ["sacc", "blink"]),
        ("category", "Fixation", ["Saccade", "Blink"]),
        (
            "eye_movement",
            "Fixation",
            ["EyesNotFound", "something new"],
        ),
        ("Eye movement type", "Fixation", ["Saccade", "EyesNotFound"]),
        ("movement type", "FIXATION", ["SACCADE", ""]),
    ] {
        let [first, second] = others;
        let text = format!(
            "x,y,duration,{column}\n1,2,200,{fixation}\n3,4,30,{first}\n5,6,300,{fixation}\n,,90,{second}\n"
        );
        let read = plain(&text);
        assert_eq!(points(&read), [(1.0, 2.0), (5.0, 6.0)], "{column}");
        assert_eq!(read.dropped[&Dropped::OtherEvent], 2, "{column}");
        // Only words for eye movements are quoted.
        assert!(!read.left_out.contains_key("something new"));
    }
}

/// A column of these names that is about something else plays no role, as before.
#[test]
fn other_columns_of_these_names_stay_what_they_are() {
    for (column, values) in [
        ("type", ["face", "house", "car"]),
        ("event", ["1", "2", "3"]),
        ("category", ["indoor", "outdoor", "unknown"]),
        ("label", ["unknown", "unknown", "other"]),
        ("event", ["start", "fixation", "end"]),
    ] {
        let rows = values.map(|value| format!("1,2,200,{value}\n")).concat();
        let read = plain(&format!("x,y,duration,{column}\n{rows}"));
        assert_eq!(points(&read).len(), 3, "{column} {values:?}");
        assert!(read.left_out.is_empty());
    }
    let none = read(
        "x,y,duration\n1,2,200\n",
        &with_events(EventChoice::Fixations),
    );
    assert!(assumes(&none.unwrap(), "no column with labels of events"));
}

/// Samples are reduced by their dwell; their labels count only where the user asks for it.
#[test]
fn labels_of_samples_count_on_request() {
    let text = "x,y,time,event\n1,2,0.00,fixation\n3,4,0.02,saccade\n5,6,0.04,fixation\n";
    assert_eq!(plain(text).recordings[0].samples.len(), 3);
    let asked = read(text, &with_events(EventChoice::Fixations)).unwrap();
    assert_eq!(asked.recordings[0].samples.len(), 2);
    assert_eq!(asked.left_out["saccade"], 1);
}

#[test]
fn a_column_of_labels_can_be_named() {
    let options = ReadOptions {
        columns: [("event".to_string(), "kind".to_string())].into(),
        ..ReadOptions::default()
    };
    let text = "x,y,duration,kind\n1,2,200,FIXA\n3,4,30,SACC\n";
    assert_eq!(points(&plain(text)).len(), 2);
    assert_eq!(points(&read(text, &options).unwrap()), [(1.0, 2.0)]);
}

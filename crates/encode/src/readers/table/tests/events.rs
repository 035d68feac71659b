//! Tables with event labels: fixations are used, and other rows are counted.

use super::*;
use crate::{
    Collector, EncodeNote, EventChoice, LetterMap, LetterOptions, NoEffect, RunOptions, RunsBy,
};

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
    let (read, recognised) = read_file(&Table, &tiny_file("remodnav.tsv"), &options).unwrap();
    assert_eq!(recognised, "table");
    assert_eq!(
        points(&read),
        [(102.0, 201.0), (628.0, 360.0), (1000.0, 400.0)]
    );
    assert_eq!(read.recordings[0].fixations[0].2, Some(214.0));
    assert_eq!(read.recordings[0].starts[1], Some(278.0));
    assert_eq!(read.dropped[&Dropped::OtherEvent], 5);
    let counts: Vec<_> = read
        .unrequested_events
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
    assert!(assumes(&read, "\"label\" has event labels"));
    // A column in use is not offered as one that may name participants.
    assert!(assumes(&read, "not used (amp, peak_vel, med_vel, avg_vel)"));
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
        if !second.is_empty() {
            assert_eq!(read.unrequested_events[second], 1, "{column}");
        }
    }
}

/// The labels of fixations and of another movement together say enough, whatever the column's name.
#[test]
fn labels_are_found_in_columns_with_any_name() {
    for (column, fixation, other) in [
        ("trial_type", "fixation", "saccade"),
        ("em_type", "FIXA", "PURS"),
        ("message", "Fixation L", "Saccade L"),
        ("description", "Fixation R", "Blink R"),
        ("value", "Visual Intake", "Saccade"),
        ("marker", "VisualIntake", "blink"),
        ("category", "Visual Intake", "Saccade"),
        ("phase", "fixate", "saccade"),
        ("kind", "intake", "EBLINK"),
    ] {
        let text = format!(
            "x,y,duration,{column}\n1,2,200,{fixation}\n3,4,30,{other}\n5,6,300,{fixation}\n7,8,9,something new\n"
        );
        let found = plain(&text);
        assert_eq!(points(&found), [(1.0, 2.0), (5.0, 6.0)], "{column}");
        assert_eq!(found.unrequested_events[other], 1, "{column}");
        assert!(assumes(&found, &format!("\"{column}\" has event labels")));
        let chosen = with_events(EventChoice::Labels(vec![other.to_string()]));
        assert_eq!(points(&read(&text, &chosen).unwrap()), [(3.0, 4.0)]);
    }
    // A column with a role is not searched for labels.
    let areas = plain("x,y,duration,aoi\n1,2,200,fixation\n3,4,30,saccade\n");
    assert_eq!(points(&areas).len(), 2);
}

/// In a column that is meant for labels, other movements are left out even if the word for a fixation is unknown.
#[test]
fn known_movements_are_left_out_without_a_known_fixation() {
    for column in ["eventtype", "category"] {
        let found = plain(&format!(
            "x,y,duration,{column}\n1,2,200,Fijacion\n3,4,30,Saccade\n5,6,90,Blink\n7,8,200,\n"
        ));
        assert_eq!(points(&found), [(1.0, 2.0)], "{column}");
        assert_eq!(found.unrequested_events["Saccade"], 1, "{column}");
        assert!(assumes(&found, "unknown labels (Fijacion) were used"));
    }
    // A list of saccades has no fixations.
    let saccades = plain("x,y,duration,eventtype\n1,2,200,Saccade\n3,4,30,Saccade\n");
    assert!(saccades.recordings.is_empty());
    // Elsewhere it may be a task, so all rows are used, with a note.
    let other = plain("x,y,duration,task\n1,2,200,antisaccade\n3,4,30,saccade\n");
    assert_eq!(points(&other).len(), 2);
    assert!(matches!(
        &other.notes[..],
        [EncodeNote::LabelsNotUsed { column, .. }] if column == "task"
    ));
    let many: String = (0..20).map(|n| format!("1,2,200,text {n}\n")).collect();
    let many = plain(&format!("x,y,duration,message\n{many}3,4,30,saccade\n"));
    assert!(matches!(
        &many.notes[..],
        [EncodeNote::LabelsNotUsed { labels, .. }] if labels[..] == ["saccade"]
    ));
    let corners = plain("x,y,duration,corner\n1,2,200,bl\n3,4,30,tr\n");
    assert!(corners.notes.is_empty());
}

/// A column with one of these names but other contents is ignored.
#[test]
fn columns_with_these_names_and_other_values_are_not_events() {
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
        assert!(read.unrequested_events.is_empty());
    }
}

/// A user who chooses fixations must not get all rows.
#[test]
fn a_choice_of_events_needs_a_column_of_events() {
    let none = |events| read("x,y,duration\n1,2,200\n", &with_events(events));
    let error = none(EventChoice::Fixations).unwrap_err();
    assert!(error.remedy.contains("x, y, duration"), "{error}");
    assert_eq!(
        error.fields,
        [EncodeField::Events, EncodeField::EventColumn]
    );
    let note = EncodeNote::NoEffect {
        field: EncodeField::Events,
        reason: NoEffect::NoEventColumn,
    };
    assert_eq!(none(EventChoice::All).unwrap().notes, [note]);
    assert!(plain("x,y,duration\n1,2,200\n").notes.is_empty());
}

/// Samples are reduced by their dwell; their labels are used only if the user asks for it.
#[test]
fn labels_of_samples_count_on_request() {
    let text = "x,y,time,event\n1,2,0.00,fixation\n3,4,0.02,saccade\n5,6,0.04,fixation\n";
    let unasked = plain(text);
    assert_eq!(unasked.recordings[0].samples.len(), 3);
    assert!(assumes(&unasked, "samples of all events were used"));
    let asked = read(text, &with_events(EventChoice::Fixations)).unwrap();
    assert_eq!(asked.recordings[0].samples.len(), 2);
    assert_eq!(asked.unrequested_events["saccade"], 1);
    let flags = plain("x,y,time,saccade\n1,2,0.00,0\n3,4,0.02,1\n5,6,0.04,0\n");
    assert_eq!(flags.recordings[0].samples.len(), 3);
    assert!(assumes(&flags, "\"saccade\" was not used"));
}

#[test]
fn a_column_of_labels_can_be_named() {
    let options = ReadOptions {
        columns: [("event".to_string(), "kind".to_string())].into(),
        ..ReadOptions::default()
    };
    let text = "x,y,duration,kind\n1,2,200,FIXA\n3,4,30,jump\n";
    assert_eq!(points(&plain(text)).len(), 2);
    assert_eq!(points(&read(text, &options).unwrap()), [(1.0, 2.0)]);
}

#[test]
fn columns_of_zero_and_one_tell_fixations_from_others() {
    for (column, [fixation, other], label) in [
        ("fixation", ["1", "0"], "fixation=0"),
        ("is_fixation", ["TRUE", "FALSE"], "is_fixation=0"),
        ("saccade", ["0", "1"], "saccade=1"),
        ("Blink", ["false", "true"], "Blink=1"),
    ] {
        let text = format!(
            "x,y,duration,{column}\n1,2,200,{fixation}\n3,4,30,{other}\n5,6,300,{fixation}\n"
        );
        let read_it = plain(&text);
        assert_eq!(points(&read_it), [(1.0, 2.0), (5.0, 6.0)], "{column}");
        assert_eq!(read_it.unrequested_events[label], 1, "{column}");
        assert!(assumes(&read_it, &format!("\"{column}\"")));
        let all = read(&text, &with_events(EventChoice::All)).unwrap();
        assert_eq!(points(&all).len(), 3, "{column}");
    }
    // A column of fixation numbers is not an indicator, and neither is a column of zeros.
    let numbered = plain("x,y,duration,fixation\n1,2,200,0\n3,4,300,1\n5,6,300,2\n");
    assert_eq!(points(&numbered).len(), 3);
    let zeros = plain("x,y,duration,validity\n1,2,200,0\n3,4,300,0\n");
    assert_eq!(points(&zeros).len(), 2);
}

#[test]
fn invalid_rows_and_blinks_are_not_gaze() {
    let fixations = plain("x,y,duration,valid\n1,2,200,1\n3,4,300,0\n");
    assert_eq!(points(&fixations), [(1.0, 2.0)]);
    assert_eq!(fixations.dropped[&Dropped::Invalid], 1);
    for (column, good, bad) in [
        ("valid", "1", "0"),
        ("blink", "0", "1"),
        ("event", "fixation", "blink"),
        ("state", "Fix", "Blk"),
        ("eye movement type", "Fixation", "EyesNotFound"),
    ] {
        let gaze = plain(&format!(
            "x,y,time,{column}\n1,2,0.00,{good}\n3,4,0.02,{bad}\n5,6,0.04,{good}\n"
        ));
        let samples = &gaze.recordings[0].samples;
        assert_eq!(samples.len(), 3, "{column}");
        assert_eq!(samples[1].1, None, "{column}");
        assert!(assumes(&gaze, "count as lost"), "{column}");
    }
}

#[test]
fn unknown_labels_are_listed_and_can_be_chosen() {
    for (column, labels) in [
        ("event", ["Fijacion", "Sacada", "Parpadeo"]),
        ("EventType", ["0", "1", "2"]),
    ] {
        let rows = labels.map(|label| format!("1,2,200,{label}\n")).concat();
        let text = format!("x,y,duration,{column}\n{rows}");
        let [
            EncodeNote::LabelsNotUsed {
                column: name,
                labels: listed,
                ..
            },
        ] = &plain(&text).notes[..]
        else {
            panic!("a note about {column}");
        };
        assert_eq!((name.as_str(), listed.len()), (column, 3));
        let chosen = EventChoice::Labels(vec![labels[0].to_string()]);
        let chosen = read(&text, &with_events(chosen)).unwrap();
        assert_eq!(points(&chosen).len(), 1);
        assert_eq!(chosen.unrequested_events[labels[1]], 1);
        assert!(chosen.notes.is_empty());
    }
    let abbreviated = plain("x,y,duration,state\n1,2,200,Fix\n3,4,30,Sac\n5,6,90,Blk\n");
    assert_eq!(points(&abbreviated), [(1.0, 2.0)]);
    assert!(abbreviated.notes.is_empty());
}

#[test]
fn labels_that_do_not_occur_are_errors() {
    let wanted = |labels: &[&str]| {
        let labels = labels.iter().map(|label| label.to_string());
        with_events(EventChoice::Labels(labels.collect()))
    };
    let text = "x,y,duration,event\n1,2,200,Fix\n3,4,30,Sac\n";
    let error = read(text, &wanted(&["Fixx"])).unwrap_err();
    assert!(error.remedy.contains("Fix, Sac"), "{error}");
    let some = read(text, &wanted(&["Fix", "Purs"])).unwrap();
    let labels = vec!["Purs".to_string()];
    assert_eq!(some.notes, [EncodeNote::LabelsMissing { labels }]);
    let error = read("x,y,duration,kind\n1,2,200,look\n", &wanted(&["look"])).unwrap_err();
    assert!(error.remedy.contains("kind"), "{error}");
    assert!(error.fields.contains(&EncodeField::EventColumn));
}

#[test]
fn the_summary_says_what_columns_were_taken_for() {
    let roles = |text: &str| {
        let roles = plain(text).columns.unwrap();
        let used = roles.used.iter();
        let used: Vec<String> = used
            .map(|one| format!("{}={}", one.role, one.column))
            .collect();
        (used.join(" "), roles.not_used.join(" "))
    };
    let (used, unused) = roles(
        "subject,trial_index,gaze_x,gaze_y,fixation_x,fixation_y,dur,label,pupil\n1,2,3,4,5,6,7,FIXA,8\n",
    );
    assert_eq!(
        used,
        "participant=subject stimulus=trial_index x=fixation_x y=fixation_y duration=dur event=label"
    );
    assert_eq!(unused, "gaze_x gaze_y pupil");
}

/// Labels are recognised in a column of any name, but only if one of them means a fixation.
#[test]
fn labels_are_recognised_by_their_words() {
    let rows = "1,1,200,SACC,FIXA\n2,2,200,BLINK,SACC\n3,3,200,SACC,FIXA\n4,4,200,SACC,FIXA\n";
    let read = plain(&format!("x,y,duration,before,kind\n{rows}"));
    assert_eq!(points(&read), [(1.0, 1.0), (3.0, 3.0), (4.0, 4.0)]);
    assert!(assumes(&read, "the column \"kind\" has event labels"));
    let read = plain(&format!("x,y,duration,before,aoi\n{rows}"));
    assert_eq!(points(&read).len(), 4);
    assert!(
        matches!(&read.notes[..], [EncodeNote::LabelsNotUsed { column, .. }] if column == "before"),
        "{:?}",
        read.notes
    );
}

/// The letters of a table of samples at 100 Hz on a grid of 2 × 1.
fn letters(text: &str, options: &ReadOptions, letters: &LetterOptions) -> String {
    let mut collector = Collector::new(letters).unwrap();
    collector.set_screen_settings(options);
    collector.begin_file("t.csv", "table", "a table");
    let input = Input::from_bytes("t.csv", text.as_bytes().to_vec()).unwrap();
    Table.read(input, options, &mut collector).unwrap();
    let (cohort, summary) = collector.finish().unwrap();
    assert_eq!(
        summary.rows_read,
        summary.rows_used + summary.rows_not_used()
    );
    let path = &cohort.entries[0].scanpath;
    cohort.alphabet.format(path)
}

/// Samples that are left out still take time: two short looks do not become a long one.
#[test]
fn unrequested_samples_separate_runs() {
    let options = ReadOptions {
        rate_hz: Some(100.0),
        screen: Some((100.0, 100.0)),
        ..with_events(EventChoice::Fixations)
    };
    let encode = LetterOptions {
        letter_map: LetterMap::Grid("2x1".parse().unwrap()),
        ..LetterOptions::default()
    };
    let by_count = LetterOptions {
        runs: RunOptions {
            by: RunsBy::Count,
            ..RunOptions::default()
        },
        ..encode.clone()
    };
    let labelled = |times: bool, saccade: usize| {
        let labels = [("fixation", 6, 10), ("saccade", saccade, 90)];
        let labels = labels
            .into_iter()
            .chain([("fixation", 6, 10), ("fixation", 20, 60)]);
        let labels = labels.flat_map(|(label, rows, x)| std::iter::repeat_n((label, x), rows));
        let header = if times {
            "x,y,event,time_ms\n"
        } else {
            "x,y,event\n"
        };
        let rows = labels.enumerate().map(|(row, (label, x))| match times {
            true => format!("{x},5,{label},{}\n", row * 10),
            false => format!("{x},5,{label}\n"),
        });
        std::iter::once(header.to_string())
            .chain(rows)
            .collect::<String>()
    };
    for (times, how) in [(false, &encode), (true, &encode), (true, &by_count)] {
        // Each look lasts 60 ms, and the saccade between them 200 ms or, within the longest gap, 30 ms.
        assert_eq!(
            letters(&labelled(times, 20), &options, how),
            "BB",
            "{times}"
        );
        assert_eq!(
            letters(&labelled(times, 3), &options, how),
            "ABB",
            "{times}"
        );
    }
}

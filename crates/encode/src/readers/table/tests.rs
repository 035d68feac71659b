mod coordinates;
mod event_words;
mod events;
mod eyes;
mod participants;

use super::*;
use crate::EncodeField;
use crate::EncodeNote;
use crate::readers::recorder::{
    Recorder, read_file, read_text, recognised, shared_file, tiny_file,
};
use crate::{CoordinateUnit, NamePattern, Space};

fn read(text: &str, options: &ReadOptions) -> Result<Recorder, ReadError> {
    read_text(&Table, "dir/t.csv", text, options)
}

fn plain(text: &str) -> Recorder {
    read(text, &ReadOptions::default()).unwrap()
}

fn assumes(read: &Recorder, words: &str) -> bool {
    read.assumed.iter().any(|text| text.contains(words))
}

#[test]
fn the_test_file_of_fixations_is_read() {
    let options = ReadOptions {
        screen: Some((640.0, 480.0)),
        ..ReadOptions::default()
    };
    let (read, recognised) = read_file(&Table, &tiny_file("table.csv"), &options).unwrap();
    assert_eq!(recognised, "table");
    let ids: Vec<_> = read
        .recordings
        .iter()
        .map(|one| (one.participant.as_str(), one.stimulus.as_deref().unwrap()))
        .collect();
    // Anna saw the cat in two trials.
    assert_eq!(
        ids,
        [
            ("anna", "cat.png"),
            ("anna", "dog.png"),
            ("anna", "cat.png (2)"),
            ("ben", "dog.png"),
        ]
    );
    assert_eq!(read.notes, [EncodeNote::StimuliRepeated { trials: 1 }]);
    let face = Some("face".to_string());
    assert_eq!(
        read.recordings[0].fixations,
        [
            (100.5, 200.0, Some(250.0), face),
            (140.0, 210.5, Some(180.0), None),
        ]
    );
    let end = Some("tail, end".to_string());
    assert_eq!(
        read.recordings[3].fixations,
        [(335.0, 255.0, Some(410.0), end)]
    );
    assert_eq!(read.recordings[0].kind, Kind::Fixations);
    assert_eq!(read.recordings[0].space, Some(Space::pixels(640.0, 480.0)));
    let dropped: Vec<_> = read.dropped.into_iter().collect();
    assert_eq!(
        dropped,
        [
            (Dropped::Lost, 1),
            (Dropped::NegativeDuration, 1),
            (Dropped::NoStimulus, 1),
        ]
    );
    assert_eq!(read.assumed.len(), 2);
}

#[test]
fn the_test_file_of_gaze_is_read() {
    let path = tiny_file("table-gaze.tsv");
    let (read, recognised) = read_file(&Table, &path, &ReadOptions::default()).unwrap();
    assert_eq!(recognised, "table");
    let [first, second] = read.recordings.as_slice() else {
        panic!("two recordings");
    };
    assert_eq!(
        (first.participant.as_str(), second.participant.as_str()),
        ("P1", "P2")
    );
    assert_eq!(
        first.samples,
        [
            (Some(0.0), Some((0.5, 0.5)), None),
            (Some(8.0), Some((0.51, 0.5)), None),
            (Some(16.0), None, None),
            (Some(24.0), None, None),
        ]
    );
    assert_eq!(second.samples.len(), 2);
    assert_eq!(first.space, Some(Space::unit()));
    assert_eq!(first.kind, Kind::Gaze { rate_hz: None });
    // The column names state all units.
    assert!(read.assumed.is_empty(), "{:?}", read.assumed);
}

#[test]
fn units_are_guessed_from_the_first_rows_and_reported() {
    let seconds = plain("x,y,duration\n500,300,0.25\n510,310,0.3\n");
    assert_eq!(seconds.recordings[0].fixations[0].2, Some(250.0));
    assert_eq!(seconds.recordings[0].space, None);
    assert!(assumes(&seconds, "durations are in s,") && assumes(&seconds, "pixels"));
    let micro = plain("x,y,start,end\n0.5,0.3,1000000,1250000\n0.2,0.3,1300000,1500000\n");
    assert_eq!(micro.recordings[0].fixations[0].2, Some(250.0));
    assert_eq!(micro.recordings[0].space, Some(Space::unit()));
    assert!(assumes(&micro, "µs") && assumes(&micro, "0 to 1"));
    for (step, unit) in [
        ("0.004", "in s,"),
        ("4", "in ms,"),
        ("4000", "in µs,"),
        ("4000000", "in ns,"),
    ] {
        let gaze = plain(&format!("t,x,y\n0,5,6\n{step},5,6\n"));
        let last = gaze.recordings[0].samples[1].0.unwrap();
        assert!((last - 4.0).abs() < 1e-9, "{step}");
        assert!(assumes(&gaze, unit), "{step}");
    }
    let globe = plain("lon,lat,dur\n-120,45,200\n");
    assert_eq!(globe.recordings[0].space, Some(Space::globe()));
    let east = plain("lon,lat,dur\n190,45,200\n");
    assert_eq!(east.recordings[0].space.unwrap().right, 360.0);
    let fractions = plain("longitude,latitude,duration\n0.2,0.4,200\n");
    assert_eq!(fractions.recordings[0].space, Some(Space::unit()));
    let pupil = plain("norm_pos_x,norm_pos_y,duration_ms\n0.2,0.4,200\n");
    assert_eq!(pupil.recordings[0].space, Some(Space::unit().flipped()));
    // Whole numbers near the corner are pixels.
    let corner = plain("x,y,duration\n0,1,200\n");
    assert_eq!(corner.recordings[0].space, None);
}

#[test]
fn given_units_take_precedence_over_names_and_rows() {
    let options = ReadOptions {
        units: Some(CoordinateUnit::Fraction),
        time_unit: Some(TimeUnit::Seconds),
        flip_y: true,
        participant: Some("P9".into()),
        stimulus: Some("film".into()),
        columns: [("x", "a"), ("y", "b"), ("duration", "c")]
            .map(|(ours, theirs)| (ours.to_string(), theirs.to_string()))
            .into(),
        ..ReadOptions::default()
    };
    let read = read("a [px];b;c\n100,5;2;3\n", &options).unwrap();
    let recording = &read.recordings[0];
    assert_eq!(recording.participant, "P9");
    assert_eq!(recording.stimulus.as_deref(), Some("film"));
    assert_eq!(recording.space, Some(Space::unit().flipped()));
    assert_eq!(recording.fixations, [(100.5, 2.0, Some(3000.0), None)]);
    assert!(read.assumed.is_empty());
}

#[test]
fn rows_without_durations_need_a_time_or_a_rate() {
    let text = "x,y\n10,20\n";
    let error = read(text, &ReadOptions::default()).unwrap_err();
    assert!(error.fields.contains(&EncodeField::Rate), "{error}");
    let with_rate = ReadOptions {
        rate_hz: Some(60.0),
        ..ReadOptions::default()
    };
    let gaze = read(text, &with_rate).unwrap();
    assert_eq!(
        gaze.recordings[0].kind,
        Kind::Gaze {
            rate_hz: Some(60.0)
        }
    );
    assert_eq!(
        gaze.recordings[0].samples,
        [(None, Some((10.0, 20.0)), None)]
    );
    let choose = |rows| ReadOptions {
        rows,
        ..ReadOptions::default()
    };
    let fixations = read(text, &choose(RowChoice::Fixations)).unwrap();
    assert_eq!(
        fixations.recordings[0].fixations,
        [(10.0, 20.0, None, None)]
    );
    let samples = read("x,y,time,duration\n1,2,3,4\n", &choose(RowChoice::Samples)).unwrap();
    assert_eq!(samples.recordings[0].samples.len(), 1);
}

#[test]
fn trials_and_stimuli_make_recordings() {
    let trials = plain("subject,trial,x,y,duration\nA,1,1,1,100\nA,2,1,1,100\nA,1,1,1,100\n");
    let names: Vec<_> = trials
        .recordings
        .iter()
        .map(|one| one.stimulus.clone())
        .collect();
    assert_eq!(names, [Some("1".into()), Some("2".into())]);
    assert_eq!(trials.recordings[0].fixations.len(), 2);
    let file = plain("x,y,duration\n1,1,100\n");
    assert_eq!(file.recordings[0].participant, "t");
    assert_eq!(file.recordings[0].stimulus, None);
    let options = ReadOptions {
        name_pattern: Some(NamePattern::parse("{stimulus}_sub-{participant}").unwrap()),
        ..ReadOptions::default()
    };
    let text = "x\ty\tduration\n1\t1\t100\n";
    let read = read_text(&Table, "segment_10_sub-19.tsv", text, &options).unwrap();
    assert_eq!(read.recordings[0].participant, "19");
    assert_eq!(read.recordings[0].stimulus.as_deref(), Some("segment_10"));
}

#[test]
fn encodings_and_line_ends_make_no_difference() {
    let text = "Participant;X;Y;Duration (ms)\r\nJosé;1,5;2;100\r\n";
    let utf16 = |to_bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    };
    let old: Vec<u8> = text.chars().map(|sign| sign as u8).collect();
    for bytes in [
        text.as_bytes().to_vec(),
        [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        text.replace("\r\n", "\r").into_bytes(),
        utf16(u16::to_le_bytes),
        utf16(u16::to_be_bytes),
        old,
    ] {
        let input = Input::from_bytes("t.csv", bytes).unwrap();
        assert_eq!(recognised(&input), "table");
        let mut read = Recorder::default();
        Table
            .read(input, &ReadOptions::default(), &mut read)
            .unwrap();
        assert_eq!(read.recordings[0].participant, "José");
        assert_eq!(
            read.recordings[0].fixations,
            [(1.5, 2.0, Some(100.0), None)]
        );
    }
}

#[test]
fn broken_tables_are_errors_with_their_place() {
    let header = "subject,x,y,duration\nA,1,2,3\n";
    for (row, column) in [
        ("B,1", 3),
        ("B,1,2", 4),
        ("B,one,2,3", 2),
        ("B,1,2,long", 4),
        (",1,2,3", 1),
        ("B,1,5,2,5,3,5", 5),
        ("\"B,1,2,3", 0),
    ] {
        let text = format!("{header}{row}\n");
        let error = read(&text, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.line, Some(3), "{error}");
        assert_eq!(error.column.map_or(0, |column| column.0), column, "{row}");
    }
    for (text, words) in [
        ("", "empty"),
        ("# only a comment\n", "empty"),
        ("x|y|duration\n1|2|3\n", "no columns"),
        ("12,13,200\n", "no columns"),
        ("x,duration\n1,2\n", "no columns"),
        ("x [furlong],y,duration\n1,2,3\n", "unit"),
        ("x [px],y [deg],duration\n1,2,3\n", "different units"),
        ("x,y,duration [weeks]\n1,2,3\n", "unit of time"),
    ] {
        let error = read(text, &ReadOptions::default()).unwrap_err();
        assert!(error.problem.contains(words), "{error}");
        assert!(!error.remedy.is_empty() && !error.remedy.contains("13"));
    }
}

#[test]
fn empty_rows_of_spreadsheets_are_counted() {
    let read = plain("subject,time,x,y\nA,0,1,2\nA,4,3,4\n,,,\n,,,,,\n");
    assert_eq!(read.dropped[&Dropped::Lost], 2);
    assert_eq!(read.recordings[0].samples.len(), 2);
    let read = plain("subject duration x y\nA 200 1 2\n");
    assert_eq!(read.recordings[0].fixations.len(), 1);
}

#[test]
fn published_reading_data_are_read() {
    let Some(path) = shared_file("scasim/eyemovements.csv") else {
        return;
    };
    let (read, recognised) = read_file(&Table, &path, &ReadOptions::default()).unwrap();
    assert_eq!(recognised, "table");
    let lengths: Vec<_> = read
        .recordings
        .iter()
        .map(|one| {
            (
                one.participant.as_str(),
                one.stimulus.as_deref().unwrap(),
                one.fixations.len(),
            )
        })
        .collect();
    assert_eq!(
        lengths,
        [
            ("Anne", "1", 11),
            ("Anne", "2", 14),
            ("Anne", "3", 18),
            ("Udi", "4", 11),
            ("Udi", "5", 14),
            ("Udi", "6", 18),
            ("Gustave", "7", 11),
            ("Gustave", "8", 14),
            ("Gustave", "9", 18),
        ]
    );
    let last = read.recordings[8].fixations.last();
    assert_eq!(last, Some(&(492.0, 382.0, Some(172.0), None)));
    assert!(assumes(&read, "in ms,"));
}

#[test]
fn published_fixation_vectors_are_read() {
    for (file, count, last) in [
        ("segment_10_sub-01.tsv", 36, (345.7, 206.8, 89.5)),
        ("segment_10_sub-19.tsv", 28, (356.1, 258.6, 1160.0)),
        ("segment_5_sub-19.tsv", 21, (869.1, 101.2, 139.0)),
    ] {
        let Some(path) = shared_file(&format!("multimatch_gaze/{file}")) else {
            return;
        };
        let (read, recognised) = read_file(&Table, &path, &ReadOptions::default()).unwrap();
        assert_eq!(recognised, "table");
        let fixations = &read.recordings[0].fixations;
        assert_eq!(fixations.len(), count, "{file}");
        let (x, y, duration, _) = fixations[count - 1];
        assert_eq!((x, y), (last.0, last.1));
        assert!((duration.unwrap() - last.2).abs() < 1e-9);
        assert!(assumes(&read, "durations are in s,"));
    }
}

#[test]
fn a_duplicate_column_is_reported() {
    let read = plain("participant,x,y,X,duration\nanna,0.5,0.5,0.9,200\n");
    assert_eq!(read.recordings[0].fixations[0].0, 0.5);
    assert!(assumes(&read, "several columns named \"x\""));
    assert!(!assumes(
        &plain("x,y,duration\n0.5,0.5,200\n"),
        "several columns"
    ));
}

#[test]
fn an_id_taken_from_the_file_name_is_reported() {
    let is_noted = |text: &str, options: &ReadOptions| {
        let read = read_text(&Table, "P7.csv", text, options).unwrap();
        assert_eq!(read.recordings[0].participant, "P7");
        assumes(&read, "named after the file")
    };
    let unnamed = "x,y,duration\n0.5,0.5,200\n";
    assert!(is_noted(unnamed, &ReadOptions::default()));
    // The file may be named after the participant in its column.
    let named = "participant,x,y,duration\nP7,0.5,0.5,200\n";
    assert!(!is_noted(named, &ReadOptions::default()));
    let by_user = ReadOptions {
        participant: Some("P7".into()),
        ..ReadOptions::default()
    };
    assert!(!is_noted(unnamed, &by_user));
}

#[test]
fn starts_of_fixations_are_read_in_their_own_unit() {
    let starts = |text: &str| plain(text).recordings.remove(0).starts;
    let both = "x,y,start_s,duration_ms\n1,1,0.5,200\n1,1,,200\n";
    assert_eq!(starts(both), [Some(500.0), None]);
    let inferred = "x;y;start;end\n1;1;0,25;0,5\n";
    assert_eq!(starts(inferred), [Some(250.0)]);
}

#[test]
fn names_that_columns_replace_are_noted() {
    let options = ReadOptions {
        participant: Some("a".to_string()),
        stimulus: Some("b".to_string()),
        name_pattern: Some(NamePattern::parse("{participant}").unwrap()),
        ..ReadOptions::default()
    };
    for (text, expected) in [
        ("x,y,duration\n1,2,200\n", vec![]),
        (
            "x,y,duration,subject\n1,2,200,p\n",
            vec![EncodeField::Participant],
        ),
        (
            "x,y,duration,subject,image\n1,2,200,p,s\n",
            vec![
                EncodeField::Participant,
                EncodeField::Stimulus,
                EncodeField::NamePattern,
            ],
        ),
    ] {
        let read = read(text, &options).unwrap();
        let fields = read.notes.iter().map(|note| match note {
            EncodeNote::NoEffect { field, .. } => *field,
            other => panic!("{other:?}"),
        });
        assert_eq!(fields.collect::<Vec<_>>(), expected, "{text}");
    }
}

#[test]
fn a_time_unit_has_no_effect_without_times() {
    let options = ReadOptions {
        time_unit: Some(crate::TimeUnit::Seconds),
        rate_hz: Some(100.0),
        ..ReadOptions::default()
    };
    let no_effect = EncodeNote::NoEffect {
        field: EncodeField::TimeUnit,
        reason: crate::NoEffect::NoTimes,
    };
    assert_eq!(read("x,y\n1,2\n", &options).unwrap().notes, [no_effect]);
    let timed = read("x,y,time\n1,2,3\n", &options).unwrap();
    assert!(timed.notes.is_empty(), "{:?}", timed.notes);
}

use super::*;
use crate::readers::FORMATS;
use crate::readers::recorder::{Recorder, shared_file};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const DATA: &str = "sub-01_task-a_ses-2_recording-eye1_physio.tsv";
const SIDECAR: &str = r#"{"SamplingFrequency": 50, "Columns": ["x_coordinate", "y_coordinate"]}"#;

fn read_file(path: &Path, options: &ReadOptions) -> Result<Recorder, ReadError> {
    let mut recorder = Recorder::default();
    BidsPhysio.read(Input::open(path)?, options, &mut recorder)?;
    Ok(recorder)
}

/// A folder with these files in it; the first one is the data.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let path = folder.path().join(files[0].0);
    (folder, path)
}

fn read_files(files: &[(&str, &str)], options: &ReadOptions) -> Result<Recorder, ReadError> {
    let (_folder, path) = folder(files);
    read_file(&path, options)
}

#[test]
fn the_test_file_is_read() {
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/formats/bids/sub-01_task-search_run-1_recording-eye1_physio.tsv.gz"
    ));
    let head = Input::open(path).unwrap().head();
    let first = FORMATS
        .iter()
        .find(|format| format.recognises(&head))
        .unwrap();
    assert_eq!(first.name(), "bids-physio");
    let read = read_file(path, &ReadOptions::default()).unwrap();
    let [recording] = read.recordings.as_slice() else {
        panic!("one recording");
    };
    assert_eq!(recording.participant, "sub-01");
    assert_eq!(recording.stimulus.as_deref(), Some("search/run-1"));
    assert_eq!(
        recording.kind,
        Kind::Gaze {
            rate_hz: Some(100.0)
        }
    );
    assert_eq!(recording.space, Some(Space::pixels(800.0, 600.0)));
    assert_eq!(recording.samples.len(), 6);
    assert_eq!(recording.samples[0], (Some(0.0), Some((100.0, 50.0)), None));
    assert_eq!(recording.samples[2], (Some(20.0), None, None));
    assert_eq!(
        recording.samples[5],
        (Some(50.0), Some((810.0, 300.0)), None)
    );
    assert!(read.assumed.is_empty(), "{:?}", read.assumed);
}

#[test]
fn time_without_timestamps_or_without_their_unit_is_counted_by_the_rate() {
    let read = read_files(
        &[(DATA, "1\t2\r\nn/a\t4\r\n"), ("physio.json", SIDECAR)],
        &ReadOptions::default(),
    )
    .unwrap();
    assert_eq!(
        read.recordings[0].samples,
        [(None, Some((1.0, 2.0)), None), (None, None, None)]
    );
    assert_eq!(
        read.recordings[0].kind,
        Kind::Gaze {
            rate_hz: Some(50.0)
        }
    );
    assert_eq!(read.recordings[0].space, None);
    let timed =
        r#"{"SamplingFrequency": 50, "Columns": ["timestamp", "x_coordinate", "y_coordinate"]}"#;
    let files = [(DATA, "7000\t1\t2\n"), ("physio.json", timed)];
    let read = read_files(&files, &ReadOptions::default()).unwrap();
    assert_eq!(read.recordings[0].samples[0].0, None);
    assert!(
        read.assumed
            .iter()
            .any(|text| text.contains("sampling frequency"))
    );
    let options = ReadOptions {
        time_unit: Some(TimeUnit::Microseconds),
        ..ReadOptions::default()
    };
    let read = read_files(&files, &options).unwrap();
    assert_eq!(read.recordings[0].samples[0].0, Some(7.0));
}

#[test]
fn the_screen_and_its_origin_come_from_the_json_files_and_the_user_overrides() {
    let space = |screen: &str, options: &ReadOptions| {
        let files = [
            (DATA, "1\t2\n"),
            ("physio.json", SIDECAR),
            ("task-a_events.json", screen),
        ];
        read_files(&files, options).map(|read| read.recordings[0].space)
    };
    let none = ReadOptions::default();
    let bottom = r#"{"StimulusPresentation": {"ScreenResolution": [800, 600], "ScreenOrigin": ["bottom", "left"]}}"#;
    assert_eq!(
        space(bottom, &none).unwrap(),
        Some(Space::pixels(800.0, 600.0).flipped())
    );
    let options = ReadOptions {
        screen: Some((1024.0, 768.0)),
        flip_y: true,
        ..ReadOptions::default()
    };
    assert_eq!(
        space(bottom, &options).unwrap(),
        Some(Space::pixels(1024.0, 768.0))
    );
    let centre = r#"{"ScreenResolution": [800, 600], "EnvironmentCoordinates": "center"}"#;
    assert_eq!(
        space(centre, &none).unwrap().unwrap().fraction(0.0, 0.0),
        (0.5, 0.5)
    );
    for odd in [
        "[]",
        r#"{"StimulusPresentation": 3}"#,
        r#"{"ScreenResolution": [0, "x"]}"#,
    ] {
        assert!(!matches!(space(odd, &none), Ok(Some(_))), "{odd}");
    }
}

#[test]
fn one_eye_of_two_is_taken() {
    let eye = |label: &str, eye: &str| {
        let data = format!("sub-01_task-a_recording-{label}_physio");
        let sidecar = format!(
            r#"{{"SamplingFrequency": 50, "Columns": ["x_coordinate", "y_coordinate"]{eye}}}"#
        );
        (format!("{data}.tsv"), format!("{data}.json"), sidecar)
    };
    let used = |own: &str, other: &str, wanted: Eye| {
        let (data, json, text) = eye("eye2", own);
        let (data1, json1, text1) = eye("eye1", other);
        let options = ReadOptions {
            eye: wanted,
            ..ReadOptions::default()
        };
        let files = [
            (data.as_str(), "1\t2\n"),
            (&json, &text),
            (&data1, "1\t2\n"),
            (&json1, &text1),
        ];
        let read = read_files(&files, &options).unwrap();
        let used = read
            .recordings
            .iter()
            .map(|recording| recording.samples.len())
            .sum::<usize>();
        assert_eq!(
            read.dropped.get(&Dropped::OtherEye).copied().unwrap_or(0),
            1 - used as u64
        );
        used == 1
    };
    let (left, right) = (r#", "RecordedEye": "left""#, r#", "RecordedEye": "right""#);
    assert!(used(left, right, Eye::Any));
    assert!(!used(right, left, Eye::Any));
    assert!(used(right, left, Eye::Right));
    assert!(!used(left, right, Eye::Right));
    assert!(!used("", "", Eye::Any));
}

#[test]
fn one_eye_of_two_in_memory_is_taken() {
    let file = |name: &str, text: &str| (name.to_string(), text.as_bytes().into());
    let files = ["eye1", "eye2"].map(|eye| format!("sub-01_recording-{eye}_physio"));
    let dropped: Vec<(String, Arc<[u8]>)> = files
        .iter()
        .flat_map(|name| {
            let data = file(&format!("{name}.tsv"), "1\t2\n");
            [data, file(&format!("{name}.json"), SIDECAR)]
        })
        .collect();
    let recordings = |name: &str, companions: &[(String, Arc<[u8]>)]| {
        let input = Input::from_bytes(&format!("{name}.tsv"), "1\t2\n".into()).unwrap();
        let input = input.with_companions(companions.into());
        let mut recorder = Recorder::default();
        let options = ReadOptions::default();
        BidsPhysio.read(input, &options, &mut recorder).unwrap();
        recorder.recordings.len()
    };
    let [first, second] = &files;
    assert_eq!(recordings(first, &dropped), 1);
    assert_eq!(recordings(second, &dropped), 0);
    // The metadata of an eye whose recording was not dropped do not matter.
    assert_eq!(recordings(second, &dropped[1..]), 1);
}

#[test]
fn older_drafts_have_a_header_and_both_eyes() {
    let text = "eye_timestamp\teye1_x_coordinate\teye1_y_coordinate\teye2_x_coordinate\teye2_y_coordinate\n5\t1\t2\t3\t4\n";
    let options = ReadOptions {
        eye: Eye::Right,
        time_unit: Some(TimeUnit::Milliseconds),
        ..ReadOptions::default()
    };
    let read = read_files(&[("sub-9_eyetrack.tsv", text)], &options).unwrap();
    assert_eq!(
        read.recordings[0].samples,
        [(Some(5.0), Some((3.0, 4.0)), None)]
    );
    assert_eq!(read.recordings[0].stimulus, None);
    let used = |text: &str| read.assumed.iter().any(|note| note.contains(text));
    assert!(used("the right one was used") && !used("the left one was used"));
}

#[test]
fn refusals_say_what_to_do() {
    let refused = |files: &[(&str, &str)]| {
        let error = read_files(files, &ReadOptions::default()).err().unwrap();
        assert!(!error.remedy.is_empty(), "{error}");
        error.to_string()
    };
    let json = |text: &'static str| ("physio.json", text);
    assert!(refused(&[(DATA, "")]).contains("datalad get"));
    assert!(refused(&[(DATA, "../../.git/annex/objects/x/y")]).contains("git annex get"));
    assert!(refused(&[(DATA, "1\t2\n")]).contains("JSON file"));
    assert!(refused(&[(DATA, "1\t2\n"), json("{}")]).contains("\"Columns\" is missing"));
    assert!(refused(&[("sub-1_physioevents.tsv", "0.1\t0.2\tblink\n")]).contains("_physio.tsv.gz"));
    let heart = r#"{"SamplingFrequency": 50, "Columns": ["cardiac"]}"#;
    assert!(refused(&[(DATA, "1\n"), json(heart)]).contains("cardiac"));
    let without_rate = r#"{"Columns": ["x_coordinate", "y_coordinate"]}"#;
    assert!(refused(&[(DATA, "1\t2\n"), json(without_rate)]).contains("sampling rate"));
    let volts = r#"{"SamplingFrequency": 50, "Columns": ["x_coordinate", "y_coordinate"], "x_coordinate": {"Units": "V"}}"#;
    assert!(refused(&[(DATA, "1\t2\n"), json(volts)]).contains("not a known unit"));
    assert!(refused(&[(DATA, "1\t2\n"), json("{\"Columns\": [")]).contains("truncated"));
    assert!(
        refused(&[(DATA, "1\t2\n1\n"), json(SIDECAR)]).contains("line 2, column 2 (y_coordinate)")
    );
    assert!(refused(&[(DATA, "1 2\n"), json(SIDECAR)]).contains("line 1"));
}

#[test]
fn a_published_file_is_read() {
    let folder = "bids_bep020/eyetracking_eeg_ds007338/sub-EP10/ses-01/eeg";
    let Some(path) = shared_file(&format!(
        "{folder}/sub-EP10_ses-01_task-dots_run-01_recording-eye1_physio.tsv.gz"
    )) else {
        return;
    };
    let read = read_file(&path, &ReadOptions::default()).unwrap();
    let recording = &read.recordings[0];
    assert_eq!(recording.participant, "sub-EP10");
    assert_eq!(recording.stimulus.as_deref(), Some("dots/ses-01/run-01"));
    assert_eq!(recording.space, Some(Space::pixels(800.0, 600.0)));
    assert_eq!(
        recording.kind,
        Kind::Gaze {
            rate_hz: Some(10.0)
        }
    );
    assert_eq!(recording.samples.len(), 51);
    let first = recording.samples[0].clone();
    assert_eq!(
        first,
        (Some(0.0), Some((85.0929074158796, 81.88974669393238)), None)
    );
    assert_eq!(recording.samples[50].0, Some(5000.0));
    assert!(recording.samples.iter().all(|sample| sample.1.is_some()));
}

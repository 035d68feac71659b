use super::*;
use crate::EncodeField;
use crate::readers::common::testing::{
    assert_damage_does_not_panic, read_path, read_recognised, recognised,
};
use crate::readers::recorder::{Recorder, read_text, shared_file};

fn read(text: &str, options: &ReadOptions) -> Result<Recorder, ReadError> {
    read_text(&EyelinkAsc, "t.asc", text, options)
}

#[test]
fn fixations_of_the_test_file_are_read() {
    let read = read_recognised(&EyelinkAsc, "eyelink-asc.asc", &ReadOptions::default());
    let [harbour, garden] = read.recordings.as_slice() else {
        panic!("{read:?}")
    };
    assert_eq!(harbour.participant, "eyelink-asc");
    assert_eq!(harbour.stimulus.as_deref(), Some("harbour.png"));
    assert_eq!(harbour.kind, Kind::Fixations);
    assert_eq!(harbour.space, Some(Space::pixels(1024.0, 768.0)));
    assert_eq!(
        harbour.fixations,
        [
            (101.0, 200.5, Some(204.0), None),
            (700.5, 300.5, Some(250.0), None)
        ]
    );
    assert_eq!(garden.stimulus.as_deref(), Some("garden.png"));
    assert_eq!(garden.fixations, [(500.0, 400.0, Some(200.0), None)]);
    assert_eq!(read.dropped[&Dropped::OtherEye], 1);
    assert_eq!(read.dropped[&Dropped::Lost], 1);
    // 8 messages, 5 samples, SFIX, ESACC and EBLINK.
    assert_eq!(read.dropped[&Dropped::OtherEvent], 16);
    assert!(read.assumed.iter().any(|text| text.contains("left one")));
}

#[test]
fn samples_of_either_eye_are_read() {
    let mut options = ReadOptions {
        rows: RowChoice::Samples,
        ..ReadOptions::default()
    };
    let left = read_recognised(&EyelinkAsc, "eyelink-asc.asc", &options);
    assert_eq!(
        left.recordings[0].kind,
        Kind::Gaze {
            rate_hz: Some(500.0)
        }
    );
    assert_eq!(
        left.recordings[0].samples,
        [
            (Some(1004.0), Some((100.0, 200.0)), None),
            (Some(1006.0), Some((102.0, 201.0)), None),
            (Some(1008.0), None, None)
        ]
    );
    assert_eq!(left.recordings[1].samples.len(), 1);
    assert_eq!(left.dropped[&Dropped::NoStimulus], 1);
    let slower = ReadOptions {
        rate_hz: Some(250.0),
        ..options.clone()
    };
    let read = read_recognised(&EyelinkAsc, "eyelink-asc.asc", &slower);
    let rate_hz = Some(250.0);
    assert_eq!(read.recordings[0].kind, Kind::Gaze { rate_hz });
    let says = |text: &&String| text.contains("250 Hz as given, not 500 Hz");
    assert_eq!(read.assumed.iter().filter(says).count(), 1);
    options.eye = Eye::Right;
    let right = read_recognised(&EyelinkAsc, "eyelink-asc.asc", &options);
    assert_eq!(
        right.recordings[0].samples,
        [
            (Some(1004.0), Some((110.0, 210.0)), None),
            (Some(1006.0), None, None),
            (Some(1008.0), Some((112.0, 212.0)), None)
        ]
    );
    options.eye = Eye::Left;
    let only_left = read_recognised(&EyelinkAsc, "eyelink-asc.asc", &options);
    assert_eq!(only_left.recordings.len(), 1);
    assert_eq!(only_left.dropped[&Dropped::OtherEye], 1 + 1);
}

#[test]
fn trials_and_blocks_name_recordings() {
    let blocks =
        "START 1 LEFT EVENTS\nEFIX L 1 2 3 4 5 6\nEND 2\nSTART 3 LEFT EVENTS\nEFIX L 4 5 6 7 8 9\n";
    let names = |text: &str, options: &ReadOptions| -> Vec<String> {
        let recordings = read(text, options).unwrap().recordings;
        recordings
            .into_iter()
            .map(|recording| recording.stimulus.unwrap_or_default())
            .collect()
    };
    let plain = ReadOptions::default();
    let named = ReadOptions {
        stimulus: Some("film".into()),
        ..ReadOptions::default()
    };
    assert_eq!(names(blocks, &plain), ["block 1", "block 2"]);
    assert_eq!(names(blocks, &named), ["film"]);
    assert_eq!(names("EFIX L 1 2 3 4 5 6\n", &plain), [""]);
    let one = "MSG 1 TRIALID 7\nEFIX L 1 2 3 4 5 6\n";
    assert_eq!(names(one, &plain), ["trial 7"]);
    assert_eq!(names(one, &named), ["film"]);
    let says_numbers = |text: &str, options: &ReadOptions| {
        let assumed = read(text, options).unwrap().assumed;
        assumed.iter().any(|text| text.contains("trial numbers"))
    };
    assert!(says_numbers(one, &plain) && !says_numbers(one, &named));
    assert!(!says_numbers(
        "MSG 1 TRIALID cat\nEFIX L 1 2 3 4 5 6\n",
        &plain
    ));
    let two = "MSG 1 TRIALID cat\nEFIX L 1 2 3 4 5 6\nMSG 8 TRIALID cat\nEFIX L 8 9 3 4 5 6\n";
    assert_eq!(names(two, &plain), ["cat", "cat (2)"]);
    assert_eq!(names(two, &named), ["cat", "cat (2)"]);
}

#[test]
fn a_fixation_belongs_to_the_trial_in_which_it_starts() {
    let text = "MSG 1000 TRIALID cat\nEFIX L 1100 1300 200 1 1 6\n\
                MSG 1500 TRIAL_RESULT 0\nMSG 1501 TRIALID dog\nEFIX L 1400 1600 200 2 2 6\n\
                EFIX L 1700 1800 100 3 3 6\nMSG 1900 TRIAL_RESULT 0\nMSG 2000 TRIALID owl\n\
                EFIX L 1950 2100 150 4 4 6\nEFIX L 2150 2300 150 5 5 6\n";
    let read = read(text, &ReadOptions::default()).unwrap();
    let found: Vec<_> = read
        .recordings
        .iter()
        .map(|trial| {
            let xs: Vec<f64> = trial.fixations.iter().map(|fixation| fixation.0).collect();
            (trial.stimulus.as_deref().unwrap(), xs)
        })
        .collect();
    assert_eq!(
        found,
        [
            ("cat", vec![1.0, 2.0]),
            ("dog", vec![3.0]),
            ("owl", vec![5.0])
        ]
    );
    assert_eq!(read.recordings[0].starts, [Some(1100.0), Some(1400.0)]);
    assert_eq!(read.dropped[&Dropped::NoStimulus], 1);
}

#[test]
fn errors_are_reported() {
    let options = ReadOptions::default();
    let error = |text: &str| read(text, &options).unwrap_err();
    assert!(error("").problem.contains("empty"));
    assert!(error("MSG 1 x\n").problem.contains("no gaze sample"));
    let short = error("EFIX L 1 2 3 4 5 6\r\nEFIX L 1 2 3 4\r\n");
    assert_eq!(short.line, Some(2));
    assert_eq!(short.column, Some(Box::new((7, "y".into()))));
    assert!(error("EFIX X 1 2 3 4 5 6\n").problem.contains("L or R"));
    let word = error("EFIX L 1 2 3 secret 5 6\n");
    assert!(!word.to_string().contains("secret"));
    let href = error("EVENTS HREF LEFT\nEFIX L 1 2 3 4 5 6\n");
    assert!(href.remedy.contains("gaze positions"));
    let fixations = ReadOptions {
        rows: RowChoice::Fixations,
        ..ReadOptions::default()
    };
    let none = read("1 2 3 4 ...\n", &fixations).unwrap_err();
    assert!(none.fields == [EncodeField::Rows]);
    let edf = Input::from_bytes("a.edf", b"SR_RESEARCH_COMBFILE\n\0\0".to_vec()).unwrap();
    assert_eq!(recognised(&edf.head()), None);
    let edf = EyelinkAsc.read(edf, &options, &mut Recorder::default());
    assert!(edf.unwrap_err().remedy.contains("edf2asc"));
}

#[test]
fn a_given_size_that_contradicts_the_file_is_reported() {
    let text = "MSG 1 GAZE_COORDS 0.00 0.00 1023.00 767.00\nEFIX L 1 2 3 4 5 6\n";
    let assumed = |width: f64, height: f64| {
        let options = ReadOptions {
            screen: Some((width, height)),
            ..ReadOptions::default()
        };
        let assumed = read(text, &options).unwrap().assumed;
        assumed.into_iter().find(|text| text.contains("as given"))
    };
    assert_eq!(assumed(1024.0, 768.0), None);
    let expected = "the size is 1280x1024 as given, not 1024x768 as in the file";
    assert_eq!(assumed(1280.0, 1024.0).as_deref(), Some(expected));
}

#[test]
fn odd_cases_are_counted() {
    let text = "\u{feff}** CONVERTED FROM x.edf\r\nMSG 1 GAZE_COORDS 0.00 0.00 1920.00 1080.00\r\n\
                EFIX R 1 2 -3 4 5 6\r\nEFIX R 1 2 3 nan 5 6\r\nEFIX R 1 2 3 4 5\r\n";
    let read = read(text, &ReadOptions::default()).unwrap();
    assert_eq!(read.dropped[&Dropped::NegativeDuration], 1);
    assert_eq!(read.dropped[&Dropped::Lost], 1);
    assert_eq!(read.recordings[0].fixations.len(), 1);
    assert_eq!(
        read.recordings[0].space,
        Some(Space::pixels(1920.0, 1080.0))
    );
    let screen = ReadOptions {
        screen: Some((800.0, 600.0)),
        flip_y: true,
        ..ReadOptions::default()
    };
    let forced = super::tests::read(text, &screen).unwrap();
    assert_eq!(
        forced.recordings[0].space,
        Some(Space::pixels(800.0, 600.0).flipped())
    );
}

#[test]
fn damaged_input_does_not_panic() {
    assert_damage_does_not_panic(&EyelinkAsc, "eyelink-asc.asc");
}

#[test]
fn a_published_monocular_file_is_read() {
    let Some(path) = shared_file("eyelink_asc/eyelink_monocular_example.asc") else {
        return;
    };
    let read = read_path(&EyelinkAsc, &path, &ReadOptions::default()).unwrap();
    let found: Vec<_> = read
        .recordings
        .iter()
        .map(|recording| (recording.stimulus.as_deref(), recording.fixations.clone()))
        .collect();
    // The first starts a millisecond after trial 1 and ends one after trial 2; trial 4 has a time before all others.
    assert_eq!(
        found,
        [
            (Some("trial 1"), vec![(141.0, 132.2, Some(133.0), None)]),
            (Some("trial 4"), vec![(638.5, 531.8, Some(45.0), None)])
        ]
    );
    assert_eq!(
        read.recordings[0].space,
        Some(Space::pixels(1280.0, 1024.0))
    );
    let samples = ReadOptions {
        rows: RowChoice::Samples,
        ..ReadOptions::default()
    };
    let read = read_path(&EyelinkAsc, &path, &samples).unwrap();
    let counts: Vec<_> = read
        .recordings
        .iter()
        .map(|recording| (recording.stimulus.as_deref(), recording.samples.len()))
        .collect();
    assert_eq!(
        counts,
        [
            (Some("trial 0"), 3),
            (Some("trial 1"), 4),
            (Some("trial 2"), 2),
            (Some("trial 3"), 4),
            (Some("trial 4"), 2)
        ]
    );
    assert_eq!(read.dropped[&Dropped::NoStimulus], 1);
    assert_eq!(
        read.recordings[0].kind,
        Kind::Gaze {
            rate_hz: Some(1000.0)
        }
    );
}

#[test]
fn a_published_binocular_file_is_read() {
    let Some(path) = shared_file("eyelink_asc/eyelink_binocular_example.asc") else {
        return;
    };
    let mut options = ReadOptions::default();
    let read = read_path(&EyelinkAsc, &path, &options).unwrap();
    assert_eq!(read.recordings.len(), 1);
    assert_eq!(read.recordings[0].stimulus.as_deref(), Some("I902C_low"));
    assert_eq!(
        read.recordings[0].fixations,
        [(959.6, 533.7, Some(129.0), None)]
    );
    assert_eq!(
        read.recordings[0].space,
        Some(Space::pixels(1920.0, 1080.0))
    );
    // One fixation of each eye ended before the trial began.
    assert_eq!(read.dropped[&Dropped::NoStimulus], 1);
    assert_eq!(read.dropped[&Dropped::OtherEye], 2);
    options.rows = RowChoice::Samples;
    options.eye = Eye::Right;
    let read = read_path(&EyelinkAsc, &path, &options).unwrap();
    let samples = &read.recordings[0].samples;
    assert_eq!(
        samples.last(),
        Some(&(Some(1_409_027.0), Some((940.6, 538.1)), None))
    );
    let all = samples.len() + usize::try_from(read.dropped[&Dropped::NoStimulus]).unwrap();
    assert_eq!(all, 368);
}

//! Notes about rows and participants that have another meaning than they seem to have.

use super::*;
use crate::{EncodeField, LikelyCause, NoLetters};
use std::f64::consts::PI;
use veilpath_metrics::Grid;

/// Thirty points all over the screen.
fn spread() -> Vec<(f64, f64)> {
    let place = |step: u32| f64::from(step % 30) / 29.0 * 690.0;
    (0..30).map(|step| (place(step), place(step * 7))).collect()
}

/// The notes about one recording of fixations.
fn notes_of<'a>(
    options: &LetterOptions,
    fixations: impl IntoIterator<Item = Fixation<'a>>,
) -> Vec<EncodeNote> {
    let mut sink = collector(options);
    let recording = recording("p", Some("s"), Kind::Fixations);
    let id = sink.recording(&recording).unwrap();
    for fixation in fixations {
        sink.fixation(id, fixation);
    }
    sink.finish().unwrap().1.notes
}

/// Two participants, each with one file and thirty fixations.
fn notes_of_two(
    options: &LetterOptions,
    place: impl Fn(usize, (f64, f64)) -> (f64, f64),
    durations: [f64; 2],
) -> Vec<EncodeNote> {
    let mut sink = Collector::new(options).unwrap();
    for (number, duration) in durations.into_iter().enumerate() {
        sink.begin_file(&format!("{number}.csv"), "table", "");
        let name = format!("p{number}");
        let recording = recording(&name, Some("s"), Kind::Fixations);
        let id = sink.recording(&recording).unwrap();
        for point in spread() {
            let (x, y) = place(number, point);
            sink.fixation(id, fixation(x, y, duration));
        }
    }
    sink.finish().unwrap().1.notes
}

/// Software joins fixations onto samples: every sample of 10 ms repeats the fixation of 250 ms that it belongs to.
#[test]
fn samples_with_fixation_columns_are_noted() {
    let rows = |step_ms: f64| {
        let of_one = move |(number, (x, y)): (u32, (f64, f64))| {
            (0..25).map(move |sample| Fixation {
                start_ms: Some(f64::from(number * 25 + sample) * step_ms),
                ..fixation(x, y, 250.0)
            })
        };
        (0..).zip(spread()).flat_map(of_one)
    };
    let notes = notes_of(&LetterOptions::default(), rows(10.0));
    let expected = EncodeNote::RepeatedFixations {
        fixations: 24 * 30,
        of: 25 * 30,
    };
    assert_eq!(notes, [expected]);
    assert_eq!(notes[0].fields(), [EncodeField::SampleRows]);
    // Some software repeats the start of the fixation instead of giving each sample its own time.
    let same_start = |row: Fixation<'static>| {
        let start_ms = row.start_ms.map(|start| (start / 250.0).floor() * 250.0);
        Fixation { start_ms, ..row }
    };
    let expected = &notes;
    assert_eq!(
        &notes_of(&LetterOptions::default(), rows(10.0).map(same_start)),
        expected
    );
    // Equal fixations that do not overlap are fixations.
    assert!(notes_of(&LetterOptions::default(), rows(300.0)).is_empty());
    // Without times, only equal rows say so.
    let untimed = rows(10.0).map(|row| Fixation {
        start_ms: None,
        ..row
    });
    assert_eq!(notes_of(&LetterOptions::default(), untimed).len(), 1);
    let different = spread().into_iter().map(|(x, y)| fixation(x, y, 250.0));
    assert!(notes_of(&LetterOptions::default(), different).is_empty());
}

/// Codes of a lost eye become letters if points beyond the edge go to the nearest cell.
#[test]
fn a_frequent_point_off_the_screen_is_noted_where_it_has_an_effect() {
    let clamped = LetterOptions {
        outside: Outside::Clamp,
        ..LetterOptions::default()
    };
    let with_losses = |losses: usize, code: (f64, f64)| {
        let points = spread().into_iter().chain(vec![code; losses]);
        points.map(|(x, y)| fixation(x, y, 100.0))
    };
    let lost = with_losses(3, (-1.0, -1.0));
    let expected = EncodeNote::ManyOffScreen {
        x: -1.0,
        y: -1.0,
        points: 3,
        all: 33,
    };
    assert!(
        expected
            .to_string()
            .contains("3 of 33 points are exactly -1,-1")
    );
    assert_eq!(notes_of(&clamped, lost), [expected]);
    let dropped = with_losses(3, (-1.0, -1.0));
    assert!(notes_of(&LetterOptions::default(), dropped).is_empty());
    assert!(notes_of(&clamped, with_losses(2, (-1.0, -1.0))).is_empty());
    assert!(notes_of(&clamped, with_losses(3, (5.0, 5.0))).is_empty());
}

#[test]
fn durations_of_a_participant_in_another_unit_are_noted_where_they_matter() {
    let binned = LetterOptions {
        bin_ms: Some(50.0),
        ..LetterOptions::default()
    };
    let expected = EncodeNote::OddDurations {
        participants: 1,
        of: 2,
        files: vec!["1.csv".into()],
    };
    assert_eq!(expected.fields(), [EncodeField::TimeUnit]);
    let same = |_, point| point;
    // Without a letter, its file is not used either.
    assert_eq!(notes_of_two(&binned, same, [200.0, 0.2])[0], expected);
    assert!(notes_of_two(&binned, same, [200.0, 300.0]).is_empty());
    assert!(notes_of_two(&LetterOptions::default(), same, [200.0, 0.2]).is_empty());
}

/// If many points of all participants are outside, a note about one of them would be misleading.
#[test]
fn a_wrong_screen_is_not_blamed_on_one_participant() {
    let factors = [1.7, 2.5];
    let place = |number: usize, (x, y)| (x * factors[number], y * factors[number]);
    let notes = notes_of_two(&LetterOptions::default(), place, [200.0; 2]);
    assert!(
        matches!(
            notes[..],
            [EncodeNote::ManyOutside {
                cause: LikelyCause::SizeOrUnit,
                ..
            }]
        ),
        "{notes:?}"
    );
}

#[test]
fn radians_are_recognised_on_any_grid() {
    let notes = |columns: u32, factor: f64| {
        let options = LetterOptions {
            letter_map: LetterMap::Grid(Grid::new(columns, columns).unwrap()),
            ..LetterOptions::default()
        };
        let mut sink = collector(&options);
        let recording = Recording {
            space: Some(Space::globe()),
            ..recording("p", Some("s"), Kind::Fixations)
        };
        let id = sink.recording(&recording).unwrap();
        for (x, y) in spread() {
            let (longitude, latitude) = ((x / 345.0 - 1.0) * PI, (y / 345.0 - 1.0) * PI / 2.0);
            sink.fixation(id, fixation(longitude * factor, latitude * factor, 200.0));
        }
        sink.finish().unwrap().1.notes
    };
    let expected = EncodeNote::Radians { points: 30 };
    assert!(expected.fields().is_empty());
    for columns in [7, 8] {
        assert_eq!(notes(columns, 1.0), std::slice::from_ref(&expected));
        assert!(notes(columns, 57.0).is_empty());
    }
}

#[test]
fn a_bin_that_is_too_long_is_the_reason_for_empty_scanpaths() {
    let binned = LetterOptions {
        bin_ms: Some(1000.0),
        ..LetterOptions::default()
    };
    let fixations = spread().into_iter().map(|(x, y)| fixation(x, y, 250.0));
    let expected = EncodeNote::NoLetters {
        scanpaths: 1,
        cause: NoLetters::ShortFixations { fixations: 30 },
    };
    assert_eq!(expected.fields(), [EncodeField::Bin, EncodeField::TimeUnit]);
    assert_eq!(notes_of(&binned, fixations), [expected]);
}

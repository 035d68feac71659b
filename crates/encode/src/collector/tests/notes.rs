//! Notes about points that are not where one would expect them, and about options without effect.

use super::*;
use crate::{
    DetectionOptions, Detector, EncodeField, Half, LikelyCause, NoEffect, NoLetters, RunOptions,
    RunsBy,
};

fn notes_of(options: &LetterOptions, points: &[(f64, f64)]) -> Vec<EncodeNote> {
    let mut sink = collector(options);
    let id = sink
        .recording(&recording("p", Some("s"), Kind::Fixations))
        .unwrap();
    for &(x, y) in points {
        sink.fixation(id, fixation(x, y, 100.0));
    }
    sink.finish().unwrap().1.notes
}

fn points(factor: f64, shift: f64) -> Vec<(f64, f64)> {
    let place = |step: u32| f64::from(step % 30) / 29.0 * factor + shift;
    (0..30).map(|step| (place(step), place(step * 7))).collect()
}

#[test]
fn all_points_in_one_cell_have_a_likely_reason() {
    let plain = LetterOptions::default();
    for (factor, shift, cause) in [
        (1.0, 0.0, LikelyCause::Fractions),
        (95.0, 2.0, LikelyCause::Percent),
        (60.0, 110.0, LikelyCause::SizeOrUnit),
    ] {
        let expected = EncodeNote::OneCell {
            points: 30,
            used: 30,
            cause,
        };
        assert_eq!(notes_of(&plain, &points(factor, shift)), [expected]);
    }
    assert!(notes_of(&plain, &points(690.0, 0.0)).is_empty());
    // A few say something only about another unit.
    let few = |points: usize| EncodeNote::OneCell {
        points: points as u64,
        used: points as u64,
        cause: LikelyCause::Fractions,
    };
    assert_eq!(notes_of(&plain, &points(1.0, 0.0)[..4]), [few(4)]);
    assert!(notes_of(&plain, &points(1.0, 0.0)[..2]).is_empty());
    assert!(notes_of(&plain, &points(60.0, 110.0)[..10]).is_empty());
    // They may be pixels near a corner.
    assert!(notes_of(&plain, &points(95.0, 2.0)[..10]).is_empty());
}

#[test]
fn most_points_outside_or_lost_have_a_likely_reason() {
    let plain = LetterOptions::default();
    let centred = notes_of(&plain, &points(690.0, -600.0));
    assert!(
        matches!(
            centred[0],
            EncodeNote::ManyOutside {
                cause: LikelyCause::CentreOrigin,
                ..
            }
        ),
        "{centred:?}"
    );
    let mut places = points(690.0, 0.0);
    places.extend([(f64::NAN, 0.0); 31]);
    let lost = EncodeNote::MostlyLost { lost: 31, rows: 61 };
    assert_eq!(notes_of(&plain, &places), [lost]);
}

/// Many trackers write -1,-1 for a lost eye, which does not put the origin into the centre.
#[test]
fn one_negative_point_says_nothing_about_the_origin() {
    let mut sink = collector(&LetterOptions::default());
    let rate_hz = Some(100.0);
    let id = sink
        .recording(&recording("p", Some("s"), Kind::Gaze { rate_hz }))
        .unwrap();
    for step in 0..100 {
        let sample = Sample {
            time_ms: Some(f64::from(step) * 10.0),
            point: match step {
                0..40 => Some((f64::from(step) * 15.0 + 20.0, 350.0)),
                _ => Some((-1.0, -1.0)),
            },
            aoi: None,
        };
        sink.sample(id, sample);
    }
    let notes = sink.finish().unwrap().1.notes;
    let says = |text: &str| notes.iter().any(|note| note.to_string().contains(text));
    assert!(says("60 of 100 points are exactly -1,-1"), "{notes:?}");
    assert!(
        !says("from the centre") && !says("lie outside"),
        "{notes:?}"
    );
}

/// Samples count the same with runs of letters and with a fixation detector.
#[test]
fn a_loss_of_most_samples_is_noted() {
    for detector in [Detector::Runs, Detector::Ivt] {
        let options = LetterOptions {
            detection: DetectionOptions {
                detector,
                velocity: "1000px".parse().unwrap(),
                ..DetectionOptions::default()
            },
            ..LetterOptions::default()
        };
        let mut sink = collector(&options);
        let rate_hz = Some(100.0);
        let id = sink
            .recording(&recording("p", Some("s"), Kind::Gaze { rate_hz }))
            .unwrap();
        for step in 0..61 {
            let sample = Sample {
                time_ms: Some(f64::from(step) * 10.0),
                point: match step {
                    0..15 => Some((50.0, 50.0)),
                    15..30 => Some((650.0, 650.0)),
                    _ => None,
                },
                aoi: None,
            };
            sink.sample(id, sample);
        }
        let notes = sink.finish().unwrap().1.notes;
        let expected = EncodeNote::MostlyLost { lost: 31, rows: 61 };
        assert!(notes.contains(&expected), "{detector:?}: {notes:?}");
    }
}

#[test]
fn options_for_raw_gaze_have_no_effect_on_fixations() {
    let options = LetterOptions {
        runs: RunOptions {
            min_dwell_ms: 200.0,
            by: RunsBy::Count,
            ..RunOptions::default()
        },
        ..LetterOptions::default()
    };
    let expected = [EncodeField::MinDwell, EncodeField::Runs].map(|field| EncodeNote::NoEffect {
        field,
        reason: NoEffect::OnlyFixations,
    });
    assert_eq!(notes_of(&options, &[(0.0, 0.0)]), expected);
}

/// A user who sets an option expects it to have an effect, even at its default value.
#[test]
fn a_default_that_is_given_is_named_as_well() {
    let options = LetterOptions {
        given: vec![EncodeField::MinDwell],
        ..LetterOptions::default()
    };
    let expected = EncodeNote::NoEffect {
        field: EncodeField::MinDwell,
        reason: NoEffect::OnlyFixations,
    };
    assert_eq!(notes_of(&options, &[(0.0, 0.0)]), [expected]);
}

#[test]
fn a_screen_that_is_twice_too_large_leaves_a_half_empty() {
    let plain = LetterOptions::default();
    let repeated = |factor: f64, shift: f64| -> Vec<(f64, f64)> {
        (0..5).flat_map(|_| points(factor, shift)).collect()
    };
    let half = |half| EncodeNote::HalfEmpty { half, used: 150 };
    assert_eq!(notes_of(&plain, &repeated(349.0, 0.0)), [half(Half::Left)]);
    assert_eq!(
        notes_of(&plain, &repeated(340.0, 355.0)),
        [half(Half::Right)]
    );
    assert!(notes_of(&plain, &repeated(690.0, 0.0)).is_empty());
    // Points that are all in the centre lie in neither half.
    assert!(notes_of(&plain, &repeated(390.0, 155.0)).is_empty());
}

#[test]
fn a_participant_with_other_units_is_noticed() {
    let notes = |scales: &[f64]| {
        let mut sink = Collector::new(&LetterOptions::default()).unwrap();
        for (number, factor) in scales.iter().enumerate() {
            sink.begin_file(&format!("{number}.csv"), "table", "");
            let name = format!("p{number}");
            let id = sink
                .recording(&recording(&name, Some("s"), Kind::Fixations))
                .unwrap();
            for (x, y) in points(*factor, 0.0) {
                sink.fixation(id, fixation(x, y, 100.0));
            }
        }
        sink.finish().unwrap().1.notes
    };
    let odd = |participants, of, files: &[&str]| EncodeNote::OddParticipants {
        participants,
        of,
        files: files.iter().map(|file| file.to_string()).collect(),
    };
    assert_eq!(notes(&[690.0, 1.0, 690.0]), [odd(1, 3, &["1.csv"])]);
    assert_eq!(notes(&[690.0, 690.0, 9000.0]), [odd(1, 3, &["2.csv"])]);
    assert!(notes(&[690.0, 690.0]).is_empty());
}

/// Angles need the screen that they fall on.
#[test]
fn visual_angles_need_the_size_and_distance_of_the_screen() {
    for (screen_cm, distance) in [((0.0, 0.0), 60.0), ((52.0, 29.0), 0.0)] {
        let mut sink = collector(&LetterOptions::default());
        let angles = Recording {
            space: Some(Space::visual_angle(screen_cm, distance)),
            ..recording("p", None, Kind::Fixations)
        };
        let error = sink.recording(&angles).unwrap_err();
        let fields = [
            EncodeField::ScreenCm,
            EncodeField::Distance,
            EncodeField::Units,
        ];
        assert_eq!(error.fields, fields);
    }
}

#[test]
fn scanpaths_without_letters_have_a_reason() {
    let mut sink = collector(&LetterOptions::default());
    let gaze = Kind::Gaze {
        rate_hz: Some(60.0),
    };
    let id = sink.recording(&recording("p", Some("s"), gaze)).unwrap();
    for step in 0..6 {
        sink.sample(
            id,
            Sample {
                time_ms: None,
                point: Some((f64::from(step) * 100.0 + 50.0, 50.0)),
                aoi: None,
            },
        );
    }
    let expected = EncodeNote::NoLetters {
        scanpaths: 1,
        cause: NoLetters::ShortRuns { runs: 6 },
    };
    assert_eq!(sink.finish().unwrap().1.notes, [expected]);
}

#[test]
fn files_without_scanpaths_are_named() {
    let mut sink = collector(&LetterOptions::default());
    let id = sink
        .recording(&recording("p", Some("s"), Kind::Fixations))
        .unwrap();
    sink.fixation(id, fixation(10.0, 10.0, 100.0));
    sink.begin_file("left.asc", "eyelink-asc", "EyeLink");
    sink.dropped(Dropped::OtherEye);
    let expected = EncodeNote::FilesNotUsed {
        files: vec!["left.asc".to_string()],
        other_eye: true,
    };
    assert_eq!(expected.fields(), [EncodeField::Eye]);
    assert_eq!(sink.finish().unwrap().1.notes, [expected]);
}

#[test]
fn many_points_at_the_origin_are_noted() {
    let plain = LetterOptions::default();
    let mut some = points(690.0, 1.0);
    assert!(notes_of(&plain, &some).is_empty());
    some.extend([(0.0, 0.0); 2]);
    let expected = EncodeNote::ManyAtOrigin { points: 2, all: 32 };
    assert_eq!(notes_of(&plain, &some), [expected]);
}

#[test]
fn counts_of_one_are_singular() {
    let text = EncodeNote::TimeBackwards { rows: 1 }.to_string();
    assert!(text.contains("1 row;"), "{text}");
    let text = EncodeNote::StimuliWithoutArea { stimuli: 1 }.to_string();
    assert!(text.contains("1 stimulus has"), "{text}");
    let not_used = |files: &[&str]| EncodeNote::FilesNotUsed {
        files: files.iter().map(|file| file.to_string()).collect(),
        other_eye: true,
    };
    assert!(
        not_used(&["a"])
            .to_string()
            .ends_with("a, which has rows of the other eye")
    );
    assert!(
        not_used(&["a", "b"])
            .to_string()
            .ends_with("b, which have rows of the other eye")
    );
}

#[test]
fn viewing_settings_have_an_effect_only_on_angles_and_kept_fixations() {
    let viewing = ReadOptions {
        screen_cm: Some((52.0, 29.0)),
        distance_cm: Some(60.0),
        ..ReadOptions::default()
    };
    let notes = |keep_fixations, space| {
        let mut sink = collector(&LetterOptions {
            keep_fixations,
            ..LetterOptions::default()
        });
        sink.set_screen_settings(&viewing);
        let recording = Recording {
            space: Some(space),
            ..recording("p", Some("s"), Kind::Fixations)
        };
        let id = sink.recording(&recording).unwrap();
        sink.fixation(id, fixation(1.0, 1.0, 100.0));
        sink.finish().unwrap().1.notes
    };
    let no_effect = [EncodeField::ScreenCm, EncodeField::Distance].map(|field| {
        let reason = NoEffect::NoVisualAngles;
        EncodeNote::NoEffect { field, reason }
    });
    let pixels = Space::pixels(700.0, 700.0);
    assert_eq!(notes(false, pixels), no_effect);
    assert!(notes(true, pixels).is_empty());
    assert!(notes(false, Space::visual_angle((52.0, 29.0), 60.0)).is_empty());
}

/// Where a detector's thresholds are pixels, nothing is measured in degrees.
#[test]
fn viewing_settings_have_no_effect_on_thresholds_in_pixels() {
    let notes = |velocity: &str| {
        let mut sink = collector(&LetterOptions {
            detection: DetectionOptions {
                detector: Detector::Ivt,
                velocity: velocity.parse().unwrap(),
                ..DetectionOptions::default()
            },
            ..LetterOptions::default()
        });
        sink.set_screen_settings(&ReadOptions {
            screen_cm: Some((52.0, 29.0)),
            distance_cm: Some(60.0),
            ..ReadOptions::default()
        });
        let gaze = Kind::Gaze {
            rate_hz: Some(100.0),
        };
        let recording = Recording {
            space: Some(Space::pixels(700.0, 700.0)),
            ..recording("p", Some("s"), gaze)
        };
        let id = sink.recording(&recording).unwrap();
        for _ in 0..30 {
            let point = Some((5.0, 5.0));
            let sample = Sample {
                time_ms: None,
                point,
                aoi: None,
            };
            sink.sample(id, sample);
        }
        sink.finish().unwrap().1.notes
    };
    let no_effect = [EncodeField::ScreenCm, EncodeField::Distance].map(|field| {
        let reason = NoEffect::NoVisualAngles;
        EncodeNote::NoEffect { field, reason }
    });
    assert_eq!(notes("1000px"), no_effect);
    assert_eq!(notes("20deg"), []);
}

#[test]
fn the_screen_has_no_effect_on_longitudes_and_latitudes() {
    let notes = |space| {
        let mut sink = collector(&LetterOptions::default());
        sink.set_screen_settings(&ReadOptions {
            screen: Some((700.0, 700.0)),
            ..ReadOptions::default()
        });
        let recording = Recording {
            space: Some(space),
            ..recording("p", Some("s"), Kind::Fixations)
        };
        let id = sink.recording(&recording).unwrap();
        sink.fixation(id, fixation(0.5, 0.5, 100.0));
        sink.finish().unwrap().1.notes
    };
    let no_effect = EncodeNote::NoEffect {
        field: EncodeField::Screen,
        reason: NoEffect::Panorama,
    };
    assert_eq!(notes(Space::globe()), [no_effect]);
    assert_eq!(notes(Space::pixels(700.0, 700.0)), []);
}

#[test]
fn durations_of_another_unit_are_noted_where_they_matter() {
    let notes = |duration: f64, bin_ms| {
        let mut sink = collector(&LetterOptions {
            bin_ms,
            ..LetterOptions::default()
        });
        let recording = recording("p", Some("s"), Kind::Fixations);
        let id = sink.recording(&recording).unwrap();
        for (x, y) in points(690.0, 0.0) {
            sink.fixation(id, fixation(x, y, duration));
        }
        sink.finish().unwrap().1.notes
    };
    let expected = EncodeNote::UnlikelyDurations {
        fixations: 30,
        of: 30,
    };
    assert_eq!(notes(250_000.0, Some(50.0)), [expected]);
    assert!(notes(250_000.0, None).is_empty());
    assert!(notes(250.0, Some(50.0)).is_empty());
}

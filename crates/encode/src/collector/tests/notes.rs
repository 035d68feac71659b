//! Notes about points that are not where one would expect them, and about options without effect.

use super::*;
use crate::{EncodeField, LikelyCause, NoEffect, RunOptions, RunsBy};

fn notes_of(options: &EncodeOptions, points: &[(f64, f64)]) -> Vec<EncodeNote> {
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
    let plain = EncodeOptions::default();
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
    // Too few to say anything.
    assert!(notes_of(&plain, &points(1.0, 0.0)[..10]).is_empty());
}

#[test]
fn most_points_outside_or_lost_have_a_likely_reason() {
    let plain = EncodeOptions::default();
    let centred = notes_of(&plain, &points(690.0, -600.0));
    assert!(
        matches!(
            centred[0],
            EncodeNote::MostlyOutside {
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

#[test]
fn options_for_raw_gaze_have_no_effect_on_fixations() {
    let options = EncodeOptions {
        runs: RunOptions {
            min_dwell_ms: 200.0,
            by: RunsBy::Count,
            ..RunOptions::default()
        },
        ..EncodeOptions::default()
    };
    let expected = [EncodeField::MinDwell, EncodeField::Runs].map(|field| EncodeNote::NoEffect {
        field,
        reason: NoEffect::OnlyFixations,
    });
    assert_eq!(notes_of(&options, &[(0.0, 0.0)]), expected);
}

/// Angles need the screen that they fall on.
#[test]
fn visual_angles_need_the_size_and_distance_of_the_screen() {
    for (screen_cm, distance) in [((0.0, 0.0), 60.0), ((52.0, 29.0), 0.0)] {
        let mut sink = collector(&EncodeOptions::default());
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

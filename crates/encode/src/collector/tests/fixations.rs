//! Fixations that are kept, and fixations that are detected.

use super::*;
use crate::{
    DetectionOptions, Detector, EncodeField, LengthUnit, NoEffect, NoLetters, ReadOptions,
    ScreenLength,
};
use veilpath_metrics::{Fixation as KeptFixation, Screen};

fn keeping() -> LetterOptions {
    LetterOptions {
        keep_fixations: true,
        ..LetterOptions::default()
    }
}

fn detecting(detector: Detector, pixels: f64) -> LetterOptions {
    let threshold = ScreenLength {
        value: pixels,
        unit: LengthUnit::Pixels,
    };
    LetterOptions {
        detection: DetectionOptions {
            detector,
            velocity: threshold,
            dispersion: threshold,
            ..DetectionOptions::default()
        },
        ..keeping()
    }
}

fn fields<T: std::fmt::Debug>(result: Result<T, ReadError>) -> Vec<EncodeField> {
    result.unwrap_err().fields
}

#[test]
fn fixations_are_kept_in_the_order_of_time() {
    let mut sink = collector(&keeping());
    let rows = recording("p", Some("s"), Kind::Fixations);
    for (x, start) in [(450.5, 300.0), (50.25, 0.0), (900.0, 150.0), (150.0, 200.0)] {
        let id = sink.recording(&rows).unwrap();
        let one = Fixation {
            start_ms: Some(start),
            ..fixation(x, 10.0, 90.0)
        };
        sink.fixation(id, one);
    }
    let (cohort, summary) = sink.finish().unwrap();
    assert_eq!(strings(&cohort), ["ABE"]);
    let kept = cohort.entries[0].fixations.as_ref().unwrap();
    let expected = [(50.25, 0.0), (150.0, 200.0), (450.5, 300.0)].map(|(x, start)| KeptFixation {
        x,
        y: 10.0,
        start: Some(start),
        duration: 90.0,
    });
    assert!(kept.list() == expected);
    let screen = Screen::from_settings("700 x 700 pixels", None).unwrap();
    assert_eq!(cohort.screen, Some(screen));
    assert_eq!(summary.fixations_kept, Some(3));
    assert!(!cohort.encoding.0.contains_key("screen"));
}

#[test]
fn gaze_and_untimed_fixations_cannot_be_kept() {
    let gaze = recording("p", None, Kind::Gaze { rate_hz: None });
    let refused = fields(collector(&keeping()).recording(&gaze));
    assert_eq!(refused, [EncodeField::Detect]);

    let fixations = recording("p", None, Kind::Fixations);
    let mut sink = collector(&keeping());
    let id = sink.recording(&fixations).unwrap();
    let untimed = Fixation {
        duration_ms: None,
        ..fixation(1.0, 1.0, 1.0)
    };
    sink.fixation(id, untimed);
    assert_eq!(fields(sink.finish()), [EncodeField::KeepFixations]);

    let mut sink = collector(&keeping());
    sink.recording(&fixations).unwrap();
    let other = Recording {
        stimulus: Some("larger"),
        space: Some(Space::pixels(800.0, 700.0)),
        ..fixations.clone()
    };
    let refused = sink.recording(&other);
    assert_eq!(fields(refused), [EncodeField::KeepFixations]);

    let fractions = Recording {
        space: Some(Space::unit()),
        ..fixations
    };
    let refused = collector(&keeping()).recording(&fractions);
    assert_eq!(fields(refused), [EncodeField::Screen]);
    let mut sink = collector(&keeping());
    sink.set_screen_settings(&ReadOptions {
        screen: Some((1000.0, 500.0)),
        ..ReadOptions::default()
    });
    let id = sink.recording(&fractions).unwrap();
    sink.fixation(id, fixation(0.25, 0.5, 80.0));
    let (cohort, _) = sink.finish().unwrap();
    let kept = cohort.entries[0].fixations.as_ref().unwrap().list()[0];
    assert!((kept.x, kept.y, kept.start) == (250.0, 250.0, None));
}

/// 250 samples per second: 200 ms at one position, 200 ms at another, and 200 ms off the screen.
fn gaze(sink: &mut Collector) {
    let gaze = recording("p", Some("s"), Kind::Gaze { rate_hz: None });
    for row in 0..150u8 {
        let x = [50.0, 650.0, -90.0][usize::from(row / 50)];
        let id = sink.recording(&gaze).unwrap();
        sink.sample(
            id,
            Sample {
                time_ms: Some(4.0 * f64::from(row)),
                point: (row != 149).then_some((x, 350.0)),
                aoi: None,
            },
        );
    }
}

#[test]
fn detected_fixations_become_letters_and_the_detector_is_reported() {
    let ivt = [(50.0, 8.0, 180.0), (650.0, 208.0, 180.0)];
    // The sample that makes the extent too large is the last of a fixation.
    let idt = [
        ((50.0 * 50.0 + 650.0) / 51.0, 0.0, 200.0),
        ((49.0 * 650.0 - 90.0) / 50.0, 204.0, 196.0),
    ];
    for (detector, fixations, settings) in [
        (
            Detector::Ivt,
            ivt,
            "data: gaze, detect: ivt, grid: 7x7, min-duration: 100 ms, outside: dropped, velocity: 500 px/s, velocity-method: fivepoint",
        ),
        (
            Detector::Idt,
            idt,
            "data: gaze, detect: idt, dispersion: 500 px, grid: 7x7, min-duration: 100 ms, outside: dropped",
        ),
    ] {
        let mut sink = collector(&detecting(detector, 500.0));
        gaze(&mut sink);
        let (cohort, summary) = sink.finish().unwrap();
        assert_eq!(strings(&cohort), ["Vb"], "{detector:?}");
        let kept = cohort.entries[0].fixations.as_ref().unwrap();
        let expected = fixations.map(|(x, start, duration)| KeptFixation {
            x,
            y: 350.0,
            start: Some(start),
            duration,
        });
        assert!(kept.list() == expected, "{detector:?}");
        let found = cohort.encoding.0.iter();
        let found: Vec<String> = found
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!(found.join(", "), settings);
        let detected = summary.detected.unwrap();
        assert_eq!(detected.fixations, 3);
        assert_eq!(detected.dropped, [(Dropped::Outside, 1)].into());
        assert_eq!(detected.settings["detect"], detector.name());
        assert_eq!((summary.rows_read, summary.rows_used), (150, 149));
    }
}

#[test]
fn detected_fixations_can_be_binned() {
    let options = LetterOptions {
        bin_ms: Some(90.0),
        keep_fixations: false,
        ..detecting(Detector::Ivt, 500.0)
    };
    let mut sink = collector(&options);
    gaze(&mut sink);
    let (cohort, summary) = sink.finish().unwrap();
    assert_eq!(strings(&cohort), ["VVbb"]);
    assert_eq!(cohort.encoding.0["bin"], "90 ms");
    assert_eq!((cohort.screen, summary.fixations_kept), (None, None));
}

#[test]
fn thresholds_need_a_unit_that_can_be_measured() {
    let gaze = recording("p", None, Kind::Gaze { rate_hz: None });
    let in_degrees = LetterOptions {
        detection: DetectionOptions {
            detector: Detector::Idt,
            ..DetectionOptions::default()
        },
        ..LetterOptions::default()
    };
    let both = [EncodeField::ScreenCm, EncodeField::Distance];
    assert_eq!(fields(collector(&in_degrees).recording(&gaze)), both);
    let mut sink = collector(&in_degrees);
    sink.set_screen_settings(&ReadOptions {
        screen_cm: Some((40.0, 40.0)),
        distance_cm: Some(60.0),
        ..ReadOptions::default()
    });
    assert!(sink.recording(&gaze).is_ok());
    let panorama = Recording {
        space: Some(Space::globe()),
        ..gaze
    };
    let refused = collector(&in_degrees).recording(&panorama);
    assert_eq!(fields(refused), [EncodeField::Detect]);
    let named = LetterOptions {
        letter_map: LetterMap::AoiColumn { names: None },
        ..in_degrees
    };
    assert_eq!(fields(named.check()), [EncodeField::Detect]);
}

#[test]
fn options_of_another_detector_have_no_effect() {
    let mut options = detecting(Detector::Ivt, 500.0);
    options.given = vec![EncodeField::Velocity, EncodeField::MinDwell];
    let mut sink = collector(&options);
    gaze(&mut sink);
    let (_, summary) = sink.finish().unwrap();
    let no_effect = |field| EncodeNote::NoEffect {
        field,
        reason: NoEffect::Detector("ivt"),
    };
    let expected = [EncodeField::Dispersion, EncodeField::MinDwell].map(no_effect);
    assert_eq!(summary.notes, expected);
}

#[test]
fn a_threshold_that_no_fixation_meets_is_explained() {
    let mut sink = collector(&detecting(Detector::Ivt, 1e-9));
    let gaze = recording("p", None, Kind::Gaze { rate_hz: None });
    for row in 0..100 {
        let id = sink.recording(&gaze).unwrap();
        sink.sample(
            id,
            Sample {
                time_ms: Some(4.0 * f64::from(row)),
                point: Some((f64::from(row), 1.0)),
                aoi: None,
            },
        );
    }
    let (_, summary) = sink.finish().unwrap();
    let cause = NoLetters::NoFixations { found: 0 };
    let expected = EncodeNote::NoLetters {
        scanpaths: 1,
        cause,
    };
    assert!(summary.notes.contains(&expected), "{:?}", summary.notes);
}

#[test]
fn a_shortest_fixation_of_too_many_samples_is_explained() {
    let mut sink = collector(&detecting(Detector::Idt, 10.0));
    let rate_hz = Some(1e9);
    let gaze = recording("p", None, Kind::Gaze { rate_hz });
    let id = sink.recording(&gaze).unwrap();
    let sample = Sample {
        time_ms: Some(0.0),
        point: Some((1.0, 1.0)),
        aoi: None,
    };
    sink.sample(id, sample);
    let error = sink.finish().unwrap_err();
    assert!(error.problem.contains("65,536 samples"), "{error}");
    assert!(error.fields.contains(&EncodeField::MinDuration));
}

#[test]
fn the_number_of_kept_fixations_counts_those_that_were_held_back() {
    let mut sink = collector(&LetterOptions {
        bin_ms: Some(50.0),
        matlab_compat: true,
        ..keeping()
    });
    let rows = recording("p", None, Kind::Fixations);
    let id = sink.recording(&rows).unwrap();
    // The second row is earlier, and off the screen, so the first is no longer left out.
    for (x, start) in [(50.0, 100.0), (-5.0, 0.0)] {
        let one = Fixation {
            start_ms: Some(start),
            ..fixation(x, 10.0, 50.0)
        };
        sink.fixation(id, one);
    }
    assert_eq!(sink.kept, 1);
    let (cohort, _) = sink.finish().unwrap();
    assert_eq!(
        cohort.entries[0].fixations.as_ref().unwrap().list().len(),
        1
    );
}

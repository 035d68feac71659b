//! Comparison with the fixations of pymovements on the same samples, and the cases that it leaves open.

mod naive;
mod real;

use super::*;
use crate::ReadOptions;
use crate::Space;
use crate::screen_mapping::{ScreenMapping, ScreenSettings};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn table(name: &str) -> Vec<Vec<String>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/detection");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let rows = text.lines().skip(1);
    rows.map(|row| row.split(',').map(str::to_string).collect())
        .collect()
}

/// Time and position of each row; the screen is that of `make.py`.
fn samples(name: &str, unit: LengthUnit) -> Vec<(f64, Option<Point>)> {
    let settings = ScreenSettings::new(&ReadOptions {
        screen_cm: Some((38.0, 30.2)),
        distance_cm: Some(68.0),
        ..ReadOptions::default()
    });
    let mapping = ScreenMapping::new(&Space::pixels(1280.0, 1024.0), &settings).unwrap();
    let rows = table(&format!("{name}.csv"));
    rows.iter()
        .map(|row| {
            let position = row[1].parse().ok().zip(row[2].parse().ok());
            let point = position.map(|(x, y)| Point {
                file: (x, y),
                measured: mapping.measured(unit, x, y),
            });
            (row[0].parse().unwrap(), point)
        })
        .collect()
}

fn options(case: &[String]) -> DetectionOptions {
    let unit = match case[5].as_str() {
        "deg" => LengthUnit::Degrees,
        _ => LengthUnit::Pixels,
    };
    let threshold = ScreenLength {
        value: case[4].parse().unwrap(),
        unit,
    };
    DetectionOptions {
        detector: match case[3].as_str() {
            "ivt" => Detector::Ivt,
            _ => Detector::Idt,
        },
        velocity: threshold,
        velocity_method: match case[6].as_str() {
            "savitzky_golay" => VelocityMethod::SavitzkyGolay {
                window: case[7].parse().unwrap(),
                degree: case[8].parse().unwrap(),
            },
            name => name.parse().unwrap(),
        },
        dispersion: threshold,
        min_duration_ms: case[9].parse().unwrap(),
    }
}

fn found(
    options: DetectionOptions,
    rate_hz: Option<f64>,
    samples: &[(Option<f64>, Option<Point>)],
) -> (Vec<DetectedFixation>, u64) {
    let mut detector = FixationDetector::new(options, rate_hz);
    let mut found = Vec::new();
    for &(time, point) in samples {
        detector.push(time, point, &mut found);
    }
    let backwards = detector.finish(&mut found).unwrap();
    (found, backwards)
}

#[test]
fn pymovements_finds_the_same_fixations() {
    let mut expected: BTreeMap<String, Vec<[f64; 4]>> = BTreeMap::new();
    for row in table("fixations.csv") {
        let numbers = [1, 2, 3, 4].map(|column| row[column].parse().unwrap());
        expected.entry(row[0].clone()).or_default().push(numbers);
    }
    let mut compared = 0;
    for case in table("cases.csv") {
        let options = options(&case);
        options.check().unwrap();
        let samples: Vec<_> = samples(&case[1], options.unit().unwrap())
            .into_iter()
            .map(|(time, point)| (Some(time), point))
            .collect();
        // Steps of whole milliseconds determine the rate.
        let rate: f64 = case[2].parse().unwrap();
        let rate_hz = (1000.0 % rate != 0.0).then_some(rate);
        let (found, _) = found(options, rate_hz, &samples);
        let expected = expected.remove(&case[0]).unwrap_or_default();
        assert_eq!(found.len(), expected.len(), "{case:?}");
        for (one, [onset, offset, x, y]) in found.iter().zip(expected) {
            assert_eq!((one.onset_ms, one.offset_ms), (onset, offset), "{case:?}");
            assert!(
                (one.x - x).abs() < 1e-9 && (one.y - y).abs() < 1e-9,
                "{case:?}"
            );
            compared += 1;
        }
    }
    assert!(expected.is_empty());
    assert!(compared > 1000, "{compared}");
}

const PIXELS: LengthUnit = LengthUnit::Pixels;

fn in_pixels(detector: Detector, threshold: f64, min_duration_ms: f64) -> DetectionOptions {
    let threshold = ScreenLength {
        value: threshold,
        unit: PIXELS,
    };
    DetectionOptions {
        detector,
        velocity: threshold,
        dispersion: threshold,
        min_duration_ms,
        ..DetectionOptions::default()
    }
}

fn at(time: f64, x: f64) -> (Option<f64>, Option<Point>) {
    let point = Point {
        file: (x, 5.0),
        measured: (x, 5.0),
    };
    (Some(time), Some(point))
}

#[test]
fn rows_that_are_missing_are_lost() {
    let mut whole: Vec<_> = (0..100).map(|row| at(f64::from(row) * 4.0, 50.0)).collect();
    for row in &mut whole[40..60] {
        row.1 = None;
    }
    let without: Vec<_> = [&whole[..40], &whole[60..]].concat();
    for detector in [Detector::Ivt, Detector::Idt] {
        let options = in_pixels(detector, 10.0, 40.0);
        let found = [&whole, &without].map(|samples| found(options, None, samples).0);
        assert_eq!(found[0].len(), 2);
        assert_eq!(found[0], found[1]);
    }
}

#[test]
fn a_clock_that_is_reset_starts_a_new_recording() {
    let recording = (0..50).map(|row| at(f64::from(row) * 4.0, 50.0));
    let twice: Vec<_> = recording.clone().chain(recording).collect();
    for detector in [Detector::Ivt, Detector::Idt] {
        let (found, backwards) = found(in_pixels(detector, 10.0, 40.0), None, &twice);
        assert_eq!((found.len(), backwards), (2, 1));
        assert_eq!(found[0], found[1]);
    }
}

#[test]
fn the_rate_replaces_times_and_is_needed_without_them() {
    let untimed: Vec<_> = (0..60).map(|_| (None, at(0.0, 7.0).1)).collect();
    for detector in [Detector::Ivt, Detector::Idt] {
        let options = in_pixels(detector, 10.0, 40.0);
        let (found, _) = found(options, Some(250.0), &untimed);
        assert_eq!(found.len(), 1);
        let mut detector = FixationDetector::new(options, None);
        let mut nothing = Vec::new();
        for &(time, point) in &untimed {
            detector.push(time, point, &mut nothing);
        }
        let refused = detector.finish(&mut nothing);
        assert_eq!(refused, Err(ReductionError::NoTime));
    }
}

#[test]
fn unusual_times_are_no_fixations_and_no_panic() {
    let still: Vec<_> = (0..3000).map(|_| at(8.0, 7.0)).collect();
    let single = vec![at(8.0, 7.0)];
    let far = vec![at(-1e308, -1e308), at(1e308, 1e308), at(1e308, -1e308)];
    for samples in [still, single, far, Vec::new()] {
        for detector in [Detector::Ivt, Detector::Idt] {
            let (found, _) = found(in_pixels(detector, 10.0, 40.0), None, &samples);
            assert_eq!(found, []);
        }
    }
    // Microseconds that were taken for milliseconds.
    let options = in_pixels(Detector::Idt, 10.0, 60_000.0);
    let mut detector = FixationDetector::new(options, Some(1e9));
    let mut nothing = Vec::new();
    detector.push(Some(0.0), None, &mut nothing);
    let refused = detector.finish(&mut nothing);
    assert_eq!(refused, Err(ReductionError::TooManySamples));
}

//! Raw gaze through the collector.

use super::*;
use crate::EncodeField;

#[test]
fn gaze_is_reduced_and_the_rule_is_reported() {
    let mut sink = collector(&LetterOptions::default());
    let gaze = recording(
        "p",
        Some("s"),
        Kind::Gaze {
            rate_hz: Some(120.0),
        },
    );
    for row in 0..60 {
        let id = sink.recording(&gaze).unwrap();
        let point = match row {
            0..24 => Some((0.0, 0.0)),
            24..30 => Some((650.0, 0.0)),
            30..33 => None,
            33..48 => Some((150.0, 0.0)),
            _ => Some((-1.0, 0.0)),
        };
        sink.sample(
            id,
            Sample {
                time_ms: None,
                point,
                aoi: None,
            },
        );
    }
    let (cohort, summary) = sink.finish().unwrap();
    assert_eq!(strings(&cohort), ["AAB"]);
    assert_eq!((summary.rows_used, summary.removed_runs), (45, 1));
    assert_eq!(summary.dropped[&Dropped::Lost], 3);
    assert_eq!(summary.dropped[&Dropped::Outside], 12);
    let settings: Vec<String> = cohort
        .encoding
        .0
        .iter()
        .map(|(name, value)| format!("{name}: {value}"))
        .collect();
    assert_eq!(
        settings,
        [
            "data: gaze",
            "downsize: floor",
            "grid: 7x7",
            "max-gap: 75 ms",
            "max-repeats: 3",
            "merge: yes",
            "min-dwell: 100 ms",
            "outside: dropped",
            "runs: time",
        ]
    );
}

#[test]
fn gaze_without_time_asks_for_the_rate() {
    let mut sink = collector(&LetterOptions::default());
    let id = sink
        .recording(&recording("p", None, Kind::Gaze { rate_hz: None }))
        .unwrap();
    sink.sample(
        id,
        Sample {
            time_ms: None,
            point: Some((0.0, 0.0)),
            aoi: None,
        },
    );
    let error = sink.finish().unwrap_err();
    assert!(error.fields == [EncodeField::Rate], "{error}");
    assert_eq!(error.file, "a.csv");
}

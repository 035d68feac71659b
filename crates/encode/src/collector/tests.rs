//! Recordings, placing, binning, and the settings that the cohort records.

mod empty;
mod fixations;
mod gaze;
mod notes;
mod odd_rows;
mod order;

use super::*;
use crate::EncodeNote;
use crate::{Areas, Input, Outside, RunOptions};
use proptest::prelude::*;
use veilpath_metrics::Cohort;
use veilpath_metrics::Notation;

fn recording<'a>(participant: &'a str, stimulus: Option<&'a str>, kind: Kind) -> Recording<'a> {
    Recording {
        participant,
        stimulus,
        kind,
        space: Some(Space::pixels(700.0, 700.0)),
    }
}

fn fixation(x: f64, y: f64, duration_ms: f64) -> Fixation<'static> {
    Fixation {
        x,
        y,
        start_ms: None,
        duration_ms: Some(duration_ms),
        aoi: None,
    }
}

fn collector(options: &LetterOptions) -> Collector {
    let mut collector = Collector::new(options).unwrap();
    collector.begin_file("a.csv", "table", "a table");
    collector
}

fn strings(cohort: &Cohort) -> Vec<String> {
    cohort
        .entries
        .iter()
        .map(|entry| cohort.alphabet.format(&entry.scanpath))
        .collect()
}

#[test]
fn interleaved_recordings_are_separated_in_order() {
    let mut sink = collector(&LetterOptions::default());
    for step in 0..3 {
        for (participant, stimulus) in [
            ("q", Some("s")),
            ("p", Some("s")),
            ("q", None),
            ("q", Some("")),
        ] {
            let id = sink
                .recording(&recording(participant, stimulus, Kind::Fixations))
                .unwrap();
            let x = f64::from(step) * 100.0 + 50.0;
            let y = if participant == "q" { 0.0 } else { 699.0 };
            sink.fixation(id, fixation(x, y, 100.0));
        }
    }
    sink.recording(&recording("r", None, Kind::Fixations))
        .unwrap();
    sink.dropped(Dropped::Lost);
    sink.assumed("pixels", &[]);
    let (cohort, summary) = sink.finish().unwrap();
    assert_eq!(strings(&cohort), ["ABC", "qrs", "ABC", "ABC", ""]);
    assert_eq!(cohort.entries[1].participant, "p");
    assert_eq!(cohort.alphabet.to_string(), "letters 49");
    assert_eq!(
        (summary.rows_read, summary.rows_used, summary.empty),
        (13, 12, 1)
    );
    assert_eq!((summary.participants, summary.assumed.len()), (3, 1));
    assert!(summary.notes.is_empty());
}

#[test]
fn outside_points_are_dropped_or_clamped() {
    for (outside, expected, used) in [(Outside::Drop, "A", 1), (Outside::Clamp, "AGq", 3)] {
        let options = LetterOptions {
            outside,
            ..LetterOptions::default()
        };
        let mut sink = collector(&options);
        let id = sink
            .recording(&recording("p", None, Kind::Fixations))
            .unwrap();
        for (x, y) in [(0.0, 0.0), (701.0, 0.0), (-5.0, 1e9), (f64::NAN, 0.0)] {
            sink.fixation(id, fixation(x, y, 1.0));
        }
        let (cohort, summary) = sink.finish().unwrap();
        assert_eq!(strings(&cohort), [expected]);
        assert_eq!((summary.rows_read, summary.rows_used), (4, used));
        assert_eq!(summary.dropped[&Dropped::Lost], 1);
        assert_eq!(
            summary.notes.len(),
            usize::from(used == 1),
            "most were outside"
        );
    }
}

#[test]
fn a_grid_needs_a_screen_and_areas_do_not() {
    let blind = Recording {
        space: None,
        ..recording("p", None, Kind::Fixations)
    };
    let error = collector(&LetterOptions::default())
        .recording(&blind)
        .unwrap_err();
    assert_eq!(error.file, "a.csv");
    assert!(error.fields == [EncodeField::Screen]);
    let flat = Recording {
        space: Some(Space::pixels(0.0, 10.0)),
        ..blind.clone()
    };
    assert!(
        collector(&LetterOptions::default())
            .recording(&flat)
            .is_err()
    );

    let file = "name,shape,coordinates,stimulus\nface,rectangle,0 0 10 10,a\nhand,rectangle,20 0 30 10,a\nhand,rectangle,0 0 10 10,b\n";
    let areas = Areas::read(Input::from_bytes("aoi.csv", file.into()).unwrap()).unwrap();
    let mut sink = collector(&LetterOptions {
        letter_map: LetterMap::AoiFile(areas),
        ..LetterOptions::default()
    });
    for stimulus in [Some("a"), Some("b"), Some("c"), None] {
        let id = sink
            .recording(&Recording {
                stimulus,
                ..blind.clone()
            })
            .unwrap();
        for x in [5.0, 15.0, 25.0] {
            sink.fixation(id, fixation(x, 5.0, 1.0));
        }
    }
    let (cohort, summary) = sink.finish().unwrap();
    assert_eq!(strings(&cohort), ["AB", "B", "", ""]);
    assert_eq!(cohort.encoding.0["areas"], "face, hand");
    assert!(!cohort.encoding.0.contains_key("grid"));
    assert_eq!(summary.dropped[&Dropped::NoAoi], 9);
    assert_eq!(
        summary.notes,
        [EncodeNote::StimuliWithoutArea { stimuli: 2 }]
    );
}

#[test]
fn the_trackers_areas_are_sorted_or_listed() {
    let encode = |names: Option<Vec<String>>| {
        let mut sink = collector(&LetterOptions {
            letter_map: LetterMap::AoiColumn { names },
            ..LetterOptions::default()
        });
        let id = sink
            .recording(&Recording {
                space: None,
                ..recording("p", None, Kind::Fixations)
            })
            .unwrap();
        for aoi in [Some("nose"), Some("a, b"), None, Some("-"), Some("nose")] {
            sink.fixation(
                id,
                Fixation {
                    aoi,
                    ..fixation(0.0, 0.0, 1.0)
                },
            );
        }
        sink.finish().unwrap()
    };
    let (cohort, summary) = encode(None);
    assert_eq!(strings(&cohort), ["BAB"]);
    assert_eq!(cohort.encoding.0["areas"], "\"a, b\", nose");
    assert_eq!(summary.dropped[&Dropped::NoAoi], 2);
    let (cohort, _) = encode(Some(vec!["nose".into(), "eye".into()]));
    assert_eq!(strings(&cohort), ["AA"]);
    assert_eq!(cohort.alphabet.size(), 2);

    let none = collector(&LetterOptions {
        letter_map: LetterMap::AoiColumn { names: None },
        ..LetterOptions::default()
    });
    assert!(
        none.finish()
            .unwrap_err()
            .problem
            .contains("no row names an area")
    );
}

#[test]
fn binning_repeats_letters_as_scanmatch_does() {
    for (matlab_compat, expected) in [(false, "AABBBD"), (true, "BBBD")] {
        let options = LetterOptions {
            bin_ms: Some(50.0),
            matlab_compat,
            ..LetterOptions::default()
        };
        let mut sink = collector(&options);
        let id = sink
            .recording(&recording("p", None, Kind::Fixations))
            .unwrap();
        for (x, duration) in [(0.0, 100.0), (100.0, 125.0), (200.0, 24.9), (300.0, 25.0)] {
            sink.fixation(id, fixation(x, 0.0, duration));
        }
        let (cohort, summary) = sink.finish().unwrap();
        assert_eq!(strings(&cohort), [expected]);
        assert_eq!(summary.dropped[&Dropped::TooShort], 1);
        assert_eq!(
            summary.dropped.contains_key(&Dropped::FirstFixation),
            matlab_compat
        );
        assert_eq!(summary.rows_read, 4);
        assert_eq!(cohort.encoding.0["bin"], "50 ms");
        assert_eq!(
            cohort.encoding.0.contains_key("matlab-compat"),
            matlab_compat
        );
    }
}

#[test]
fn many_long_scanpaths_do_not_fill_the_memory() {
    let options = LetterOptions {
        bin_ms: Some(1.0),
        ..LetterOptions::default()
    };
    let mut sink = collector(&options);
    let mut refused = None;
    for participant in ["p", "q", "r", "s"] {
        match sink.recording(&recording(participant, None, Kind::Fixations)) {
            Ok(id) => sink.fixation(id, fixation(0.0, 0.0, 16e6)),
            Err(error) => refused = refused.or(Some((participant, error))),
        }
    }
    let (participant, error) = refused.unwrap();
    assert_eq!(participant, "s");
    assert!(error.problem.contains("in all"), "{error}");
}

#[test]
fn binning_needs_durations_and_fixations() {
    let options = LetterOptions {
        bin_ms: Some(50.0),
        ..LetterOptions::default()
    };
    let mut sink = collector(&options);
    let id = sink
        .recording(&recording("p", None, Kind::Fixations))
        .unwrap();
    sink.fixation(
        id,
        Fixation {
            duration_ms: None,
            ..fixation(0.0, 0.0, 0.0)
        },
    );
    let error = sink
        .recording(&recording("p", None, Kind::Fixations))
        .unwrap_err();
    assert!(error.problem.contains("no duration"), "{error}");
    assert_eq!(sink.finish().unwrap_err(), error);

    let mut sink = collector(&options);
    let gaze = recording("p", None, Kind::Gaze { rate_hz: None });
    assert!(sink.recording(&gaze).is_err());

    let mut sink = collector(&options);
    let id = sink
        .recording(&recording("p", None, Kind::Fixations))
        .unwrap();
    sink.fixation(id, fixation(0.0, 0.0, 1e15));
    assert!(
        sink.finish()
            .unwrap_err()
            .fields
            .contains(&EncodeField::TimeUnit)
    );
}

#[test]
fn kinds_do_not_mix_within_a_recording() {
    let mut sink = collector(&LetterOptions::default());
    let fixations = sink
        .recording(&recording("p", None, Kind::Fixations))
        .unwrap();
    let gaze = recording("p", None, Kind::Gaze { rate_hz: None });
    assert!(
        sink.recording(&gaze)
            .unwrap_err()
            .fields
            .contains(&EncodeField::Rows)
    );
    sink.sample(
        fixations,
        Sample {
            time_ms: None,
            point: None,
            aoi: None,
        },
    );
    assert!(sink.finish().is_err());
}

#[test]
fn a_second_file_with_the_same_ids_makes_further_rows() {
    let mut sink = collector(&LetterOptions::default());
    for name in ["a.csv", "b.csv"] {
        sink.begin_file(name, name, name);
        let id = sink
            .recording(&recording("p", None, Kind::Fixations))
            .unwrap();
        sink.fixation(id, fixation(0.0, 0.0, 1.0));
    }
    let (cohort, summary) = sink.finish().unwrap();
    assert_eq!(strings(&cohort), ["A", "A"]);
    assert_eq!(summary.notes[0], EncodeNote::RepeatedIds { scanpaths: 1 });
    assert_eq!(summary.format, "mixed");
}

#[test]
fn the_space_may_change() {
    let mut sink = collector(&LetterOptions::default());
    for (width, expected_used) in [(700.0, 1), (70.0, 1)] {
        let id = sink
            .recording(&Recording {
                space: Some(Space::pixels(width, 700.0)),
                ..recording("p", None, Kind::Fixations)
            })
            .unwrap();
        assert_eq!(id, RecordingId(0));
        for _ in 0..expected_used {
            sink.fixation(id, fixation(60.0, 0.0, 1.0));
        }
    }
    assert_eq!(strings(&sink.finish().unwrap().0), ["AG"]);
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let runs = |change: fn(&mut RunOptions)| {
        let mut options = LetterOptions::default();
        change(&mut options.runs);
        options
    };
    let column = |names: &[&str]| LetterOptions {
        letter_map: LetterMap::AoiColumn {
            names: Some(names.iter().map(|name| name.to_string()).collect()),
        },
        ..LetterOptions::default()
    };
    for options in [
        runs(|runs| runs.min_dwell_ms = 0.0),
        runs(|runs| runs.min_dwell_ms = f64::NAN),
        runs(|runs| runs.max_gap_ms = -1.0),
        runs(|runs| runs.max_gap_ms = f64::INFINITY),
        runs(|runs| runs.cap = Some(0)),
        LetterOptions {
            bin_ms: Some(0.0),
            ..LetterOptions::default()
        },
        LetterOptions {
            notation: Some(Notation::Dna),
            ..LetterOptions::default()
        },
        column(&[]),
        column(&["a", " "]),
        column(&["a", "a "]),
    ] {
        let error = Collector::new(&options).err().unwrap();
        assert_eq!(error.file, "encoding options");
        assert!(!error.remedy.is_empty());
    }
    let numbers = LetterOptions {
        notation: Some(Notation::Numbers),
        ..LetterOptions::default()
    };
    let (cohort, _) = collector(&numbers).finish().unwrap();
    assert_eq!(cohort.alphabet.to_string(), "numbers 49");
}

proptest! {
    #[test]
    fn rows_read_are_used_or_dropped_and_letters_are_cells(
        rows in prop::collection::vec((0usize..3, -100.0f64..800.0, -100.0f64..800.0, any::<bool>()), 0..200),
        columns in 1u32..30, lines in 1u32..30,
    ) {
        let options = LetterOptions {
            letter_map: LetterMap::Grid(veilpath_metrics::Grid::new(columns, lines).unwrap()),
            ..LetterOptions::default()
        };
        let mut sink = collector(&options);
        for (number, &(who, x, y, lost)) in rows.iter().enumerate() {
            let kind = if who == 2 { Kind::Gaze { rate_hz: Some(60.0) } } else { Kind::Fixations };
            let id = sink.recording(&recording(["a", "b", "c"][who], None, kind)).unwrap();
            if who == 2 {
                let point = (!lost).then_some((x, y));
                sink.sample(id, Sample { time_ms: Some(number as f64 * 40.0), point, aoi: None });
            } else if lost {
                sink.dropped(Dropped::OtherEvent);
            } else {
                sink.fixation(id, fixation(x, y, 10.0));
            }
        }
        let (cohort, summary) = sink.finish().unwrap();
        prop_assert_eq!(summary.rows_read, rows.len() as u64);
        prop_assert_eq!(summary.rows_read, summary.rows_used + summary.dropped.values().sum::<u64>());
        for entry in &cohort.entries {
            prop_assert!(cohort.alphabet.check(&entry.scanpath).is_ok());
        }
    }
}

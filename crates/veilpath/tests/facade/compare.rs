//! A comparison through the API that front ends use: files, options, events and an outcome.
#![allow(clippy::unwrap_used)] // test helpers may panic

use std::sync::Mutex;
use veilpath::{
    CompareOptions, Distance, DivideBy, Engine, Error, Event, Fault, Grid, Input, LocalCohort,
    MetricField, MetricName, MetricOptions, MetricOptionsError, NoEffectReason,
    NonAlignmentOptions, Note, OtherFile, PlanOptions, PositionsChoice, RawCohort, Reveal,
    SubstitutionChoice, Threshold, compare, decode_cohort, plan, read_cohort_from,
};

const A: &str = "participant,stimulus,scanpath\np1,cows,ABCD\np1,boat,AAB\np2,tree,AB\n";
const B: &str = "participant,stimulus,scanpath\nq1,boat,AB\nq1,cows,ABCE\n";

fn cohort(name: &str, text: &str) -> Result<RawCohort, Error> {
    read_cohort_from(Input::from_bytes(name, text.as_bytes().to_vec()).unwrap())
}

fn options(engine: Engine, metric: MetricOptions) -> PlanOptions {
    PlanOptions::new(engine, metric)
}

#[test]
fn engines_agree_and_report_events() {
    let files = [cohort("a", A).unwrap(), cohort("b", B).unwrap()];
    let mut results = Vec::new();
    for engine in [Engine::Plain, Engine::Garbled] {
        let events = Mutex::new(Vec::new());
        let sink = |event: Event| events.lock().unwrap().push(event);
        let options = options(engine, MetricOptions::default());
        let planned = plan([&files[0], &files[1]], &options, &sink).unwrap();
        let outcome = compare(&planned, CompareOptions::default(), &sink).unwrap();
        let events = events.into_inner().unwrap();
        let unpaired = Note::Unpaired {
            file: "a".into(),
            unpaired: 1,
            scanpaths: 3,
            stimuli: vec!["tree".into()],
        };
        let is_unpaired = |event: &Event| matches!(event, Event::Note(note) if *note == unpaired);
        assert!(events.iter().any(is_unpaired), "{events:?}");
        let progress = events.iter().filter_map(|event| match event {
            Event::Progress(progress) => Some(progress),
            _ => None,
        });
        let (first, max_done) = (progress.clone().next(), progress.map(|it| it.done).max());
        assert_eq!(first.map(|it| (it.done, it.total)), Some((0, 22)));
        assert_eq!(max_done, Some(16 + 6));
        results.push(outcome.results);
    }
    assert_eq!(results[0], results[1]);
}

/// A scanpath without a stimulus is not one whose stimulus the other cohort lacks.
#[test]
fn scanpaths_without_a_stimulus_are_not_called_unpaired() {
    let mixed = "participant,stimulus,scanpath\np1,,ABCD\np1,boat,AAB\np2,Boat,AB\n";
    let files = [cohort("a", mixed).unwrap(), cohort("b", B).unwrap()];
    let notes = Mutex::new(Vec::new());
    let sink = |event: Event| {
        if let Event::Note(note) = event {
            notes.lock().unwrap().push(note);
        }
    };
    let options = options(Engine::Plain, MetricOptions::default());
    plan([&files[0], &files[1]], &options, &sink).unwrap();
    let notes = notes.into_inner().unwrap();
    let unpaired = |file: &str, stimulus: &str, scanpaths| Note::Unpaired {
        file: file.into(),
        unpaired: 1,
        scanpaths,
        stimuli: vec![stimulus.into()],
    };
    let without = Note::WithoutStimulus {
        file: "a".into(),
        without: 1,
        scanpaths: 3,
    };
    let expected = [unpaired("a", "Boat", 3), without, unpaired("b", "cows", 2)];
    assert_eq!(notes, expected);
    assert!(
        notes[0].to_string().ends_with("stimulus, \"Boat\""),
        "{}",
        notes[0]
    );
}

/// Single letters cannot write the cells of a large grid, so no other string can change how a string is read.
#[test]
fn a_large_grid_needs_two_letters_per_cell() {
    let metric = MetricOptions {
        name: MetricName::ScanMatch,
        grid: Grid::new(12, 8),
        ..MetricOptions::default()
    };
    let options = options(Engine::Plain, metric);
    let planned = |text: &str| {
        let file = cohort("a", text).unwrap();
        plan([&file, &file], &options, &())
    };
    assert_eq!(planned("aFaFcF\nbFbFbF\n").unwrap().a.alphabet.size(), 96);
    for (text, line) in [("aFaFcF\nbFbFbF\naAaAa\n", 3), ("ABCD\n", 1)] {
        let Err(Error::Read(error)) = planned(text) else {
            panic!("{text}");
        };
        assert_eq!(error.line, Some(line));
        assert!(error.remedy.contains("96 cells in 12 columns"), "{error}");
    }
}

#[test]
fn empty_scanpaths_and_fractional_thresholds_are_noted() {
    let file = cohort("a", "participant,scanpath\np1,AB\np2,\n").unwrap();
    let notes = Mutex::new(Vec::new());
    let sink = |event: Event| {
        if let Event::Note(note) = event {
            notes.lock().unwrap().push(note);
        }
    };
    let threshold = Threshold::new(0.5).unwrap();
    let options = PlanOptions {
        reveal: Reveal::Threshold(threshold),
        ..options(Engine::Plain, MetricOptions::default())
    };
    plan([&file, &file], &options, &sink).unwrap();
    let empty = Note::EmptyScanpaths {
        file: "a".into(),
        empty: 1,
        scanpaths: 2,
    };
    let equality = Note::EqualityThreshold { threshold };
    assert_eq!(
        notes.into_inner().unwrap(),
        [empty.clone(), empty, equality]
    );
}

#[test]
fn a_copy_without_header_lines_is_the_same_cohort() {
    let text = "participant,scanpath\np1,AB\np2,BC\n";
    let with_header = format!("# veilpath cohort 1\n# alphabet: letters 49\n# grid: 7x7\n{text}");
    let files = [
        cohort("a", &with_header).unwrap(),
        cohort("b", text).unwrap(),
    ];
    let options = options(Engine::Plain, MetricOptions::default());
    let planned = plan([&files[0], &files[1]], &options, &()).unwrap();
    assert!(
        compare(&planned, CompareOptions::default(), &())
            .unwrap()
            .one_cohort
    );
}

#[test]
fn options_without_effect_are_refused_by_name() {
    let metric = |options: MetricOptions| {
        let files = [cohort("a", A).unwrap(), cohort("b", B).unwrap()];
        let options = PlanOptions::new(Engine::Plain, options);
        plan([&files[0], &files[1]], &options, &()).unwrap_err()
    };
    let with_unit = |name| MetricOptions {
        name,
        substitution: Some(SubstitutionChoice::Unit),
        ..MetricOptions::default()
    };
    let of_fixations = NonAlignmentOptions {
        positions: PositionsChoice::Fixations,
        ..NonAlignmentOptions::default()
    };
    let by_durations = NonAlignmentOptions {
        divide_by: Some(DivideBy::Durations),
        ..NonAlignmentOptions::default()
    };
    let cases = [
        (
            MetricOptions {
                gap: Some(1.0),
                ..MetricOptions::default()
            },
            (MetricField::Gap, NoEffectReason::FixedCosts),
        ),
        (
            MetricOptions {
                threshold: Some(3.0),
                ..MetricOptions::default()
            },
            (MetricField::Threshold, NoEffectReason::OnlyScanMatch),
        ),
        (
            MetricOptions {
                name: MetricName::NeedlemanWunsch,
                wrap: true,
                ..MetricOptions::default()
            },
            (MetricField::Wrap, NoEffectReason::NoGridDistance),
        ),
        (
            MetricOptions {
                name: MetricName::NeedlemanWunsch,
                substitution: Some(SubstitutionChoice::Index),
                mismatch: Some(2.0),
                ..MetricOptions::default()
            },
            (MetricField::Mismatch, NoEffectReason::OtherSubstitution),
        ),
        (
            with_unit(MetricName::ScanMatch),
            (MetricField::Substitution, NoEffectReason::ScanMatchFields),
        ),
        (
            with_unit(MetricName::SequenceScore),
            (MetricField::Substitution, NoEffectReason::NotAnAlignment),
        ),
        (
            MetricOptions {
                name: MetricName::Frechet,
                scale: Some(10.0),
                ..MetricOptions::default()
            },
            (MetricField::Scale, NoEffectReason::OtherMetric),
        ),
        (
            MetricOptions {
                name: MetricName::Dtw,
                scale: Some(10.0),
                non_alignment: of_fixations,
                ..MetricOptions::default()
            },
            (MetricField::Scale, NoEffectReason::NotRounded),
        ),
        (
            MetricOptions {
                name: MetricName::Dtw,
                grid: Grid::new(7, 7),
                non_alignment: by_durations,
                ..MetricOptions::default()
            },
            (MetricField::DivideBy, NoEffectReason::OnlyByLengths),
        ),
    ];
    for (options, expected) in cases {
        match metric(options) {
            Error::MetricOptions(MetricOptionsError::NoEffect { field, reason }) => {
                assert_eq!((field, reason), expected);
            }
            other => panic!("{other}"),
        }
    }
    // Where all different letters cost the same, saying so changes nothing.
    for name in [
        MetricName::Levenshtein,
        MetricName::NeedlemanWunsch,
        MetricName::SmithWaterman,
    ] {
        let files = [cohort("a", A).unwrap(), cohort("b", B).unwrap()];
        let options = PlanOptions::new(Engine::Plain, with_unit(name));
        plan([&files[0], &files[1]], &options, &()).unwrap();
    }
    let without_grid = metric(MetricOptions {
        name: MetricName::NeedlemanWunsch,
        substitution: Some(SubstitutionChoice::Distance(Distance::Manhattan)),
        ..MetricOptions::default()
    });
    assert!(
        matches!(
            without_grid,
            Error::MetricOptions(MetricOptionsError::GridMissing)
        ),
        "{without_grid}"
    );
}

#[test]
fn errors_have_fields_and_a_fault() {
    let key = "-----BEGIN PRIVATE KEY-----\n";
    let not_a_cohort = cohort("k", key)
        .and_then(|raw| decode_cohort(&raw, &()))
        .unwrap_err();
    assert!(
        matches!(&not_a_cohort, Error::NotACohort { file, found: OtherFile::Key } if file == "k"),
        "{not_a_cohort}"
    );
    let files = [
        cohort("a", A).unwrap(),
        cohort("c", "participant,stimulus,scanpath\nq1,car,AB\n").unwrap(),
    ];
    let nothing = plan(
        [&files[0], &files[1]],
        &options(Engine::Plain, MetricOptions::default()),
        &(),
    );
    let Err(Error::NothingToCompare { stimuli, .. }) = nothing else {
        panic!("{nothing:?}")
    };
    assert_eq!(stimuli[0], ["cows", "boat", "tree"]);
    // Within this cohort, each scanpath is the only one of its stimulus.
    let alone = cohort(
        "d",
        "participant,stimulus,scanpath\np,car,AB\nq,bus,AC\nr,tram,A\n",
    )
    .unwrap();
    let mut same = options(Engine::Plain, MetricOptions::default());
    let within = plan([&alone, &alone], &same, &()).unwrap_err();
    assert!(
        matches!(&within, Error::NothingToCompareWithin { file } if file == "d"),
        "{within:?}"
    );
    same.pairs = veilpath::PairRule::All;
    assert!(plan([&alone, &alone], &same, &()).is_ok());
    let padded = PlanOptions {
        pad_to: Some(3),
        ..options(Engine::Garbled, MetricOptions::default())
    };
    let too_long = plan([&files[0], &files[0]], &padded, &()).unwrap_err();
    assert!(
        matches!(
            too_long,
            Error::LongerThanPadding {
                longer: 1,
                scanpaths: 3,
                longest: 4,
                pad_to: 3,
                ..
            }
        ),
        "{too_long}"
    );
    let unsupported = PlanOptions {
        reveal: Reveal::Score,
        pad_to: Some(9),
        ..options(Engine::Plain, MetricOptions::default())
    };
    let unsupported = plan([&files[0], &files[0]], &unsupported, &()).unwrap_err();
    for error in [not_a_cohort, too_long, unsupported] {
        assert_eq!(error.fault(), Fault::Input);
        assert!(!error.to_string().contains("--"), "{error}");
    }
}

#[test]
fn a_cohort_that_no_result_file_can_contain_is_refused() {
    let long = "x".repeat(1025);
    let ids = format!("participant,scanpath\n{long},AB\n");
    let setting = format!(
        "# veilpath cohort 1\n# alphabet: letters 4\n# data: {long}\nparticipant,scanpath\np,AB\n"
    );
    let fine = cohort("b", "participant,scanpath\nq,AB\n").unwrap();
    for text in [ids, setting] {
        let file = cohort("a", &text).unwrap();
        let options = options(Engine::Plain, MetricOptions::default());
        let error = plan([&file, &fine], &options, &|_| ()).unwrap_err();
        let refused =
            |error: &Error| matches!(error, Error::BeyondResultFile { file, .. } if file == "a");
        assert!(refused(&error), "{error}");
        let error = LocalCohort::new(file, options).unwrap_err();
        assert!(refused(&error), "{error}");
    }
}

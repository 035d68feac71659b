//! Fixations rounded to letters: private engines and sessions give the same results as a comparison in the clear with
//! the same rounding.
#![allow(clippy::unwrap_used)] // test helpers may panic

use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::mpsc::channel;
use veilpath::{
    Capability, CompareOptions, DivideBy, Engine, Error, Event, Identity, Input, LocalCohort,
    MetricField, MetricName, MetricOptions, MetricOptionsError, NoEffectReason,
    NonAlignmentOptions, Note, Outcome, PeerEvent, PlanOptions, PositionsChoice, ProtocolError,
    RawCohort, Reveal, ScanpathLimit, SessionEvent, SessionOptions, SpecError, StateDir, Undefined,
    compare, host, join, plan, read_cohort_from,
};

const SCREEN: &str = "1920 x 1080 pixels";
const VIEWING: &str = "53 x 30 cm from 60 cm";

/// Synthetic fixations, a few of them off the screen. The letters are meaningless.
fn text(seed: u64, people: usize, screen: &str, viewing: &str) -> String {
    let mut text = format!(
        "# veilpath cohort 1\n# alphabet: letters 49\n# data: fixations\n# grid: 7x7\n# screen: {screen}\n# viewing: {viewing}\nparticipant,group,stimulus,scanpath,fixations\n"
    );
    let mut state = seed;
    let mut next = |below: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) % below
    };
    for person in 0..people {
        for stimulus in ["cows", "boat"] {
            let count = 3 + next(9);
            let fixations = (0..count).map(|_| {
                let (x, y, duration) = (next(2000), next(1100), 40 + next(700));
                format!("{x}.5 {y} {duration}")
            });
            let fixations: Vec<String> = fixations.collect();
            let group = ["old", "young"][person % 2];
            let fixations = fixations.join(";");
            writeln!(text, "p{seed}-{person},{group},{stimulus},AB,{fixations}").unwrap();
        }
    }
    text
}

fn file(text: &str) -> RawCohort {
    read_cohort_from(Input::from_bytes("cohort.csv", text.as_bytes().to_vec()).unwrap()).unwrap()
}

fn files() -> [RawCohort; 2] {
    [
        file(&text(1, 4, SCREEN, VIEWING)),
        file(&text(2, 3, SCREEN, VIEWING)),
    ]
}

fn rounded(name: MetricName) -> MetricOptions {
    let is_scasim = name == MetricName::ScaSim;
    MetricOptions {
        name,
        non_alignment: NonAlignmentOptions {
            positions: match is_scasim {
                true => PositionsChoice::Letters,
                false => PositionsChoice::Fixations,
            },
            fixation_grid: Some(if is_scasim { "8x5" } else { "16x9" }.parse().unwrap()),
            duration_classes: match is_scasim {
                true => vec![100.0, 250.0, 500.0],
                false => Vec::new(),
            },
            radius: (name == MetricName::Crqa).then_some(200.0),
            ..NonAlignmentOptions::default()
        },
        ..MetricOptions::default()
    }
}

const PRIVATE: [MetricName; 5] = [
    MetricName::ScaSim,
    MetricName::Dtw,
    MetricName::Frechet,
    MetricName::Hausdorff,
    MetricName::Crqa,
];

fn run(options: &PlanOptions, [a, b]: &[RawCohort; 2]) -> Result<Outcome, Error> {
    let planned = plan([a, b], options, &())?;
    compare(&planned, CompareOptions::default(), &())
}

#[test]
fn private_engines_match_plain_with_the_same_rounding() {
    let files = files();
    for name in PRIVATE {
        let outcomes = [Engine::Plain, Engine::Garbled, Engine::Shares].map(|engine| {
            let options = PlanOptions::new(engine, rounded(name));
            run(&options, &files).unwrap_or_else(|error| panic!("{}: {error}", name.name()))
        });
        let [plain, garbled, shares] = &outcomes;
        assert_eq!(plain.results.len(), 24);
        assert_eq!(garbled.results, plain.results, "{}", name.name());
        assert_eq!(shares.results, plain.results, "{}", name.name());
        assert_eq!(garbled.spec.metric, plain.spec.metric);
        assert_eq!(garbled.spec.encoding["screen"], SCREEN);
        let viewing = garbled.spec.encoding.contains_key("viewing");
        assert_eq!(viewing, name == MetricName::ScaSim);
    }
}

#[test]
fn an_unknown_measure_is_refused_with_the_known_ones() {
    let mut metric = rounded(MetricName::Crqa);
    metric.non_alignment.measures = vec!["size".into()];
    let error = run(&PlanOptions::new(Engine::Plain, metric), &files()).unwrap_err();
    let start = "there is no measure \"size\"; this metric has rec, ";
    assert!(error.to_string().starts_with(start), "{error}");
}

#[test]
fn group_answers_equal_those_of_the_plain_comparison() {
    let files = files();
    let mut crqa = rounded(MetricName::Crqa);
    crqa.non_alignment.measures = vec!["det".into()];
    crqa.non_alignment.undefined = Undefined::Zero;
    for metric in [rounded(MetricName::ScaSim), crqa] {
        for question in ["groups", "histogram:4", "nearest:3"] {
            let reveal: Reveal = question.parse().unwrap();
            let answers = [Engine::Plain, Engine::Garbled, Engine::Shares].map(|engine| {
                let options = PlanOptions {
                    reveal,
                    ..PlanOptions::new(engine, metric.clone())
                };
                run(&options, &files).unwrap().answers
            });
            assert_eq!(answers[0], answers[1], "{question}");
            assert_eq!(answers[0], answers[2], "{question}");
        }
    }
}

/// Rounding changes distances between points by at most twice the largest shift of a fixation on the screen.
#[test]
fn rounding_is_noted_stored_and_bounded() {
    let [a, b] = files();
    let notes = Mutex::new(Vec::new());
    let sink = |event: Event| {
        if let Event::Note(Note::RoundedFixations { error, unit, .. }) = event {
            notes.lock().unwrap().push((error, unit));
        }
    };
    let options = PlanOptions::new(Engine::Plain, rounded(MetricName::Frechet));
    let planned = plan([&a, &b], &options, &sink).unwrap();
    let outcome = compare(&planned, CompareOptions::default(), &sink).unwrap();
    let notes = notes.into_inner().unwrap();
    assert_eq!(notes.len(), 2);
    let rounding = outcome.spec.fixation_rounding().unwrap();
    assert_eq!(rounding.unit.as_deref(), Some("pixels"));
    // Cells of 120 × 120 pixels.
    assert_eq!(rounding.largest_shift, 120.0 * 2f64.sqrt() / 2.0);
    assert_eq!(rounding.largest_duration_change, None);
    let mut exact = options.clone();
    exact.metric.non_alignment.fixation_grid = None;
    let exact = run(&exact, &[a, b]).unwrap();
    let largest = notes.iter().map(|(error, _)| error.largest_distance);
    let largest = largest.fold(0.0, f64::max);
    assert!(notes.iter().all(|(error, unit)| {
        *unit == "pixels" && error.mean_distance < error.largest_distance
    }));
    for (rounded, exact) in outcome.rows().zip(exact.rows()) {
        let [rounded, exact] = [rounded, exact].map(|row| row.values[0].number().unwrap());
        assert!((rounded - exact).abs() <= 2.0 * largest);
    }
    let written = serde_json::to_value(&outcome).unwrap();
    assert_eq!(written["fixation_rounding"]["grid"], "16x9");
    let mut durations = rounded(MetricName::ScaSim);
    durations.non_alignment.duration_classes = vec![100.0, 300.0];
    let planned = plan(
        [&files()[0], &files()[1]],
        &PlanOptions::new(Engine::Shares, durations),
        &(),
    );
    let rounding = planned.unwrap().spec.fixation_rounding().unwrap();
    assert_eq!(rounding.largest_duration_change, Some(100.0));
}

#[test]
fn cohorts_of_different_screens_are_not_compared() {
    let other_screen = file(&text(2, 2, "1280 x 720 pixels", VIEWING));
    let other_view = file(&text(2, 2, SCREEN, "53 x 30 cm from 90 cm"));
    let own = file(&text(1, 2, SCREEN, VIEWING));
    let setting = |file: &RawCohort, metric: MetricOptions, engine: Engine| match plan(
        [&own, file],
        &PlanOptions::new(engine, metric),
        &(),
    ) {
        Err(Error::Spec(SpecError::Encoding { setting, .. })) => Some(setting),
        other => {
            other.unwrap();
            None
        }
    };
    let letters = MetricOptions::default();
    let mut exact = rounded(MetricName::Dtw);
    exact.non_alignment.fixation_grid = None;
    let dtw = rounded(MetricName::Dtw);
    let scasim = rounded(MetricName::ScaSim);
    assert_eq!(setting(&other_screen, letters, Engine::Garbled), None);
    let screen = Some("screen".to_string());
    assert_eq!(setting(&other_screen, exact.clone(), Engine::Plain), screen);
    assert_eq!(setting(&other_screen, dtw.clone(), Engine::Shares), screen);
    // Distances on the screen do not depend on the viewing distance; visual angles do.
    assert_eq!(setting(&other_view, exact, Engine::Plain), None);
    assert_eq!(setting(&other_view, dtw, Engine::Garbled), None);
    let viewing = Some("viewing".to_string());
    assert_eq!(setting(&other_view, scasim, Engine::Garbled), viewing);
}

#[test]
fn metrics_without_a_private_engine_are_refused_with_a_reason() {
    let files = files();
    let capability = |metric: MetricOptions, engine: Engine| match run(
        &PlanOptions::new(engine, metric),
        &files,
    )
    .unwrap_err()
    {
        Error::Protocol(ProtocolError::Unsupported(unsupported)) => {
            assert_eq!(unsupported.instead, ["plain"]);
            unsupported.capability
        }
        other => panic!("{other}"),
    };
    let of = |name| MetricOptions {
        name,
        ..MetricOptions::default()
    };
    let mut dtw = rounded(MetricName::Dtw);
    dtw.non_alignment.fixation_grid = None;
    for engine in [Engine::Garbled, Engine::Shares] {
        assert_eq!(
            capability(of(MetricName::MultiMatch), engine),
            Capability::PlainEngineOnly("multimatch")
        );
        assert_eq!(
            capability(of(MetricName::SubsMatch), engine),
            Capability::PlainEngineOnly("subsmatch")
        );
        assert_eq!(
            capability(of(MetricName::ScaSim), engine),
            Capability::UnroundedFixations("scasim")
        );
        assert_eq!(
            capability(dtw.clone(), engine),
            Capability::UnroundedFixations("dtw")
        );
    }
    let error = |change: fn(&mut MetricOptions), name| {
        let mut metric = rounded(name);
        change(&mut metric);
        match run(&PlanOptions::new(Engine::Garbled, metric), &files).unwrap_err() {
            Error::MetricOptions(error) => error,
            other => panic!("{other}"),
        }
    };
    let no_classes = error(
        |it| it.non_alignment.duration_classes.clear(),
        MetricName::ScaSim,
    );
    assert!(matches!(no_classes, MetricOptionsError::RoundingIncomplete));
    let no_grid = error(
        |it| it.non_alignment.fixation_grid = None,
        MetricName::ScaSim,
    );
    assert!(matches!(no_grid, MetricOptionsError::RoundingIncomplete));
    let divided = error(
        |it| it.non_alignment.divide_by = Some(DivideBy::Durations),
        MetricName::ScaSim,
    );
    assert!(matches!(divided, MetricOptionsError::RoundedByDurations));
    let letters = error(
        |it| it.non_alignment.positions = PositionsChoice::Letters,
        MetricName::Dtw,
    );
    assert!(matches!(
        letters,
        MetricOptionsError::NoEffect {
            field: MetricField::FixationGrid,
            reason: NoEffectReason::LettersCompared
        }
    ));
    let only_letters = file("participant,scanpath\np1,AB\n");
    let options = PlanOptions::new(Engine::Garbled, rounded(MetricName::Dtw));
    let refused = plan([&only_letters, &only_letters], &options, &()).unwrap_err();
    assert!(matches!(refused, Error::NoFixations { .. }), "{refused}");
}

/// Two institutions, each with its own file.
#[test]
fn sessions_give_the_results_of_a_local_comparison() {
    let texts = [text(1, 3, SCREEN, VIEWING), text(2, 2, SCREEN, VIEWING)];
    for (name, engine) in [
        (MetricName::ScaSim, Engine::Garbled),
        (MetricName::ScaSim, Engine::Shares),
        (MetricName::Dtw, Engine::Garbled),
        (MetricName::Dtw, Engine::Shares),
    ] {
        let plain = PlanOptions::new(Engine::Plain, rounded(name));
        let expected = run(&plain, &texts.each_ref().map(|text| file(text))).unwrap();
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let identities = [(); 2].map(|()| Identity::ephemeral().unwrap());
        let options = [0, 1].map(|side: usize| {
            let plan = PlanOptions::new(engine, rounded(name));
            let cohort = LocalCohort::new(file(&texts[side]), plan).unwrap();
            let state_dir = StateDir::at(folders[side].path());
            let mut options = SessionOptions::new(cohort, identities[side].clone(), state_dir);
            options.limit_per_scanpath = ScanpathLimit::Count(9);
            options
        });
        let (sender, address) = channel();
        let sender = Mutex::new(sender);
        let listening = move |event: Event| {
            if let Event::Session(SessionEvent::Listening { address, .. }) = event {
                sender.lock().unwrap().send(address.to_string()).unwrap();
            }
        };
        let agreed = Mutex::new(None);
        let noted = |event: Event| {
            if let Event::Session(SessionEvent::Peer {
                event: PeerEvent::Agreed(summary),
                ..
            }) = event
            {
                *agreed.lock().unwrap() = summary.fixation_rounding;
            }
        };
        let fingerprints = identities.each_ref().map(Identity::fingerprint);
        let outcomes = std::thread::scope(|scope| {
            let [of_host, of_join] = &options;
            let hosting =
                scope.spawn(move || host("127.0.0.1:0", fingerprints[1], of_host, &listening));
            let address = address.recv().unwrap();
            let joined = join(&address, fingerprints[0], of_join, &noted);
            [hosting.join().unwrap(), joined]
        });
        for outcome in outcomes {
            let outcome = outcome.unwrap().unwrap().outcome;
            assert_eq!(
                outcome.results,
                expected.results,
                "{} {engine:?}",
                name.name()
            );
            assert_eq!(outcome.spec.metric, expected.spec.metric);
        }
        let agreed = agreed.into_inner().unwrap();
        assert_eq!(agreed, expected.spec.fixation_rounding());
    }
}

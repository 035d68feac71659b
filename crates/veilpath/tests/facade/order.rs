//! Cohorts compared with themselves, or with a part of themselves.
#![allow(clippy::unwrap_used, clippy::panic)] // test helpers may panic

use std::sync::Mutex;
use veilpath::report::ResultFile;
use veilpath::stats::{NamedResult, StatsError, StatsOptions, statistics};
use veilpath::{
    CompareOptions, Engine, Error, Event, Input, MetricName, MetricOptions, NonAlignmentOptions,
    Note, Outcome, PlanOptions, compare, plan, read_cohort_from,
};
use veilpath_protocol::GroupAnswer;

const EVERYONE: &str = "participant,stimulus,scanpath\np1,cows,AAB\np1,boat,ABC\np2,cows,BBA\np2,boat,CCA\np3,cows,ABAB\np3,boat,ABCC\n";
const SOME: &str = "participant,stimulus,scanpath\np1,cows,AAB\np2,cows,BBA\np3,cows,ABA\n";

fn compared(texts: [&str; 2], metric: MetricOptions) -> (Outcome, Vec<Note>) {
    let files = [("a", texts[0]), ("b", texts[1])].map(|(name, text)| {
        read_cohort_from(Input::from_bytes(name, text.as_bytes().to_vec()).unwrap()).unwrap()
    });
    let notes = Mutex::new(Vec::new());
    let options = PlanOptions::new(Engine::Plain, metric);
    let planned = plan([&files[0], &files[1]], &options, &collector(&notes)).unwrap();
    let outcome = compare(&planned, CompareOptions::default(), &()).unwrap();
    (outcome, notes.into_inner().unwrap())
}

fn collector(notes: &Mutex<Vec<Note>>) -> impl Fn(Event) + Sync {
    |event| {
        if let Event::Note(note) = event {
            notes.lock().unwrap().push(note);
        }
    }
}

fn crqa() -> Outcome {
    let measures = ["corm", "lam-rows", "rec"].map(String::from).to_vec();
    let metric = MetricOptions {
        name: MetricName::Crqa,
        non_alignment: NonAlignmentOptions {
            measures,
            ..NonAlignmentOptions::default()
        },
        ..MetricOptions::default()
    };
    compared([EVERYONE; 2], metric).0
}

/// The answers, or the error, and the notes.
fn stats(measure: &str, questions: &[&str]) -> (Result<Vec<GroupAnswer>, Error>, Vec<Note>) {
    let file = ResultFile::from(crqa());
    let result = NamedResult {
        name: "r",
        file: &file,
    };
    let options = StatsOptions {
        questions: questions.iter().map(|text| text.parse().unwrap()).collect(),
        measure: Some(measure.into()),
        resamples: 20,
        ..StatsOptions::default()
    };
    let notes = Mutex::new(Vec::new());
    let outcome = statistics(&[result], &options, &collector(&notes));
    (
        outcome.map(|outcome| outcome.answers),
        notes.into_inner().unwrap(),
    )
}

#[test]
fn a_sign_that_depends_on_the_order_has_no_mean() {
    for questions in [&["mean"][..], &[]] {
        let (answers, _) = stats("corm", questions);
        let Err(Error::Stats(StatsError::NoMean { measure })) = answers else {
            panic!("{answers:?}");
        };
        assert_eq!(measure, "corm");
    }
}

#[test]
fn both_orders_count_if_the_measure_depends_on_the_order() {
    let both = |measure: &str| Note::BothOrders {
        measure: measure.into(),
    };
    let pairs = |measure: &str| {
        let (answers, notes) = stats(measure, &["histogram:4"]);
        let [GroupAnswer::Histogram(histogram)] = &answers.unwrap()[..] else {
            panic!("a histogram was asked for");
        };
        let pairs: u64 = histogram.bins.counts.iter().flatten().sum();
        (pairs, notes.contains(&both(measure)))
    };
    assert_eq!(pairs("corm"), (12, true));
    assert_eq!(pairs("lam-rows"), (12, true));
    assert_eq!(pairs("rec"), (6, false));
    let (answers, notes) = stats("lam-rows", &["mean"]);
    assert!(answers.is_ok() && notes.contains(&both("lam-rows")));
}

#[test]
fn scanpaths_in_both_cohorts_are_noted() {
    let noted = |texts| compared(texts, MetricOptions::default()).1;
    let overlap = Note::InBothCohorts { scanpaths: 2 };
    assert!(noted([EVERYONE, SOME]).contains(&overlap));
    assert!(noted([SOME, EVERYONE]).contains(&overlap));
    assert!(overlap.to_string().starts_with("2 scanpaths are in both"));
    let is_overlap = |note: &Note| matches!(note, Note::InBothCohorts { .. });
    for texts in [
        [EVERYONE, EVERYONE],
        [SOME, "participant,stimulus,scanpath\nq1,cows,AAB\n"],
    ] {
        assert!(!noted(texts).iter().any(is_overlap), "{texts:?}");
    }
}

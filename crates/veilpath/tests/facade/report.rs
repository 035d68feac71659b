//! Drawings of a cohort's own scanpaths.
#![allow(clippy::unwrap_used)] // test helpers may panic

use veilpath::report::{DrawingOptions, DrawnCohort, ReportOptions, ResultFile, report};
use veilpath::{
    CompareOptions, Distance, Engine, Input, MetricName, MetricOptions, NonAlignmentOptions,
    PlanOptions, SubstitutionChoice, compare, plan, read_cohort_from,
};

/// A cohort that does not declare the aspect ratio of its stimuli.
const COHORT: &str = "# veilpath cohort 1\n# grid: 7x7\nparticipant,scanpath\np1,ABBA\np2,AWWA\n";

fn input() -> Input {
    Input::from_bytes("cohort.csv", COHORT.as_bytes().to_vec()).unwrap()
}

/// The width and height of the drawn scanpaths, including margins.
fn drawn_size(metric: MetricOptions) -> String {
    let cohort = read_cohort_from(input()).unwrap();
    let options = PlanOptions::new(Engine::Plain, metric);
    let planned = plan([&cohort, &cohort], &options, &()).unwrap();
    let outcome = compare(&planned, CompareOptions::default(), &()).unwrap();
    let result = ResultFile::from(outcome);
    let drawn = DrawnCohort::read(input(), &DrawingOptions::default(), &()).unwrap();
    let options = ReportOptions::default();
    let mut page = Vec::new();
    report(&result, Some(&drawn), &options, &())
        .unwrap()
        .write_html(&mut page)
        .unwrap();
    let page = String::from_utf8(page).unwrap();
    let (_, size) = page.split_once("class=\"path\" viewBox=\"-2 -2 ").unwrap();
    size.split_once('"').unwrap().0.to_string()
}

#[test]
fn a_metric_that_joins_left_and_right_draws_panoramas() {
    let named = |name| MetricOptions {
        name,
        ..MetricOptions::default()
    };
    let metrics = [
        named(MetricName::ScanMatch),
        MetricOptions {
            substitution: Some(SubstitutionChoice::Distance(Distance::Euclidean)),
            ..named(MetricName::NeedlemanWunsch)
        },
        named(MetricName::Dtw),
        named(MetricName::Frechet),
        named(MetricName::Hausdorff),
        MetricOptions {
            non_alignment: NonAlignmentOptions {
                radius: Some(1.0),
                ..NonAlignmentOptions::default()
            },
            ..named(MetricName::Crqa)
        },
    ];
    for metric in metrics {
        let name = metric.name;
        assert_eq!(drawn_size(metric.clone()), "244 244", "{name:?}");
        let wrapped = MetricOptions {
            wrap: true,
            ..metric
        };
        assert_eq!(drawn_size(wrapped), "244 124", "{name:?}");
    }
}

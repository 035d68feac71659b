//! Groups, from synthetic viewers to comparisons.
#![allow(clippy::unwrap_used)] // test helpers may panic

use veilpath::encode::{EncodeOptions, ReadOptions, Source, encode};
use veilpath::split::{SplitOptions, split};
use veilpath::synth::{LifelikeOptions, SynthError, Viewers, fixations, lifelike};
use veilpath::{
    CompareOptions, Engine, Error, Grid, Input, MetricName, MetricOptions, PlanOptions, compare,
    plan, read_cohort_from, write_cohort,
};
use veilpath_metrics::Cohort;

fn options(difference: f64, groups: &[(&str, u32)]) -> LifelikeOptions {
    let groups = groups.iter().map(|(name, size)| (name.to_string(), *size));
    LifelikeOptions {
        viewers: Viewers::Groups(groups.collect()),
        difference,
        seed: Some(11),
        ..LifelikeOptions::default()
    }
}

fn grid() -> Grid {
    Grid::new(7, 7).unwrap()
}

/// The mean similarity of people in the same group, minus that of people in different groups.
fn contrast(options: &LifelikeOptions) -> f64 {
    let split_options = SplitOptions {
        seed: Some(3),
        ..SplitOptions::default()
    };
    let whole = lifelike(options, grid()).unwrap().cohort;
    let cohorts = split(whole, split_options).unwrap().cohorts;
    let [a, b] = cohorts.each_ref().map(|cohort| {
        let mut bytes = Vec::new();
        write_cohort(cohort, None, &[], &mut bytes).unwrap();
        read_cohort_from(Input::from_bytes("c.csv", bytes).unwrap()).unwrap()
    });
    let metric = MetricOptions {
        name: MetricName::ScanMatch,
        ..MetricOptions::default()
    };
    let planned = plan([&a, &b], &PlanOptions::new(Engine::Plain, metric), &()).unwrap();
    let outcome = compare(&planned, CompareOptions::default(), &()).unwrap();
    let group = |cohort: &Cohort, participant: &str| {
        let mut entries = cohort.entries.iter();
        let found = entries.find(|entry| entry.participant == participant);
        found.unwrap().group.clone().unwrap()
    };
    let mean = |same: bool| {
        let rows = outcome
            .rows()
            .filter(|row| (group(&cohorts[0], row.a) == group(&cohorts[1], row.b)) == same);
        let values: Vec<f64> = rows.map(|row| row.values[0].number().unwrap()).collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    mean(true) - mean(false)
}

#[test]
fn groups_differ_as_much_as_asked() {
    let two = [("patients", 12), ("controls", 12)];
    let contrasts = [0.0, 0.5, 1.0].map(|difference| contrast(&options(difference, &two)));
    println!("contrasts {contrasts:?}");
    assert!(contrasts[0].abs() < 0.01, "{contrasts:?}");
    assert!(
        contrasts[1] > 0.005 && contrasts[2] > 2.0 * contrasts[1],
        "{contrasts:?}"
    );
    let three = contrast(&options(1.0, &[("a", 8), ("b", 8), ("c", 8)]));
    assert!(three > 0.02, "{three}");
}

#[test]
fn a_table_of_fixations_names_the_groups_of_the_cohort() {
    let options = options(0.5, &[("one, two", 3), ("three", 2)]);
    let cohort = lifelike(&options, grid()).unwrap().cohort;
    let sizes: Vec<(&str, usize)> = cohort.group_sizes().into_iter().collect();
    assert_eq!(sizes, [("one, two", 3), ("three", 2)]);
    assert!(
        cohort
            .entries
            .iter()
            .all(|entry| entry.participant.len() == 2)
    );
    let mut table = Vec::new();
    fixations(&options).unwrap().write(&mut table).unwrap();
    let input = Input::from_bytes("fixations.csv", table).unwrap();
    let read = ReadOptions {
        screen: Some((1280.0, 720.0)),
        ..ReadOptions::default()
    };
    let options = EncodeOptions {
        read,
        ..EncodeOptions::default()
    };
    let encoded = encode(vec![Source::Open(Box::new(input))], &options, &()).unwrap();
    assert_eq!(encoded.cohort.entries, cohort.entries);
    assert_eq!(encoded.summary.groups["three"], 2);
}

#[test]
fn groups_need_different_names_and_a_difference_up_to_one() {
    let refused = |options: &LifelikeOptions| match lifelike(options, grid()) {
        Err(Error::Synth(error)) => error,
        other => unreachable!("{other:?}"),
    };
    for groups in [
        &[][..],
        &[("a", 1), ("a", 1)],
        &[(" ", 1)],
        &[("n/a", 1)],
        &[("a", 1); 7],
    ] {
        let error = refused(&options(1.0, groups));
        assert!(matches!(error, SynthError::Groups { .. }), "{error}");
    }
    for difference in [-0.1, 1.1, f64::NAN] {
        let error = refused(&options(difference, &[("a", 1)]));
        assert!(matches!(error, SynthError::Difference { .. }), "{error}");
    }
}

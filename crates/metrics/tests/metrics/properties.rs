//! Properties that metrics have for all parameters.

// Test helpers may panic too.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation
)]

use crate::support;

use proptest::prelude::*;
use support::{case, global_metric, local_metric, scanpath, two_scanpaths};
use veilpath_metrics::{
    Alphabet, Comparison, Costs, Distance, Grid, LocalScoring, Metric, MetricError, Model,
    Scanpath, Substitution, Table,
};

fn levenshtein() -> Comparison {
    Comparison::new(Metric::Levenshtein, Alphabet::letters(5).unwrap()).unwrap()
}

/// The best sum, by maximising it directly.
fn greatest_sum(reward: i64, mismatch: i64, gap: i64, a: &Scanpath, b: &Scanpath) -> i64 {
    let mut row: Vec<i64> = (0..).take(b.len() + 1).map(|j: i64| -j * gap).collect();
    for x in a.letters() {
        let mut diagonal = row[0];
        row[0] -= gap;
        for (j, y) in b.letters().iter().enumerate() {
            let pair = diagonal + if x == y { reward } else { -mismatch };
            diagonal = row[j + 1];
            row[j + 1] = pair.max(row[j + 1] - gap).max(row[j] - gap);
        }
    }
    row[b.len()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn levenshtein_is_a_metric(a in scanpath(5), b in scanpath(5), c in scanpath(5)) {
        let distance = |a, b| levenshtein().raw(a, b).unwrap();
        prop_assert_eq!(distance(&a, &b), distance(&b, &a));
        prop_assert_eq!(distance(&a, &b) == 0, a == b);
        prop_assert!(distance(&a, &c) <= distance(&a, &b) + distance(&b, &c));
    }

    #[test]
    fn similarity_lies_between_0_and_1(
        (comparison, a, b) in prop_oneof![
            case(|size| global_metric(size).boxed()),
            case(|size| local_metric(size).boxed()),
        ],
    ) {
        prop_assume!(!a.is_empty() || !b.is_empty());
        let pair_score = comparison.compare(&a, &b).unwrap();
        if let Some(similarity) = pair_score.similarity() {
            prop_assert!((0.0..=1.0).contains(&similarity), "{similarity}");
        }
        prop_assert!(pair_score.score().is_finite());
    }

    #[test]
    fn equal_scanpaths_have_similarity_1((a, _) in two_scanpaths(49), wrap: bool) {
        let alphabet = Alphabet::letters(49).unwrap();
        let grid = Grid::new(7, 7).unwrap().with_wrap(wrap);
        for distance in [Distance::Manhattan, Distance::Euclidean, Distance::Chebyshev] {
            let metric = Metric::NeedlemanWunsch {
                substitution: Substitution::on_grid(grid, distance),
                insert: 1.5,
                delete: 0.5,
                scale: None,
            };
            let pair_score = Comparison::new(metric, alphabet).unwrap().compare(&a, &a).unwrap();
            prop_assert_eq!((pair_score.score(), pair_score.similarity()), (0.0, Some(1.0)));
        }
    }

    /// Swapping the sides swaps insertion and deletion and transposes the table.
    #[test]
    fn swapping_the_sides_swaps_insertions_and_deletions(
        values in prop::collection::vec(0u32..20, 16),
        gaps in [0u32..9, 0u32..9],
        (a, b) in two_scanpaths(4),
    ) {
        let alphabet = Alphabet::letters(4).unwrap();
        let raw = |at: fn(usize) -> usize, [insert, delete]: [u32; 2], a, b| {
            let values = (0..16).map(|cell| f64::from(values[at(cell)])).collect();
            let metric = Metric::NeedlemanWunsch {
                substitution: Substitution::Table { table: Table::new(4, values).unwrap() },
                insert: insert.into(),
                delete: delete.into(),
                scale: None,
            };
            Comparison::new(metric, alphabet).unwrap().raw(a, b).unwrap()
        };
        let mirrored = raw(|cell| cell % 4 * 4 + cell / 4, [gaps[1], gaps[0]], &b, &a);
        prop_assert_eq!(raw(|cell| cell, gaps, &a, &b), mirrored);
    }

    #[test]
    fn scores_equal_those_of_direct_maximisation(
        reward in 0u32..9,
        mismatch in 0u32..9,
        gap in 0u32..9,
        (a, b) in two_scanpaths(4),
    ) {
        let metric = Metric::NeedlemanWunschScore {
            reward: reward.into(),
            mismatch: mismatch.into(),
            gap: gap.into(),
            scale: None,
        };
        let comparison = Comparison::new(metric, Alphabet::letters(4).unwrap()).unwrap();
        let greatest = greatest_sum(reward.into(), mismatch.into(), gap.into(), &a, &b);
        let score = comparison.compare(&a, &b).unwrap().score();
        prop_assert_eq!(score, f64::from(i32::try_from(greatest).unwrap()));
    }

    /// The largest cost belongs to a letter pair of the alphabet, not of the whole grid or table.
    #[test]
    fn the_largest_cost_is_that_of_a_pair(
        columns in 1u32..9,
        rows in 1u32..9,
        size in 1u32..=52,
        wrap: bool,
    ) {
        let grid = Grid::new(columns, rows).unwrap().with_wrap(wrap);
        let size = size.min(grid.cells());
        let letters = || (0..size).map(|letter| u16::try_from(letter).unwrap());
        let table = Costs::Table { size: 64, costs: (0..64 * 64).rev().collect() };
        let grids = [Distance::Manhattan, Distance::Euclidean, Distance::Chebyshev]
            .map(|distance| Costs::Grid { grid, distance, scale: 1000.0 });
        let others = [Costs::Unit { mismatch: 7 }, Costs::Index { step: 3 }, table];
        for costs in grids.into_iter().chain(others) {
            let pairs = letters().flat_map(|a| letters().map(move |b| (a, b)));
            let largest = pairs.map(|(a, b)| costs.cost(a, b)).max();
            prop_assert_eq!(Some(costs.largest(size)), largest);
        }
    }
}

/// A row for a letter that the alphabet does not have must not change the scores.
#[test]
fn rows_beyond_the_alphabet_are_ignored() {
    let alphabet = Alphabet::letters(2).unwrap();
    let (a, b) = (
        alphabet.parse("AAB").unwrap(),
        alphabet.parse("AB").unwrap(),
    );
    let table = |size, values: &[f64]| Table::new(size, values.to_vec()).unwrap();
    let small = table(2, &[2.0, 1.0, 1.0, 2.0]);
    let large = table(3, &[2.0, 1.0, 0.001, 1.0, 2.0, -5.0, 900.0, 900.0, 900.0]);
    let both = |metric: &dyn Fn(Table) -> Metric| {
        [&small, &large].map(|table| Comparison::new(metric(table.clone()), alphabet).unwrap())
    };
    let local = |table| Metric::SmithWaterman {
        scoring: LocalScoring::Table { table },
        gap: 1.0,
        scale: None,
    };
    let global = |table| Metric::NeedlemanWunsch {
        substitution: Substitution::Table { table },
        insert: 1.0,
        delete: 1.0,
        scale: None,
    };
    for [small, large] in [both(&local), both(&global)] {
        assert_eq!(small.compare(&a, &b), large.compare(&a, &b));
        assert_eq!(small.model(), large.model());
    }
    let Model::Local(model) = both(&local)[1].model().clone() else {
        panic!("Smith–Waterman is local");
    };
    assert_eq!((model.scale, model.scores.largest()), (1, 2));
}

#[test]
fn an_error_names_the_users_number() {
    let metric = |reward: f64, mismatch: f64, gap: f64| Metric::NeedlemanWunschScore {
        reward,
        mismatch,
        gap,
        scale: Some(1000),
    };
    let error = |metric| Comparison::new(metric, Alphabet::letters(5).unwrap()).unwrap_err();
    assert!(matches!(
        error(metric(1.0, 600_000.0, 1.0)),
        MetricError::TooLarge { value, .. } if value == 1_200_002.0
    ));
    assert!(matches!(
        error(metric(1.0, 1.0, 600_000.0)),
        MetricError::TooLarge { value, .. } if value == 1_200_001.0
    ));
}

#[test]
fn metrics_have_the_same_name_in_results_and_options() {
    let rewards = Metric::NeedlemanWunschScore {
        reward: 2.0,
        mismatch: 1.0,
        gap: 1.0,
        scale: None,
    };
    let scanmatch = Metric::ScanMatch {
        grid: Grid::new(12, 8).unwrap(),
        wrap: true,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    };
    let local = Metric::SmithWaterman {
        scoring: LocalScoring::Table {
            table: Table::new(1, vec![1.0]).unwrap(),
        },
        gap: 1.0,
        scale: Some(10),
    };
    for metric in [Metric::Levenshtein, rewards, scanmatch, local] {
        let json = serde_json::to_value(&metric).unwrap();
        assert_eq!(json["name"], metric.name());
    }
    let grid = Substitution::on_grid(Grid::new(4, 3).unwrap(), Distance::Chebyshev);
    assert_eq!(
        serde_json::to_string(&grid).unwrap(),
        r#"{"kind":"grid","grid":"4x3","wrap":false,"distance":"chebyshev"}"#
    );
}

//! The error of fixed-point numbers stays within the bound documented in the module `scale`, and comes close to it.

// Test helpers may panic too.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation
)]

use crate::support;

use proptest::prelude::*;
use support::{scanpath, two_scanpaths};
use veilpath_metrics::{
    Alphabet, Comparison, Grid, Metric, Scanpath, Substitution, Table, reference,
};

/// The minimum cost in double precision.
fn exact(costs: &[f64], size: usize, gaps: [f64; 2], a: &Scanpath, b: &Scanpath) -> f64 {
    let [insert, delete] = gaps;
    let mut row = vec![0.0];
    (0..b.len()).for_each(|j| row.push(row[j] + insert));
    for &x in a.letters() {
        let mut diagonal = row[0];
        row[0] += delete;
        for (j, &y) in b.letters().iter().enumerate() {
            let pair = diagonal + costs[usize::from(x) * size + usize::from(y)];
            diagonal = row[j + 1];
            row[j + 1] = pair.min(row[j + 1] + delete).min(row[j] + insert);
        }
    }
    row[b.len()]
}

/// The documented bound. `whole` says whether substitutions, insertions and deletions are exact.
fn bound(whole: [bool; 3], scale: u32, m: usize, n: usize) -> f64 {
    let length = |length: usize| f64::from(u32::try_from(length).unwrap());
    let [s, i, d] = whole.map(|whole| f64::from(u8::from(!whole)));
    let least = length(m.min(n));
    let (m, n) = (length(m), length(n));
    let gaps = m * d + n * i;
    let replaced = least * s + (m - least) * d + (n - least) * i;
    gaps.max(replaced) / (2.0 * f64::from(scale))
}

fn costs(table: Vec<f64>, size: u32, [insert, delete]: [f64; 2], scale: u32) -> Comparison {
    let metric = Metric::NeedlemanWunsch {
        substitution: Substitution::Table {
            table: Table::new(size, table).unwrap(),
        },
        insert,
        delete,
        scale: Some(scale),
    };
    Comparison::new(metric, Alphabet::letters(size).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn costs_stay_within_the_bound(
        table in prop::collection::vec(0.0f64..5.0, 9),
        gaps in [0.0f64..4.0, 0.0f64..4.0],
        whole: [bool; 3],
        scale in prop::sample::select(vec![1u32, 3, 10, 1000]),
        (a, b) in two_scanpaths(3),
    ) {
        let round = |value: f64, whole: bool| if whole { value.round() } else { value };
        let table: Vec<f64> = table.into_iter().map(|value| round(value, whole[0])).collect();
        let gaps = [round(gaps[0], whole[1]), round(gaps[1], whole[2])];
        let exact = exact(&table, 3, gaps, &a, &b);
        let score = costs(table, 3, gaps, scale).compare(&a, &b).unwrap().score();
        let bound = bound(whole, scale, a.len(), b.len());
        prop_assert!((score - exact).abs() <= bound + 1e-9, "{score} {exact} {bound}");
    }

    #[test]
    fn scanmatch_stays_within_its_bound(
        a in scanpath(49),
        b in scanpath(49),
        wrap: bool,
        threshold in 0.1f64..9.0,
        gap in prop_oneof![Just(0.0), -6.0f64..0.04],
        scale in prop_oneof![0.3f64..40.0, Just(100.0), Just(10_000.0)],
        precision in prop::sample::select(vec![0.3, 0.01, 1e-3, 1e-4]),
    ) {
        prop_assume!(!a.is_empty() || !b.is_empty());
        let grid = Grid::new(7, 7).unwrap();
        let double = Metric::ScanMatch { grid, wrap, threshold, gap, scale: None };
        let score = |metric: &Metric, a: &Scanpath, b: &Scanpath| {
            let comparison = Comparison::new(metric.clone(), Alphabet::letters(49).unwrap()).unwrap();
            comparison.compare(a, b).unwrap().score()
        };
        let automatic = double.clone().with_automatic_scale(precision).unwrap();
        prop_assert!(automatic.error_bound().unwrap() < precision);
        // A scale at which gap costs are rounded as well.
        let coarse = Metric::ScanMatch { grid, wrap, threshold, gap, scale: Some(scale) };
        for metric in [&automatic, &coarse] {
            let in_integers = score(metric, &a, &b);
            let error = (in_integers - score(&double, &a, &b)).abs();
            let bound = metric.error_bound().unwrap();
            prop_assert!(error <= bound + 1e-12, "{error} {bound} {metric:?}");
            // A deletion may cost more than an insertion, but both sides still get the same score.
            prop_assert!((in_integers - score(metric, &b, &a)).abs() < 1e-12);
        }
        // Comparing a scanpath with itself is exact.
        if !a.is_empty() {
            prop_assert_eq!(score(&automatic, &a, &a), 1.0);
        }
    }
}

/// Half the bound would be too small, for each kind of cost.
#[test]
fn the_bound_is_sharp() {
    let four = Scanpath::new(vec![0; 4]);
    let other = Scanpath::new(vec![1; 4]);
    let none = Scanpath::default();
    let substitution = [0.0, 0.49, 0.49, 0.0];
    let cases = [
        (&four, &other, [9.0, 9.0], [false, true, true]),
        (&none, &four, [0.49, 9.0], [true, false, true]),
        (&four, &none, [9.0, 0.49], [true, true, false]),
    ];
    for (scale, factor) in [(1, 1.0), (1000, 0.001)] {
        let table: Vec<f64> = substitution.iter().map(|value| value * factor).collect();
        for (a, b, gaps, whole) in cases {
            let gaps = gaps.map(|gap| if gap < 1.0 { gap * factor } else { gap });
            let exact = exact(&table, 2, gaps, a, b);
            let score = costs(table.clone(), 2, gaps, scale)
                .compare(a, b)
                .unwrap()
                .score();
            let share = (score - exact).abs() / bound(whole, scale, a.len(), b.len());
            assert!((0.95..=1.0).contains(&share), "{share} of the bound");
        }
    }
}

#[test]
fn the_bound_of_scanmatch_is_sharp() {
    // √20 = 4.472 is rounded to 4, and gaps are too expensive to be used.
    let (a, b) = (Scanpath::new(vec![0; 9]), Scanpath::new(vec![4 * 7 + 2; 9]));
    let grid = Grid::new(7, 7).unwrap();
    let (threshold, gap) = (4.0, -10.0);
    let metric = Metric::ScanMatch {
        grid,
        wrap: false,
        threshold,
        gap,
        scale: Some(1.0),
    };
    let bound = metric.error_bound().unwrap();
    let comparison = Comparison::new(metric, Alphabet::letters(49).unwrap()).unwrap();
    let score = comparison.compare(&a, &b).unwrap().score();
    let exact = reference::scanmatch_sum(&grid, threshold, gap, &a, &b) / (threshold * 9.0);
    let share = (score - exact).abs() / bound;
    assert!((0.9..=1.0).contains(&share), "{share} of the bound");
}

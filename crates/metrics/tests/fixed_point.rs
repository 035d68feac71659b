//! The error bound of fixed-point costs, as `veilpath_metrics::scale` and docs/metrics.md state it.
#![allow(clippy::unwrap_used)] // a test's helpers may fail the test

use proptest::prelude::*;
use veilpath_metrics::{
    Alphabet, Comparison, Distance, Grid, Metric, Scanpath, Substitution, reference::scanmatch_sum,
};

/// Sums of doubles are not exact either.
const ROUNDING: f64 = 1e-9;

/// The least cost in double precision.
#[allow(clippy::cast_precision_loss)] // lengths are small
fn least_cost(grid: &Grid, insert: f64, delete: f64, a: &Scanpath, b: &Scanpath) -> f64 {
    let mut row: Vec<f64> = (0..=b.len()).map(|j| j as f64 * insert).collect();
    for (i, &x) in a.letters().iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = (i + 1) as f64 * delete;
        for j in 0..b.len() {
            let replaced = diagonal + grid.distance(Distance::Euclidean, x, b.letters()[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j + 1] + delete).min(row[j] + insert);
        }
    }
    row[b.len()]
}

fn scanpath() -> impl Strategy<Value = Scanpath> {
    prop::collection::vec(0u16..49, 0..40).prop_map(Scanpath::new)
}

fn score(metric: Metric, a: &Scanpath, b: &Scanpath) -> f64 {
    let comparison = Comparison::new(metric, Alphabet::letters(49).unwrap()).unwrap();
    comparison.compare(a, b).unwrap().score
}

proptest! {
    #[test]
    #[allow(clippy::cast_precision_loss)] // lengths are small
    fn a_least_cost_is_off_by_no_more_than_its_operations(
        a in scanpath(), b in scanpath(), scale in 1u32..2000,
        insert in 0.0f64..3.0, delete in 0.0f64..3.0, whole: bool,
    ) {
        let grid = Grid::default();
        let (insert, delete) = if whole { (insert.round(), delete.round()) } else { (insert, delete) };
        let metric = Metric::NeedlemanWunsch {
            substitution: Substitution::on_grid(grid, Distance::Euclidean),
            insert,
            delete,
            scale: Some(scale),
        };
        let exact = least_cost(&grid, insert, delete, &a, &b);
        let gaps = if whole { 0 } else { a.len() + b.len() };
        let operations = (a.len().min(b.len()) + gaps) as f64;
        let error = (score(metric, &a, &b) - exact).abs();
        prop_assert!(error <= operations / (2.0 * f64::from(scale)) + ROUNDING, "{error}");
    }

    #[test]
    #[allow(clippy::cast_precision_loss)] // lengths are small
    fn scanmatch_with_whole_gap_costs_is_off_by_no_more_than_half_a_step(
        a in scanpath(), b in scanpath(), scale in 1u32..2000,
        half_threshold in 1u32..8, gap in -3i32..=0,
    ) {
        prop_assume!(a.len() + b.len() > 0);
        let grid = Grid::default();
        let (threshold, gap) = (f64::from(2 * half_threshold), f64::from(gap));
        let metric = Metric::ScanMatch { grid, wrap: false, threshold, gap, scale: Some(scale) };
        let longer = a.len().max(b.len()) as f64;
        let exact = scanmatch_sum(&grid, threshold, gap, &a, &b) / (threshold * longer);
        let error = (score(metric, &a, &b) - exact).abs();
        prop_assert!(error <= 1.0 / (2.0 * f64::from(scale) * threshold) + ROUNDING, "{error}");
    }
}

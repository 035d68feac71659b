//! A batch gives the same results as each pair by itself, in order, or the error of the first rejected pair.

// Test helpers may panic too.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation
)]

use crate::support;

use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{alphabet, global_metric, local_metric, scanpath};
use veilpath_metrics::{
    Alphabet, Comparison, Grid, Metric, MetricError, PairScore, Scanpath, Substitution,
};

fn run(
    comparison: &Comparison,
    a: &[Scanpath],
    b: &[Scanpath],
    pairs: &[(usize, usize)],
) -> (Result<Vec<PairScore>, MetricError>, u64) {
    let [a, b] = [a, b].map(|paths| paths.iter().collect::<Vec<_>>());
    let cells = AtomicU64::new(0);
    let progress = |count| {
        cells.fetch_add(count, Ordering::Relaxed);
    };
    let pair_scores = comparison.compare_pairs(&a, &b, pairs, &progress);
    (pair_scores, cells.into_inner())
}

fn scanmatch(scale: Option<f64>) -> Metric {
    Metric::ScanMatch {
        grid: Grid::new(256, 256).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: -0.2,
        scale,
    }
}

fn metric(size: u32) -> impl Strategy<Value = Metric> {
    prop_oneof![
        3 => global_metric(size),
        2 => local_metric(size),
        1 => Just(Metric::Levenshtein),
        1 => prop::sample::select(vec![scanmatch(None), scanmatch(Some(100.0))]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn a_batch_equals_its_pairs_in_order(
        (metric, alphabet, a, b) in alphabet().prop_flat_map(|alphabet| {
            let paths = || prop::collection::vec(scanpath(alphabet.size()), 1..8);
            (metric(alphabet.size()), Just(alphabet), paths(), paths())
        }),
        pairs in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 0..60),
    ) {
        let Ok(comparison) = Comparison::new(metric, alphabet) else { return Ok(()) };
        let pairs: Vec<(usize, usize)> =
            pairs.iter().map(|[i, j]| (i.index(a.len()), j.index(b.len()))).collect();
        let (batch, cells) = run(&comparison, &a, &b, &pairs);
        let single: Result<Vec<PairScore>, MetricError> =
            pairs.iter().map(|&(i, j)| comparison.compare(&a[i], &b[j])).collect();
        let all: u64 = pairs.iter().map(|&(i, j)| (a[i].len() * b[j].len()) as u64).sum();
        prop_assert_eq!(cells, if single.is_ok() { all } else { 0 });
        prop_assert_eq!(batch, single);
    }
}

/// Rows long enough to be split into several tasks, and one pair larger than all others together.
#[test]
fn a_pair_that_outweighs_all_others_does_not_change_results() {
    let alphabet = Alphabet::letters(30).unwrap();
    let path = |length: usize, step: usize| {
        Scanpath::new(
            (0..length)
                .map(|place| (place * step % 29) as u16)
                .collect(),
        )
    };
    let metric = Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 4.0,
        delete: 3.0,
        scale: None,
    };
    let comparison = Comparison::new(metric, alphabet).unwrap();
    let a = [path(2500, 3), path(600, 5), path(1, 1), path(0, 1)];
    let mut b: Vec<Scanpath> = (0..40).map(|index| path(300 + index, 2 + index)).collect();
    b.push(path(3000, 7));
    let pairs: Vec<(usize, usize)> = (0..a.len())
        .flat_map(|i| (0..b.len()).rev().map(move |j| (i, j)))
        .collect();
    let (batch, _) = run(&comparison, &a, &b, &pairs);
    for (&(i, j), pair_score) in pairs.iter().zip(batch.unwrap()) {
        assert_eq!(comparison.compare(&a[i], &b[j]), Ok(pair_score), "{i} {j}");
    }
}

#[test]
fn the_error_is_that_of_the_first_refused_pair() {
    let alphabet = Alphabet::letters(5).unwrap();
    let metric = scanmatch(None);
    let comparison = Comparison::new(metric, alphabet).unwrap();
    let good = Scanpath::new(vec![0, 1, 2]);
    let bad = |place: usize| {
        let mut letters = vec![0; 9];
        letters[place] = 5;
        Scanpath::new(letters)
    };
    let a = [good.clone(), bad(3), Scanpath::default()];
    let b = [good, bad(6), Scanpath::default()];
    let error = |pairs: &[(usize, usize)]| run(&comparison, &a, &b, pairs).0.unwrap_err();
    let outside = |position| MetricError::OutsideAlphabet {
        position,
        alphabet: "\"letters 5\"".into(),
    };
    for _ in 0..20 {
        assert_eq!(error(&[(0, 0), (1, 1), (0, 1)]), outside(4));
        assert_eq!(error(&[(0, 1), (1, 0)]), outside(7));
        assert_eq!(error(&[(2, 2), (1, 0)]), MetricError::EmptyPair);
    }
    assert_eq!(
        error(&[(0, 0), (0, 3)]),
        MetricError::NoSuchScanpath { index: 3, count: 3 }
    );
    assert_eq!(run(&comparison, &a, &b, &[]).0, Ok(vec![]));
}

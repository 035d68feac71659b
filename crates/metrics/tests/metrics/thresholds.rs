//! A threshold's bit follows from an integer bound and never contradicts the score.

// Test helpers may panic too.
#![allow(clippy::unwrap_used, clippy::cast_possible_wrap)]

use crate::support;

use proptest::prelude::*;
use support::{case, global_metric, local_metric};
use veilpath_metrics::{
    Alphabet, Bound, Comparison, Metric, MetricError, Model, Scanpath, ScoreFormula, Threshold,
};

fn threshold(value: f64) -> Threshold {
    Threshold::new(value).unwrap()
}

/// Thresholds where a bit could be wrong: at the score, just below and above it, and far away.
fn around(score: f64) -> [f64; 8] {
    [
        score,
        score.next_down(),
        score.next_up(),
        score - 0.5,
        score + 0.5,
        0.0,
        -1e300,
        1e300,
    ]
}

/// Checks that the bound for raw results gives the same bit as the score, and so does the bound for adjusted ones.
fn agrees(comparison: &Comparison, a: &Scanpath, b: &Scanpath) {
    let raw = comparison.raw(a, b).unwrap();
    let Ok(pair_score) = comparison.read(raw, a.len(), b.len()) else {
        let error = comparison.bound(threshold(0.5), a.len(), b.len());
        assert_eq!(error, Err(MetricError::EmptyPair));
        return;
    };
    for value in around(pair_score.score()) {
        let threshold = threshold(value);
        let expected = if comparison.metric().is_distance() {
            pair_score.score() <= value
        } else {
            pair_score.score() >= value
        };
        assert_eq!(threshold.admits(comparison.metric(), &pair_score), expected);
        let bound = comparison.bound(threshold, a.len(), b.len()).unwrap();
        assert_eq!(bound.admits(raw), expected, "{bound:?} {raw} {value}");
        let Ok(bound_without_lengths) = comparison.bound_without_lengths(threshold) else {
            assert!(matches!(comparison.metric(), Metric::ScanMatch { .. }));
            continue;
        };
        let adjusted = adjusted(comparison.model(), raw, a.len() + b.len());
        let read = comparison.model().read_without_lengths(adjusted).unwrap();
        let without_similarity = pair_score.without_similarity();
        assert_eq!(read, without_similarity);
        assert_eq!(bound_without_lengths.admits(adjusted), expected);
    }
}

fn adjusted(model: &Model, raw: i64, letters: usize) -> i64 {
    match model {
        Model::Global(model) => match model.formula {
            ScoreFormula::Reward { per_letter, .. } => i64::from(per_letter) * letters as i64 - raw,
            _ => raw,
        },
        _ => raw,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn bounds_agree_with_scores_of_global_alignments(
        (comparison, a, b) in case(|size| global_metric(size).boxed())
    ) {
        agrees(&comparison, &a, &b);
    }

    #[test]
    fn bounds_agree_with_scores_of_local_alignments(
        (comparison, a, b) in case(|size| local_metric(size).boxed())
    ) {
        agrees(&comparison, &a, &b);
    }
}

fn comparison(metric: Metric) -> Comparison {
    Comparison::new(metric, Alphabet::letters(9).unwrap()).unwrap()
}

fn scanmatch() -> Metric {
    Metric::ScanMatch {
        grid: "3x3".parse().unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: Some(100.0),
    }
}

fn smith_waterman() -> Metric {
    Metric::SmithWaterman {
        scoring: veilpath_metrics::LocalScoring::Unit {
            reward: 0.5,
            mismatch: 1.0,
        },
        gap: 1.0,
        scale: None,
    }
}

#[test]
fn a_threshold_finer_than_the_scale_is_exact() {
    let levenshtein = comparison(Metric::Levenshtein);
    let bound = |value| levenshtein.bound(threshold(value), 4, 6).unwrap();
    assert_eq!(bound(2.0), Bound::AtMost(2));
    assert_eq!(bound(2.999), Bound::AtMost(2));
    assert_eq!(bound(-0.0), Bound::AtMost(0));
    assert_eq!(bound(-0.1), Bound::AtMost(-1));
    assert_eq!(bound(1e9), Bound::AtMost(10), "no cost is beyond all gaps");
    let local = comparison(smith_waterman());
    let bound = |value| local.bound(threshold(value), 4, 6).unwrap();
    assert_eq!(bound(0.5), Bound::AtLeast(5));
    assert_eq!(bound(0.51), Bound::AtLeast(6));
    assert_eq!(bound(-3.0), Bound::AtLeast(0));
    assert_eq!(
        bound(1e9),
        Bound::AtLeast(21),
        "no score is beyond the best"
    );
    // ((3.5/2)·6 − cost/100) / (3.5·4) ≥ 0.5 is cost ≤ 350.
    let bound = comparison(scanmatch()).bound(threshold(0.5), 2, 4);
    assert_eq!(bound, Ok(Bound::AtMost(350)));
}

#[test]
fn thresholds_with_one_answer_for_all_pairs_are_refused() {
    assert!(Threshold::new(f64::NAN).is_err() && Threshold::new(f64::INFINITY).is_err());
    assert_eq!(threshold(-0.0), threshold(0.0));
    let is_refused = |metric: &Metric, value| threshold(value).check(metric).is_err();
    assert!(is_refused(&Metric::Levenshtein, -1e-9) && !is_refused(&Metric::Levenshtein, 0.0));
    assert!(
        is_refused(&scanmatch(), 1.01)
            && !is_refused(&scanmatch(), 1.0)
            && !is_refused(&scanmatch(), 1e-9)
            && is_refused(&scanmatch(), 0.0)
    );
    // Two gaps for each letter of the longer scanpath, of −0.5 out of 3.5 each; or one of 1.5.
    let with_gap = |gap| Metric::ScanMatch {
        grid: "3x3".parse().unwrap(),
        wrap: false,
        threshold: 3.5,
        gap,
        scale: None,
    };
    assert!(is_refused(&with_gap(-0.5), -0.3) && !is_refused(&with_gap(-0.5), -0.28));
    assert!(is_refused(&with_gap(1.5), 0.4) && !is_refused(&with_gap(1.5), 0.43));
    assert!(is_refused(&smith_waterman(), 0.0) && !is_refused(&smith_waterman(), 0.1));
    let error = threshold(7.0).check(&scanmatch()).unwrap_err();
    assert!(error.to_string().contains("above 1"), "{error}");
}

#[test]
fn scanmatch_needs_the_lengths() {
    let scanmatch = comparison(scanmatch());
    assert_eq!(
        scanmatch.bound_without_lengths(threshold(0.5)),
        Err(MetricError::NeedsLengths)
    );
    assert_eq!(
        scanmatch.model().read_without_lengths(3),
        Err(MetricError::NeedsLengths)
    );
}

//! Thresholds: one bit of each pair, with many pairs in a run.

use super::*;
use crate::{Reveal, RevealTo};
use veilpath_metrics::Threshold;

/// Some of the scores, numbers just below and above them, and numbers beyond all scores.
fn thresholds(scores: &[Answer]) -> Vec<Threshold> {
    let mut values: Vec<f64> = scores
        .iter()
        .step_by(scores.len() / 3)
        .map(|answer| answer.pair_score().unwrap().score())
        .flat_map(|score| [score.next_down(), score, score.next_up()])
        .collect();
    values.extend([-1e9, 1e9, 0.5]);
    values
        .into_iter()
        .map(|value| Threshold::new(value).unwrap())
        .collect()
}

#[test]
fn thresholds_agree_with_scores() {
    assert!(bits_agree_with_scores(3) > 25);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn all_thresholds_agree_with_scores() {
    assert!(bits_agree_with_scores(1) > 80);
}

/// Checks every `step`th threshold. Returns the number of runs.
fn bits_agree_with_scores(step: usize) -> usize {
    let mut runs = 0;
    for (seed, metric) in metrics().iter().enumerate() {
        let shortest = usize::from(matches!(metric, Metric::ScanMatch { .. }));
        let a = random_cohort(8, shortest..12, seed as u64);
        let b = random_cohort(9, shortest..12, 20 + seed as u64);
        let scores = expected(metric, &a, &b);
        let thresholds = thresholds(&scores).into_iter();
        for threshold in thresholds.skip(seed % step).step_by(step) {
            let mut spec = spec(metric, &a, &b);
            spec.reveal = Reveal::Threshold(threshold);
            if spec.check().is_err() {
                continue;
            }
            spec.reveal_to = [RevealTo::Both, RevealTo::Host, RevealTo::Join][runs % 3];
            runs += 1;
            let bits = scores.iter().map(|answer| {
                let pair_score = answer.pair_score().unwrap();
                Answer::Within(threshold.admits(metric, &pair_score))
            });
            let bits: Vec<Answer> = bits.collect();
            let ends = run(&spec, &a, &b, (one_thread(), one_thread()), 5);
            for (role, end) in [(Role::Host, ends.host), (Role::Join, ends.join)] {
                if spec.reveal_to.includes(role) {
                    assert_eq!(end, Ok(bits.clone()), "{metric:?} {threshold}");
                } else {
                    assert_eq!(end, Ok(Vec::new()));
                }
            }
        }
    }
    runs
}

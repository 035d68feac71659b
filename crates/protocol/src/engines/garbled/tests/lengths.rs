//! Hidden lengths: the same scores, and messages whose sizes do not depend on the lengths.

use super::channels::Recorder;
use super::*;
use crate::engines::tests::Cases;
use crate::{Capability, Reveal, Unsupported};
use veilpath_metrics::Threshold;

const PADDING: usize = 14;

fn hides(metric: &Metric) -> bool {
    !matches!(metric, Metric::ScanMatch { .. })
}

#[test]
fn scores_and_bits_are_those_of_the_real_scanpaths() {
    scores_and_bits(Cases::InTurn);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn scores_and_all_bits_are_those_of_the_real_scanpaths() {
    scores_and_bits(Cases::All);
}

fn scores_and_bits(cases: Cases) {
    for (seed, metric) in metrics().iter().enumerate().filter(|(_, m)| hides(m)) {
        let a = random_cohort(9, 0..PADDING + 1, seed as u64);
        let b = random_cohort(8, 0..PADDING + 1, 30 + seed as u64);
        let mut spec = spec(metric, &a, &b);
        spec.pad_to = Some(PADDING as u32);
        let mut scores = expected(metric, &a, &b);
        for answer in &mut scores {
            if let Answer::Score(pair_score) = answer {
                *pair_score = pair_score.without_similarity();
            }
        }
        for partitioning in cases.of(seed, [one_thread(), in_pieces(2)]) {
            let ends = run(&spec, &a, &b, (partitioning, partitioning), 5);
            assert_eq!(ends.host.as_ref(), Ok(&scores), "{metric:?}");
            assert_eq!(ends.join.as_ref(), Ok(&scores), "{metric:?}");
        }
        let middle = scores[scores.len() / 2].pair_score().unwrap().score();
        let values = [middle.next_down(), middle, middle.next_up(), 1e6, -1e6];
        for value in cases.of(seed, values) {
            let threshold = Threshold::new(value).unwrap();
            spec.reveal = Reveal::Threshold(threshold);
            if spec.check().is_err() {
                continue;
            }
            let bits: Vec<Answer> = scores
                .iter()
                .map(|answer| {
                    Answer::Within(threshold.admits(metric, &answer.pair_score().unwrap()))
                })
                .collect();
            let ends = run(&spec, &a, &b, (one_thread(), one_thread()), 5);
            assert_eq!(ends.host, Ok(bits), "{metric:?} {value}");
        }
    }
}

#[test]
fn transcripts_of_different_lengths_have_equal_shapes() {
    let path = |length: usize, seed: u64| random_cohort(2, length..length + 1, seed);
    for metric in metrics().iter().filter(|metric| hides(metric)) {
        for reveal in [
            Reveal::Score,
            Reveal::Threshold(Threshold::new(3.0).unwrap()),
        ] {
            let shapes = [(0, 14), (14, 0), (7, 8), (1, 1), (14, 14)].map(|(m, n)| {
                let (a, b) = (path(m, 1), path(n, 2));
                let mut spec = spec(metric, &a, &b);
                spec.pad_to = Some(PADDING as u32);
                spec.reveal = reveal;
                let (ends, [host, join]) = run_over(
                    &spec,
                    (&a, &b),
                    (one_thread(), one_thread()),
                    Recorder::pair(),
                    3,
                );
                assert!(ends.host.is_ok() && ends.join.is_ok());
                [host.shape(), join.shape()]
            });
            for shape in &shapes[1..] {
                assert_eq!(shape, &shapes[0], "{metric:?}");
            }
        }
    }
}

#[test]
fn scanmatch_with_hidden_lengths_is_refused() {
    let a = cohort(&[vec![1, 2]]);
    for metric in metrics().iter().filter(|metric| !hides(metric)) {
        let mut spec = spec(metric, &a, &a);
        spec.pad_to = Some(9);
        let refused = spec.check().unwrap_err();
        let expected = Unsupported {
            engine: "garbled",
            capability: Capability::HiddenLengths("scanmatch"),
            instead: Vec::new(),
        };
        assert_eq!(refused, ProtocolError::Unsupported(expected));
    }
}

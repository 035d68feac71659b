//! Scores equal those of the plain comparison exactly.

use super::*;
use crate::{Link, RevealTo, Workload, compare_locally};
use veilpath_metrics::{Alphabet, Distance, Grid, LocalScoring, Substitution};

/// Metrics beyond those of the common tests: five-gate cells, divisors, one-sided gaps, wide numbers.
fn more_metrics() -> Vec<Metric> {
    let grid = Grid::new(4, 3).unwrap();
    let needleman_wunsch = |substitution, insert, delete, scale| Metric::NeedlemanWunsch {
        substitution,
        insert,
        delete,
        scale,
    };
    vec![
        needleman_wunsch(Substitution::Index, 1.0, 1.0, None),
        needleman_wunsch(Substitution::Unit { mismatch: 6.0 }, 2.0, 4.0, None),
        needleman_wunsch(Substitution::Unit { mismatch: 1.0 }, 3.0, 0.0, None),
        needleman_wunsch(
            Substitution::on_grid(grid, Distance::Euclidean),
            1.5,
            1.5,
            Some(100),
        ),
        Metric::NeedlemanWunschScore {
            reward: 1.0,
            mismatch: 3.0,
            gap: 0.5,
            scale: None,
        },
        Metric::SmithWaterman {
            scoring: LocalScoring::Unit {
                reward: 4.0,
                mismatch: 6.0,
            },
            gap: 2.0,
            scale: Some(8),
        },
    ]
}

fn all_metrics() -> Vec<Metric> {
    metrics().into_iter().chain(more_metrics()).collect()
}

/// ScanMatch has no score for two empty scanpaths.
fn shortest(metric: &Metric) -> usize {
    usize::from(matches!(metric, Metric::ScanMatch { .. }))
}

#[test]
fn pairs_of_every_kind_give_the_plain_score() {
    assert!(pairs_of_every_kind(14) > 3_000);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn thirty_thousand_pairs_of_every_kind_give_the_plain_score() {
    assert!(pairs_of_every_kind(43) > 30_000);
}

/// Compares all pairs of this many scanpaths for each metric. Returns the number of pairs.
fn pairs_of_every_kind(count: usize) -> usize {
    let mut pairs = 0;
    for (seed, metric) in all_metrics().iter().enumerate() {
        let lengths = shortest(metric)..13;
        let a = random_cohort(count, lengths.clone(), seed as u64);
        let b = random_cohort(count, lengths, 100 + seed as u64);
        let ends = run(
            &spec(metric, &a, &b),
            &a,
            &b,
            (one_thread(), one_thread()),
            7,
        );
        let expected = expected(metric, &a, &b);
        assert_eq!(ends.host, Ok(expected.clone()), "{metric:?}");
        assert_eq!(ends.join, Ok(expected), "{metric:?}");
        pairs += a.entries.len() * b.entries.len();
    }
    pairs
}

#[test]
fn stages_portions_and_threads_change_no_score() {
    partitionings_change_no_score(3);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn stages_portions_and_threads_change_no_score_of_any_metric() {
    partitionings_change_no_score(1);
}

/// For every `step`th metric.
fn partitionings_change_no_score(step: usize) {
    for (seed, metric) in all_metrics().iter().enumerate().step_by(step) {
        let lengths = shortest(metric)..40;
        let a = random_cohort(6, lengths.clone(), seed as u64);
        let b = random_cohort(9, lengths, 50 + seed as u64);
        let expected = expected(metric, &a, &b);
        let all = [
            (in_pieces(1), in_pieces(1)),
            (in_pieces(3), in_pieces(3)),
            (in_pieces(8), in_pieces(2)),
        ];
        // Every stage has base transfers, which are slow, so only the first metric runs all partitionings and the
        // others one each.
        let few = &all[seed / step % 3..][..1];
        for partitionings in if seed == 0 { &all[..] } else { few } {
            let ends = run(&spec(metric, &a, &b), &a, &b, *partitionings, 9);
            assert_eq!(ends.host.as_ref(), Ok(&expected), "{metric:?}");
            assert_eq!(ends.join.as_ref(), Ok(&expected), "{metric:?}");
        }
    }
}

#[test]
fn alphabets_of_four_letters_and_of_one_give_the_plain_score() {
    let metric = Metric::Levenshtein;
    for letters in [4, 1] {
        let alphabet = Alphabet::letters(letters).unwrap();
        let mut cohorts = [random_cohort(6, 0..90, 1), random_cohort(5, 0..90, 2)];
        for cohort in &mut cohorts {
            cohort.alphabet = alphabet;
            for entry in &mut cohort.entries {
                let few = entry.scanpath.letters().iter();
                let few = few.map(|letter| letter % u16::try_from(letters).unwrap());
                entry.scanpath = Scanpath::new(few.collect());
            }
        }
        let [a, b] = &cohorts;
        let ends = run(&spec(&metric, a, b), a, b, (one_thread(), one_thread()), 3);
        assert_eq!(ends.host, Ok(expected(&metric, a, b)));
    }
}

#[test]
fn the_largest_alphabet_gives_the_plain_score() {
    let metric = Metric::Levenshtein;
    let mut a = cohort(&[vec![0, 65535, 7, 300]]);
    let mut b = cohort(&[vec![65535, 300, 300], vec![]]);
    for cohort in [&mut a, &mut b] {
        cohort.alphabet = "numbers".parse().unwrap();
    }
    assert_eq!(a.alphabet.size(), 1 << 16);
    let mut spec = spec(&metric, &a, &b);
    let ends = run(&spec, &a, &b, (one_thread(), one_thread()), 3);
    assert_eq!(ends.host, Ok(expected(&metric, &a, &b)));
    spec.pad_to = Some(5);
    let ends = run(&spec, &a, &b, (one_thread(), one_thread()), 3);
    for (padded, plain) in ends.host.unwrap().iter().zip(expected(&metric, &a, &b)) {
        let score = |answer: &Answer| answer.pair_score().unwrap().score();
        assert_eq!(score(padded), score(&plain));
    }
}

#[test]
fn only_the_named_side_gets_scores() {
    let (a, b) = (random_cohort(5, 0..20, 4), random_cohort(6, 0..20, 5));
    for metric in &all_metrics()[..8] {
        let mut spec = spec(metric, &a, &b);
        let expected = expected(metric, &a, &b);
        for to in [RevealTo::Host, RevealTo::Join] {
            spec.reveal_to = to;
            for partitioning in [one_thread(), in_pieces(2)] {
                let ends = run(&spec, &a, &b, (partitioning, partitioning), 9);
                let (learner, other, of_learner, of_other) = match to {
                    RevealTo::Host => {
                        (ends.host, ends.join, ends.host_progress, ends.join_progress)
                    }
                    _ => (ends.join, ends.host, ends.join_progress, ends.host_progress),
                };
                assert_eq!(learner, Ok(expected.clone()), "{metric:?}");
                assert_eq!(other, Ok(Vec::new()));
                assert!(of_other.scored.into_inner().unwrap().is_empty());
                let mut scored = of_learner.scored.into_inner().unwrap();
                scored.sort_by_key(|(pair, _)| *pair);
                let all: Vec<_> = expected.iter().copied().enumerate().collect();
                assert_eq!(scored, all);
            }
        }
    }
}

#[test]
fn the_cheaper_cell_is_chosen() {
    // An insertion plus a deletion has 2 to 6 bits.
    let gates = [3, 7, 15, 31, 63].map(|both| {
        let metric = Metric::NeedlemanWunsch {
            substitution: Substitution::Index,
            insert: 1.0,
            delete: f64::from(both) - 1.0,
            scale: None,
        };
        let alphabet = Alphabet::letters(26).unwrap();
        crate::and_gates_per_cell(&Comparison::new(metric, alphabet).unwrap(), 20)
    });
    assert_eq!(gates, [10, 16, 22, 27, 32]);
}

#[test]
fn every_cell_is_counted_once_on_both_sides() {
    let (a, b) = (random_cohort(5, 0..200, 4), random_cohort(6, 0..200, 5));
    let letters = |cohort: &Cohort| -> u64 {
        let lengths = cohort.entries.iter().map(|entry| entry.scanpath.len());
        lengths.sum::<usize>() as u64
    };
    let spec = spec(&Metric::Levenshtein, &a, &b);
    for partitioning in [one_thread(), in_pieces(3)] {
        let ends = run(&spec, &a, &b, (partitioning, partitioning), 9);
        for progress in [ends.host_progress, ends.join_progress] {
            assert_eq!(
                progress.cells.into_inner().unwrap(),
                letters(&a) * letters(&b)
            );
        }
    }
}

/// The estimate equals the traffic, except for the sums of last rows and the padding of blocks.
#[test]
fn the_estimate_is_close_to_the_traffic() {
    estimates_are_close(3);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn the_estimate_of_any_metric_is_close_to_the_traffic() {
    estimates_are_close(1);
}

/// For every `step`th metric.
fn estimates_are_close(step: usize) {
    let (a, b) = (random_cohort(4, 50..70, 4), random_cohort(5, 50..70, 5));
    let letters = |cohort: &Cohort| -> u64 {
        let lengths = cohort.entries.iter().map(|entry| entry.scanpath.len());
        lengths.sum::<usize>() as u64
    };
    for metric in all_metrics().into_iter().step_by(step) {
        let spec = spec(&metric, &a, &b);
        let (of_a, of_b) = (letters(&a), letters(&b));
        let work = Workload {
            pairs: 20,
            cells: of_a * of_b,
            host_scanpaths: 4,
            join_scanpaths: 5,
            host_letters: of_a,
            join_letters: of_b,
            alphabet: LETTERS.into(),
            ..Workload::default()
        };
        let estimate = spec.estimate(&work, &Link::local());
        let cost = compare_locally(spec, &a, &b, &()).unwrap().cost;
        for (estimated, real) in [
            (estimate.bytes_to_join, cost.bytes_sent),
            (estimate.bytes_to_host, cost.bytes_received),
        ] {
            let ratio = estimated as f64 / real as f64;
            assert!((0.85..1.1).contains(&ratio), "{ratio} {metric:?}");
        }
    }
}

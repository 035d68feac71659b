//! What the two sides see: the sizes of their messages follow from the lengths and the score, and their bytes have no pattern.

use super::channels::Recorder;
use super::*;

/// Two samples of bytes: Pearson's statistic for the hypothesis that they have the same distribution has 255 degrees of
/// freedom, so it is about 255 ± 23.
fn two_sample(first: &[u8], second: &[u8]) -> f64 {
    let counts = |bytes: &[u8]| {
        let mut counts = [0u32; 256];
        for byte in bytes {
            counts[usize::from(*byte)] += 1;
        }
        counts.map(f64::from)
    };
    let (x, y) = (counts(first), counts(second));
    let (n, m) = (first.len() as f64, second.len() as f64);
    let terms = x.iter().zip(&y).map(|(x, y)| {
        let both = x + y;
        let difference = x * (m / n).sqrt() - y * (n / m).sqrt();
        if both > 0.0 {
            difference * difference / both
        } else {
            0.0
        }
    });
    terms.sum()
}

/// The bound: seven standard deviations above the mean. The seeds are fixed, so the test gives the same numbers every time.
const MAX_CHI_SQUARE: f64 = 255.0 + 7.0 * 22.6;

/// Six scanpaths of 30 letters.
fn repeated(letter: impl Fn(usize, usize) -> u16) -> Cohort {
    let scanpaths: Vec<Vec<u16>> = (0..6)
        .map(|path| (0..30).map(|at| letter(path, at)).collect())
        .collect();
    cohort(&scanpaths)
}

#[test]
fn views_depend_only_on_the_scores() {
    // All letters of the garbler differ from all of the evaluator's, in two very different ways. All distances are 30.
    let evaluator = repeated(|_, at| if at % 2 == 0 { 0 } else { 1 });
    let garblers = [
        repeated(|_, _| 2),
        repeated(|path, at| (3 + (path * 31 + at * 7) % 9) as u16),
    ];
    let views = garblers.each_ref().map(|garbler| {
        let spec = spec(&Metric::Levenshtein, garbler, &evaluator);
        let (ends, [host, join]) = run_over(
            &spec,
            (garbler, &evaluator),
            (one_thread(), one_thread()),
            Recorder::pair(),
            11,
        );
        assert!(ends.host.unwrap().iter().all(
            |answer| matches!(answer, Answer::Score(pair_score) if pair_score.score() == 30.0)
        ));
        (host, join)
    });
    let [
        (first_garbler, first_evaluator),
        (second_garbler, second_evaluator),
    ] = &views;
    assert_eq!(first_evaluator.shape(), second_evaluator.shape());
    assert_eq!(first_garbler.shape(), second_garbler.shape());
    // Lengths, threads and the points of base transfers have patterns in both.
    let skip = 49 + 128 * 64;
    let (first, second) = (
        &first_evaluator.seen[skip..],
        &second_evaluator.seen[skip..],
    );
    assert_ne!(first, second);
    let statistic = two_sample(first, second);
    assert!(statistic < MAX_CHI_SQUARE, "χ² of {statistic}");

    // The same for the garbler's view of two inputs of the evaluator.
    let garbler = &garblers[0];
    let evaluators = [
        evaluator,
        repeated(|path, at| (3 + (path * 17 + at * 5) % 9) as u16),
    ];
    let views = evaluators.each_ref().map(|evaluator| {
        let spec = spec(&Metric::Levenshtein, garbler, evaluator);
        let partitionings = (one_thread(), one_thread());
        let (_, [host, _]) = run_over(
            &spec,
            (garbler, evaluator),
            partitionings,
            Recorder::pair(),
            13,
        );
        host
    });
    assert_eq!(views[0].shape(), views[1].shape());
    let skip = 49 + 32;
    let statistic = two_sample(&views[0].seen[skip..], &views[1].seen[skip..]);
    assert!(statistic < MAX_CHI_SQUARE, "χ² of {statistic}");
}

/// The statistic detects patterns: one byte in fifty that depends on the input is enough.
#[test]
fn the_statistic_detects_a_pattern() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let mut bytes = |bias: bool| -> Vec<u8> {
        (0..100_000)
            .map(|at| match (bias, at % 50) {
                (true, 0) => 7,
                _ => rng.random(),
            })
            .collect()
    };
    assert!(two_sample(&bytes(false), &bytes(false)) < MAX_CHI_SQUARE);
    assert!(two_sample(&bytes(false), &bytes(true)) > MAX_CHI_SQUARE);
}

//! Metrics other than alignments: scores, bits, hidden lengths, and how many bits are opened.

use super::channels::Recorder;
use super::*;
use crate::engines::alignment::private_metric::PrivateMetric;
use crate::engines::tests::{
    Cases, documented_alphabet, non_alignment_metrics, rounded_fixations, scanmatch,
};
use crate::{Capability, DefaultLimit, JobError, Reveal, Unsupported};
use veilpath_channel::Counted;
use veilpath_metrics::{
    Alphabet, Crqa, CrqaMeasure, Dtw, Frechet, Grid, Hausdorff, Model, PathDivisor, Positions,
    RecurrenceRule, Threshold, Undefined,
};

const PADDING: usize = 14;

fn hides(metric: &Metric) -> bool {
    Engine::Garbled.can_hide_lengths(metric)
}

/// The shortest scanpath that has a score: 0 or 1.
fn shortest(metric: &Metric) -> usize {
    let comparison = Comparison::new(metric.clone(), cohort(&[]).alphabet).unwrap();
    comparison.model().check_lengths(1, 0).is_err().into()
}

#[test]
fn scores_are_those_of_the_plain_comparison() {
    scores(Cases::InTurn);
}

/// All cases of which the short tests take some.
#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn all_combinations_have_their_scores() {
    scores(Cases::All);
    scores_of_long_scanpaths(2);
    assert!(thresholds(Cases::All) > 35);
    scores_of_hidden_lengths(Cases::All);
}

fn scores(cases: Cases) {
    for (seed, metric) in non_alignment_metrics().iter().enumerate() {
        let a = random_cohort(9, 1..40, seed as u64);
        let b = random_cohort(8, shortest(metric)..30, 30 + seed as u64);
        let scores = expected(metric, &a, &b);
        for partitioning in cases.of(seed, [one_thread(), in_pieces(3)]) {
            let ends = run(
                &spec(metric, &a, &b),
                &a,
                &b,
                (partitioning, partitioning),
                5,
            );
            assert_eq!(ends.host.as_ref(), Ok(&scores), "{metric:?}");
            assert_eq!(ends.join.as_ref(), Ok(&scores), "{metric:?}");
        }
    }
}

/// More than one strip of rows, and counters that overflow their pending bits.
#[test]
fn long_scanpaths_have_their_scores() {
    scores_of_long_scanpaths(1);
}

fn scores_of_long_scanpaths(count: usize) {
    for (seed, metric) in non_alignment_metrics().iter().enumerate() {
        let a = random_cohort(count, 129..150, seed as u64);
        let b = random_cohort(count, 1..280, 30 + seed as u64);
        let scores = expected(metric, &a, &b);
        let ends = run(
            &spec(metric, &a, &b),
            &a,
            &b,
            (one_thread(), one_thread()),
            5,
        );
        assert_eq!(ends.join.as_ref(), Ok(&scores), "{metric:?}");
    }
}

/// Runs thresholds around some scores, with lengths hidden or not.
fn check_thresholds(
    (cases, turn): (Cases, usize),
    metric: &Metric,
    a: &Cohort,
    b: &Cohort,
    pad_to: Option<u32>,
) -> usize {
    let scores = expected(metric, a, b);
    let middle = scores[scores.len() / 2].pair_score().unwrap().score();
    let mut runs = 0;
    let values = [middle.next_down(), middle, middle.next_up(), 1e6, 0.5, 99.9];
    for value in cases.of(turn, values) {
        let threshold = Threshold::new(value).unwrap();
        let mut spec = spec(metric, a, b);
        spec.pad_to = pad_to;
        spec.reveal = Reveal::Threshold(threshold);
        if spec.check().is_err() {
            continue;
        }
        runs += 1;
        let bits = scores.iter().map(|answer| {
            let score = answer.pair_score().unwrap();
            Answer::Within(threshold.admits(metric, &score))
        });
        let bits: Vec<Answer> = bits.collect();
        let ends = run(&spec, a, b, (one_thread(), one_thread()), 5);
        assert_eq!(ends.host, Ok(bits), "{metric:?} {value}");
    }
    runs
}

#[test]
fn thresholds_agree_with_scores() {
    assert!(thresholds(Cases::InTurn) > 5);
}

/// Returns the number of runs.
fn thresholds(cases: Cases) -> usize {
    let mut runs = 0;
    for (seed, metric) in non_alignment_metrics().iter().enumerate() {
        let a = random_cohort(6, 1..12, seed as u64);
        let b = random_cohort(6, 1..12, 20 + seed as u64);
        runs += check_thresholds((cases, seed), metric, &a, &b, None);
    }
    runs
}

#[test]
fn hidden_lengths_change_no_score() {
    scores_of_hidden_lengths(Cases::InTurn);
}

fn scores_of_hidden_lengths(cases: Cases) {
    for (seed, metric) in non_alignment_metrics()
        .iter()
        .filter(|it| hides(it))
        .enumerate()
    {
        let a = random_cohort(6, 1..PADDING + 1, seed as u64);
        let b = random_cohort(7, shortest(metric)..PADDING + 1, 30 + seed as u64);
        let mut spec = spec(metric, &a, &b);
        spec.pad_to = Some(PADDING as u32);
        let scores = expected(metric, &a, &b);
        for partitioning in cases.of(seed, [one_thread(), in_pieces(2)]) {
            let ends = run(&spec, &a, &b, (partitioning, partitioning), 5);
            assert_eq!(ends.host.as_ref(), Ok(&scores), "{metric:?}");
            assert_eq!(ends.join.as_ref(), Ok(&scores), "{metric:?}");
            let cells = spec.cells(&crate::count_pairs(spec.pair_rule, &a, &b));
            assert_eq!(*ends.host_progress.cells.lock().unwrap(), cells);
        }
        check_thresholds((cases, seed), metric, &a, &b, spec.pad_to);
    }
}

#[test]
fn transcripts_of_different_lengths_have_equal_shapes() {
    let path = |length: usize, seed: u64| random_cohort(2, length..length + 1, seed);
    for metric in non_alignment_metrics()
        .iter()
        .filter(|metric| hides(metric))
    {
        let shapes = [(1, 14), (14, 1), (7, 8), (1, 1), (14, 14)].map(|(m, n)| {
            let (a, b) = (path(m, 1), path(n, 2));
            let mut spec = spec(metric, &a, &b);
            spec.pad_to = Some(PADDING as u32);
            let both = (one_thread(), one_thread());
            let (ends, [host, join]) = run_over(&spec, (&a, &b), both, Recorder::pair(), 3);
            assert!(ends.host.is_ok() && ends.join.is_ok());
            [host.shape(), join.shape()]
        });
        assert!(shapes.iter().all(|shape| shape == &shapes[0]), "{metric:?}");
    }
}

#[test]
fn numbers_that_need_lengths_are_refused_where_lengths_are_hidden() {
    let a = cohort(&[vec![1, 2]]);
    let mut refusals = 0;
    for metric in non_alignment_metrics()
        .iter()
        .filter(|metric| !hides(metric))
    {
        let mut spec = spec(metric, &a, &a);
        spec.pad_to = Some(9);
        let expected = Unsupported {
            engine: "garbled",
            capability: Capability::HiddenLengths(metric.name()),
            instead: Vec::new(),
        };
        assert_eq!(
            spec.check().unwrap_err(),
            ProtocolError::Unsupported(expected)
        );
        refusals += 1;
    }
    assert_eq!(refusals, 8);
}

/// The tables in the engine's module documentation and in `docs/results.md`: AND gates and bytes per cell for scanpaths of
/// 100 letters from [`documented_alphabet`].
#[test]
fn cells_cost_the_documented_gates_and_bytes() {
    let grid = Grid::new(7, 7).unwrap();
    let positions = Positions::Grid { grid, wrap: false };
    let crqa = |measures: &[CrqaMeasure]| {
        Metric::Crqa(Crqa {
            rule: RecurrenceRule::SameLetter,
            line: 2,
            measures: measures.to_vec(),
            undefined: Undefined::Missing,
            rounded: true,
        })
    };
    let [rec, det, lam, _, _, corm] = CrqaMeasure::ALL;
    let dtw = Metric::Dtw(Dtw {
        positions,
        divisor: PathDivisor::None,
        scale: None,
    });
    let random = |seed: u64, alphabet: Alphabet| {
        let mut rng = ChaCha20Rng::seed_from_u64(seed);
        let size = u16::try_from(alphabet.size()).unwrap();
        let letters = |_| (0..100).map(|_| rng.random_range(0..size)).collect();
        let mut cohort = cohort(&(0..2).map(letters).collect::<Vec<_>>());
        cohort.alphabet = alphabet;
        cohort
    };
    let [
        rounded_dtw,
        rounded_frechet,
        rounded_hausdorff,
        rounded_crqa,
        scasim,
    ] = rounded_fixations();
    let mut wrong = Vec::new();
    for (metric, gates, bytes) in [
        (Metric::Levenshtein, 3, 107),
        (scanmatch(), 47, 1595),
        (rounded_dtw, 89, 3760),
        (rounded_frechet, 54, 2415),
        (rounded_hausdorff, 36, 1851),
        (rounded_crqa, 4, 209),
        (scasim, 52, 2604),
        (Metric::SequenceScore, 5, 181),
        (dtw, 84, 2790),
        (Metric::Frechet(Frechet { positions }), 30, 1012),
        (Metric::Hausdorff(Hausdorff { positions }), 20, 698),
        (crqa(&[rec]), 1, 43),
        (crqa(&[rec, det]), 4, 141),
        (crqa(&[rec, det, lam, corm]), 10, 352),
    ] {
        let alphabet = documented_alphabet(&metric);
        let (a, b) = (random(1, alphabet), random(2, alphabet));
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        assert_eq!(super::super::and_gates_per_cell(&comparison, 100), gates);
        let (left, right) = memory_pair();
        let ends = (Counted::new(left), Counted::new(right));
        let both = (one_thread(), one_thread());
        let (ends, counted) = run_over(&spec(&metric, &a, &b), (&a, &b), both, ends, 1);
        assert_eq!(ends.host, Ok(expected(&metric, &a, &b)));
        let sent: u64 = counted.iter().map(|end| end.traffic().sent).sum();
        // Starting the session takes the same traffic for any number of cells.
        let per_cell = (sent - 14_000) as f64 / 40_000.0;
        println!("{}: {gates} gates, {per_cell:.1} bytes", metric.name());
        if (per_cell - f64::from(bytes)).abs() >= 2.0 {
            wrong.push(format!("{}: {per_cell:.1}, not {bytes}", metric.name()));
        }
    }
    assert!(wrong.is_empty(), "bytes per cell: {wrong:?}");
}

/// An empty scanpath has no such score. Both sides report this or, if lengths are hidden, only the side that has it,
/// before anything is sent.
#[test]
fn empty_scanpaths_are_refused() {
    let (empty, some) = (cohort(&[vec![]]), cohort(&[vec![3, 3, 4]]));
    for metric in non_alignment_metrics() {
        if shortest(&metric) == 0 {
            continue;
        }
        let mut spec = spec(&metric, &empty, &some);
        let ends = run(&spec, &empty, &some, (one_thread(), one_thread()), 5);
        for end in [ends.host, ends.join] {
            assert!(matches!(end, Err(ProtocolError::Metric(_))), "{metric:?}");
        }
        if hides(&metric) {
            spec.pad_to = Some(9);
            let own = scanpaths(&empty);
            let job = Job::new(&spec, Role::Host, &own, 1, &[(0, 0)]).unwrap();
            let (mut channel, _) = memory_pair();
            let mut rng = ChaCha20Rng::seed_from_u64(1);
            let end = host_with(&job, &mut channel, &(), one_thread(), &mut rng);
            assert!(matches!(end, Err(ProtocolError::Metric(_))), "{metric:?}");
        }
    }
}

/// No pair opens more bits than the default limit counts, for any length of the other side's
/// scanpaths.
#[test]
fn the_default_limit_counts_every_opened_bit() {
    let cohort = random_cohort(0, 1..2, 1);
    let letters = cohort.alphabet.size();
    let all = non_alignment_metrics().into_iter().chain(metrics());
    for (metric, pad_to) in all.flat_map(|it| [(it.clone(), None), (it, Some(PADDING as u32))]) {
        if pad_to.is_some() && !hides(&metric) {
            continue;
        }
        let mut spec = spec(&metric, &cohort, &cohort);
        spec.pad_to = pad_to;
        let limit = DefaultLimit::new(&spec, Some(letters)).unwrap();
        let comparison = Comparison::new(metric.clone(), spec.alphabet).unwrap();
        let scoring = PrivateMetric::new(comparison.model(), letters, pad_to);
        let longest = pad_to.unwrap_or(1 << 24);
        for own in [1, 5, 20, 300].map(|it: u32| it.min(longest)) {
            let bits = f64::from(own) * f64::from(letters).log2();
            let counted = bits / limit.bound(own.into());
            for other in [1, 20, 1 << 16, 1 << 24].map(|it: u32| it.min(longest)) {
                for (rows, columns) in [(own, other), (other, own)] {
                    let opened = scoring.opened_bits(rows, columns).min(64);
                    assert!(
                        opened as f64 <= counted + 1e-6,
                        "{metric:?} {rows} × {columns}: {opened} bits, {counted} counted"
                    );
                }
            }
        }
    }
}

/// Every possible output is a raw result that the model can read, and other outputs are rejected.
#[test]
fn outputs_are_the_possible_numbers() {
    for metric in non_alignment_metrics() {
        let alphabet = random_cohort(0, 1..2, 1).alphabet;
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        let scoring = PrivateMetric::new(comparison.model(), alphabet.size(), None);
        for (rows, columns) in [(1, 1), (1, 9), (9, 1), (3, 4)] {
            let bits = scoring.output_bits(rows, columns);
            let all = (0..1u64 << bits.min(18)).filter_map(|it| scoring.raw(it, rows, columns));
            let mut all: Vec<i64> = all.collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{metric:?} {rows} × {columns}");
            assert!(count > 1, "{metric:?} {rows} × {columns}");
            assert_eq!(scoring.raw(1 << bits, rows, columns), None);
            for raw in all {
                let read = comparison.read(raw, rows as usize, columns as usize);
                assert!(read.is_ok(), "{metric:?} {raw}");
            }
        }
        if let Model::Recurrence(model) = comparison.model() {
            let bits = u32::try_from(scoring.output_bits(9, 7)).unwrap();
            assert_eq!(model.bits(9, 7), Ok(bits));
        }
    }
}

/// Whether four numbers fit an output depends on the lengths. If it were found out after the computation, it would depend
/// on the numbers, and the other side would see whether the run ends early.
#[test]
fn numbers_that_do_not_fit_an_output_are_refused_before_the_computation() {
    let [rec, det, lam, _, _, corm] = CrqaMeasure::ALL;
    let metric = Metric::Crqa(Crqa {
        rule: RecurrenceRule::SameLetter,
        line: 2,
        measures: vec![rec, det, lam, corm],
        undefined: Undefined::Missing,
        rounded: true,
    });
    let (rows, columns) = (30, 40_000);
    let long = cohort(&[vec![2; columns as usize]]);
    for letter in [0, 2] {
        let short = cohort(&[vec![letter; rows as usize]]);
        for engine in [Engine::Garbled, Engine::Shares] {
            let spec = Spec {
                engine,
                ..spec(&metric, &short, &long)
            };
            let end = crate::compare_locally(spec, &short, &long, &());
            let refused = JobError::TooManyNumbers {
                host: rows,
                join: columns,
            };
            assert_eq!(end.unwrap_err(), ProtocolError::Job(refused), "{engine:?}");
        }
    }
    // A number less fits.
    let comparison = Comparison::new(metric, cohort(&[]).alphabet).unwrap();
    let scoring = PrivateMetric::new(comparison.model(), 4, None);
    assert_eq!(scoring.check_output(1023, 1024), Ok(()));
    assert!(scoring.check_output(1024, 1024).is_err());
}

//! Metrics other than alignments: scores, bits, hidden lengths, one-sided answers, and their cost.

use super::own_letters::OwnTable;
use super::tests::{expected, random_cohort, run, run_with, spec, work};
use crate::engines::alignment::entries::Inputs;
use crate::engines::alignment::private_metric::{MaxLengths, PrivateMetric};
use crate::engines::tests::{
    Cases, cohort, documented_alphabet, non_alignment_metrics, rounded_fixations, scanmatch,
};
use crate::{Answer, Engine, Link, ProtocolError, Reveal, RevealTo, Role, TreeLevels};
use veilpath_metrics::{
    Cohort, Comparison, Crqa, CrqaMeasure, Dtw, Frechet, Grid, Hausdorff, Metric, PathDivisor,
    Positions, RecurrenceRule, Scanpath, Threshold, Undefined,
};

fn hides(metric: &Metric) -> bool {
    Engine::Shares.can_hide_lengths(metric)
}

#[test]
fn scores_are_those_of_the_plain_comparison() {
    for (seed, metric) in non_alignment_metrics().iter().enumerate() {
        let a = random_cohort(25, 1..12, seed as u64);
        let b = random_cohort(25, 1..14, 30 + seed as u64);
        let scores = expected(metric, &a, &b);
        let levels = TreeLevels::ALL[seed % 2];
        let ([host, join], _, cells) = run_with(&spec(metric, &a, &b), &a, &b, levels);
        assert_eq!(host.as_ref(), Ok(&scores), "{metric:?}");
        assert_eq!(join.as_ref(), Ok(&scores), "{metric:?}");
        let letters = |cohort: &Cohort| -> u64 {
            let entries = cohort.entries.iter();
            entries.map(|entry| entry.scanpath.len() as u64).sum()
        };
        assert_eq!(cells, letters(&a) * letters(&b), "{metric:?}");
    }
}

/// More than one segment of positions, letters that share trees, and runs that begin in one part of a matrix and end in the next.
#[test]
fn long_scanpaths_have_their_scores() {
    scores_of_long_scanpaths(129..160, 2);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn longer_scanpaths_have_their_scores() {
    scores_of_long_scanpaths(129..300, 3);
}

fn scores_of_long_scanpaths(lengths: std::ops::Range<usize>, count: usize) {
    for (seed, metric) in non_alignment_metrics().iter().enumerate() {
        let mut a = random_cohort(2, lengths.clone(), seed as u64);
        let mut b = random_cohort(count, 1..lengths.end + 80, 30 + seed as u64);
        // A scanpath compared with itself has long diagonal lines.
        b.entries[1].scanpath = a.entries[0].scanpath.clone();
        a.entries[1].scanpath = Scanpath::new(vec![3]);
        let scores = expected(metric, &a, &b);
        let ([host, join], ..) = run(&spec(metric, &a, &b), &a, &b);
        assert_eq!(host.as_ref(), Ok(&scores), "{metric:?}");
        assert_eq!(join.as_ref(), Ok(&scores), "{metric:?}");
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
    let values = [middle.next_down(), middle, middle.next_up(), 1e6, 0.5];
    for value in cases.of(turn, values) {
        let threshold = Threshold::new(value).unwrap();
        let mut spec = spec(metric, a, b);
        spec.pad_to = pad_to;
        spec.reveal = Reveal::Threshold(threshold);
        if spec.check().is_err() {
            continue;
        }
        spec.reveal_to = [RevealTo::Both, RevealTo::Host, RevealTo::Join][(turn + runs) % 3];
        runs += 1;
        let bits = scores.iter().map(|answer| {
            let score = answer.pair_score().unwrap();
            Answer::Within(threshold.admits(metric, &score))
        });
        let bits: Vec<Answer> = bits.collect();
        let (ends, ..) = run(&spec, a, b);
        for (role, end) in [Role::Host, Role::Join].into_iter().zip(ends) {
            match spec.reveal_to.includes(role) {
                true => assert_eq!(end, Ok(bits.clone()), "{metric:?} {value}"),
                false => assert_eq!(end, Ok(Vec::new())),
            }
        }
    }
    runs
}

#[test]
fn thresholds_agree_with_scores() {
    assert!(thresholds(Cases::InTurn) > 5);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn all_thresholds_agree_with_scores() {
    assert!(thresholds(Cases::All) > 30);
}

/// Returns the number of runs.
fn thresholds(cases: Cases) -> usize {
    let mut runs = 0;
    for (seed, metric) in non_alignment_metrics().iter().enumerate() {
        let a = random_cohort(5, 1..12, seed as u64);
        let b = random_cohort(6, 1..12, 20 + seed as u64);
        runs += check_thresholds((cases, seed), metric, &a, &b, None);
    }
    runs
}

#[test]
fn hidden_lengths_change_no_score_and_no_message() {
    lengths_are_hidden(Cases::InTurn);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn hidden_lengths_change_no_score_and_no_message_in_all_combinations() {
    lengths_are_hidden(Cases::All);
}

fn lengths_are_hidden(cases: Cases) {
    for (seed, metric) in non_alignment_metrics()
        .iter()
        .filter(|it| hides(it))
        .enumerate()
    {
        let a = random_cohort(5, 1..15, seed as u64);
        let b = random_cohort(6, 1..15, 30 + seed as u64);
        let mut spec = spec(metric, &a, &b);
        spec.pad_to = Some(14);
        let scores = expected(metric, &a, &b);
        let ([host, join], traffic, _) = run(&spec, &a, &b);
        assert_eq!(host.as_ref(), Ok(&scores), "{metric:?}");
        assert_eq!(join.as_ref(), Ok(&scores), "{metric:?}");
        for (m, n) in cases.of(seed, [(1, 14), (14, 1), (1, 1)]) {
            let (a, b) = (random_cohort(5, m..m + 1, 1), random_cohort(6, n..n + 1, 2));
            assert_eq!(run(&spec, &a, &b).1, traffic, "{metric:?}");
        }
        check_thresholds((cases, seed), metric, &a, &b, spec.pad_to);
    }
}

/// Message sizes do not depend on letters.
#[test]
fn traffic_depends_on_shapes_only() {
    for metric in non_alignment_metrics() {
        let traffic = [1, 2].map(|seed| {
            let (a, b) = (
                random_cohort(3, 9..10, seed),
                random_cohort(2, 7..8, 9 * seed),
            );
            run(&spec(&metric, &a, &b), &a, &b).1
        });
        assert!(
            traffic.iter().all(|other| other == &traffic[0]),
            "{metric:?}"
        );
    }
}

#[test]
fn empty_scanpaths_are_refused() {
    let (empty, some) = (cohort(&[vec![]]), cohort(&[vec![3, 3, 4]]));
    for metric in non_alignment_metrics() {
        if matches!(metric, Metric::SequenceScore | Metric::ScaSim(_)) {
            continue;
        }
        let ([host, join], ..) = run(&spec(&metric, &empty, &some), &empty, &some);
        assert!(matches!(host, Err(ProtocolError::Metric(_))), "{metric:?}");
        assert!(join.is_err());
    }
}

/// With an empty scanpath, the score is the other one's durations, which only its owner knows.
#[test]
fn scasim_of_empty_scanpaths_is_that_of_the_plain_comparison() {
    let scasim = non_alignment_metrics()
        .into_iter()
        .find(|it| matches!(it, Metric::ScaSim(_)));
    let scasim = scasim.unwrap();
    let some = [vec![], vec![3, 3, 4, 11], vec![0], vec![], vec![11; 9]];
    let nothing = [vec![], vec![]];
    for (a, b) in [
        (cohort(&some), cohort(&some)),
        (cohort(&nothing), cohort(&some)),
        (cohort(&some), cohort(&nothing)),
        (cohort(&nothing), cohort(&nothing)),
    ] {
        let scores = expected(&scasim, &a, &b);
        let ([host, join], ..) = run(&spec(&scasim, &a, &b), &a, &b);
        assert_eq!(host.as_ref(), Ok(&scores));
        assert_eq!(join.as_ref(), Ok(&scores));
        let turn = a.entries.len() + 2 * b.entries.len();
        check_thresholds((Cases::InTurn, turn), &scasim, &a, &b, None);
        check_thresholds((Cases::InTurn, turn + 1), &scasim, &a, &b, Some(9));
    }
}

/// Checks what a side counts in its own scanpath against the definition.
#[test]
fn own_letters_are_counted() {
    let path = random_cohort(1, 40..41, 5).entries[0].scanpath.clone();
    let letters: Vec<usize> = path
        .letters()
        .iter()
        .map(|letter| usize::from(*letter))
        .collect();
    for metric in non_alignment_metrics() {
        let alphabet = random_cohort(0, 1..2, 1).alphabet;
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        let scoring = PrivateMetric::new(comparison.model(), alphabet.size(), Some(50));
        let mut padded = letters.clone();
        padded.resize(50, scoring.padding_letter());
        for role in [Role::Host, Role::Join] {
            let on_shares = scoring.on_shares(MaxLengths::of(50, 50));
            let inputs = Inputs::new(&scoring, comparison.model(), on_shares.circuit);
            let table = OwnTable::new(&scoring, &inputs, role);
            let entry = |other: u16, own: usize| {
                let own = u16::try_from(own).unwrap();
                comparison.model().entry(own, other).unsigned_abs()
            };
            let all = 0..u16::try_from(alphabet.size()).unwrap();
            if matches!(metric, Metric::Hausdorff(_)) {
                let found = table.letter_distances(&padded, 1000);
                for other in all {
                    let nearest = letters.iter().map(|own| entry(other, *own)).min();
                    assert_eq!(found.distances[usize::from(other)], nearest.unwrap());
                    let present = letters.contains(&usize::from(other));
                    assert_eq!(found.present[usize::from(other)], u64::from(present));
                }
            } else if matches!(metric, Metric::Crqa(_)) {
                for line in [2, 3] {
                    let found = table.recurrences(&padded, line);
                    for other in all.clone() {
                        let at = usize::from(other);
                        let recurs: Vec<bool> =
                            letters.iter().map(|own| entry(other, *own) == 1).collect();
                        let positions = |chosen: &dyn Fn(usize) -> bool| -> Vec<u64> {
                            (0..letters.len())
                                .filter(|position| chosen(*position))
                                .map(|position| position as u64)
                                .collect()
                        };
                        let own = positions(&|position| letters[position] == at);
                        let points = positions(&|position| recurs[position]);
                        assert_eq!(found.letter_counts[at], own.len() as u64);
                        assert_eq!(found.position_sums[at], own.iter().sum::<u64>());
                        assert_eq!(found.points[at], points.len() as u64);
                        assert_eq!(found.point_position_sums[at], points.iter().sum::<u64>());
                        let lines = recurs.chunk_by(|a, b| a == b);
                        let lines = lines.filter(|run| run[0] && run.len() as u64 >= line);
                        let on_lines: usize = lines.map(<[bool]>::len).sum();
                        assert_eq!(found.on_lines[at], on_lines as u64);
                    }
                }
            }
        }
    }
}

/// Estimates match the counted rounds and bytes.
#[test]
fn rounds_and_bytes_are_as_estimated() {
    rounds_and_bytes(&[(3, 20)]);
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn rounds_and_bytes_of_many_are_as_estimated() {
    rounds_and_bytes(&[(12, 40)]);
}

fn rounds_and_bytes(shapes: &[(usize, usize)]) {
    let mut wrong = Vec::new();
    for (metric, levels) in non_alignment_metrics()
        .iter()
        .zip(TreeLevels::ALL.into_iter().cycle())
    {
        for &(count, length) in shapes {
            let a = random_cohort(count, length..length + 1, 1);
            let b = random_cohort(count, length..length + 1, 2);
            let spec = spec(metric, &a, &b);
            let (ends, traffic, _) = run_with(&spec, &a, &b, levels);
            assert!(ends.iter().all(Result::is_ok));
            let estimated = spec.estimate_with(&work(&a, &b), &Link::local(), levels);
            for (what, estimated, counted, tolerance) in [
                ("rounds", estimated.rounds, traffic.rounds, 0.3),
                // In jobs this small, one batch of transfers more or less matters, and so do shared trees, which
                // only one side sends.
                (
                    "bytes to host",
                    estimated.bytes_to_host,
                    traffic.received,
                    0.25,
                ),
                ("bytes to join", estimated.bytes_to_join, traffic.sent, 0.25),
            ] {
                let ratio = estimated as f64 / counted as f64;
                let case = format!("{metric:?}, {count} of {length}, {levels:?}");
                println!("{case}: {estimated} {what} estimated, {counted} counted, {ratio:.2}");
                if (ratio - 1.0).abs() > tolerance {
                    wrong.push(format!("{case}: {estimated} {what} and not {counted}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The table in `docs/results.md`: bytes per matrix cell in 900 comparisons, for scanpaths of 100 letters from
/// [`documented_alphabet`].
#[test]
fn cells_cost_the_documented_bytes() {
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
    let mut wrong = Vec::new();
    let [
        rounded_dtw,
        rounded_frechet,
        rounded_hausdorff,
        rounded_crqa,
        scasim,
    ] = rounded_fixations();
    for (metric, documented) in [
        (Metric::Levenshtein, [29.0, 16.0]),
        (scanmatch(), [190.0, 108.0]),
        (rounded_dtw, [466.0, 301.0]),
        (rounded_frechet, [353.0, 231.0]),
        (rounded_hausdorff, [4.69, 2.69]),
        (rounded_crqa, [47.6, 32.0]),
        (scasim, [319.0, 222.0]),
        (Metric::SequenceScore, [51.0, 31.0]),
        (dtw, [340.0, 200.0]),
        (Metric::Frechet(Frechet { positions }), [155.0, 90.0]),
        (Metric::Hausdorff(Hausdorff { positions }), [0.27, 0.15]),
        (crqa(&[rec]), [0.27, 0.16]),
        (crqa(&[rec, det]), [17.5, 10.7]),
        (crqa(&[rec, det, lam, corm]), [19.3, 11.8]),
    ] {
        let alphabet = documented_alphabet(&metric);
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        for (levels, documented) in TreeLevels::ALL.into_iter().zip(documented) {
            let bytes = super::costs::bytes_per_cell(&comparison, 900, 100, levels);
            println!("{} {levels:?}: {bytes:.2} bytes", metric.name());
            if (bytes / documented - 1.0).abs() >= 0.05 {
                wrong.push(format!("{metric:?} {levels:?}: {bytes}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

//! Values are precise enough, sums cannot wrap, and equal numbers count as equal.

use super::*;
use crate::engines::alignment::private_metric::PrivateMetric;
use crate::statistics::values::{PairShape, ValueUse, Values};
use veilpath_statistics::StatisticsError;

#[test]
fn similarities_are_off_by_at_most_two_to_the_minus_24() {
    let (a, b) = (cohort(5, 0..40, 0, 21), cohort(5, 0..60, 0, 22));
    for metric in metrics() {
        let spec = spec(Engine::Shares, &metric, "mean", &a, &b);
        let comparison = Comparison::new(spec.metric.clone(), a.alphabet).unwrap();
        let scoring = PrivateMetric::new(comparison.model(), LETTERS, None);
        let pairs = pairs_of(spec.pair_rule, &a, &b);
        let scanpaths = |(i, j): (usize, usize)| (&a.entries[i].scanpath, &b.entries[j].scanpath);
        let shape = |pair: &(usize, usize)| {
            let (x, y) = scanpaths(*pair);
            PairShape {
                rows: u32::try_from(x.len()).unwrap(),
                columns: u32::try_from(y.len()).unwrap(),
                divisor: 1,
            }
        };
        let shapes: Vec<PairShape> = pairs.iter().map(shape).collect();
        let few = ValueUse {
            terms: 5000,
            more_bits: 0,
        };
        let values = Values::new(&comparison, &scoring, [false; 2], &shapes, few).unwrap();
        let mut max_error = 0.0_f64;
        for (pair, shape) in pairs.iter().zip(&shapes) {
            let (x, y) = scanpaths(*pair);
            let raw = comparison.raw(x, y).unwrap();
            let read = comparison.read(raw, x.len(), y.len()).unwrap();
            let exact = match metric {
                Metric::ScanMatch { .. } => read.score(),
                _ => read.similarity().unwrap_or(read.score()),
            };
            let value = values.of_raw(raw, shape).unwrap();
            assert!(value.unsigned_abs() <= 1 << values.bits(), "{metric:?}");
            max_error = max_error.max((value as f64 * values.unit() - exact).abs());
        }
        assert!(
            max_error <= f64::from(24).exp2().recip(),
            "{max_error} for {metric:?}"
        );
        let read = comparison.read(0, 1, 1).unwrap();
        if read.similarity().is_none() {
            continue;
        }
        // As many pairs as fit into 64 bits, and no more.
        let largest = 1u64 << values.bits();
        let fitting = (1 << 62) / largest;
        for (terms, fits) in [(fitting - 1, true), (fitting, false)] {
            let many = ValueUse {
                terms,
                more_bits: 0,
            };
            let made = Values::new(&comparison, &scoring, [false; 2], &shapes, many);
            match made {
                Ok(made) => assert!(fits && made.bits() == values.bits(), "{metric:?}"),
                Err(error) => {
                    let refused =
                        ProtocolError::Statistics(StatisticsError::TooManyPairs { terms, largest });
                    assert!(!fits && error == refused, "{error} for {metric:?}");
                }
            }
        }
    }
}

/// Sums that are too large for the coefficients of the contrast lose low bits before they are multiplied.
#[test]
fn large_coefficients_do_not_let_a_statistic_wrap() {
    let (mut a, mut b) = (cohort(9, 12..13, 0, 31), cohort(11, 12..13, 0, 32));
    for (cohort, patients) in [(&mut a, 4), (&mut b, 6)] {
        for (index, entry) in cohort.entries.iter_mut().enumerate() {
            let group = if index / 2 < patients {
                "patient"
            } else {
                "control"
            };
            entry.group = Some(group.into());
        }
    }
    let metric = Metric::ScanMatch {
        grid: veilpath_metrics::Grid::new(4, 3).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: Some(60_000.0),
    };
    for question in ["test:groups,40", "test:sites,40"] {
        let spec = spec(Engine::Shares, &metric, question, &a, &b);
        let expected = expected(&spec, &a, &b).unwrap();
        assert_eq!(found(&spec, &a, &b).unwrap(), expected, "{question}");
        let GroupAnswer::Test(test) = expected else {
            panic!("not a test");
        };
        let exact = difference(&metric, &a, &b, question.starts_with("test:sites"));
        assert!(
            (test.value - exact).abs() < 1.0 / 4096.0,
            "{question}: {} {exact}",
            test.value
        );
    }
}

/// The difference of means in double precision. Everybody has both stimuli.
fn difference(metric: &Metric, a: &Cohort, b: &Cohort, sites: bool) -> f64 {
    let comparison = Comparison::new(metric.clone(), a.alphabet).unwrap();
    let label = |side: usize, entry: &Entry| match sites {
        true => side.to_string(),
        false => entry.group.clone().unwrap(),
    };
    let all: Vec<(usize, &Entry)> = (a.entries.iter().map(|it| (0, it)))
        .chain(b.entries.iter().map(|it| (1, it)))
        .collect();
    let mut sums = [[0.0; 2]; 2];
    for (index, &(side, x)) in all.iter().enumerate() {
        for &(other, y) in &all[index + 1..] {
            let is_same_person = side == other && x.participant == y.participant;
            if x.stimulus != y.stimulus || is_same_person || side == other && !sites {
                continue;
            }
            let same = usize::from(label(side, x) == label(other, y));
            sums[same][0] += comparison
                .compare(&x.scanpath, &y.scanpath)
                .unwrap()
                .score();
            sums[same][1] += 1.0;
        }
    }
    sums[1][0] / sums[1][1] - sums[0][0] / sums[0][1]
}

/// 1/3 and 2/6 are the same similarity, although fixed point rounds them differently.
#[test]
fn ties_go_to_the_earlier_reference() {
    let (a, b) = (cohort(8, 1..9, 0, 41), cohort(9, 1..9, 0, 42));
    let comparison = Comparison::new(Metric::Levenshtein, a.alphabet).unwrap();
    let mut ties = 0;
    for k in [1, 3, 4] {
        let question = format!("nearest:{k}");
        let spec = spec(Engine::Shares, &Metric::Levenshtein, &question, &a, &b);
        let GroupAnswer::NearestLabels(found) = found(&spec, &a, &b).unwrap() else {
            panic!("not labels");
        };
        for (query, found) in a.entries.iter().zip(&found.labels) {
            let same = b.entries.iter().filter(|it| it.stimulus == query.stimulus);
            let mut references: Vec<(usize, usize, &str)> = same
                .map(|entry| {
                    let (x, y) = (&query.scanpath, &entry.scanpath);
                    let distance = usize::try_from(comparison.raw(x, y).unwrap()).unwrap();
                    (
                        distance,
                        x.len().max(y.len()),
                        entry.group.as_deref().unwrap(),
                    )
                })
                .collect();
            // Exact fractions; the sort is stable.
            references.sort_by_key(|(distance, longer, _)| distance * 2520 / longer);
            assert!(references.iter().all(|(_, longer, _)| 2520 % longer == 0));
            let [last, next] = [references[k - 1], references[k]];
            ties += usize::from(last.0 * next.1 == next.0 * last.1 && last.1 != next.1);
            let patients = references[..k]
                .iter()
                .filter(|it| it.2 == "patient")
                .count();
            let expected = if 2 * patients > k {
                "patient"
            } else {
                "control"
            };
            assert_eq!(
                found.majority, expected,
                "{k} nearest of {:?}",
                query.participant
            );
        }
    }
    assert!(ties > 0);
}

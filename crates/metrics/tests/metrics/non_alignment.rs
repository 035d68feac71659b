//! Metrics other than alignments: fast kernels against slow definitions.

// Test helpers may panic too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss)]

use crate::support;

use proptest::prelude::*;
use support::{alphabet, grid, two_scanpaths};
use veilpath_metrics::{
    Alphabet, Comparison, Crqa, CrqaMeasure, Dtw, DurationClasses, DurationDivisor, Frechet, Grid,
    Hausdorff, LineLengths, LineMeasure, Metric, Model, PairScore, PathDivisor, Positions,
    RecurrenceRule, ScaSim, Scanpath, SubsMatch, Threshold, Undefined, View, reference,
};

pub(crate) fn crqa(rule: RecurrenceRule, line: u32) -> Crqa {
    Crqa {
        rule,
        line,
        measures: CrqaMeasure::ALL.to_vec(),
        undefined: Undefined::Missing,
        rounded: false,
    }
}

/// An alphabet, a grid for it, and two non-empty scanpaths.
fn on_a_grid() -> impl Strategy<Value = (Alphabet, Positions, Scanpath, Scanpath)> {
    let some = alphabet().prop_flat_map(|alphabet| {
        let size = alphabet.size();
        (
            Just(alphabet),
            grid(size),
            any::<bool>(),
            two_scanpaths(size),
        )
    });
    let some = some.prop_filter("both have letters", |(.., (a, b))| {
        !a.is_empty() && !b.is_empty()
    });
    some.prop_map(|(alphabet, grid, wrap, (a, b))| (alphabet, Positions::Grid { grid, wrap }, a, b))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn warping_in_integers_equals_the_definition((alphabet, positions, a, b) in on_a_grid(), scale in 1u32..2000) {
        let dtw = Dtw { positions, divisor: PathDivisor::None, scale: Some(scale) };
        let comparison = Comparison::new(Metric::Dtw(dtw), alphabet).unwrap();
        let Model::Warping(model) = comparison.model() else { panic!() };
        let sum = reference::warping_distance(&a, &b, |x, y| f64::from(model.distance(x, y)));
        let raw = comparison.raw(&a, &b).unwrap();
        prop_assert_eq!(raw as f64, sum);
        prop_assert_eq!(comparison.compare(&a, &b).unwrap().score(), sum / f64::from(scale));
        // Double precision differs by no more than the bound.
        let exact = Comparison::new(Metric::Dtw(Dtw { scale: None, ..dtw }), alphabet).unwrap();
        let exact = exact.compare(&a, &b).unwrap().score();
        let bound = dtw.error_bound(a.len(), b.len());
        prop_assert!((exact - sum / f64::from(scale)).abs() <= bound + 1e-9);
    }

    #[test]
    fn warping_equals_the_definition_to_the_last_bit((alphabet, positions, a, b) in on_a_grid()) {
        let dtw = |divisor| Metric::Dtw(Dtw { positions, divisor, scale: None });
        let lattice = positions.lattice().unwrap();
        let sum = reference::warping_distance(&a, &b, |x, y| lattice.distance(x, y));
        let score = |divisor| {
            let comparison = Comparison::new(dtw(divisor), alphabet).unwrap();
            comparison.compare(&a, &b).unwrap().score()
        };
        prop_assert_eq!(score(PathDivisor::None), sum);
        prop_assert_eq!(score(PathDivisor::Lengths), sum / (a.len() + b.len()) as f64);
    }

    #[test]
    fn frechet_and_hausdorff_equal_the_definitions((alphabet, positions, a, b) in on_a_grid()) {
        let lattice = positions.lattice().unwrap();
        let distance = |x, y| lattice.distance(x, y);
        let compare = |metric| {
            let comparison = Comparison::new(metric, alphabet).unwrap();
            comparison.compare(&a, &b).unwrap().score()
        };
        let longest = reference::frechet_distance(&a, &b, distance);
        prop_assert_eq!(compare(Metric::Frechet(Frechet { positions })), longest);
        let nearest = reference::hausdorff(&a, &b, distance);
        prop_assert_eq!(compare(Metric::Hausdorff(Hausdorff { positions })), nearest);
        prop_assert!(nearest <= longest);
    }

    #[test]
    fn recurrence_equals_the_definition(
        (alphabet, positions, a, b) in on_a_grid(),
        line in prop_oneof![2u32..5, Just(64)],
        radius in prop_oneof![Just(None), (0.0f64..4.0).prop_map(Some)],
    ) {
        let rule = match radius {
            None => RecurrenceRule::SameLetter,
            Some(radius) => RecurrenceRule::Within { positions, radius },
        };
        let mut crqa = crqa(rule, line);
        let exact = Comparison::new(Metric::Crqa(crqa.clone()), alphabet).unwrap();
        let Model::Recurrence(model) = exact.model() else { panic!() };
        let counted = reference::recurrent_points(model, &a, &b);
        let mut fewer = crqa.clone();
        fewer.measures = vec![CrqaMeasure::Rec, CrqaMeasure::Det, CrqaMeasure::Lam, CrqaMeasure::Corm];
        let packed = Comparison::new(Metric::Crqa(fewer), alphabet).unwrap();
        let Model::Recurrence(fewer) = packed.model() else { panic!() };
        prop_assert_eq!(packed.raw(&a, &b), fewer.raw(&counted, a.len(), b.len()));
        let percent = |points: u64, of: u64| (of > 0).then(|| 100.0 * points as f64 / of as f64);
        let score = exact.compare(&a, &b).unwrap();
        let all = counted.all;
        prop_assert_eq!(score.number(0), percent(all, (a.len() * b.len()) as u64));
        prop_assert_eq!(score.number(1), percent(counted.diagonal, all));
        prop_assert_eq!(score.number(2), percent(counted.rows + counted.columns, 2 * all));
        prop_assert_eq!(score.number(3), percent(counted.rows, all));
        prop_assert_eq!(score.number(4), percent(counted.columns, all));
        let lines = Crqa { measures: LineMeasure::ALL.map(CrqaMeasure::Line).to_vec(), ..crqa.clone() };
        let lines = Comparison::new(Metric::Crqa(lines), alphabet).unwrap().compare(&a, &b).unwrap();
        let runs = reference::recurrence(model, &a, &b).1;
        let mean = |lines: &LineLengths| {
            (lines.count() > 0).then(|| lines.points() as f64 / lines.count() as f64)
        };
        prop_assert_eq!(lines.number(0), Some(runs.diagonal.count() as f64));
        prop_assert_eq!(lines.number(1), Some(runs.diagonal.longest() as f64));
        prop_assert_eq!(lines.number(2), mean(&runs.diagonal));
        prop_assert_eq!(lines.number(4), mean(&runs.rows));
        prop_assert_eq!(lines.number(5), mean(&runs.columns));
        prop_assert_eq!(lines.number(6), Some(runs.rows.longest() as f64));
        prop_assert_eq!(lines.number(7), Some(runs.columns.longest() as f64));
        // Swapping the sides swaps rows and columns, and negates the shift.
        let back = exact.compare(&b, &a).unwrap();
        prop_assert_eq!([back.number(0), back.number(1), back.number(3)], [score.number(0), score.number(1), score.number(4)]);
        prop_assert_eq!(back.number(5), score.number(5).map(|corm| 0.0 - corm));
        // Rounded numbers are within half a hundredth; counts are exact.
        crqa.rounded = true;
        crqa.measures = fewer.measures.clone();
        let score = packed.compare(&a, &b).unwrap();
        let rounded = Comparison::new(Metric::Crqa(crqa.clone()), alphabet).unwrap();
        let rounded_score = rounded.compare(&a, &b).unwrap();
        prop_assert_eq!(rounded_score.number(0), score.number(0));
        for (x, y) in score.numbers().zip(rounded_score.numbers()) {
            match (x, y) {
                (Some(x), Some(y)) => prop_assert!((x - y).abs() <= 0.005 + 1e-9),
                (x, y) => prop_assert_eq!(x, y),
            }
        }
        crqa.undefined = Undefined::Zero;
        let zero = Comparison::new(Metric::Crqa(crqa), alphabet).unwrap().compare(&a, &b).unwrap();
        let expected = rounded_score.numbers().map(|number| Some(number.unwrap_or(0.0)));
        prop_assert!(zero.numbers().eq(expected));
    }

    #[test]
    fn sequence_score_is_the_longest_common_subsequence(
        (a, b) in two_scanpaths(7).prop_filter("not both empty", |(a, b)| a.len() + b.len() > 0)
    ) {
        let alphabet = Alphabet::letters(7).unwrap();
        let comparison = Comparison::new(Metric::SequenceScore, alphabet).unwrap();
        let mut row = vec![0usize; b.len() + 1];
        for x in a.letters() {
            let mut diagonal = 0;
            for (j, y) in b.letters().iter().enumerate() {
                let longest = if x == y { diagonal + 1 } else { row[j].max(row[j + 1]) };
                diagonal = row[j + 1];
                row[j + 1] = longest;
            }
        }
        let expected = row[b.len()] as f64 / a.len().max(b.len()) as f64;
        prop_assert_eq!(comparison.compare(&a, &b).unwrap(), PairScore::single(expected));
    }

    #[test]
    fn thresholds_agree_with_scores((alphabet, positions, a, b) in on_a_grid(), kind in 0usize..6) {
        let one = |measure| Crqa {
            measures: vec![measure],
            undefined: Undefined::Zero,
            rounded: true,
            ..crqa(RecurrenceRule::SameLetter, 2)
        };
        let metric = match kind {
            0 => Metric::Dtw(Dtw { positions, divisor: PathDivisor::Lengths, scale: Some(10) }),
            1 => Metric::Frechet(Frechet { positions }),
            2 => Metric::Hausdorff(Hausdorff { positions }),
            3 => Metric::Crqa(one(CrqaMeasure::Rec)),
            4 => Metric::Crqa(one(CrqaMeasure::Det)),
            _ => Metric::SequenceScore,
        };
        let comparison = Comparison::new(metric.clone(), alphabet).unwrap();
        let score = comparison.compare(&a, &b).unwrap();
        let raw = comparison.raw(&a, &b).unwrap();
        let middle = score.score();
        for value in [middle, middle.next_up(), middle.next_down(), 0.5, 40.0] {
            let threshold = Threshold::new(value).unwrap();
            let bound = comparison.bound(threshold, a.len(), b.len()).unwrap();
            prop_assert_eq!(bound.admits(raw), threshold.admits(&metric, &score));
        }
    }
}

proptest! {
    #[test]
    fn subsmatch_equals_the_definition((a, b) in two_scanpaths(3), window in 1u32..5) {
        let metric = Metric::SubsMatch(SubsMatch { window });
        let comparison = Comparison::new(metric, Alphabet::letters(3).unwrap()).unwrap();
        let ours = comparison.compare(&a, &b).unwrap().number(0);
        let slow = reference::positions::subsmatch(a.letters(), b.letters(), window as usize);
        match (ours, slow) {
            (Some(ours), Some(slow)) => prop_assert!((ours - slow).abs() < 1e-12),
            (ours, slow) => prop_assert_eq!(ours, slow),
        }
    }
}

/// ScaSim with a 3×2 grid on a screen and three duration classes.
pub(crate) fn classes() -> Metric {
    Metric::ScaSim(ScaSim {
        view: View {
            center: [640.0, 360.0],
            pixel: [0.04, 0.04],
            distance: 60.0,
        },
        modulator: 0.83,
        divisor: DurationDivisor::None,
        classes: Some(DurationClasses {
            grid: Grid::new(3, 2).unwrap(),
            screen: [1280.0, 720.0],
            durations: vec![100.0, 250.5, 600.0],
            scale: 10,
        }),
    })
}

proptest! {
    #[test]
    fn scasim_in_integers_equals_the_definition((a, b) in two_scanpaths(18)) {
        let alphabet = Alphabet::letters(18).unwrap();
        let comparison = Comparison::new(classes(), alphabet).unwrap();
        let Model::Reward(model) = comparison.model() else { panic!() };
        let mut row = vec![0u64; b.len() + 1];
        for &x in a.letters() {
            let mut diagonal = 0;
            for (j, &y) in b.letters().iter().enumerate() {
                let paired = diagonal + u64::from(model.reward(x, y));
                diagonal = row[j + 1];
                row[j + 1] = paired.max(row[j]).max(row[j + 1]);
            }
        }
        let totals = model.total(a.letters()) + model.total(b.letters());
        let expected = (totals - 2 * row[b.len()]).cast_signed();
        prop_assert_eq!(comparison.raw(&a, &b), Ok(expected));
        prop_assert_eq!(comparison.compare(&a, &b).unwrap().score(), expected as f64 / 10.0);
        prop_assert_eq!(comparison.raw(&a, &a), Ok(0));
    }
}

//! Metrics of random fixations, compared with slow definitions: few and many points, equal points and ties, all points
//! recurrent or none.

// Test helpers may panic too.
#![allow(clippy::unwrap_used, clippy::panic)]

use proptest::prelude::*;
use veilpath_metrics::reference::{multimatch, positions};
use veilpath_metrics::{
    Crqa, CrqaMeasure, Dtw, DurationDivisor, Fixation, FixationComparison, Fixations, Frechet,
    Hausdorff, LineMeasure, Metric, MultiMatch, MultiMatchMeasure, PairScore, PathDivisor,
    Positions, RecurrenceRule, ScaSim, Screen, ScreenUnit, Simplification, Undefined, View,
};

const SCREEN: (f64, f64) = (1280.0, 720.0);

/// Fixations on a coarse lattice (many equal positions and ties), anywhere, and slightly off the screen.
fn fixations(least: usize) -> impl Strategy<Value = Vec<Fixation>> {
    let lattice = (0u8..4, 0u8..4).prop_map(|(x, y)| (f64::from(x) * 60.0, f64::from(y) * 80.0));
    let anywhere = (-40.0..1320.0, -30.0..750.0);
    let duration = prop_oneof![
        1 => Just(0.0),
        4 => (1u16..9).prop_map(|tens| f64::from(tens) * 100.0),
        4 => 1.0..900.0,
    ];
    let fixation = |place: BoxedStrategy<(f64, f64)>| {
        (place, duration.clone()).prop_map(|((x, y), duration)| Fixation {
            x,
            y,
            start: None,
            duration,
        })
    };
    let lengths = || prop_oneof![3 => least..8, 2 => 8usize..40, 1 => 60usize..140];
    prop_oneof![
        lengths().prop_flat_map({
            let fixation = fixation(lattice.boxed()).boxed();
            move |length| proptest::collection::vec(fixation.clone(), length)
        }),
        lengths().prop_flat_map({
            let fixation = fixation(anywhere.boxed()).boxed();
            move |length| proptest::collection::vec(fixation.clone(), length)
        }),
    ]
}

/// Two scanpaths, or one and a modified copy of it.
fn pair(least: usize) -> impl Strategy<Value = (Vec<Fixation>, Vec<Fixation>)> {
    prop_oneof![
        3 => (fixations(least), fixations(least)),
        1 => fixations(least).prop_map(|a| (a.clone(), a)),
        2 => (fixations(least + 1), any::<prop::sample::Index>()).prop_map(|(a, at)| {
            let mut b = a.clone();
            b.remove(at.index(a.len()));
            (a, b)
        }),
    ]
}

fn compare(metric: Metric, a: &[Fixation], b: &[Fixation]) -> PairScore {
    let screen = Screen::new(ScreenUnit::Pixels, SCREEN, None).unwrap();
    let [a, b] = [a, b].map(|list| Fixations::new(list.to_vec()).unwrap());
    let comparison = FixationComparison::new(metric, screen).unwrap();
    comparison.compare(&a, &b).unwrap()
}

fn between(a: &Fixation, b: &Fixation) -> f64 {
    let (x, y) = (a.x - b.x, a.y - b.y);
    (x * x + y * y).sqrt()
}

/// The angle between two points in degrees, by the dot product: precise unless the angle is small.
fn angle(view: &View, a: &Fixation, b: &Fixation) -> f64 {
    if (a.x, a.y) == (b.x, b.y) {
        return 0.0;
    }
    let look = |it: &Fixation| {
        let x = (it.x - view.center[0]) * view.pixel[0];
        let y = (it.y - view.center[1]) * view.pixel[1];
        let length = (x * x + y * y + view.distance * view.distance).sqrt();
        [x / length, y / length, view.distance / length]
    };
    let (p, q) = (look(a), look(b));
    let cosine: f64 = p.iter().zip(q).map(|(x, y)| x * y).sum();
    cosine.min(1.0).acos().to_degrees()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn distances_equal_the_definitions((a, b) in pair(1)) {
        let positions = Positions::Fixations;
        let (m, n) = (a.len(), b.len());
        let distance = |i: usize, j: usize| between(&a[i], &b[j]);
        let sum = positions::walk(m, n, distance, |before, here| before + here);
        let dtw = |divisor| Metric::Dtw(Dtw { positions, divisor, scale: None });
        prop_assert_eq!(compare(dtw(PathDivisor::None), &a, &b).score(), sum);
        let longest = positions::walk(m, n, distance, f64::max);
        prop_assert_eq!(compare(Metric::Frechet(Frechet { positions }), &a, &b).score(), longest);
        let nearest = positions::hausdorff(m, n, distance);
        prop_assert_eq!(compare(Metric::Hausdorff(Hausdorff { positions }), &a, &b).score(), nearest);
    }

    #[test]
    fn recurrence_equals_the_definition(
        (a, b) in pair(1),
        line in 2u32..5,
        radius in prop_oneof![Just(0.0), Just(60.0), Just(100.0), 1.0..400.0, Just(5000.0)],
    ) {
        let (m, n) = (a.len(), b.len());
        let crqa = |measures: Vec<CrqaMeasure>| Metric::Crqa(Crqa {
            rule: RecurrenceRule::Within { positions: Positions::Fixations, radius },
            line,
            measures,
            undefined: Undefined::Missing,
            rounded: false,
        });
        let recurs = |i: usize, j: usize| between(&a[i], &b[j]) <= radius;
        let (points, lines) = positions::recurrence(m, n, line as usize, recurs);
        let percent = |some: u64, of: u64| (of > 0).then(|| 100.0 * some as f64 / of as f64);
        let score = compare(crqa(CrqaMeasure::ALL.to_vec()), &a, &b);
        let longest = (m.max(n) as u64 - 1) * points.all;
        let expected = [
            percent(points.all, (m * n) as u64),
            percent(points.diagonal, points.all),
            percent(points.rows + points.columns, 2 * points.all),
            percent(points.rows, points.all),
            percent(points.columns, points.all),
            (longest > 0).then(|| 100.0 * points.shift as f64 / longest as f64),
        ];
        prop_assert_eq!(score, PairScore::from_numbers(expected));
        if radius >= 5000.0 {
            prop_assert_eq!(points.all, (m * n) as u64);
        }
        let score = compare(crqa(LineMeasure::ALL.map(CrqaMeasure::Line).to_vec()), &a, &b);
        let mean = |lines: &veilpath_metrics::LineLengths| {
            (lines.count() > 0).then(|| lines.points() as f64 / lines.count() as f64)
        };
        let expected = [
            Some(lines.diagonal.count() as f64),
            Some(lines.diagonal.longest() as f64),
            mean(&lines.diagonal),
            score.number(3),
            mean(&lines.rows),
            mean(&lines.columns),
            Some(lines.rows.longest() as f64),
            Some(lines.columns.longest() as f64),
        ];
        prop_assert_eq!(score, PairScore::from_numbers(expected));
    }

    #[test]
    fn scasim_equals_the_definition(
        (a, b) in pair(0),
        modulator in prop_oneof![Just(0.83f64), Just(0.0), Just(1.0), Just(1e-9), 0.01..1.0],
        distance in prop_oneof![Just(60.0), 1.0..90.0],
        divisor in prop_oneof![Just(DurationDivisor::None), Just(DurationDivisor::Fixations)],
    ) {
        let view = View { center: [640.0, 360.0], pixel: [0.04, 0.05], distance };
        let reward = positions::largest_reward(a.len(), b.len(), |i, j| {
            let factor = modulator.powf(angle(&view, &a[i], &b[j]));
            a[i].duration.min(b[j].duration) * factor
        });
        let total: f64 = a.iter().chain(&b).map(|it| it.duration).sum();
        let expected = match divisor {
            DurationDivisor::Fixations => (total - 2.0 * reward) / (a.len() + b.len()) as f64,
            _ => total - 2.0 * reward,
        };
        let metric = Metric::ScaSim(ScaSim { view, modulator, divisor, classes: None });
        let ours = compare(metric.clone(), &a, &b);
        if let Some(ours) = ours.number(0) {
            prop_assert!((ours - expected).abs() <= 1e-9 * total.max(1.0), "{} {}", ours, expected);
        } else {
            prop_assert!(a.is_empty() && b.is_empty());
        }
        // Equal positions are equal to the last bit.
        prop_assert!(compare(metric, &a, &a).number(0).is_none_or(|zero| zero <= 1e-12 * total));
    }

    #[test]
    fn multimatch_equals_the_definition(
        (a, b) in pair(1),
        rule in prop_oneof![
            Just(None),
            (1.0..120.0, 10.0..400.0, 100.0..900.0).prop_map(|(direction, length, duration)| {
                Some(Simplification { direction, length, duration })
            }),
        ],
    ) {
        let metric = Metric::MultiMatch(MultiMatch {
            measures: MultiMatchMeasure::ALL.to_vec(),
            simplification: rule,
        });
        let ours = compare(metric, &a, &b);
        let slow = match a.len() < 3 || b.len() < 3 {
            true => [None; 5],
            false => {
                let [a, b] = [&a, &b].map(|fixations| {
                    let path = multimatch::Saccades::of(fixations);
                    match &rule {
                        None => path,
                        Some(rule) => {
                            let simplified = path.clone().simplified(rule);
                            // Merging moves neither the start nor the end.
                            let end = |it: &multimatch::Saccades| {
                                let add = |sum: [f64; 2], it: &[f64; 2]| [sum[0] + it[0], sum[1] + it[1]];
                                it.vectors.iter().fold([0.0; 2], add)
                            };
                            let ([x, y], [end_x, end_y]) = (end(&path), end(&simplified));
                            assert!((x - end_x).abs() + (y - end_y).abs() < 1e-6);
                            simplified
                        }
                    }
                });
                multimatch::multimatch(&a, &b, SCREEN.0.hypot(SCREEN.1))
            }
        };
        let same = ours.numbers().zip(slow).all(|(ours, slow)| match (ours, slow) {
            (Some(ours), Some(slow)) => (ours - slow).abs() < 1e-12,
            (ours, slow) => ours == slow,
        });
        prop_assert!(same, "{:?} {:?}", ours, slow);
    }
}

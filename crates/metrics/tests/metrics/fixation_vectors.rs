//! Fixation metrics on vectors from other programs; see `shared_vectors`.

// Test helpers may panic too.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::non_alignment_vectors::{CRQA_HEADER, check_recurrence, close, crqa};
use crate::shared_vectors::rows;
use veilpath_metrics::reference::multimatch::{Saccades, multimatch};
use veilpath_metrics::{
    Dtw, DurationDivisor, Fixation, FixationComparison, Fixations, Frechet, Hausdorff, Metric,
    MultiMatch, MultiMatchMeasure, PairScore, PathDivisor, Positions, RecurrenceRule, ScaSim,
    Screen, ScreenUnit, Simplification, View,
};

fn screen(width: &str, height: &str) -> Screen {
    let [width, height] = [width, height].map(|text| text.parse().unwrap());
    Screen::new(ScreenUnit::Pixels, (width, height), None).unwrap()
}

/// `x y` or `x y duration`, separated by semicolons.
pub(crate) fn fixations(text: &str) -> Fixations {
    let fixation = |text: &str| {
        let numbers: Vec<f64> = text.split(' ').map(|text| text.parse().unwrap()).collect();
        Fixation {
            x: numbers[0],
            y: numbers[1],
            start: None,
            duration: numbers.get(2).copied().unwrap_or(1.0),
        }
    };
    Fixations::new(text.split(';').map(fixation).collect()).unwrap()
}

#[test]
fn distances_in_pixels_match_the_vectors() {
    let header = "id,kind,source,width,height,m,n,a,b,dtw,frechet,hausdorff";
    let Some(rows) = rows("geometry_px.csv", header) else {
        return;
    };
    let positions = Positions::Fixations;
    let dtw = Dtw {
        positions,
        divisor: PathDivisor::None,
        scale: None,
    };
    let metrics = [
        Metric::Dtw(dtw),
        Metric::Frechet(Frechet { positions }),
        Metric::Hausdorff(Hausdorff { positions }),
    ];
    for row in &rows {
        let [a, b] = [&row[7], &row[8]].map(|text| fixations(text));
        for (metric, theirs) in metrics.iter().zip(&row[9..]) {
            let screen = screen(&row[3], &row[4]);
            let comparison = FixationComparison::new(metric.clone(), screen).unwrap();
            close(comparison.compare(&a, &b).unwrap().score(), theirs, row);
        }
    }
    assert!(rows.len() > 100);
}

#[test]
fn recurrence_of_fixations_matches_the_vectors() {
    let Some(rows) = rows("crqa.csv", CRQA_HEADER) else {
        return;
    };
    let (mut compared, mut lost) = (0, 0);
    for row in rows.iter().filter(|row| row[3] == "px") {
        let rule = RecurrenceRule::Within {
            positions: Positions::Fixations,
            radius: row[4].parse().unwrap(),
        };
        let comparison = FixationComparison::new(crqa(rule), screen("1", "1")).unwrap();
        let [a, b] = [&row[7], &row[8]].map(|text| fixations(text));
        lost += usize::from(check_recurrence(comparison.compare(&a, &b).unwrap(), row));
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
    assert!(lost > 0);
}

#[test]
fn scasim_matches_the_vectors() {
    let header = "id,kind,source,center_x,center_y,viewing_distance,unit_size,modulator,m,n,a,b,status,nan_angles,comparable,scasim,scasim_fixations,scasim_durations,own_scasim";
    let Some(rows) = rows("scasim.csv", header) else {
        return;
    };
    let mut compared = 0;
    for row in &rows {
        let number = |at: usize| row[at].parse::<f64>().unwrap();
        let [a, b] = [&row[10], &row[11]].map(|text| fixations(text));
        let score = |divisor| {
            let metric = Metric::ScaSim(ScaSim {
                view: View {
                    center: [number(3), number(4)],
                    pixel: [number(6); 2],
                    distance: number(5),
                },
                modulator: number(7),
                divisor,
                classes: None,
            });
            let comparison = FixationComparison::new(metric, screen("1", "1")).unwrap();
            comparison.compare(&a, &b).unwrap().score()
        };
        let distance = score(DurationDivisor::None);
        let total: f64 = a.list().iter().chain(b.list()).map(|it| it.duration).sum();
        if !row[18].is_empty() {
            assert!(
                (distance - number(18)).abs() <= 1e-9 * total,
                "{distance} {row:?}"
            );
            compared += 1;
        }
        if row[14] == "1" {
            assert!(
                (distance - number(15)).abs() <= 1e-6 * total,
                "{distance} {row:?}"
            );
            let by_fixations = score(DurationDivisor::Fixations);
            assert!((by_fixations - number(16)).abs() <= 1e-6 * total, "{row:?}");
            // Durations of 0 give NaN on both sides.
            let by_durations = score(DurationDivisor::Durations) - number(17);
            assert!(
                by_durations.is_nan() || by_durations.abs() <= 1e-6,
                "{row:?}"
            );
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn multimatch_matches_the_vectors() {
    let header = "id,kind,source,width,height,m,n,a,b,tdir,tdur,tamp,status,unique,vector,direction,length,position,duration";
    let Some(rows) = rows("multimatch.csv", header) else {
        return;
    };
    let (mut compared, mut overwritten) = (0, 0);
    for row in &rows {
        let number = |at: usize| row[at].parse::<f64>().unwrap();
        let simplification = (number(9) != 0.0).then(|| Simplification {
            direction: number(9),
            duration: number(10),
            length: number(11),
        });
        let metric = Metric::MultiMatch(MultiMatch {
            measures: MultiMatchMeasure::ALL.to_vec(),
            simplification,
        });
        let comparison = FixationComparison::new(metric, screen(&row[3], &row[4])).unwrap();
        let [a, b] = [&row[7], &row[8]].map(|text| fixations(text));
        let score = comparison.compare(&a, &b).unwrap();
        if row[12] == "too_short" {
            assert!(score.numbers().all(|number| number.is_none()), "{row:?}");
        }
        if row[12] != "ok" || row[13] != "1" {
            continue;
        }
        if same(score.numbers(), &row[14..]) {
            compared += 1;
            continue;
        }
        // Emulating the package's last step gives its numbers; without that step, the numbers are ours.
        let rule = simplification.unwrap_or_else(|| panic!("{score:?} {row:?}"));
        let diagonal = screen(&row[3], &row[4]).diagonal();
        let simplified = |end| {
            let [a, b] = [&a, &b].map(|it| simplified(it.list(), &rule, end));
            multimatch(&a, &b, diagonal)
        };
        let theirs = simplified(LastSaccade::Overwrites);
        assert!(same(theirs.into_iter(), &row[14..]), "{theirs:?} {row:?}");
        let defined = simplified(LastSaccade::Joins);
        assert_eq!(score, PairScore::from_numbers(defined), "{row:?}");
        overwritten += 1;
    }
    assert!(compared > 280, "{compared}");
    assert!((1..=12).contains(&overwritten), "{overwritten}");
}

/// Whether our numbers equal those of a row.
fn same(ours: impl Iterator<Item = Option<f64>>, theirs: &[String]) -> bool {
    ours.zip(theirs).all(|(ours, theirs)| match ours {
        Some(ours) => (ours - theirs.parse::<f64>().unwrap()).abs() <= 1e-9,
        None => theirs == "nan",
    })
}

/// What happens to a short last saccade, which has no successor to merge with.
#[derive(Clone, Copy, PartialEq)]
enum LastSaccade {
    /// It merges with the one before it, as defined.
    Joins,
    /// multimatch-gaze 0.1.3: the sum of the last two saccades overwrites the saccade that the pass wrote last, even if
    /// that was already a sum including the second to last. Also, one duration too many stays in the list whose length
    /// ends the loop.
    Overwrites,
}

fn simplified(fixations: &[Fixation], rule: &Simplification, end: LastSaccade) -> Saccades {
    let mut path = Saccades::of(fixations);
    if end == LastSaccade::Joins {
        return path.simplified(rule);
    }
    let mut durations = path.durations.len();
    loop {
        path = pass(&path, |path, at| path.turns_little(at, rule), |_, _| false);
        // The last two durations of the list. If the list has one too many, they are not those of the saccade.
        let is_short = |path: &Saccades, at: usize| {
            let [.., before, last] = path.durations[..] else {
                return false;
            };
            let [x, y] = path.vectors[at];
            x.hypot(y) < rule.length && before.min(last) < rule.duration
        };
        path = pass(&path, |path, at| path.is_short(at, rule), is_short);
        if path.durations.len() == durations {
            return path;
        }
        durations = path.durations.len();
    }
}

/// One pass of the package. `overwrites` says whether the last saccade is short.
fn pass(
    path: &Saccades,
    joins: impl Fn(&Saccades, usize) -> bool,
    overwrites: impl Fn(&Saccades, usize) -> bool,
) -> Saccades {
    let mut out = Saccades::default();
    let last = path.vectors.len() - 1;
    let mut at = 0;
    while at <= last {
        if at == last && overwrites(path, at) {
            let [before, end] = [path.vectors[last - 1], path.vectors[last]];
            *out.vectors.last_mut().unwrap() = [before[0] + end[0], before[1] + end[1]];
            out.durations.push(path.durations[last - 1]);
            break;
        }
        let mut vector = path.vectors[at];
        out.starts.push(path.starts[at]);
        out.durations.push(path.durations[at]);
        if at < last && joins(path, at) {
            at += 1;
            vector = [
                vector[0] + path.vectors[at][0],
                vector[1] + path.vectors[at][1],
            ];
        }
        out.vectors.push(vector);
        at += 1;
    }
    out.durations.push(*path.durations.last().unwrap());
    out
}

/// Saccades (100, 0), (0, 100), (10, 0), (0, 10), (0, 5), of which those below 20 are short. By the definition, all
/// short ones merge: the scanpath goes from (0, 0) over (100, 0) to (110, 115), and equals one with these three
/// fixations. The package merges (10, 0) and (0, 10), then overwrites their sum with (0, 10) + (0, 5). The 10 to the
/// right are lost, and its scanpath ends at (100, 115), where there is no fixation.
#[test]
fn simplification_keeps_the_end_of_a_scanpath() {
    let rule = Simplification {
        direction: 0.0,
        length: 20.0,
        duration: 300.0,
    };
    let places = [
        (0, 0),
        (100, 0),
        (100, 100),
        (110, 100),
        (110, 110),
        (110, 115),
    ];
    let a = places.map(|(x, y)| at(x.into(), y.into(), 200.0));
    let b = [(0, 0), (100, 0), (110, 115)].map(|(x, y)| at(x.into(), y.into(), 200.0));
    let metric = Metric::MultiMatch(MultiMatch {
        measures: MultiMatchMeasure::ALL.to_vec(),
        simplification: Some(rule),
    });
    assert_eq!(compare(metric, &a, &b), [Some(1.0); 5]);
    let theirs = simplified(&a, &rule, LastSaccade::Overwrites);
    assert_eq!(theirs.vectors, [[100.0, 0.0], [0.0, 115.0]]);
    // Two aligned pairs of saccades, 0 and 10 apart: a median of 5, divided by twice the diagonal of 500.
    let shape = multimatch(&theirs, &Saccades::of(&b), 500.0)[0].unwrap();
    assert!((shape - (1.0 - 5.0 / 1000.0)).abs() < 1e-12, "{shape}");
}

fn at(x: f64, y: f64, duration: f64) -> Fixation {
    Fixation {
        x,
        y,
        start: None,
        duration,
    }
}

fn compare(metric: Metric, a: &[Fixation], b: &[Fixation]) -> Vec<Option<f64>> {
    let screen = Screen::new(ScreenUnit::Pixels, (300.0, 400.0), None).unwrap();
    let [a, b] = [a, b].map(|list| Fixations::new(list.to_vec()).unwrap());
    let score = FixationComparison::new(metric, screen)
        .unwrap()
        .compare(&a, &b);
    score.unwrap().numbers().collect()
}

fn scasim(center: [f64; 2], modulator: f64) -> Metric {
    Metric::ScaSim(ScaSim {
        view: View {
            center,
            pixel: [1.0 / 30.0; 2],
            distance: 60.0,
        },
        modulator,
        divisor: DurationDivisor::None,
        classes: None,
    })
}

/// The R package scanpath takes the arccosine of a rounded cosine: it gives 500 instead of 100 here, and crashes for a
/// fixation at the centre.
#[test]
fn equal_places_are_zero_degrees_apart() {
    let metric = scasim([640.0, 360.0], 0.83);
    let (a, b) = ([at(177.0, 1.0, 200.0)], [at(177.0, 1.0, 300.0)]);
    assert_eq!(compare(metric.clone(), &a, &b), [Some(100.0)]);
    let (a, b) = ([at(640.0, 360.0, 200.0)], [at(640.0, 360.0, 250.0)]);
    assert_eq!(compare(metric, &a, &b), [Some(50.0)]);
    let strict = scasim([640.0, 360.0], 0.0);
    assert_eq!(compare(strict.clone(), &a, &b), [Some(50.0)]);
    assert_eq!(
        compare(strict, &a, &[at(641.0, 360.0, 250.0)]),
        [Some(450.0)]
    );
}

/// A triangle with sides of 30, 40 and 50 on a screen with a diagonal of 500.
#[test]
fn multimatch_matches_manual_values() {
    let metric = |simplification| {
        Metric::MultiMatch(MultiMatch {
            measures: MultiMatchMeasure::ALL.to_vec(),
            simplification,
        })
    };
    let a = [
        at(0.0, 0.0, 100.0),
        at(30.0, 0.0, 200.0),
        at(30.0, 40.0, 300.0),
    ];
    let b = [
        at(0.0, 0.0, 200.0),
        at(0.0, 30.0, 200.0),
        at(40.0, 30.0, 300.0),
    ];
    // Right 30 and down 40, against down 30 and right 40. The path is diagonal: |(30, −30)|, then |(−40, 40)|.
    let half = f64::midpoint(30.0 * 2f64.sqrt(), 40.0 * 2f64.sqrt()) / 1000.0;
    let position = f64::midpoint(0.0, (30.0f64 * 30.0 * 2.0).sqrt()) / 500.0;
    let expected = [1.0 - half, 0.5, 1.0, 1.0 - position, 0.75];
    for (ours, expected) in compare(metric(None), &a, &b).into_iter().zip(expected) {
        assert!(
            (ours.unwrap() - expected).abs() < 1e-12,
            "{ours:?} {expected}"
        );
    }
    // multimatch-gaze fails on collinear saccades whose cosine rounds to more than 1.
    let rule = Simplification {
        direction: 45.0,
        length: 100.0,
        duration: 300.0,
    };
    let line = [0.1, 0.2, 0.3, 0.4].map(|x| at(x, 3.0 * x, 100.0));
    assert_eq!(compare(metric(Some(rule)), &line, &line), [Some(1.0); 5]);
    assert_eq!(compare(metric(None), &a[..2], &b), [None; 5]);
}

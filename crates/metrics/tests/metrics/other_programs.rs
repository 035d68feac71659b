//! Our own pairs with numbers from other programs, written by `assurance/metrics/vectors.py`.

// Test helpers may panic too.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::fixation_vectors::fixations;
use crate::non_alignment_vectors::{close, crqa};
use std::path::PathBuf;
use veilpath_metrics::{
    Alphabet, Comparison, Dtw, DurationDivisor, Fixation, FixationComparison, Frechet, Grid,
    Hausdorff, Metric, MultiMatch, MultiMatchMeasure, PairScore, PathDivisor, Positions,
    RecurrenceRule, ScaSim, Scanpath, Screen, ScreenUnit, View,
};

const SCREEN: (f64, f64) = (1280.0, 720.0);
const HEADER: &str = "kind,a,b,dtw,frechet,hausdorff,cells_dtw,cells_frechet,cells_hausdorff,shape,direction,length,position,duration,scasim,points,diagonal,along_b,along_a,lcs";

fn distances(positions: Positions) -> [Metric; 3] {
    [
        Metric::Dtw(Dtw {
            positions,
            divisor: PathDivisor::None,
            scale: None,
        }),
        Metric::Frechet(Frechet { positions }),
        Metric::Hausdorff(Hausdorff { positions }),
    ]
}

/// The cells of a 7×7 grid. Points off the screen are moved to the nearest cell.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // clamped
fn letters(list: &[Fixation]) -> Scanpath {
    let cell = |at: f64, size: f64| (at * 7.0 / size).floor().clamp(0.0, 6.0) as u16;
    let letter = |it: &Fixation| cell(it.y, SCREEN.1) * 7 + cell(it.x, SCREEN.0);
    Scanpath::new(list.iter().map(letter).collect())
}

#[test]
fn measures_are_those_of_other_programs() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/metrics/pairs.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(HEADER));
    let screen = Screen::new(ScreenUnit::Pixels, SCREEN, None).unwrap();
    let grid = Grid::new(7, 7).unwrap();
    let alphabet = Alphabet::letters(49).unwrap();
    let (mut rows, mut saccades) = (0, 0);
    for line in lines {
        let row: Vec<String> = line.split(',').map(String::from).collect();
        let [a, b] = [&row[1], &row[2]].map(|text| fixations(text));
        let [first, second] = [&a, &b].map(|path| letters(path.list()));
        let of_fixations = |metric: Metric| -> PairScore {
            let comparison = FixationComparison::new(metric, screen).unwrap();
            comparison.compare(&a, &b).unwrap()
        };
        let of_letters = |metric: Metric| -> f64 {
            let comparison = Comparison::new(metric, alphabet).unwrap();
            comparison.compare(&first, &second).unwrap().score()
        };
        for (metric, theirs) in distances(Positions::Fixations).into_iter().zip(&row[3..]) {
            close(of_fixations(metric).score(), theirs, &row);
        }
        let on_grid = distances(Positions::Grid { grid, wrap: false });
        for (metric, theirs) in on_grid.into_iter().zip(&row[6..]) {
            close(of_letters(metric), theirs, &row);
        }
        let multimatch = Metric::MultiMatch(MultiMatch {
            measures: MultiMatchMeasure::ALL.to_vec(),
            simplification: None,
        });
        for (ours, theirs) in of_fixations(multimatch).numbers().zip(&row[9..14]) {
            match ours {
                None => assert_eq!(theirs, "", "{row:?}"),
                Some(ours) => {
                    close(ours, theirs, &row);
                    saccades += 1;
                }
            }
        }
        let scasim = Metric::ScaSim(ScaSim {
            view: View {
                center: [SCREEN.0 / 2.0, SCREEN.1 / 2.0],
                pixel: [1.0 / 30.0; 2],
                distance: 60.0,
            },
            modulator: 0.83,
            divisor: DurationDivisor::None,
            classes: None,
        });
        close(of_fixations(scasim).score(), &row[14], &row);
        let radius = RecurrenceRule::Within {
            positions: Positions::Fixations,
            radius: 100.0,
        };
        let count = |at: usize| row[at].parse::<f64>().unwrap();
        let recurrence = of_fixations(crqa(radius));
        let points = count(15);
        let share = |of: f64| (points > 0.0).then(|| 100.0 * of / points);
        let expected = [
            Some(100.0 * points / (a.len() * b.len()) as f64),
            share(count(16)),
            share((count(17) + count(18)) / 2.0),
            share(count(17)),
            share(count(18)),
        ];
        for (ours, theirs) in recurrence.numbers().zip(expected) {
            match (ours, theirs) {
                (Some(ours), Some(theirs)) => assert!((ours - theirs).abs() < 1e-9, "{row:?}"),
                (ours, theirs) => assert_eq!(ours, theirs, "{row:?}"),
            }
        }
        close(of_letters(Metric::SequenceScore), &row[19], &row);
        rows += 1;
    }
    assert!(rows > 40 && saccades > 150, "{rows} {saccades}");
}

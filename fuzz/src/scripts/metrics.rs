//! The metrics for scripts.

use veilpath_metrics::{
    Crqa, CrqaMeasure, Dtw, DurationClasses, DurationDivisor, Frechet, Grid, Hausdorff,
    LocalScoring, Metric, PathDivisor, Positions, RecurrenceRule, ScaSim, Undefined, View,
};

/// Letters of the alphabet: few, so that a row of substitution costs fits into a short script.
pub(super) const LETTERS: u32 = 2;

pub(super) fn metric(is_local: bool) -> Metric {
    if !is_local {
        return Metric::Levenshtein;
    }
    Metric::SmithWaterman {
        scoring: LocalScoring::Unit {
            reward: 2.0,
            mismatch: 1.0,
        },
        gap: 1.0,
        scale: None,
    }
}

/// Costs of several bits, so that each letter has its own look-ups.
pub(super) fn scanmatch() -> Option<Metric> {
    Some(Metric::ScanMatch {
        grid: Grid::new(LETTERS, 1)?,
        wrap: false,
        threshold: 1.5,
        gap: 0.0,
        scale: None,
    })
}

/// A metric other than an alignment.
pub(super) fn measure(number: u8) -> Option<Metric> {
    let grid = Grid::new(LETTERS, 1)?;
    let positions = Positions::Grid { grid, wrap: false };
    let crqa = |measures: &[CrqaMeasure]| Crqa {
        rule: RecurrenceRule::SameLetter,
        line: 2,
        measures: measures.to_vec(),
        undefined: Undefined::Zero,
        rounded: true,
    };
    if number % 16 == 8 {
        return Some(Metric::Frechet(Frechet {
            positions: Positions::Cells {
                grid,
                width: 12.5,
                height: 20.0,
            },
        }));
    }
    match number % 8 {
        7 => Some(Metric::ScaSim(ScaSim {
            view: View {
                center: [50.0, 50.0],
                pixel: [0.1, 0.1],
                distance: 60.0,
            },
            modulator: 0.83,
            divisor: DurationDivisor::None,
            classes: Some(DurationClasses {
                grid,
                screen: [100.0, 100.0],
                durations: vec![100.0, 250.0],
                scale: 1,
            }),
        })),
        1 => Some(Metric::SequenceScore),
        2 => Some(Metric::Dtw(Dtw {
            positions,
            divisor: PathDivisor::None,
            scale: Some(1),
        })),
        3 => Some(Metric::Frechet(Frechet { positions })),
        4 => Some(Metric::Hausdorff(Hausdorff { positions })),
        5 => Some(Metric::Crqa(crqa(&[CrqaMeasure::Det]))),
        6 => Some(Metric::Crqa(crqa(&CrqaMeasure::ALL[..3]))),
        _ => None,
    }
}

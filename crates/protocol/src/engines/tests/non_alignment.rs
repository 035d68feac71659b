//! Metrics for testing every engine.

use veilpath_metrics::{
    Crqa, CrqaMeasure, Dtw, DurationClasses, DurationDivisor, Frechet, Grid, Hausdorff, Metric,
    PathDivisor, Positions, RecurrenceRule, ScaSim, Undefined, View,
};

/// Metrics other than alignments.
pub(crate) fn non_alignment_metrics() -> Vec<Metric> {
    let positions = |wrap| Positions::Grid {
        grid: Grid::new(4, 3).unwrap(),
        wrap,
    };
    let dtw = |wrap, divisor, scale| {
        Metric::Dtw(Dtw {
            positions: positions(wrap),
            divisor,
            scale,
        })
    };
    let crqa = |rule, line, measures: &[CrqaMeasure], undefined| {
        Metric::Crqa(Crqa {
            rule,
            line,
            measures: measures.to_vec(),
            undefined,
            rounded: true,
        })
    };
    let near = RecurrenceRule::Within {
        positions: positions(false),
        radius: 1.5,
    };
    let same = RecurrenceRule::SameLetter;
    let [rec, det, lam, lam_rows, lam_columns, corm] = CrqaMeasure::ALL;
    // Six grid cells, two classes of durations.
    let scasim = |divisor| {
        Metric::ScaSim(ScaSim {
            view: View {
                center: [50.0, 50.0],
                pixel: [0.1, 0.1],
                distance: 60.0,
            },
            modulator: 0.83,
            divisor,
            classes: Some(DurationClasses {
                grid: Grid::new(3, 2).unwrap(),
                screen: [100.0, 100.0],
                durations: vec![100.0, 250.0],
                scale: 1,
            }),
        })
    };
    // Twelve cells that are wider than they are high.
    let cells = Positions::Cells {
        grid: Grid::new(4, 3).unwrap(),
        width: 32.5,
        height: 20.25,
    };
    let cells_near = RecurrenceRule::Within {
        positions: cells,
        radius: 33.0,
    };
    vec![
        Metric::Dtw(Dtw {
            positions: cells,
            divisor: PathDivisor::None,
            scale: None,
        }),
        Metric::Frechet(Frechet { positions: cells }),
        Metric::Hausdorff(Hausdorff { positions: cells }),
        crqa(cells_near, 2, &[det], Undefined::Zero),
        scasim(DurationDivisor::None),
        scasim(DurationDivisor::Fixations),
        Metric::SequenceScore,
        dtw(false, PathDivisor::None, None),
        dtw(true, PathDivisor::Lengths, Some(7)),
        dtw(false, PathDivisor::None, Some(1)),
        Metric::Frechet(Frechet {
            positions: positions(false),
        }),
        Metric::Hausdorff(Hausdorff {
            positions: positions(true),
        }),
        crqa(same, 2, &[rec], Undefined::Missing),
        crqa(near, 2, &[det], Undefined::Zero),
        crqa(same, 2, &[rec, det], Undefined::Missing),
        crqa(near, 3, &[lam, rec, det], Undefined::Zero),
        crqa(near, 2, &[lam_columns, lam_rows, det], Undefined::Missing),
        crqa(near, 4, &[corm, lam_rows], Undefined::Missing),
        crqa(near, 2, &[corm], Undefined::Zero),
    ]
}

/// Metrics on fixations that are rounded to grid cells on a screen of 1920 × 1080 pixels, as in the table in `docs/results.md`: a
/// grid of 32 × 18, or for ScaSim a grid of 16 × 9 and five durations.
pub(crate) fn rounded_fixations() -> [Metric; 5] {
    let positions = Positions::Cells {
        grid: Grid::new(32, 18).unwrap(),
        width: 60.0,
        height: 60.0,
    };
    [
        Metric::Dtw(Dtw {
            positions,
            divisor: PathDivisor::None,
            scale: None,
        }),
        Metric::Frechet(Frechet { positions }),
        Metric::Hausdorff(Hausdorff { positions }),
        Metric::Crqa(Crqa {
            rule: RecurrenceRule::Within {
                positions,
                radius: 100.0,
            },
            line: 2,
            measures: vec![CrqaMeasure::Rec, CrqaMeasure::Det],
            undefined: Undefined::Missing,
            rounded: true,
        }),
        Metric::ScaSim(ScaSim {
            view: View {
                center: [960.0, 540.0],
                pixel: [53.0 / 1920.0, 30.0 / 1080.0],
                distance: 60.0,
            },
            modulator: 0.83,
            divisor: DurationDivisor::None,
            classes: Some(DurationClasses {
                grid: Grid::new(16, 9).unwrap(),
                screen: [1920.0, 1080.0],
                durations: vec![100.0, 200.0, 300.0, 500.0, 800.0],
                scale: 1,
            }),
        }),
    ]
}

//! Measures for the tests of every engine.

use veilpath_metrics::{
    Crqa, CrqaOutput, Dtw, Frechet, Grid, Hausdorff, Metric, PathDivisor, Points, RecurrenceRule,
    Undefined,
};

/// Measures other than alignments.
pub(crate) fn measures() -> Vec<Metric> {
    let points = |wrap| Points::Grid {
        grid: Grid::new(4, 3).unwrap(),
        wrap,
    };
    let dtw = |wrap, divisor, scale| {
        Metric::Dtw(Dtw {
            points: points(wrap),
            divisor,
            scale,
        })
    };
    let crqa = |rule, line, outputs: &[CrqaOutput], undefined| {
        Metric::Crqa(Crqa {
            rule,
            line,
            outputs: outputs.to_vec(),
            undefined,
            rounded: true,
        })
    };
    let near = RecurrenceRule::Within {
        points: points(false),
        radius: 1.5,
    };
    let same = RecurrenceRule::SameLetter;
    let [rec, det, lam, lam_rows, lam_columns, corm] = CrqaOutput::ALL;
    vec![
        Metric::SequenceScore,
        dtw(false, PathDivisor::None, None),
        dtw(true, PathDivisor::Lengths, Some(7)),
        dtw(false, PathDivisor::None, Some(1)),
        Metric::Frechet(Frechet {
            points: points(false),
        }),
        Metric::Hausdorff(Hausdorff {
            points: points(true),
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

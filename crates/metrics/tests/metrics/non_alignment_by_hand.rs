//! Metrics other than alignments: values computed by hand, and settings.

// Test helpers may panic too.
#![allow(clippy::unwrap_used, clippy::panic, clippy::cast_precision_loss)]

use crate::non_alignment::{classes, crqa};
use veilpath_metrics::{
    Alphabet, Comparison, Crqa, CrqaMeasure, Dtw, Fixation, Frechet, Grid, Hausdorff, LineMeasure,
    Metric, MetricError, Model, PairScore, PathDivisor, Positions, RATIO_ONE, RecurrenceRule,
    SubsMatch, Undefined, reference,
};

fn compare(metric: Metric, a: &str, b: &str) -> Result<PairScore, MetricError> {
    let alphabet = Alphabet::letters(49).unwrap();
    let [a, b] = [a, b].map(|text| alphabet.parse(text).unwrap());
    Comparison::new(metric, alphabet).unwrap().compare(&a, &b)
}

fn letters(grid: Grid) -> Positions {
    Positions::Grid { grid, wrap: false }
}

/// On a 7×7 grid, A is (0, 0), B (1, 0), H (0, 1), I (1, 1) and O (0, 2).
#[test]
fn distances_match_manual_values() {
    let positions = letters(Grid::default());
    let score = |metric, a, b| compare(metric, a, b).unwrap().score();
    let dtw = |divisor| {
        Metric::Dtw(Dtw {
            positions,
            divisor,
            scale: None,
        })
    };
    // A–A 0, then A–B 1, then H–B √2 or H–I 1: A A | A B | H I.
    assert_eq!(score(dtw(PathDivisor::None), "AH", "ABI"), 2.0);
    assert_eq!(score(dtw(PathDivisor::Lengths), "AH", "ABI"), 0.4);
    // The first points are always paired, and so are the last: A and O are 2 cells apart.
    let frechet = Metric::Frechet(Frechet { positions });
    assert_eq!(score(frechet.clone(), "AO", "OA"), 2.0);
    assert_eq!(score(frechet, "AIA", "A"), 2f64.sqrt());
    // The order does not matter.
    let hausdorff = Metric::Hausdorff(Hausdorff { positions });
    assert_eq!(score(hausdorff.clone(), "AO", "OA"), 0.0);
    assert_eq!(score(hausdorff, "AAAO", "A"), 2.0);
}

/// Rows: A = 1 1 0, B = 0 0 1, A = 1 1 0, B = 0 0 1.
#[test]
fn recurrence_matches_manual_values() {
    let same = crqa(RecurrenceRule::SameLetter, 2);
    let score = compare(Metric::Crqa(same.clone()), "ABAB", "AAB").unwrap();
    // C = 6 of 12. Diagonals: (0,1)(1,2) and (2,1)(3,2): 4 points. Rows: two runs of 2. Columns: none.
    // Σ(j − i): 0 + 1 + 1 − 2 − 1 − 1 = −2, divided by 3·6.
    let expected = [
        50.0,
        400.0 / 6.0,
        400.0 / 12.0,
        400.0 / 6.0,
        0.0,
        -200.0 / 18.0,
    ];
    assert_eq!(score, PairScore::from_numbers(expected.map(Some)));
    // A point without lines gives 0, not missing. (The R package crqa gives NA, and 0 for runs along b that exist.)
    let score = compare(Metric::Crqa(same.clone()), "ABC", "XAAY").unwrap();
    assert_eq!(score.number(1), Some(0.0));
    assert_eq!(score.number(3), Some(100.0));
    // One run of 2 along b, and no diagonal line.
    let mut lines = same.clone();
    lines.measures = LineMeasure::ALL.map(CrqaMeasure::Line).to_vec();
    let score = compare(Metric::Crqa(lines.clone()), "ABC", "XAAY").unwrap();
    let expected = [Some(0.0), Some(0.0), None, None, Some(2.0), None];
    assert!(score.numbers().take(6).eq(expected), "{score:?}");
    assert!(score.numbers().skip(6).eq([Some(2.0), Some(0.0)]));
    // Diagonals of ABAB and ABABC: 4, 2 and 2 points. The shares are 1/3 and 2/3. No lines in rows or columns.
    let score = compare(Metric::Crqa(lines.clone()), "ABAB", "ABABC").unwrap();
    let entropy = 3f64.ln() - 2.0 / 3.0 * 2f64.ln();
    let expected = [3.0, 4.0, 8.0 / 3.0, entropy];
    for (ours, expected) in score.numbers().zip(expected) {
        assert!((ours.unwrap() - expected).abs() < 1e-12, "{score:?}");
    }
    // Undefined numbers count as 0 on request. Line statistics have no integer form.
    lines.undefined = Undefined::Zero;
    let score = compare(Metric::Crqa(lines.clone()), "ABC", "XAAY").unwrap();
    assert_eq!([score.number(2), score.number(5)], [Some(0.0); 2]);
    let alphabet = Alphabet::letters(3).unwrap();
    let comparison = Comparison::new(Metric::Crqa(lines), alphabet).unwrap();
    let letter = alphabet.parse("A").unwrap();
    assert_eq!(
        comparison.raw(&letter, &letter),
        Err(MetricError::NoIntegers)
    );
    // Nothing recurs: only the percentage of points is defined.
    let score = compare(Metric::Crqa(same.clone()), "AB", "CD").unwrap();
    assert!(
        score
            .numbers()
            .eq([Some(0.0), None, None, None, None, None])
    );
    // One letter each: the maximum shift is 0, so there is nothing to divide by.
    let score = compare(Metric::Crqa(same), "A", "A").unwrap();
    assert_eq!((score.number(0), score.number(5)), (Some(100.0), None));
}

#[test]
fn packed_results_have_public_widths() {
    let metric = Metric::Crqa(crqa(RecurrenceRule::SameLetter, 2));
    let alphabet = Alphabet::letters(49).unwrap();
    let comparison = Comparison::new(metric, alphabet).unwrap();
    let Model::Recurrence(model) = comparison.model() else {
        panic!()
    };
    // rec up to 6 in 3 bits, four ratios up to 10,001 in 14 each, corm up to 20,001 in 15.
    let widths: Vec<u32> = model.fields(2, 3).map(|(_, width)| width).collect();
    assert_eq!(widths, [3, 14, 14, 14, 14, 15]);
    assert_eq!(model.bits(2, 3), Err(MetricError::TooManyBits { bits: 74 }));
    let mut fewer = model.clone();
    fewer.measures = vec![CrqaMeasure::Det, CrqaMeasure::Rec, CrqaMeasure::Corm];
    let [a, b] = ["AB", "ABX"].map(|text| alphabet.parse(text).unwrap());
    let counted = reference::recurrent_points(&fewer, &a, &b);
    let expected = RATIO_ONE | 2 << 14 | RATIO_ONE << 17;
    assert_eq!(fewer.raw(&counted, 2, 3), Ok(expected.cast_signed()));
    let undefined = fewer
        .raw(&Default::default(), 2, 3)
        .unwrap()
        .cast_unsigned();
    assert_eq!(undefined, (RATIO_ONE + 1) | (2 * RATIO_ONE + 1) << 17);
}

#[test]
fn empty_scanpaths_are_refused_where_a_measure_is_undefined() {
    let positions = letters(Grid::default());
    let metrics = [
        Metric::Frechet(Frechet { positions }),
        Metric::Hausdorff(Hausdorff { positions }),
        Metric::Crqa(crqa(RecurrenceRule::SameLetter, 2)),
    ];
    for metric in metrics {
        for (a, b) in [("", "A"), ("A", ""), ("", "")] {
            let error = compare(metric.clone(), a, b).unwrap_err();
            assert_eq!(
                error,
                MetricError::EmptyScanpath {
                    metric: metric.name()
                }
            );
        }
    }
    assert_eq!(
        compare(Metric::SequenceScore, "", ""),
        Err(MetricError::EmptyPair)
    );
    assert_eq!(
        compare(Metric::SequenceScore, "", "A").unwrap().score(),
        0.0
    );
}

/// Relative frequencies divide by the number of sequences. axelroques/SubsMatch ignores that there are none: `A` and
/// `B` get 1 with a window of 2, the similarity of equal scanpaths, although they get 0 with a window of 1. And `A`
/// gets 0.5 with `AB` and also with `BC`. No number says what two such scanpaths have in common, so the result is
/// undefined.
#[test]
fn subsmatch_is_undefined_without_sequences() {
    let similarity = |window, a, b| {
        let metric = Metric::SubsMatch(SubsMatch { window });
        compare(metric, a, b).unwrap().number(0)
    };
    assert_eq!(similarity(1, "A", "B"), Some(0.0));
    for (a, b) in [("A", "B"), ("A", "A"), ("A", "AB"), ("A", "BC"), ("", "AB")] {
        assert_eq!(similarity(2, a, b), None, "{a} {b}");
        assert_eq!(similarity(2, b, a), None, "{a} {b}");
    }
    // As long as the window: one sequence each.
    assert_eq!(similarity(2, "AB", "AB"), Some(1.0));
    assert_eq!(similarity(2, "AB", "BA"), Some(0.0));
    // AB, BA and AB, BC: half of the sequences.
    assert_eq!(similarity(2, "ABA", "ABC"), Some(0.5));
}

#[test]
fn settings_are_checked() {
    let alphabet = Alphabet::letters(49).unwrap();
    let refused = |metric| Comparison::new(metric, alphabet).err();
    let within = |radius| RecurrenceRule::Within {
        positions: letters(Grid::default()),
        radius,
    };
    let wrong = [
        Metric::Crqa(crqa(within(-1.0), 2)),
        Metric::Crqa(crqa(within(f64::NAN), 2)),
        Metric::Crqa(crqa(within(1.0), 1)),
        Metric::Crqa(crqa(within(1.0), 65)),
        Metric::Crqa(Crqa {
            measures: Vec::new(),
            ..crqa(within(1.0), 2)
        }),
        Metric::Crqa(Crqa {
            measures: vec![CrqaMeasure::Det; 2],
            ..crqa(within(1.0), 2)
        }),
        Metric::SubsMatch(SubsMatch { window: 0 }),
        Metric::Frechet(Frechet {
            positions: letters(Grid::new(5, 5).unwrap()),
        }),
        Metric::Dtw(Dtw {
            positions: letters(Grid::default()),
            divisor: PathDivisor::None,
            scale: Some(0),
        }),
    ];
    for metric in wrong {
        assert!(refused(metric.clone()).is_some(), "{metric:?}");
    }
}

#[test]
fn durations_to_round_to_are_positive_and_in_ascending_order() {
    let Metric::ScaSim(scasim) = classes() else {
        panic!()
    };
    for durations in [vec![200.0, 100.0], vec![100.0, 100.0], vec![0.0, 100.0]] {
        let mut scasim = scasim.clone();
        scasim.classes.as_mut().unwrap().durations = durations;
        let alphabet = Alphabet::letters(6).unwrap();
        let refused = Comparison::new(Metric::ScaSim(scasim), alphabet).err();
        assert_eq!(refused, Some(MetricError::DurationOrder));
    }
}

#[test]
fn metrics_are_read_as_they_are_written() {
    let positions = letters(Grid::default());
    let metrics = [
        Metric::SequenceScore,
        Metric::Dtw(Dtw {
            positions,
            divisor: PathDivisor::Lengths,
            scale: Some(7),
        }),
        Metric::Frechet(Frechet { positions }),
        Metric::Hausdorff(Hausdorff { positions }),
        Metric::Crqa(crqa(
            RecurrenceRule::Within {
                positions,
                radius: 1.5,
            },
            3,
        )),
        Metric::Crqa(Crqa {
            measures: CrqaMeasure::in_the_clear(),
            ..crqa(RecurrenceRule::SameLetter, 2)
        }),
        Metric::SubsMatch(SubsMatch { window: 3 }),
    ];
    for metric in metrics {
        let text = serde_json::to_string(&metric).unwrap();
        assert!(text.contains(metric.name()), "{text}");
        assert_eq!(
            serde_json::from_str::<Metric>(&text).unwrap(),
            metric,
            "{text}"
        );
    }
}

#[test]
fn fixations_become_letters() {
    let classes = classes().quantisation().unwrap();
    let letter = |x, y, duration| {
        classes.letter(&Fixation {
            x,
            y,
            start: None,
            duration,
        })
    };
    assert_eq!(letter(0.0, 0.0, 0.0), 0);
    // The second column and row: cell 4; 300 ms is nearest to 250.5.
    assert_eq!(letter(640.0, 700.0, 300.0), 4 * 3 + 1);
    // Off the screen, and longer than any class.
    assert_eq!(letter(5000.0, -3.0, 9000.0), 2 * 3 + 2);
}

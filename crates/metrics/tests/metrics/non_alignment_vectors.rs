//! Metrics other than alignments on vectors from other programs; see `shared_vectors`.

// Test helpers may panic too.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::shared_vectors::rows;
use veilpath_metrics::{
    Alphabet, Comparison, Crqa, CrqaMeasure, Dtw, Frechet, Grid, Hausdorff, Metric, Notation,
    PairScore, PathDivisor, Positions, RecurrenceRule, Scanpath, SubsMatch, Undefined,
};

pub(crate) fn close(ours: f64, theirs: &str, context: &[String]) {
    let theirs: f64 = theirs.parse().unwrap();
    let tolerance = 1e-9 * theirs.abs().max(1e-3);
    assert!(
        (ours - theirs).abs() <= tolerance,
        "{ours} {theirs} {context:?}"
    );
}

pub(crate) fn crqa(rule: RecurrenceRule) -> Metric {
    Metric::Crqa(Crqa {
        rule,
        line: 2,
        measures: CrqaMeasure::in_the_clear(),
        undefined: Undefined::Missing,
        rounded: false,
    })
}

/// Checks the numbers of a row of `crqa.csv`. Returns whether the R package reports 0 for runs along b that exist,
/// because there are no diagonal lines.
pub(crate) fn check_recurrence(score: PairScore, row: &[String]) -> bool {
    let column = |at: usize| row[at].as_str();
    let count = |at: usize| column(at).parse::<f64>().unwrap();
    let (m, n) = (count(5), count(6));
    // PyRQA excludes points exactly at the radius.
    let strict = row[1] == "edge:distance exactly 60" && row[4] == "60";
    if !strict {
        let points = count(22);
        let percent = |of: f64| (points > 0.0).then(|| 100.0 * of / points);
        let [diagonal, rows, columns] = [count(23), count(27), count(29)].map(percent);
        let lam = percent((count(27) + count(29)) / 2.0);
        let expected = [Some(100.0 * points / (m * n)), diagonal, lam, rows, columns];
        for (ours, theirs) in score.numbers().zip(expected) {
            match (ours, theirs) {
                (Some(ours), Some(theirs)) => assert!((ours - theirs).abs() <= 1e-9, "{row:?}"),
                (ours, theirs) => assert_eq!(ours, theirs, "{row:?}"),
            }
        }
    }
    close(score.number(0).unwrap(), column(10), row);
    // Without diagonal lines, R's numbers are missing or 0.
    if column(11) != "NA" {
        close(score.number(1).unwrap(), column(11), row);
        close(score.number(3).unwrap(), column(16), row);
        close(score.number(4).unwrap(), column(19), row);
    }
    let line = |name: &str| {
        let all = CrqaMeasure::in_the_clear();
        let place = all.iter().position(|measure| measure.name() == name);
        score.number(place.unwrap())
    };
    if !strict {
        // PyRQA reports 1 as the longest run if there are only isolated points.
        let longest = |at: usize| Some(if count(at) >= 2.0 { count(at) } else { 0.0 });
        let counted = [("lines", Some(count(24))), ("longest", longest(25))];
        let along = [
            ("longest-row", longest(28)),
            ("longest-column", longest(30)),
        ];
        for (name, theirs) in counted.into_iter().chain(along) {
            assert_eq!(line(name), theirs, "{name} {row:?}");
        }
        let mean = (count(24) > 0.0).then(|| count(23) / count(24));
        assert_eq!(line("mean-line"), mean, "{row:?}");
        // PyRQA uses single precision, and reports 0 if there is no entropy.
        let entropy = line("entropy").unwrap_or(0.0);
        assert!((entropy - count(26)).abs() <= 1e-6, "{entropy} {row:?}");
    }
    // Without lines, R reports a mean length of 0 and no entropy.
    close(line("lines").unwrap(), column(12), row);
    close(line("longest").unwrap(), column(13), row);
    close(line("mean-line").unwrap_or(0.0), column(14), row);
    match (line("entropy"), column(15)) {
        (None, theirs) => assert_eq!(theirs, "NA", "{row:?}"),
        (Some(entropy), theirs) => close(entropy, theirs, row),
    }
    let mut lost = false;
    for (mean, longest, at) in [
        ("trapping-rows", "longest-row", 17),
        ("trapping-columns", "longest-column", 20),
    ] {
        match (line(mean), column(at), column(at + 1)) {
            (Some(_), "0", "NA") => lost = true,
            (Some(mean), theirs, their_longest) => {
                close(mean, theirs, row);
                close(line(longest).unwrap(), their_longest, row);
            }
            (None, theirs, their_longest) => {
                assert!(["nan", "NA", "0"].contains(&theirs), "{row:?}");
                assert!(["-inf", "NA"].contains(&their_longest), "{row:?}");
            }
        }
    }
    assert!(!lost || column(11) == "NA", "{row:?}");
    match (column(31), score.number(5)) {
        ("nan" | "", _) => {}
        // FixaTons reports 0 if nothing recurs.
        ("0", None) => assert_eq!(column(22), "0", "{row:?}"),
        (theirs, ours) => close(ours.unwrap(), theirs, row),
    }
    lost
}

pub(crate) const CRQA_HEADER: &str = "id,kind,source,unit,radius,m,n,a,b,call,RR,DET,NRLINE,maxL,L,ENTR,LAM,TT,max_vertlength,LAM_ba,TT_ba,max_vertlength_ba,p_points,p_diag_points,p_diag_lines,p_diag_max,p_diag_entropy,p_along_b_points,p_along_b_max,p_along_a_points,p_along_a_max,corm_fixatons";

#[test]
fn recurrence_of_letters_matches_the_vectors() {
    let Some(rows) = rows("crqa.csv", CRQA_HEADER) else {
        return;
    };
    let alphabet = Alphabet::letters(49).unwrap();
    let comparison = Comparison::new(crqa(RecurrenceRule::SameLetter), alphabet).unwrap();
    let (mut compared, mut lost) = (0, 0);
    for row in rows.iter().filter(|row| row[3] == "cell") {
        let [a, b] = [&row[7], &row[8]].map(|text| alphabet.parse(text).unwrap());
        if a.is_empty() || b.is_empty() {
            continue;
        }
        lost += usize::from(check_recurrence(comparison.compare(&a, &b).unwrap(), row));
        compared += 1;
    }
    assert!(compared > 100, "{compared}");
    // `recurrence_matches_manual_values` has such a pair.
    assert!(lost > 0);
}

#[test]
fn distances_on_grids_match_the_vectors() {
    let header = "id,kind,source,grid,m,n,a,b,dtw,frechet,hausdorff";
    let Some(rows) = rows("geometry_cells.csv", header) else {
        return;
    };
    for row in &rows {
        let grid: Grid = row[3].parse().unwrap();
        let positions = Positions::Grid { grid, wrap: false };
        let alphabet = Alphabet::new(Notation::Numbers, grid.cells()).unwrap();
        let [a, b] = [&row[6], &row[7]].map(|text| {
            let cell = |text: &str| {
                let (column, row) = text.split_once(' ').unwrap();
                let [column, row] = [column, row].map(|text| text.parse::<u32>().unwrap());
                u16::try_from(row * grid.columns() + column).unwrap()
            };
            Scanpath::new(text.split(';').map(cell).collect())
        });
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
        for (metric, theirs) in metrics.into_iter().zip(&row[8..]) {
            let comparison = Comparison::new(metric, alphabet).unwrap();
            close(comparison.compare(&a, &b).unwrap().score(), theirs, row);
        }
    }
    assert!(rows.len() > 100);
}

#[test]
fn sequence_scores_match_the_vectors() {
    let header = "id,kind,source,a,b,lcs,sequence_score,lcs_over_max,lcs_dice,levenshtein,levenshtein_similarity,osa,damerau_levenshtein,gazeplotter_levenshtein,gazeplotter_nw";
    let Some(rows) = rows("strings_7x7.csv", header) else {
        return;
    };
    let alphabet = Alphabet::letters(49).unwrap();
    let comparison = Comparison::new(Metric::SequenceScore, alphabet).unwrap();
    for row in &rows {
        let [a, b] = [&row[3], &row[4]].map(|text| alphabet.parse(text).unwrap());
        let score = comparison.compare(&a, &b).unwrap().score();
        close(score, &row[7], row);
        // Single precision.
        let single: f64 = row[6].parse().unwrap();
        assert!((score - single).abs() < 1e-6, "{row:?}");
    }
    assert!(rows.len() > 100);
}

#[test]
fn subsmatch_matches_the_vectors() {
    let header = "id,kind,source,a,b,w1,w2,w3,w4,w5";
    let Some(rows) = rows("subsmatch_7x7.csv", header) else {
        return;
    };
    let alphabet = Alphabet::letters(49).unwrap();
    let (mut compared, mut undefined) = (0, 0);
    for row in &rows {
        let [a, b] = [&row[3], &row[4]].map(|text| alphabet.parse(text).unwrap());
        for window in 1..=5 {
            let metric = Metric::SubsMatch(SubsMatch { window });
            let ours = Comparison::new(metric, alphabet)
                .unwrap()
                .compare(&a, &b)
                .unwrap();
            let theirs: f64 = row[4 + window as usize].parse().unwrap();
            match ours.number(0) {
                Some(ours) => {
                    assert!((ours - theirs).abs() <= 1e-12, "{row:?}");
                    compared += 1;
                }
                // Undefined: see `subsmatch_is_undefined_without_sequences`. The other program gives ½ Σ f of the
                // scanpath that has sequences, or 1 minus nothing.
                None => {
                    let neither = a.len().max(b.len()) < window as usize;
                    let expected = if neither { 1.0 } else { 0.5 };
                    assert!((theirs - expected).abs() < 1e-12, "{row:?}");
                    undefined += 1;
                }
            }
        }
    }
    assert!(compared > 500, "{compared}");
    assert!(undefined > 10, "{undefined}");
}

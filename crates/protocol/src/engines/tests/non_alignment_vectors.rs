//! The proven engines compute the same metrics as other programs; see `vectors`.

use super::vectors::{Part, numbers, rows};
use super::*;
use std::collections::BTreeMap;
use veilpath_metrics::{
    Crqa, CrqaMeasure, Dtw, Frechet, Hausdorff, PathDivisor, Positions, RecurrenceRule, Undefined,
};

fn letters() -> Alphabet {
    Alphabet::letters(49).unwrap()
}

fn parsed(row: &[String], columns: [usize; 2]) -> [Scanpath; 2] {
    columns.map(|column| letters().parse(&row[column]).unwrap())
}

#[test]
fn sequence_scores_match_the_vectors() {
    let header = "id,kind,source,a,b,lcs,sequence_score,lcs_over_max,lcs_dice,levenshtein,levenshtein_similarity,osa,damerau_levenshtein,gazeplotter_levenshtein,gazeplotter_nw";
    let Some(rows) = rows("strings_7x7.csv", header) else {
        return;
    };
    let pairs: Vec<_> = rows.iter().map(|row| parsed(row, [3, 4])).collect();
    for engine in Engine::PROVEN {
        let scores = numbers(engine, &pairs, &Metric::SequenceScore, letters());
        for (row, score) in rows.iter().zip(scores) {
            let expected: f64 = row[7].parse().unwrap();
            let off = (score[0].unwrap() - expected).abs();
            assert!(off < 1e-12, "{engine:?}: {score:?} {row:?}");
        }
    }
    assert!(rows.len() > 100);
}

#[test]
fn distances_on_grids_match_the_vectors() {
    distances_match_the_vectors(Part::Short);
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn distances_of_the_other_rows_match_the_vectors() {
    distances_match_the_vectors(Part::Rest);
}

fn distances_match_the_vectors(part: Part) {
    let header = "id,kind,source,grid,m,n,a,b,dtw,frechet,hausdorff";
    let Some(rows) = rows("geometry_cells.csv", header) else {
        return;
    };
    assert!(rows.len() > 100);
    let rows = part.of(rows);
    let mut by_grid: BTreeMap<&str, Vec<&Vec<String>>> = BTreeMap::new();
    for row in &rows {
        by_grid.entry(&row[3]).or_default().push(row);
    }
    for (grid, rows) in by_grid {
        let grid: Grid = grid.parse().unwrap();
        let alphabet = Alphabet::new(Notation::Numbers, grid.cells()).unwrap();
        let cell = |text: &str| {
            let (column, row) = text.split_once(' ').unwrap();
            let [column, row] = [column, row].map(|text| text.parse::<u32>().unwrap());
            u16::try_from(row * grid.columns() + column).unwrap()
        };
        let scanpath = |text: &String| Scanpath::new(text.split(';').map(cell).collect());
        let pairs: Vec<_> = rows
            .iter()
            .map(|row| [&row[6], &row[7]].map(scanpath))
            .collect();
        let positions = Positions::Grid { grid, wrap: false };
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
        for engine in Engine::PROVEN {
            for (number, metric) in metrics.iter().enumerate() {
                let scores = numbers(engine, &pairs, metric, alphabet);
                for ((row, [a, b]), score) in rows.iter().zip(&pairs).zip(scores) {
                    // Distances are added in hundredths of a cell, and otherwise only compared.
                    let bound = match number {
                        0 => dtw.error_bound(a.len(), b.len()),
                        _ => 0.0,
                    };
                    let expected: f64 = row[8 + number].parse().unwrap();
                    let off = (score[0].unwrap() - expected).abs();
                    assert!(off <= bound + 1e-9, "{engine:?}: {score:?} {row:?}");
                }
            }
        }
    }
}

/// PyRQA's counts, as fractions of points rounded to 0.01 %.
#[test]
fn recurrence_of_letters_matches_the_vectors() {
    let header = "id,kind,source,unit,radius,m,n,a,b,call,RR,DET,NRLINE,maxL,L,ENTR,LAM,TT,max_vertlength,LAM_ba,TT_ba,max_vertlength_ba,p_points,p_diag_points,p_diag_lines,p_diag_max,p_diag_entropy,p_along_b_points,p_along_b_max,p_along_a_points,p_along_a_max,corm_fixatons";
    let Some(mut rows) = rows("crqa.csv", header) else {
        return;
    };
    rows.retain(|row| row[3] == "cell");
    let pairs: Vec<_> = rows.iter().map(|row| parsed(row, [7, 8])).collect();
    let [rec, det, lam, lam_rows, lam_columns, corm] = CrqaMeasure::ALL;
    for engine in Engine::PROVEN {
        for measures in [vec![rec, det, lam, corm], vec![lam_rows, lam_columns]] {
            let metric = Metric::Crqa(Crqa {
                rule: RecurrenceRule::SameLetter,
                line: 2,
                measures: measures.clone(),
                undefined: Undefined::Missing,
                rounded: true,
            });
            let found = numbers(engine, &pairs, &metric, letters());
            for (row, found) in rows.iter().zip(found) {
                let count = |at: usize| row[at].parse::<f64>().unwrap();
                let percent = |of: f64| (count(22) > 0.0).then(|| 100.0 * of / count(22));
                for (&measure, found) in measures.iter().zip(found) {
                    let expected = if measure == rec {
                        Some(100.0 * count(22) / (count(5) * count(6)))
                    } else if measure == det {
                        percent(count(23))
                    } else if measure == lam {
                        percent((count(27) + count(29)) / 2.0)
                    } else if measure == lam_rows {
                        percent(count(27))
                    } else if measure == lam_columns {
                        percent(count(29))
                    } else {
                        // FixaTons, for equal lengths; 0 if nothing recurs.
                        match row[31].parse::<f64>() {
                            Ok(corm) if !corm.is_nan() && count(22) > 0.0 => Some(corm),
                            _ => continue,
                        }
                    };
                    let same = match (found, expected) {
                        (Some(found), Some(expected)) => (found - expected).abs() <= 0.005 + 1e-9,
                        (found, expected) => found == expected,
                    };
                    assert!(same, "{engine:?} {measure:?}: {found:?} {row:?}");
                }
            }
        }
    }
    assert!(rows.len() > 100);
}

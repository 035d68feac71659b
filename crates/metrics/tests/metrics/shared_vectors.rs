//! Vectors from other programs, in a folder next to the repository. If it is missing, the tests print that they are
//! skipped and pass. `VEILPATH_SHARED` selects another folder.

// Test helpers may panic too.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation
)]

use std::path::PathBuf;
use veilpath_metrics::{
    Alphabet, Comparison, Distance, Grid, LocalScoring, Metric, Substitution, Table,
};

/// The rows of a file after its header, which is checked.
pub(crate) fn rows(name: &str, header: &str) -> Option<Vec<Vec<String>>> {
    let shared = std::env::var_os("VEILPATH_SHARED").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
        PathBuf::from,
    );
    let path = shared.join("vectors").join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("skipped: there is no {}", path.display());
        return None;
    };
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some(header), "the header of {name}");
    Some(
        lines
            .map(|line| line.split(',').map(String::from).collect())
            .collect(),
    )
}

fn grid() -> Grid {
    Grid::new(7, 7).unwrap()
}

/// A table over the 7×7 grid, computed from the distance times 100, rounded.
fn table(value: impl Fn(f64) -> f64) -> Table {
    let cells = || 0..49u16;
    let values = cells()
        .flat_map(|a| cells().map(move |b| (a, b)))
        .map(|(a, b)| value((100.0 * grid().distance(Distance::Euclidean, a, b)).round()))
        .collect();
    Table::new(49, values).unwrap()
}

fn costs(substitution: Substitution, insert: f64, delete: f64) -> Metric {
    Metric::NeedlemanWunsch {
        substitution,
        insert,
        delete,
        scale: None,
    }
}

#[test]
fn eight_scores_of_150_pairs_match_the_vectors() {
    let header = "a,b,levenshtein,weighted_ins1_del2_sub3,nw_manhattan_gap2,nw_index_gap5,nw_euclid100_gap150,nw_match2_mismatch1_gap1,sw_match2_mismatch1_gap1,sw_euclid_350_minus_100d_gap100";
    let Some(rows) = rows("alignment_7x7.csv", header) else {
        return;
    };
    let unit = LocalScoring::Unit {
        reward: 2.0,
        mismatch: 1.0,
    };
    let signed = LocalScoring::Table {
        table: table(|distance| 350.0 - distance),
    };
    let local = |scoring, gap| Metric::SmithWaterman {
        scoring,
        gap,
        scale: None,
    };
    let metrics = [
        Metric::Levenshtein,
        costs(Substitution::Unit { mismatch: 3.0 }, 1.0, 2.0),
        costs(Substitution::on_grid(grid(), Distance::Manhattan), 2.0, 2.0),
        costs(Substitution::Index, 5.0, 5.0),
        costs(
            Substitution::Table {
                table: table(|distance| distance),
            },
            150.0,
            150.0,
        ),
        Metric::NeedlemanWunschScore {
            reward: 2.0,
            mismatch: 1.0,
            gap: 1.0,
            scale: None,
        },
        local(unit, 1.0),
        local(signed, 100.0),
    ];
    let alphabet = Alphabet::letters(49).unwrap();
    let names: Vec<&str> = header.split(',').skip(2).collect();
    for (column, metric) in metrics.into_iter().enumerate() {
        let comparison = Comparison::new(metric, alphabet).unwrap();
        for (line, row) in rows.iter().enumerate() {
            let [a, b] = [&row[0], &row[1]].map(|text| alphabet.parse(text).unwrap());
            let expected: f64 = row[column + 2].parse().unwrap();
            let score = comparison.compare(&a, &b).unwrap().score();
            assert_eq!(score, expected, "{} in line {}", names[column], line + 2);
        }
    }
    assert_eq!(rows.len(), 150);
}

#[test]
fn scanmatch_matches_what_the_toolbox_prints() {
    let Some(rows) = rows("scanmatch_matlab_3x6_T1_g-0.5.csv", "a,b,score") else {
        return;
    };
    let alphabet = Alphabet::letters(18).unwrap();
    let metric = Metric::ScanMatch {
        grid: Grid::new(3, 6).unwrap(),
        wrap: false,
        threshold: 1.0,
        gap: -0.5,
        scale: None,
    };
    let comparison = Comparison::new(metric, alphabet).unwrap();
    for (line, row) in rows.iter().enumerate() {
        let [a, b] = [&row[0], &row[1]].map(|text| alphabet.parse(text).unwrap());
        let printed: f64 = row[2].parse().unwrap();
        let score = comparison.compare(&a, &b).unwrap().score();
        // Five significant digits are printed: allow half a unit of the fifth.
        let fifth = 10f64.powf(printed.abs().max(1e-9).log10().floor() - 4.0);
        assert!(
            (score - printed).abs() <= 0.500_001 * fifth,
            "line {}: {score} is not {printed}",
            line + 2
        );
    }
    assert_eq!(rows.len(), 400);
}

/// Compares integers of the automatic scale with double precision on every pair in the files.
#[test]
fn scanmatch_in_integers_is_within_its_bound() {
    let files = [
        (
            "scanmatch_matlab_3x6_T1_g-0.5.csv",
            "a,b,score",
            Grid::new(3, 6).unwrap(),
            18,
        ),
        (
            "alignment_7x7.csv",
            "a,b,levenshtein,weighted_ins1_del2_sub3,nw_manhattan_gap2,nw_index_gap5,nw_euclid100_gap150,nw_match2_mismatch1_gap1,sw_match2_mismatch1_gap1,sw_euclid_350_minus_100d_gap100",
            grid(),
            49,
        ),
    ];
    for (name, header, grid, letters) in files {
        let Some(rows) = rows(name, header) else {
            return;
        };
        let alphabet = Alphabet::letters(letters).unwrap();
        for (threshold, gap) in [(3.5, 0.0), (1.0, -0.5), (2.6, 0.9)] {
            let double = Metric::ScanMatch {
                grid,
                wrap: false,
                threshold,
                gap,
                scale: None,
            };
            let exact = Comparison::new(double.clone(), alphabet).unwrap();
            for precision in [1e-1, 1e-3, 1e-5] {
                let metric = double.clone().with_automatic_scale(precision).unwrap();
                let bound = metric.error_bound().unwrap();
                assert!(bound < precision);
                let integers = Comparison::new(metric, alphabet).unwrap();
                for row in &rows {
                    let [a, b] = [&row[0], &row[1]].map(|text| alphabet.parse(text).unwrap());
                    if a.is_empty() && b.is_empty() {
                        continue;
                    }
                    let [x, y] = [&exact, &integers].map(|by| by.compare(&a, &b).unwrap().score());
                    assert!((x - y).abs() <= bound + 1e-12, "{x} {y} {bound} in {name}");
                }
            }
        }
    }
}

//! Runs the proven engines on vectors from other programs, in a folder next to the repository. Without that folder, the
//! tests print that they are skipped, and pass. `VEILPATH_SHARED` sets another folder.

#![allow(clippy::print_stderr)] // a skipped test must be seen

use super::*;
use std::path::PathBuf;

/// The rows of a file after its header, which is checked.
pub(super) fn rows(name: &str, header: &str) -> Option<Vec<Vec<String>>> {
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
    let row = |line: &str| line.split(',').map(String::from).collect();
    Some(lines.map(row).collect())
}

/// Which rows a test compares: a tenth of them in the short test, and the others in the long one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Short,
    Rest,
}

impl Part {
    pub(super) fn of(self, rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
        let is_short = |number: usize| number.is_multiple_of(10);
        let rows = rows.into_iter().enumerate();
        rows.filter(|(number, _)| is_short(*number) == (self == Self::Short))
            .map(|(_, row)| row)
            .collect()
    }
}

/// A cohort whose scanpaths are each compared with the one at the same place.
fn by_row(scanpaths: impl Iterator<Item = Scanpath>, alphabet: Alphabet) -> Cohort {
    let entry = |(line, scanpath): (usize, Scanpath)| Entry {
        participant: "p".into(),
        group: None,
        stimulus: Some(line.to_string()),
        scanpath,
        fixations: None,
    };
    Cohort {
        alphabet,
        encoding: Encoding::default(),
        screen: None,
        entries: scanpaths.enumerate().map(entry).collect(),
    }
}

/// The numbers of each row.
pub(super) fn numbers(
    engine: Engine,
    pairs: &[[Scanpath; 2]],
    metric: &Metric,
    alphabet: Alphabet,
) -> Vec<Vec<Option<f64>>> {
    let side = |at: usize| by_row(pairs.iter().map(|pair| pair[at].clone()), alphabet);
    let (a, b) = (side(0), side(1));
    let spec = Spec::new(engine, metric.clone(), PairRule::SameStimulus, &a, &b).unwrap();
    let outcome = compare_locally(spec, &a, &b, &()).unwrap();
    assert_eq!(outcome.results.len(), pairs.len());
    let results = outcome.results.iter();
    results
        .map(|pair| pair.values.iter().map(|value| value.number()).collect())
        .collect()
}

/// The score of each row.
fn scores(engine: Engine, rows: &[Vec<String>], metric: &Metric, alphabet: Alphabet) -> Vec<f64> {
    let pairs: Vec<[Scanpath; 2]> = rows
        .iter()
        .map(|row| [&row[0], &row[1]].map(|text| alphabet.parse(text).unwrap()))
        .collect();
    let numbers = numbers(engine, &pairs, metric, alphabet);
    numbers.iter().map(|pair| pair[0].unwrap()).collect()
}

#[test]
fn eight_scores_of_15_pairs_match_the_vectors() {
    eight_scores_match_the_vectors(Part::Short);
}

#[test]
#[ignore = "takes half a minute; .ci/full runs it"]
fn eight_scores_of_135_more_pairs_match_the_vectors() {
    eight_scores_match_the_vectors(Part::Rest);
}

fn eight_scores_match_the_vectors(part: Part) {
    let header = "a,b,levenshtein,weighted_ins1_del2_sub3,nw_manhattan_gap2,nw_index_gap5,nw_euclid100_gap150,nw_match2_mismatch1_gap1,sw_match2_mismatch1_gap1,sw_euclid_350_minus_100d_gap100";
    let Some(rows) = rows("alignment_7x7.csv", header) else {
        return;
    };
    assert_eq!(rows.len(), 150);
    let rows = part.of(rows);
    let grid = Grid::new(7, 7).unwrap();
    let table = |value: &dyn Fn(f64) -> f64| {
        let cells = || 0..49u16;
        let values = cells()
            .flat_map(|a| cells().map(move |b| (a, b)))
            .map(|(a, b)| value((100.0 * grid.distance(Distance::Euclidean, a, b)).round()))
            .collect();
        Table::new(49, values).unwrap()
    };
    let costs = |substitution, insert, delete| Metric::NeedlemanWunsch {
        substitution,
        insert,
        delete,
        scale: None,
    };
    let local = |scoring, gap| Metric::SmithWaterman {
        scoring,
        gap,
        scale: None,
    };
    let distances = Substitution::Table {
        table: table(&|distance| distance),
    };
    let unit = LocalScoring::Unit {
        reward: 2.0,
        mismatch: 1.0,
    };
    let signed = LocalScoring::Table {
        table: table(&|distance| 350.0 - distance),
    };
    let metrics = [
        Metric::Levenshtein,
        costs(Substitution::Unit { mismatch: 3.0 }, 1.0, 2.0),
        costs(Substitution::on_grid(grid, Distance::Manhattan), 2.0, 2.0),
        costs(Substitution::Index, 5.0, 5.0),
        costs(distances, 150.0, 150.0),
        Metric::NeedlemanWunschScore {
            reward: 2.0,
            mismatch: 1.0,
            gap: 1.0,
            scale: None,
        },
        local(unit, 1.0),
        local(signed, 100.0),
    ];
    let names: Vec<&str> = header.split(',').skip(2).collect();
    for engine in Engine::PROVEN {
        for (number, metric) in metrics.iter().enumerate() {
            let scores = scores(engine, &rows, metric, Alphabet::letters(49).unwrap());
            for (row, score) in rows.iter().zip(scores) {
                let expected: f64 = row[number + 2].parse().unwrap();
                let what = format!("{engine:?}: {} of {row:?}", names[number]);
                assert_eq!(score, expected, "{what}");
            }
        }
    }
}

#[test]
fn scanmatch_matches_what_the_toolbox_prints() {
    scanmatch_matches_the_toolbox(Part::Short);
}

#[test]
#[ignore = "takes ten seconds; .ci/full runs it"]
fn scanmatch_of_the_other_pairs_matches_what_the_toolbox_prints() {
    scanmatch_matches_the_toolbox(Part::Rest);
}

fn scanmatch_matches_the_toolbox(part: Part) {
    let Some(rows) = rows("scanmatch_matlab_3x6_T1_g-0.5.csv", "a,b,score") else {
        return;
    };
    assert_eq!(rows.len(), 400);
    let rows = part.of(rows);
    let scanmatch = |scale| Metric::ScanMatch {
        grid: Grid::new(3, 6).unwrap(),
        wrap: false,
        threshold: 1.0,
        gap: -0.5,
        scale,
    };
    let alphabet = Alphabet::letters(18).unwrap();
    let automatic = scanmatch(None).with_automatic_scale(1e-3).unwrap();
    let bound = automatic.error_bound().unwrap();
    assert!(bound < 1e-3);
    let double = scores(Engine::Plain, &rows, &scanmatch(None), alphabet);
    for engine in Engine::PROVEN {
        let exact = scores(engine, &rows, &scanmatch(Some(1_000_000.0)), alphabet);
        for (row, score) in rows.iter().zip(&exact) {
            let printed: f64 = row[2].parse().unwrap();
            // Five significant digits are printed: half a unit of the fifth, plus the effect of a millionth per letter.
            let fifth = 10f64.powf(printed.abs().max(1e-9).log10().floor() - 4.0);
            assert!(
                (score - printed).abs() <= 0.500_001 * fifth + 2e-6,
                "{engine:?}: {score} is not {printed}: {row:?}"
            );
        }
        for (score, double) in scores(engine, &rows, &scanmatch(None), alphabet)
            .iter()
            .zip(&double)
        {
            assert!(
                (score - double).abs() <= bound,
                "{engine:?}: {score} {double}"
            );
        }
    }
}

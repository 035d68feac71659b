//! Values computed by other programs.

// Test helpers may panic too.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation
)]

use veilpath_metrics::{
    Alphabet, Comparison, Distance, Grid, LocalScoring, Metric, Notation, PairScore, Scanpath,
    Substitution, temporal_repeats,
};

/// Three viewers of one picture on a 7×7 grid.
const SEVEN: [&str; 3] = [
    "IKKDPPqtggvbbbSSGGS",
    "RPKDPPqqtggvbGSS",
    "QRSSSGibvnggttqWPPKD",
];

/// The same viewers on a 12×8 grid, by cell number.
const TWELVE: [&str; 3] = [
    "15 18 18 18 27 27 85 89 55 55 93 47 47 58 32 31 23 11 32",
    "41 26 18 6 27 26 85 85 89 55 55 93 58 11 31 31",
    "40 42 31 32 32 11 58 58 93 80 67 55 89 89 85 38 26 26 18 18",
];

/// The pairs 1-2, 1-3 and 2-3.
fn pair_scores(metric: Metric, alphabet: Alphabet, texts: [&str; 3]) -> [PairScore; 3] {
    let paths = texts.map(|text| alphabet.parse(text).unwrap());
    let comparison = Comparison::new(metric, alphabet).unwrap();
    [(0, 1), (0, 2), (1, 2)].map(|(i, j)| comparison.compare(&paths[i], &paths[j]).unwrap())
}

fn seven(metric: Metric) -> [f64; 3] {
    pair_scores(metric, Alphabet::letters(49).unwrap(), SEVEN).map(|pair_score| pair_score.score())
}

fn needleman_wunsch(substitution: Substitution, gap: f64) -> Metric {
    Metric::NeedlemanWunsch {
        substitution,
        insert: gap,
        delete: gap,
        scale: None,
    }
}

fn scanmatch(columns: u32, rows: u32) -> Metric {
    Metric::ScanMatch {
        grid: Grid::new(columns, rows).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    }
}

#[test]
fn distances_match_other_programs() {
    assert_eq!(seven(Metric::Levenshtein), [8.0, 19.0, 17.0]);
    let index = needleman_wunsch(Substitution::Index, 5.0);
    assert_eq!(seven(index), [49.0, 104.0, 88.0]);
    let grid = Grid::new(7, 7).unwrap();
    let manhattan = Substitution::on_grid(grid, Distance::Manhattan);
    assert_eq!(seven(needleman_wunsch(manhattan, 2.0)), [18.0, 53.0, 48.0]);
}

#[test]
fn scores_match_other_programs() {
    let global = Metric::NeedlemanWunschScore {
        reward: 2.0,
        mismatch: 1.0,
        gap: 1.0,
        scale: None,
    };
    assert_eq!(seven(global), [16.0, -15.0, -11.0]);
    let local = Metric::SmithWaterman {
        scoring: LocalScoring::Unit {
            reward: 2.0,
            mismatch: 1.0,
        },
        gap: 1.0,
        scale: None,
    };
    assert_eq!(seven(local), [21.0, 6.0, 6.0]);
}

#[test]
fn scanmatch_scores_match_other_programs() {
    let near = |scores: [f64; 3], expected: [f64; 3]| {
        for (score, expected) in scores.into_iter().zip(expected) {
            assert!(
                (score - expected).abs() < 1e-12,
                "{score} is not {expected}"
            );
        }
    };
    near(
        seven(scanmatch(7, 7)),
        [0.679_690_780_756, 0.326_728_711_364, 0.311_217_476_541],
    );
    let numbers = Alphabet::new(Notation::Numbers, 96).unwrap();
    near(
        pair_scores(scanmatch(12, 8), numbers, TWELVE).map(|pair_score| pair_score.score()),
        [0.617_831_375_002, 0.258_243_134_648, 0.230_499_168_829],
    );
}

#[test]
fn notation_does_not_change_a_score() {
    let numbers = Alphabet::new(Notation::Numbers, 96).unwrap();
    let double = Alphabet::for_grid(&Grid::new(12, 8).unwrap()).unwrap();
    let written = TWELVE.map(|text| double.format(&numbers.parse(text).unwrap()));
    let written = written.each_ref().map(String::as_str);
    assert_eq!(
        pair_scores(scanmatch(12, 8), double, written),
        pair_scores(scanmatch(12, 8), numbers, TWELVE)
    );
}

/// The toolbox counts the two letters of a cell modulo the number of grid columns: every cell of the first string is
/// one row away from the corresponding cell of the second. The toolbox gives 0.714.
#[test]
fn strings_of_the_scanmatch_toolbox_have_its_scores() {
    let double = Alphabet::for_grid(&Grid::new(12, 8).unwrap()).unwrap();
    let (a, b) = (
        double.parse("aFaFcF").unwrap(),
        double.parse("bFbFbF").unwrap(),
    );
    let score = Comparison::new(scanmatch(12, 8), double).unwrap();
    let score = score.compare(&a, &b).unwrap().score();
    assert!((score - 2.5 / 3.5).abs() < 1e-9, "{score}");
}

/// Computed by hand.
#[test]
fn small_cases_match_manual_values() {
    let alphabet = Alphabet::letters(52).unwrap();
    let compare = |metric: Metric, a: &str, b: &str| {
        let (a, b) = (alphabet.parse(a).unwrap(), alphabet.parse(b).unwrap());
        Comparison::new(metric, alphabet).unwrap().compare(&a, &b)
    };
    let weighted = Metric::NeedlemanWunsch {
        substitution: Substitution::Unit { mismatch: 3.0 },
        insert: 1.0,
        delete: 2.0,
        scale: None,
    };
    assert_eq!(compare(weighted.clone(), "AB", "").unwrap().score(), 4.0);
    assert_eq!(compare(weighted.clone(), "", "AB").unwrap().score(), 2.0);
    assert_eq!(compare(weighted.clone(), "A", "B").unwrap().score(), 3.0);
    assert_eq!(compare(weighted, "ABC", "BC").unwrap().score(), 2.0);
    let halves = needleman_wunsch(Substitution::Unit { mismatch: 0.25 }, 0.5);
    assert_eq!(compare(halves, "ABCD", "ABXDE").unwrap().score(), 0.75);
    let empty = compare(Metric::Levenshtein, "", "").unwrap();
    assert_eq!((empty.score(), empty.similarity()), (0.0, Some(1.0)));
    let far = compare(Metric::Levenshtein, "AAAA", "BB").unwrap();
    assert_eq!((far.score(), far.similarity()), (4.0, Some(0.0)));
}

#[test]
fn temporal_binning_rounds_halves_up() {
    let repeats = |duration| temporal_repeats(duration, 100.0);
    assert_eq!(
        [0.0, 49.9, 50.0, 149.9, 150.0, 250.0, 1000.0].map(repeats),
        [0, 0, 1, 1, 2, 3, 10]
    );
    assert_eq!([-200.0, f64::NAN].map(repeats), [0, 0]);
    // A bin of 0 ms gives no letters and does not exhaust memory.
    assert_eq!(temporal_repeats(100.0, 0.0), 0);
    assert_eq!(temporal_repeats(f64::INFINITY, 100.0), 0);
    assert_eq!(Scanpath::new(vec![7; repeats(300.0)]).letters(), [7, 7, 7]);
}

use super::*;
use crate::{Engine, PairRule, Role};
use veilpath_metrics::{
    Alphabet, Cohort, Crqa, CrqaMeasure, Dtw, Encoding, Frechet, Grid, Hausdorff, Metric,
    PathDivisor, Positions, RecurrenceRule, Substitution, Table, Threshold, Undefined,
};

fn limit(metric: Metric, letters: u32) -> DefaultLimit {
    DefaultLimit::new(&spec(metric, letters), Some(letters)).unwrap()
}

fn spec(metric: Metric, letters: u32) -> Spec {
    let cohort = Cohort {
        alphabet: Alphabet::letters(letters).unwrap(),
        encoding: Encoding::default(),
        screen: None,
        entries: Vec::new(),
    };
    Spec::new(Engine::Garbled, metric, PairRule::All, &cohort, &cohort).unwrap()
}

fn index(gap: f64) -> Metric {
    Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: gap,
        delete: gap,
        scale: None,
    }
}

#[test]
fn limits_match_known_values() {
    let of = |metric, letters, length| limit(metric, letters).comparisons(length);
    assert_eq!(of(Metric::Levenshtein, 26, 20), 9);
    assert_eq!(of(index(1.0), 26, 20), 7);
    assert_eq!(of(index(1000.0), 26, 20), 2);
    let scanmatch = Metric::ScanMatch {
        grid: Grid::new(7, 7).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    };
    let lengths = [5, 10, 20, 40, 80];
    let all = lengths.map(|length| of(scanmatch.clone(), 49, length));
    assert_eq!(all, [1, 2, 4, 7, 14]);
    let all = lengths.map(|length| of(Metric::Levenshtein, 49, length));
    assert_eq!(all, [4, 7, 11, 18, 32]);
    // One score can reveal more than half of three letters.
    assert_eq!(of(scanmatch, 49, 3), 0);
    let small = Metric::ScanMatch {
        grid: Grid::new(6, 5).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    };
    let bound = limit(small, 26).bound(20);
    assert!((bound - 6.7).abs() < 0.05, "{bound}");
    let mut bit = spec(Metric::Levenshtein, 26);
    bit.reveal = Reveal::Threshold(Threshold::new(12.0).unwrap());
    let bit_limit = DefaultLimit::new(&bit, Some(26)).unwrap();
    assert_eq!(bit_limit.comparisons(20), 10);
    // A group out of 32 has five bits.
    bit.reveal = "nearest:5".parse().unwrap();
    let nearest = DefaultLimit::new(&bit, Some(26)).unwrap();
    assert_eq!(nearest.comparisons(20), 9);
}

/// With rounded fixations, a fine grid makes answers longer, but a letter counts for no more than on a coarse grid.
#[test]
fn rounded_fixations_have_the_limit_of_their_longest_answers() {
    let dtw = |columns: u32, rows: u32| {
        Metric::Dtw(Dtw {
            positions: Positions::Cells {
                grid: Grid::new(columns, rows).unwrap(),
                width: 1920.0 / f64::from(columns),
                height: 1080.0 / f64::from(rows),
            },
            divisor: PathDivisor::None,
            scale: Some(1),
        })
    };
    let rule = |metric: Metric, declared| {
        let mut spec = spec(Metric::Levenshtein, 4);
        spec.alphabet = metric.quantisation().unwrap().alphabet().unwrap();
        spec.metric = metric;
        DefaultLimit::new(&spec, declared).unwrap()
    };
    let fine = rule(dtw(32, 32), None);
    // A sum of up to 2^27 distances of up to 2,135 units has 39 bits.
    assert_eq!(fine.comparisons(100), 100 * 6 / (2 * 39));
    assert_eq!(fine.assumed_letters(), None);
    // What a file says about its own letters does not count.
    assert_eq!(rule(dtw(32, 32), Some(2)), fine);
    assert!(rule(dtw(4, 4), None).comparisons(100) < fine.comparisons(100));
    let frechet = |columns| {
        Metric::Frechet(Frechet {
            positions: dtw(columns, 8).positions().unwrap(),
        })
    };
    assert!(rule(frechet(32), None).comparisons(100) > fine.comparisons(100));
    assert!(rule(frechet(32), None).comparisons(100) < rule(frechet(8), None).comparisons(100));
}

/// These metrics depend on less than the letters.
#[test]
fn the_limit_counts_what_the_metric_depends_on() {
    let grid = Grid::new(7, 7).unwrap();
    let positions = Positions::Grid { grid, wrap: false };
    let hausdorff = Metric::Hausdorff(Hausdorff { positions });
    let rec = Metric::Crqa(Crqa {
        rule: RecurrenceRule::SameLetter,
        line: 2,
        measures: vec![CrqaMeasure::Rec],
        undefined: Undefined::Missing,
        rounded: true,
    });
    let of = |metric: &Metric, length| limit(metric.clone(), 49).comparisons(length);
    assert_eq!(
        [20, 100, 500].map(|length| of(&hausdorff, length)),
        [4, 2, 0]
    );
    assert_eq!([20, 200, 500].map(|length| of(&rec, length)), [0, 2, 2]);
    // With a radius of two on a ring of ten cells, the counts of 200 letters are six numbers.
    let ring = Grid::new(10, 1).unwrap().with_wrap(true);
    let positions = Positions::Grid {
        grid: ring,
        wrap: true,
    };
    let rule = RecurrenceRule::Within {
        positions,
        radius: 2.0,
    };
    let within = Metric::Crqa(Crqa {
        rule,
        line: 2,
        measures: vec![CrqaMeasure::Rec],
        undefined: Undefined::Missing,
        rounded: true,
    });
    let mut bit = spec(within, 10);
    bit.reveal = Reveal::Threshold(Threshold::new(49.9).unwrap());
    let bit = DefaultLimit::new(&bit, Some(10)).unwrap();
    assert_eq!(bit.comparisons(200), 2);
}

/// What a table leaves of the letters is not examined.
#[test]
fn a_table_has_no_default_limit_above_zero() {
    let values = (0..16).map(|at| f64::from(u8::from(at / 4 != at % 4)));
    let table = Table::new(4, values.collect()).unwrap();
    let metric = Metric::NeedlemanWunsch {
        substitution: Substitution::Table { table },
        insert: 1.0,
        delete: 1.0,
        scale: None,
    };
    let table = limit(metric, 4);
    assert_eq!((table.bound(40), table.comparisons(40)), (0.0, 0));
    assert_eq!(table.comparisons(0), u64::MAX);
    assert!(limit(Metric::Levenshtein, 4).comparisons(40) > 0);
}

/// A cheating matrix owner reads a letter from each opened number: 26 pairs for an alphabet of 51 letters with 21
/// possible numbers.
#[test]
fn paillier_allows_less_than_a_matrix_owner_needs() {
    let mut spec = spec(Metric::Levenshtein, 51);
    spec.engine = Engine::Paillier(crate::PaillierOptions::DEFAULT);
    let limit = DefaultLimit::new(&spec, Some(51)).unwrap();
    let needed = (20.0 * 51f64.log2() / 21f64.log2()).ceil();
    assert_eq!((needed, limit.comparisons(20)), (26.0, 10));
    assert!(spec.engine.exposes_any_scanpath(Role::Host));
    assert!(!spec.engine.exposes_any_scanpath(Role::Join));
    assert!(!Engine::Garbled.exposes_any_scanpath(Role::Host));
}

#[test]
fn scaling_all_costs_changes_nothing() {
    let unit = |mismatch: f64, gap: f64| Metric::NeedlemanWunsch {
        substitution: Substitution::Unit { mismatch },
        insert: gap,
        delete: gap,
        scale: None,
    };
    let levenshtein = limit(Metric::Levenshtein, 26);
    assert_eq!(limit(unit(1.0, 1.0), 26), levenshtein);
    assert_eq!(limit(unit(0.25, 0.25), 26), levenshtein);
    assert_eq!(limit(unit(70.0, 70.0), 26), levenshtein);
}

#[test]
fn the_limit_does_not_depend_on_hidden_lengths() {
    let mut spec = spec(Metric::Levenshtein, 26);
    spec.pad_to = Some(80);
    let padded = DefaultLimit::new(&spec, Some(26)).unwrap();
    assert_eq!(DefaultLimit::shortest_protected(80), 20);
    assert_eq!(padded.comparisons(3), 4);
    assert_eq!(padded.comparisons(80), 4);
}

#[test]
fn an_empty_scanpath_has_no_limit() {
    assert_eq!(limit(Metric::Levenshtein, 26).comparisons(0), u64::MAX);
}

#[test]
fn a_large_declared_alphabet_hardly_raises_the_limit() {
    let numbers = Alphabet::new(veilpath_metrics::Notation::Numbers, 60_000).unwrap();
    let mut huge = spec(Metric::Levenshtein, 51);
    huge.alphabet = numbers;
    let huge = DefaultLimit::new(&huge, Some(60_000)).unwrap();
    let huge = huge.comparisons(40);
    assert!(huge <= limit(Metric::Levenshtein, 51).comparisons(40) * 12 / 10);
}

/// An undeclared alphabet may have few letters.
#[test]
fn an_undeclared_alphabet_counts_as_four_letters() {
    let limit_of = |metric, declared| DefaultLimit::new(&spec(metric, 52), declared).unwrap();
    let undeclared = limit_of(Metric::Levenshtein, None);
    let four = limit(Metric::Levenshtein, 4);
    assert_eq!(undeclared.assumed_letters(), Some(4));
    assert_eq!(four.assumed_letters(), None);
    for length in [1, 3, 20, 40] {
        assert_eq!(undeclared.comparisons(length), four.comparisons(length));
    }
    assert_eq!(four.comparisons(20), 4);
    assert!(undeclared.bound(20) > 2.0 * four.bound(20));
    // The metric's grid says how many letters there are.
    let grid = Metric::ScanMatch {
        grid: Grid::new(13, 4).unwrap(),
        wrap: false,
        threshold: 3.5,
        gap: 0.0,
        scale: None,
    };
    assert_eq!(limit_of(grid, None).assumed_letters(), None);
    // All letters of a notation can be declared. What the partner's file adds does not count.
    let all = limit_of(Metric::Levenshtein, Some(52));
    assert_eq!((all.assumed_letters(), all.comparisons(20)), (None, 11));
    assert_eq!(limit_of(Metric::Levenshtein, Some(4)), four);
}

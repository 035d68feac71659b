use super::*;
use crate::{
    Alphabet, Comparison, Crqa, Dtw, Frechet, Grid, Hausdorff, LocalScoring, Metric, PathDivisor,
    Positions, RecurrenceRule, Scanpath, Substitution, Table, Undefined,
};
use std::collections::{HashMap, HashSet};

fn comparison(metric: Metric, letters: u32) -> Comparison {
    Comparison::new(metric, Alphabet::letters(letters).unwrap()).unwrap()
}

fn recurrence(rule: RecurrenceRule, measures: &[CrqaMeasure]) -> Metric {
    Metric::Crqa(Crqa {
        rule,
        line: 2,
        measures: measures.to_vec(),
        undefined: Undefined::Missing,
        rounded: true,
    })
}

fn needleman_wunsch(substitution: Substitution, gap: f64) -> Metric {
    Metric::NeedlemanWunsch {
        substitution,
        insert: gap,
        delete: gap,
        scale: None,
    }
}

fn positions() -> Positions {
    let grid = Grid::new(2, 2).unwrap();
    Positions::Grid { grid, wrap: false }
}

/// All scanpaths of this length.
fn scanpaths(length: u32, letters: u16) -> Vec<Vec<u16>> {
    (0..u32::from(letters).pow(length))
        .map(|number| {
            let digit = |at| number / u32::from(letters).pow(at) % u32::from(letters);
            (0..length)
                .map(|at| u16::try_from(digit(at)).unwrap())
                .collect()
        })
        .collect()
}

const NO_MORE: Counts = Counts {
    affect_both_sides: true,
    runs: None,
    positions: false,
    diagonals: None,
};

/// The entropy of what is left of a random scanpath.
fn entropy(dependence: Dependence, length: u32, letters: u16) -> f64 {
    let mut counts: HashMap<Vec<u64>, f64> = HashMap::new();
    let all = scanpaths(length, letters);
    for path in &all {
        *counts
            .entry(dependence.relevant_features(path))
            .or_default() += 1.0;
    }
    let all = f64::from(u32::try_from(all.len()).unwrap());
    let bits = counts.values().map(|count| count * (all / count).log2());
    bits.sum::<f64>() / all
}

#[test]
fn bits_are_the_entropy_of_what_is_left_of_random_scanpaths() {
    let sizes = [
        (1, 1),
        (4, 1),
        (6, 2),
        (11, 2),
        (2, 4),
        (5, 4),
        (3, 5),
        (8, 3),
    ];
    for dependence in [
        Dependence::Letters,
        Dependence::WithoutRepetitions,
        Dependence::Set,
    ] {
        for (length, letters) in sizes {
            let bits = dependence.bits(length.into(), letters.into());
            let entropy = entropy(dependence, length, letters);
            assert!(
                (bits - entropy).abs() < 1e-9,
                "{dependence:?} {length} {letters}: {bits}, {entropy}"
            );
        }
        assert!(dependence.bits(1 << 24, 64.0).is_finite());
    }
}

#[test]
fn bits_of_counts_are_at_most_the_entropy_of_random_scanpaths() {
    let runs = |line| Counts {
        runs: Some(line),
        ..NO_MORE
    };
    let positions = Counts {
        positions: true,
        ..runs(2)
    };
    let diagonals = Counts {
        diagonals: Some(4),
        ..NO_MORE
    };
    for counts in [NO_MORE, diagonals, runs(2), runs(4), positions] {
        let dependence = Dependence::Counts(counts);
        for (length, letters) in [
            (1, 1),
            (4, 1),
            (6, 2),
            (2, 4),
            (5, 4),
            (3, 5),
            (9, 3),
            (14, 2),
        ] {
            let bits = dependence.bits(length.into(), letters.into());
            let entropy = entropy(dependence, length, letters);
            let is_exact = counts == NO_MORE || counts == diagonals;
            assert!(
                bits < entropy + 1e-9 && (!is_exact || bits > entropy - 1e-9),
                "{counts:?} {length} {letters}: {bits}, {entropy}"
            );
        }
        assert!(dependence.bits(1 << 24, 64.0).is_finite());
    }
}

/// Long scanpaths have the entropy of a normal distribution, which shorter ones approach.
#[test]
fn the_entropy_of_long_scanpaths_continues_that_of_shorter_ones() {
    for letters in [2.0, 9.0, 64.0] {
        let bits = |length| Dependence::Counts(NO_MORE).bits(length, letters);
        let [before, last, next] = [1023, 1024, 1025].map(bits);
        let step = last - before;
        assert!(
            step > 0.0 && (next - last - step).abs() < 0.5,
            "{letters}: {before} {last} {next}"
        );
    }
}

/// If no runs are long enough, they add nothing.
#[test]
fn long_lines_leave_counts_only() {
    let counts = Dependence::Counts(NO_MORE).bits(20, 9.0);
    let with = |line| {
        Dependence::Counts(Counts {
            runs: Some(line),
            diagonals: Some(line),
            ..NO_MORE
        })
    };
    assert!((with(21).bits(20, 9.0) - counts).abs() < 1e-9);
    assert!((with(2).bits(20, 9.0) - 20.0 * 9f64.log2()).abs() < 1e-9);
    // A partner that does not know eight letters in a row sees no diagonal line.
    let unreachable = Dependence::Counts(Counts {
        diagonals: Some(8),
        ..NO_MORE
    });
    assert!((unreachable.bits(20, 9.0) - counts).abs() < 1e-9);
}

/// Scanpaths of equal length have the same scores with every other scanpath exactly if the same is left of them.
#[test]
fn scores_depend_on_what_is_left() {
    use CrqaMeasure::{Corm, Det, Lam, LamColumns, LamRows, Rec};
    let of = |measures| recurrence(RecurrenceRule::SameLetter, measures);
    // The second side's runs are on rows, so this is checked for the first side.
    let for_one_side = [of(&[LamRows]), of(&[LamRows, Rec])];
    let for_both = [
        Metric::Levenshtein,
        Metric::Frechet(Frechet {
            positions: positions(),
        }),
        Metric::Hausdorff(Hausdorff {
            positions: positions(),
        }),
        of(&[Rec]),
        of(&[Lam]),
        of(&[Rec, LamRows, LamColumns]),
        of(&[Corm]),
        of(&[Rec, Corm]),
        of(&[Corm, Lam]),
        of(&[Rec, Det]),
    ];
    let both = for_both.into_iter().map(|metric| (metric, true));
    let one = for_one_side.into_iter().map(|metric| (metric, false));
    for (metric, is_second) in both.chain(one) {
        let has_positions = matches!(metric, Metric::Frechet(_) | Metric::Hausdorff(_));
        let (length, letters) = if has_positions { (4, 4) } else { (5, 3) };
        let all = scanpaths(length, letters);
        let comparison = comparison(metric, letters.into());
        let scores = |letters: &Vec<u16>| -> Vec<i64> {
            let path = Scanpath::new(letters.clone());
            let score = |other: &Vec<u16>| {
                let other = Scanpath::new(other.clone());
                let (a, b) = if is_second {
                    (&other, &path)
                } else {
                    (&path, &other)
                };
                comparison.raw(a, b).unwrap()
            };
            all.iter().map(score).collect()
        };
        let pairs: HashSet<_> = all
            .iter()
            .map(|it| {
                (
                    scores(it),
                    comparison.model().dependence().relevant_features(it),
                )
            })
            .collect();
        let scores: HashSet<_> = pairs.iter().map(|(scores, _)| scores).collect();
        let left: HashSet<_> = pairs.iter().map(|(_, left)| left).collect();
        assert_eq!(
            (scores.len(), left.len()),
            (pairs.len(), pairs.len()),
            "{:?}",
            comparison.metric()
        );
    }
}

#[test]
fn letters_that_are_alike_count_once() {
    let within = |radius| {
        let positions = positions();
        recurrence(
            RecurrenceRule::Within { positions, radius },
            &[CrqaMeasure::Det],
        )
    };
    let unit = |mismatch| needleman_wunsch(Substitution::Unit { mismatch }, 1.0);
    for (metric, distinct) in [
        (unit(0.0), 1),
        (unit(9.0), 4),
        (within(9.0), 1),
        (within(1.0), 4),
        (Metric::Levenshtein, 4),
    ] {
        let comparison = comparison(metric, 4);
        assert_eq!(
            comparison.model().effective_letters(4, 4),
            f64::from(distinct),
            "{:?}",
            comparison.metric()
        );
    }
}

/// On a ring of ten cells, a radius of two leaves six numbers: how often the partner's counts meet those of five cells in a row.
#[test]
fn letters_within_a_radius_count_by_the_rank_of_their_matrix() {
    let within = |grid: Grid, radius| {
        let positions = Positions::Grid {
            grid,
            wrap: grid.wrap(),
        };
        let rule = RecurrenceRule::Within { positions, radius };
        let letters = grid.cells();
        let comparison = comparison(recurrence(rule, &[CrqaMeasure::Rec]), letters);
        comparison.model().effective_letters(letters, letters)
    };
    let ring = Grid::new(10, 1).unwrap().with_wrap(true);
    assert_eq!(within(ring, 2.0), 6.0);
    assert_eq!(within(Grid::new(5, 5).unwrap(), 1.5), 16.0);
    assert_eq!(within(Grid::new(7, 7).unwrap(), 2.9), 36.0);
}

/// A class of one letter out of 26 is seldom met.
#[test]
fn classes_of_unequal_size_have_less_entropy() {
    // Only the two ends of a line of 52 cells do not recur.
    let grid = Grid::new(52, 1).unwrap();
    let rule = RecurrenceRule::Within {
        positions: Positions::Grid { grid, wrap: false },
        radius: 50.0,
    };
    let ends = comparison(recurrence(rule, &[CrqaMeasure::Rec]), 52);
    let letters = ends.model().effective_letters(52, 52);
    assert!(letters < 1.3, "{letters}");
}

#[test]
fn all_letters_of_a_large_alphabet_count() {
    for letters in [300, 1000, 5000] {
        let alphabet = Alphabet::new(crate::Notation::Numbers, letters).unwrap();
        let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
        let effective = comparison.model().effective_letters(letters, letters);
        assert_eq!(effective, f64::from(letters.min(MAX_COMPARED)));
    }
}

/// Without runs, `lam-rows` of a joining side is 0.
#[test]
fn laminarity_along_one_side_may_not_depend_on_the_other() {
    use CrqaMeasure::{Det, LamColumns, LamRows, Rec};
    let bits = |measures: &[CrqaMeasure]| Dependence::of_measures(measures, 9).bits(20, 9.0);
    for uncertain in [&[LamRows][..], &[LamColumns], &[Det, LamRows], &[Det]] {
        assert_eq!(bits(uncertain), 0.0, "{uncertain:?}");
    }
    assert!(bits(&[LamRows, LamColumns]) > 10.0 && bits(&[Rec, LamRows]) > 10.0);
}

/// With costs `f(a) + f(b)`, all scanpaths with the same counts have the same scores.
#[test]
fn a_table_may_leave_less_than_the_letters() {
    let values = (0..9).map(|at| f64::from([0, 1, 5][at / 3] + [0, 1, 5][at % 3]));
    let table = Table::new(3, values.collect()).unwrap();
    let scoring = LocalScoring::Table {
        table: table.clone(),
    };
    let local = Metric::SmithWaterman {
        scoring,
        gap: 0.0,
        scale: None,
    };
    let global = needleman_wunsch(Substitution::Table { table }, 5.0);
    let all = scanpaths(4, 3);
    for metric in [global, local] {
        let comparison = comparison(metric, 3);
        let scores = |path: &Vec<u16>| -> Vec<i64> {
            let path = Scanpath::new(path.clone());
            let others = all.iter().cloned().map(Scanpath::new);
            others
                .map(|other| comparison.raw(&path, &other).unwrap())
                .collect()
        };
        let distinct: HashSet<_> = all.iter().map(scores).collect();
        assert_eq!((all.len(), distinct.len()), (81, 15));
        assert_eq!(comparison.model().dependence().bits(4, 3.0), 0.0);
    }
}

/// Between two places, how often each letter is repeated hardly matters to time warping.
#[test]
fn time_warping_between_two_places_is_not_counted() {
    let dtw = |columns: u32| {
        let grid = Grid::new(columns, 1).unwrap();
        let metric = Metric::Dtw(Dtw {
            positions: Positions::Grid { grid, wrap: false },
            divisor: PathDivisor::None,
            scale: None,
        });
        comparison(metric, columns)
            .model()
            .effective_letters(columns, columns)
    };
    assert_eq!([1, 2, 3, 7].map(dtw), [1.0, 1.0, 3.0, 7.0]);
}

/// In an answer about groups, scanpaths whose letters do not matter hide nobody.
#[test]
fn scanpaths_shorter_than_a_line_do_not_matter_where_only_lines_count() {
    use CrqaMeasure::{Det, LamRows, Rec};
    let of = |measures: &[CrqaMeasure]| {
        let mut metric = recurrence(RecurrenceRule::SameLetter, measures);
        if let Metric::Crqa(crqa) = &mut metric {
            (crqa.line, crqa.undefined) = (3, Undefined::Zero);
        }
        metric
    };
    let comparison = comparison(of(&[Det]), 3);
    for length in 1..=4 {
        let scores: HashSet<Vec<i64>> = (scanpaths(length, 3).into_iter().map(Scanpath::new))
            .map(|path| {
                let others = scanpaths(4, 3).into_iter().map(Scanpath::new);
                others
                    .map(|other| comparison.raw(&path, &other).unwrap())
                    .collect()
            })
            .collect();
        assert_eq!(
            comparison.metric().depends_on_letters(length as usize),
            scores.len() > 1
        );
    }
    assert!(!of(&[Det, LamRows]).depends_on_letters(2));
    assert!(of(&[Rec, Det]).depends_on_letters(1));
    assert!(!Metric::Levenshtein.depends_on_letters(0));
    assert!(Metric::Levenshtein.depends_on_letters(1));
}

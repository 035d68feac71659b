//! The fast kernels give exactly the same results as the textbook recurrences.

// Test helpers may panic too.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::cast_possible_truncation
)]

use crate::support;

use proptest::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use support::{alphabet, case, global_metric, grid, local_metric, two_scanpaths};
use veilpath_metrics::{
    Alphabet, Comparison, Distance, Grid, LocalScoring, MAX_COST, Metric, Model, Notation,
    Scanpath, Substitution, Table, reference,
};

fn textbook(comparison: &Comparison, a: &Scanpath, b: &Scanpath) -> i64 {
    match comparison.model() {
        Model::Global(model) => reference::min_cost(model, a, b),
        Model::Local(model) => reference::max_score(model, a, b),
        _ => panic!("not an alignment"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1200))]

    #[test]
    fn global_alignments_equal_the_textbook((comparison, a, b) in case(|size| global_metric(size).boxed())) {
        prop_assert_eq!(comparison.raw(&a, &b), Ok(textbook(&comparison, &a, &b)));
    }

    #[test]
    fn local_alignments_equal_the_textbook((comparison, a, b) in case(|size| local_metric(size).boxed())) {
        prop_assert_eq!(comparison.raw(&a, &b), Ok(textbook(&comparison, &a, &b)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn scanmatch_equals_the_textbook_to_the_last_bit(
        (alphabet, grid, (a, b)) in alphabet().prop_flat_map(|alphabet| {
            (Just(alphabet), grid(alphabet.size()), two_scanpaths(alphabet.size()))
        }),
        wrap: bool,
        threshold in 0.1f64..20.0,
        gap in -5.0f64..=0.05,
    ) {
        prop_assume!(!a.is_empty() || !b.is_empty());
        let metric = Metric::ScanMatch { grid, wrap, threshold, gap, scale: None };
        let fast = Comparison::new(metric, alphabet).unwrap().compare(&a, &b).unwrap();
        let sum = reference::scanmatch_sum(&grid.with_wrap(wrap), threshold, gap, &a, &b);
        let longer = u32::try_from(a.len().max(b.len())).unwrap();
        prop_assert_eq!(fast.score(), sum / (threshold * f64::from(longer)));
    }
}

/// The same scanpath on every machine for the same seed.
fn pseudorandom_scanpath(length: usize, size: u32, seed: u32) -> Scanpath {
    let mut state = seed;
    let letter = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u16::try_from((state >> 8) % size).unwrap()
    };
    Scanpath::new((0..length).map(letter).collect())
}

/// Costs around the limits of 8, 16, 24 and 32 bits per cell, and sums far beyond.
#[test]
fn global_alignments_are_exact_in_every_integer_width() {
    let alphabet = Alphabet::letters(20).unwrap();
    let (a, b) = (
        pseudorandom_scanpath(333, 20, 1),
        pseudorandom_scanpath(401, 20, 2),
    );
    for most in [
        100,
        127,
        128,
        30_000,
        32_767,
        32_768,
        (1 << 23) - 1,
        1 << 23,
        (1 << 23) + 1,
        1 << 29,
        MAX_COST,
    ] {
        let mut state = 77u32;
        let values = (0..400).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f64::from(state % (most + 1))
        });
        let metric = Metric::NeedlemanWunsch {
            substitution: Substitution::Table {
                table: Table::new(20, values.collect()).unwrap(),
            },
            insert: f64::from(most),
            delete: f64::from(most),
            scale: Some(1),
        };
        let comparison = Comparison::new(metric, alphabet).unwrap();
        let raw = comparison.raw(&a, &b).unwrap();
        assert_eq!(raw, textbook(&comparison, &a, &b), "costs up to {most}");
    }
}

/// Equal scanpaths reach the bound that selects the width: 16, 24, 32 and 64 bits.
#[test]
fn local_alignments_are_exact_in_every_integer_width() {
    let alphabet = Alphabet::letters(20).unwrap();
    let path = pseudorandom_scanpath(64, 20, 1);
    let other = pseudorandom_scanpath(90, 20, 2);
    for bound in [1u32 << 15, 1 << 24, 1 << 31].map(|bound| bound / 64) {
        for reward in [bound - 1, bound, bound + 1] {
            for (mismatch, gap) in [(reward / 3, reward / 2 + 1), (MAX_COST, 1), (1, MAX_COST)] {
                let metric = Metric::SmithWaterman {
                    scoring: LocalScoring::Unit {
                        reward: reward.into(),
                        mismatch: mismatch.into(),
                    },
                    gap: gap.into(),
                    scale: Some(1),
                };
                let comparison = Comparison::new(metric, alphabet).unwrap();
                assert_eq!(comparison.raw(&path, &path), Ok(64 * i64::from(reward)));
                let raw = comparison.raw(&path, &other).unwrap();
                assert_eq!(raw, textbook(&comparison, &path, &other));
            }
        }
    }
}

/// Enough letters that strips become narrow and a full square of values does not fit.
#[test]
fn scanpaths_over_thousands_of_cells_are_exact() {
    let alphabet = Alphabet::full(Notation::Numbers);
    let (a, b) = (
        pseudorandom_scanpath(700, 65_536, 3),
        pseudorandom_scanpath(5000, 65_536, 4),
    );
    let grid = Grid::new(256, 256).unwrap().with_wrap(true);
    for substitution in [
        Substitution::Index,
        Substitution::Unit { mismatch: 3.0 },
        Substitution::on_grid(grid, Distance::Euclidean),
    ] {
        let metric = Metric::NeedlemanWunsch {
            substitution,
            insert: 40.0,
            delete: 50.0,
            scale: Some(1000),
        };
        let comparison = Comparison::new(metric, alphabet).unwrap();
        for (a, b) in [(&a, &b), (&b, &a)] {
            assert_eq!(comparison.raw(a, b), Ok(textbook(&comparison, a, b)));
        }
    }
}

fn index_costs() -> Comparison {
    let metric = Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 5.0,
        delete: 7.0,
        scale: None,
    };
    Comparison::new(metric, Alphabet::letters(52).unwrap()).unwrap()
}

#[test]
fn a_million_letters_against_33_are_exact() {
    let (long, short) = (
        pseudorandom_scanpath(1_000_000, 52, 5),
        pseudorandom_scanpath(33, 52, 6),
    );
    let comparison = index_costs();
    let raw = comparison.raw(&long, &short).unwrap();
    assert_eq!(raw, textbook(&comparison, &long, &short));
}

/// One scanpath has a thousand of the other's million letters. The rest are deleted or inserted, and nothing else
/// costs.
#[test]
#[ignore = "two thousand million cells, which take a second in a release build; .ci/full runs it"]
fn a_thousand_letters_of_a_million_cost_only_gaps() {
    let long = pseudorandom_scanpath(1_000_000, 52, 5);
    let part = Scanpath::new(long.letters()[400_000..401_000].to_vec());
    let comparison = index_costs();
    assert_eq!(comparison.raw(&long, &part), Ok(7 * 999_000));
    assert_eq!(comparison.raw(&part, &long), Ok(5 * 999_000));
}

/// The scanpath with one letter removed, one changed and one added.
fn edited(path: &Scanpath) -> Scanpath {
    let mut letters = path.letters().to_vec();
    letters.remove(10);
    let middle = letters.len() / 2;
    letters[middle] = (letters[middle] + 1) % 52;
    letters.push(3);
    Scanpath::new(letters)
}

#[test]
fn a_million_letters_with_three_edits_have_distance_three() {
    let a = pseudorandom_scanpath(1_000_000, 52, 7);
    let comparison = Comparison::new(Metric::Levenshtein, *index_costs().alphabet()).unwrap();
    assert_eq!(comparison.raw(&a, &edited(&a)), Ok(3));
}

#[test]
#[ignore = "a million million cells, which take a minute in a release build; .ci/full runs it"]
fn a_million_letters_with_nothing_in_common_have_distance_a_million() {
    let alphabet = *index_costs().alphabet();
    let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
    let halves = [0, 26].map(|shift| {
        let path = pseudorandom_scanpath(1_000_000, 26, 8);
        Scanpath::new(path.letters().iter().map(|letter| letter + shift).collect())
    });
    assert_eq!(comparison.raw(&halves[0], &halves[1]), Ok(1_000_000));
}

/// Lengths around the changes of word, strip and algorithm, one by one and in a batch.
#[test]
fn levenshtein_is_exact_around_algorithm_thresholds() {
    let alphabet = *index_costs().alphabet();
    let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
    let lengths = [
        0, 1, 63, 64, 65, 127, 128, 129, 191, 193, 255, 256, 257, 320, 511, 513, 4095, 4096,
    ];
    let paths: Vec<Scanpath> = (1u32..)
        .zip(lengths)
        .map(|(seed, length)| pseudorandom_scanpath(length, 52, seed))
        .collect();
    let paths: Vec<&Scanpath> = paths.iter().collect();
    let all = 0..paths.len();
    let pairs: Vec<(usize, usize)> = all
        .clone()
        .flat_map(|i| all.clone().map(move |j| (i, j)))
        .filter(|&(i, j)| lengths[i].min(lengths[j]) < 600)
        .collect();
    let batch = comparison
        .compare_pairs(&paths, &paths, &pairs, &|_| ())
        .unwrap();
    for (&(i, j), pair_score) in pairs.iter().zip(batch) {
        let (a, b) = (paths[i], paths[j]);
        let raw = comparison.raw(a, b).unwrap();
        assert_eq!(
            raw,
            textbook(&comparison, a, b),
            "{} × {}",
            a.len(),
            b.len()
        );
        assert_eq!(comparison.read(raw, a.len(), b.len()), Ok(pair_score));
    }
}

/// Costs at which no letter is replaced, and lengths around the changes of word and strip, one by one and in a batch.
#[test]
fn subsequences_are_exact_around_word_and_strip_boundaries() {
    let alphabet = *index_costs().alphabet();
    let costs = |mismatch, insert, delete| Metric::NeedlemanWunsch {
        substitution: Substitution::Unit { mismatch },
        insert,
        delete,
        scale: None,
    };
    let lengths = [
        0, 1, 63, 64, 65, 128, 129, 193, 255, 256, 257, 511, 513, 770,
    ];
    let paths: Vec<Scanpath> = (1u32..)
        .zip(lengths)
        .map(|(seed, length)| pseudorandom_scanpath(length, 52, seed))
        .collect();
    let paths: Vec<&Scanpath> = paths.iter().collect();
    let all = 0..paths.len();
    let pairs: Vec<(usize, usize)> = all
        .clone()
        .flat_map(|i| all.clone().map(move |j| (i, j)))
        .filter(|&(i, j)| i + j > 0)
        .collect();
    let metrics = [
        Metric::SequenceScore,
        costs(8.0, 3.0, 5.0),
        costs(9.0, 0.0, 2.0),
    ];
    for metric in metrics {
        let comparison = Comparison::new(metric, alphabet).unwrap();
        let finished = AtomicU64::new(0);
        let progress = |cells| {
            finished.fetch_add(cells, Ordering::Relaxed);
        };
        let batch = comparison.compare_pairs(&paths, &paths, &pairs, &progress);
        let mut cells = 0;
        for (&(i, j), reading) in pairs.iter().zip(batch.unwrap()) {
            let (a, b) = (paths[i], paths[j]);
            let raw = comparison.raw(a, b).unwrap();
            let expected = textbook(&comparison, a, b);
            assert_eq!(raw, expected, "{} × {}", a.len(), b.len());
            assert_eq!(comparison.read(raw, a.len(), b.len()), Ok(reading));
            cells += a.len() as u64 * b.len() as u64;
        }
        assert_eq!(finished.into_inner(), cells);
    }
}

/// Long enough for the limited attempts, from similar to different, one by one and in a batch.
#[test]
fn levenshtein_of_long_scanpaths_is_exact() {
    let alphabet = *index_costs().alphabet();
    let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
    let a = pseudorandom_scanpath(8200, 52, 9);
    let every = |nth: usize| {
        let changed = |(place, &letter): (usize, &u16)| match place % nth {
            0 => (letter + 1) % 52,
            _ => letter,
        };
        Scanpath::new(a.letters().iter().enumerate().map(changed).collect())
    };
    let others = [
        a.clone(),
        edited(&a),
        every(500),
        every(20),
        every(3),
        pseudorandom_scanpath(8300, 52, 10),
    ];
    let others: Vec<&Scanpath> = others.iter().collect();
    let pairs: Vec<(usize, usize)> = (0..others.len()).map(|j| (0, j)).collect();
    let batch = comparison
        .compare_pairs(&[&a], &others, &pairs, &|_| ())
        .unwrap();
    for (other, pair_score) in others.iter().zip(batch) {
        let raw = comparison.raw(&a, other).unwrap();
        assert_eq!(raw, textbook(&comparison, &a, other));
        assert_eq!(comparison.read(raw, a.len(), other.len()), Ok(pair_score));
    }
}

/// Large cell numbers, with few or many of them in use: with and without renumbering.
#[test]
fn levenshtein_on_a_large_alphabet_is_exact() {
    let alphabet = Alphabet::full(Notation::Numbers);
    let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
    for (length, size, step) in [(70, 200, 300), (2100, 200, 300), (2100, 60_000, 1)] {
        let path = |length, seed| {
            let path = pseudorandom_scanpath(length, size, seed);
            Scanpath::new(path.letters().iter().map(|letter| letter * step).collect())
        };
        let (a, b) = (path(length, 11), path(length + 5, 12));
        assert_eq!(comparison.raw(&a, &b), Ok(textbook(&comparison, &a, &b)));
    }
}

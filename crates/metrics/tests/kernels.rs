//! The fast kernels give exactly what the textbook's recurrences give.

mod support;

use proptest::prelude::*;
use support::{alphabet, case, global_metric, grid, local_metric, two_scanpaths};
use veilpath_metrics::{
    Alphabet, Comparison, Distance, Grid, MAX_COST, Metric, Model, Notation, Scanpath,
    Substitution, Table, reference,
};

fn textbook(comparison: &Comparison, a: &Scanpath, b: &Scanpath) -> i64 {
    match comparison.model() {
        Model::Global(model) => reference::least_cost(model, a, b),
        Model::Local(model) => reference::greatest_score(model, a, b),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1200))]

    #[test]
    fn global_alignment((comparison, a, b) in case(|size| global_metric(size).boxed())) {
        prop_assert_eq!(comparison.raw(&a, &b), Ok(textbook(&comparison, &a, &b)));
    }

    #[test]
    fn local_alignment((comparison, a, b) in case(|size| local_metric(size).boxed())) {
        prop_assert_eq!(comparison.raw(&a, &b), Ok(textbook(&comparison, &a, &b)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn scanmatch_in_double_precision_to_the_last_bit(
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
        prop_assert_eq!(fast.score, sum / (threshold * f64::from(longer)));
    }
}

/// A scanpath that visits its alphabet in a fixed, irregular order.
fn wandering(length: usize, size: u32, seed: u32) -> Scanpath {
    let mut state = seed;
    let letter = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u16::try_from((state >> 8) % size).unwrap()
    };
    Scanpath::new((0..length).map(letter).collect())
}

/// Costs up to the largest: 8, 16 and 32 bits per cell, and sums far beyond 32 bits.
#[test]
fn every_width_of_arithmetic() {
    let alphabet = Alphabet::letters(20).unwrap();
    let (a, b) = (wandering(333, 20, 1), wandering(401, 20, 2));
    for most in [100, 127, 128, 30_000, 32_767, 32_768, 1 << 29, MAX_COST] {
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

/// So many letters that strips become narrow and no square of values fits.
#[test]
fn scanpaths_that_use_thousands_of_cells() {
    let alphabet = Alphabet::full(Notation::Numbers);
    let (a, b) = (wandering(700, 65_536, 3), wandering(5000, 65_536, 4));
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

#[test]
fn a_million_letters_against_a_thousand() {
    let alphabet = Alphabet::letters(52).unwrap();
    let (long, short) = (wandering(1_000_000, 52, 5), wandering(50, 52, 6));
    let metric = Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 5.0,
        delete: 7.0,
        scale: None,
    };
    let comparison = Comparison::new(metric, alphabet).unwrap();
    let raw = comparison.raw(&long, &short).unwrap();
    assert_eq!(raw, textbook(&comparison, &long, &short));
    // A thousand letters of the million: all others are deleted and nothing else costs.
    let part = Scanpath::new(long.letters()[400_000..401_000].to_vec());
    assert_eq!(comparison.raw(&long, &part), Ok(7 * 999_000));
    assert_eq!(comparison.raw(&part, &long), Ok(5 * 999_000));
}

#[test]
fn levenshtein_of_a_million_letters_each() {
    let alphabet = Alphabet::letters(52).unwrap();
    let a = wandering(1_000_000, 52, 7);
    let mut letters = a.letters().to_vec();
    letters.remove(10);
    letters[500_000] = (letters[500_000] + 1) % 52;
    letters.push(3);
    let comparison = Comparison::new(Metric::Levenshtein, alphabet).unwrap();
    let distance = comparison.raw(&a, &Scanpath::new(letters)).unwrap();
    assert_eq!(distance, 3);
}

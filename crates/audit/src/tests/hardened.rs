//! Whether the audit detects what hardened masks reveal, for any range of their multipliers.

use super::{absolute, view};
use crate::clue::{Clue, Feature};
use crate::factors::{Difference, Factors};
use crate::order_public;
use crate::view::{KeyHolderView, LetterProbabilities, correct_letters, smoothed};
use crypto_bigint::BoxedUint;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::collections::BTreeMap;

fn seen(value: i128) -> Difference {
    Difference::new(value < 0, &BoxedUint::from(value.unsigned_abs()))
}

/// Compares the likelihood with a count over every multiplier and every noise value.
#[test]
fn the_likelihood_counts_pairs_of_multiplier_and_noise() {
    for (floor, top) in [(0, 7), (2, 7), (5, 8)] {
        let factors = Factors::between(floor, top);
        let differences: Vec<i64> = (-9..=9).filter(|&d| d != 0).chain([-70, 70, 900]).collect();
        let mut values = BTreeMap::new();
        for (at, &d) in differences.iter().enumerate() {
            for rho in 1i128 << floor..1 << top {
                let likely = (1.0 / rho as f64).ln_1p() / rho as f64;
                for noise in 0..rho {
                    let row = values.entry(rho * i128::from(d) + noise);
                    row.or_insert_with(|| vec![0.0; differences.len()])[at] += likely;
                }
            }
        }
        for (value, likely) in values {
            for (&d, likely) in differences.iter().zip(likely) {
                let exact = likely * value.unsigned_abs() as f64;
                let found = factors.fit(d, &seen(value));
                assert!(
                    (found - exact).abs() < 1e-9,
                    "{value} of {d}: {found}, {exact}"
                );
            }
        }
    }
}

/// The method of counting changes with the size; the result does not.
#[test]
fn likelihoods_agree_for_long_and_short_multipliers() {
    let factors = Factors::between(0, 100);
    for d in [1i64, -1, 2, -2, 7, -7, 1_000, -1_000] {
        for power in [11, 15, 20, 38, 42, 48, 55, 70] {
            let rho = (1i128 << power) + 12_345;
            let value = rho * i128::from(d) + rho / 3;
            let found = factors.fit(d, &seen(value));
            let few = (d.unsigned_abs() as f64 + 2.0) / rho as f64;
            assert!((found - 1.0).abs() < few + 1e-6, "{d}, 2^{power}: {found}");
        }
    }
    // For small ρ, the ranges from d·ρ to (d + 1)·ρ − 1 leave gaps: not every d can give 1000.
    assert_eq!(factors.fit(999, &seen(1_000)), 0.0);
    assert_eq!(factors.fit(600, &seen(1_000)), 0.0);
    assert!(factors.fit(1_000, &seen(1_000)) > 100.0);
    assert!(factors.fit(500, &seen(1_000)) > 0.0);
}

#[test]
fn hardened_masks_with_a_floor_reveal_little_beyond_the_sign() {
    let clue = |differences: [i128; 3]| Clue::Hardened {
        differences: differences.map(seen),
        factors: Factors::between(50, 120),
    };
    // In the middle of the range all differences explain a size equally well, ties included.
    let size = (1 << 90) + 77;
    let middle = clue([size, size, size]);
    let one = middle.likelihood(Feature::All, [0, 5, 40]);
    for candidates in [[0, 0, 0], [3, 3, 9], [1, 2, 4], [40, 0, 39]] {
        let other = middle.likelihood(Feature::All, candidates);
        assert!((other / one - 1.0).abs() < 1e-9, "{candidates:?}: {other}");
    }
    // Three numbers cannot be greater than each other in a cycle.
    let circle = clue([size, -size, size]);
    assert_eq!(circle.likelihood(Feature::All, [0, 5, 40]), 0.0);
    // At the lower end of the range, small numbers rule out large differences. This is the remaining trace.
    let small = 3 << 50;
    let end = clue([small, small, small]);
    assert_eq!(end.likelihood(Feature::All, [0, 5, 40]), 0.0);
    assert!(end.likelihood(Feature::All, [0, 0, 0]) > 0.0);
}

/// The clues of a whole matrix under hardened masks with multipliers of this range.
fn clues(
    view: &KeyHolderView,
    theirs: &[u16],
    (floor, top): (u32, u32),
    rng: &mut ChaCha20Rng,
) -> Vec<Vec<Clue>> {
    let of_letter = view.class_of_letters();
    let mut before = view.border();
    let mut columns = Vec::new();
    for (position, &letter) in theirs.iter().enumerate() {
        let class = &view.classes[of_letter[usize::from(letter)]];
        let mut column = Vec::new();
        before = view.column(&before, position + 1, class, |_, candidates| {
            let mut order = [0, 1, 2];
            order.swap(2, rng.random_range(0..3));
            order.swap(1, rng.random_range(0..2));
            let value = |at: usize| 3 * i128::from(candidates[order[at]]) + order[at] as i128;
            let differences = [(0, 1), (0, 2), (1, 2)].map(|(one, other)| {
                let rho = rng.random_range(f64::from(floor)..f64::from(top)).exp2() as i128;
                seen(rho * (value(one) - value(other)) + rng.random_range(0..rho))
            });
            column.push(Clue::Hardened {
                differences,
                factors: Factors::between(floor, top),
            });
        });
        columns.push(column);
    }
    columns
}

/// The fraction of letters that five views reveal if the order is public.
fn five_views(range: (u32, u32)) -> f64 {
    let mut rng = ChaCha20Rng::seed_from_u64(5);
    let (length, rounds) = (6, 10);
    let letters = |rng: &mut ChaCha20Rng| -> Vec<u16> {
        (0..length)
            .map(|_| rng.random_range(0..super::LETTERS as u16))
            .collect()
    };
    let mut found = 0.0;
    for _ in 0..rounds {
        let theirs = letters(&mut rng);
        let mut belief: Option<LetterProbabilities> = None;
        for _ in 0..5 {
            let view = view(absolute(), &letters(&mut rng), &theirs);
            let clues = clues(&view, &theirs, range, &mut rng);
            let prior =
                belief.map_or_else(|| view.uniform_probabilities(), |belief| smoothed(&belief));
            let all = Feature::All;
            belief = Some(order_public::attack(&view, &prior, &clues, all, 200));
        }
        found += correct_letters(&belief.unwrap(), &theirs);
    }
    found / f64::from(rounds) / length as f64
}

/// Multipliers that start at 1 are a weakness, which an attack that treats them as real numbers does not find.
#[test]
fn multipliers_without_a_floor_are_guessed() {
    let (without, with) = (five_views((0, 64)), five_views((46, 110)));
    println!("without a floor {without}, with one {with}");
    assert!(without > 0.8, "{without}");
    assert!(with < 0.65, "{with}");
}

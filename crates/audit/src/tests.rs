//! Small cases with known answers.
#![allow(clippy::unwrap_used)] // a test may fail

mod groups;
mod hardened;
mod window;

use crate::clue::{Clue, Feature};
use crate::order_hidden::{self, AttackSettings};
use crate::randomness::{self, Freshness};
use crate::view::{KeyHolderView, correct_letters};
use crate::{order_public, score_only};
use crypto_bigint::BoxedUint;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use veilpath_metrics::{Alphabet, Comparison, Metric, Scanpath, Substitution};
use veilpath_protocol::KeySize;

const LETTERS: u32 = 12;

fn absolute() -> Metric {
    Metric::NeedlemanWunsch {
        substitution: Substitution::Index,
        insert: 1.0,
        delete: 1.0,
        scale: None,
    }
}

fn view(metric: Metric, own: &[u16], theirs: &[u16]) -> KeyHolderView {
    let comparison = Comparison::new(metric, Alphabet::letters(LETTERS).unwrap()).unwrap();
    let scanpath = |letters: &[u16]| Scanpath::new(letters.to_vec());
    let raw = comparison.raw(&scanpath(own), &scanpath(theirs)).unwrap();
    KeyHolderView::new(&comparison, own, theirs.len(), raw).unwrap()
}

/// The clues of a whole matrix, column by column, under a mask with this factor.
fn clues(view: &KeyHolderView, theirs: &[u16], factor: u128) -> Vec<Vec<Clue>> {
    let of_letter = view.class_of_letters();
    let mut before = view.border();
    let mut columns = Vec::new();
    for (position, &letter) in theirs.iter().enumerate() {
        let class = &view.classes[of_letter[usize::from(letter)]];
        let mut column = Vec::new();
        before = view.column(&before, position + 1, class, |_, candidates| {
            let masked =
                candidates.map(|x| BoxedUint::from(factor * x.unsigned_abs() as u128 + (1 << 100)));
            column.push(Clue::shared(&masked).unwrap());
        });
        columns.push(column);
    }
    columns
}

#[test]
fn a_clue_fits_its_own_differences_and_no_other_ratio() {
    // Candidates 3, 4 and 7 times 10, in any order: 1 : 4.
    let set = [40u64, 70, 30].map(BoxedUint::from);
    let clue = Clue::shared(&set).unwrap();
    assert_eq!(clue, Clue::Shared { low: 10, high: 40 });
    for feature in [
        Feature::Ties,
        Feature::Ratios,
        Feature::Magnitudes,
        Feature::All,
    ] {
        assert!(clue.likelihood(feature, [7, 3, 4]) > 0.0, "{feature:?}");
    }
    // Another ratio, another pattern of ties, and the same ratio with a difference that does not divide 10.
    assert_eq!(clue.likelihood(Feature::Ratios, [0, 1, 3]), 0.0);
    assert_eq!(clue.likelihood(Feature::Ties, [0, 0, 4]), 0.0);
    assert!(clue.likelihood(Feature::Ratios, [0, 3, 12]) > 0.0);
    assert_eq!(clue.likelihood(Feature::All, [0, 3, 12]), 0.0);
    assert_eq!(clue.likelihood(Feature::All, [5, 5, 5]), 0.0);
}

#[test]
fn absolute_differences_in_a_public_order_reveal_every_letter() {
    let (own, theirs) = ([0, 11, 5, 8], [3, 9, 9, 1]);
    let view = view(absolute(), &own, &theirs);
    // A prime factor above all differences: nothing is divisible by chance.
    let clues = clues(&view, &theirs, 1_000_003);
    let belief = order_public::attack(
        &view,
        &view.uniform_probabilities(),
        &clues,
        Feature::All,
        5_000,
    );
    assert_eq!(correct_letters(&belief, &theirs), 4.0);
}

#[test]
fn with_a_hidden_order_most_letters_are_still_found() {
    let (own, theirs) = ([0, 11, 5, 8], [3, 9, 9, 1]);
    let view = view(absolute(), &own, &theirs);
    // Column by column is one of the orders that the attack cannot rule out, one cell per message.
    let batches: Vec<Vec<Clue>> = clues(&view, &theirs, 1_000_003)
        .into_iter()
        .flatten()
        .map(|clue| vec![clue])
        .collect();
    let settings = AttackSettings {
        feature: Feature::All,
        hypotheses: 2_000,
        mixed: false,
    };
    let belief = order_hidden::attack(
        &view,
        &view.uniform_probabilities(),
        &batches,
        settings,
        &|_| 0.0,
    );
    for letters in &belief {
        assert!((letters.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
    assert!(
        correct_letters(&belief, &theirs) >= 2.0,
        "{}",
        correct_letters(&belief, &theirs)
    );
}

#[test]
fn a_score_of_zero_reveals_everything_and_a_medium_score_little() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let same = view(Metric::Levenshtein, &[3, 4], &[3, 4]);
    let belief = score_only::attack(&same, 20_000, &mut rng);
    assert_eq!(correct_letters(&belief, &[3, 4]), 2.0);
    let none = view(Metric::Levenshtein, &[3, 4], &[7, 8]);
    let belief = score_only::attack(&none, 20_000, &mut rng);
    assert!(correct_letters(&belief, &[7, 8]) < 0.5);
}

#[test]
fn ciphertexts_without_fresh_randomness_reveal_the_letter() {
    let mut rng = veilpath_paillier::system_rng().unwrap();
    let key = veilpath_paillier::SecretKey::generate(KeySize::Bits512, &mut rng).unwrap();
    let view = view(Metric::Levenshtein, &[3], &[7]);
    for freshness in [Freshness::None, Freshness::Shared] {
        for letter in [3, 7] {
            let cell = randomness::first_cell_without(&key, &view, letter, freshness).unwrap();
            let found = randomness::attack(&key, &view, &cell).unwrap();
            assert_eq!(found, Some(letter), "{freshness:?}");
        }
    }
}

//! Tests for the flaw in the authors' code. The key holder knows the factors of n, so modulo p every (1+n)^m vanishes
//! and it sees the randomness of what the matrix owner sends. That randomness must be fresh and uniform in every
//! ciphertext.

use super::{
    Key, as_in_the_paper, assert_uniform, ciphertexts, cohort, key, looks_uniform, recorded_run,
    rng,
};
use crate::PaillierOptions;
use num_bigint::BigUint;
use num_traits::One;
use rand::RngExt;
use std::collections::HashMap;
use veilpath_metrics::Metric;

/// The class of a number under the character of this order modulo a prime.
fn class(number: &BigUint, prime: &BigUint, order: u32) -> BigUint {
    (number % prime).modpow(&((prime - 1u32) / order), prime)
}

/// All characters that the test uses: quadratic modulo p and q, and those of small odd order that exist.
fn characters(key: &Key) -> Vec<(&BigUint, u32)> {
    [&key.p, &key.q]
        .into_iter()
        .flat_map(|prime| {
            (2..30u32)
                .filter(move |order| ((prime - 1u32) % order) == BigUint::ZERO)
                .map(move |order| (prime, order))
        })
        .collect()
}

/// How often each class occurs, including those that never do.
fn classes<'a>(
    numbers: impl Iterator<Item = &'a BigUint>,
    (prime, order): (&BigUint, u32),
) -> Vec<usize> {
    let mut seen = HashMap::new();
    for number in numbers {
        *seen.entry(class(number, prime, order)).or_insert(0) += 1;
    }
    assert!(seen.len() <= order as usize);
    let mut counts: Vec<usize> = seen.into_values().collect();
    counts.resize(order as usize, 0);
    counts
}

#[test]
fn the_randomness_of_the_matrix_owner_is_uniform_under_all_small_characters() {
    let key = key();
    let characters = characters(&key);
    assert!(characters.contains(&(&key.p, 3)) && characters.contains(&(&key.q, 5)));
    let mut rng = rng(1);
    let mut scanpaths = |count: usize, length: usize| -> Vec<Vec<u16>> {
        let letters = |_| (0..length).map(|_| rng.random_range(0..12)).collect();
        (0..count).map(letters).collect()
    };
    // The same letters repeat, so any trace of the inputs would show.
    let few = (cohort(&[vec![3; 6]]), cohort(&scanpaths(6, 8)));
    // Enough ciphertexts to draw randomisers from tables.
    let many = (cohort(&scanpaths(2, 9)), cohort(&scanpaths(6, 9)));
    let packed = PaillierOptions::new(veilpath_paillier::KeySize::Bits512, true).unwrap();
    for (options, (a, b)) in [(as_in_the_paper(), few), (packed.with_packing(false), many)] {
        let (channel, _) = recorded_run(options, &Metric::Levenshtein, &key.secret, &a, &b);
        let sent = ciphertexts(&channel.received);
        assert!(sent.len() > 800);
        for &character in &characters {
            assert_uniform(
                "the matrix owner's randomness",
                &classes(sent.iter(), character),
            );
        }
    }
}

/// The key holder's D entries leave no trace in the matrix owner's three values of a cell. Without fresh randomness, the
/// value made from the entry would be a power of its randomness, and the two others would be powers of 1.
#[test]
fn the_randomness_of_the_matrix_owner_is_independent_of_the_key_holders() {
    let key = key();
    let mut rng = rng(2);
    let letters: Vec<Vec<u16>> = (0..16).map(|_| vec![rng.random_range(0..12)]).collect();
    let (a, b) = (cohort(&letters), cohort(&letters));
    // One cell per pair, one pair after another, so the key holder knows which cell it sees.
    let (channel, _) = recorded_run(as_in_the_paper(), &Metric::Levenshtein, &key.secret, &a, &b);
    let length = 128;
    let costs: Vec<BigUint> = channel
        .sent
        .iter()
        .filter(|bytes| bytes.len() == 12 * length)
        .flat_map(|bytes| bytes.chunks(length).map(BigUint::from_bytes_be))
        .collect();
    assert_eq!(costs.len(), 16 * 12);
    let cells: Vec<Vec<BigUint>> = channel
        .received
        .iter()
        .filter(|bytes| bytes.len() == 3 * length)
        .map(|bytes| bytes.chunks(length).map(BigUint::from_bytes_be).collect())
        .collect();
    assert_eq!(cells.len(), 16 * 16);
    for (prime, order) in [(&key.p, 2), (&key.q, 2), (&key.p, 3), (&key.q, 5)] {
        let mut joint: HashMap<_, usize> = HashMap::new();
        let mut broken: HashMap<_, usize> = HashMap::new();
        let mut share: HashMap<_, usize> = HashMap::new();
        // One fresh factor for all three values would cancel in their quotients, and most triples would agree.
        let agreeing = |values: &Vec<BigUint>| {
            let classes = values.iter().map(|value| class(value, prime, order));
            let distinct: std::collections::HashSet<_> = classes.collect();
            distinct.len() == 1
        };
        let agreeing = cells.iter().filter(|values| agreeing(values)).count();
        assert!(agreeing < 128, "order {order}: {agreeing}");
        for (pair, values) in cells.iter().enumerate() {
            let (i, j) = (pair / 16, pair % 16);
            let cost = &costs[i * 12 + usize::from(letters[j][0])];
            let entry = class(cost, prime, order);
            *share.entry(entry.clone()).or_default() += 1;
            for value in values {
                *joint
                    .entry((entry.clone(), class(value, prime, order)))
                    .or_default() += 1;
            }
            // The matrix owner's value without fresh randomness: the entry to a random power, and two powers of the border's 1.
            let factor = rng.random_range(1..1u64 << 40);
            let power = class(cost, prime, order).modpow(&BigUint::from(factor), prime);
            for value in [power, BigUint::one(), BigUint::one()] {
                *broken.entry((entry.clone(), value)).or_default() += 1;
            }
        }
        let independent = |joint: &HashMap<(BigUint, BigUint), usize>| {
            share.keys().all(|entry| {
                let of_entry = joint.iter().filter(|((of, _), _)| of == entry);
                let mut counts: Vec<usize> = of_entry.map(|(_, &count)| count).collect();
                counts.resize(order as usize, 0);
                looks_uniform(&counts)
            })
        };
        assert!(independent(&joint), "order {order}: {joint:?}");
        // The test detects the flaw if there is one.
        assert!(!independent(&broken), "order {order}: {broken:?}");
    }
}

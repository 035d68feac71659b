//! Everything that the key holder can read in a randomiser must be uniform.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

use crate::common;

use std::sync::Arc;

use common::{key, primes, seeded_rng};
use num_bigint::BigUint;
use num_traits::One;
use veilpath_paillier::{
    Kernel, KeySize, Plaintext, PublicKey, Randomizer, RandomizerPool, RandomizerSource,
    RandomizerTable, SecretKey,
};

const SIZE: KeySize = KeySize::Bits512;
const DRAWS: usize = 960;

/// The factor itself: an encryption of zero.
fn values(public: &PublicKey, randomizers: Vec<Randomizer>) -> Vec<BigUint> {
    let zero = Plaintext::from(0u64);
    let zeros = vec![&zero; randomizers.len()];
    let ciphertexts = public.encrypt_batch(&zeros, randomizers).unwrap();
    ciphertexts
        .iter()
        .map(|c| BigUint::from_bytes_be(&public.ciphertext_to_bytes(c).unwrap()))
        .collect()
}

fn sources() -> Vec<(SecretKey, &'static str, Vec<Randomizer>)> {
    let mut rng = seeded_rng(11);
    let mut all = Vec::new();
    for kernel in Kernel::all_available() {
        let draw = |name: &'static str, make: &mut dyn FnMut(SecretKey) -> Vec<Randomizer>| {
            let secret = key(SIZE).with_kernel(kernel).unwrap();
            (key(SIZE), name, make(secret))
        };
        all.push(draw("fresh, other side", &mut |k| {
            k.public_key().fresh_randomizers(DRAWS, &mut rng)
        }));
        all.push(draw("fresh, key holder", &mut |k| {
            k.fresh_randomizers(DRAWS, &mut rng)
        }));
        all.push(draw("table, other side", &mut |k| {
            RandomizerTable::for_other_side(k.public_key(), &mut rng).draw(DRAWS, &mut rng)
        }));
        all.push(draw("table, key holder", &mut |k| {
            RandomizerTable::for_key_holder(&Arc::new(k), &mut rng).draw(DRAWS, &mut rng)
        }));
    }
    all
}

/// Each of `classes` should occur equally often; the sum of squared deviations has that many degrees of freedom.
#[track_caller]
fn assert_uniform(name: &str, counts: &[usize]) {
    let expected = DRAWS as f64 / counts.len() as f64;
    let chi_square: f64 = counts
        .iter()
        .map(|&count| (count as f64 - expected).powi(2) / expected)
        .sum();
    let degrees_of_freedom = (counts.len() - 1) as f64;
    // Six standard deviations above the mean, and a margin for the skew of few classes.
    assert!(
        chi_square < degrees_of_freedom + 6.0 * (2.0 * degrees_of_freedom).sqrt() + 12.0,
        "{name}: {counts:?}"
    );
}

#[test]
fn characters_of_small_order_are_uniform() {
    let (p, q) = primes(SIZE);
    for (key, name, randomizers) in sources() {
        let values = values(key.public_key(), randomizers);
        // Legendre symbols modulo both primes, jointly.
        let residue = |x: &BigUint, prime: &BigUint| {
            (x % prime)
                .modpow(&((prime - 1u32) >> 1u32), prime)
                .is_one()
        };
        let mut joint = [0; 4];
        for x in &values {
            joint[usize::from(residue(x, &p)) * 2 + usize::from(residue(x, &q))] += 1;
        }
        assert_uniform(name, &joint);
        // The classes modulo ℓ-th powers, for every small ℓ that divides p − 1 or q − 1.
        for prime in [&p, &q] {
            for order in
                (3..60u32).filter(|&order| ((prime - 1u32) % order).to_u32_digits().is_empty())
            {
                let exponent = (prime - 1u32) / order;
                let mut classes = std::collections::HashMap::new();
                for x in &values {
                    *classes
                        .entry((x % prime).modpow(&exponent, prime))
                        .or_insert(0usize) += 1;
                }
                assert!(classes.len() <= order as usize);
                let mut counts: Vec<usize> = classes.into_values().collect();
                counts.resize(order as usize, 0);
                assert_uniform(name, &counts);
            }
        }
    }
}

#[test]
fn randomizers_are_distinct_powers_that_hide_zero() {
    for (key, name, randomizers) in sources() {
        let zero = Plaintext::from(0u64);
        let zeros = vec![&zero; DRAWS];
        let ciphertexts = key.public_key().encrypt_batch(&zeros, randomizers).unwrap();
        let decrypted = key
            .decrypt_batch(&ciphertexts.iter().collect::<Vec<_>>())
            .unwrap();
        assert!(decrypted.iter().all(|m| *m == zero), "{name}");
        let distinct: std::collections::HashSet<_> = ciphertexts
            .iter()
            .map(|c| key.public_key().ciphertext_to_bytes(c).unwrap())
            .collect();
        assert_eq!(distinct.len(), DRAWS, "{name}");
    }
}

fn assert_refills_and_serves_more_than_its_stock(source: Arc<dyn RandomizerSource>) {
    let key = key(SIZE);
    let pool = RandomizerPool::start(source, 20).unwrap();
    while pool.available() < 20 {
        std::thread::yield_now();
    }
    let taken = pool.take(60).unwrap();
    assert_eq!(taken.len(), 60);
    let values = values(key.public_key(), taken);
    assert_eq!(
        values
            .iter()
            .collect::<std::collections::HashSet<_>>()
            .len(),
        60
    );
    while pool.available() < 20 {
        std::thread::yield_now();
    }
    assert!(pool.available() < 20 + 32);
}

#[test]
fn a_pool_refills_and_serves_more_than_its_stock() {
    let key = Arc::new(key(SIZE));
    let mut rng = seeded_rng(2);
    let other = RandomizerTable::for_other_side(key.public_key(), &mut rng);
    let holder = RandomizerTable::for_key_holder(&key, &mut rng);
    assert_refills_and_serves_more_than_its_stock(Arc::new(other));
    assert_refills_and_serves_more_than_its_stock(Arc::new(holder));
    assert_refills_and_serves_more_than_its_stock(Arc::new(key.public_key().clone()));
    assert_refills_and_serves_more_than_its_stock(key);
}

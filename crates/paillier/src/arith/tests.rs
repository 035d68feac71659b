//! Both kernels against an independent big-integer library, on edge cases.

use num_bigint::BigUint;
use num_traits::One;
use proptest::prelude::*;

use super::{Exponent, Job, Kernel, Residue, Ring, Shape, SubsetProducts, Words, limbs};

/// Words that are likely to carry, overflow or vanish.
fn boundary_word() -> impl Strategy<Value = u64> {
    prop_oneof![
        3 => any::<u64>(),
        2 => Just(0),
        2 => Just(u64::MAX),
        1 => Just(1),
        1 => (0..64u32).prop_map(|bit| 1 << bit),
        1 => (0..64u32).prop_map(|bit| (1 << bit) - 1),
    ]
}

fn boundary_words(count: usize) -> impl Strategy<Value = Vec<u64>> {
    prop_oneof![
        6 => prop::collection::vec(boundary_word(), count),
        1 => Just(vec![u64::MAX; count]),
        1 => Just(vec![0; count]),
        // Ones only, or a single one, up to a limb boundary of the 52-bit radix.
        2 => (1..=count * 64 / 52, any::<bool>()).prop_map(move |(limbs, ones)| {
            let power = BigUint::one() << (52 * limbs);
            words_of(&if ones { power - 1u32 } else { power }, count)
        }),
    ]
}

/// Odd moduli with their top bit set, as all of ours have. Word counts of all key sizes and of their primes.
fn modulus() -> impl Strategy<Value = Vec<u64>> {
    prop::sample::select(vec![4usize, 8, 16, 24, 32, 48, 64]).prop_flat_map(|count| {
        boundary_words(count).prop_map(|mut words| {
            words[0] |= 1;
            *words.last_mut().unwrap() |= 1 << 63;
            words
        })
    })
}

fn boundary_element(modulus: &[u64]) -> impl Strategy<Value = BigUint> + use<> {
    let m = big(modulus);
    let m2 = &m * &m;
    let last = &m2 - 1u32;
    prop_oneof![
        5 => boundary_words(2 * modulus.len()).prop_map(move |words| big(&words) % &m2),
        1 => Just(BigUint::ZERO),
        1 => Just(BigUint::one()),
        1 => Just(last),
        1 => Just(&m - 1u32),
        1 => Just(m.clone()),
        1 => Just(&m + 1u32),
    ]
}

fn modulus_and_elements(count: usize) -> impl Strategy<Value = (Vec<u64>, Vec<BigUint>)> {
    modulus().prop_flat_map(move |m| {
        let elements = prop::collection::vec(boundary_element(&m), count);
        (Just(m), elements)
    })
}

fn big(words: &[u64]) -> BigUint {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    BigUint::from_bytes_le(&bytes)
}

fn words_of(value: &BigUint, count: usize) -> Vec<u64> {
    let mut words = value.to_u64_digits();
    words.resize(count, 0);
    words
}

fn rings(modulus: &[u64]) -> Vec<Ring> {
    let m = limbs::to_uint(modulus);
    Kernel::all_available()
        .into_iter()
        .map(|kernel| Ring::new(&m, kernel).unwrap())
        .collect()
}

fn residue(ring: &Ring, value: &BigUint) -> Residue {
    ring.residue(&limbs::to_uint(&words_of(value, 2 * ring.words())))
}

fn value(ring: &Ring, residue: &Residue) -> BigUint {
    big(&ring.joined(residue))
}

fn exponent(words: Vec<u64>) -> Exponent {
    let bits = u32::try_from(words.len() * 64).unwrap();
    Exponent::from_words(Words::copy(&words), bits)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn products_match_the_oracle((m, elements) in modulus_and_elements(2 * 11)) {
        let m2 = big(&m) * big(&m);
        for ring in rings(&m) {
            let residues: Vec<_> = elements.iter().map(|x| residue(&ring, x)).collect();
            let pairs: Vec<_> = residues.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
            for (pair, product) in elements.chunks(2).zip(ring.multiply(&pairs)) {
                prop_assert_eq!(value(&ring, &product), &pair[0] * &pair[1] % &m2, "{:?}", ring.kernel());
            }
            let all = elements.iter().fold(BigUint::one(), |product, x| product * x % &m2);
            prop_assert_eq!(value(&ring, &ring.product(&residues.iter().collect::<Vec<_>>())), all);
        }
    }

    #[test]
    fn digits_survive_the_round_trip((m, elements) in modulus_and_elements(3)) {
        for ring in rings(&m) {
            for element in &elements {
                prop_assert_eq!(&value(&ring, &residue(&ring, element)), element);
            }
        }
    }

    #[test]
    fn powers_match_the_oracle(
        (m, elements) in modulus_and_elements(9),
        exponents in prop::collection::vec(boundary_words(2), 9),
    ) {
        let m2 = big(&m) * big(&m);
        let secret: Vec<_> = exponents.iter().map(|words| exponent(words.clone())).collect();
        for ring in rings(&m) {
            let residues: Vec<_> = elements.iter().map(|x| residue(&ring, x)).collect();
            let pairs: Vec<_> = residues.iter().zip(&secret).collect();
            for ((x, e), power) in elements.iter().zip(&exponents).zip(ring.pow(&pairs)) {
                prop_assert_eq!(value(&ring, &power), x.modpow(&big(e), &m2), "{:?}", ring.kernel());
            }
            let public = ring.pow_public_vartime(&residues.iter().collect::<Vec<_>>(), &secret[0]);
            for (x, power) in elements.iter().zip(public) {
                prop_assert_eq!(value(&ring, &power), x.modpow(&big(&exponents[0]), &m2), "{:?}", ring.kernel());
            }
        }
    }

    #[test]
    fn shared_squarings_match_the_oracle(
        (m, elements) in modulus_and_elements(6),
        exponents in prop::collection::vec(boundary_words(1), 6),
        shifts in prop::collection::vec(0..150u32, 3),
    ) {
        let m2 = big(&m) * big(&m);
        let secret: Vec<_> = exponents.iter().map(|words| exponent(words.clone())).collect();
        let shape = Shape::new(shifts.iter().map(|&shift| (64, shift)).collect());
        for ring in rings(&m) {
            let residues: Vec<_> = elements.iter().map(|x| residue(&ring, x)).collect();
            let jobs: Vec<Job<'_>> = (0..2).map(|job| (0..3).map(|k| (&residues[3 * job + k], &secret[3 * job + k])).collect()).collect();
            for (job, product) in ring.multi_pow(&shape, &jobs).iter().enumerate() {
                let expected = (0..3).fold(BigUint::one(), |product, k| {
                    let e = big(&exponents[3 * job + k]) << shifts[k];
                    product * elements[3 * job + k].modpow(&e, &m2) % &m2
                });
                prop_assert_eq!(value(&ring, product), expected, "{:?}", ring.kernel());
            }
        }
    }

    #[test]
    fn fixed_bases_match_the_oracle(
        (m, elements) in modulus_and_elements(1),
        exponents in prop::collection::vec(boundary_words(1), 9),
        width in 1..7u32,
    ) {
        let m2 = big(&m) * big(&m);
        let secret: Vec<_> = exponents.iter().map(|words| exponent(words.clone())).collect();
        for ring in rings(&m) {
            let bases = ring.repeated_squares(&residue(&ring, &elements[0]), 64);
            let tables = SubsetProducts::new(&ring, &bases, width);
            let powers = tables.evaluate(&ring, &secret.iter().collect::<Vec<_>>());
            prop_assert_eq!(powers.len(), exponents.len());
            for (e, power) in exponents.iter().zip(powers) {
                prop_assert_eq!(value(&ring, &power), elements[0].modpow(&big(e), &m2), "{:?}", ring.kernel());
            }
        }
    }

    #[test]
    fn inverses_match_the_oracle((m, elements) in (1..40usize).prop_flat_map(modulus_and_elements)) {
        let (m_big, m2) = (big(&m), big(&m) * big(&m));
        let coprime: Vec<_> = elements.iter().filter(|x| num_integer::gcd((*x).clone(), m_big.clone()).is_one()).collect();
        for ring in rings(&m) {
            let residues: Vec<_> = coprime.iter().map(|x| residue(&ring, x)).collect();
            let inverses = ring.invert(&residues.iter().collect::<Vec<_>>()).unwrap();
            for (x, inverse) in coprime.iter().zip(inverses) {
                prop_assert!((*x * value(&ring, &inverse) % &m2).is_one());
            }
            if coprime.len() < elements.len() {
                let all: Vec<_> = elements.iter().map(|x| residue(&ring, x)).collect();
                prop_assert!(ring.invert(&all.iter().collect::<Vec<_>>()).is_none());
            }
        }
    }
}

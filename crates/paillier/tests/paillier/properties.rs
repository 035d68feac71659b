//! The properties of the cryptosystem that the protocol needs, for any numbers, on every kernel.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

use crate::common;

use common::{big, centred, integer, key, plaintext, seeded_rng, uint};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::One;
use proptest::prelude::*;
use veilpath_paillier::{
    Ciphertext, Kernel, KeySize, Misuse, PublicKey, Scalar, SecretKey, TermShape,
};

/// Numbers around zero, around ±n/2, at limb boundaries and anywhere between.
fn message() -> impl Strategy<Value = BigInt> {
    let half = big(key(KeySize::Bits512).public_key().modulus()) >> 1u32;
    let half = BigInt::from(half);
    let (upper, lower) = (half.clone(), -half.clone());
    prop_oneof![
        2 => any::<i64>().prop_map(BigInt::from),
        2 => (0..3i64).prop_map(move |k| &upper - k),
        2 => (0..3i64).prop_map(move |k| &lower + k),
        1 => Just(BigInt::ZERO),
        1 => Just(BigInt::one()),
        1 => Just(-BigInt::one()),
        2 => (1..500u32, any::<bool>()).prop_map(|(bits, below)| (BigInt::one() << bits) - i32::from(below)),
        3 => prop::collection::vec(any::<u8>(), 63).prop_map(|bytes| BigInt::from_bytes_be(num_bigint::Sign::Minus, &bytes)),
    ]
}

fn scalar() -> impl Strategy<Value = BigUint> {
    prop_oneof![
        any::<u128>().prop_map(BigUint::from),
        (0..4u32).prop_map(BigUint::from),
        (1..511u32).prop_map(|bits| BigUint::one() << bits),
        (1..512u32).prop_map(|bits| (BigUint::one() << bits) - 1u32),
    ]
}

fn keys() -> Vec<SecretKey> {
    let key = key(KeySize::Bits512);
    Kernel::all_available()
        .into_iter()
        .map(|kernel| key.with_kernel(kernel).unwrap())
        .collect()
}

fn encrypt(public: &PublicKey, messages: &[&BigInt]) -> Vec<Ciphertext> {
    let plaintexts: Vec<_> = messages.iter().map(|m| plaintext(m)).collect();
    let randomizers = public.fresh_randomizers(messages.len(), &mut seeded_rng(7));
    public
        .encrypt_batch(&plaintexts.iter().collect::<Vec<_>>(), randomizers)
        .unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn decryption_undoes_encryption(m in message()) {
        for key in keys() {
            let c = encrypt(key.public_key(), &[&m]);
            prop_assert_eq!(integer(&key.decrypt(&c[0]).unwrap()), m.clone());
        }
    }

    #[test]
    fn sums_and_differences(a in message(), b in message()) {
        for key in keys() {
            let (public, n) = (key.public_key(), big(key.public_key().modulus()));
            let c = encrypt(public, &[&a, &b]);
            let decrypted = |c: &Ciphertext| integer(&key.decrypt(c).unwrap());
            prop_assert_eq!(decrypted(&public.add(&c[0], &c[1]).unwrap()), centred(&(&a + &b), &n));
            prop_assert_eq!(decrypted(&public.subtract(&c[0], &c[1]).unwrap()), centred(&(&a - &b), &n));
            prop_assert_eq!(decrypted(&public.add_plain(&c[0], &plaintext(&b)).unwrap()), centred(&(&a + &b), &n));
            prop_assert_eq!(decrypted(&public.negate(&c[0]).unwrap()), -a.clone());
            prop_assert_eq!(decrypted(&public.trivial(&plaintext(&a)).unwrap()), a.clone());
        }
    }

    #[test]
    fn products_and_quotients(a in message(), k in scalar(), signed in message()) {
        for key in keys() {
            let (public, n) = (key.public_key(), big(key.public_key().modulus()));
            let c = encrypt(public, &[&a]);
            let decrypted = |c: &Ciphertext| integer(&key.decrypt(c).unwrap());
            let factor = Scalar::new(&uint(&k), 512).unwrap();
            let product = public.scalar_mul(&c[0], &factor).unwrap();
            prop_assert_eq!(decrypted(&product), centred(&(&a * BigInt::from(k.clone())), &n));
            let by_signed = public.scalar_mul(&c[0], &public.scalar(&plaintext(&signed)).unwrap()).unwrap();
            prop_assert_eq!(decrypted(&by_signed), centred(&(&a * &signed), &n));
            if k.gcd(&n).is_one() {
                prop_assert_eq!(decrypted(&public.scalar_div_batch(&[(&product, &factor)]).unwrap()[0]), a.clone());
            }
        }
    }

    #[test]
    fn fresh_randomness_changes_the_ciphertext_and_not_the_number(m in message()) {
        for key in keys() {
            let public = key.public_key();
            let c = encrypt(public, &[&m]).pop().unwrap();
            let randomizers = public.fresh_randomizers(1, &mut seeded_rng(8));
            let other = public.rerandomize_batch(&[&c], randomizers).unwrap().pop().unwrap();
            prop_assert!(c != other);
            prop_assert_eq!(integer(&key.decrypt(&other).unwrap()), m.clone());
        }
    }
}

#[test]
fn one_number_has_many_ciphertexts() {
    let key = key(KeySize::Bits512);
    let zero = plaintext(&BigInt::ZERO);
    let mut seen = std::collections::HashSet::new();
    for randomizer in key.public_key().fresh_randomizers(64, &mut seeded_rng(1)) {
        let c = key.public_key().encrypt(&zero, randomizer).unwrap();
        assert!(seen.insert(key.public_key().ciphertext_to_bytes(&c).unwrap()));
    }
}

#[test]
fn generated_keys_are_as_documented() {
    let mut rng = seeded_rng(99);
    for size in [KeySize::Bits512, KeySize::Bits1024] {
        let key = SecretKey::generate(size, &mut rng).unwrap();
        let text = key.to_file_text();
        let number = |name: &str| {
            let line = text
                .lines()
                .find_map(|line| line.strip_prefix(name))
                .unwrap();
            BigUint::parse_bytes(line.trim().as_bytes(), 16).unwrap()
        };
        let (n, p, q) = (number("n "), number("p "), number("q "));
        assert_eq!(n, &p * &q);
        assert_eq!(n.bits(), u64::from(size.bits()));
        assert_eq!((p.bits(), q.bits()), (n.bits() / 2, n.bits() / 2));
        assert_ne!(p, q);
        assert!(n.gcd(&((&p - 1u32) * (&q - 1u32))).is_one());
        let m = BigInt::from(-123_456_789);
        let c = encrypt(key.public_key(), &[&m]).pop().unwrap();
        assert_eq!(integer(&key.decrypt(&c).unwrap()), m);
    }
}

#[test]
fn numbers_that_do_not_fit_are_refused() {
    let key = key(KeySize::Bits512);
    let half = BigInt::from(big(key.public_key().modulus()) >> 1u32);
    for too_large in [&half + 1, -&half - 1, BigInt::one() << 600] {
        let error = key
            .public_key()
            .trivial(&plaintext(&too_large))
            .unwrap_err();
        assert!(matches!(
            error,
            veilpath_paillier::Error::Misuse(Misuse::PlaintextRange)
        ));
    }
}

#[test]
fn ciphertexts_of_two_keys_do_not_mix() {
    let (ours, theirs) = (
        key(KeySize::Bits512),
        SecretKey::generate(KeySize::Bits512, &mut seeded_rng(4)).unwrap(),
    );
    let one = plaintext(&BigInt::one());
    let (a, b) = (
        ours.public_key().trivial(&one).unwrap(),
        theirs.public_key().trivial(&one).unwrap(),
    );
    assert!(ours.public_key().add(&a, &b).is_err());
    assert!(ours.decrypt(&b).is_err());
    let of_other_key = theirs.public_key().fresh_randomizers(1, &mut seeded_rng(5));
    assert!(
        ours.public_key()
            .rerandomize_batch(&[&a], of_other_key)
            .is_err()
    );
}

#[test]
fn a_scalar_without_inverse_does_not_divide() {
    let key = key(KeySize::Bits512);
    let c = key
        .public_key()
        .trivial(&plaintext(&BigInt::one()))
        .unwrap();
    let nothing = Scalar::new(&uint(&BigUint::ZERO), 0).unwrap();
    let (p, _) = common::primes(KeySize::Bits512);
    let p = Scalar::new(&uint(&p), 256).unwrap();
    for scalar in [Scalar::from(0u64), nothing, p] {
        let quotients = key.public_key().scalar_div_batch(&[(&c, &scalar)]);
        assert!(quotients.is_err());
    }
}

#[test]
fn many_quotients_share_one_inversion() {
    let key = key(KeySize::Bits512);
    let public = key.public_key();
    let c = public
        .trivial(&plaintext(&BigInt::from(5_040 * 7)))
        .unwrap();
    let scalars: Vec<_> = (1..=21u64)
        .filter(|k| 5_040 * 7 % k == 0)
        .map(|k| (k, Scalar::from(k)))
        .collect();
    let pairs: Vec<_> = scalars.iter().map(|(_, scalar)| (&c, scalar)).collect();
    let quotients = public.scalar_div_batch(&pairs).unwrap();
    for ((k, _), quotient) in scalars.iter().zip(&quotients) {
        assert_eq!(
            key.decrypt(quotient).unwrap().to_i128(),
            Some(i128::from(5_040 * 7 / k))
        );
    }
}

#[test]
fn a_term_beyond_the_modulus_is_refused() {
    let key = key(KeySize::Bits512);
    let c = key
        .public_key()
        .trivial(&plaintext(&BigInt::one()))
        .unwrap();
    let scalar = Scalar::from(1u64);
    let shape = |shift_bits| {
        [TermShape {
            scalar_bits: 64,
            shift_bits,
        }]
    };
    let rows = [vec![(&c, &scalar)]];
    assert!(key.public_key().weighted_sums(&shape(448), &rows).is_ok());
    assert!(key.public_key().weighted_sums(&shape(449), &rows).is_err());
    assert!(
        key.public_key()
            .weighted_sums(&shape(u32::MAX), &rows)
            .is_err()
    );
    assert!(key.public_key().weighted_sums(&[], &rows).is_err());
}

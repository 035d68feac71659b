//! Received keys and ciphertexts are accepted only after checks.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

use crate::common;

use common::{big, key, primes, uint};
use num_bigint::BigUint;
use num_traits::One;
use veilpath_paillier::{CiphertextFault, Error, KeyFault, KeySize, PublicKey, SecretKey};

fn fault(modulus: &BigUint, minimum: KeySize) -> KeyFault {
    match PublicKey::from_modulus(&uint(modulus), minimum) {
        Err(Error::KeyRejected(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_proper_modulus_is_accepted() {
    for size in [KeySize::Bits512, KeySize::Bits2048] {
        let modulus = key(size).public_key().modulus().clone();
        assert_eq!(
            PublicKey::from_modulus(&modulus, size).unwrap().size(),
            size
        );
    }
}

#[test]
fn improper_moduli_are_refused() {
    let (p, q) = primes(KeySize::Bits1024);
    let n = &p * &q;
    let weakest = KeySize::Bits512;
    assert_eq!(
        fault(&n, KeySize::Bits2048),
        KeyFault::TooShort {
            bits: 1024,
            minimum: 2048
        }
    );
    assert_eq!(fault(&(&n >> 1u32), weakest), KeyFault::Size { bits: 1023 });
    assert_eq!(fault(&(&n << 1u32), weakest), KeyFault::Size { bits: 1025 });
    assert_eq!(fault(&BigUint::ZERO, weakest), KeyFault::Size { bits: 0 });
    assert_eq!(fault(&(&n - 1u32), weakest), KeyFault::Even);
    // A prime of a larger key is as long as a smaller modulus.
    assert_eq!(fault(&p, weakest), KeyFault::Prime);
    assert_eq!(fault(&(&p * &p), weakest), KeyFault::Square);
    let multiple = (BigUint::one() << 511u32) / 10_007u32 * 10_007u32 + 10_007u32;
    let multiple = if multiple.bit(0) {
        multiple
    } else {
        multiple + 10_007u32
    };
    assert_eq!(fault(&multiple, weakest), KeyFault::SmallFactor);
}

#[test]
fn primes_that_do_not_form_a_key_are_refused() {
    let (p, q) = primes(KeySize::Bits512);
    let (larger, _) = primes(KeySize::Bits1024);
    assert!(SecretKey::from_primes(&uint(&p), &uint(&p)).is_err());
    assert!(SecretKey::from_primes(&uint(&p), &uint(&larger)).is_err());
    assert!(SecretKey::from_primes(&uint(&p), &uint(&(&q + 2u32))).is_err());
    assert!(SecretKey::from_primes(&uint(&BigUint::ZERO), &uint(&q)).is_err());
}

#[test]
fn ciphertexts_are_checked() {
    let key = key(KeySize::Bits512);
    let public = key.public_key();
    let n = big(public.modulus());
    let (p, _) = primes(KeySize::Bits512);
    let encode = |value: &BigUint| {
        let bytes = value.to_bytes_be();
        [vec![0; 128 - bytes.len()], bytes].concat()
    };
    let read = |value: &BigUint| match public.ciphertext_from_bytes(&encode(value)) {
        Ok(_) => None,
        Err(Error::CiphertextRejected(fault)) => Some(fault),
        Err(other) => panic!("{other}"),
    };
    let square = &n * &n;
    assert_eq!(read(&BigUint::one()), None);
    assert_eq!(read(&(&square - 1u32)), None);
    assert_eq!(read(&square), Some(CiphertextFault::Range));
    assert_eq!(
        read(&((BigUint::one() << 1024u32) - 1u32)),
        Some(CiphertextFault::Range)
    );
    assert_eq!(read(&BigUint::ZERO), Some(CiphertextFault::NotInvertible));
    assert_eq!(read(&n), Some(CiphertextFault::NotInvertible));
    assert_eq!(read(&(&p * 3u32)), Some(CiphertextFault::NotInvertible));
    for length in [0, 127, 129] {
        let bytes = vec![1; length];
        assert!(matches!(
            public.ciphertext_from_bytes(&bytes),
            Err(Error::CiphertextRejected(CiphertextFault::Length {
                expected: 128,
                ..
            }))
        ));
    }
    // One invalid ciphertext makes the batch invalid.
    let (good, bad) = (encode(&BigUint::from(7u32)), encode(&p));
    assert_eq!(
        public
            .ciphertexts_from_bytes(&[&good, &good, &good])
            .unwrap()
            .len(),
        3
    );
    assert!(
        public
            .ciphertexts_from_bytes(&[&good, &bad, &good])
            .is_err()
    );
    assert!(public.ciphertexts_from_bytes(&[]).unwrap().is_empty());
}

#[test]
fn bytes_survive_the_round_trip() {
    let key = key(KeySize::Bits512);
    let bytes: Vec<u8> = (1..=128).collect();
    let ciphertext = key.public_key().ciphertext_from_bytes(&bytes).unwrap();
    assert_eq!(
        key.public_key().ciphertext_to_bytes(&ciphertext).unwrap(),
        bytes
    );
}

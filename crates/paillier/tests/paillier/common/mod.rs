//! Shared test helpers: fixed keys, a scripted generator, and conversions for the independent library.
#![allow(dead_code, reason = "each test uses its own part")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a test's helpers may fail the test

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::OnceLock;

use num_bigint::{BigInt, BigUint, Sign};
use rand::SeedableRng;
use rand::rand_core::{TryCryptoRng, TryRng};
use rand_chacha::ChaCha20Rng;
use serde_json::Value;
use veilpath_paillier::{BoxedUint, KeySize, Plaintext, SecretKey};

pub(crate) fn vectors() -> &'static [Value] {
    static VECTORS: OnceLock<Vec<Value>> = OnceLock::new();
    VECTORS.get_or_init(|| serde_json::from_str(include_str!("../data/vectors.json")).unwrap())
}

/// The key of that size in the known answers.
pub(crate) fn key(size: KeySize) -> SecretKey {
    let vectors = vectors().iter().find(|v| v["bits"] == size.bits()).unwrap();
    SecretKey::from_primes(&uint(&number(&vectors["p"])), &uint(&number(&vectors["q"]))).unwrap()
}

/// `p` and `q` of that key.
pub(crate) fn primes(size: KeySize) -> (BigUint, BigUint) {
    let vectors = vectors().iter().find(|v| v["bits"] == size.bits()).unwrap();
    (number(&vectors["p"]), number(&vectors["q"]))
}

pub(crate) fn number(value: &Value) -> BigUint {
    BigUint::parse_bytes(value.as_str().unwrap().as_bytes(), 16).unwrap()
}

pub(crate) fn signed_number(value: &Value) -> BigInt {
    BigInt::parse_bytes(value.as_str().unwrap().as_bytes(), 16).unwrap()
}

pub(crate) fn uint(value: &BigUint) -> BoxedUint {
    BoxedUint::from_be_slice_vartime(&value.to_bytes_be())
}

pub(crate) fn big(value: &BoxedUint) -> BigUint {
    BigUint::from_bytes_be(&value.to_be_bytes())
}

pub(crate) fn plaintext(value: &BigInt) -> Plaintext {
    Plaintext::from_sign_and_magnitude(value.sign() == Sign::Minus, &uint(value.magnitude()))
}

pub(crate) fn integer(plaintext: &Plaintext) -> BigInt {
    let magnitude = BigInt::from(big(&plaintext.magnitude()));
    if plaintext.is_negative() {
        -magnitude
    } else {
        magnitude
    }
}

/// The representative strictly between −n/2 and n/2.
pub(crate) fn centred(value: &BigInt, n: &BigUint) -> BigInt {
    let n = BigInt::from(n.clone());
    let value = num_integer::Integer::mod_floor(value, &n);
    if &value * 2 > n { value - n } else { value }
}

pub(crate) fn seeded_rng(seed: u64) -> ChaCha20Rng {
    ChaCha20Rng::seed_from_u64(seed)
}

/// Returns the scripted numbers, one per request.
pub(crate) struct ScriptedRng(VecDeque<BigUint>);

impl ScriptedRng {
    pub(crate) fn new(numbers: impl IntoIterator<Item = BigUint>) -> Self {
        Self(numbers.into_iter().collect())
    }
}

impl TryRng for ScriptedRng {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        panic!("the script has whole numbers only")
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        panic!("the script has whole numbers only")
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        let bytes = self
            .0
            .pop_front()
            .expect("the script is over")
            .to_bytes_le();
        out.fill(0);
        out[..bytes.len()].copy_from_slice(&bytes);
        Ok(())
    }
}

impl TryCryptoRng for ScriptedRng {}

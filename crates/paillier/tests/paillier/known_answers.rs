//! Compares with the answers of an independent program (`data/make_vectors.py`), for every key size and on every
//! kernel.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may fail loudly"
)]

use crate::common;

use common::{
    ScriptedRng, big, integer, key, number, plaintext, primes, signed_number, uint, vectors,
};
use num_bigint::BigUint;
use serde_json::Value;
use veilpath_paillier::{Ciphertext, Kernel, KeySize, PublicKey, Scalar, SecretKey, TermShape};

struct Case {
    vectors: &'static Value,
    secret: SecretKey,
    public: PublicKey,
    ciphertexts: Vec<Ciphertext>,
}

impl Case {
    fn list(&self, name: &str) -> &'static [Value] {
        self.vectors[name].as_array().unwrap()
    }

    fn ciphertext(&self, index: &Value) -> &Ciphertext {
        &self.ciphertexts[usize::try_from(index.as_u64().unwrap()).unwrap()]
    }

    #[track_caller]
    fn check(&self, found: &Ciphertext, expected: &Value) {
        let bytes = self.public.ciphertext_to_bytes(found).unwrap();
        assert_eq!(
            BigUint::from_bytes_be(&bytes),
            number(expected),
            "{:?}",
            self.public
        );
    }
}

fn cases() -> impl Iterator<Item = Case> {
    vectors().iter().flat_map(|vectors| {
        Kernel::all_available().into_iter().map(move |kernel| {
            let bits = u32::try_from(vectors["bits"].as_u64().unwrap()).unwrap();
            let secret = key(KeySize::try_from(bits).unwrap())
                .with_kernel(kernel)
                .unwrap();
            let public = secret.public_key().clone();
            assert_eq!(public.kernel(), kernel);
            let length = public.size().ciphertext_bytes();
            let ciphertexts = vectors["encryptions"]
                .as_array()
                .unwrap()
                .iter()
                .map(|encryption| {
                    let bytes = number(&encryption["c"]).to_bytes_be();
                    let padded = [vec![0; length - bytes.len()], bytes].concat();
                    public.ciphertext_from_bytes(&padded).unwrap()
                });
            let ciphertexts = ciphertexts.collect();
            Case {
                vectors,
                secret,
                public,
                ciphertexts,
            }
        })
    })
}

#[test]
fn keys_match_the_vectors() {
    for case in cases() {
        assert_eq!(big(case.public.modulus()), number(&case.vectors["n"]));
    }
}

#[test]
fn decryption_matches_the_vectors() {
    for case in cases() {
        let found = case
            .secret
            .decrypt_batch(&case.ciphertexts.iter().collect::<Vec<_>>())
            .unwrap();
        for (m, encryption) in found.iter().zip(case.list("encryptions")) {
            assert_eq!(integer(m), signed_number(&encryption["m"]));
        }
        let one = case.secret.decrypt(&case.ciphertexts[3]).unwrap();
        assert_eq!(
            integer(&one),
            signed_number(&case.list("encryptions")[3]["m"])
        );
    }
}

#[test]
fn encryption_by_either_side_matches_the_vectors() {
    for case in cases() {
        let encryptions = case.list("encryptions");
        let messages: Vec<_> = encryptions
            .iter()
            .map(|e| plaintext(&signed_number(&e["m"])))
            .collect();
        let messages: Vec<_> = messages.iter().collect();
        let mut rng = ScriptedRng::new(encryptions.iter().map(|e| number(&e["r"])));
        let by_other_side = case.public.fresh_randomizers(encryptions.len(), &mut rng);
        let for_p = encryptions.iter().map(|e| number(&e["r_p"]));
        let for_q = encryptions.iter().map(|e| number(&e["r_q"]));
        let by_holder = case
            .secret
            .fresh_randomizers(encryptions.len(), &mut ScriptedRng::new(for_p.chain(for_q)));
        for randomizers in [by_other_side, by_holder] {
            let found = case.public.encrypt_batch(&messages, randomizers).unwrap();
            for (c, encryption) in found.iter().zip(encryptions) {
                case.check(c, &encryption["c"]);
            }
        }
    }
}

#[test]
fn sums_and_differences_match_the_vectors() {
    for case in cases() {
        for vector in case.list("sums") {
            let (a, b) = (case.ciphertext(&vector["a"]), case.ciphertext(&vector["b"]));
            case.check(&case.public.add(a, b).unwrap(), &vector["sum"]);
            case.check(&case.public.sum(&[a, b]).unwrap(), &vector["sum"]);
            case.check(&case.public.subtract(a, b).unwrap(), &vector["difference"]);
        }
        for vector in case.list("plain_sums") {
            let k = plaintext(&signed_number(&vector["k"]));
            case.check(
                &case
                    .public
                    .add_plain(case.ciphertext(&vector["a"]), &k)
                    .unwrap(),
                &vector["c"],
            );
        }
    }
}

#[test]
fn products_and_quotients_match_the_vectors() {
    for case in cases() {
        let vectors = case.list("products");
        let scalars: Vec<Scalar> = vectors
            .iter()
            .map(|vector| {
                let k = number(&vector["k"]);
                let bits = u32::try_from(k.bits()).unwrap();
                Scalar::new(&uint(&k), bits).unwrap()
            })
            .collect();
        let pairs: Vec<_> = vectors
            .iter()
            .zip(&scalars)
            .map(|(v, k)| (case.ciphertext(&v["a"]), k))
            .collect();
        for (c, vector) in case
            .public
            .scalar_mul_batch(&pairs)
            .unwrap()
            .iter()
            .zip(vectors)
        {
            case.check(c, &vector["c"]);
        }
        case.check(
            &case.public.scalar_mul(pairs[2].0, pairs[2].1).unwrap(),
            &vectors[2]["c"],
        );
        for vector in case.list("quotients") {
            let k = Scalar::new(&uint(&number(&vector["k"])), 64).unwrap();
            let pairs = [(case.ciphertext(&vector["a"]), &k)];
            let quotients = case.public.scalar_div_batch(&pairs).unwrap();
            case.check(&quotients[0], &vector["c"]);
        }
    }
}

#[test]
fn weighted_sums_match_the_vectors() {
    for case in cases() {
        for vector in case.list("weighted") {
            let terms = vector["terms"].as_array().unwrap();
            let scalars: Vec<_> = terms
                .iter()
                .map(|t| Scalar::new(&uint(&number(&t[1])), 80).unwrap())
                .collect();
            let shape: Vec<_> = terms
                .iter()
                .map(|t| TermShape {
                    scalar_bits: 80,
                    shift_bits: u32::try_from(t[2].as_u64().unwrap()).unwrap(),
                })
                .collect();
            let row: Vec<_> = terms
                .iter()
                .zip(&scalars)
                .map(|(t, k)| (case.ciphertext(&t[0]), k))
                .collect();
            for c in case
                .public
                .weighted_sums(&shape, &[row.clone(), row])
                .unwrap()
            {
                case.check(&c, &vector["c"]);
            }
        }
    }
}

#[test]
fn rerandomized_ciphertexts_match_the_vectors() {
    for case in cases() {
        for vector in case.list("rerandomized") {
            let mut rng = ScriptedRng::new([number(&vector["r"])]);
            let randomizers = case.public.fresh_randomizers(1, &mut rng);
            let ciphertexts = [case.ciphertext(&vector["a"])];
            let fresh = case.public.rerandomize_batch(&ciphertexts, randomizers);
            case.check(&fresh.unwrap()[0], &vector["c"]);
        }
    }
}

#[test]
fn the_vectors_contain_the_primes_of_the_keys() {
    for size in KeySize::ALL {
        let (p, q) = primes(size);
        assert_eq!(big(key(size).public_key().modulus()), p * q);
    }
}

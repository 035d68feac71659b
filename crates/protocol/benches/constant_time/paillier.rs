//! Secret plaintexts, exponents and randomness in the Paillier cryptosystem, on every kernel of this processor.

use crate::hardened;
use crate::probe::{Expected::ConstantTime, Experiment, time};
use crate::statistics::Class;
use rand::rand_core::{TryCryptoRng, TryRng};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use std::convert::Infallible;
use std::sync::Arc;
use veilpath_paillier::{
    BoxedUint, Ciphertext, Kernel, KeySize, Plaintext, RandomizerSource, RandomizerTable, Scalar,
    SecretKey, SlotLayout, TermShape,
};

/// Timing depends on the key only through its length, so a short key shows as much and allows more measurements.
pub(crate) const SIZE: KeySize = KeySize::Bits1024;
/// The lanes of the SIMD kernel.
pub(crate) const BATCH: usize = 8;
/// The number of prepared batches of each class.
const POOL: usize = 32;
/// The length of a masking factor.
const FACTOR_BITS: u32 = 80;

pub(crate) fn all(experiment: &mut Experiment) {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let original = SecretKey::generate(SIZE, &mut rng).unwrap();
    for kernel in Kernel::all_available() {
        let key = Arc::new(original.with_kernel(kernel).unwrap());
        let name = |what: &str| format!("paillier {kernel:?}: {what}").to_lowercase();
        by_key_holder(experiment, &key, &name, &mut rng);
        by_other_side(experiment, &key, &name, &mut rng);
        hardened::all(experiment, &key, &name, &mut rng);
    }
    hardened::masks(experiment, &original);
    let layout = SlotLayout::with_max_slots(SIZE, 130).unwrap();
    experiment.probe(
        "paillier: packing zeros or numbers",
        ConstantTime,
        &mut |class, rng| {
            let values: Vec<BoxedUint> = (0..6).map(|_| number(class, 129, rng)).collect();
            time(|| layout.pack(&values).unwrap())
        },
    );
}

fn by_key_holder(
    experiment: &mut Experiment,
    key: &Arc<SecretKey>,
    name: &dyn Fn(&str) -> String,
    rng: &mut ChaCha20Rng,
) {
    let pools = [Class::Fixed, Class::Random].map(|class| pool(key, class, rng));
    experiment.probe(
        &name("decryption of zeros or numbers"),
        ConstantTime,
        &mut |class, rng| {
            let batch = &pools[class as usize][rng.random_range(0..POOL)];
            let batch: Vec<&Ciphertext> = batch.iter().collect();
            time(|| key.decrypt_batch(&batch).unwrap())
        },
    );
    let table = RandomizerTable::for_key_holder(key, rng);
    experiment.probe(
        &name("key holder's table, zeros or random"),
        ConstantTime,
        &mut |class, rng| {
            let mut prepared = Prepared::new(class, rng);
            time(|| table.draw(BATCH, &mut prepared))
        },
    );
    experiment.probe(
        &name("key holder's base, zeros or random"),
        ConstantTime,
        &mut |class, rng| {
            let mut prepared = Prepared::new(class, rng);
            time(|| key.fresh_randomizers(BATCH, &mut prepared))
        },
    );
}

fn by_other_side(
    experiment: &mut Experiment,
    key: &Arc<SecretKey>,
    name: &dyn Fn(&str) -> String,
    rng: &mut ChaCha20Rng,
) {
    let public = key.public_key();
    let ciphertexts = pool(key, Class::Random, rng).concat();
    let table = RandomizerTable::for_other_side(public, rng);
    experiment.probe(
        &name("table, zeros or random"),
        ConstantTime,
        &mut |class, rng| {
            let mut prepared = Prepared::new(class, rng);
            time(|| table.draw(BATCH, &mut prepared))
        },
    );
    experiment.probe(
        &name("encryption of zeros or numbers"),
        ConstantTime,
        &mut |class, rng| {
            let plaintexts: Vec<Plaintext> = (0..BATCH)
                .map(|_| Plaintext::from_uint(&number(class, SIZE.bits() - 2, rng)))
                .collect();
            let plaintexts: Vec<&Plaintext> = plaintexts.iter().collect();
            let randomizers = table.draw(BATCH, rng);
            time(|| public.encrypt_batch(&plaintexts, randomizers).unwrap())
        },
    );
    for (what, bits) in [
        ("short exponent, zero or random", FACTOR_BITS),
        ("long exponent, zero or random", SIZE.bits()),
    ] {
        experiment.probe(&name(what), ConstantTime, &mut |class, rng| {
            let scalars = scalars(class, bits, rng);
            let first = rng.random_range(0..ciphertexts.len() - BATCH);
            let pairs: Vec<_> = ciphertexts[first..].iter().zip(&scalars).collect();
            time(|| public.scalar_mul_batch(&pairs).unwrap())
        });
    }
    experiment.probe(
        &name("masks of a batch, zero or random"),
        ConstantTime,
        &mut |class, rng| {
            let scalars = scalars(class, FACTOR_BITS, rng);
            let first = rng.random_range(0..ciphertexts.len() - 3 * BATCH);
            let shape = [0, 130, 260].map(|shift_bits| TermShape {
                scalar_bits: FACTOR_BITS,
                shift_bits,
            });
            let rows: Vec<Vec<_>> = ciphertexts[first..]
                .chunks(3)
                .zip(&scalars)
                .map(|(row, scalar)| row.iter().map(|c| (c, scalar)).collect())
                .collect();
            time(|| public.weighted_sums(&shape, &rows).unwrap())
        },
    );
    experiment.probe(
        &name("inverse of one or random"),
        ConstantTime,
        &mut |class, rng| {
            let scalars: Vec<Scalar> = (0..BATCH)
                .map(|_| {
                    let one = BoxedUint::one_with_precision(128);
                    let value = number(class, FACTOR_BITS, rng).bitor(&one);
                    Scalar::new(&value, FACTOR_BITS).unwrap()
                })
                .collect();
            let scalars: Vec<&Scalar> = scalars.iter().collect();
            time(|| public.inverse_batch(&scalars).unwrap())
        },
    );
}

/// Batches of ciphertexts of zeros or of random numbers, each under fresh randomness.
fn pool(key: &SecretKey, class: Class, rng: &mut ChaCha20Rng) -> Vec<Vec<Ciphertext>> {
    let batch = |_| {
        let plaintexts: Vec<Plaintext> = (0..BATCH)
            .map(|_| Plaintext::from_uint(&number(class, SIZE.bits() - 2, rng)))
            .collect();
        key.encrypt_batch(&plaintexts.iter().collect::<Vec<_>>(), rng)
            .unwrap()
    };
    (0..POOL).map(batch).collect()
}

/// Zero or a random number, with the same number of words, and drawn in the same time.
pub(crate) fn number(class: Class, bits: u32, rng: &mut ChaCha20Rng) -> BoxedUint {
    let words = bits.div_ceil(64);
    let mask = [0, u64::MAX][class as usize];
    let words: Vec<u64> = (0..words)
        .map(|index| {
            let word_bits = (bits - 64 * index).min(64);
            (rng.next_u64() & mask) >> (64 - word_bits)
        })
        .collect();
    BoxedUint::from_words(words)
}

fn scalars(class: Class, bits: u32, rng: &mut ChaCha20Rng) -> Vec<Scalar> {
    (0..BATCH)
        .map(|_| Scalar::new(&number(class, bits, rng), bits).unwrap())
        .collect()
}

/// Randomness that was drawn before the measurement, or zeros instead.
pub(crate) struct Prepared {
    bytes: Vec<u8>,
    given_out: usize,
}

impl Prepared {
    fn new(class: Class, rng: &mut ChaCha20Rng) -> Self {
        Self::of(class, 64 << 10, rng)
    }

    /// `length` bytes.
    pub(crate) fn of(class: Class, length: usize, rng: &mut ChaCha20Rng) -> Self {
        let mut bytes = vec![0; length];
        rng.fill_bytes(&mut bytes);
        let mask = [0, u8::MAX][class as usize];
        bytes.iter_mut().for_each(|byte| *byte &= mask);
        Self {
            bytes,
            given_out: 0,
        }
    }
}

impl TryRng for Prepared {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        let mut bytes = [0; 4];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        let mut bytes = [0; 8];
        self.try_fill_bytes(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Infallible> {
        out.copy_from_slice(&self.bytes[self.given_out..self.given_out + out.len()]);
        self.given_out += out.len();
        Ok(())
    }
}

impl TryCryptoRng for Prepared {}

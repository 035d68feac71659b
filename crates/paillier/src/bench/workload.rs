//! A batch of each operation, ready to run.

use core::hint::black_box;
use std::sync::Arc;

use crypto_bigint::{BoxedUint, RandomBits};
use rand::CryptoRng;

use super::{BATCH, Operation};
use crate::ciphertext::Ciphertext;
use crate::error::{Misuse, Result};
use crate::plaintext::Plaintext;
use crate::public_key::PublicKey;
use crate::randomizer::{RandomizerSource, RandomizerTable};
use crate::scalar::Scalar;
use crate::secret_key::SecretKey;

/// Keys, tables and a batch of inputs for every operation.
pub struct Workload {
    key: Arc<SecretKey>,
    public: PublicKey,
    holder_table: RandomizerTable,
    other_table: RandomizerTable,
    plaintexts: Vec<Plaintext>,
    ciphertexts: Vec<Ciphertext>,
    scalars: [Vec<Scalar>; 3],
}

impl Workload {
    /// Ciphertexts per batch.
    pub const BATCH: u64 = BATCH as u64;

    /// Prepares everything for the kernel of this key.
    pub fn new<R: CryptoRng>(key: SecretKey, rng: &mut R) -> Result<Self> {
        let key = Arc::new(key);
        let public = key.public_key().clone();
        let plaintexts: Vec<_> = (0..BATCH)
            .map(|_| Plaintext::from(rng.next_u64()))
            .collect();
        let randomizers = public.fresh_randomizers(BATCH, rng);
        let ciphertexts =
            public.encrypt_batch(&plaintexts.iter().collect::<Vec<_>>(), randomizers)?;
        let mut scalars = |bits: u32| -> Result<Vec<Scalar>> {
            let random = |_| Scalar::new(&random_bits(rng, bits)?, bits);
            (0..BATCH).map(random).collect()
        };
        let scalars = [scalars(64)?, scalars(128)?, scalars(public.size().bits())?];
        Ok(Self {
            holder_table: RandomizerTable::for_key_holder(&key, rng),
            other_table: RandomizerTable::for_other_side(&public, rng),
            key,
            public,
            plaintexts,
            ciphertexts,
            scalars,
        })
    }

    /// Returns the key, for another kernel.
    pub(super) fn into_key(self) -> Result<SecretKey> {
        drop(self.holder_table);
        Arc::into_inner(self.key).ok_or_else(|| Misuse::WrongKey.into())
    }

    #[cfg(feature = "gmp")]
    pub(super) fn key(&self) -> &SecretKey {
        &self.key
    }

    /// Runs one batch.
    pub fn run<R: CryptoRng>(&mut self, operation: Operation, rng: &mut R) -> Result<()> {
        let plaintexts: Vec<_> = self.plaintexts.iter().collect();
        let ciphertexts: Vec<_> = self.ciphertexts.iter().collect();
        let times = |scalars: &[Scalar]| -> Result<Vec<Ciphertext>> {
            self.public
                .scalar_mul_batch(&ciphertexts.iter().copied().zip(scalars).collect::<Vec<_>>())
        };
        let encrypt = |randomizers| self.public.encrypt_batch(&plaintexts, randomizers);
        match operation {
            Operation::EncryptKeyHolder => {
                drop(black_box(encrypt(self.holder_table.draw(BATCH, rng))?))
            }
            Operation::EncryptKeyHolderFresh => {
                drop(black_box(encrypt(self.key.fresh_randomizers(BATCH, rng))?))
            }
            Operation::EncryptOtherSide => {
                drop(black_box(encrypt(self.other_table.draw(BATCH, rng))?))
            }
            Operation::EncryptOtherSideFresh => drop(black_box(encrypt(
                self.public.fresh_randomizers(BATCH, rng),
            )?)),
            Operation::Decrypt => drop(black_box(self.key.decrypt_batch(&ciphertexts)?)),
            Operation::Add => {
                let pairs: Vec<_> = ciphertexts
                    .iter()
                    .copied()
                    .zip(ciphertexts.iter().copied())
                    .collect();
                drop(black_box(self.public.add_batch(&pairs)?));
            }
            Operation::ScalarMul64 => drop(black_box(times(&self.scalars[0])?)),
            Operation::ScalarMul128 => drop(black_box(times(&self.scalars[1])?)),
            Operation::ScalarMulFull => drop(black_box(times(&self.scalars[2])?)),
            Operation::Rerandomize => {
                let randomizers = self.other_table.draw(BATCH, rng);
                drop(black_box(
                    self.public.rerandomize_batch(&ciphertexts, randomizers)?,
                ));
            }
        }
        Ok(())
    }
}

fn random_bits<R: CryptoRng>(rng: &mut R, bits: u32) -> Result<BoxedUint> {
    BoxedUint::try_random_bits(rng, bits).map_err(|_| Misuse::ScalarLength { bits }.into())
}

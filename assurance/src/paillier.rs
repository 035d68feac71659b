//! The Paillier cryptosystem on the portable kernel: secret keys, plaintexts, scalars and randomisers.

use crate::blocks;
use crate::secret_rng::SecretRng;
use crate::valgrind::{mark_public, mark_secret};
use core::hint::black_box;
use rand::SeedableRng;
use rand_chacha::ChaCha20Rng;
use std::sync::Arc;
use veilpath_paillier::{
    BoxedUint, Ciphertext, Kernel, KeySize, Plaintext, PublicKey, RandomizerSource,
    RandomizerTable, Scalar, SecretKey, SlotLayout, TermShape,
};

const SIZE: KeySize = KeySize::Bits512;

/// A key with all numbers marked secret except those of its public half.
pub struct Keys {
    pub secret: Arc<SecretKey>,
    pub public: PublicKey,
    /// Ciphertexts of public numbers, themselves public.
    ciphertexts: Vec<Ciphertext>,
}

impl Keys {
    pub fn new() -> Self {
        let mut rng = ChaCha20Rng::seed_from_u64(5);
        let original = SecretKey::generate(SIZE, &mut rng).expect("a key can be made");
        let public = original
            .public_key()
            .with_kernel(Kernel::Portable)
            .expect("the portable kernel is everywhere");
        let (secret, numbers) = blocks::secret_memory(
            || {
                public
                    .with_kernel(Kernel::Portable)
                    .expect("a public key can be made again")
            },
            || {
                let key = original.with_kernel(Kernel::Portable);
                Arc::new(key.expect("a secret key can be made again"))
            },
        );
        // Two rings modulo primes, each with constants, and the values that combine them (CRT).
        assert!(numbers.len() >= 20, "the secret numbers were not found");
        let randomizers = secret.fresh_randomizers(3, &mut rng);
        let plaintexts = [5u64, 0, u64::MAX].map(Plaintext::from);
        let ciphertexts = public
            .encrypt_batch(&plaintexts.each_ref(), randomizers)
            .expect("small numbers can be encrypted");
        for block in numbers {
            mark_secret(block);
        }
        Self {
            secret: Arc::clone(secret),
            public,
            ciphertexts,
        }
    }

    fn ciphertexts(&self) -> Vec<&Ciphertext> {
        self.ciphertexts.iter().collect()
    }

    /// Ciphertexts to plaintexts.
    pub fn decrypt(&self) {
        let opened = self.secret.decrypt_batch(&self.ciphertexts());
        assert_eq!(opened.expect("ciphertexts of this key").len(), 3);
    }

    /// Randomisers modulo the secret primes.
    pub fn key_holder_randomizers(&self) {
        let mut rng = SecretRng::new(1);
        assert_eq!(self.secret.fresh_randomizers(2, &mut rng).len(), 2);
    }

    /// The same with precomputed tables.
    pub fn key_holder_table(&self) {
        let table = RandomizerTable::for_key_holder(&self.secret, &mut SecretRng::new(2));
        assert_eq!(table.draw(2, &mut SecretRng::new(3)).len(), 2);
    }

    /// Randomisers for the other side's key, fresh and from tables.
    pub fn other_side_randomizers(&self) {
        let mut rng = SecretRng::new(4);
        assert_eq!(self.public.fresh_randomizers(2, &mut rng).len(), 2);
        let table = RandomizerTable::for_other_side(&self.public, &mut rng);
        assert_eq!(table.draw(2, &mut rng).len(), 2);
    }

    /// Secret numbers, positive and negative, to ciphertexts.
    pub fn encrypt(&self) {
        let mut rng = SecretRng::new(5);
        let plaintexts = [secret_plaintext(false), secret_plaintext(true)];
        let randomizers = self.public.fresh_randomizers(2, &mut rng);
        let encrypted = self
            .public
            .encrypt_batch(&plaintexts.each_ref(), randomizers)
            .expect("small numbers can be encrypted");
        let bytes = self.public.ciphertext_to_bytes(&encrypted[0]);
        mark_public(&bytes.expect("a ciphertext of this key"));
    }

    /// Powers with secret exponents, one by one and with shared squarings.
    pub fn scalars(&self) {
        let scalar = secret_scalar();
        let pairs: Vec<_> = self.ciphertexts.iter().map(|c| (c, &scalar)).collect();
        self.public.scalar_mul_batch(&pairs).expect("this key's");
        let shape = [0, 130].map(|shift_bits| TermShape {
            scalar_bits: 80,
            shift_bits,
        });
        self.public
            .weighted_sums(&shape, &[pairs[..2].to_vec()])
            .expect("two terms that fit");
    }

    /// The division by a secret scalar: its inverse modulo n, and the power with it.
    pub fn division(&self) {
        let scalar = secret_scalar();
        self.public
            .scalar_div_batch(&[(&self.ciphertexts[0], &scalar)])
            .expect("an odd number below the primes has an inverse");
    }

    /// Packs secret values into slots, and unpacks them.
    pub fn packing(&self) {
        let layout = SlotLayout::with_max_slots(SIZE, 100).expect("slots that fit");
        let values: Vec<BoxedUint> = (0..3).map(|_| secret_number(90)).collect();
        let packed = layout.pack(&values).expect("values that fit");
        layout.unpack(&packed).expect("what was packed");
    }
}

fn secret_number(bits: u32) -> BoxedUint {
    let number = BoxedUint::from(0x1234_5678_9abc_def1_0fed_cba9_8765_4321u128);
    let number = number.shr(128 - bits);
    mark_secret(number.as_words());
    number
}

fn secret_plaintext(negative: bool) -> Plaintext {
    let sign = [u8::from(negative)];
    mark_secret(&sign);
    let negative = *black_box(&sign[0]) == 1;
    Plaintext::from_sign_and_magnitude(negative, &secret_number(100))
}

fn secret_scalar() -> Scalar {
    Scalar::new(&secret_number(80), 80).expect("80 bits")
}

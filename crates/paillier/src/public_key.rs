//! The public key: `n`, with `g = n + 1`.

use std::sync::Arc;

use crypto_bigint::{BoxedUint, ConcatenatingSquare, NonZero};
use crypto_primes::{Flavor, is_prime};

use crate::arith::{Exponent, Factor, Kernel, Ring, Words, limbs};
use crate::error::{Error, KeyFault, Misuse, Result};
use crate::key_size::KeySize;
use crate::plaintext::Plaintext;
use crate::scalar::Scalar;

/// Divisors below this are looked for in foreign moduli.
const TRIAL_DIVISION_LIMIT: u64 = 1 << 14;

/// Encrypts, and computes with what is encrypted. Cheap to clone.
#[derive(Clone)]
pub struct PublicKey {
    shared: Arc<Shared>,
}

struct Shared {
    size: KeySize,
    id: KeyId,
    ring: Ring,
    /// `n²`, as ciphertexts are written.
    modulus_squared: Box<[u8]>,
    /// What the upper half of a ciphertext's number is multiplied by.
    upper_half: Factor,
    /// `n` as the exponent of fresh randomisers.
    exponent: Exponent,
}

/// Tells keys apart, so that ciphertexts of two keys are not mixed up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct KeyId(u64);

impl PublicKey {
    /// A key from elsewhere, once it is odd, of a known size, at least as long as agreed on, and neither a prime, nor
    /// a square, nor a multiple of a small number.
    pub fn from_modulus(modulus: &BoxedUint, minimum: KeySize) -> Result<Self> {
        let size = KeySize::try_from(modulus.bits_vartime())?;
        if size < minimum {
            return Err(KeyFault::TooShort {
                bits: size.bits(),
                minimum: minimum.bits(),
            }
            .into());
        }
        if modulus.as_words().first().is_none_or(|word| word & 1 == 0) {
            return Err(KeyFault::Even.into());
        }
        let words = limbs::from_uint(modulus, size.bits() as usize / 64);
        if (3..TRIAL_DIVISION_LIMIT)
            .step_by(2)
            .any(|divisor| remainder(&words, divisor) == 0)
        {
            return Err(KeyFault::SmallFactor.into());
        }
        if is_prime(Flavor::Any, modulus) {
            return Err(KeyFault::Prime.into());
        }
        if modulus.checked_sqrt_vartime().is_some() {
            return Err(KeyFault::Square.into());
        }
        Self::from_trusted_modulus(modulus, Kernel::detect())
    }

    /// The key whose modulus was made here.
    pub(crate) fn from_trusted_modulus(modulus: &BoxedUint, kernel: Kernel) -> Result<Self> {
        let size = KeySize::try_from(modulus.bits_vartime())?;
        let ring = Ring::new(modulus, kernel).ok_or(Misuse::KernelUnavailable)?;
        let shared = Shared {
            size,
            id: KeyId(limbs::from_uint(modulus, 1)[0]),
            modulus_squared: ring.modulus().as_ref().concatenating_square().to_be_bytes(),
            upper_half: ring.factor(
                &ring.residue(&BoxedUint::one_with_precision(2 * size.bits()).shl(size.bits())),
            ),
            exponent: Exponent::new(modulus, size.bits()),
            ring,
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// The same key, computing with another kernel.
    pub fn with_kernel(&self, kernel: Kernel) -> Result<Self> {
        Self::from_trusted_modulus(self.modulus(), kernel)
    }

    /// The kernel that computes.
    pub fn kernel(&self) -> Kernel {
        self.shared.ring.kernel()
    }

    /// κ.
    pub fn size(&self) -> KeySize {
        self.shared.size
    }

    /// `n`.
    pub fn modulus(&self) -> &BoxedUint {
        self.shared.ring.modulus().as_ref()
    }

    /// The inverse of a scalar modulo `n`: multiplying by it divides.
    pub fn inverse(&self, scalar: &Scalar) -> Result<Scalar> {
        let mut inverses = self.inverse_batch(&[scalar])?;
        inverses
            .pop()
            .ok_or_else(|| Misuse::ScalarNotInvertible.into())
    }

    /// The inverse of each scalar modulo `n`, for little more than the price of one.
    pub fn inverse_batch(&self, scalars: &[&Scalar]) -> Result<Vec<Scalar>> {
        let zero = BoxedUint::zero_with_precision(self.modulus().bits_precision());
        let elements: Vec<_> = scalars
            .iter()
            .map(|scalar| {
                let words = scalar.exponent().words();
                if words.len() <= self.ring().words() {
                    return self.ring().residue_of_words(words);
                }
                let reduced = scalar.to_uint().rem(self.nonzero_modulus());
                self.ring().residue_of_digits(&reduced, &zero)
            })
            .collect();
        let inverses = self.ring().invert(&elements.iter().collect::<Vec<_>>());
        let inverses = inverses.ok_or(Misuse::ScalarNotInvertible)?;
        // The low digit of an inverse modulo n² is the inverse modulo n.
        inverses
            .iter()
            .map(|inverse| {
                let words = Words::copy(inverse.low());
                Ok(Scalar::of_words(words, self.size().bits()))
            })
            .collect()
    }

    /// A signed number as a factor modulo `n`. Takes the time of a scalar of full length, whatever its sign.
    pub fn scalar(&self, value: &Plaintext) -> Result<Scalar> {
        Ok(Scalar::of_words(self.encode(value)?, self.size().bits()))
    }

    /// The number modulo `n` that stands for a signed one.
    pub(crate) fn encode(&self, plaintext: &Plaintext) -> Result<Words> {
        let modulus = self.ring().modulus_words();
        let mut encoded = Words::zeros(modulus.len());
        let mut beyond = 0;
        for (index, &word) in plaintext.words().iter().enumerate() {
            match encoded.get_mut(index) {
                Some(place) => *place = word,
                None => beyond |= word,
            }
        }
        let negated = limbs::difference(modulus, &encoded);
        // A number of at most n/2 is less than what is left to n.
        let in_range = limbs::is_less(&encoded, modulus) & limbs::is_less(&encoded, &negated);
        if beyond | (in_range ^ 1) != 0 {
            return Err(Misuse::PlaintextRange.into());
        }
        limbs::replace_if(u64::from(plaintext.is_negative()), &mut encoded, &negated);
        Ok(encoded)
    }

    /// The signed number that a number below `n` stands for.
    pub(crate) fn decode(&self, mut residue: Words) -> Plaintext {
        let negated = limbs::difference(self.ring().modulus_words(), &residue);
        let negative = limbs::is_less(&negated, &residue);
        limbs::replace_if(negative, &mut residue, &negated);
        Plaintext::from_words(negative == 1, residue)
    }

    pub(crate) fn nonzero_modulus(&self) -> &NonZero<BoxedUint> {
        self.shared.ring.modulus()
    }

    pub(crate) fn modulus_squared(&self) -> &[u8] {
        &self.shared.modulus_squared
    }

    pub(crate) fn upper_half(&self) -> &Factor {
        &self.shared.upper_half
    }

    pub(crate) fn ring(&self) -> &Ring {
        &self.shared.ring
    }

    pub(crate) fn id(&self) -> KeyId {
        self.shared.id
    }

    pub(crate) fn modulus_exponent(&self) -> &Exponent {
        &self.shared.exponent
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &Self) -> bool {
        self.modulus() == other.modulus()
    }
}

impl Eq for PublicKey {}

impl core::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("PublicKey")
            .field("size", &self.size())
            .field("kernel", &self.kernel())
            .finish()
    }
}

impl TryFrom<&BoxedUint> for PublicKey {
    type Error = Error;

    /// Checked like [`Self::from_modulus`], with the default size as the minimum.
    fn try_from(modulus: &BoxedUint) -> Result<Self> {
        Self::from_modulus(modulus, KeySize::default())
    }
}

/// The remainder of a public number by a divisor below 2^32.
fn remainder(words: &[u64], divisor: u64) -> u64 {
    words.iter().rev().fold(0, |rest, word| {
        let upper = (rest << 32 | word >> 32) % divisor;
        (upper << 32 | word & 0xffff_ffff) % divisor
    })
}

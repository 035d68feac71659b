//! The public key: `n`, with `g = n + 1`.

use std::sync::Arc;

use crypto_bigint::{BoxedUint, Choice, ConcatenatingSquare, CtGt, CtSelect, NonZero};
use crypto_primes::{Flavor, is_prime};

use crate::arith::{Exponent, Kernel, Ring, limbs};
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
    modulus_squared: BoxedUint,
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
            modulus_squared: ring.modulus().as_ref().concatenating_square(),
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
                let reduced = scalar.to_uint().rem(self.nonzero_modulus());
                self.ring().residue_of_digits(&reduced, &zero)
            })
            .collect();
        let inverses = self.ring().invert(&elements.iter().collect::<Vec<_>>());
        let inverses = inverses.ok_or(Misuse::ScalarNotInvertible)?;
        // The low digit of an inverse modulo n² is the inverse modulo n.
        inverses
            .iter()
            .map(|inverse| Scalar::new(&limbs::to_uint(inverse.low()), self.size().bits()))
            .collect()
    }

    /// A signed number as a factor modulo `n`. Takes the time of a scalar of full length, whatever its sign.
    pub fn scalar(&self, value: &Plaintext) -> Result<Scalar> {
        Scalar::new(&self.encode(value)?, self.size().bits())
    }

    /// The number modulo `n` that stands for a signed one.
    pub(crate) fn encode(&self, plaintext: &Plaintext) -> Result<BoxedUint> {
        let modulus = self.modulus();
        let magnitude = plaintext.magnitude();
        if magnitude.bits() >= modulus.bits_precision() {
            return Err(Misuse::PlaintextRange.into());
        }
        let magnitude = limbs::resize(&magnitude, modulus);
        if magnitude.ct_gt(&modulus.shr(1)).into() {
            return Err(Misuse::PlaintextRange.into());
        }
        let negated = magnitude.neg_mod(self.nonzero_modulus());
        let negative = Choice::from_u8_lsb(u8::from(plaintext.is_negative()));
        Ok(magnitude.ct_select(&negated, negative))
    }

    /// The signed number that a number modulo `n` stands for.
    pub(crate) fn decode(&self, residue: &BoxedUint) -> Plaintext {
        let negative = residue.ct_gt(&self.modulus().shr(1));
        let magnitude = residue.ct_select(&self.modulus().wrapping_sub(residue), negative);
        Plaintext::from_sign_and_magnitude(negative.into(), &magnitude)
    }

    pub(crate) fn nonzero_modulus(&self) -> &NonZero<BoxedUint> {
        self.shared.ring.modulus()
    }

    pub(crate) fn modulus_squared(&self) -> &BoxedUint {
        &self.shared.modulus_squared
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

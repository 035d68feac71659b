//! The secret key: the two primes, and the arithmetic modulo their squares.

use crypto_bigint::{BoxedUint, ConcatenatingMul, ConcatenatingSquare, CtEq, Gcd, NonZero, Odd};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::arith::{Exponent, Factor, Kernel, Residue, Ring, limbs};
use crate::ciphertext::Ciphertext;
use crate::error::{KeyFault, Misuse, Result};
use crate::key_size::KeySize;
use crate::plaintext::Plaintext;
use crate::public_key::PublicKey;

/// Fermat's method would find primes closer than `2^(κ/2 − 100)`.
const MINIMUM_DISTANCE_SLACK: u32 = 100;

/// Decrypts. Erased when dropped. Cannot be printed or copied:
///
/// ```compile_fail
/// fn print(key: &veilpath_paillier::SecretKey) {
///     println!("{key:?}");
/// }
/// ```
///
/// ```compile_fail
/// fn copy(key: &veilpath_paillier::SecretKey) -> veilpath_paillier::SecretKey {
///     key.clone()
/// }
/// ```
pub struct SecretKey {
    public: PublicKey,
    p: PrimeHalf,
    q: PrimeHalf,
    /// The factor that turns the logarithm modulo `p²` into the message modulo `p`.
    correction: Factor,
    /// The same factor modulo `q`, divided by `p`.
    divided_correction: Factor,
    /// `−p⁻¹ mod q`.
    minus_p_inverse: Factor,
    /// The element that is 1 modulo `p²` and 0 modulo `q²`, and the one with 0 and 1.
    idempotents: [Factor; 2],
}

/// Precomputed values for decryption and randomisers modulo the square of one prime.
pub(crate) struct PrimeHalf {
    ring: Ring,
    prime: Zeroizing<NonZero<BoxedUint>>,
    /// `2^(κ/2)`, the place value of the upper half of a number modulo `n`.
    upper: Factor,
    /// `n`, the place value of the high digit of an element of `Z/n²`, and `n·2^(κ/2)`.
    modulus: Factor,
    upper_modulus: Factor,
    /// `prime − 1`, the exponent that removes everything but the message.
    decryption_exponent: Exponent,
    /// `prime`, the exponent of a randomiser modulo `prime²`.
    prime_exponent: Exponent,
}

impl SecretKey {
    /// A new key: two random primes of `κ/2` bits each.
    pub fn generate<R: CryptoRng + ?Sized>(size: KeySize, rng: &mut R) -> Result<Self> {
        loop {
            let p = Zeroizing::new(random_prime(size.bits() / 2, rng)?);
            let q = Zeroizing::new(random_prime(size.bits() / 2, rng)?);
            if primes_fit(&p, &q, size) {
                return Self::from_fitting_primes(&p, &q, Kernel::detect());
            }
        }
    }

    /// A key from its primes. Checks that they form one.
    pub fn from_primes(p: &BoxedUint, q: &BoxedUint) -> Result<Self> {
        let bits = p.concatenating_mul(q).bits();
        let size = KeySize::try_from(bits)?;
        let halves = [p, q];
        if !halves
            .iter()
            .all(|prime| prime.bits() == size.bits() / 2 && is_prime(Flavor::Any, *prime))
        {
            return Err(KeyFault::Primes.into());
        }
        let [p, q] = halves.map(|prime| Zeroizing::new(sized(prime, size.bits() / 2)));
        if !primes_fit(&p, &q, size) {
            return Err(KeyFault::Primes.into());
        }
        Self::from_fitting_primes(&p, &q, Kernel::detect())
    }

    fn from_fitting_primes(p: &BoxedUint, q: &BoxedUint, kernel: Kernel) -> Result<Self> {
        let public = PublicKey::from_trusted_modulus(&p.concatenating_mul(q), kernel)?;
        let (half_p, half_q) = (PrimeHalf::new(p, q, kernel)?, PrimeHalf::new(q, p, kernel)?);
        // L(g^(p − 1)) is minus the other prime.
        let (minus_p, minus_q) = (
            half_q.minus_other_inverse(p)?,
            half_p.minus_other_inverse(q)?,
        );
        let odd_q = odd(q)?;
        let divided = Zeroizing::new(minus_p.square_mod(odd_q.as_nz_ref()));
        let divided = Zeroizing::new(divided.neg_mod(odd_q.as_nz_ref()));
        Ok(Self {
            correction: half_p.factor_below_prime(&minus_q),
            divided_correction: half_q.factor_below_prime(&divided),
            minus_p_inverse: half_q.factor_below_prime(&minus_p),
            idempotents: [
                public.ring().factor(&idempotent(p, q, &public)?),
                public.ring().factor(&idempotent(q, p, &public)?),
            ],
            p: half_p,
            q: half_q,
            public,
        })
    }

    /// The public key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// The same key, computing with another kernel.
    pub fn with_kernel(&self, kernel: Kernel) -> Result<Self> {
        Self::from_fitting_primes(self.p.prime(), self.q.prime(), kernel)
    }

    /// Encrypts each number, modulo `p²` and `q²` separately. For many calls a
    /// [`RandomizerTable`](crate::RandomizerTable) is three times faster.
    pub fn encrypt_batch<R: CryptoRng + ?Sized>(
        &self,
        plaintexts: &[&Plaintext],
        rng: &mut R,
    ) -> Result<Vec<Ciphertext>> {
        self.public
            .encrypt_batch(plaintexts, self.fresh_randomizers(plaintexts.len(), rng))
    }

    /// Decrypts one ciphertext.
    pub fn decrypt(&self, ciphertext: &Ciphertext) -> Result<Plaintext> {
        let mut plaintexts = self.decrypt_batch(&[ciphertext])?;
        plaintexts
            .pop()
            .ok_or_else(|| Misuse::Lengths { left: 0, right: 1 }.into())
    }

    /// Decrypts each ciphertext, modulo `p²` and `q²` separately.
    pub fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>> {
        let mut residues = Vec::with_capacity(ciphertexts.len());
        for &ciphertext in ciphertexts {
            self.public.check_owner(ciphertext)?;
            residues.push(ciphertext.residue());
        }
        let by_p = self
            .p
            .ring
            .scale(&self.p.logarithms(&residues), &self.correction);
        // Garner's formula: with t = (m_q − m_p)/p modulo q, the message is m_p + t·p.
        let mut quotients = self
            .q
            .ring
            .scale(&self.q.logarithms(&residues), &self.divided_correction);
        let by_p_in_q: Vec<_> = by_p
            .iter()
            .map(|m_p| self.q.ring.residue_of_words(m_p.low()))
            .collect();
        self.q
            .ring
            .add_scaled(&mut quotients, &by_p_in_q, &self.minus_p_inverse);
        let messages = by_p.iter().zip(&quotients).map(|(m_p, quotient)| {
            self.public.decode(limbs::join_digits(
                m_p.low(),
                quotient.low(),
                self.p.ring.modulus_words(),
            ))
        });
        Ok(messages.collect())
    }

    pub(crate) fn halves(&self) -> [&PrimeHalf; 2] {
        [&self.p, &self.q]
    }

    /// The elements of `Z/n²` with these remainders modulo `p²` and `q²`.
    pub(crate) fn join_residues(&self, by_p: &[Residue], by_q: &[Residue]) -> Vec<Residue> {
        let ring = self.public.ring();
        let widen = |half: &PrimeHalf, residues: &[Residue]| -> Vec<Residue> {
            residues
                .iter()
                .map(|residue| ring.residue_of_words(&half.ring.joined(residue)))
                .collect()
        };
        let [one_by_p, one_by_q] = &self.idempotents;
        let mut joined = ring.scale(&widen(&self.p, by_p), one_by_p);
        ring.add_scaled(&mut joined, &widen(&self.q, by_q), one_by_q);
        joined
    }
}

impl PrimeHalf {
    fn new(prime: &BoxedUint, other: &BoxedUint, kernel: Kernel) -> Result<Self> {
        let ring = Ring::new(prime, kernel).ok_or(Misuse::KernelUnavailable)?;
        let odd_prime = odd(prime)?;
        let bits = prime.bits();
        let below = Zeroizing::new(
            prime.wrapping_sub(BoxedUint::one_with_precision(prime.bits_precision())),
        );
        let zero = BoxedUint::zero_with_precision(prime.bits_precision());
        let other = Zeroizing::new(other.rem(odd_prime.as_nz_ref()));
        let upper = ring.residue(&BoxedUint::one_with_precision(2 * bits).shl(bits));
        let modulus = ring.residue_of_digits(&zero, &other);
        let upper_modulus = ring.multiply(&[(&upper, &modulus)]);
        Ok(Self {
            decryption_exponent: Exponent::new(&below, bits),
            prime_exponent: Exponent::new(prime, bits),
            upper: ring.factor(&upper),
            upper_modulus: ring.factor(upper_modulus.first().unwrap_or(&modulus)),
            modulus: ring.factor(&modulus),
            prime: Zeroizing::new(nonzero(prime.clone())?),
            ring,
        })
    }

    /// The inverse of minus the other prime, modulo this one.
    fn minus_other_inverse(&self, other: &BoxedUint) -> Result<Zeroizing<BoxedUint>> {
        let minus = Zeroizing::new(other.rem(&self.prime).neg_mod(&self.prime));
        let odd_prime = odd(self.prime())?;
        Ok(Zeroizing::new(invert(&minus, &odd_prime)?))
    }

    fn factor_below_prime(&self, value: &BoxedUint) -> Factor {
        let zero = BoxedUint::zero_with_precision(value.bits_precision());
        self.ring.factor(&self.ring.residue_of_digits(value, &zero))
    }

    pub(crate) fn ring(&self) -> &Ring {
        &self.ring
    }

    pub(crate) fn prime(&self) -> &BoxedUint {
        self.prime.as_ref()
    }

    pub(crate) fn nonzero_prime(&self) -> &NonZero<BoxedUint> {
        &self.prime
    }

    pub(crate) fn prime_exponent(&self) -> &Exponent {
        &self.prime_exponent
    }

    /// `c^(p − 1)` is `1 + u·p`. Returns `u` as the low digit; it is the message times a constant.
    fn logarithms(&self, ciphertexts: &[&Residue]) -> Vec<Residue> {
        let residues = self.narrow(ciphertexts);
        let powers: Vec<_> = residues
            .iter()
            .map(|residue| (residue, &self.decryption_exponent))
            .collect();
        let powers = self.ring.pow(&powers);
        powers
            .iter()
            .map(|power| self.ring.residue_of_words(power.high()))
            .collect()
    }

    /// Reduces elements of `Z/n²` modulo `p²`: both base-`n` digits are split into halves, which are as long as `p`.
    fn narrow(&self, elements: &[&Residue]) -> Vec<Residue> {
        let length = self.ring.words();
        let quarter = |index: usize| -> Vec<Residue> {
            elements
                .iter()
                .map(|element| {
                    self.ring
                        .residue_of_words(&element.words()[index * length..][..length])
                })
                .collect()
        };
        let mut sums = quarter(0);
        for (index, factor) in [&self.upper, &self.modulus, &self.upper_modulus]
            .into_iter()
            .enumerate()
        {
            self.ring.add_scaled(&mut sums, &quarter(index + 1), factor);
        }
        sums
    }
}

/// The element of `Z/n²` that is 1 modulo `p²` and 0 modulo `q²`.
fn idempotent(p: &BoxedUint, q: &BoxedUint, public: &PublicKey) -> Result<Residue> {
    let p_squared = odd(&Zeroizing::new(p.concatenating_square()))?;
    let q_squared = Zeroizing::new(q.concatenating_square());
    let remainder = Zeroizing::new(q_squared.rem(p_squared.as_nz_ref()));
    let inverse = Zeroizing::new(invert(&remainder, &p_squared)?);
    let product = Zeroizing::new(q_squared.concatenating_mul(&*inverse));
    Ok(public.ring().residue(&product))
}

fn random_prime<R: CryptoRng + ?Sized>(bits: u32, rng: &mut R) -> Result<BoxedUint> {
    // Two leading ones in each prime make the product exactly twice as long.
    let candidates = SmallFactorsSieveFactory::<BoxedUint>::new(Flavor::Any, bits, SetBits::TwoMsb)
        .map_err(|_| KeyFault::Primes)?;
    let prime = sieve_and_find(rng, candidates, |_, candidate| {
        is_prime(Flavor::Any, candidate)
    });
    let prime = prime.ok().flatten().ok_or(KeyFault::Primes)?;
    Ok(sized(&prime, bits))
}

/// Whether the primes are distinct, far apart, have a product of the right length, and `gcd(n, φ(n)) = 1`.
fn primes_fit(p: &BoxedUint, q: &BoxedUint, size: KeySize) -> bool {
    let one = BoxedUint::one_with_precision(p.bits_precision());
    let n = p.concatenating_mul(q);
    let [p_below, q_below] = [p, q].map(|prime| Zeroizing::new(prime.wrapping_sub(&one)));
    let totient = Zeroizing::new(p_below.concatenating_mul(&*q_below));
    let distance = Zeroizing::new(if p > q {
        p.wrapping_sub(q)
    } else {
        q.wrapping_sub(p)
    });
    let far_apart = distance.bits() > (size.bits() / 2).saturating_sub(MINIMUM_DISTANCE_SLACK);
    let coprime = n
        .gcd(&*totient)
        .ct_eq(&BoxedUint::one_with_precision(n.bits_precision()));
    far_apart && n.bits() == size.bits() && bool::from(coprime)
}

fn sized(value: &BoxedUint, bits: u32) -> BoxedUint {
    limbs::resize(value, &BoxedUint::zero_with_precision(bits))
}

fn odd(value: &BoxedUint) -> Result<Zeroizing<Odd<BoxedUint>>> {
    let odd: Option<_> = value.clone().into_odd().into();
    odd.map(Zeroizing::new)
        .ok_or_else(|| KeyFault::Primes.into())
}

fn nonzero(value: BoxedUint) -> Result<NonZero<BoxedUint>> {
    Option::from(value.into_nz()).ok_or_else(|| KeyFault::Primes.into())
}

fn invert(value: &BoxedUint, modulus: &Odd<BoxedUint>) -> Result<BoxedUint> {
    Option::from(value.invert_odd_mod(modulus)).ok_or_else(|| KeyFault::Primes.into())
}

//! The secret key: the two primes, and the arithmetic modulo their squares that they allow.

use crypto_bigint::{BoxedUint, ConcatenatingMul, ConcatenatingSquare, CtEq, Gcd, NonZero, Odd};
use crypto_primes::hazmat::{SetBits, SmallFactorsSieveFactory};
use crypto_primes::{Flavor, is_prime, sieve_and_find};
use rand::CryptoRng;
use zeroize::Zeroizing;

use crate::arith::{Exponent, Kernel, Residue, Ring, limbs};
use crate::ciphertext::Ciphertext;
use crate::error::{KeyFault, Misuse, Result};
use crate::key_size::KeySize;
use crate::plaintext::Plaintext;
use crate::public_key::PublicKey;

/// Primes closer than `2^(κ/2 − 100)` would be found by Fermat's method.
const MINIMUM_DISTANCE_SLACK: u32 = 100;

/// Decrypts. Wiped when dropped; neither printed nor copied:
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
    /// `p⁻¹ mod q`.
    p_inverse: Zeroizing<BoxedUint>,
    /// `p⁻² mod q²`.
    p_squared_inverse: Zeroizing<BoxedUint>,
}

/// What decryption and randomisers need modulo the square of one prime.
pub(crate) struct PrimeHalf {
    ring: Ring,
    prime: Zeroizing<NonZero<BoxedUint>>,
    prime_squared: Zeroizing<NonZero<BoxedUint>>,
    /// The other prime modulo this one.
    other: Zeroizing<BoxedUint>,
    /// `prime − 1`, the exponent that leaves the message alone.
    decryption_exponent: Exponent,
    /// `prime`, the exponent of a randomiser modulo `prime²`.
    prime_exponent: Exponent,
    /// `L(g^(prime − 1))⁻¹ mod prime`, the inverse of minus the other prime.
    correction: Zeroizing<BoxedUint>,
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

    /// A key from its primes, once they make one.
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
        let odd_q = odd(q)?;
        let odd_q_squared = odd(&q.concatenating_square())?;
        let p_inverse = invert(&p.rem(odd_q.as_nz_ref()), &odd_q)?;
        let p_squared = p.concatenating_square();
        let p_squared_inverse = invert(&p_squared.rem(odd_q_squared.as_nz_ref()), &odd_q_squared)?;
        Ok(Self {
            p: PrimeHalf::new(p, q, kernel)?,
            q: PrimeHalf::new(q, p, kernel)?,
            public,
            p_inverse: Zeroizing::new(p_inverse),
            p_squared_inverse: Zeroizing::new(p_squared_inverse),
        })
    }

    /// The key that may be given away.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// The same key, computing with another kernel.
    pub fn with_kernel(&self, kernel: Kernel) -> Result<Self> {
        Self::from_fitting_primes(self.p.prime(), self.q.prime(), kernel)
    }

    /// Encrypts each number, modulo `p²` and `q²` apart. For many calls a
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

    /// Decrypts each ciphertext, modulo `p²` and `q²` apart.
    pub fn decrypt_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Plaintext>> {
        let mut residues = Vec::with_capacity(ciphertexts.len());
        for &ciphertext in ciphertexts {
            self.public.check_owner(ciphertext)?;
            residues.push(ciphertext.residue());
        }
        let (modulo_p, modulo_q) = (self.p.decrypt(&residues), self.q.decrypt(&residues));
        Ok(modulo_p
            .iter()
            .zip(&modulo_q)
            .map(|(m_p, m_q)| self.public.decode(&self.join_plaintext(m_p, m_q)))
            .collect())
    }

    pub(crate) fn halves(&self) -> [&PrimeHalf; 2] {
        [&self.p, &self.q]
    }

    /// The number modulo `n` with these remainders modulo `p` and `q`.
    fn join_plaintext(&self, m_p: &BoxedUint, m_q: &BoxedUint) -> BoxedUint {
        join(m_p, m_q, self.p.prime(), &self.q.prime, &self.p_inverse)
    }

    /// The element of `Z/n²` with these remainders modulo `p²` and `q²`.
    pub(crate) fn join_residues(&self, r_p: &Residue, r_q: &Residue) -> Residue {
        let (r_p, r_q) = (
            Zeroizing::new(self.p.ring.to_uint(r_p)),
            Zeroizing::new(self.q.ring.to_uint(r_q)),
        );
        let joined = join(
            &r_p,
            &r_q,
            self.p.prime_squared.as_ref(),
            &self.q.prime_squared,
            &self.p_squared_inverse,
        );
        self.public.ring().residue(&joined)
    }
}

impl PrimeHalf {
    fn new(prime: &BoxedUint, other: &BoxedUint, kernel: Kernel) -> Result<Self> {
        let ring = Ring::new(prime, kernel).ok_or(Misuse::KernelUnavailable)?;
        let odd_prime = odd(prime)?;
        let other = Zeroizing::new(other.rem(odd_prime.as_nz_ref()));
        let minus_other = other.neg_mod(odd_prime.as_nz_ref());
        let bits = prime.bits();
        let below = Zeroizing::new(
            prime.wrapping_sub(BoxedUint::one_with_precision(prime.bits_precision())),
        );
        Ok(Self {
            decryption_exponent: Exponent::new(&below, bits),
            prime_exponent: Exponent::new(prime, bits),
            correction: Zeroizing::new(invert(&minus_other, &odd_prime)?),
            prime_squared: Zeroizing::new(nonzero(prime.concatenating_square())?),
            prime: Zeroizing::new(nonzero(prime.clone())?),
            other,
            ring,
        })
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

    /// The messages modulo the prime: `c^(p − 1)` is `1 + u·p`, and `u` is the message times a constant.
    fn decrypt(&self, ciphertexts: &[&Residue]) -> Vec<Zeroizing<BoxedUint>> {
        let residues: Vec<_> = ciphertexts.iter().map(|c| self.narrow(c)).collect();
        let powers: Vec<_> = residues
            .iter()
            .map(|residue| (residue, &self.decryption_exponent))
            .collect();
        let powers = self.ring.pow(&powers);
        powers
            .iter()
            .map(|power| {
                let logarithm = Zeroizing::new(limbs::to_uint(power.high()));
                Zeroizing::new(logarithm.mul_mod(&self.correction, &self.prime))
            })
            .collect()
    }

    /// An element of `Z/n²` modulo `p²`: with `x₀ = d₀ + d₁·p` and `n = p·q`, `x₀ + x₁·n` is `d₀ + (d₁ + x₁·q)·p`.
    fn narrow(&self, element: &Residue) -> Residue {
        let (quotient, low) = limbs::to_uint(element.low()).div_rem(&self.prime);
        let (quotient, low) = (Zeroizing::new(quotient), Zeroizing::new(low));
        let high = Zeroizing::new(limbs::to_uint(element.high()).rem(&self.prime));
        let product = Zeroizing::new(high.mul_mod(&self.other, &self.prime));
        // Below q, which is as long as p.
        let quotient = below(&quotient, &self.prime, 1);
        let high = Zeroizing::new(product.add_mod(&quotient, &self.prime));
        self.ring.residue_of_digits(&low, &high)
    }
}

/// A number modulo `m` that is at most `times` subtractions away from it: far less work than a division in constant time.
fn below(value: &BoxedUint, m: &NonZero<BoxedUint>, times: usize) -> Zeroizing<BoxedUint> {
    let words = (m.as_ref().bits_precision() as usize).div_ceil(64);
    let modulus = Zeroizing::new(limbs::from_uint(m.as_ref(), words));
    let mut value = Zeroizing::new(limbs::from_uint(value, words));
    for _ in 0..times {
        limbs::subtract_once(&mut value, &modulus);
    }
    Zeroizing::new(limbs::to_uint(&value))
}

/// The number with remainder `a < m` modulo `m` and `b` modulo `k`, by Garner: `a + m·((b − a)·m⁻¹ mod k)`. `m` and `k` are
/// primes of the same length, or their squares, so that `m` is below `4·k`.
fn join(
    a: &BoxedUint,
    b: &BoxedUint,
    m: &BoxedUint,
    k: &NonZero<BoxedUint>,
    m_inverse: &BoxedUint,
) -> BoxedUint {
    let difference = b.sub_mod(&below(a, k, 3), k);
    let product = m.concatenating_mul(&difference.mul_mod(m_inverse, k));
    product.wrapping_add(limbs::resize(a, &product))
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

/// Distinct, far apart, of the right length together, and with `gcd(n, φ(n)) = 1`.
fn primes_fit(p: &BoxedUint, q: &BoxedUint, size: KeySize) -> bool {
    let one = BoxedUint::one_with_precision(p.bits_precision());
    let n = p.concatenating_mul(q);
    let totient = p
        .wrapping_sub(&one)
        .concatenating_mul(&q.wrapping_sub(&one));
    let distance = if p > q {
        p.wrapping_sub(q)
    } else {
        q.wrapping_sub(p)
    };
    let far_apart = distance.bits() > (size.bits() / 2).saturating_sub(MINIMUM_DISTANCE_SLACK);
    let coprime = n
        .gcd(&totient)
        .ct_eq(&BoxedUint::one_with_precision(n.bits_precision()));
    far_apart && n.bits() == size.bits() && bool::from(coprime)
}

fn sized(value: &BoxedUint, bits: u32) -> BoxedUint {
    limbs::resize(value, &BoxedUint::zero_with_precision(bits))
}

fn odd(value: &BoxedUint) -> Result<Odd<BoxedUint>> {
    Option::from(value.clone().into_odd()).ok_or_else(|| KeyFault::Primes.into())
}

fn nonzero(value: BoxedUint) -> Result<NonZero<BoxedUint>> {
    Option::from(value.into_nz()).ok_or_else(|| KeyFault::Primes.into())
}

fn invert(value: &BoxedUint, modulus: &Odd<BoxedUint>) -> Result<BoxedUint> {
    Option::from(value.invert_odd_mod(modulus)).ok_or_else(|| KeyFault::Primes.into())
}

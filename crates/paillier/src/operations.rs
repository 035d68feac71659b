//! Computing with encrypted numbers. Each operation exists for one ciphertext and for many; many fill the eight SIMD
//! lanes.
//!
//! No operation hides where its result comes from. A party that sends a ciphertext to the key holder must re-randomise
//! it first, because the key holder can read the randomness of everything that it receives.

use crate::arith::{Job, Residue, Shape, Words};
use crate::ciphertext::Ciphertext;
use crate::error::{CiphertextFault, Misuse, Result};
use crate::plaintext::Plaintext;
use crate::public_key::PublicKey;
use crate::randomizer::Randomizer;
use crate::scalar::Scalar;

/// The public part of one term of a [weighted sum](PublicKey::weighted_sums).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermShape {
    /// The declared length of the scalar.
    pub scalar_bits: u32,
    /// The shift of the term, in bits: the position of a slot.
    pub shift_bits: u32,
}

impl PublicKey {
    /// Encrypts one number: `(1 + m·n)·rⁿ`.
    pub fn encrypt(&self, plaintext: &Plaintext, randomizer: Randomizer) -> Result<Ciphertext> {
        self.one(self.encrypt_batch(&[plaintext], vec![randomizer]))
    }

    /// Encrypts each number with its own randomiser.
    pub fn encrypt_batch(
        &self,
        plaintexts: &[&Plaintext],
        randomizers: Vec<Randomizer>,
    ) -> Result<Vec<Ciphertext>> {
        same_length(plaintexts.len(), randomizers.len())?;
        self.check_randomizers(&randomizers)?;
        let encoded = self.plain_factors(plaintexts)?;
        let pairs: Vec<_> = encoded
            .iter()
            .zip(&randomizers)
            .map(|(m, r)| (m, r.residue()))
            .collect();
        Ok(self.wrap(self.ring().multiply(&pairs)))
    }

    /// A number as a ciphertext that anyone can read, `1 + m·n`: a constant for the operations below.
    pub fn trivial(&self, plaintext: &Plaintext) -> Result<Ciphertext> {
        self.one(Ok(self.wrap(self.plain_factors(&[plaintext])?)))
    }

    /// The sum of two encrypted numbers.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.one(self.add_batch(&[(a, b)]))
    }

    /// The sum of each pair.
    pub fn add_batch(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Vec<Ciphertext>> {
        let factors = self.checked_pairs(pairs)?;
        Ok(self.wrap(self.ring().multiply(&factors)))
    }

    /// The sum of all; a trivial zero if there are none.
    pub fn sum(&self, ciphertexts: &[&Ciphertext]) -> Result<Ciphertext> {
        let factors = self.checked(ciphertexts)?;
        Ok(self.ciphertext(self.ring().product(&factors)))
    }

    /// The difference of two encrypted numbers.
    pub fn subtract(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext> {
        self.one(self.subtract_batch(&[(a, b)]))
    }

    /// The difference of each pair. One inversion serves all pairs.
    pub fn subtract_batch(&self, pairs: &[(&Ciphertext, &Ciphertext)]) -> Result<Vec<Ciphertext>> {
        let subtrahends: Vec<_> = pairs.iter().map(|&(_, b)| b).collect();
        let negated = self.negate_batch(&subtrahends)?;
        let sums: Vec<_> = pairs
            .iter()
            .zip(&negated)
            .map(|(&(a, _), b)| (a, b))
            .collect();
        self.add_batch(&sums)
    }

    /// The negative of an encrypted number.
    pub fn negate(&self, ciphertext: &Ciphertext) -> Result<Ciphertext> {
        self.one(self.negate_batch(&[ciphertext]))
    }

    /// The negative of each ciphertext. One inversion serves all.
    pub fn negate_batch(&self, ciphertexts: &[&Ciphertext]) -> Result<Vec<Ciphertext>> {
        let inverses = self.ring().invert(&self.checked(ciphertexts)?);
        Ok(self.wrap(inverses.ok_or(CiphertextFault::NotInvertible)?))
    }

    /// Adds a number that is not encrypted.
    pub fn add_plain(&self, ciphertext: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext> {
        self.one(self.add_plain_batch(&[(ciphertext, plaintext)]))
    }

    /// Adds a number that is not encrypted to each.
    pub fn add_plain_batch(&self, pairs: &[(&Ciphertext, &Plaintext)]) -> Result<Vec<Ciphertext>> {
        let (ciphertexts, plaintexts): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let factors = self.plain_factors(&plaintexts)?;
        let pairs: Vec<_> = self
            .checked(&ciphertexts)?
            .into_iter()
            .zip(&factors)
            .collect();
        Ok(self.wrap(self.ring().multiply(&pairs)))
    }

    /// Multiplies an encrypted number by a scalar.
    pub fn scalar_mul(&self, ciphertext: &Ciphertext, scalar: &Scalar) -> Result<Ciphertext> {
        self.one(self.scalar_mul_batch(&[(ciphertext, scalar)]))
    }

    /// Multiplies each encrypted number by its scalar. The time depends on the longest declared length.
    pub fn scalar_mul_batch(&self, pairs: &[(&Ciphertext, &Scalar)]) -> Result<Vec<Ciphertext>> {
        let (ciphertexts, scalars): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        let exponents = scalars.into_iter().map(Scalar::exponent);
        let powers: Vec<_> = self
            .checked(&ciphertexts)?
            .into_iter()
            .zip(exponents)
            .collect();
        Ok(self.wrap(self.ring().pow(&powers)))
    }

    /// Divides each encrypted number by its scalar, which must have an inverse modulo `n`. If the scalar divides the
    /// number, this is the quotient; otherwise it is the quotient modulo `n`.
    pub fn scalar_div_batch(&self, pairs: &[(&Ciphertext, &Scalar)]) -> Result<Vec<Ciphertext>> {
        let scalars: Vec<_> = pairs.iter().map(|&(_, scalar)| scalar).collect();
        let inverses = self.inverse_batch(&scalars)?;
        let products: Vec<_> = pairs
            .iter()
            .zip(&inverses)
            .map(|(&(c, _), inverse)| (c, inverse))
            .collect();
        self.scalar_mul_batch(&products)
    }

    /// For each row, the sum of its ciphertexts, each multiplied by its scalar and its power of two.
    ///
    /// All rows have the terms of `shape`, none of which may exceed κ bits. The terms of a row share its squarings.
    pub fn weighted_sums(
        &self,
        shape: &[TermShape],
        rows: &[Vec<(&Ciphertext, &Scalar)>],
    ) -> Result<Vec<Ciphertext>> {
        let bits = self.size().bits();
        if shape
            .iter()
            .any(|term| term.scalar_bits.saturating_add(term.shift_bits) > bits)
        {
            return Err(Misuse::ScalarLength { bits }.into());
        }
        let mut jobs: Vec<Job<'_>> = Vec::with_capacity(rows.len());
        for row in rows {
            same_length(row.len(), shape.len())?;
            for ((ciphertext, scalar), term) in row.iter().zip(shape) {
                self.check_owner(ciphertext)?;
                if scalar.bits() > term.scalar_bits {
                    return Err(Misuse::ScalarLength {
                        bits: term.scalar_bits,
                    }
                    .into());
                }
            }
            jobs.push(
                row.iter()
                    .map(|(ciphertext, scalar)| (ciphertext.residue(), scalar.exponent()))
                    .collect(),
            );
        }
        let shape = Shape::new(
            shape
                .iter()
                .map(|term| (term.scalar_bits, term.shift_bits))
                .collect(),
        );
        Ok(self.wrap(self.ring().multi_pow(&shape, &jobs)))
    }

    /// The same numbers, each under its own fresh randomness.
    pub fn rerandomize_batch(
        &self,
        ciphertexts: &[&Ciphertext],
        randomizers: Vec<Randomizer>,
    ) -> Result<Vec<Ciphertext>> {
        same_length(ciphertexts.len(), randomizers.len())?;
        self.check_randomizers(&randomizers)?;
        let factors = randomizers.iter().map(Randomizer::residue);
        let pairs: Vec<_> = self
            .checked(ciphertexts)?
            .into_iter()
            .zip(factors)
            .collect();
        Ok(self.wrap(self.ring().multiply(&pairs)))
    }

    /// `1 + m·n` for each number: with `g = n + 1`, a power of `g` needs no exponentiation.
    fn plain_factors(&self, plaintexts: &[&Plaintext]) -> Result<Vec<Residue>> {
        let mut one = Words::zeros(self.ring().words());
        one[0] = 1;
        plaintexts
            .iter()
            .map(|m| Ok(Residue::from_digits(&one, &self.encode(m)?)))
            .collect()
    }

    fn checked<'a>(&self, ciphertexts: &[&'a Ciphertext]) -> Result<Vec<&'a Residue>> {
        ciphertexts
            .iter()
            .map(|&c| self.check_owner(c).map(|()| c.residue()))
            .collect()
    }

    fn checked_pairs<'a>(
        &self,
        pairs: &[(&'a Ciphertext, &'a Ciphertext)],
    ) -> Result<Vec<(&'a Residue, &'a Residue)>> {
        let (left, right): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
        Ok(self
            .checked(&left)?
            .into_iter()
            .zip(self.checked(&right)?)
            .collect())
    }

    fn check_randomizers(&self, randomizers: &[Randomizer]) -> Result<()> {
        if randomizers.iter().all(|r| r.key() == self.id()) {
            Ok(())
        } else {
            Err(Misuse::WrongKey.into())
        }
    }

    fn wrap(&self, residues: Vec<Residue>) -> Vec<Ciphertext> {
        residues
            .into_iter()
            .map(|residue| self.ciphertext(residue))
            .collect()
    }

    fn one(&self, batch: Result<Vec<Ciphertext>>) -> Result<Ciphertext> {
        batch?
            .pop()
            .ok_or_else(|| Misuse::Lengths { left: 0, right: 1 }.into())
    }
}

fn same_length(left: usize, right: usize) -> Result<()> {
    if left == right {
        Ok(())
    } else {
        Err(Misuse::Lengths { left, right }.into())
    }
}

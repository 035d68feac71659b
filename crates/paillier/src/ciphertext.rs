//! Encrypted numbers, and their form on the wire.

use crate::arith::{Residue, Words};
use crate::error::{CiphertextFault, Misuse, Result};
use crate::public_key::{KeyId, PublicKey};

/// A number under a public key: an invertible element of `Z/n²`.
#[derive(Clone, PartialEq, Eq)]
pub struct Ciphertext {
    residue: Residue,
    key: KeyId,
}

impl Ciphertext {
    pub(crate) fn residue(&self) -> &Residue {
        &self.residue
    }
}

impl core::fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Ciphertext(…)")
    }
}

impl PublicKey {
    pub(crate) fn ciphertext(&self, residue: Residue) -> Ciphertext {
        Ciphertext {
            residue,
            key: self.id(),
        }
    }

    /// The ciphertext as a number below `n²`, big-endian, always [`KeySize::ciphertext_bytes`] long.
    ///
    /// [`KeySize::ciphertext_bytes`]: crate::KeySize::ciphertext_bytes
    pub fn ciphertext_to_bytes(&self, ciphertext: &Ciphertext) -> Result<Vec<u8>> {
        self.check_owner(ciphertext)?;
        let words = self.ring().joined(ciphertext.residue());
        let mut bytes = Vec::with_capacity(self.size().ciphertext_bytes());
        for word in words.iter().rev() {
            bytes.extend(word.to_be_bytes());
        }
        Ok(bytes)
    }

    /// Reads a received ciphertext. Checks its length, its range and its invertibility.
    pub fn ciphertext_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertext> {
        let mut ciphertexts = self.ciphertexts_from_bytes(&[bytes])?;
        ciphertexts
            .pop()
            .ok_or_else(|| CiphertextFault::NotInvertible.into())
    }

    /// Reads received ciphertexts, with the checks of [`Self::ciphertext_from_bytes`] at a fraction of the cost: one
    /// greatest common divisor serves all of them.
    pub fn ciphertexts_from_bytes(&self, encodings: &[&[u8]]) -> Result<Vec<Ciphertext>> {
        let expected = self.size().ciphertext_bytes();
        let mut residues = Vec::with_capacity(encodings.len());
        let mut uppers = Vec::with_capacity(encodings.len());
        for bytes in encodings {
            if bytes.len() != expected {
                return Err(CiphertextFault::Length {
                    expected,
                    found: bytes.len(),
                }
                .into());
            }
            if *bytes >= self.modulus_squared() {
                return Err(CiphertextFault::Range.into());
            }
            let (upper, lower) = bytes.split_at(expected / 2);
            residues.push(self.ring().residue_of_words(&words_of(lower)));
            uppers.push(self.ring().residue_of_words(&words_of(upper)));
        }
        self.ring()
            .add_scaled(&mut residues, &uppers, self.upper_half());
        let elements: Vec<&Residue> = residues.iter().collect();
        if !self.ring().all_have_inverses_vartime(&elements) {
            return Err(CiphertextFault::NotInvertible.into());
        }
        Ok(residues
            .into_iter()
            .map(|residue| self.ciphertext(residue))
            .collect())
    }

    pub(crate) fn check_owner(&self, ciphertext: &Ciphertext) -> Result<()> {
        if ciphertext.key == self.id() {
            Ok(())
        } else {
            Err(Misuse::WrongKey.into())
        }
    }
}

/// The words of a number from its bytes, the highest first.
fn words_of(bytes: &[u8]) -> Words {
    let mut words = Words::zeros(bytes.len() / 8);
    let (chunks, _) = bytes.as_chunks::<8>();
    for (word, chunk) in words.iter_mut().rev().zip(chunks) {
        *word = u64::from_be_bytes(*chunk);
    }
    words
}

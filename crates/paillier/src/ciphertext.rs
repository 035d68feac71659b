//! Encrypted numbers, and their form on the wire.

use crypto_bigint::{BoxedUint, Gcd};

use crate::arith::{Residue, limbs};
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
        let bytes = self.ring().to_uint(ciphertext.residue()).to_be_bytes();
        let length = self.size().ciphertext_bytes();
        Ok(bytes[bytes.len().saturating_sub(length)..].to_vec())
    }

    /// A ciphertext from elsewhere, once its length, its range and its invertibility are checked.
    pub fn ciphertext_from_bytes(&self, bytes: &[u8]) -> Result<Ciphertext> {
        let mut ciphertexts = self.ciphertexts_from_bytes(&[bytes])?;
        ciphertexts
            .pop()
            .ok_or_else(|| CiphertextFault::NotInvertible.into())
    }

    /// Ciphertexts from elsewhere, all checked like [`Self::ciphertext_from_bytes`] at a fraction of the cost: one
    /// greatest common divisor serves all of them.
    pub fn ciphertexts_from_bytes(&self, encodings: &[&[u8]]) -> Result<Vec<Ciphertext>> {
        let expected = self.size().ciphertext_bytes();
        let mut residues = Vec::with_capacity(encodings.len());
        for bytes in encodings {
            if bytes.len() != expected {
                return Err(CiphertextFault::Length {
                    expected,
                    found: bytes.len(),
                }
                .into());
            }
            let value = BoxedUint::from_be_slice_vartime(bytes);
            if value.cmp_vartime(self.modulus_squared()).is_ge() {
                return Err(CiphertextFault::Range.into());
            }
            residues.push(self.ring().residue_vartime(&value));
        }
        let product = self.ring().product(&residues.iter().collect::<Vec<_>>());
        let divisor = limbs::to_uint(product.low()).gcd_vartime(self.modulus());
        if !bool::from(divisor.is_one()) {
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
            Err(Misuse::OtherKey.into())
        }
    }
}

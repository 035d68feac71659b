//! An Ed25519 public key, and the forms of keys and fingerprints in messages and files.

use super::{Fingerprint, from_hex, hex};
use ring::signature::{ED25519, UnparsedPublicKey};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The start of an Ed25519 key as SubjectPublicKeyInfo (RFC 8410); the 32 bytes of the key follow.
const SPKI: [u8; 12] = [0x30, 42, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 3, 33, 0];

/// A public key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PublicKey([u8; 32]);

impl PublicKey {
    /// Parses SubjectPublicKeyInfo.
    pub(crate) fn from_spki(bytes: &[u8]) -> Option<Self> {
        let key = bytes.strip_prefix(&SPKI)?;
        key.try_into().ok().map(Self)
    }

    /// The fingerprint of the key.
    pub(crate) fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&[&SPKI[..], &self.0].concat())
    }

    /// Verifies the signature of a message, given in lower-case hexadecimal.
    pub(crate) fn verifies(&self, message: &[u8], signature: &str) -> bool {
        let Some((first, second)) = signature.split_at_checked(64) else {
            return false;
        };
        let (Some(first), Some(second)) = (from_hex(first), from_hex(second)) else {
            return false;
        };
        let bytes = [first, second].concat();
        let key = UnparsedPublicKey::new(&ED25519, self.0);
        hex(&bytes) == signature && key.verify(message, &bytes).is_ok()
    }
}

impl Serialize for PublicKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex(&self.0))
    }
}

impl<'de> Deserialize<'de> for PublicKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        from_hex(&text)
            .map(Self)
            .ok_or_else(|| D::Error::custom("not a key"))
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.plain())
    }
}

impl<'de> Deserialize<'de> for Fingerprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

//! Names in the disclosure ledger.

use crate::identity::hex;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

const BYTES: usize = 12;

/// A keyed hash of a name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Tag([u8; BYTES]);

impl Tag {
    pub(super) fn of(hash: &[u8; 32]) -> Self {
        let mut tag = [0; BYTES];
        tag.copy_from_slice(&hash[..BYTES]);
        Self(tag)
    }

    fn parse(text: &str) -> Option<Self> {
        let digits = text.as_bytes();
        if digits.len() != 2 * BYTES {
            return None;
        }
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        let mut tag = [0; BYTES];
        for (at, byte) in tag.iter_mut().enumerate() {
            *byte = u8::try_from(digit(2 * at)? << 4 | digit(2 * at + 1)?).ok()?;
        }
        Some(Self(tag))
    }
}

impl fmt::Debug for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl Serialize for Tag {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // A ledger has many tags, so this allocates nothing.
        let mut digits = [0; 2 * BYTES];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(self.0) {
            let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        serializer.serialize_str(str::from_utf8(&digits).unwrap_or_default())
    }
}

impl<'de> Deserialize<'de> for Tag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("not a tag"))
    }
}

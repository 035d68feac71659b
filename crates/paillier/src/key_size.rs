//! The supported key sizes.

use crate::error::{Error, KeyFault};

/// κ, the bits of the modulus `n`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(into = "u32", try_from = "u32")]
pub enum KeySize {
    /// About 56 bits of security: a determined attacker breaks it. Only for reproducing published measurements.
    Bits512,
    /// About 80 bits of security: too few today. Only for reproducing published measurements.
    Bits1024,
    /// About 112 bits of security.
    #[default]
    Bits2048,
    /// About 128 bits of security.
    Bits3072,
    /// About 150 bits of security.
    Bits4096,
}

impl KeySize {
    /// All sizes, the smallest first.
    pub const ALL: [Self; 5] = [
        Self::Bits512,
        Self::Bits1024,
        Self::Bits2048,
        Self::Bits3072,
        Self::Bits4096,
    ];

    /// The bits of the modulus.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits512 => 512,
            Self::Bits1024 => 1024,
            Self::Bits2048 => 2048,
            Self::Bits3072 => 3072,
            Self::Bits4096 => 4096,
        }
    }

    /// Whether the size is only for reproducing old measurements.
    pub const fn is_weak(self) -> bool {
        self.bits() < 2048
    }

    /// Bytes of a ciphertext.
    pub const fn ciphertext_bytes(self) -> usize {
        2 * self.bits() as usize / 8
    }
}

impl From<KeySize> for u32 {
    fn from(size: KeySize) -> Self {
        size.bits()
    }
}

impl TryFrom<u32> for KeySize {
    type Error = Error;

    fn try_from(bits: u32) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|size| size.bits() == bits)
            .ok_or(Error::KeyRejected(KeyFault::Size { bits }))
    }
}

/// Parses the number of bits.
impl core::str::FromStr for KeySize {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        // No key has 0 bits.
        Self::try_from(text.parse().unwrap_or(0))
    }
}

impl core::fmt::Display for KeySize {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{} bits", self.bits())
    }
}

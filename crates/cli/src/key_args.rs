//! The size of a Paillier key, for every command that makes one.

use crate::failure::Failure;
use clap::Args;
use veilpath_paillier::KeySize;

/// The arguments about the key.
#[derive(Clone, Debug, Args)]
pub(crate) struct KeyArgs {
    /// Bits of the modulus: 2048 gives 112 bits of security, 3072 gives 128
    #[arg(long, value_name = "BITS", default_value = "2048", value_parser = key_size)]
    pub(crate) key_bits: KeySize,

    /// Permit 512 and 1024 bits, which protect nothing and are there to repeat the paper's experiments
    #[arg(long)]
    pub(crate) allow_weak_key: bool,
}

impl KeyArgs {
    /// The size, unless it is weak and nobody said that this is all right.
    pub(crate) fn size(&self) -> Result<KeySize, Failure> {
        if self.key_bits.is_weak() && !self.allow_weak_key {
            return Err(Failure::input(format!(
                "a key of {} bits can be broken\n  take 2048 bits or more, or add --allow-weak-key for an experiment",
                self.key_bits.bits()
            )));
        }
        Ok(self.key_bits)
    }
}

/// A size that the cryptosystem has.
pub(crate) fn key_size(text: &str) -> Result<KeySize, String> {
    text.parse::<u32>()
        .ok()
        .and_then(|bits| KeySize::try_from(bits).ok())
        .ok_or_else(|| "a key has 512, 1024, 2048, 3072 or 4096 bits".to_string())
}

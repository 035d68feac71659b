//! Which engine, and how it runs.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use veilpath_protocol::{Engine, PaillierOptions};

/// The arguments about the engine.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// How to compute: plain is fast and protects nothing
    #[arg(long, value_enum, value_name = "ENGINE", default_value = "plain")]
    pub(crate) engine: EngineName,

    #[command(flatten)]
    pub(crate) paillier: PaillierArgs,
}

/// The engines on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// In the clear
    Plain,
    /// The paper's protocol over Paillier encryption
    Paillier,
    /// Garbled circuits: nothing but lengths and scores, provably
    Garbled,
}

/// The arguments of the engine paillier.
#[derive(Debug, Args)]
pub(crate) struct PaillierArgs {
    /// Bits of the Paillier key: 2048, 3072 or 4096 (512 and 1024 with --allow-weak-key) [default: 2048]
    #[arg(long, value_name = "BITS", value_parser = key_size)]
    pub(crate) key_bits: Option<KeyBits>,

    /// Allow keys of 512 and 1024 bits, which only serve to reproduce the paper's measurements
    #[arg(long)]
    pub(crate) allow_weak_key: bool,

    /// The most cells per message; 1 is the paper's way [default: 256]
    #[arg(long, value_name = "CELLS")]
    pub(crate) batch: Option<u32>,

    /// Give every masked value a ciphertext of its own, as the paper does
    #[arg(long)]
    pub(crate) no_packing: bool,
}

/// A size of key.
pub(crate) type KeyBits = veilpath_paillier::KeySize;

/// A size of key, from its bits.
pub(crate) fn key_size(text: &str) -> Result<KeyBits, String> {
    let bits: u32 = text.parse().map_err(|_| "expected a number of bits")?;
    KeyBits::try_from(bits).map_err(|_| "512, 1024, 2048, 3072 and 4096 are possible".into())
}

impl EngineArgs {
    /// The engine that was asked for.
    pub(crate) fn engine(&self) -> Result<Engine, Failure> {
        self.engine.with(&self.paillier)
    }
}

impl EngineName {
    /// The engine of this name with its options; options of another engine are an error.
    pub(crate) fn with(self, paillier: &PaillierArgs) -> Result<Engine, Failure> {
        match self {
            EngineName::Paillier => Ok(Engine::Paillier(paillier.options()?)),
            EngineName::Plain | EngineName::Garbled => {
                let PaillierArgs {
                    key_bits,
                    allow_weak_key,
                    batch,
                    no_packing,
                } = paillier;
                if key_bits.is_some() || *allow_weak_key || batch.is_some() || *no_packing {
                    return Err(Failure::input(
                        "--key-bits, --allow-weak-key, --batch and --no-packing are for --engine paillier",
                    ));
                }
                Ok(match self {
                    EngineName::Garbled => Engine::Garbled,
                    _ => Engine::Plain,
                })
            }
        }
    }
}

impl PaillierArgs {
    pub(crate) fn options(&self) -> Result<PaillierOptions, Failure> {
        let size = self.key_bits.unwrap_or_default();
        let options =
            PaillierOptions::new(size, self.allow_weak_key)?.with_packing(!self.no_packing);
        match self.batch {
            Some(batch) => Ok(options.with_batch(batch)?),
            None => Ok(options),
        }
    }
}

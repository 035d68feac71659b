//! Which engine, and how it runs.

use crate::failure::Failure;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use veilpath::{Engine, HostKey, PaillierOptions};

/// The engines on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// Garbled circuits: each side learns lengths and results, provably nothing else
    #[default]
    Garbled,
    /// The paper's protocol over Paillier encryption, which tells the host more
    Paillier,
    /// In the clear
    Plain,
}

/// The arguments of the engine paillier.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Engine paillier")]
pub(crate) struct PaillierArgs {
    /// Bits of the Paillier key: 2048, 3072 or 4096 (512 and 1024 with --allow-weak-key) [default: 2048]
    #[arg(long, value_name = "BITS", value_parser = key_size)]
    pub(crate) key_bits: Option<KeyBits>,

    /// Allow keys of 512 and 1024 bits, which only serve to reproduce the paper's measurements
    #[arg(long)]
    pub(crate) allow_weak_key: bool,

    /// The most matrix cells per message; the paper has 1 [default: 512]
    #[arg(long, value_name = "CELLS")]
    pub(crate) batch: Option<u32>,

    /// Give every masked value a ciphertext of its own, as the paper does
    #[arg(long)]
    pub(crate) no_packing: bool,

    /// Mask every difference separately, which hides most of what the paper's masks show the host
    #[arg(long)]
    pub(crate) hardened: bool,
}

/// The argument of the side that holds the key.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Engine paillier")]
pub(crate) struct KeyArgs {
    /// The host's secret Paillier key, as `veilpath keygen` writes it [default: a new one for this run]
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
}

/// A size of key.
pub(crate) type KeyBits = veilpath::KeySize;

/// A size of key, from its bits.
pub(crate) fn key_size(text: &str) -> Result<KeyBits, String> {
    let bits: u32 = text.parse().map_err(|_| "expected a number of bits")?;
    KeyBits::try_from(bits).map_err(|_| "512, 1024, 2048, 3072 and 4096 are possible".into())
}

impl KeyArgs {
    /// The engine that was asked for, and the key for it where a file holds one: its size is the engine's.
    pub(crate) fn engine(
        &self,
        name: EngineName,
        paillier: &PaillierArgs,
    ) -> Result<(Engine, Option<HostKey>), Failure> {
        let Some(path) = &self.key else {
            return Ok((name.with(paillier)?, None));
        };
        if name != EngineName::Paillier {
            return Err(Failure::input("--key is for --engine paillier"));
        }
        let (key, size) = veilpath::load_host_key(path)?;
        if let Some(asked) = paillier.key_bits.filter(|&asked| asked != size) {
            return Err(Failure::input(format!(
                "{}: this key has {} bits, and --key-bits asks for {}\n  \
                 leave --key-bits out here, and give the other side --key-bits {1}",
                path.display(),
                size.bits(),
                asked.bits()
            )));
        }
        let of_this_size = PaillierArgs {
            key_bits: Some(size),
            ..*paillier
        };
        Ok((name.with(&of_this_size)?, Some(key)))
    }

    /// The file, for lists of inputs.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.key.as_deref()
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
                    hardened,
                } = paillier;
                let switched = *allow_weak_key || *no_packing || *hardened;
                if key_bits.is_some() || batch.is_some() || switched {
                    return Err(Failure::input(
                        "--key-bits, --allow-weak-key, --batch, --no-packing and --hardened are for --engine paillier",
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
        let options = PaillierOptions::new(size, self.allow_weak_key)?
            .with_packing(!self.no_packing)
            .with_hardening(self.hardened);
        match self.batch {
            Some(batch) => Ok(options.with_batch(batch)?),
            None => Ok(options),
        }
    }
}

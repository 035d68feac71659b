//! The arguments that choose an engine and its options.

use crate::failure::Failure;
use crate::inputs;
use clap::{Args, ValueEnum};
use std::path::{Path, PathBuf};
use veilpath::{Engine, EngineChoice, HostKey, KeySize, PaillierOptions};

/// The engines on the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineName {
    /// Chooses garbled, or shares if that saves at least a quarter of the time, and at least two seconds, on this connection
    #[default]
    Auto,
    /// Garbled circuits: each side learns the lengths and the results, and nothing else if both follow the protocol (proven)
    Garbled,
    /// Secret sharing: the same results and the same protection against partners that follow the protocol, with far less traffic
    Shares,
    /// The protocol of Ozdel et al. (2024) over Paillier encryption, which reveals many of the joining side's letters to the host:
    /// for research only
    Paillier,
    /// In the clear, without any protection
    Plain,
}

/// The arguments of the paillier engine.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Paillier engine")]
pub(crate) struct PaillierArgs {
    /// Bits of the Paillier key: 2048, 3072 or 4096 (512 and 1024 with --allow-weak-key) [default: 2048]
    #[arg(long, value_name = "BITS", value_parser = key_size)]
    pub(crate) key_bits: Option<KeySize>,

    /// Allow keys of 512 and 1024 bits, only to reproduce the measurements of Ozdel et al. (2024), "the paper" below
    #[arg(long)]
    pub(crate) allow_weak_key: bool,

    /// Maximum number of matrix cells per message; the paper uses 1 [default: 512]
    #[arg(long, value_name = "CELLS")]
    pub(crate) batch: Option<u32>,

    /// Encrypt every masked value in a separate ciphertext, as the paper does
    #[arg(long)]
    pub(crate) no_packing: bool,

    /// Mask every difference separately, which hides most of what the paper's masks reveal to the host
    #[arg(long)]
    pub(crate) hardened: bool,
}

/// The key of a comparison on this machine. Sessions always use a new one.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Paillier engine")]
pub(crate) struct KeyArgs {
    /// A secret Paillier key from `veilpath keygen` [default: a new one for this run]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    pub(crate) key: Option<PathBuf>,
}

/// Parses a key size in bits.
pub(crate) fn key_size(text: &str) -> Result<KeySize, String> {
    text.parse()
        .map_err(|_| "expected 512, 1024, 2048, 3072 or 4096".into())
}

impl KeyArgs {
    /// The requested engine, and its key if one is given; the key's size then becomes the engine's.
    pub(crate) fn engine(
        &self,
        name: EngineName,
        paillier: &PaillierArgs,
    ) -> Result<(EngineChoice, Option<HostKey>), Failure> {
        let Some(path) = &self.key else {
            return Ok((name.with(paillier)?, None));
        };
        if name != EngineName::Paillier {
            return Err(Failure::input("--key is only for --engine paillier"));
        }
        let (key, size) = veilpath::load_host_key(path)?;
        if let Some(asked) = paillier.key_bits.filter(|&asked| asked != size) {
            return Err(Failure::input(format!(
                "{}: this key has {} bits, but --key-bits asks for {}\n  \
                 leave --key-bits out",
                path.display(),
                size.bits(),
                asked.bits()
            )));
        }
        let with_key_size = PaillierArgs {
            key_bits: Some(size),
            ..*paillier
        };
        Ok((name.with(&with_key_size)?, Some(key)))
    }

    /// The key file, which is one of the input files.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.key.as_deref()
    }
}

impl EngineName {
    /// The engine with its options; options of another engine are an error.
    pub(crate) fn with(self, paillier: &PaillierArgs) -> Result<EngineChoice, Failure> {
        match self {
            EngineName::Paillier => Ok(Engine::Paillier(paillier.options()?).into()),
            EngineName::Auto | EngineName::Plain | EngineName::Garbled | EngineName::Shares => {
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
                        "--key-bits, --allow-weak-key, --batch, --no-packing and --hardened are only for --engine paillier",
                    ));
                }
                Ok(match self {
                    EngineName::Auto => EngineChoice::Auto,
                    EngineName::Garbled => Engine::Garbled.into(),
                    EngineName::Shares => Engine::Shares.into(),
                    _ => Engine::Plain.into(),
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

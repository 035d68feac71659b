//! `veilpath keygen`: a Paillier key for the host, in a file.

use crate::engine_args::{KeyBits, key_size};
use crate::failure::Failure;
use crate::say;
use clap::Args;
use std::path::PathBuf;
use veilpath_paillier::{SecretKey, system_rng};

const EXAMPLES: &str = "\
Examples:
  veilpath keygen -o alice.key
  veilpath keygen --key-bits 3072 -o longer.key --public longer.pub

The secret key can decrypt everything that was ever encrypted under it: only its owner may read the file, and an \
existing file is never overwritten.";

/// The arguments of `keygen`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// Where to write the secret key
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Where to write the public key as well
    #[arg(long, value_name = "FILE")]
    public: Option<PathBuf>,

    /// Bits of the key
    #[arg(long, value_name = "BITS", value_parser = key_size, default_value = "2048")]
    key_bits: KeyBits,

    /// Allow keys of 512 and 1024 bits, which only serve to reproduce the paper's measurements
    #[arg(long)]
    allow_weak_key: bool,

    /// Say nothing but errors
    #[arg(short, long)]
    quiet: bool,
}

/// Makes a key and writes it.
pub(crate) fn run(args: &KeygenArgs) -> Result<(), Failure> {
    if args.key_bits.is_weak() && !args.allow_weak_key {
        return Err(Failure::input(
            "a key below 2048 bits only serves to reproduce the paper's measurements; ask for it with --allow-weak-key",
        ));
    }
    let failed = |error: veilpath_paillier::Error| Failure::input(error.to_string());
    let in_file = |path: &PathBuf, error: veilpath_paillier::Error| {
        Failure::input(format!("{}: {error}", path.display()))
    };
    let mut rng = system_rng().map_err(failed)?;
    let key = SecretKey::generate(args.key_bits, &mut rng).map_err(failed)?;
    key.save(&args.output)
        .map_err(|error| in_file(&args.output, error))?;
    if let Some(path) = &args.public {
        key.public_key()
            .save(path)
            .map_err(|error| in_file(path, error))?;
    }
    if !args.quiet {
        say::lines(&format!(
            "A secret key of {} is in {}. Keep it to yourself.\n",
            args.key_bits,
            args.output.display()
        ));
    }
    Ok(())
}

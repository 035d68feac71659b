//! `veilpath keygen`: a Paillier key pair in two files.

use crate::engine_args::key_size;
use crate::failure::Failure;
use crate::inputs::is_dash;
use crate::messages;
use clap::Args;
use std::path::PathBuf;
use veilpath::{KeyPairOptions, KeySize, generate_key_pair};

const EXAMPLES: &str = "\
Examples:
  veilpath keygen -o hospital.key
  veilpath keygen -o toy.key --public toy-public.key --key-bits 512 --allow-weak-key

Only you can read the secret key's file; you may give the public key to anybody. Existing files are never overwritten.";

/// The arguments of `keygen`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// Write the secret key to this file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Write the public key to this file [default: the secret key's name with .pub]
    #[arg(long, value_name = "FILE")]
    public: Option<PathBuf>,

    /// Bits of the modulus: 2048 gives 112 bits of security, 3072 gives 128
    #[arg(long, value_name = "BITS", value_parser = key_size, default_value = "2048")]
    key_bits: KeySize,

    /// Allow keys of 512 and 1024 bits, only to reproduce the measurements of Ozdel et al. (2024)
    #[arg(long)]
    allow_weak_key: bool,
}

/// Generates and saves a key pair.
pub(crate) fn run(args: &KeygenArgs) -> Result<(), Failure> {
    if is_dash(&args.output) || args.public.as_deref().is_some_and(is_dash) {
        return Err(Failure::input(
            "-: keys are not written to standard output\n  name a file",
        ));
    }
    let public = generate_key_pair(&KeyPairOptions {
        secret: args.output.clone(),
        public: args.public.clone(),
        size: args.key_bits,
        allow_weak: args.allow_weak_key,
    })?;
    messages::info(&format!(
        "{}: the secret key, {} bits; keep it private\n{}: the public key\n",
        args.output.display(),
        args.key_bits.bits(),
        public.display()
    ));
    Ok(())
}

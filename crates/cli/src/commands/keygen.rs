//! `veilpath keygen`: a Paillier key pair in two files.

use crate::dash;
use crate::engine_args::{KeyBits, key_size};
use crate::failure::Failure;
use crate::messages;
use clap::Args;
use std::path::PathBuf;
use veilpath_paillier::{SecretKey, system_rng};

const EXAMPLES: &str = "\
Examples:
  veilpath keygen -o hospital.key
  veilpath keygen -o toy.key --public toy-public.key --key-bits 512 --allow-weak-key

The secret file can be read by you alone; the public one may be given to anybody. Neither is ever overwritten.";

/// The arguments of `keygen`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeygenArgs {
    /// Where the secret key goes
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Where the public key goes [default: the secret key's name with .pub]
    #[arg(long, value_name = "FILE")]
    public: Option<PathBuf>,

    /// Bits of the modulus: 2048 gives 112 bits of security, 3072 gives 128
    #[arg(long, value_name = "BITS", value_parser = key_size, default_value = "2048")]
    key_bits: KeyBits,

    /// Allow keys of 512 and 1024 bits, which only serve to reproduce the paper's measurements
    #[arg(long)]
    allow_weak_key: bool,
}

/// Makes and saves a key pair.
pub(crate) fn run(args: &KeygenArgs) -> Result<(), Failure> {
    let size = args.key_bits;
    if size.is_weak() && !args.allow_weak_key {
        return Err(Failure::input(format!(
            "a key of {} bits can be broken\n  take 2048 bits or more, or add --allow-weak-key for an experiment",
            size.bits()
        )));
    }
    let public = args.public.clone().unwrap_or_else(|| {
        let mut name = args.output.clone().into_os_string();
        name.push(".pub");
        name.into()
    });
    for path in [&args.output, &public] {
        dash::refuse_as_output(path)?;
    }
    let named = |path: &PathBuf| {
        let path = path.display().to_string();
        move |error: veilpath_paillier::Error| Failure::input(format!("{path}: {error}"))
    };
    // Before the work, and before one file of the pair is there without the other.
    if let Some(taken) = [&args.output, &public]
        .into_iter()
        .find(|path| path.exists())
    {
        return Err(Failure::input(format!(
            "{}: this file exists, and keys are never overwritten\n  choose another name, or move the old key away",
            taken.display()
        )));
    }
    let key = SecretKey::generate(size, &mut system_rng()?)?;
    key.save(&args.output).map_err(named(&args.output))?;
    key.public_key().save(&public).map_err(named(&public))?;
    if !messages::is_quiet() {
        messages::info(&format!(
            "{}: the secret key, {} bits; keep it to yourself\n{}: the public key\n",
            args.output.display(),
            size.bits(),
            public.display()
        ));
    }
    Ok(())
}

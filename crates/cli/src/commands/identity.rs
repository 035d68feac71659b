//! `veilpath identity`: who this machine is to others.

use crate::failure::Failure;
use crate::messages;
use crate::output::to_file_or_stdout;
use clap::Args;
use std::path::PathBuf;
use veilpath_session::{Identity, StateDir};

const EXAMPLES: &str = "\
Examples:
  veilpath identity
  veilpath identity --show
  veilpath identity --identity clinic.pem

The fingerprint stands for this machine's key. Read it to the other institution over a line that you trust, and get \
theirs: `veilpath host` and `veilpath join` accept exactly the peer whose fingerprint they are given. The private key \
never leaves the file, which only you can read.";

/// The arguments of `identity`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IdentityArgs {
    /// Only show the identity; do not make one where there is none
    #[arg(long)]
    show: bool,

    /// The file of the identity [default: identity.pem in the user's folder for veilpath, or in $VEILPATH_HOME]
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
}

/// Prints the fingerprint.
pub(crate) fn run(args: &IdentityArgs) -> Result<(), Failure> {
    let path = file(args.identity.as_ref())?;
    let (identity, new) = if args.show {
        (Identity::load(&path)?, false)
    } else {
        Identity::load_or_create(&path)?
    };
    if !messages::is_quiet() {
        let made = if new {
            "a new identity in"
        } else {
            "the identity in"
        };
        messages::note(&format!("{made} {}", path.display()));
    }
    to_file_or_stdout(None, |out| writeln!(out, "{}", identity.fingerprint()))
}

/// Where the identity is.
pub(crate) fn file(named: Option<&PathBuf>) -> Result<PathBuf, Failure> {
    match named {
        Some(path) => Ok(path.clone()),
        None => Ok(StateDir::for_user()?.identity()),
    }
}

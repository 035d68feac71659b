//! `veilpath identity`: creates the identity, and prints its fingerprint.

use crate::destination::Destination;
use crate::failure::Failure;
use crate::{inputs, messages};
use clap::Args;
use std::path::PathBuf;
use veilpath::Identity;

const EXAMPLES: &str = "\
Examples:
  veilpath identity
  veilpath identity --show
  veilpath identity --identity clinic.pem

The fingerprint identifies the key of this user account, which stands for your institution. Exchange fingerprints with your partner by phone, with someone whose \
voice you recognise: `veilpath host` and `veilpath join` accept only the partners whose fingerprints they are given. The private \
key never leaves the file, which only you can read.

The file is in Veilpath's state folder, with journals, counts of comparisons and the record. The environment variable VEILPATH_HOME \
names this folder; the default is ~/.local/state/veilpath on Linux, ~/Library/Application Support/veilpath on macOS and \
%LOCALAPPDATA%\\veilpath on Windows.";

/// The arguments of `identity`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IdentityArgs {
    /// Only show an existing identity; do not create one
    #[arg(long)]
    show: bool,

    /// The identity file [default: identity.pem in Veilpath's state folder]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    identity: Option<PathBuf>,
}

/// Prints the fingerprint.
pub(crate) fn run(args: &IdentityArgs) -> Result<(), Failure> {
    let path = veilpath::identity_file(args.identity.as_deref())?;
    let (identity, is_new) = if args.show {
        (Identity::load(&path)?, false)
    } else {
        Identity::load_or_create(&path)?
    };
    let which = if is_new { "a new" } else { "the" };
    messages::note(&format!("{which} identity in {}", path.display()));
    Destination::Stdout.write(|out| writeln!(out, "{}", identity.fingerprint()))
}

//! `veilpath join`: one institution calls the other.

use crate::commands::session::{self, SessionArgs};
use crate::failure::Failure;
use clap::Args;
use std::time::Duration;
use veilpath_protocol::Role;

const EXAMPLES: &str = "\
Examples:
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv --engine plain -o join.csv
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv --engine plain --estimate
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv --engine plain --pairs all

THEIRS stands for the fingerprint that the other institution's `veilpath identity` shows. It runs `veilpath host` with the same options. With `--reveal threshold:12` on both sides each pair tells one bit and no score. After an interruption of either side run both \
commands again: they go on with what is missing.";

/// The arguments of `join`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct JoinArgs {
    /// The host's address, as in hospital.example:7070
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// How long to try to reach the host
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    wait: u64,

    #[command(flatten)]
    session: SessionArgs,
}

/// Calls, compares and writes.
pub(crate) fn run(args: &JoinArgs) -> Result<(), Failure> {
    session::run(
        &args.session,
        Role::Join,
        Duration::from_secs(args.wait),
        |setup, patience, events| {
            events.calling(&args.address, setup.identity.fingerprint());
            veilpath_session::join(&args.address, &setup.identity, setup.peer, patience)
        },
    )
}

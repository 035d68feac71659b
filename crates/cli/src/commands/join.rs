//! `veilpath join`: one institution calls the other.

use crate::commands::session::{self, MAX_QUEUE_TIME, SessionArgs};
use crate::engine_args::KeyArgs;
use crate::failure::Failure;
use clap::Args;
use std::time::Duration;
use veilpath_protocol::Role;
use veilpath_session::Fingerprint;

const EXAMPLES: &str = "\
Examples:
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv -o join.csv
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv --estimate
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv --pairs all
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv -o join.json

THEIRS stands for the fingerprint that the other institution's `veilpath identity` shows. It runs `veilpath host` with the same options. With `--reveal threshold:12` on both sides each pair answer_description one bit and no score. After an interruption of either side run both \
commands again: they go on with what is missing.";

/// The arguments of `join`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct JoinArgs {
    /// The host's address, as in hospital.example:7070
    #[arg(value_name = "ADDRESS")]
    address: String,

    /// The host's fingerprint, as its `veilpath identity` shows it
    #[arg(long, value_name = "FINGERPRINT")]
    peer: Fingerprint,

    /// How long to try to reach the host; one that is busy with others is waited for as long as it says so
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=MAX_QUEUE_TIME))]
    wait: u64,

    #[command(flatten)]
    session: SessionArgs,
}

/// Calls, compares and writes.
pub(crate) fn run(args: &JoinArgs) -> Result<(), Failure> {
    session::run(
        &args.session,
        Role::Join,
        // The host holds the key.
        &KeyArgs::default(),
        Duration::from_secs(args.wait),
        args.peer,
        |ready, events| {
            events.calling(&args.address, ready.identity.fingerprint());
            let (identity, timeouts) = (&ready.identity, &ready.timeouts);
            veilpath_session::join(&args.address, identity, args.peer, timeouts)
        },
    )
}

//! `veilpath host`: one institution waits for the other.

use crate::commands::session::{self, SessionArgs};
use crate::failure::Failure;
use clap::Args;
use std::time::Duration;
use veilpath_protocol::Role;
use veilpath_session::Listener;

const EXAMPLES: &str = "\
Examples:
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv --engine plain -o host.csv
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv --engine plain --estimate
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv --engine plain --pairs all

THEIRS stands for the fingerprint that the other institution's `veilpath identity` shows. It runs `veilpath join` with the same options. With `--reveal threshold:12` on both sides each pair tells one bit and no score. 127.0.0.1 is for both sides on one machine; 0.0.0.0 \
listens to the network. After an interruption of either side run both commands again: they go on with what is missing.";

/// How long to wait for the other side: a day.
const WAIT: u64 = 24 * 3600;

/// The arguments of `host`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HostArgs {
    /// The address to listen on, as in 0.0.0.0:7070; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    listen: String,

    /// How long to wait for the other side to come [default: a day]
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT, hide_default_value = true)]
    wait: u64,

    #[command(flatten)]
    session: SessionArgs,
}

/// Waits, compares and writes.
pub(crate) fn run(args: &HostArgs) -> Result<(), Failure> {
    session::run(
        &args.session,
        Role::Host,
        Duration::from_secs(args.wait),
        |setup, patience, events| {
            let listener = Listener::bind(&args.listen)?;
            events.listening(listener.address(), setup.identity.fingerprint());
            listener.accept(&setup.identity, setup.peer, patience, &mut |error| {
                events.stranger(error);
            })
        },
    )
}

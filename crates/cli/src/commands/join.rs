//! `veilpath join`: connects to a host.

use crate::commands::session::{self, MAX_WAIT, SessionArgs};
use crate::failure::Failure;
use clap::{ArgGroup, Args};
use std::time::Duration;
use veilpath::Fingerprint;

const EXAMPLES: &str = "\
Examples:
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv -o join.csv
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv --estimate
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv --reveal threshold:12
  veilpath join --relay 127.0.0.1:7071 --peer THEIRS --cohort b.csv -o join.csv
  veilpath join 127.0.0.1:7070 --peer THEIRS --cohort b.csv -o join.json

THEIRS is the fingerprint that `veilpath identity` prints at the partner's institution, which runs `veilpath host` with the same \
plan (engine, metric, pairs, what is revealed). With `--reveal threshold:12` on both sides, each pair reveals a yes or no instead of its score; `--reveal mean` or another \
group answer reveals nothing about single pairs. Start the host first, or wait for it with --wait. If either side is \
interrupted, run both commands again: they continue with the missing pairs.";

/// The arguments of `join`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("place").required(true).args(["address", "relay"])))]
pub(crate) struct JoinArgs {
    /// The host's address, as in hospital.example:7070
    #[arg(value_name = "ADDRESS")]
    address: Option<String>,

    /// Meet the host at this relay instead, as in relay.example:7071
    #[arg(long, value_name = "ADDRESS")]
    relay: Option<String>,

    /// The host's fingerprint, which `veilpath identity` prints at the partner's institution
    #[arg(long, value_name = "FINGERPRINT")]
    peer: Fingerprint,

    /// How long to try to reach the host, or to wait for it at the relay; there is no limit while the host is busy with other partners
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(..=MAX_WAIT))]
    wait: u64,

    #[command(flatten)]
    session: SessionArgs,
}

/// Connects, compares, and writes the results.
pub(crate) fn run(args: &JoinArgs) -> Result<(), Failure> {
    let wait = Duration::from_secs(args.wait);
    let (address, via_relay) = session::address(args.address.as_deref(), args.relay.as_deref());
    session::run(&args.session, wait, args.peer, |options, events| {
        options.via_relay = via_relay;
        veilpath::join(address, args.peer, options, events)
    })
}

//! `veilpath host`: waits for one or more institutions.

use crate::commands::serve;
use crate::commands::session::{self, MAX_WAIT, SessionArgs};
use crate::failure::Failure;
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use std::time::Duration;
use veilpath::{Fingerprint, MAX_PEERS};

const EXAMPLES: &str = "\
Examples:
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv -o host.csv
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv --estimate
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv --reveal threshold:12
  veilpath host --relay 127.0.0.1:7071 --peer THEIRS --cohort a.csv -o host.csv
  veilpath host --listen 127.0.0.1:7070 --peers partners.txt --sessions 4 --cohort a.csv -o results

THEIRS is the fingerprint that `veilpath identity` prints at the partner's institution, which runs `veilpath join` with the same \
plan (engine, metric, pairs, what is revealed). With `--reveal threshold:12` on both sides, each pair reveals a yes or no instead of its score; `--reveal mean` or another \
group answer reveals nothing about single pairs. The examples are for two sides on one \
machine; between institutions, listen on 0.0.0.0:7070. If either side is interrupted, run both commands again: they continue with \
the missing pairs. If neither side may open a port, both connect to a `veilpath relay` with --relay.

With several partners (the last example) the host ends when every session has finished or failed for good, or when no session has run for the time \
in --wait. Each partner has its own session, journal, count of comparisons and result file. A partner whose session failed can connect \
again, but a partner gets only one comparison while the host runs: it cannot connect again with another cohort. The exit code is 0 \
if all have finished; otherwise it is that of the most serious failure: 2 before 3 before 4.";

/// The default time to wait for the other side, in seconds: a day.
const WAIT: u64 = 24 * 3600;

/// The default number of concurrent sessions.
const SESSIONS: u64 = 4;

/// The arguments of `host`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(ArgGroup::new("place").required(true).args(["listen", "relay"])))]
pub(crate) struct HostArgs {
    /// The address to listen on, as in 0.0.0.0:7070; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// Wait for the partner at this relay instead of listening, as in relay.example:7071
    #[arg(long, value_name = "ADDRESS")]
    relay: Option<String>,

    /// The partner's fingerprint, which `veilpath identity` prints at the partner's institution; may be repeated
    #[arg(long, value_name = "FINGERPRINT", required_unless_present = "peers")]
    peer: Vec<Fingerprint>,

    /// A list of partners, one per line: a fingerprint and, after a space, an optional name for the result file (- for standard input)
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,

    /// Serve several partners, at most this many at a time; the others wait. -o then names a folder for their result files
    /// [default with --peers or several --peer: 4]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=MAX_PEERS as u64))]
    sessions: Option<u64>,

    /// How long to wait for the partner; with several partners, how long to wait while no session runs [default: a day]
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT, hide_default_value = true, value_parser = clap::value_parser!(u64).range(..=MAX_WAIT))]
    wait: u64,

    #[command(flatten)]
    session: SessionArgs,
}

/// Waits for the peers, compares, and writes the results.
pub(crate) fn run(args: &HostArgs) -> Result<(), Failure> {
    let wait = Duration::from_secs(args.wait);
    let (address, via_relay) = session::address(args.listen.as_deref(), args.relay.as_deref());
    match (&args.peer[..], &args.peers, args.sessions) {
        (&[peer], None, None) => session::run(&args.session, wait, peer, |options, events| {
            options.via_relay = via_relay;
            veilpath::host(address, peer, options, events)
        }),
        (peers, list, sessions) => serve::run(&serve::ServeArgs {
            session: &args.session,
            address,
            via_relay,
            peers,
            list: list.as_deref(),
            sessions: sessions.unwrap_or(SESSIONS),
            wait,
        }),
    }
}

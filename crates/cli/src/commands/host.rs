//! `veilpath host`: one institution waits for the other, or for several.

use crate::commands::serve;
use crate::commands::session::{self, MAX_QUEUE_TIME, SessionArgs};
use crate::engine_args::KeyArgs;
use crate::failure::Failure;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use veilpath_protocol::Role;
use veilpath_session::limits::MAX_PEERS;
use veilpath_session::{Fingerprint, Listener};

const EXAMPLES: &str = "\
Examples:
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv -o host.csv
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv --estimate
  veilpath host --listen 127.0.0.1:7070 --peer THEIRS --cohort a.csv --pairs all
  veilpath host --listen 127.0.0.1:7070 --peers partners.txt --sessions 4 --cohort a.csv -o results

THEIRS stands for the fingerprint that the other institution's `veilpath identity` shows. It runs `veilpath join` with the same options. With `--reveal threshold:12` on both sides each pair answer_description one bit and no score. 127.0.0.1 is for both sides on one machine; 0.0.0.0 \
listens to the network. After an interruption of either side run both commands again: they go on with what is missing.

With several peers (the last example) the host ends when each has had its session to the end, or when nobody was there for the time of --wait. Each peer has a session, a journal, a count of comparisons and a result file of its own; a peer that failed can come again. A peer has one comparison as long as the host runs: it cannot come with another cohort. \
The exit code is 0 when all have finished, else that of the gravest failure: 2 before 3 before 4.";

/// How long to wait for the other side: a day.
const WAIT: u64 = 24 * 3600;

/// Peers that are worked with at a time, where the user does not say.
const SESSIONS: u64 = 4;

/// The arguments of `host`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HostArgs {
    /// The address to listen on, as in 0.0.0.0:7070; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    listen: String,

    /// The other institution's fingerprint, as its `veilpath identity` shows it; again for each of several
    #[arg(long, value_name = "FINGERPRINT", required_unless_present = "peers")]
    peer: Vec<Fingerprint>,

    /// A list of peers: a fingerprint on each line, and after a blank a name for its result file, if you like
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,

    /// Serve several peers, at most so many at a time; the others wait their turn. -o then names a folder for a result file
    /// of each [default with --peers or several --peer: 4]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..=MAX_PEERS as u64))]
    sessions: Option<u64>,

    /// How long to wait for the other side to come; with several, how long when nobody is there [default: a day]
    #[arg(long, value_name = "SECONDS", default_value_t = WAIT, hide_default_value = true, value_parser = clap::value_parser!(u64).range(..=MAX_QUEUE_TIME))]
    wait: u64,

    #[command(flatten)]
    key: KeyArgs,

    #[command(flatten)]
    session: SessionArgs,
}

/// Waits, compares and writes.
pub(crate) fn run(args: &HostArgs) -> Result<(), Failure> {
    let wait = Duration::from_secs(args.wait);
    match (&args.peer[..], &args.peers, args.sessions) {
        (&[peer], None, None) => session::run(
            &args.session,
            Role::Host,
            &args.key,
            wait,
            peer,
            |ready, events| {
                let listener = Listener::bind(&args.listen)?;
                events.listening(listener.address(), ready.identity.fingerprint());
                let tell = &mut |error: &_| events.rejected(error);
                listener.accept(&ready.identity, peer, &ready.timeouts, tell)
            },
        ),
        (peers, file, sessions) => serve::run(&serve::Call {
            session: &args.session,
            key: &args.key,
            listen: &args.listen,
            peers,
            file: file.as_deref(),
            sessions: sessions.unwrap_or(SESSIONS),
            wait,
        }),
    }
}

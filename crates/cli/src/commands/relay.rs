//! `veilpath relay`: connects institutions that can only dial out.

use crate::failure::Failure;
use crate::{inputs, messages};
use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use veilpath::{Event, RelayEvent, RelayOptions, units};

const EXAMPLES: &str = "\
Examples:
  veilpath relay --listen 127.0.0.1:7071
  veilpath relay --listen 127.0.0.1:7071 --institutions institutions.txt

If neither institution may open a port, both connect to a relay on a third machine, with `veilpath host --relay` and \
`veilpath join --relay`. The connection is encrypted between the two institutions: the relay has no key and copies bytes. It \
sees their addresses, when they meet, and how much they send. It runs until it is stopped; interrupted sessions \
continue when both sides run their commands again.";

/// The longest timeout, in seconds: a year.
const MAX_SECONDS: u64 = 366 * 24 * 3600;

/// The arguments of `relay`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RelayArgs {
    /// The address to listen on, as in 0.0.0.0:7071; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    listen: String,

    /// Serve only sessions between these institutions: a fingerprint on each line (- for standard input) [default: everybody]
    #[arg(long, value_name = "FILE")]
    institutions: Option<PathBuf>,

    /// Maximum number of concurrent sessions
    #[arg(long, value_name = "COUNT", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=4096))]
    sessions: u64,

    /// End a session after this long without traffic
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=MAX_SECONDS))]
    timeout: u64,

    /// End a session after this long, even with traffic [default: a week]
    #[arg(long, value_name = "SECONDS", default_value_t = 7 * 24 * 3600, hide_default_value = true, value_parser = clap::value_parser!(u64).range(1..=MAX_SECONDS))]
    max_duration: u64,
}

/// Serves until it is stopped.
pub(crate) fn run(args: &RelayArgs) -> Result<(), Failure> {
    let allowed = match &args.institutions {
        None => None,
        Some(path) => {
            let peers = inputs::peers(path)?;
            Some(peers.iter().map(|peer| peer.fingerprint).collect())
        }
    };
    let options = RelayOptions {
        connections: usize::try_from(args.sessions).unwrap_or(usize::MAX),
        idle: Duration::from_secs(args.timeout),
        total: Duration::from_secs(args.max_duration),
        allowed,
        ..RelayOptions::default()
    };
    // A signal ends the process.
    let never = AtomicBool::new(false);
    veilpath::relay(&args.listen, &options, &never, &|event| report(&event))?;
    Ok(())
}

/// Prints what happens at a relay or a gateway.
pub(crate) fn report(event: &Event) {
    let Event::Relay(event) = event else {
        return;
    };
    let text = match event {
        RelayEvent::Listening { address } => format!("listening on {address}"),
        RelayEvent::Connected { number } => format!("session {number}: connected"),
        RelayEvent::Ended {
            number,
            bytes,
            time,
        } => format!(
            "session {number}: ended after {}, {}",
            units::seconds(time.as_secs_f64()),
            units::bytes(*bytes)
        ),
        RelayEvent::Dropped { count, within } => format!(
            "{} dropped in the last {}",
            units::counted(*count, "connection"),
            units::seconds(within.as_secs_f64())
        ),
        _ => return,
    };
    messages::info(&format!("{text}\n"));
}

//! `veilpath gateway`: the single port at which the workers of both institutions meet.

use crate::commands::relay::report;
use crate::failure::Failure;
use crate::inputs;
use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use veilpath::RelayOptions;

const EXAMPLES: &str = "\
Examples:
  veilpath gateway 3fa4c1d0 --listen 0.0.0.0:7070

This serves the agreement whose id starts with 3fa4c1d0. Workers of both institutions connect to it with `veilpath worker --gateway`, \
and it connects the two that have the same tile. It checks the worker key of each. The connection is encrypted between the two \
workers: the gateway has no key and copies bytes. It runs until it is stopped; interrupted sessions continue when both \
workers run again.";

/// The arguments of `gateway`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GatewayArgs {
    /// The id of the agreement, or a prefix of it
    #[arg(value_name = "AGREEMENT")]
    agreement: String,

    /// The address to listen on, as in 0.0.0.0:7070; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    listen: String,

    /// Maximum number of concurrent sessions
    #[arg(long, value_name = "COUNT", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=4096))]
    sessions: u64,

    /// End a session after this long without traffic
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    /// The identity file. Needed only without a home directory: the state folder is then `veilpath` next to this file
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    identity: Option<PathBuf>,
}

/// Serves until it is stopped.
pub(crate) fn run(args: &GatewayArgs) -> Result<(), Failure> {
    super::disable_core_dumps();
    let plan = veilpath::state_dir(args.identity.as_deref())?.agreed_plan(&args.agreement)?;
    let sessions = usize::try_from(args.sessions).unwrap_or(usize::MAX);
    let options = RelayOptions {
        idle: Duration::from_secs(args.timeout),
        ..RelayOptions::for_workers(sessions)
    };
    // A signal ends the process.
    let never = AtomicBool::new(false);
    veilpath::gateway(&args.listen, &plan, &options, &never, &|event| {
        report(&event)
    })?;
    Ok(())
}

//! `veilpath coordinator`: keeps what the workers of an institution compute.

use crate::commands::relay;
use crate::failure::Failure;
use crate::messages;
use clap::Args;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use veilpath::{CoordinatorEvent, CoordinatorOptions, Event, Identity, RelayOptions};

const EXAMPLES: &str = "\
Examples:
  veilpath coordinator 3fa4c1d0 --listen 10.0.0.1:7072
  veilpath coordinator 3fa4c1d0 --listen 10.0.0.1:7072 --gateway 0.0.0.0:7070

Run it on the machine with the identity. It serves the workers of the agreement whose id starts with 3fa4c1d0. They connect with \
`veilpath worker --coordinator` and need only their work order: the coordinator stores their halves of results, counts every \
pair before it is revealed, and refuses what exceeds a limit. A tile whose worker dies continues on another machine. At the \
institution that hosts, --gateway also runs the gateway where the workers of both institutions meet. The coordinator runs until it is \
stopped; interrupted workers continue when you run them again.";

/// The arguments of `coordinator`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CoordinatorArgs {
    /// The id of the agreement, or the start of it
    #[arg(value_name = "AGREEMENT")]
    agreement: String,

    /// The address to listen on for workers of this institution, as in 10.0.0.1:7072; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    listen: String,

    /// Also run the gateway for the workers of both institutions, on this address
    #[arg(long, value_name = "ADDRESS")]
    gateway: Option<String>,

    /// Maximum number of workers at the same time
    #[arg(long, value_name = "COUNT", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=4096))]
    workers: u64,

    /// Memory for the tiles that are computed at the same time, in MB
    #[arg(long, value_name = "MB", default_value_t = CoordinatorOptions::default().memory >> 20, value_parser = clap::value_parser!(u64).range(64..=1 << 20))]
    memory: u64,

    /// The identity file [default: identity.pem in Veilpath's state folder]
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
}

/// Serves until it is stopped.
pub(crate) fn run(args: &CoordinatorArgs) -> Result<(), Failure> {
    super::disable_core_dumps();
    let identity_file = veilpath::identity_file(args.identity.as_deref())?;
    let identity = Identity::load(&identity_file)?;
    let state_dir = veilpath::state_dir(args.identity.as_deref())?;
    let plan = state_dir.agreed_plan(&args.agreement)?;
    let workers = usize::try_from(args.workers).unwrap_or(usize::MAX);
    let options = CoordinatorOptions {
        workers,
        memory: args.memory << 20,
    };
    let meetings = RelayOptions::for_workers(workers);
    // A signal ends the process; one of the two that fails ends the other.
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let gateway = args.gateway.as_ref().map(|address| {
            let (plan, stop) = (plan.clone(), &stop);
            scope.spawn(move || {
                let served = veilpath::gateway(address, &plan, &meetings, stop, &|event| {
                    relay::report(&event)
                });
                stop.store(true, Ordering::Relaxed);
                served
            })
        });
        let address = &args.listen;
        let report = |event: Event| report(&event);
        let served =
            veilpath::coordinate(address, &identity, plan, state_dir, options, &stop, &report);
        stop.store(true, Ordering::Relaxed);
        let gateway = gateway.and_then(|thread| thread.join().ok());
        Ok(served.and(gateway.unwrap_or(Ok(())))?)
    })
}

fn report(event: &Event) {
    let Event::Coordinator(event) = event else {
        return;
    };
    let text = match event {
        CoordinatorEvent::Listening { address } => format!("workers connect to {address}"),
        CoordinatorEvent::Rejected { reason } => format!("rejected a connection: {reason}"),
        CoordinatorEvent::Started { tile } => format!("tile {tile}: started"),
        CoordinatorEvent::Refused {
            tile: Some(tile),
            reason,
        } => format!("tile {tile}: refused: {reason}"),
        CoordinatorEvent::Refused { tile: None, reason } => format!("refused: {reason}"),
        CoordinatorEvent::Ended {
            tile,
            complete: true,
        } => format!("tile {tile}: complete"),
        CoordinatorEvent::Ended {
            tile,
            complete: false,
        } => format!("tile {tile}: interrupted"),
        CoordinatorEvent::AllComplete => {
            "all tiles are complete; the scanpaths that were kept for workers are removed".into()
        }
        CoordinatorEvent::Reported { tile, reason, peer } => {
            return messages::note(&format!(
                "tile {tile}: stopped, because its worker reported misbehaviour of the other side: {reason}\n  \
                 find out whether that worker can be trusted; then `veilpath peers ban {peer}` ends all sessions with the other side, or \
                 `veilpath peers unban {peer}` lets its tiles continue"
            ));
        }
        _ => return,
    };
    messages::info(&format!("{text}\n"));
}

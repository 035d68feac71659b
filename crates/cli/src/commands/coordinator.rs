//! `veilpath coordinator`: stores and counts what an institution's workers compute.

use crate::commands::relay;
use crate::failure::Failure;
use crate::{inputs, messages};
use clap::Args;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use veilpath::{CoordinatorEvent, CoordinatorOptions, Event, Identity, RelayOptions};

const EXAMPLES: &str = "\
Examples:
  veilpath coordinator 3fa4c1d0 --listen 10.0.0.1:7072
  veilpath coordinator 3fa4c1d0 --listen 10.0.0.1:7072 --gateway 0.0.0.0:7070

Run it on the machine with the identity. It serves the workers of the agreement whose id starts with 3fa4c1d0. They connect with \
`veilpath worker --coordinator` and need only their work order: the coordinator stores what they compute, counts every \
pair before it is revealed, and refuses what exceeds a limit. A tile whose worker dies continues on another machine. At the \
institution that hosts, --gateway also runs the gateway where the workers of both institutions meet. The coordinator runs until it is \
stopped; interrupted workers continue when you run them again.";

/// The arguments of `coordinator`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CoordinatorArgs {
    /// The id of the agreement, or a prefix of it
    #[arg(value_name = "AGREEMENT")]
    agreement: String,

    /// The address to listen on for workers of this institution, as in 10.0.0.1:7072; port 0 lets the system choose
    #[arg(long, value_name = "ADDRESS")]
    listen: String,

    /// Also run the gateway for the workers of both institutions, on this address
    #[arg(long, value_name = "ADDRESS")]
    gateway: Option<String>,

    /// Maximum number of concurrent workers
    #[arg(long, value_name = "COUNT", default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..=4096))]
    workers: u64,

    /// Memory for the tiles that are being computed, in MiB
    #[arg(long, value_name = "MIB", default_value_t = CoordinatorOptions::default().memory >> 20, value_parser = clap::value_parser!(u64).range(64..=1 << 20))]
    memory: u64,

    /// The identity file [default: identity.pem in Veilpath's state folder]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
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
    // A signal ends the process. If the coordinator or the gateway fails, the other one stops.
    let stop = AtomicBool::new(false);
    let gateway = args.gateway.as_ref().map(|address| {
        let (plan, stop) = (plan.clone(), &stop);
        move || {
            veilpath::gateway(address, &plan, &meetings, stop, &|event| {
                relay::report(&event)
            })
        }
    });
    let coordinator = || {
        let (address, report) = (&args.listen, |event: Event| report(&event));
        veilpath::coordinate(address, &identity, plan, state_dir, options, &stop, &report)
    };
    Ok(run_both(gateway, coordinator, &stop)?)
}

/// Runs both until one of them ends. A panic of either ends both.
fn run_both<E: Send>(
    gateway: Option<impl FnOnce() -> Result<(), E> + Send>,
    coordinator: impl FnOnce() -> Result<(), E>,
    stop: &AtomicBool,
) -> Result<(), E> {
    std::thread::scope(|scope| {
        let gateway = gateway.map(|gateway| {
            scope.spawn(move || {
                let _stops = StopOnDrop(stop);
                gateway()
            })
        });
        let served = {
            let _stops = StopOnDrop(stop);
            coordinator()
        };
        let gateway =
            gateway.map(|thread| thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        served.and(gateway.unwrap_or(Ok(())))
    })
}

/// Stops everything else when its thread ends, even by a panic.
struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
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
                "tile {tile}: stopped, because its worker reported misbehaviour of the partner: {reason}\n  \
                 find out whether that worker can be trusted; then `veilpath peers ban {peer}` ends all sessions with the partner, or \
                 `veilpath peers unban {peer}` lets its tiles continue"
            ));
        }
        _ => return,
    };
    messages::info(&format!("{text}\n"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_coordinator_does_not_outlive_a_gateway_that_panics() {
        let stop = AtomicBool::new(false);
        let coordinator = || {
            let start = Instant::now();
            while !stop.load(Ordering::Relaxed) {
                assert!(start.elapsed() < Duration::from_secs(10), "not stopped");
                std::thread::yield_now();
            }
            Ok(())
        };
        let gateway = || -> Result<(), ()> { panic!("of this test") };
        let ran = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run_both(Some(gateway), coordinator, &stop)
        }));
        assert!(ran.is_err());
        assert!(stop.load(Ordering::Relaxed));
    }
}

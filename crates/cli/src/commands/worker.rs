//! `veilpath worker`: computes a tile with a worker key.

use crate::commands::session::MAX_WAIT;
use crate::failure::Failure;
use crate::inputs;
use crate::output::{OutputArgs, names};
use crate::session_log::{LogFormat, SessionLog};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::Duration;
use veilpath::{DEFAULT_MEMORY, Peer, WorkOptions, WorkOrder, WorkStorage};

const EXAMPLES: &str = "\
Examples:
  veilpath worker work.json --tile 7 --coordinator 10.0.0.1:7072 --gateway 192.0.2.1:7070 -o 7.json
  veilpath worker work.json --tile 7 --listen 0.0.0.0:7070 -o 7.json
  veilpath worker work.json --tile 7 --connect 192.0.2.1:7070 -o 7.json

The first example is for both institutions: each worker uses the `veilpath coordinator` of its own institution, which counts pairs and \
stores what is needed to continue on another machine, and both meet at the gateway of the institution that hosts. In the other two, \
the worker of the institution that hosts listens and the other connects to it; without --coordinator, all workers of an institution \
use the same state folder (VEILPATH_HOME). If either worker is interrupted, run both again: the same results are revealed again, and \
nothing counts twice, except that with the engine paillier the joining side counts pairs that start again. `veilpath merge` combines the results of all tiles.";

/// The arguments of `worker`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group(clap::ArgGroup::new("place").required(true).args(["listen", "connect", "gateway"])))]
pub(crate) struct WorkerArgs {
    /// The work order, which `veilpath worker-key` wrote
    #[arg(value_name = "FILE", value_parser = inputs::named_place())]
    order: PathBuf,

    /// The tile to compute
    #[arg(long, value_name = "NUMBER")]
    tile: u32,

    /// The address to listen on, at the institution that hosts
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<String>,

    /// The address of the partner's worker, at the institution that joins
    #[arg(long, value_name = "ADDRESS")]
    connect: Option<String>,

    /// Meet the partner's worker at the gateway of the institution that hosts
    #[arg(long, value_name = "ADDRESS")]
    gateway: Option<String>,

    /// The coordinator of this institution [default: none; pairs are counted in the state folder]
    #[arg(long, value_name = "ADDRESS")]
    coordinator: Option<String>,

    /// Names of the two cohorts in this side's results and reports [default: host,join]
    #[arg(long, value_name = "HOST,JOIN", value_parser = names)]
    names: Option<[String; 2]>,

    /// Memory that this command may use, in MiB
    #[arg(long, value_name = "MIB", default_value_t = DEFAULT_MEMORY >> 20, value_parser = clap::value_parser!(u64).range(64..=1 << 20))]
    memory: u64,

    /// How long to wait for the partner
    #[arg(long, value_name = "SECONDS", default_value_t = 600, value_parser = clap::value_parser!(u64).range(..=MAX_WAIT))]
    wait: u64,

    /// Give up if nothing arrives from the partner for this long
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    timeout: u64,

    /// How to report the steps of the session on standard error
    #[arg(
        long,
        value_enum,
        ignore_case = true,
        value_name = "FORMAT",
        default_value = "text"
    )]
    log: LogFormat,

    #[command(flatten)]
    output: OutputArgs,
}

/// Computes the tile, and writes its results.
pub(crate) fn run(args: &WorkerArgs) -> Result<(), Failure> {
    let log = SessionLog::new(args.log, false);
    let session = || {
        super::disable_core_dumps();
        let inputs: [&Path; 1] = [&args.order];
        let order = WorkOrder::load(&args.order)?;
        let output = args.output.check(&inputs)?;
        let mut options = WorkOptions::new(match &args.coordinator {
            Some(address) => WorkStorage::Coordinator(address.clone()),
            None => WorkStorage::Shared(veilpath::state_dir(None)?),
        });
        options.memory = args.memory << 20;
        options.wait = Duration::from_secs(args.wait);
        options.idle_timeout = Duration::from_secs(args.timeout);
        if let Some(names) = &args.names {
            options.names = names.clone();
        }
        options.via_gateway = args.gateway.is_some();
        let direct = match order.role() {
            veilpath::Role::Host => &args.listen,
            veilpath::Role::Join => &args.connect,
        };
        let Some(address) = args.gateway.as_ref().or(direct.as_ref()) else {
            return Err(Failure::input(
                "workers of the side that hosted the agreement need --listen, those of the other side --connect",
            ));
        };
        let completed = veilpath::work(&order, args.tile, address, &options, &log)?;
        log.end_progress();
        let written = output.write(&args.output, &inputs, &completed.outcome)?;
        log.written(&written);
        let peer = Peer::unnamed(order.plan().peer());
        log.finished(&peer, &completed, &written.summary(&completed.outcome));
        Ok(())
    };
    session().map_err(|failure| log.failed(failure))
}

//! `veilpath worker-key`: a short-lived key for a machine that computes tiles.

use crate::failure::Failure;
use crate::{inputs, messages};
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;
use veilpath::{Identity, MAX_WORKER_KEY_TIME, TileRange, units};

const EXAMPLES: &str = "\
Examples:
  veilpath worker-key 3fa4c1d0 --tiles 1-100 --hours 24 -o work.json

`veilpath host` and `veilpath join` with --tile-count COUNT agree on a plan with COUNT tiles, and print the id of the agreement, here one \
that starts with 3fa4c1d0. The work order that this command writes contains a key for tiles 1 to 100, its certificate, the plan, and \
this side's scanpaths in these tiles: give it to one machine, and keep it as secret as the cohort. Until it expires, the key can open \
sessions about these tiles, and do nothing else. `veilpath worker` computes with it.";

/// The arguments of `worker-key`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WorkerKeyArgs {
    /// The id of the agreement, or a prefix of it
    #[arg(value_name = "AGREEMENT")]
    agreement: String,

    /// The tiles that the key is for, as in 7 or 1-100
    #[arg(long, value_name = "TILES")]
    tiles: TileRange,

    /// How long the key is valid
    #[arg(long, value_name = "HOURS", default_value_t = 24, value_parser = clap::value_parser!(u64).range(1..=MAX_WORKER_KEY_TIME.as_secs() / 3600))]
    hours: u64,

    /// Write the work order to this new file
    #[arg(short, long, value_name = "FILE", value_parser = inputs::named_place())]
    output: PathBuf,

    /// The policy file; it must allow the plan, and must not expire before the key [default: policy.toml in Veilpath's state folder, if it
    /// exists]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    policy: Option<PathBuf>,

    /// The identity file [default: identity.pem in Veilpath's state folder]
    #[arg(long, value_name = "FILE", value_parser = inputs::named_place())]
    identity: Option<PathBuf>,
}

/// Makes a key, and writes the work order.
pub(crate) fn run(args: &WorkerKeyArgs) -> Result<(), Failure> {
    let identity_file = veilpath::identity_file(args.identity.as_deref())?;
    let identity = Identity::load(&identity_file)?;
    let state_dir = veilpath::state_dir(args.identity.as_deref())?;
    let plan = state_dir.agreed_plan(&args.agreement)?;
    if args.output.exists() {
        return Err(Failure::input(format!(
            "{}: this file exists, and a work order is never overwritten\n  choose another name with -o",
            args.output.display()
        )));
    }
    let policy = veilpath::find_policy(args.policy.as_deref(), &state_dir)?;
    let order = veilpath::work_order(
        (&identity, &state_dir),
        &plan,
        args.tiles,
        Duration::from_secs(args.hours * 3600),
        policy.as_ref(),
    )?;
    order.save(&args.output)?;
    messages::info(&format!(
        "a key for tiles {} of {}, valid for {}, in {}\n",
        args.tiles,
        plan.tile_count(),
        units::counted(args.hours, "hour"),
        args.output.display()
    ));
    Ok(())
}

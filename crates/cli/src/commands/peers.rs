//! `veilpath peers`: lists the peers of earlier sessions, bans one, or lifts a ban.

use crate::failure::Failure;
use crate::output::list;
use crate::{inputs, messages};
use clap::{Args, Subcommand};
use std::io::{self, BufRead, IsTerminal};
use std::path::PathBuf;
use veilpath::{Fingerprint, StateDir, write_known_peers};

const EXAMPLES: &str = "\
Examples:
  veilpath peers

Prints one row for each partner as CSV: its fingerprint; how many of your scanpaths were compared; \
the most comparisons of any one of them (see --limit-per-scanpath of host and join); the reason for a ban; and the number of \
tiles that are stopped because a worker reported cheating.";

const BAN_HELP: &str = "\
Examples:
  veilpath peers ban THEIRS

THEIRS is the partner's fingerprint, which `veilpath peers` prints. No session with this partner gets beyond its first messages until you lift the ban with `veilpath peers unban`. A session \
bans a partner automatically if it detects cheating. A worker's report only stops a tile, because a stolen worker key can report \
anything: you decide.";

const UNBAN_HELP: &str = "\
Examples:
  veilpath peers unban THEIRS

THEIRS is the partner's fingerprint, which `veilpath peers` prints. A partner is banned when it does what no honest program would do: give a different result for a known pair, or fail a check of \
the computation. A partner that keeps trying may learn more than was agreed on. Lift the ban only once you know the reason, \
for example a damaged disk or memory at its institution. The command also lets a partner start pairs again that were \
started too often without a result, and lets tiles continue that a worker's report has stopped.";

/// The arguments of `peers`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct PeersArgs {
    #[command(subcommand)]
    action: Option<Action>,

    /// The identity file. Needed only without a home directory: the state folder is then `veilpath` next to this file
    #[arg(long, value_name = "FILE", global = true, value_parser = inputs::named_place())]
    identity: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Ban a partner
    #[command(after_help = BAN_HELP)]
    Ban(PeerArgs),

    /// Lift the ban on a partner, or let a blocked one continue
    #[command(after_help = UNBAN_HELP)]
    Unban(PeerArgs),
}

#[derive(Debug, Args)]
struct PeerArgs {
    /// The partner's fingerprint, as `veilpath peers` prints it
    #[arg(value_name = "FINGERPRINT")]
    peer: Fingerprint,

    /// Do not ask for confirmation
    #[arg(long)]
    yes: bool,
}

/// Lists the peers, bans one, or lifts a ban.
pub(crate) fn run(args: &PeersArgs) -> Result<(), Failure> {
    let state_dir = veilpath::state_dir(args.identity.as_deref())?;
    match &args.action {
        None => list(&state_dir.peers()?, write_known_peers),
        Some(Action::Ban(args)) => ban(args, &state_dir),
        Some(Action::Unban(args)) => unban(args, &state_dir),
    }
}

fn ban(args: &PeerArgs, state_dir: &StateDir) -> Result<(), Failure> {
    if !args.yes && !confirmed("end all sessions with this partner until you lift the ban?")? {
        return Err(Failure::input("nothing was changed"));
    }
    state_dir.ban_peer(args.peer)?;
    messages::info("this partner is banned; `veilpath peers unban` lifts the ban\n");
    Ok(())
}

fn unban(args: &PeerArgs, state_dir: &StateDir) -> Result<(), Failure> {
    let (consequence, question) = match state_dir.ban(args.peer)? {
        Some(reason) => (
            format!(
                "this partner is banned: {reason}; without the ban it may repeat that, and learn more about your scanpaths than was agreed on"
            ),
            "lift the ban?",
        ),
        None if state_dir.stopped_tiles(args.peer)? > 0 => (
            "workers reported that this partner cheated, and their tiles are stopped; if that is true, it may repeat that, and learn more about your scanpaths than was agreed on".into(),
            "let these tiles continue?",
        ),
        None => (
            "this partner is not banned, but some pairs may have been started too often without a result; this allows more starts".into(),
            "allow more starts?",
        ),
    };
    messages::note(&consequence);
    if !args.yes && !confirmed(question)? {
        return Err(Failure::input("nothing was changed"));
    }
    let was = match state_dir.unblock(args.peer)? {
        Some(reason) => format!("the ban was lifted; the reason was: {reason}\n"),
        None => {
            "this partner may start those pairs again, and stopped tiles continue\n".to_string()
        }
    };
    messages::info(&was);
    Ok(())
}

/// Asks on the terminal.
pub(crate) fn confirmed(question: &str) -> Result<bool, Failure> {
    if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
        return Err(Failure::input(
            "nothing was changed: there is no terminal to ask on\n  add --yes if you are sure",
        ));
    }
    messages::prompt(&format!("{question} [y/N] "));
    let mut answer = String::new();
    io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| Failure::input(format!("standard input cannot be read: {error}")))?;
    let answer = answer.trim().to_ascii_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}

//! `veilpath host` with several peers: a session and a result file for each.
//!
//! At the end, standard output gets one row for each peer. Earlier messages start with the peer's name.

use crate::commands::session::SessionArgs;
use crate::destination::Destination;
use crate::failure::Failure;
use crate::inputs::{self, is_dash};
use crate::output;
use crate::session_log::SessionLog;
use std::path::{Path, PathBuf};
use std::time::Duration;
use veilpath::{
    CompletedSession, Fingerprint, OutcomeFormat, Peer, ResultFolder, ServedPeer, table,
    write_peers,
};

/// The arguments of `host` with several peers.
pub(crate) struct ServeArgs<'a> {
    pub(crate) session: &'a SessionArgs,
    pub(crate) address: &'a str,
    pub(crate) via_relay: bool,
    pub(crate) peers: &'a [Fingerprint],
    pub(crate) list: Option<&'a Path>,
    pub(crate) sessions: u64,
    pub(crate) wait: Duration,
}

/// Serves all peers.
pub(crate) fn run(args: &ServeArgs<'_>) -> Result<(), Failure> {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    crate::glibc::share_freed_memory();
    let log = args.session.log(true);
    serve(args, &log).map_err(|failure| log.failed(failure))
}

fn serve(args: &ServeArgs<'_>, log: &SessionLog) -> Result<(), Failure> {
    if args.list.is_some_and(is_dash) {
        inputs::check_single_stdin(&[Path::new("-"), args.session.cohort()])?;
    }
    if args.session.tile_count.is_some() {
        return Err(Failure::input("--tile-count is for one --peer"));
    }
    let peers = peers(args)?;
    let mut prepared = args.session.prepare(args.wait)?;
    prepared.options.via_relay = args.via_relay;
    prepared.inputs.extend(args.list.map(PathBuf::from));
    let results = match args.session.estimate {
        true => None,
        false => Some(result_folder(args.session, &peers, &prepared.inputs())?),
    };
    log.warn_about(prepared.engine);
    let save = |peer: &Peer, completed: &CompletedSession| {
        if let Some(results) = &results {
            log.saved(peer, &results.save(peer, &completed.outcome)?);
        }
        let outcome = &completed.outcome;
        let summary = table::answers(outcome) + &output::summary(outcome);
        log.finished(peer, completed, &summary);
        Ok(())
    };
    let sessions = usize::try_from(args.sessions).unwrap_or(usize::MAX);
    let served = veilpath::serve(
        args.address,
        &peers,
        sessions,
        &prepared.options,
        log,
        &save,
    )?;
    Destination::Stdout.write(|out| write_peers(&served, results.as_ref(), out))?;
    report_peers(&served, log)
}

/// The peers on the command line and in the list.
fn peers(args: &ServeArgs<'_>) -> Result<Vec<Peer>, Failure> {
    let mut peers: Vec<Peer> = args.peers.iter().copied().map(Peer::unnamed).collect();
    if let Some(path) = args.list {
        peers.extend(inputs::peers(path)?);
    }
    veilpath::check_peers(&peers)?;
    Ok(peers)
}

fn result_folder(
    args: &SessionArgs,
    peers: &[Peer],
    inputs: &[&Path],
) -> Result<ResultFolder, Failure> {
    let folder = args.output.output.as_deref().filter(|path| !is_dash(path));
    let Some(folder) = folder else {
        return Err(Failure::input(
            "each partner gets its own result file: name a folder for them with -o",
        ));
    };
    let format = args.output.format().unwrap_or(OutcomeFormat::Csv);
    let folder = ResultFolder::create(folder, format, peers, inputs, args.output.force)?;
    Ok(folder)
}

/// Reports how many peers have finished, and returns the most serious failure of all peers.
fn report_peers(served: &[ServedPeer], log: &SessionLog) -> Result<(), Failure> {
    let finished = served.iter().filter(|peer| peer.is_finished()).count();
    log.served(finished, served.len());
    let Some(most_serious) = served.iter().filter_map(ServedPeer::fault).min() else {
        return Ok(());
    };
    let unfinished = served.iter().filter(|peer| !peer.is_finished());
    let lines: Vec<String> = unfinished
        .map(|it| format!("\n  {}: {it}", it.peer.name))
        .collect();
    let message = format!(
        "{} of {} partners did not finish{}",
        lines.len(),
        served.len(),
        lines.concat()
    );
    Err(Failure::new(most_serious, message))
}

//! `veilpath host` with several peers: a session and a result file for each.
//!
//! At the end, standard output gets one row for each peer. Earlier messages start with the peer's name.

use crate::commands::session::SessionArgs;
use crate::engine_args::KeyArgs;
use crate::failure::Failure;
use crate::inputs::{self, is_dash};
use crate::output::to_stdout;
use crate::session_log::SessionLog;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use veilpath::{
    CompletedSession, Contents, Error, Fault, Fingerprint, OutcomeFormat, OutputFile, Peer,
    PeerState, write_outcome,
};

/// The arguments of `host` with several peers.
pub(crate) struct ServeArgs<'a> {
    pub(crate) session: &'a SessionArgs,
    pub(crate) key: &'a KeyArgs,
    pub(crate) listen: &'a str,
    pub(crate) peers: &'a [Fingerprint],
    pub(crate) list: Option<&'a Path>,
    pub(crate) sessions: u64,
    pub(crate) wait: Duration,
}

/// Serves all peers.
pub(crate) fn run(args: &ServeArgs<'_>) -> Result<(), Failure> {
    let log = args.session.log(true);
    serve(args, &log).map_err(|failure| log.failed(failure))
}

fn serve(args: &ServeArgs<'_>, log: &SessionLog) -> Result<(), Failure> {
    if args.list.is_some_and(is_dash) {
        inputs::refuse_two_stdin(&[Path::new("-"), args.session.cohort()])?;
    }
    let peers = peers(args)?;
    let mut ready = args.session.ready(args.key, args.wait)?;
    ready.inputs.extend(args.list);
    let results = match args.session.estimate {
        true => None,
        false => Some(ResultFiles::prepare(args.session, &peers, &ready.inputs)?),
    };
    log.warn_about(ready.engine);
    let save = |peer: &Peer, completed: &CompletedSession| {
        if let Some(results) = &results {
            let file = OutputFile::create_for(
                Contents::Results,
                &results.path(peer),
                &ready.inputs,
                args.session.output.force,
            )?;
            file.write(|out| write_outcome(&completed.outcome, results.format, out))?;
        }
        log.finished(peer, completed);
        Ok(())
    };
    let sessions = usize::try_from(args.sessions).unwrap_or(usize::MAX);
    let options = &ready.options;
    let states = veilpath::serve(args.listen, &peers, sessions, options, log, &save)?;
    conclude(&peers, results.as_ref(), &states, log)
}

/// The peers on the command line and in the list.
fn peers(args: &ServeArgs<'_>) -> Result<Vec<Peer>, Failure> {
    let mut peers: Vec<Peer> = args.peers.iter().copied().map(Peer::unnamed).collect();
    match args.list {
        None => {}
        Some(path) if is_dash(path) => {
            let stdin = io::stdin().lock();
            peers.extend(veilpath::read_peers_from(
                Path::new("standard input"),
                stdin,
            )?);
        }
        Some(path) => peers.extend(veilpath::read_peers(path)?),
    }
    veilpath::check_peers(&peers)?;
    Ok(peers)
}

/// The files for the results of several peers.
struct ResultFiles<'a> {
    folder: &'a Path,
    format: OutcomeFormat,
}

impl<'a> ResultFiles<'a> {
    fn prepare(args: &'a SessionArgs, peers: &[Peer], inputs: &[&Path]) -> Result<Self, Failure> {
        let folder = args.output.output.as_deref().filter(|path| !is_dash(path));
        let Some(folder) = folder else {
            return Err(Failure::input(
                "each peer gets its own result file: name a folder for them with -o",
            ));
        };
        std::fs::create_dir_all(folder).map_err(|error| {
            Failure::input(format!(
                "{}: this folder for the peers' results cannot be created: {error}",
                folder.display()
            ))
        })?;
        let files = Self {
            folder,
            format: args.output.format().unwrap_or(OutcomeFormat::Csv),
        };
        for peer in peers {
            OutputFile::create_for(
                Contents::Results,
                &files.path(peer),
                inputs,
                args.output.force,
            )?;
        }
        Ok(files)
    }

    fn path(&self, peer: &Peer) -> PathBuf {
        let name = format!("{}.{}", peer.name, self.format.extension());
        self.folder.join(name)
    }
}

/// Prints a row for each peer, and returns the most serious failure of all peers.
fn conclude(
    peers: &[Peer],
    results: Option<&ResultFiles<'_>>,
    states: &[PeerState<Arc<Error>>],
    log: &SessionLog,
) -> Result<(), Failure> {
    let describe = |state: &PeerState<_>| match state {
        PeerState::Finished => "finished",
        PeerState::Failed(_) => "failed",
        PeerState::Awaited => "did not connect",
    };
    let all = || peers.iter().zip(states);
    to_stdout(|out| {
        writeln!(out, "name,fingerprint,state,file")?;
        for (peer, state) in all() {
            let finished = results.filter(|_| matches!(state, PeerState::Finished));
            let file = finished.map(|results| results.path(peer).display().to_string());
            let file = file.unwrap_or_default().replace('"', "\"\"");
            let state = describe(state);
            writeln!(out, "{},{},{state},\"{file}\"", peer.name, peer.fingerprint)?;
        }
        Ok(())
    })?;
    let finished = all().filter(|(_, state)| matches!(state, PeerState::Finished));
    log.served(finished.count(), peers.len());
    let mut faults = Vec::new();
    let mut unfinished = String::new();
    for (peer, state) in all() {
        faults.push(match state {
            PeerState::Finished => continue,
            PeerState::Failed(failure) => failure.error.fault(),
            PeerState::Awaited => Fault::Network,
        });
        unfinished.push_str(&format!("\n  {}: {}", peer.name, describe(state)));
    }
    match faults.iter().min() {
        None => Ok(()),
        Some(&most_serious) => {
            let (failed, all) = (faults.len(), peers.len());
            let message = format!("{failed} of {all} peers did not finish{unfinished}");
            Err(Failure::new(most_serious, message))
        }
    }
}

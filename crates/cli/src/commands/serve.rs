//! `veilpath host` with several peers: a session with each, on a thread of its own, and a file of results.
//!
//! Standard output gets one row for each peer at the end; what is said meanwhile carries the peer's name.

use crate::commands::session::{Ready, SessionArgs};
use crate::dash;
use crate::engine_args::KeyArgs;
use crate::events::Events;
use crate::failure::Failure;
use crate::output::{Format, OutputArgs, to_file_or_stdout};
use crate::peers::{self, Peer};
use std::path::{Path, PathBuf};
use std::time::Duration;
use veilpath_protocol::Role;
use veilpath_session::{
    Acceptor, Fingerprint, Listener, PeerConnection, PeerServer, PeerState, SessionFailure,
    SessionSlots,
};

/// What was asked for.
pub(crate) struct Call<'a> {
    pub(crate) session: &'a SessionArgs,
    pub(crate) key: &'a KeyArgs,
    pub(crate) listen: &'a str,
    pub(crate) peers: &'a [Fingerprint],
    pub(crate) file: Option<&'a Path>,
    pub(crate) sessions: u64,
    pub(crate) wait: Duration,
}

/// Serves all peers.
pub(crate) fn run(call: &Call<'_>) -> Result<(), Failure> {
    let events = call.session.events();
    serve(call, &events).map_err(|failure| events.failed(failure))
}

fn serve(call: &Call<'_>, events: &Events) -> Result<(), Failure> {
    let peers = peers::gather(call.peers, call.file)?;
    let mut ready = call
        .session
        .ready(Role::Host, call.key, call.wait, events)?;
    ready.inputs.extend(call.file);
    let outputs = outputs(call.session, &peers)?;
    for output in outputs.iter().flatten() {
        output.check(&ready.inputs)?;
    }
    for peer in &peers {
        ready.refuse_own(peer.fingerprint)?;
    }
    ready.warn(events);
    let listener = Listener::bind(call.listen)?;
    events.listening(listener.address(), ready.identity.fingerprint());
    let fingerprints: Vec<Fingerprint> = peers.iter().map(|peer| peer.fingerprint).collect();
    let acceptor = Acceptor::new(listener, &ready.identity, &fingerprints, &ready.timeouts);
    let reception = PeerServer {
        sessions: usize::try_from(call.sessions).unwrap_or(usize::MAX),
        wait: call.wait,
    };
    let hold = |peer_connection: PeerConnection, slots: &SessionSlots| {
        let (Some(peer), Some(output)) = (
            peers.get(peer_connection.index),
            outputs.get(peer_connection.index),
        ) else {
            return Ok(());
        };
        let events = events.about(peer.fingerprint, Some(&peer.name));
        session(&ready, peer_connection, slots, output.as_ref(), &events)
    };
    let states = reception.serve(acceptor, &hold, &mut |error| events.rejected(error));
    conclude(&peers, &outputs, &states, events)
}

/// Where the results of each peer go; nowhere where there are none.
fn outputs(args: &SessionArgs, peers: &[Peer]) -> Result<Vec<Option<OutputArgs>>, Failure> {
    if args.estimate {
        return Ok(vec![None; peers.len()]);
    }
    let Some(folder) = &args.output.output else {
        return Err(Failure::input(
            "several peers have several results: name a folder for them with -o",
        ));
    };
    dash::refuse_as_output(folder)?;
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::input(format!(
            "{}: there must be a folder here for the results of several peers: {error}",
            folder.display()
        ))
    })?;
    let format = args.output.format.unwrap_or(Format::Csv);
    let of_peer = |peer: &Peer| {
        let name = format!("{}.{}", peer.name, format.extension());
        Some(OutputArgs {
            format: Some(format),
            output: Some(folder.join(name)),
        })
    };
    Ok(peers.iter().map(of_peer).collect())
}

/// One peer's session, to the file with its results.
fn session(
    ready: &Ready<'_>,
    peer_connection: PeerConnection,
    slots: &SessionSlots,
    output: Option<&OutputArgs>,
    events: &Events,
) -> Result<(), SessionFailure<Failure>> {
    if let Some(reason) = peer_connection.decline {
        events.declined(&reason.to_string());
        // Whether it hears of it or not: the session of this peer is another.
        let _ = ready.turn_away(peer_connection.channel, peer_connection.peer, reason);
        return Ok(());
    }
    let hold = || {
        let held = ready.hold(
            peer_connection.channel,
            peer_connection.peer,
            events,
            |session| {
                session.pin_agreement(&peer_connection.agreement);
                session.acquire_slot(slots, &mut |ahead| events.waiting(ahead))
            },
        )?;
        let (Some(ended), Some(output)) = (held, output) else {
            return Ok(());
        };
        output.write_file(&ready.inputs, &ended.outcome)?;
        events.ended(&ended);
        Ok(())
    };
    hold().map_err(|error: Failure| {
        events.session_failed(&error);
        // What is wrong with this side's own files is still wrong when the peer comes again.
        let is_final = matches!(error, Failure::Input(_));
        SessionFailure { error, is_final }
    })
}

/// A row for each peer, and the exit code of all.
fn conclude(
    peers: &[Peer],
    outputs: &[Option<OutputArgs>],
    states: &[PeerState<Failure>],
    events: &Events,
) -> Result<(), Failure> {
    let describe = |state: &PeerState<Failure>| match state {
        PeerState::Finished => "finished",
        PeerState::Failed(_) => "failed",
        PeerState::Awaited => "did not come",
    };
    let all = || peers.iter().zip(states);
    to_file_or_stdout(None, |out| {
        writeln!(out, "name,fingerprint,state,file")?;
        for ((peer, state), output) in all().zip(outputs) {
            let file: Option<&PathBuf> = match (state, output) {
                (PeerState::Finished, Some(output)) => output.output.as_ref(),
                _ => None,
            };
            let file = file.map(|path| path.display().to_string());
            let file = file.unwrap_or_default().replace('"', "\"\"");
            let state = describe(state);
            writeln!(out, "{},{},{state},\"{file}\"", peer.name, peer.fingerprint)?;
        }
        Ok(())
    })?;
    let finished = all().filter(|(_, state)| matches!(state, PeerState::Finished));
    events.served(finished.count(), peers.len());
    let mut gravest: Option<u8> = None;
    let mut missing = Vec::new();
    for (peer, state) in all() {
        let code = match state {
            PeerState::Finished => continue,
            PeerState::Failed(failure) => failure.error.code(),
            PeerState::Awaited => 4,
        };
        gravest = Some(gravest.map_or(code, |gravest| gravest.min(code)));
        missing.push(format!("\n  {}: {}", peer.name, describe(state)));
    }
    let message = format!(
        "{} of {} peers have not had their session to its end{}",
        missing.len(),
        peers.len(),
        missing.concat()
    );
    match gravest {
        None => Ok(()),
        Some(2) => Err(Failure::Input(message)),
        Some(3) => Err(Failure::Peer(message)),
        Some(_) => Err(Failure::Network(message)),
    }
}

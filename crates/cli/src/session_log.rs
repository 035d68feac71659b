//! Logs the steps of a session on standard error, as text or as one line of JSON per event.
//!
//! Neither contains anything about a participant.

pub(crate) mod engine;
mod groups;
mod limit;
mod progress;
mod text;

use crate::failure::Failure;
use crate::output::WrittenTo;
use crate::{messages, notes};
use clap::ValueEnum;
use progress::Progress;
use serde_json::{Value, json};
use veilpath::{
    AgreementSummary, CompletedSession, Engine, EngineChoice, Event, EventSink, Peer, PeerEvent,
    ResultLocation, SessionEvent,
};

/// How the steps of a session are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Human-readable text
    Text,
    /// One JSON object per line
    Json,
}

/// Logs the steps of sessions.
pub(crate) struct SessionLog {
    format: LogFormat,
    /// Whether there are several peers, so that messages need the peer's name.
    several: bool,
    progress: Progress,
}

impl SessionLog {
    pub(crate) fn new(format: LogFormat, several: bool) -> Self {
        Self {
            format,
            several,
            progress: Progress::new(format, several),
        }
    }

    /// Warns about an engine that reveals more than the results.
    pub(crate) fn warn_about(&self, engine: EngineChoice) {
        let warning = match engine.representative() {
            Engine::Plain => {
                "the plain engine protects nothing: the host will see every scanpath of the joining side"
            }
            Engine::Paillier(_) => {
                "the paillier engine reveals more than lengths and scores to the host (see the chapter on engines)"
            }
            Engine::Garbled | Engine::Shares => return,
        };
        match self.format {
            LogFormat::Text => messages::note(warning),
            LogFormat::Json => self::warning(warning),
        }
    }

    /// Removes the progress bar.
    pub(crate) fn end_progress(&self) {
        self.progress.end();
    }

    /// Reports where the results are.
    pub(crate) fn written(&self, written: &WrittenTo) {
        match (self.format, written) {
            (LogFormat::Text, _) => written.print(),
            (LogFormat::Json, WrittenTo::Printed) => {}
            (
                LogFormat::Json,
                WrittenTo::File {
                    path,
                    withheld,
                    note,
                },
            ) => {
                if let Some(note) = note {
                    warning(note);
                }
                let file = path.display().to_string();
                line(&json!({"event": "results", "file": file, "withheld": withheld}));
            }
            (LogFormat::Json, WrittenTo::Unchanged(_)) => {
                if let Some(message) = written.message() {
                    warning(&message);
                }
            }
        }
    }

    /// Reports a session that has finished, once its results are written; `summary` describes the
    /// results.
    pub(crate) fn finished(&self, peer: &Peer, completed: &CompletedSession, summary: &str) {
        match self.format {
            LogFormat::Text => text::finished(self.name(peer), completed, summary),
            LogFormat::Json => {
                let journal = completed.journal_failure.as_ref();
                let event = json!({
                    "event": "finished",
                    "pairs": completed.outcome.results.len(),
                    "answers": completed.outcome.answers.len(),
                    "cost": completed.outcome.cost,
                    "restarted_pairs": completed.restarted_pairs,
                    "max_starts": completed.max_starts,
                    "max_agreements": completed.max_agreements,
                    "journal_failure": journal.map(ToString::to_string),
                });
                line(&self.with_peer(peer, event));
            }
        }
    }

    /// Reports that a peer's results are not in the file that was planned.
    pub(crate) fn saved(&self, peer: &Peer, saved: &ResultLocation) {
        let message = match saved {
            ResultLocation::AtDefaultPath => return,
            ResultLocation::Renamed(path) => format!(
                "another file now has the planned name, so the results are in {}",
                path.display()
            ),
            ResultLocation::Withheld(path) => format!(
                "the results are for the other side only, and {} is unchanged",
                path.display()
            ),
        };
        match self.format {
            LogFormat::Text => text::note(self.name(peer), &message),
            LogFormat::Json => {
                line(&self.with_peer(peer, json!({"event": "warning", "message": message})));
            }
        }
    }

    /// Logs an error as JSON; as text, it is printed when the program ends.
    pub(crate) fn failed(&self, failure: Failure) -> Failure {
        self.end_progress();
        if self.format == LogFormat::Text || matches!(failure, Failure::BrokenPipe) {
            return failure;
        }
        let code = failure.code();
        // Errors are logged even with --quiet.
        let event = json!({"event": "error", "exit_code": code, "message": failure.to_string()});
        messages::json_line(&event.to_string());
        Failure::AlreadyReported(code)
    }

    /// Reports an agreement on tiles.
    pub(crate) fn agreed_on_tiles(&self, peer: &Peer, agreement: &str, tile_count: u32) {
        match self.format {
            LogFormat::Text => messages::info(&format!(
                "both sides have agreed on {tile_count} tiles; the id of the agreement is\n  {agreement}\n"
            )),
            LogFormat::Json => {
                let event = json!({"event": "agreed-on-tiles", "agreement": agreement, "tile_count": tile_count});
                line(&self.with_peer(peer, event));
            }
        }
    }

    /// Reports, at the end, how many of several peers have finished.
    pub(crate) fn served(&self, finished: usize, peers: usize) {
        match self.format {
            LogFormat::Text => {
                messages::info(&format!("{finished} of {peers} partners have finished\n"));
            }
            LogFormat::Json => {
                line(&json!({"event": "served", "finished": finished, "peers": peers}));
            }
        }
    }

    /// The peer's name, where there are several.
    fn name<'a>(&self, peer: &'a Peer) -> Option<&'a str> {
        self.several.then_some(peer.name.as_str())
    }

    /// An event with the peer that it is about.
    fn with_peer(&self, peer: &Peer, mut event: Value) -> Value {
        event["peer"] = peer.fingerprint.to_string().into();
        if let Some(name) = self.name(peer) {
            event["name"] = name.into();
        }
        event
    }

    fn session(&self, event: &SessionEvent) {
        if let SessionEvent::Peer { peer, event } = event {
            return self.peer(peer, event);
        }
        match self.format {
            LogFormat::Text => text::session(event),
            LogFormat::Json => {
                if let Some(event) = session_json(event) {
                    line(&event);
                }
            }
        }
    }

    fn peer(&self, peer: &Peer, event: &PeerEvent) {
        if let PeerEvent::Progress(progress) = event {
            if let Some(event) = self.progress.event(peer, progress) {
                line(&self.with_peer(peer, event));
            }
            return;
        }
        match self.format {
            LogFormat::Text => text::peer(peer, self.name(peer), event),
            LogFormat::Json => {
                if let Some(event) = peer_json(event) {
                    line(&self.with_peer(peer, event));
                }
            }
        }
    }
}

impl EventSink for SessionLog {
    fn event(&self, event: Event) {
        match event {
            Event::Session(event) => self.session(&event),
            event if self.format == LogFormat::Text => notes::print(&event),
            _ => {}
        }
    }
}

fn session_json(event: &SessionEvent) -> Option<Value> {
    Some(match event {
        SessionEvent::Listening {
            address,
            fingerprint,
        } => json!({
            "event": "listening",
            "address": address.to_string(),
            "fingerprint": fingerprint.to_string(),
        }),
        SessionEvent::Connecting {
            address,
            relay,
            fingerprint,
        } => json!({
            "event": "connecting",
            "address": address,
            "relay": relay,
            "fingerprint": fingerprint.to_string(),
        }),
        SessionEvent::Rejected { reason, .. } => json!({"event": "rejected", "message": reason}),
        _ => return None,
    })
}

fn peer_json(event: &PeerEvent) -> Option<Value> {
    Some(match event {
        PeerEvent::Connected => json!({"event": "connected"}),
        PeerEvent::Queued { ahead } => json!({"event": "queued", "ahead": ahead}),
        PeerEvent::Agreed(summary) => agreed_json(summary),
        PeerEvent::Failed(error) => {
            let failure = Failure::from(&**error);
            let message = failure.to_string();
            json!({"event": "failed", "exit_code": failure.code(), "message": message})
        }
        PeerEvent::Declined(reason) => {
            json!({"event": "declined", "message": reason.to_string()})
        }
        _ => return None,
    })
}

fn agreed_json(summary: &AgreementSummary) -> Value {
    json!({
        "event": "agreed",
        "host_scanpaths": summary.host_scanpaths,
        "join_scanpaths": summary.join_scanpaths,
        "pairs": summary.pairs,
        "agreement": summary.agreement,
        "tile": summary.tile,
        "tiles": summary.tiles.map(|plan| json!({"tile_count": plan.tile_count, "pairs": plan.pairs})),
        "pairs_from_journal": summary.from_journal,
        "cells": summary.cells,
        "unpaired": summary.unpaired,
        "stimuli_on_one_side": summary.stimuli_on_one_side,
        "same_scanpaths": summary.same_scanpaths,
        "encoding_on_one_side": summary.encoding_on_one_side,
        "reveal": summary.reveal,
        "reveal_to": summary.reveal_to,
        "pad_to": summary.pad_to,
        "fixation_rounding": summary.fixation_rounding,
        "limit_per_scanpath": summary.limit.limits.map(|(least, most)| [least, most]),
        "limit_is_default": summary.limit.is_default(),
        "default_limit_per_scanpath": summary.limit.defaults.map(|(least, most)| [least, most]),
        "assumed_letters": summary.limit.assumed_letters,
        "limit_counts_all": summary.limit.counts_together(),
        "comparisons_per_scanpath": summary.limit.after,
        "comparisons_added": summary.limit.added,
        "comparisons_before": summary.limit.before,
        "within_limit": summary.limit.exceeded.is_none(),
        "groups": summary.groups.map(|groups| json!({
            "minimum_group": groups.minimum,
            "answers": groups.answers,
            "answers_per_partner": groups.max_answers,
        })),
        "engine": engine::to_json(&summary.engine),
        "estimate": engine::estimate_json(&summary.estimate),
        "connection": {
            "round_trip": summary.link.round_trip.as_secs_f64(),
            "bytes_per_second_to_host": summary.link.bytes_per_second_to_host,
            "bytes_per_second_to_join": summary.link.bytes_per_second_to_join,
        },
    })
}

fn warning(message: &str) {
    line(&json!({"event": "warning", "message": message}));
}

fn line(event: &Value) {
    if !messages::is_quiet() {
        messages::json_line(&event.to_string());
    }
}

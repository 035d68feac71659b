//! What is said of a session while it goes on: in words for people, or a line of JSON for each event.
//!
//! Neither holds anything of a participant.

use crate::failure::Failure;
use crate::{messages, progress};
use clap::ValueEnum;
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use veilpath_protocol::{Engine, Observer, Reveal, RevealTo};
use veilpath_report::table;
use veilpath_session::{AgreementSummary, CompletedSession, Fingerprint, SessionError};

/// How events are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Words
    Text,
    /// One JSON object per line
    Json,
}

/// How often progress is told to machines.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Tells events on standard error.
#[derive(Clone, Debug)]
pub(crate) struct Events {
    format: LogFormat,
    quiet: bool,
    about: Option<About>,
}

/// The peer that events are about.
#[derive(Clone, Debug)]
struct About {
    peer: Fingerprint,
    /// Its name, where it is one of several.
    name: Option<String>,
}

impl Events {
    pub(crate) fn new(format: LogFormat, quiet: bool) -> Self {
        Self {
            format,
            quiet,
            about: None,
        }
    }

    /// What is said of a peer; with a name it is one of several.
    pub(crate) fn about(&self, peer: Fingerprint, name: Option<&str>) -> Self {
        Self {
            about: Some(About {
                peer,
                name: name.map(str::to_string),
            }),
            ..*self
        }
    }

    /// The name of the peer, where there are several.
    fn name(&self) -> Option<&str> {
        self.about.as_ref()?.name.as_deref()
    }

    /// Lines about a peer, each with its name where there are several.
    fn lines(&self, text: &str) {
        match self.name() {
            None => messages::info(text),
            Some(name) => {
                let named = text.lines().map(|line| format!("{name}: {line}\n"));
                messages::info(&named.collect::<String>());
            }
        }
    }

    fn note(&self, text: &str) {
        match self.name() {
            None => messages::note(text),
            Some(name) => messages::note(&format!("{name}: {text}")),
        }
    }

    /// Whether other parts of the program should say nothing in words.
    pub(crate) fn is_quiet(&self) -> bool {
        self.quiet || self.format == LogFormat::Json
    }

    pub(crate) fn warn_of(&self, engine: Engine) {
        let warning = match engine {
            Engine::Plain => {
                "the engine plain protects nothing: the host will see every scanpath of the joining side"
            }
            Engine::Paillier(_) => {
                "the engine paillier tells the host more than lengths and scores; docs/engines.md says what"
            }
            // Nothing to warn of.
            Engine::Garbled => return,
        };
        self.tell(json!({"event": "warning", "message": warning}), || {
            messages::note(warning);
        });
    }

    pub(crate) fn listening(&self, address: SocketAddr, own: Fingerprint) {
        let event = json!({"event": "listening", "address": address.to_string(), "fingerprint": own.to_string()});
        self.tell(event, || {
            messages::info(&format!(
                "listening on {address}; this side's fingerprint is\n  {own}\n"
            ));
        });
    }

    pub(crate) fn calling(&self, address: &str, own: Fingerprint) {
        let event =
            json!({"event": "connecting", "address": address, "fingerprint": own.to_string()});
        self.tell(event, || {
            messages::info(&format!(
                "calling {address}; this side's fingerprint is\n  {own}\n"
            ));
        });
    }

    pub(crate) fn rejected(&self, error: &SessionError) {
        let event = json!({"event": "rejected", "message": error.to_string()});
        self.tell(event, || {
            let what = match error {
                SessionError::KeyRejected => "a caller hung up",
                _ => "a stranger was turned away",
            };
            messages::note(&format!("{what} ({error})"));
        });
    }

    pub(crate) fn connected(&self, peer: Fingerprint) {
        let event = json!({"event": "connected", "peer": peer.to_string()});
        self.tell(event, || match self.name() {
            None => messages::info(&format!("connected with\n  {peer}\n")),
            Some(_) => self.lines("connected"),
        });
    }

    /// A host works with others first.
    pub(crate) fn waiting(&self, ahead: u64) {
        self.tell(json!({"event": "queued", "ahead": ahead}), || {
            match self.name() {
                None => messages::info(&format!(
                    "the host works with others first; {ahead} are before this side\n"
                )),
                Some(_) => self.lines(&format!("waits for its turn; {ahead} are before it")),
            }
        });
    }

    pub(crate) fn agreed(&self, summary: &AgreementSummary) {
        let estimate = &summary.estimate;
        let event = json!({
            "event": "agreed",
            "host_scanpaths": summary.host_scanpaths,
            "join_scanpaths": summary.join_scanpaths,
            "pairs": summary.pairs,
            "pairs_from_journal": summary.from_journal,
            "cells": summary.cells,
            "unpaired": summary.unpaired,
            "stimuli_on_one_side": summary.stimuli_on_one_side,
            "encoding_on_one_side": summary.encoding_on_one_side,
            "reveal": summary.reveal,
            "reveal_to": summary.reveal_to,
            "pad_to": summary.pad_to,
            "estimate": {
                "bytes_to_host": estimate.bytes_to_host,
                "bytes_to_join": estimate.bytes_to_join,
                "rounds": estimate.rounds,
                "seconds": estimate.seconds,
            },
        });
        self.tell(event, || {
            let known = match summary.from_journal {
                0 => String::new(),
                known => format!(" ({known} are known from before)"),
            };
            self.lines(&format!(
                "agreed: {} scanpaths of the host, {} of the joining side, {} pairs{known}\n\
                 each pair tells {}{}; {}\n\
                 estimate: {} cells, {} to the host, {} to the joining side, {} of computing\n",
                summary.host_scanpaths,
                summary.join_scanpaths,
                summary.pairs,
                match summary.reveal {
                    Reveal::Score => "its score",
                    Reveal::Threshold(_) => summary
                        .answer_description
                        .trim_start_matches("one bit of every pair: "),
                },
                match summary.reveal_to {
                    RevealTo::Both => "",
                    RevealTo::Host => ", to the host alone",
                    RevealTo::Join => ", to the joining side alone",
                },
                match summary.pad_to {
                    None => "both sides know the lengths".into(),
                    Some(length) => format!("every scanpath looks {length} letters long"),
                },
                summary.cells,
                bytes(estimate.bytes_to_host),
                bytes(estimate.bytes_to_join),
                seconds(estimate.seconds),
            ));
            self.notes_on_pairs(summary);
        });
    }

    /// What a user may not expect of the pairs.
    fn notes_on_pairs(&self, summary: &AgreementSummary) {
        if summary.stimuli_on_one_side {
            self.note("only one side names its stimuli, so all scanpaths are compared with all (`veilpath encode --stimulus` names them)");
        }
        if summary.encoding_on_one_side {
            self.note("only one side's file says how its scanpaths were encoded; make sure that the other's has the same grid and settings (`veilpath encode` writes them into the file)");
        }
        let [host, join] = summary.unpaired;
        if host + join > 0 {
            self.note(&format!(
                "{host} scanpaths of the host and {join} of the joining side are compared with none, because the other side does not have their stimulus"
            ));
        }
    }

    /// An observer that shows how far the work is.
    pub(crate) fn progress(&self, cells: u64) -> Progress {
        let machine = self.format == LogFormat::Json && !self.quiet;
        Progress {
            // Several bars at once would overwrite each other.
            bar: progress::bar(
                cells,
                progress::Unit::Cells,
                self.is_quiet() || self.name().is_some(),
            ),
            events: self.clone(),
            cells,
            start: Instant::now(),
            told: machine.then(|| Mutex::new((0, Instant::now()))),
        }
    }

    pub(crate) fn ended(&self, ended: &CompletedSession) {
        let cost = &ended.outcome.cost;
        let journal = ended.journal_failure.as_ref().map(ToString::to_string);
        let event = json!({
            "event": "finished",
            "pairs": ended.outcome.results.len(),
            "cost": cost,
            "restarted_pairs": ended.restarted_pairs,
            "max_starts": ended.max_starts,
            "max_agreements": ended.max_agreements,
            "journal_failure": journal,
        });
        self.tell(event, || {
            self.lines(&table::summary(&ended.outcome));
            if ended.restarted_pairs > 0 {
                self.note(&format!(
                    "{} pairs were begun more than once, one of them {} times: after an interruption, or with --fresh, the other side saw messages of the same pairs again (with the engine garbled they tell it nothing new)",
                    ended.restarted_pairs, ended.max_starts
                ));
            }
            if ended.max_agreements > 1 {
                self.note(&format!(
                    "a scanpath of this side has been compared with this peer in {} different ways so far; their answers add up (docs/sessions.md)",
                    ended.max_agreements
                ));
            }
            if let Some(problem) = journal {
                self.note(&format!("the scores are complete, but the journal is not: {problem}"));
            }
        });
    }

    /// Tells of a failure to machines; people are told when the program ends.
    pub(crate) fn failed(&self, failure: Failure) -> Failure {
        if self.format == LogFormat::Text || matches!(failure, Failure::BrokenPipe) {
            return failure;
        }
        let code = failure.code();
        line(&json!({"event": "error", "exit_code": code, "message": failure.to_string()}));
        Failure::Told(code)
    }

    /// Tells of a session that failed while the host goes on.
    pub(crate) fn session_failed(&self, failure: &Failure) {
        let message = failure.to_string();
        let event = json!({"event": "failed", "exit_code": failure.code(), "message": message});
        self.tell(event, || self.note(&message));
    }

    /// Tells of a connection that was not let in, beside the one that its peer has.
    pub(crate) fn declined(&self, reason: &str) {
        let event = json!({"event": "declined", "message": reason});
        self.tell(event, || {
            self.note(&format!("another connection was declined: {reason}"));
        });
    }

    /// Tells at the end of several sessions how many came to theirs.
    pub(crate) fn served(&self, finished: usize, peers: usize) {
        let event = json!({"event": "served", "finished": finished, "peers": peers});
        self.tell(event, || {
            messages::info(&format!(
                "{finished} of {peers} peers have had their session\n"
            ));
        });
    }

    fn tell(&self, event: Value, words: impl FnOnce()) {
        match self.format {
            _ if self.quiet => {}
            LogFormat::Text => words(),
            LogFormat::Json => line(&self.with_peer(event)),
        }
    }

    /// An event with the peer that it is about.
    fn with_peer(&self, mut event: Value) -> Value {
        if let Some(about) = &self.about {
            event["peer"] = about.peer.to_string().into();
            if let Some(name) = &about.name {
                event["name"] = name.as_str().into();
            }
        }
        event
    }
}

/// Shows how far the work is: a bar on a terminal, a line a second for machines.
pub(crate) struct Progress {
    bar: ProgressBar,
    cells: u64,
    start: Instant,
    told: Option<Mutex<(u64, Instant)>>,
    events: Events,
}

impl Progress {
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Progress {
    fn cells(&self, finished: u64) {
        self.bar.inc(finished);
        let Some(Ok(mut told)) = self.told.as_ref().map(Mutex::lock) else {
            return;
        };
        told.0 += finished;
        if told.1.elapsed() < PROGRESS_EVERY {
            return;
        }
        told.1 = Instant::now();
        let event = json!({
            "event": "progress",
            "cells_finished": told.0,
            "cells": self.cells,
            "seconds_left": seconds_left(self.start.elapsed(), told.0, self.cells),
        });
        line(&self.events.with_peer(event));
    }
}

#[allow(clippy::cast_precision_loss)] // an estimate
fn seconds_left(elapsed: Duration, finished: u64, all: u64) -> f64 {
    let left = all.saturating_sub(finished) as f64;
    elapsed.as_secs_f64() * left / finished.max(1) as f64
}

fn line(event: &Value) {
    messages::machine_line(&event.to_string());
}

#[allow(clippy::cast_precision_loss)] // an estimate
fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} bytes"),
        10_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

fn seconds(estimate: f64) -> String {
    match estimate {
        ..1.0 => "less than a second".into(),
        1.0..120.0 => format!("about {estimate:.0} s"),
        120.0..7200.0 => format!("about {:.0} minutes", estimate / 60.0),
        _ => format!("about {:.1} hours", estimate / 3600.0),
    }
}

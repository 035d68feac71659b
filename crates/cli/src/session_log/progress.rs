//! The progress of sessions: a bar on a terminal, or one JSON event per second.

use super::LogFormat;
use crate::messages;
use crate::progress::{self, Unit};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use veilpath::{Fingerprint, Peer};

/// The time between two JSON events.
const INTERVAL: Duration = Duration::from_secs(1);

/// The progress of all sessions.
pub(super) enum Progress {
    /// Nothing is shown: with several peers, because their bars would overwrite each other, and with `--quiet`.
    Hidden,
    /// A bar for one session.
    Bar(OnceLock<ProgressBar>),
    /// JSON events, with the time of each peer's last one.
    Events(Mutex<Vec<(Fingerprint, Instant)>>),
}

impl Progress {
    pub(super) fn new(format: LogFormat, several: bool) -> Self {
        match format {
            _ if messages::is_quiet() => Progress::Hidden,
            LogFormat::Json => Progress::Events(Mutex::default()),
            LogFormat::Text if several => Progress::Hidden,
            LogFormat::Text => Progress::Bar(OnceLock::new()),
        }
    }

    /// Shows the progress of a session; returns a JSON event if one is due.
    pub(super) fn event(&self, peer: &Peer, progress: &veilpath::Progress) -> Option<Value> {
        match self {
            Progress::Hidden => None,
            Progress::Bar(bar) => {
                let bar = bar.get_or_init(|| progress::bar(progress.total, Unit::Cells, false));
                bar.set_position(progress.done);
                None
            }
            Progress::Events(last_events) => {
                let mut last_events = last_events.lock().unwrap_or_else(PoisonError::into_inner);
                let now = Instant::now();
                let mut peers = last_events.iter_mut();
                let Some((_, last)) = peers.find(|(of, _)| *of == peer.fingerprint) else {
                    last_events.push((peer.fingerprint, now));
                    return None;
                };
                if now.duration_since(*last) < INTERVAL {
                    return None;
                }
                *last = now;
                Some(json!({
                    "event": "progress",
                    "cells_finished": progress.done,
                    "cells": progress.total,
                    "seconds_left": progress.time_left().map(|left| left.as_secs_f64()),
                }))
            }
        }
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        if let Progress::Bar(bar) = self
            && let Some(bar) = bar.get()
        {
            bar.finish_and_clear();
        }
    }
}

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
    /// JSON events.
    Events(Mutex<Vec<Counter>>),
}

/// The progress of one session.
pub(super) struct Counter {
    peer: Fingerprint,
    cells: u64,
    finished: u64,
    start: Instant,
    last_event: Instant,
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

    /// A session starts to compute this many matrix cells.
    pub(super) fn start(&self, peer: &Peer, cells: u64) {
        match self {
            Progress::Hidden => {}
            Progress::Bar(bar) => {
                bar.get_or_init(|| progress::bar(cells, Unit::Cells, false));
            }
            Progress::Events(counters) => {
                let mut counters = counters.lock().unwrap_or_else(PoisonError::into_inner);
                counters.retain(|counter| counter.peer != peer.fingerprint);
                let now = Instant::now();
                counters.push(Counter {
                    peer: peer.fingerprint,
                    cells,
                    finished: 0,
                    start: now,
                    last_event: now,
                });
            }
        }
    }

    /// Counts matrix cells that are done; returns a JSON event if one is due.
    pub(super) fn advance(&self, peer: &Peer, cells: u64) -> Option<Value> {
        match self {
            Progress::Hidden => None,
            Progress::Bar(bar) => {
                bar.get()?.inc(cells);
                None
            }
            Progress::Events(counters) => {
                let mut counters = counters.lock().unwrap_or_else(PoisonError::into_inner);
                let counter = counters
                    .iter_mut()
                    .find(|counter| counter.peer == peer.fingerprint)?;
                counter.advance(cells)
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

impl Counter {
    fn advance(&mut self, cells: u64) -> Option<Value> {
        self.finished += cells;
        if self.last_event.elapsed() < INTERVAL {
            return None;
        }
        self.last_event = Instant::now();
        Some(json!({
            "event": "progress",
            "cells_finished": self.finished,
            "cells": self.cells,
            "seconds_left": self.seconds_left(),
        }))
    }

    #[allow(clippy::cast_precision_loss)] // an estimate
    fn seconds_left(&self) -> f64 {
        let left = self.cells.saturating_sub(self.finished) as f64;
        self.start.elapsed().as_secs_f64() * left / self.finished.max(1) as f64
    }
}

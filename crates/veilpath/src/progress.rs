//! The progress of a job.

use crate::{Event, EventSink};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use veilpath_protocol::{CancelToken, Observer};

/// How much of a job is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The amount of work: bytes of files to read, or matrix cells to fill.
    pub total: u64,
    /// The amount done.
    pub done: u64,
    /// The time it has taken.
    pub elapsed: Duration,
}

impl Progress {
    /// The time the rest takes at the same rate; `None` until something is done.
    #[allow(clippy::cast_precision_loss)] // an estimate
    pub fn time_left(&self) -> Option<Duration> {
        if self.done == 0 {
            return None;
        }
        let left = self.total.saturating_sub(self.done);
        let seconds = self.elapsed.as_secs_f64() * left as f64 / self.done as f64;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

/// Counts work across several threads.
pub(crate) struct Counter {
    total: u64,
    done: AtomicU64,
    start: Instant,
}

impl Counter {
    pub(crate) fn new(total: u64) -> Self {
        Self {
            total,
            done: AtomicU64::new(0),
            start: Instant::now(),
        }
    }

    /// Adds to the work done.
    pub(crate) fn advance(&self, more: u64) -> Progress {
        self.progress(self.done.fetch_add(more, Ordering::Relaxed) + more)
    }

    /// Sets the amount of work done.
    pub(crate) fn set(&self, done: u64) -> Progress {
        self.done.store(done, Ordering::Relaxed);
        self.progress(done)
    }

    fn progress(&self, done: u64) -> Progress {
        Progress {
            total: self.total,
            done,
            elapsed: self.start.elapsed(),
        }
    }
}

/// Reports finished matrix cells as progress.
pub(crate) struct CellObserver<'a> {
    total: u64,
    /// The clock starts with the first report.
    counter: OnceLock<Counter>,
    events: &'a dyn EventSink,
}

impl<'a> CellObserver<'a> {
    /// Observes this many matrix cells, and reports immediately that none is finished.
    pub(crate) fn new(cells: u64, events: &'a dyn EventSink) -> Self {
        let observer = Self::waiting(cells, events);
        observer.cells(0);
        observer
    }

    /// Observes a session, whose first report must wait: it means that both sides have started.
    pub(crate) fn waiting(cells: u64, events: &'a dyn EventSink) -> Self {
        Self {
            total: cells,
            counter: OnceLock::new(),
            events,
        }
    }
}

impl Observer for CellObserver<'_> {
    fn started(&self) {
        self.cells(0);
    }

    fn cells(&self, finished: u64) {
        let counter = self.counter.get_or_init(|| Counter::new(self.total));
        let progress = counter.advance(finished);
        self.events.event(Event::Progress(progress));
    }

    fn cancel_token(&self) -> CancelToken {
        self.events.cancel_token()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_assumes_a_constant_rate() {
        let progress = |done| Progress {
            total: 40,
            done,
            elapsed: Duration::from_secs(6),
        };
        assert_eq!(progress(0).time_left(), None);
        assert_eq!(progress(10).time_left(), Some(Duration::from_secs(18)));
        assert_eq!(progress(41).time_left(), Some(Duration::ZERO));
    }
}

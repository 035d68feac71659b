//! Times one party of a comparison while it fills the middle half of all matrix cells.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use veilpath_protocol::Observer;

/// Observes one party.
pub(crate) struct PartyTimer {
    all_cells: u64,
    start: Instant,
    busy: AtomicU64,
    progress: Mutex<Progress>,
}

#[derive(Default)]
struct Progress {
    cells: u64,
    /// When a quarter and three quarters of the cells were filled.
    quarter: Option<Timestamp>,
    three_quarters: Option<Timestamp>,
}

#[derive(Clone, Copy)]
struct Timestamp {
    cells: u64,
    clock: Instant,
    busy: Duration,
    process: Option<Duration>,
}

/// The time between two moments, and the cells filled in it.
pub(crate) struct Span {
    pub(crate) cells: u64,
    /// Wall-clock time.
    pub(crate) clock: Duration,
    /// The time that this party's work took on all cores together.
    pub(crate) busy: Duration,
    /// The same for the whole process, if the system reports it.
    pub(crate) process: Option<Duration>,
}

impl PartyTimer {
    pub(crate) fn new(all_cells: u64) -> Self {
        Self {
            all_cells,
            start: Instant::now(),
            busy: AtomicU64::new(0),
            progress: Mutex::default(),
        }
    }

    /// The CPU time of this party's work in the whole run.
    pub(crate) fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy.load(Ordering::Relaxed))
    }

    /// The middle half of the run.
    pub(crate) fn middle(&self) -> Span {
        let progress = self.progress.lock().unwrap_or_else(|e| e.into_inner());
        let now = self.now(progress.cells);
        let (first, last) = match (progress.quarter, progress.three_quarters) {
            (Some(first), Some(last)) if first.cells < last.cells => (first, last),
            // If the run is so short that all cells are reported at once, the whole run counts.
            _ => {
                let start = Timestamp {
                    cells: 0,
                    clock: self.start,
                    busy: Duration::ZERO,
                    process: None,
                };
                (start, now)
            }
        };
        Span {
            cells: (last.cells - first.cells).max(1),
            clock: last.clock - first.clock,
            busy: last.busy.saturating_sub(first.busy),
            process: last
                .process
                .zip(first.process)
                .map(|(last, first)| last.saturating_sub(first)),
        }
    }

    fn now(&self, cells: u64) -> Timestamp {
        Timestamp {
            cells,
            clock: Instant::now(),
            busy: self.busy(),
            process: process_time(),
        }
    }
}

impl Observer for PartyTimer {
    fn cells(&self, finished: u64) {
        let mut progress = self.progress.lock().unwrap_or_else(|e| e.into_inner());
        progress.cells += finished;
        let now = self.now(progress.cells);
        if 4 * progress.cells >= self.all_cells {
            progress.quarter.get_or_insert(now);
        }
        if 4 * progress.cells >= 3 * self.all_cells {
            progress.three_quarters.get_or_insert(now);
        }
    }

    fn work(&self, work: &mut dyn FnMut()) {
        let start = thread_time().map_or_else(|| Err(Instant::now()), Ok);
        work();
        let spent = match start {
            Ok(start) => thread_time().unwrap_or(start).saturating_sub(start),
            Err(start) => start.elapsed(),
        };
        let spent = u64::try_from(spent.as_nanos()).unwrap_or(u64::MAX);
        self.busy.fetch_add(spent, Ordering::Relaxed);
    }
}

/// The CPU time of this thread, if the system reports it.
fn thread_time() -> Option<Duration> {
    // The kernel updates the number only when the scheduler runs.
    std::thread::yield_now();
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds = statistics.split(' ').next()?.parse().ok()?;
    Some(Duration::from_nanos(nanoseconds))
}

/// The CPU time of all threads of this process, if the system reports it.
pub(crate) fn process_time() -> Option<Duration> {
    let statistics = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The program's name can contain any character; user and system time are the 12th and 13th fields after it.
    let mut fields = statistics.rsplit(')').next()?.split_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    Some(Duration::from_millis(10 * (ticks()? + ticks()?)))
}

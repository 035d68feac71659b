//! Progress bars, which are shown only on a terminal.

use crate::messages;
use crate::notes;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::time::Duration;
use veilpath::{Event, EventSink, units};

/// What is counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Bytes of input files.
    Bytes,
    /// Matrix cells.
    Cells,
    /// Parts of a measurement.
    Steps,
}

/// A bar on standard error; hidden if that is not a terminal, or if `quiet`.
pub(crate) fn bar(total: u64, unit: Unit, quiet: bool) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    };
    let bar = ProgressBar::with_draw_target(Some(total), target);
    let template = match unit {
        Unit::Bytes => "  reading {bar:30} {decimal_bytes}/{decimal_total_bytes}{left}",
        Unit::Steps => "  measuring {bar:30} {percent}%, {elapsed} so far",
        Unit::Cells => "  comparing {bar:30} {percent}% of {human_len} matrix cells{left}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.with_key("left", write_time_left));
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// The estimated time that is left, once something is done.
fn write_time_left(state: &ProgressState, out: &mut dyn Write) {
    let left = state.eta();
    if left.is_zero() {
        return;
    }
    let whole_seconds = left.as_secs() as f64;
    let _ = write!(out, ", {} left", units::seconds(whole_seconds.max(1.0)));
}

/// Shows the events of a job: a bar for its progress, and text for its notes.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar that counts matrix cells; it appears when their number is known.
    pub(crate) fn cells() -> Self {
        Self {
            bar: bar(0, Unit::Cells, true),
        }
    }

    /// A bar that counts bytes. It appears as soon as their number is known: switching the target later would leave its
    /// first drawing on the screen.
    pub(crate) fn bytes() -> Self {
        Self {
            bar: bar(0, Unit::Bytes, true),
        }
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl EventSink for Bar {
    fn event(&self, event: Event) {
        match event {
            Event::Progress(progress) if progress.done == 0 => {
                self.bar.set_length(progress.total);
                if !messages::is_quiet() {
                    self.bar
                        .set_draw_target(ProgressDrawTarget::stderr_with_hz(8));
                }
            }
            Event::Progress(progress) => self.bar.set_position(progress.done),
            event => self.bar.suspend(|| notes::print(&event)),
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

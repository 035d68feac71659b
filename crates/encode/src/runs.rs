//! Reduces raw gaze to a scanpath.
//!
//! # The rule
//! Every sample has a letter. Consecutive equal letters form a *run*. Runs shorter than the minimum dwell (100 ms) are
//! removed: they are too short for a fixation. Each remaining run is downsized to one letter per 100 ms, and at most
//! three.
//!
//! # Details that the rule leaves open
//! - **Run length.** A run lasts from its first sample to the end of its last. A sample ends where the next row begins,
//!   whether that is a sample elsewhere or a lost one. If no row follows within one and a half steps (rows are missing,
//!   or the recording ends), a sample lasts one step. So a file that contains lost samples and one that leaves them out
//!   give the same scanpath, and the jitter of timestamps is preserved.
//! - **The step** is one over the sampling rate if that is known, else the median of the recording's first 64 steps.
//!   Without timestamps, the rate must be known, and a run lasts its number of samples divided by the rate.
//! - **Lost samples.** A gap lasts from the end of the last good sample to the next good one. If it is no longer than
//!   the longest gap (75 ms) and the letter is the same after it, the run continues and includes the gap: the eye was
//!   there before and after. A longer gap ends the run at the last good sample. A point outside the stimulus or in no
//!   area is not lost: the eye was elsewhere, and the run ends.
//! - **Neighbours that become equal** when a short run between them is removed are merged into one run with the sum of
//!   their durations, before downsizing: in the paper's words, the letters are then next to each other. The same
//!   applies to the two sides of a long gap. So "at most three" is true of the result. Without merging, each run is
//!   downsized separately.
//! - **Time going backwards** (a clock was reset, or recordings were joined) ends the run like a long gap, and is
//!   counted for the summary. A repeated timestamp adds no time. A sample without a timestamp, among others that have
//!   one, comes one step after the previous row.
//! - **`RunsBy::Count`** takes the paper literally: timestamps are ignored, a run is as long as its number of rows, and
//!   the minimum dwell is N = round(rate · 100 ms) rows, at least one. A rate of 75 Hz gives N = 8.
//! - **Rounding.** Comparisons have a tolerance of a ten-thousandth of the minimum dwell, so that twelve samples at 120
//!   Hz are 100 ms, whether steps are written as 8.333 ms or summed up in floating point.
//!
//! Memory holds the scanpath and a bounded number of initial rows, from which the step is determined.

use crate::{Downsize, RunOptions, RunsBy};

/// Where the eye was, according to a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gaze {
    /// At a letter.
    At(u16),
    /// Unknown.
    Lost,
    /// Seen, but outside the stimulus or in no area.
    Elsewhere,
}

/// The result of reducing one recording.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reduced {
    pub(crate) letters: Vec<u16>,
    /// Runs that were too short.
    pub(crate) removed: u64,
    /// Rows with an earlier time than the previous row.
    pub(crate) backwards: u64,
}

/// Why a recording cannot be reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReductionError {
    /// There are neither timestamps nor a rate.
    NoTime,
    /// There are more letters than any scanpath has, for example because microseconds were taken for milliseconds
    /// without a cap.
    TooLong,
    /// The shortest fixation has more samples than are buffered.
    TooManySamples,
}

/// The longest scanpath that is built; a longer one would come from a wrong unit.
pub(crate) const MAX_LETTERS: usize = 1 << 24;

/// The tolerance, as a fraction of the minimum dwell.
const TOLERANCE: f64 = 1e-4;

/// The median is taken from this many steps …
pub(crate) const STEPS_FOR_MEDIAN: usize = 64;

/// … or from those in this many rows, if timestamps hardly advance.
pub(crate) const ROWS_FOR_MEDIAN: usize = 1024;

/// Reduces one recording, row by row.
#[derive(Debug)]
pub(crate) struct RunEncoder {
    options: RunOptions,
    rate_hz: Option<f64>,
    stage: Stage,
    reduced: Reduced,
    /// The run that may still be merged with an equal neighbour: letter and length.
    pending: Option<(u16, f64)>,
    too_long: bool,
}

#[derive(Debug)]
enum Stage {
    /// Buffers the first rows until the step is known.
    Waiting {
        rows: Vec<Row>,
        steps: usize,
    },
    Running(Track),
}

#[derive(Clone, Copy, Debug)]
struct Row {
    time: Option<f64>,
    gaze: Gaze,
}

/// The current position in the unit in which runs are measured: milliseconds or rows.
#[derive(Clone, Copy, Debug)]
struct Track {
    timed: bool,
    /// The distance between two rows.
    step: f64,
    /// The length that makes a letter.
    unit: f64,
    max_gap: f64,
    previous: Option<f64>,
    run: Option<Run>,
}

#[derive(Clone, Copy, Debug)]
struct Run {
    letter: u16,
    start: f64,
    last: f64,
    /// Where the last good sample ends; known when the next row comes.
    end: Option<f64>,
}

impl RunEncoder {
    /// `options` must have passed [`LetterOptions::check`](crate::LetterOptions::check).
    pub(crate) fn new(options: RunOptions, rate_hz: Option<f64>) -> Self {
        Self {
            options,
            rate_hz: rate_hz.filter(|rate| rate.is_finite() && *rate > 0.0),
            stage: Stage::Waiting {
                rows: Vec::new(),
                steps: 0,
            },
            reduced: Reduced::default(),
            pending: None,
            too_long: false,
        }
    }

    /// Adds a row.
    pub(crate) fn push(&mut self, time_ms: Option<f64>, gaze: Gaze) {
        let row = Row {
            time: time_ms.filter(|time| time.is_finite()),
            gaze,
        };
        match &mut self.stage {
            Stage::Running(_) => self.advance(row),
            Stage::Waiting { rows, steps } => {
                let before = rows.last().and_then(|last| last.time);
                *steps += usize::from(row.time > before && before.is_some());
                rows.push(row);
                let known = self.rate_hz.is_some() && row.time.is_some();
                if known || *steps == STEPS_FOR_MEDIAN || rows.len() == ROWS_FOR_MEDIAN {
                    // A recording without any time fails at its end; here it must only stop buffering.
                    let _ = self.start();
                }
            }
        }
    }

    /// Returns the scanpath, after the last row.
    pub(crate) fn finish(mut self) -> Result<Reduced, ReductionError> {
        if let Stage::Waiting { rows, .. } = &self.stage {
            if rows.is_empty() {
                return Ok(self.reduced);
            }
            self.start()?;
        }
        if let Stage::Running(track) = &mut self.stage {
            if !track.timed && track.step == 0.0 {
                return Err(ReductionError::NoTime);
            }
            let last = track.close(None);
            self.take(last);
        }
        self.flush();
        if self.too_long {
            return Err(ReductionError::TooLong);
        }
        Ok(self.reduced)
    }

    /// Chooses how to measure runs, and processes the buffered rows.
    fn start(&mut self) -> Result<(), ReductionError> {
        let Stage::Waiting { rows, .. } = &mut self.stage else {
            return Ok(());
        };
        let rows = std::mem::take(rows);
        let timed = rows.iter().any(|row| row.time.is_some());
        let step_ms = match self.rate_hz {
            Some(rate) => 1000.0 / rate,
            None => median_step(rows.iter().map(|row| row.time)),
        };
        let options = &self.options;
        let mut outcome = Ok(());
        let track = match options.by {
            RunsBy::Time if timed => {
                Track::new(true, step_ms, options.min_dwell_ms, options.max_gap_ms)
            }
            _ if step_ms > 0.0 => {
                let in_rows = options.min_dwell_ms / step_ms;
                let unit = match options.by {
                    RunsBy::Time => in_rows,
                    RunsBy::Count => in_rows.round().max(1.0),
                };
                Track::new(false, 1.0, unit, options.max_gap_ms / step_ms)
            }
            _ => {
                outcome = Err(ReductionError::NoTime);
                Track::new(false, 0.0, f64::INFINITY, 0.0)
            }
        };
        self.stage = Stage::Running(track);
        for row in rows {
            self.advance(row);
        }
        outcome
    }

    fn advance(&mut self, row: Row) {
        let Stage::Running(track) = &mut self.stage else {
            return;
        };
        let ended = track.step_to(row, &mut self.reduced.backwards);
        self.take(ended);
    }

    /// Handles the end of a run: removes it, or lets it wait for an equal neighbour.
    fn take(&mut self, ended: Option<(u16, f64)>) {
        let (Some((letter, length)), Stage::Running(track)) = (ended, &self.stage) else {
            return;
        };
        if length < track.unit * (1.0 - TOLERANCE) {
            self.reduced.removed += 1;
            return;
        }
        match &mut self.pending {
            Some((waiting, sum)) if *waiting == letter && self.options.merge => *sum += length,
            _ => {
                self.flush();
                self.pending = Some((letter, length));
            }
        }
    }

    /// Writes the letters of the pending run.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a float-to-integer cast saturates
    fn flush(&mut self) {
        let (Some((letter, length)), Stage::Running(track)) = (self.pending.take(), &self.stage)
        else {
            return;
        };
        let units = length / track.unit;
        let count = match self.options.downsize {
            Downsize::Floor => (units + TOLERANCE).floor(),
            Downsize::Round => (units + 0.5 + TOLERANCE).floor(),
            Downsize::Ceil => (units - TOLERANCE).ceil(),
        } as usize;
        let cap = self.options.cap.map_or(usize::MAX, |cap| cap as usize);
        let count = count.max(1).min(cap);
        if count > MAX_LETTERS - self.reduced.letters.len() {
            self.too_long = true;
            return;
        }
        self.reduced
            .letters
            .extend(std::iter::repeat_n(letter, count));
    }
}

impl Track {
    fn new(timed: bool, step: f64, unit: f64, max_gap: f64) -> Self {
        Self {
            timed,
            step,
            unit,
            max_gap,
            previous: None,
            run: None,
        }
    }

    /// Moves on to a row. Returns the run that it ends, as letter and length.
    fn step_to(&mut self, row: Row, backwards: &mut u64) -> Option<(u16, f64)> {
        let following = self.previous.map_or(0.0, |previous| previous + self.step);
        let here = if self.timed {
            row.time.unwrap_or(following)
        } else {
            following
        };
        let is_backwards = self.previous.is_some_and(|previous| here < previous);
        self.previous = Some(here);
        if is_backwards {
            *backwards += 1;
            let ended = self.close(None);
            self.open(row.gaze, here);
            return ended;
        }
        let continues = match (&mut self.run, row.gaze) {
            (None, _) => false,
            (Some(run), gaze) => {
                let end = *run
                    .end
                    .get_or_insert(end_of_sample(run.last, here, self.step));
                match gaze {
                    Gaze::Lost => true,
                    Gaze::Elsewhere => false,
                    Gaze::At(letter) => {
                        letter == run.letter && here - end <= self.max_gap + self.unit * TOLERANCE
                    }
                }
            }
        };
        if continues {
            if let (Some(run), Gaze::At(_)) = (&mut self.run, row.gaze) {
                run.last = here;
                run.end = None;
            }
            return None;
        }
        let ended = self.close(Some(here));
        self.open(row.gaze, here);
        ended
    }

    fn open(&mut self, gaze: Gaze, here: f64) {
        if let Gaze::At(letter) = gaze {
            self.run = Some(Run {
                letter,
                start: here,
                last: here,
                end: None,
            });
        }
    }

    /// Ends the run; `next` is the time of the next row, if there is one that follows in time.
    fn close(&mut self, next: Option<f64>) -> Option<(u16, f64)> {
        let run = self.run.take()?;
        let end = run.end.unwrap_or_else(|| match next {
            Some(next) => end_of_sample(run.last, next, self.step),
            None => run.last + self.step,
        });
        Some((run.letter, end - run.start))
    }
}

/// A sample lasts until the next row or, if rows are missing, one step.
fn end_of_sample(sample: f64, next: f64, step: f64) -> f64 {
    if next - sample <= 1.5 * step {
        next
    } else {
        sample + step
    }
}

/// The median of the steps forward; 0 if there are none.
pub(crate) fn median_step(times: impl Iterator<Item = Option<f64>> + Clone) -> f64 {
    let pairs = times.clone().zip(times.skip(1));
    let mut steps: Vec<f64> = pairs
        .filter_map(|(before, after)| Some(after? - before?))
        .filter(|step| *step > 0.0 && step.is_finite())
        .collect();
    steps.sort_by(f64::total_cmp);
    let middle = steps.len() / 2;
    match (steps.get(middle), steps.len() % 2) {
        (Some(&upper), 0) => f64::midpoint(upper, steps[middle - 1]),
        (Some(&step), _) => step,
        (None, _) => 0.0,
    }
}

#[cfg(test)]
mod tests;

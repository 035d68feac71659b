//! Detects fixations in raw gaze, like pymovements' `ivt` and `idt`; tests compare both on the same samples.
//!
//! # Cases that pymovements leaves open
//! - **Missing rows** (a gap of more than one and a half steps) count as lost samples, so that a file that contains
//!   lost samples and one that leaves them out give the same fixations.
//! - **The rate** is given, or computed from the median of the recording's first 64 steps, as for runs.
//! - **Unequal steps**, which pymovements' `idt` rejects: the minimum duration is converted to a number of samples,
//!   duration times rate, rounded up.
//! - **Time going backwards** ends the current fixation. Detection restarts, as for a separate recording.
//!
//! Memory is bounded: rows are buffered until the step is known, then only the samples that a velocity or the shortest
//! fixation needs.

mod idt;
mod ivt;
mod options;
mod sample_run;
mod velocity;

use crate::runs::{ROWS_FOR_MEDIAN, ReductionError, STEPS_FOR_MEDIAN, median_step};
use idt::Idt;
use ivt::Ivt;

pub(crate) use options::DETECTOR_KEY;
pub use options::{
    DetectionOptions, Detector, LengthUnit, ScreenLength, ScreenLengthError, VelocityMethod,
    VelocityMethodError,
};

/// A gaze point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Point {
    /// In the coordinates of the file.
    pub(crate) file: (f64, f64),
    /// In the unit of the threshold.
    pub(crate) measured: (f64, f64),
}

/// A detected fixation, from its first sample to its last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct DetectedFixation {
    pub(crate) onset_ms: f64,
    pub(crate) offset_ms: f64,
    /// The mean position, in the coordinates of the file.
    pub(crate) x: f64,
    pub(crate) y: f64,
}

/// Finds the fixations of one recording, row by row.
#[derive(Debug)]
pub(crate) struct FixationDetector {
    options: DetectionOptions,
    rate_hz: Option<f64>,
    stage: Stage,
    /// Rows with an earlier time than the previous row.
    backwards: u64,
}

#[derive(Debug)]
enum Stage {
    /// Buffers the first rows until the step is known.
    Waiting {
        rows: Vec<Row>,
        steps: usize,
    },
    Running {
        rate_hz: f64,
        /// Milliseconds from one sample to the next.
        step: f64,
        previous: Option<f64>,
        algorithm: Box<Algorithm>,
    },
    Failed(ReductionError),
}

#[derive(Clone, Copy, Debug)]
struct Row {
    time: Option<f64>,
    point: Option<Point>,
}

#[derive(Debug)]
enum Algorithm {
    Ivt(Ivt),
    Idt(Idt),
}

/// The maximum number of samples in the shortest fixation; more would come from a wrong time unit.
const MAX_SAMPLES: usize = 1 << 16;

/// The tolerance, as a fraction of a sample, for converting durations to numbers of samples: files write steps with few
/// digits.
const TOLERANCE: f64 = 1e-3;

impl FixationDetector {
    /// `options` must have been checked, and must name a fixation detector.
    pub(crate) fn new(options: DetectionOptions, rate_hz: Option<f64>) -> Self {
        Self {
            options,
            rate_hz: rate_hz.filter(|rate| rate.is_finite() && *rate > 0.0),
            stage: Stage::Waiting {
                rows: Vec::new(),
                steps: 0,
            },
            backwards: 0,
        }
    }

    /// Adds a row, and appends the detected fixations to `found`.
    pub(crate) fn push(
        &mut self,
        time_ms: Option<f64>,
        point: Option<Point>,
        found: &mut Vec<DetectedFixation>,
    ) {
        let row = Row {
            time: time_ms.filter(|time| time.is_finite()),
            point,
        };
        match &mut self.stage {
            Stage::Failed(_) => {}
            Stage::Running { .. } => self.advance(row, found),
            Stage::Waiting { rows, steps } => {
                let before = rows.last().and_then(|last| last.time);
                *steps += usize::from(row.time > before && before.is_some());
                rows.push(row);
                if self.rate_hz.is_some()
                    || *steps == STEPS_FOR_MEDIAN
                    || rows.len() == ROWS_FOR_MEDIAN
                {
                    self.start(found);
                }
            }
        }
    }

    /// Ends the recording: appends the remaining fixations to `found`, and returns how often time went backwards.
    pub(crate) fn finish(
        mut self,
        found: &mut Vec<DetectedFixation>,
    ) -> Result<u64, ReductionError> {
        if let Stage::Waiting { rows, .. } = &self.stage {
            if rows.is_empty() {
                return Ok(0);
            }
            self.start(found);
        }
        match self.stage {
            Stage::Running { algorithm, .. } => algorithm.finish(found),
            Stage::Failed(why) => return Err(why),
            Stage::Waiting { .. } => {}
        }
        Ok(self.backwards)
    }

    /// Determines the step and processes the buffered rows.
    fn start(&mut self, found: &mut Vec<DetectedFixation>) {
        let Stage::Waiting { rows, .. } = &mut self.stage else {
            return;
        };
        let rows = std::mem::take(rows);
        let rate_hz = match self.rate_hz {
            Some(rate) => rate,
            None => 1000.0 / median_step(rows.iter().map(|row| row.time)),
        };
        let step = 1000.0 / rate_hz;
        self.stage = match rate_hz.is_finite() && step.is_finite() {
            // Timestamps that never advance give no fixation.
            false if rows.iter().any(|row| row.time.is_some()) => return,
            false => Stage::Failed(ReductionError::NoTime),
            true => match Algorithm::new(&self.options, rate_hz) {
                Ok(algorithm) => Stage::Running {
                    rate_hz,
                    step,
                    previous: None,
                    algorithm: Box::new(algorithm),
                },
                Err(why) => Stage::Failed(why),
            },
        };
        for row in rows {
            self.advance(row, found);
        }
    }

    fn advance(&mut self, row: Row, found: &mut Vec<DetectedFixation>) {
        let Stage::Running {
            rate_hz,
            step,
            previous,
            algorithm,
        } = &mut self.stage
        else {
            return;
        };
        let here = match (row.time, *previous) {
            (Some(time), _) => time,
            (None, Some(previous)) => previous + *step,
            (None, None) => 0.0,
        };
        if let Some(previous) = *previous {
            if here < previous {
                self.backwards += 1;
                if let Ok(next) = Algorithm::new(&self.options, *rate_hz) {
                    std::mem::replace(&mut **algorithm, next).finish(found);
                }
            } else if here - previous > 1.5 * *step {
                for number in 1..=missing(here - previous, *step, algorithm.longest_loss()) {
                    algorithm.push(previous + f64::from(number) * *step, None, found);
                }
            }
        }
        *previous = Some(here);
        algorithm.push(here, row.point, found);
    }
}

impl Algorithm {
    fn new(options: &DetectionOptions, rate_hz: f64) -> Result<Self, ReductionError> {
        if options.detector == Detector::Ivt {
            return Ok(Algorithm::Ivt(Ivt::new(options, rate_hz)));
        }
        let samples = options.min_duration_ms * rate_hz / 1000.0;
        let min_samples = whole((samples - TOLERANCE).ceil()).max(2);
        match min_samples <= MAX_SAMPLES {
            true => Ok(Algorithm::Idt(Idt::new(options, min_samples))),
            false => Err(ReductionError::TooManySamples),
        }
    }

    fn longest_loss(&self) -> usize {
        match self {
            Algorithm::Ivt(ivt) => ivt.longest_loss(),
            Algorithm::Idt(idt) => idt.longest_loss(),
        }
    }

    fn push(&mut self, time: f64, point: Option<Point>, found: &mut Vec<DetectedFixation>) {
        match self {
            Algorithm::Ivt(ivt) => ivt.push(time, point, found),
            Algorithm::Idt(idt) => idt.push(time, point, found),
        }
    }

    fn finish(self, found: &mut Vec<DetectedFixation>) {
        match self {
            Algorithm::Ivt(ivt) => ivt.finish(found),
            Algorithm::Idt(idt) => idt.finish(found),
        }
    }
}

/// The number of samples missing in a gap, at most `enough`.
fn missing(gap: f64, step: f64, enough: usize) -> u32 {
    let missing = whole((gap / step).round() - 1.0).min(enough);
    u32::try_from(missing).unwrap_or(u32::MAX)
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a float-to-integer cast saturates
fn whole(number: f64) -> usize {
    number as usize
}

#[cfg(test)]
mod tests;

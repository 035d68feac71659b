//! Consecutive samples that may become a fixation.

use super::{DetectedFixation, Point};

/// Consecutive samples: the times of the first and the last, and the sum of their positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleRun {
    onset: f64,
    offset: f64,
    samples: usize,
    /// The number of samples with a position.
    positions: u32,
    sum: (f64, f64),
}

impl SampleRun {
    pub(super) fn new(time: f64, point: Option<Point>) -> Self {
        let mut run = Self {
            onset: time,
            offset: time,
            samples: 0,
            positions: 0,
            sum: (0.0, 0.0),
        };
        run.add(time, point);
        run
    }

    pub(super) fn add(&mut self, time: f64, point: Option<Point>) {
        self.offset = time;
        self.samples += 1;
        if let Some(Point { file: (x, y), .. }) = point {
            self.positions = self.positions.saturating_add(1);
            self.sum = (self.sum.0 + x, self.sum.1 + y);
        }
    }

    /// The time from the first sample to the last.
    pub(super) fn duration(&self) -> f64 {
        self.offset - self.onset
    }

    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    /// The fixation, at the mean position; `None` if no sample has a position.
    pub(super) fn fixation(&self) -> Option<DetectedFixation> {
        let positions = f64::from(self.positions);
        (self.positions > 0).then_some(DetectedFixation {
            onset_ms: self.onset,
            offset_ms: self.offset,
            x: self.sum.0 / positions,
            y: self.sum.1 / positions,
        })
    }
}

//! The samples of what may become a fixation.

use super::{DetectedFixation, Point};

/// Samples in a row: when the first and the last were, and the sum of their places.
#[derive(Clone, Copy, Debug)]
pub(super) struct SampleRun {
    onset: f64,
    offset: f64,
    samples: usize,
    seen: u32,
    sum: (f64, f64),
}

impl SampleRun {
    pub(super) fn new(time: f64, point: Option<Point>) -> Self {
        let mut run = Self {
            onset: time,
            offset: time,
            samples: 0,
            seen: 0,
            sum: (0.0, 0.0),
        };
        run.add(time, point);
        run
    }

    pub(super) fn add(&mut self, time: f64, point: Option<Point>) {
        self.offset = time;
        self.samples += 1;
        if let Some(Point { file: (x, y), .. }) = point {
            self.seen = self.seen.saturating_add(1);
            self.sum = (self.sum.0 + x, self.sum.1 + y);
        }
    }

    /// From the first sample to the last.
    pub(super) fn duration(&self) -> f64 {
        self.offset - self.onset
    }

    pub(super) fn samples(&self) -> usize {
        self.samples
    }

    /// The fixation, at the mean of the places; `None` if no sample has one.
    pub(super) fn fixation(&self) -> Option<DetectedFixation> {
        let seen = f64::from(self.seen);
        (self.seen > 0).then_some(DetectedFixation {
            onset_ms: self.onset,
            offset_ms: self.offset,
            x: self.sum.0 / seen,
            y: self.sum.1 / seen,
        })
    }
}

//! The I-DT algorithm of Salvucci and Goldberg (2000): a fixation is a window of samples whose dispersion, width plus
//! height, stays below a threshold.
//!
//! The window starts at the length of the shortest fixation and grows until its dispersion reaches the threshold. As in
//! their pseudocode and in pymovements, the sample that reaches the threshold belongs to the fixation, and the next
//! window starts after it. Lost samples do not end the window. They split it into parts, without the window's last
//! sample, and parts with fewer samples than the shortest fixation are dropped.

use super::sample_run::SampleRun;
use super::{DetectedFixation, DetectionOptions, Point};
use std::collections::VecDeque;

/// Detects fixations sample by sample. It keeps only the samples of the shortest fixation in memory.
#[derive(Debug)]
pub(super) struct Idt {
    threshold: f64,
    /// The number of samples in the shortest fixation.
    min_samples: usize,
    /// The samples of a window that is not yet a fixation.
    waiting: VecDeque<Sample>,
    /// How many samples have left `waiting`.
    passed: u64,
    horizontal: Extremes,
    vertical: Extremes,
    growing: Option<FixationWindow>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    point: Option<Point>,
}

/// Tracks the minimum and maximum of a sliding window: the candidates for each, with their sample numbers, in the order
/// in which they become the extreme.
#[derive(Debug, Default)]
struct Extremes {
    smallest: VecDeque<(u64, f64)>,
    largest: VecDeque<(u64, f64)>,
}

/// A window that is already a fixation and still growing.
#[derive(Debug)]
struct FixationWindow {
    low: (f64, f64),
    high: (f64, f64),
    /// The parts between lost samples that are long enough, without the last sample of the window.
    parts: Vec<DetectedFixation>,
    current: Option<SampleRun>,
    has_loss: bool,
    last: Sample,
}

impl Idt {
    pub(super) fn new(options: &DetectionOptions, min_samples: usize) -> Self {
        Self {
            threshold: options.dispersion.value,
            min_samples,
            waiting: VecDeque::new(),
            passed: 0,
            horizontal: Extremes::default(),
            vertical: Extremes::default(),
            growing: None,
        }
    }

    /// This many lost samples in a row have the same effect as any larger number.
    pub(super) fn longest_loss(&self) -> usize {
        self.min_samples
    }

    pub(super) fn push(
        &mut self,
        time: f64,
        point: Option<Point>,
        found: &mut Vec<DetectedFixation>,
    ) {
        let sample = Sample { time, point };
        if let Some(growing) = &mut self.growing {
            growing.add(sample, self.min_samples);
            if growing.extent() >= self.threshold {
                self.end(found);
            }
            return;
        }
        if let Some(point) = point {
            let number = self.passed + self.waiting.len() as u64;
            self.horizontal.enter(number, point.measured.0);
            self.vertical.enter(number, point.measured.1);
        }
        self.waiting.push_back(sample);
        if self.waiting.len() < self.min_samples {
            return;
        }
        let extent = self.horizontal.extent().zip(self.vertical.extent());
        match extent.map(|(horizontal, vertical)| horizontal + vertical) {
            Some(extent) if extent <= self.threshold => {
                self.grow();
                if extent >= self.threshold {
                    self.end(found);
                }
            }
            _ => {
                self.waiting.pop_front();
                self.passed += 1;
                self.horizontal.leave(self.passed);
                self.vertical.leave(self.passed);
            }
        }
    }

    pub(super) fn finish(mut self, found: &mut Vec<DetectedFixation>) {
        self.end(found);
    }

    /// Starts a fixation with the waiting samples.
    fn grow(&mut self) {
        let mut samples = std::mem::take(&mut self.waiting).into_iter();
        let Some(first) = samples.next() else {
            return;
        };
        let mut growing = FixationWindow::new(first);
        for sample in samples {
            growing.add(sample, self.min_samples);
        }
        self.growing = Some(growing);
        self.passed = 0;
        self.horizontal = Extremes::default();
        self.vertical = Extremes::default();
    }

    fn end(&mut self, found: &mut Vec<DetectedFixation>) {
        if let Some(growing) = self.growing.take() {
            growing.finish(self.min_samples, found);
        }
    }
}

impl FixationWindow {
    fn new(first: Sample) -> Self {
        let mut growing = Self {
            low: (f64::INFINITY, f64::INFINITY),
            high: (f64::NEG_INFINITY, f64::NEG_INFINITY),
            parts: Vec::new(),
            current: None,
            has_loss: false,
            last: first,
        };
        growing.widen(first);
        growing
    }

    fn add(&mut self, sample: Sample, min_samples: usize) {
        self.settle_last(min_samples);
        self.widen(sample);
        self.last = sample;
    }

    /// Adds the last sample to the current part, now that another sample follows it.
    fn settle_last(&mut self, min_samples: usize) {
        let Sample { time, point } = self.last;
        match (&mut self.current, point) {
            (_, None) => {
                self.has_loss = true;
                self.end_part(min_samples);
            }
            (Some(current), point) => current.add(time, point),
            (None, point) => self.current = Some(SampleRun::new(time, point)),
        }
    }

    fn end_part(&mut self, min_samples: usize) {
        if let Some(part) = self.current.take()
            && part.samples() >= min_samples
        {
            self.parts.extend(part.fixation());
        }
    }

    fn widen(&mut self, sample: Sample) {
        if let Some(Point {
            measured: (x, y), ..
        }) = sample.point
        {
            self.low = (self.low.0.min(x), self.low.1.min(y));
            self.high = (self.high.0.max(x), self.high.1.max(y));
        }
    }

    fn extent(&self) -> f64 {
        (self.high.0 - self.low.0) + (self.high.1 - self.low.1)
    }

    fn finish(mut self, min_samples: usize, found: &mut Vec<DetectedFixation>) {
        if self.has_loss {
            self.end_part(min_samples);
            found.append(&mut self.parts);
            return;
        }
        let Sample { time, point } = self.last;
        let whole = match self.current {
            Some(mut current) => {
                current.add(time, point);
                current
            }
            None => SampleRun::new(time, point),
        };
        found.extend(whole.fixation());
    }
}

impl Extremes {
    fn enter(&mut self, number: u64, value: f64) {
        while self
            .smallest
            .back()
            .is_some_and(|&(_, other)| other >= value)
        {
            self.smallest.pop_back();
        }
        self.smallest.push_back((number, value));
        while self
            .largest
            .back()
            .is_some_and(|&(_, other)| other <= value)
        {
            self.largest.pop_back();
        }
        self.largest.push_back((number, value));
    }

    /// Removes the samples before this number.
    fn leave(&mut self, first: u64) {
        for candidates in [&mut self.smallest, &mut self.largest] {
            while candidates
                .front()
                .is_some_and(|&(number, _)| number < first)
            {
                candidates.pop_front();
            }
        }
    }

    fn extent(&self) -> Option<f64> {
        let (_, smallest) = self.smallest.front()?;
        let (_, largest) = self.largest.front()?;
        Some(largest - smallest)
    }
}

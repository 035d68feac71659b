//! I-DT of Salvucci and Goldberg (2000): a fixation is a window of samples whose extent, width plus height, stays below a
//! threshold.
//!
//! The window starts with the shortest fixation and grows until its extent is at least the threshold. As in their
//! pseudocode and in pymovements, the sample that reaches the threshold belongs to the fixation, and the next window
//! starts after it. Lost samples do not end the window; they split what is in it, without that last sample, and parts
//! with fewer samples than the shortest fixation are dropped.

use super::sample_run::SampleRun;
use super::{DetectedFixation, DetectionOptions, Point};
use std::collections::VecDeque;

/// Finds fixations sample by sample. It keeps only the samples of the shortest fixation in memory.
#[derive(Debug)]
pub(super) struct Idt {
    threshold: f64,
    /// Samples of the shortest fixation.
    least: usize,
    /// The samples of a window that is not yet a fixation.
    waiting: VecDeque<Sample>,
    /// How many samples have left it.
    passed: u64,
    across: Extremes,
    down: Extremes,
    growing: Option<FixationWindow>,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    time: f64,
    point: Option<Point>,
}

/// The smallest and the largest value of a sliding window: candidates for each, with the sample's number, in the order
/// in which they become the extreme.
#[derive(Debug, Default)]
struct Extremes {
    smallest: VecDeque<(u64, f64)>,
    largest: VecDeque<(u64, f64)>,
}

/// A window that is a fixation and grows.
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
    pub(super) fn new(options: &DetectionOptions, least: usize) -> Self {
        Self {
            threshold: options.dispersion.value,
            least,
            waiting: VecDeque::new(),
            passed: 0,
            across: Extremes::default(),
            down: Extremes::default(),
            growing: None,
        }
    }

    /// From this many on, it does not matter how many samples are lost between two others.
    pub(super) fn longest_loss(&self) -> usize {
        self.least
    }

    pub(super) fn push(
        &mut self,
        time: f64,
        point: Option<Point>,
        found: &mut Vec<DetectedFixation>,
    ) {
        let sample = Sample { time, point };
        if let Some(growing) = &mut self.growing {
            growing.add(sample, self.least);
            if growing.extent() >= self.threshold {
                self.end(found);
            }
            return;
        }
        if let Some(point) = point {
            let number = self.passed + self.waiting.len() as u64;
            self.across.enter(number, point.seen.0);
            self.down.enter(number, point.seen.1);
        }
        self.waiting.push_back(sample);
        if self.waiting.len() < self.least {
            return;
        }
        let extent = self.across.extent().zip(self.down.extent());
        match extent.map(|(across, down)| across + down) {
            Some(extent) if extent <= self.threshold => {
                self.grow();
                if extent >= self.threshold {
                    self.end(found);
                }
            }
            _ => {
                self.waiting.pop_front();
                self.passed += 1;
                self.across.leave(self.passed);
                self.down.leave(self.passed);
            }
        }
    }

    pub(super) fn finish(mut self, found: &mut Vec<DetectedFixation>) {
        self.end(found);
    }

    /// The waiting samples are the start of a fixation.
    fn grow(&mut self) {
        let mut samples = std::mem::take(&mut self.waiting).into_iter();
        let Some(first) = samples.next() else {
            return;
        };
        let mut growing = FixationWindow::new(first);
        for sample in samples {
            growing.add(sample, self.least);
        }
        self.growing = Some(growing);
        self.passed = 0;
        self.across = Extremes::default();
        self.down = Extremes::default();
    }

    fn end(&mut self, found: &mut Vec<DetectedFixation>) {
        if let Some(growing) = self.growing.take() {
            growing.finish(self.least, found);
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

    fn add(&mut self, sample: Sample, least: usize) {
        self.settle_last(least);
        self.widen(sample);
        self.last = sample;
    }

    /// Another sample follows the last one, so the last one counts.
    fn settle_last(&mut self, least: usize) {
        let Sample { time, point } = self.last;
        match (&mut self.current, point) {
            (_, None) => {
                self.has_loss = true;
                self.end_part(least);
            }
            (Some(current), point) => current.add(time, point),
            (None, point) => self.current = Some(SampleRun::new(time, point)),
        }
    }

    fn end_part(&mut self, least: usize) {
        if let Some(part) = self.current.take()
            && part.samples() >= least
        {
            self.parts.extend(part.fixation());
        }
    }

    fn widen(&mut self, sample: Sample) {
        if let Some(Point { seen: (x, y), .. }) = sample.point {
            self.low = (self.low.0.min(x), self.low.1.min(y));
            self.high = (self.high.0.max(x), self.high.1.max(y));
        }
    }

    fn extent(&self) -> f64 {
        (self.high.0 - self.low.0) + (self.high.1 - self.low.1)
    }

    fn finish(mut self, least: usize, found: &mut Vec<DetectedFixation>) {
        if self.has_loss {
            self.end_part(least);
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

    /// The samples before this number have left.
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

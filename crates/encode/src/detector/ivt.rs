//! The I-VT algorithm of Salvucci and Goldberg (2000): a sample belongs to a fixation if the eye is slower than a
//! threshold.

use super::velocity::{SpeedSample, VelocityFilter};
use super::{DetectedFixation, DetectionOptions, Point};
use crate::detector::sample_run::SampleRun;

/// Detects fixations sample by sample.
#[derive(Debug)]
pub(super) struct Ivt {
    filter: VelocityFilter,
    slow: SlowRun,
}

/// The current run of slow samples.
#[derive(Debug)]
struct SlowRun {
    threshold: f64,
    min_duration_ms: f64,
    current: Option<SampleRun>,
}

impl Ivt {
    pub(super) fn new(options: &DetectionOptions, rate_hz: f64) -> Self {
        Self {
            filter: VelocityFilter::new(options.velocity_method, rate_hz),
            slow: SlowRun {
                threshold: options.velocity.value,
                min_duration_ms: options.min_duration_ms,
                current: None,
            },
        }
    }

    pub(super) fn longest_loss(&self) -> usize {
        self.filter.longest_loss()
    }

    pub(super) fn push(
        &mut self,
        time: f64,
        point: Option<Point>,
        found: &mut Vec<DetectedFixation>,
    ) {
        if let Some(sample) = self.filter.push(time, point) {
            self.slow.push(sample, found);
        }
    }

    pub(super) fn finish(self, found: &mut Vec<DetectedFixation>) {
        let Self { filter, mut slow } = self;
        filter.finish(|sample| slow.push(sample, found));
        slow.end(found);
    }
}

impl SlowRun {
    fn push(&mut self, sample: SpeedSample, found: &mut Vec<DetectedFixation>) {
        let is_slow = sample.speed.is_some_and(|speed| speed < self.threshold);
        match (&mut self.current, is_slow) {
            (_, false) => self.end(found),
            (Some(current), true) => current.add(sample.time, sample.point),
            (None, true) => self.current = Some(SampleRun::new(sample.time, sample.point)),
        }
    }

    fn end(&mut self, found: &mut Vec<DetectedFixation>) {
        let Some(current) = self.current.take() else {
            return;
        };
        if current.duration() >= self.min_duration_ms {
            found.extend(current.fixation());
        }
    }
}

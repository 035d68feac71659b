//! The readers' contract, and the options that users can give.

use veilpath_encode::{
    CoordinateUnit, Dropped, EncodeField, Eye, Fixation, ReadError, ReadOptions, Recording,
    RecordingId, RowChoice, Sample, Sink, TimeUnit,
};

/// Checks that everything a reader emits satisfies its contract.
#[derive(Default)]
pub struct Checker {
    recordings: usize,
}

impl Sink for Checker {
    fn recording(&mut self, recording: &Recording<'_>) -> Result<RecordingId, ReadError> {
        if let Some(space) = recording.space {
            let (u, v) = space.fraction(1.0, 1.0);
            assert!(!u.is_nan() && !v.is_nan(), "an empty screen");
        }
        self.recordings += 1;
        Ok(RecordingId(self.recordings))
    }

    fn fixation(&mut self, recording: RecordingId, fixation: Fixation<'_>) {
        assert!(recording.0 <= self.recordings);
        assert!(fixation.x.is_finite() && fixation.y.is_finite());
        assert!(fixation.duration_ms.is_none_or(|duration| duration >= 0.0));
    }

    fn sample(&mut self, recording: RecordingId, sample: Sample<'_>) {
        assert!(recording.0 <= self.recordings);
        assert!(
            sample
                .point
                .is_none_or(|(x, y)| x.is_finite() && y.is_finite())
        );
        assert!(sample.time_ms.is_none_or(|time| !time.is_nan()));
    }

    fn dropped(&mut self, _: Dropped) {}

    fn unrequested_event(&mut self, label: &str) {
        assert!(!label.is_empty());
        self.dropped(Dropped::OtherEvent);
    }

    fn unrequested_sample(&mut self, _: RecordingId, time_ms: Option<f64>, label: &str) {
        assert!(time_ms.is_none_or(|time| !time.is_nan()));
        self.unrequested_event(label);
    }

    fn assumed(&mut self, assumption: &str, _: &[EncodeField]) {
        assert!(!assumption.is_empty());
    }
}

/// Options from a byte: each bit sets one option.
pub fn options(bits: u8) -> ReadOptions {
    let is_set = |bit: u8| bits >> bit & 1 == 1;
    ReadOptions {
        screen: is_set(0).then_some((1280.0, 720.0)),
        units: is_set(1).then_some(CoordinateUnit::Fraction),
        time_unit: is_set(2).then_some(TimeUnit::Seconds),
        flip_y: is_set(3),
        rate_hz: is_set(4).then_some(60.0),
        eye: if is_set(5) { Eye::Right } else { Eye::Any },
        rows: if is_set(6) {
            RowChoice::Samples
        } else {
            RowChoice::Any
        },
        participant: is_set(7).then(|| "p".to_string()),
        ..ReadOptions::default()
    }
}

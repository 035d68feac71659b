//! What readers promise, and what users may wish.

use veilpath_encode::{
    CoordinateUnit, Dropped, Eye, Fixation, ReadError, ReadOptions, Recording, RecordingId,
    RowChoice, Sample, Sink, TimeUnit,
};

/// Holds readers to what they promise about everything they hand over.
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

    fn assumed(&mut self, assumption: &str) {
        assert!(!assumption.is_empty());
    }
}

/// Every bit of a byte is a wish of the user's; 0 is no wish at all.
pub fn options(wishes: u8) -> ReadOptions {
    let wish = |bit: u8| wishes >> bit & 1 == 1;
    ReadOptions {
        screen: wish(0).then_some((1280.0, 720.0)),
        units: wish(1).then_some(CoordinateUnit::Fraction),
        time_unit: wish(2).then_some(TimeUnit::Seconds),
        flip_y: wish(3),
        rate_hz: wish(4).then_some(60.0),
        eye: if wish(5) { Eye::Right } else { Eye::Any },
        rows: if wish(6) {
            RowChoice::Samples
        } else {
            RowChoice::Any
        },
        participant: wish(7).then(|| "p".to_string()),
        ..ReadOptions::default()
    }
}

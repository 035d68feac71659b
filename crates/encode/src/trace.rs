//! Gaze points for pictures of recordings, as fractions of the stimulus.

use crate::encode::format_of;
use crate::readers::FORMATS;
use crate::{
    Dropped, EncodeField, Fixation, Kind, ReadError, ReadOptions, Recording, RecordingId, Sample,
    Sink, Source, Space, SpaceKind,
};
use std::collections::HashMap;

/// The maximum number of points that are kept for a picture.
const MAX_POINTS: usize = 4_000_000;

/// The points of files, for a picture. They show what participants looked at, so they must not leave this machine.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// The recordings, in file order.
    pub recordings: Vec<TracedRecording>,
    /// Points that were left out because there are too many.
    pub left_out: u64,
}

/// The points of one participant viewing one stimulus.
#[derive(Clone)]
pub struct TracedRecording {
    /// The participant.
    pub participant: String,
    /// The stimulus.
    pub stimulus: Option<String>,
    /// Whether the points are fixations; otherwise they are gaze samples.
    pub is_fixations: bool,
    /// Where the stimulus is in the file's coordinates.
    pub space: Option<Space>,
    /// The points with a position, in file order.
    pub points: Vec<TracePoint>,
}

/// A point of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePoint {
    /// The distance from the left edge, as a fraction of the width.
    pub x: f64,
    /// The distance from the upper edge, as a fraction of the height.
    pub y: f64,
    /// How long a fixation lasted, in milliseconds, if the file says so.
    pub duration_ms: Option<f64>,
}

/// Shows only the number of points.
impl std::fmt::Debug for TracedRecording {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "TracedRecording({})", self.points.len())
    }
}

/// Reads files for a picture, as [`encode_files`](crate::encode_files) reads them for letters.
pub fn trace_files(
    sources: Vec<Source>,
    format: Option<&str>,
    read: &ReadOptions,
) -> Result<Trace, ReadError> {
    read.check()?;
    let mut tracer = Tracer::default();
    for source in sources {
        let input = source.open(Default::default())?;
        let format = format_of(&input, (FORMATS, &crate::recognise_format), format, read)?;
        tracer.begin_file();
        format.read(input, read, &mut tracer)?;
    }
    Ok(tracer.trace)
}

impl Space {
    /// Converts a point, given as fractions of the stimulus' width and height, to the file's coordinates. The inverse
    /// of [`Space::fraction`] of a point that `Space::project` returned.
    pub fn at_fraction(&self, (x, y): (f64, f64)) -> (f64, f64) {
        let x = self.left + x * (self.right - self.left);
        let y = self.top + y * (self.bottom - self.top);
        match self.kind {
            SpaceKind::VisualAngle { distance_cm } => {
                let degrees = |cm: f64| (cm / distance_cm).atan().to_degrees();
                (degrees(x), degrees(y))
            }
            _ => (x, y),
        }
    }
}

#[derive(Default)]
struct Tracer {
    trace: Trace,
    index: HashMap<(String, Option<String>), usize>,
    latest: Option<usize>,
    points: usize,
}

impl Tracer {
    /// The same participant and stimulus in another file are another recording.
    fn begin_file(&mut self) {
        self.index.clear();
        self.latest = None;
    }

    fn push(&mut self, RecordingId(at): RecordingId, x: f64, y: f64, duration_ms: Option<f64>) {
        let Some(recording) = self.trace.recordings.get_mut(at) else {
            return;
        };
        let Some(space) = &recording.space else {
            return;
        };
        let (x, y) = space.project(x, y);
        let (x, y) = space.fraction(x, y);
        if !(x.is_finite() && y.is_finite()) {
            return;
        }
        if self.points == MAX_POINTS {
            self.trace.left_out += 1;
            return;
        }
        self.points += 1;
        recording.points.push(TracePoint { x, y, duration_ms });
    }
}

impl Sink for Tracer {
    fn recording(&mut self, recording: &Recording<'_>) -> Result<RecordingId, ReadError> {
        let is_same = |it: &TracedRecording| {
            it.participant == recording.participant && it.stimulus.as_deref() == recording.stimulus
        };
        let latest = self
            .latest
            .filter(|&at| is_same(&self.trace.recordings[at]));
        let at = match latest {
            Some(at) => at,
            None => {
                let stimulus = recording.stimulus.map(String::from);
                let key = (recording.participant.to_string(), stimulus);
                match self.index.get(&key) {
                    Some(&at) => at,
                    None => {
                        self.trace.recordings.push(TracedRecording {
                            participant: key.0.clone(),
                            stimulus: key.1.clone(),
                            is_fixations: matches!(recording.kind, Kind::Fixations),
                            space: recording.space,
                            points: Vec::new(),
                        });
                        let at = self.trace.recordings.len() - 1;
                        self.index.insert(key, at);
                        at
                    }
                }
            }
        };
        self.latest = Some(at);
        self.trace.recordings[at].space = recording.space;
        Ok(RecordingId(at))
    }

    fn fixation(&mut self, recording: RecordingId, fixation: Fixation<'_>) {
        self.push(recording, fixation.x, fixation.y, fixation.duration_ms);
    }

    fn sample(&mut self, recording: RecordingId, sample: Sample<'_>) {
        if let Some((x, y)) = sample.point {
            self.push(recording, x, y, None);
        }
    }

    fn dropped(&mut self, _reason: Dropped) {}

    fn unrequested_event(&mut self, _label: &str) {}

    fn unrequested_sample(&mut self, _recording: RecordingId, _time_ms: Option<f64>, _label: &str) {
    }

    fn assumed(&mut self, _assumption: &str, _changed_by: &[EncodeField]) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Input;

    #[test]
    fn points_are_parts_of_the_stimulus() {
        let text =
            "participant,stimulus,x,y,duration\np1,s,640,180,200\np2,s,0,720,100\np1,s,1280,0,50\n";
        let input = Input::from_bytes("f.csv", text.into()).unwrap();
        let read = ReadOptions {
            screen: Some((1280.0, 720.0)),
            ..ReadOptions::default()
        };
        let trace = trace_files(vec![Source::Open(Box::new(input))], None, &read).unwrap();
        let [first, second] = &trace.recordings[..] else {
            panic!("{trace:?}");
        };
        assert!(first.is_fixations && first.participant == "p1" && second.participant == "p2");
        let places: Vec<_> = first.points.iter().map(|it| (it.x, it.y)).collect();
        assert_eq!(places, [(0.5, 0.25), (1.0, 0.0)]);
        assert_eq!(first.points[0].duration_ms, Some(200.0));
    }

    #[test]
    fn the_same_names_in_another_file_are_another_recording() {
        let table = |name: &str| {
            let text = "participant,stimulus,x,y,duration\np,s,640,180,200\n";
            Source::Open(Box::new(Input::from_bytes(name, text.into()).unwrap()))
        };
        let read = ReadOptions {
            screen: Some((1280.0, 720.0)),
            ..ReadOptions::default()
        };
        let trace = trace_files(vec![table("a.csv"), table("b.csv")], None, &read).unwrap();
        let lengths: Vec<_> = trace.recordings.iter().map(|it| it.points.len()).collect();
        assert_eq!(lengths, [1, 1]);
    }

    #[test]
    fn parts_become_coordinates_again() {
        for space in [
            Space::pixels(1024.0, 768.0),
            Space::centred(2.0, 2.0),
            Space::globe(),
            Space::visual_angle((52.0, 29.0), 60.0),
        ] {
            for part in [(0.0, 0.0), (0.25, 0.75), (1.0, 1.0)] {
                let (x, y) = space.at_fraction(part);
                let (x, y) = space.project(x, y);
                let (x, y) = space.fraction(x, y);
                assert!((x - part.0).abs() < 1e-9 && (y - part.1).abs() < 1e-9);
            }
        }
    }
}

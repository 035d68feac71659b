//! Helpers shared by several readers.

use super::oriented;
use crate::{
    CoordinateUnit, Dropped, EncodeField, Fixation, Kind, ReadError, ReadOptions, Recording,
    RecordingId, Row, Sink, Space,
};

/// Remembers the recording of the last row, so that a table with names on every row asks the sink only when something
/// changes.
#[derive(Default)]
pub(crate) struct CurrentRecording {
    participant: String,
    stimulus: Option<String>,
    /// The handle, with the kind and space that the sink knows.
    current: Option<(RecordingId, Kind, Option<Space>)>,
}

impl CurrentRecording {
    /// The handle of a recording; the sink is asked only if it differs from the last. A row that does not say what its
    /// space is has that of the row before.
    pub(crate) fn enter(
        &mut self,
        sink: &mut dyn Sink,
        recording: &Recording<'_>,
    ) -> Result<RecordingId, ReadError> {
        if let Some((id, kind, space)) = self.current
            && self.participant == recording.participant
            && self.stimulus.as_deref() == recording.stimulus
            && kind == recording.kind
            && (recording.space.is_none() || space == recording.space)
        {
            return Ok(id);
        }
        let id = sink.recording(recording)?;
        self.participant.clear();
        self.participant.push_str(recording.participant);
        self.stimulus = recording.stimulus.map(str::to_string);
        self.current = Some((id, recording.kind, recording.space));
        Ok(id)
    }
}

/// Reports a fixation, or drops it if it has no position or an impossible duration.
pub(crate) fn report_fixation(
    sink: &mut dyn Sink,
    recording: RecordingId,
    point: Option<(f64, f64)>,
    start_ms: Option<f64>,
    duration_ms: Option<f64>,
    aoi: Option<&str>,
) {
    match (point, duration_ms) {
        (None, _) => sink.dropped(Dropped::Lost),
        (_, Some(duration)) if duration < 0.0 => sink.dropped(Dropped::NegativeDuration),
        (Some((x, y)), duration_ms) => sink.fixation(
            recording,
            Fixation {
                x,
                y,
                start_ms,
                duration_ms,
                aoi,
            },
        ),
    }
}

/// The start of a row's fixation. A field that is not a number is not an error; the row then keeps its position in the
/// file.
pub(crate) fn start_ms(row: &Row<'_>, column: Option<usize>, unit_in_ms: f64) -> Option<f64> {
    let start = row.number_if_any(column?)?;
    Some(start * unit_in_ms).filter(|start| start.is_finite())
}

/// The sampling rate: the user's, else the one that the file gives. A contradiction is reported.
pub(crate) fn sampling_rate(
    in_file: Option<f64>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) -> Option<f64> {
    if let (Some(given), Some(stated)) = (options.rate_hz, in_file)
        && given != stated
    {
        let text =
            format!("the sampling rate is {given} Hz as given, not {stated} Hz as in the file");
        sink.assumed(&text, &[EncodeField::Rate]);
    }
    options.rate_hz.or(in_file)
}

/// Reports that the user's size of the screen contradicts the one in the file.
pub(crate) fn report_given_size(
    in_file: Option<(f64, f64)>,
    options: &ReadOptions,
    sink: &mut dyn Sink,
) {
    let (Some(given), Some(stated)) = (options.screen, in_file) else {
        return;
    };
    let unit = options.units.unwrap_or(CoordinateUnit::Pixels);
    let is_used = matches!(
        unit,
        CoordinateUnit::Pixels | CoordinateUnit::CentredPixels | CoordinateUnit::ScreenHeights
    );
    if is_used && given != stated && sink.needs_size() {
        let text = format!(
            "the size is {}x{} as given, not {}x{} as in the file",
            given.0, given.1, stated.0, stated.1
        );
        sink.assumed(&text, &[EncodeField::Screen]);
    }
}

/// The space of a format in pixels: the user's settings, else the size that the file gives.
pub(crate) fn pixel_space(size: Option<(f64, f64)>, options: &ReadOptions) -> Option<Space> {
    let unit = options.units.unwrap_or(CoordinateUnit::Pixels);
    space_in(unit, size, options)
}

/// The space of a unit. `size` is the size of the screen in pixels according to the file; the user's setting takes
/// precedence.
pub(crate) fn space_in(
    unit: CoordinateUnit,
    size: Option<(f64, f64)>,
    options: &ReadOptions,
) -> Option<Space> {
    let pixels = options.screen.or(size).filter(|&(width, height)| {
        width > 0.0 && height > 0.0 && width.is_finite() && height.is_finite()
    });
    let space = match unit {
        CoordinateUnit::Pixels => pixels.map(|(width, height)| Space::pixels(width, height)),
        CoordinateUnit::CentredPixels => {
            pixels.map(|(width, height)| Space::centred_pixels(width, height))
        }
        CoordinateUnit::Fraction => Some(Space::unit()),
        CoordinateUnit::Percent => Some(Space::percent()),
        CoordinateUnit::Centred => Some(Space::centred(2.0, 2.0)),
        CoordinateUnit::ScreenHeights => {
            pixels.map(|(width, height)| Space::centred(width / height, 1.0))
        }
        CoordinateUnit::LonLat => Some(Space::globe()),
        // Without a size the screen has no area; the sink rejects it if it needs one.
        CoordinateUnit::VisualAngle => Some(Space::visual_angle(
            options.screen_cm.unwrap_or_default(),
            options.distance_cm.unwrap_or_default(),
        )),
    };
    space.map(|space| oriented(space, options))
}

/// The space of a format in fractions of the stimulus, unless the user names another unit.
pub(crate) fn fraction_space(fractions: Space, options: &ReadOptions) -> Option<Space> {
    match options.units {
        None | Some(CoordinateUnit::Fraction) => Some(oriented(fractions, options)),
        Some(unit) => space_in(unit, None, options),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collector, LetterOptions};

    #[test]
    fn a_new_size_under_the_same_names_reaches_the_sink() {
        let mut sink = Collector::new(&LetterOptions::default()).unwrap();
        let mut current = CurrentRecording::default();
        // The third row does not say what its size is.
        for size in [Some(700.0), Some(70.0), None] {
            let recording = Recording {
                participant: "p",
                stimulus: Some("s"),
                kind: Kind::Fixations,
                space: size.map(|size| Space::pixels(size, size)),
            };
            let id = current.enter(&mut sink, &recording).unwrap();
            report_fixation(&mut sink, id, Some((69.0, 0.0)), None, None, None);
        }
        let (cohort, _) = sink.finish().unwrap();
        let letters = cohort.alphabet.format(&cohort.entries[0].scanpath);
        assert_eq!(letters, "AGG");
    }
}

/// Helpers for reader tests.
#[cfg(test)]
pub(crate) mod testing {
    use crate::readers::Format;
    use crate::readers::recorder::Recorder;
    use crate::{Input, ReadError, ReadOptions};
    use std::path::{Path, PathBuf};

    /// A small synthetic file.
    pub(crate) fn testdata(name: &str) -> PathBuf {
        PathBuf::from(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../testdata/formats"
        ))
        .join(name)
    }

    /// Reads a file with the given reader.
    pub(crate) fn read_path(
        format: &dyn Format,
        path: &Path,
        options: &ReadOptions,
    ) -> Result<Recorder, ReadError> {
        let mut recorder = Recorder::default();
        format.read(Input::open(path)?, options, &mut recorder)?;
        Ok(recorder)
    }

    /// Reads a test file after checking that recognition selects this reader.
    pub(crate) fn read_recognised(
        format: &dyn Format,
        name: &str,
        options: &ReadOptions,
    ) -> Recorder {
        let path = testdata(name);
        let head = Input::open(&path).unwrap().head();
        assert_eq!(recognised(&head), Some(format.name()), "{name}");
        read_path(format, &path, options).unwrap()
    }

    /// The name of the format that recognition finds.
    pub(crate) fn recognised(head: &crate::Head) -> Option<&'static str> {
        crate::recognise_format(head).map(|format| format.name())
    }

    /// Reads every prefix of a file, and the file with single bytes corrupted. None of them may panic.
    pub(crate) fn assert_damage_does_not_panic(format: &dyn Format, name: &str) {
        let bytes = std::fs::read(testdata(name)).unwrap();
        let check = |bytes: Vec<u8>| {
            if let Ok(input) = Input::from_bytes(name, bytes) {
                format.recognises(&input.head());
                let _ = format.read(input, &ReadOptions::default(), &mut Recorder::default());
            }
        };
        for end in 0..bytes.len() {
            check(bytes[..end].to_vec());
        }
        for at in 0..bytes.len() {
            for byte in [0, b'\t', b'"', b'-', b'[', 0xff] {
                let mut corrupted = bytes.clone();
                corrupted[at] = byte;
                check(corrupted);
            }
        }
    }
}

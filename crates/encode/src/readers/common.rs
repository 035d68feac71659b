//! What several readers need.

use super::oriented;
use crate::{
    CoordinateUnit, Dropped, Fixation, ReadError, ReadOptions, Recording, RecordingId, Row, Sink,
    Space,
};

/// Remembers the recording of the last row, so that a table with a name on every row asks the sink only where the name
/// changes.
#[derive(Default)]
pub(crate) struct CurrentRecording {
    participant: String,
    stimulus: Option<String>,
    id: Option<RecordingId>,
}

impl CurrentRecording {
    /// The handle of a recording; the sink is asked only if it differs from the last.
    pub(crate) fn enter(
        &mut self,
        sink: &mut dyn Sink,
        recording: &Recording<'_>,
    ) -> Result<RecordingId, ReadError> {
        if let Some(id) = self.id
            && self.participant == recording.participant
            && self.stimulus.as_deref() == recording.stimulus
        {
            return Ok(id);
        }
        let id = sink.recording(recording)?;
        self.participant.clear();
        self.participant.push_str(recording.participant);
        self.stimulus = recording.stimulus.map(str::to_string);
        self.id = Some(id);
        Ok(id)
    }
}

/// Reports a fixation, or drops it if it has no place or an impossible duration.
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

/// When a row's fixation starts. A field that is not a number does not make the row an error: it keeps its place in the file.
pub(crate) fn start_ms(row: &Row<'_>, column: Option<usize>, unit_in_ms: f64) -> Option<f64> {
    let start = row.number_if_any(column?)?;
    Some(start * unit_in_ms).filter(|start| start.is_finite())
}

/// The space of a format in pixels: what the user said, else the size that the file gives.
pub(crate) fn pixel_space(size: Option<(f64, f64)>, options: &ReadOptions) -> Option<Space> {
    let unit = options.units.unwrap_or(CoordinateUnit::Pixels);
    space_in(unit, size, options)
}

/// The space of a unit; `size` is what the file says of the screen in pixels, and the user's setting takes
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
            pixels.map(|(width, height)| Space::centred(width, height))
        }
        CoordinateUnit::Fraction => Some(Space::unit()),
        CoordinateUnit::Percent => Some(Space::percent()),
        CoordinateUnit::Centred => Some(Space::centred(2.0, 2.0)),
        CoordinateUnit::ScreenHeights => {
            pixels.map(|(width, height)| Space::centred(width / height, 1.0))
        }
        CoordinateUnit::LonLat => Some(Space::globe()),
        // Without its size the screen has no area, which the sink refuses where it needs one.
        CoordinateUnit::VisualAngle => Some(Space::visual_angle(
            options.screen_cm.unwrap_or_default(),
            options.distance_cm.unwrap_or_default(),
        )),
    };
    space.map(|space| oriented(space, options))
}

/// The space of a format in fractions of the stimulus, unless the user says that this file differs.
pub(crate) fn fraction_space(fractions: Space, options: &ReadOptions) -> Option<Space> {
    match options.units {
        None | Some(CoordinateUnit::Fraction) => Some(oriented(fractions, options)),
        Some(unit) => space_in(unit, None, options),
    }
}

/// Helpers for the tests of readers.
#[cfg(test)]
pub(crate) mod testing {
    use crate::readers::Format;
    use crate::readers::recorder::Recorder;
    use crate::{Input, ReadError, ReadOptions};
    use std::path::{Path, PathBuf};

    /// A tiny file of our own making.
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

    /// Reads a test file after checking that detection selects this reader.
    pub(crate) fn read_detected(
        format: &dyn Format,
        name: &str,
        options: &ReadOptions,
    ) -> Recorder {
        let path = testdata(name);
        let head = Input::open(&path).unwrap().head();
        assert_eq!(detected(&head), Some(format.name()), "{name}");
        read_path(format, &path, options).unwrap()
    }

    /// The name of the format that detection finds.
    pub(crate) fn detected(head: &crate::Head) -> Option<&'static str> {
        crate::detect(head).map(|format| format.name())
    }

    /// Every prefix of a text, and the text with single bytes corrupted, must end in a value and not in a panic.
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

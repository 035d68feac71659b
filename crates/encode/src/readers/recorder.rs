//! A sink that records everything, for reader tests.

use super::*;
use crate::{ColumnRoles, Dropped, EncodeNote, Fixation, Kind, Recording, RecordingId, Sample};

/// x, y, duration in ms, AOI.
pub(crate) type RecordedFixation = (f64, f64, Option<f64>, Option<String>);

/// Time in ms, point, AOI.
pub(crate) type RecordedSample = (Option<f64>, Option<(f64, f64)>, Option<String>);

/// One recording as received.
#[derive(Debug, PartialEq)]
pub(crate) struct Recorded {
    pub(crate) participant: String,
    pub(crate) stimulus: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) space: Option<Space>,
    pub(crate) fixations: Vec<RecordedFixation>,
    /// The starts of the fixations, in ms.
    pub(crate) starts: Vec<Option<f64>>,
    pub(crate) samples: Vec<RecordedSample>,
}

/// Records all calls.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    pub(crate) recordings: Vec<Recorded>,
    pub(crate) dropped: std::collections::BTreeMap<Dropped, u64>,
    pub(crate) unrequested_events: std::collections::BTreeMap<String, u64>,
    pub(crate) assumed: Vec<String>,
    pub(crate) notes: Vec<EncodeNote>,
    pub(crate) columns: Option<ColumnRoles>,
}

impl Sink for Recorder {
    fn recording(&mut self, recording: &Recording<'_>) -> Result<RecordingId, ReadError> {
        let known = self.recordings.iter().position(|known| {
            known.participant == recording.participant
                && known.stimulus.as_deref() == recording.stimulus
        });
        Ok(RecordingId(known.unwrap_or_else(|| {
            self.recordings.push(Recorded {
                participant: recording.participant.to_string(),
                stimulus: recording.stimulus.map(str::to_string),
                kind: recording.kind,
                space: recording.space,
                fixations: Vec::new(),
                starts: Vec::new(),
                samples: Vec::new(),
            });
            self.recordings.len() - 1
        })))
    }

    fn fixation(&mut self, recording: RecordingId, fixation: Fixation<'_>) {
        self.recordings[recording.0].starts.push(fixation.start_ms);
        self.recordings[recording.0].fixations.push((
            fixation.x,
            fixation.y,
            fixation.duration_ms,
            fixation.aoi.map(str::to_string),
        ));
    }

    fn sample(&mut self, recording: RecordingId, sample: Sample<'_>) {
        self.recordings[recording.0].samples.push((
            sample.time_ms,
            sample.point,
            sample.aoi.map(str::to_string),
        ));
    }

    fn dropped(&mut self, reason: Dropped) {
        *self.dropped.entry(reason).or_default() += 1;
    }

    fn unrequested_event(&mut self, label: &str) {
        *self
            .unrequested_events
            .entry(label.to_string())
            .or_default() += 1;
        self.dropped(Dropped::OtherEvent);
    }

    fn unrequested_sample(&mut self, _: RecordingId, _: Option<f64>, label: &str) {
        self.unrequested_event(label);
    }

    fn assumed(&mut self, assumption: &str, _: &[EncodeField]) {
        if !self.assumed.iter().any(|known| known == assumption) {
            self.assumed.push(assumption.to_string());
        }
    }

    fn note(&mut self, note: EncodeNote) {
        self.notes.push(note);
    }

    fn columns(&mut self, roles: ColumnRoles) {
        self.columns = Some(roles);
    }
}

/// Reads text in a format.
pub(crate) fn read_text(
    format: &dyn Format,
    name: &str,
    text: &str,
    options: &ReadOptions,
) -> Result<Recorder, ReadError> {
    let mut recorder = Recorder::default();
    let input = Input::from_bytes(name, text.as_bytes().to_vec())?;
    format.read(input, options, &mut recorder)?;
    Ok(recorder)
}

/// Reads a file; also returns the name of the recognised format.
pub(crate) fn read_file(
    format: &dyn Format,
    path: &std::path::Path,
    options: &ReadOptions,
) -> Result<(Recorder, &'static str), ReadError> {
    let mut recorder = Recorder::default();
    let input = Input::open(path)?;
    let recognised = recognised(&input);
    format.read(input, options, &mut recorder)?;
    Ok((recorder, recognised))
}

/// The first format that recognises the file.
pub(crate) fn recognised(input: &Input) -> &'static str {
    crate::recognise_format(&input.head()).map_or("none", |format| format.name())
}

/// A synthetic file under `testdata/formats`.
pub(crate) fn tiny_file(name: &str) -> std::path::PathBuf {
    std::path::PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/formats"
    ))
    .join(name)
}

/// The folder of published files, `shared/data` next to or above the workspace, if it exists.
pub(crate) fn shared_folder() -> Option<std::path::PathBuf> {
    let beside = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    let named = std::env::var_os("VEILPATH_SHARED").map(std::path::PathBuf::from);
    named
        .into_iter()
        .chain(beside.map(|folder| folder.join("shared")))
        .map(|shared| shared.join("data"))
        .find(|data| data.is_dir())
}

/// A published file; if it does not exist, `None` and a message.
pub(crate) fn shared_file(path: &str) -> Option<std::path::PathBuf> {
    let file = shared_folder().map(|folder| folder.join(path));
    let file = file.filter(|file| file.exists());
    if file.is_none() {
        eprintln!("skipped: {path} is not on this machine");
    }
    file
}

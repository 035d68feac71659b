//! The formats, one file each.
//!
//! To add one: implement [`Format`] in a file of its own, list it in [`FORMATS`] (more particular formats first: the
//! first that recognises a file gets it), and put a tiny file of your own making into `testdata/formats/`.

mod common;
mod eyelink_asc;
mod eyelink_lines;
mod gazepoint;
mod pupil;
mod pupil_fixations;
mod pupil_gaze;
mod smi;
mod smi_events;
mod smi_samples;
mod tobii_columns;
mod tobii_pro_lab;
mod tobii_studio;
mod tobii_table;

use crate::{Head, Input, NamesInFile, ReadError, ReadOptions, Sink, Space};

/// A file format.
pub trait Format: Sync {
    /// The name for `--input-format`.
    fn name(&self) -> &'static str;

    /// The name for people, with maker or origin.
    fn title(&self) -> &'static str;

    /// Whether a file that starts like this is of this format.
    fn recognises(&self, head: &Head) -> bool;

    /// Reads the file and hands everything to the sink.
    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError>;
}

/// All formats, more particular ones first.
pub static FORMATS: &[&dyn Format] = &[
    &eyelink_asc::EyelinkAsc,
    &gazepoint::Gazepoint,
    &pupil_fixations::PupilFixations,
    &pupil_gaze::PupilGaze,
    &smi_events::SmiEvents,
    &smi_samples::SmiSamples,
    &tobii_pro_lab::TobiiProLab,
    &tobii_studio::TobiiStudio,
];

/// Participant and stimulus of a file that holds one recording: what the user said, else what the file's preamble says,
/// else what the name template finds, else (for the participant) the file's name.
///
/// Ids in columns of a table go before all of this; they are the reader's business.
pub(crate) fn names_of(
    input: &Input,
    options: &ReadOptions,
    in_preamble: NamesInFile,
) -> Result<(String, Option<String>), ReadError> {
    let in_name = match &options.name_template {
        Some(template) => template.apply(input.stem()).ok_or_else(|| {
            ReadError::new(
                input.name(),
                "the file's name does not match the name pattern",
            )
            .with_remedy(
                "change the pattern so that it fits all files, or encode the files in groups",
            )
        })?,
        None => NamesInFile::default(),
    };
    let participant = options
        .participant
        .clone()
        .or(in_preamble.participant)
        .or(in_name.participant)
        .unwrap_or_else(|| input.stem().to_string());
    let stimulus = options
        .stimulus
        .clone()
        .or(in_preamble.stimulus)
        .or(in_name.stimulus);
    Ok((participant, stimulus))
}

/// The stimulus' place in the file's coordinates, with the user's wish to turn y around applied.
pub(crate) fn oriented(space: Space, options: &ReadOptions) -> Space {
    if options.flip_y {
        space.flipped()
    } else {
        space
    }
}

/// A sink that remembers everything, for the tests of readers.
#[cfg(test)]
pub(crate) mod recorder {
    use super::*;
    use crate::{Dropped, Fixation, Kind, Recording, RecordingId, Sample};

    /// One recording as it came.
    #[derive(Debug, PartialEq)]
    pub(crate) struct Recorded {
        pub(crate) participant: String,
        pub(crate) stimulus: Option<String>,
        pub(crate) kind: Kind,
        pub(crate) space: Option<Space>,
        /// x, y, duration in ms, AOI.
        pub(crate) fixations: Vec<(f64, f64, Option<f64>, Option<String>)>,
        /// time in ms, point, AOI.
        pub(crate) samples: Vec<(Option<f64>, Option<(f64, f64)>, Option<String>)>,
    }

    /// Remembers all calls.
    #[derive(Debug, Default)]
    pub(crate) struct Recorder {
        pub(crate) recordings: Vec<Recorded>,
        pub(crate) dropped: std::collections::BTreeMap<Dropped, u64>,
        pub(crate) assumed: Vec<String>,
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
                    samples: Vec::new(),
                });
                self.recordings.len() - 1
            })))
        }

        fn fixation(&mut self, recording: RecordingId, fixation: Fixation<'_>) {
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

        fn assumed(&mut self, assumption: &str) {
            if !self.assumed.iter().any(|known| known == assumption) {
                self.assumed.push(assumption.to_string());
            }
        }
    }

    /// Reads text of a format.
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

    /// A real file of others under `../shared/data` beside the workspace, or `None` with a word on standard error.
    pub(crate) fn shared_file(path: &str) -> Option<std::path::PathBuf> {
        let shared = std::env::var_os("VEILPATH_SHARED").map_or_else(
            || std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared")),
            std::path::PathBuf::from,
        );
        let file = shared.join("data").join(path);
        if file.exists() {
            return Some(file);
        }
        eprintln!("skipped: {path} is not on this machine");
        None
    }
}

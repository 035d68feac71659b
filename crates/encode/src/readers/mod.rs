//! The file formats, one module each.
//!
//! To add a format, implement [`Format`] in its own module, list it in [`FORMATS`] (more specific formats first: the
//! first one that recognises a file reads it), and put a small synthetic file into `testdata/formats/`.

pub use accepts::SupportedOptions;
pub(crate) use accepts::without_effect;
pub use bids_sidecar::is_bids_metadata;
pub(crate) use table::{
    IdColumns, coordinate_pairs, has_coordinates, look_like_coordinates, names_areas,
    unpaired_coordinate,
};

use crate::notes::first_of;
use crate::{
    EncodeField, EncodeNote, Eye, Head, Input, NamesInFile, NoEffect, ReadError, ReadOptions,
    RowChoice, Sink, Space,
};

mod accepts;
mod arff_gaze;
mod bids_physio;
mod bids_sidecar;
mod common;
mod ehtask;
mod eyelink_asc;
mod eyelink_lines;
mod eyelink_trials;
mod gazepoint;
mod matlab;
mod oemc;
mod pupil;
mod pupil_fixations;
mod pupil_gaze;
#[cfg(test)]
pub(crate) mod recorder;
mod repeats;
mod salient360;
mod salient360_raw;
mod sample_labels;
mod smi;
mod smi_events;
mod smi_samples;
mod table;
mod tobii_columns;
mod tobii_pro_lab;
mod tobii_studio;
mod tobii_table;
mod visual_search_json;
mod xu360;

/// A file format.
pub trait Format: Sync {
    /// The name by which a user chooses it.
    fn name(&self) -> &'static str;

    /// The display name, with vendor or origin.
    fn title(&self) -> &'static str;

    /// The options that apply to its files.
    fn accepts(&self) -> SupportedOptions {
        SupportedOptions::default()
    }

    /// Whether a file with this head has this format.
    fn recognises(&self, head: &Head) -> bool;

    /// Reads the file and hands everything to the sink.
    fn read(
        &self,
        input: Input,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<(), ReadError>;
}

/// All formats, more specific ones first.
pub static FORMATS: &[&dyn Format] = &[
    &bids_physio::BidsPhysio,
    &matlab::Matlab,
    &visual_search_json::VisualSearchJson,
    &arff_gaze::ArffGaze,
    &salient360_raw::Salient360Raw,
    &salient360::Salient360,
    &xu360::Xu360,
    &oemc::Oemc,
    &ehtask::Ehtask,
    &eyelink_asc::EyelinkAsc,
    &gazepoint::Gazepoint,
    &pupil_fixations::PupilFixations,
    &pupil_gaze::PupilGaze,
    &smi_events::SmiEvents,
    &smi_samples::SmiSamples,
    &tobii_pro_lab::TobiiProLab,
    &tobii_studio::TobiiStudio,
    // The general one comes last: it takes any table with columns for x and y.
    &table::Table,
];

/// Notes a stimulus that the user names, but every row names another.
pub(crate) fn note_unused_stimulus(options: &ReadOptions, sink: &mut dyn Sink) {
    if options.stimulus.is_some() {
        sink.note(EncodeNote::NoEffect {
            field: EncodeField::Stimulus,
            reason: NoEffect::NamedInColumn,
        });
    }
}

/// Notes the choice of an eye in a file of fixations that do not name any.
pub(crate) fn note_unused_eye(options: &ReadOptions, sink: &mut dyn Sink) {
    if options.eye != Eye::Any {
        sink.note(EncodeNote::NoEffect {
            field: EncodeField::Eye,
            reason: NoEffect::NoEyeColumn,
        });
    }
}

/// Participant and stimulus of a file, if known: from the user, else from the file's preamble, else from the name
/// pattern.
///
/// Ids in columns of a table take precedence; the reader handles them.
pub(crate) fn names_found(
    input: &Input,
    options: &ReadOptions,
    in_preamble: NamesInFile,
) -> Result<NamesInFile, ReadError> {
    let in_name = match &options.name_pattern {
        Some(pattern) => pattern.apply(input.stem()).ok_or_else(|| {
            ReadError::new(
                input.name(),
                "the file's name does not match the name pattern",
            )
            .with_remedy(
                "change the pattern so that it fits all files, or encode the files in groups",
            )
            .with_fields(&[EncodeField::NamePattern])
        })?,
        None => NamesInFile::default(),
    };
    let participant = options.participant.clone();
    let stimulus = options.stimulus.clone();
    Ok(NamesInFile {
        participant: participant
            .or(in_preamble.participant)
            .or(in_name.participant),
        stimulus: stimulus.or(in_preamble.stimulus).or(in_name.stimulus),
    })
}

/// Participant and stimulus for a file whose columns may name them: a participant without a name is named after the file.
pub(crate) fn names_unless_in_columns(
    input: &Input,
    options: &ReadOptions,
    in_preamble: NamesInFile,
) -> Result<(String, Option<String>), ReadError> {
    let found = names_found(input, options, in_preamble)?;
    Ok(or_file_name(found, input))
}

/// The participant of rows that do not name one, in a table that may have a column for it.
pub(crate) struct UnnamedParticipant {
    name: String,
    /// What it is named after, if nothing gives its name.
    named_after: Option<&'static str>,
}

impl UnnamedParticipant {
    /// The name. One made from the file's name is reported, because ids are sent to the partner.
    pub(crate) fn name(&self, has_column: bool, sink: &mut dyn Sink) -> &str {
        match (self.named_after, has_column) {
            (None, _) => {}
            (Some(origin), false) => {
                sink.assumed(&named_after(origin, &[]), PARTICIPANT_NAME_FIELDS)
            }
            (Some(origin), true) => sink.assumed(
                &format!(
                    "rows without a participant belong to one who is named after the {origin}"
                ),
                PARTICIPANT_NAME_FIELDS,
            ),
        }
        &self.name
    }
}

/// The participant of rows that do not name one, and the stimulus of the file.
pub(crate) fn names_of_unnamed_rows(
    input: &Input,
    options: &ReadOptions,
    in_preamble: NamesInFile,
) -> Result<(UnnamedParticipant, Option<String>), ReadError> {
    let found = names_found(input, options, in_preamble)?;
    let named_after = found.participant.is_none().then(|| origin(input));
    let (name, stimulus) = or_file_name(found, input);
    Ok((UnnamedParticipant { name, named_after }, stimulus))
}

/// Participant and stimulus of a file with one recording. Ids are sent to the partner, so an id made from a file's name
/// is reported.
pub(crate) fn names_of(
    input: &Input,
    options: &ReadOptions,
    in_preamble: NamesInFile,
    sink: &mut dyn Sink,
) -> Result<(String, Option<String>), ReadError> {
    let found = names_found(input, options, in_preamble)?;
    if found.participant.is_none() {
        sink.assumed(&named_after(origin(input), &[]), PARTICIPANT_NAME_FIELDS);
    }
    Ok(or_file_name(found, input))
}

/// A participant without a name is named after the file.
pub(crate) fn or_file_name(found: NamesInFile, input: &Input) -> (String, Option<String>) {
    let participant = found.participant;
    let participant = participant.unwrap_or_else(|| input.stem().to_string());
    (participant, found.stimulus)
}

/// The options that name a participant.
pub(crate) const PARTICIPANT_NAME_FIELDS: &[EncodeField] =
    &[EncodeField::Participant, EncodeField::NamePattern];

/// What an input is in a message: without a path or the ending of a file's name, it is a data frame or a pipe.
pub(crate) fn origin(input: &Input) -> &'static str {
    match input.path().is_none() && input.stem() == input.name() {
        true => "input",
        false => "file",
    }
}

/// The note about an input that does not name its participant. It lists unused columns that may do so.
pub(crate) fn named_after(origin: &str, unused_columns: &[String]) -> String {
    const LISTED: usize = 6;
    if unused_columns.is_empty() {
        return format!("the participant is named after the {origin}");
    }
    format!(
        "all rows are of one participant, who is named after the {origin}; if one of the columns that were not used ({}) names the participants, say which",
        first_of(unused_columns, LISTED)
    )
}

/// Participant and stimulus for a data set that has them in its file names. The user's name pattern takes precedence.
pub(crate) fn names_by_convention(
    input: &Input,
    options: &ReadOptions,
    by_convention: NamesInFile,
    sink: &mut dyn Sink,
) -> Result<(String, Option<String>), ReadError> {
    let by_convention = match options.name_pattern {
        Some(_) => NamesInFile::default(),
        None => by_convention,
    };
    names_of(input, options, by_convention, sink)
}

/// Rejects a request for fixations if a format has only gaze samples, or the other way round.
pub(crate) fn has_only(
    rows: RowChoice,
    input: &Input,
    options: &ReadOptions,
) -> Result<(), ReadError> {
    if options.rows == RowChoice::Any || options.rows == rows {
        return Ok(());
    }
    let (has, wanted) = match rows {
        RowChoice::Fixations => ("fixations", "gaze samples"),
        _ => ("gaze samples", "fixations"),
    };
    Err(ReadError::new(
        input.name(),
        format!("this format has {has} and no {wanted}"),
    )
    .with_remedy(format!("do not ask for {wanted}"))
    .with_fields(&[EncodeField::Rows]))
}

/// The space of the stimulus, flipped if the user asks for it.
pub(crate) fn oriented(space: Space, options: &ReadOptions) -> Space {
    if options.flip_y {
        space.flipped()
    } else {
        space
    }
}

/// Rejects a request for raw samples if a format has only fixations.
pub(crate) fn only_fixations(input: &Input, options: &ReadOptions) -> Result<(), ReadError> {
    has_only(RowChoice::Fixations, input, options)
}

#[cfg(test)]
mod tests {
    use super::recorder::Recorder;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_are_kebab_case_and_unique() {
        let mut names: Vec<&str> = FORMATS.iter().map(|format| format.name()).collect();
        assert!(names.iter().all(|name| {
            name.bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
        }));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), FORMATS.len());
    }

    /// Pieces of real files, so that broken files get beyond their first line.
    fn broken_file() -> impl Strategy<Value = Vec<u8>> {
        let pieces = [
            "x,y,duration\n",
            "\"x\" y \"time [s]\"\n",
            "# Idx, longitude, latitude\n",
            "frame,1,forward,0.1,0.2,eye,0.3,0.4\n",
            "X_coord\tY_coord\tConfidence\tPattern\n",
            "@relation r\n@attribute 'time' real\n@attribute x real\n@attribute y real\n",
            "@data\n",
            "%@METADATA width_px ",
            "1 2 3 4 0.5 0.5 7 8\n",
            "1,2,3\n",
            "0.5\t",
            "-1e308,",
            "NaN;",
            "\"",
            "é",
            "\r",
            "\n",
            " ",
            "{",
        ];
        let piece = prop_oneof![
            4 => prop::sample::select(pieces.to_vec()).prop_map(|text| text.as_bytes().to_vec()),
            1 => prop::collection::vec(any::<u8>(), 0..6),
        ];
        prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_reader_panic(bytes in broken_file()) {
            for format in FORMATS {
                let Ok(input) = Input::from_bytes("broken", bytes.clone()) else {
                    continue;
                };
                format.recognises(&input.head());
                let mut recorder = Recorder::default();
                if format.read(input, &ReadOptions::default(), &mut recorder).is_ok() {
                    for recording in &recorder.recordings {
                        for (_, _, duration, _) in &recording.fixations {
                            prop_assert!(duration.is_none_or(|ms| ms >= 0.0));
                        }
                    }
                }
            }
        }
    }
}

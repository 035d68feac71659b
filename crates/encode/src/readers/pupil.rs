//! Code shared by the two Pupil Labs readers.

use super::common::{CurrentRecording, fraction_space, pixel_space};
use super::{PARTICIPANT_NAME_FIELDS, names_unless_in_columns};
use crate::{
    Columns, Input, Kind, NamesInFile, ReadError, ReadOptions, Recording, RecordingId, Row, Sink,
    Space,
};

/// Two columns with a position, and the space that it lies in.
pub(super) struct Position {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) space: Option<Space>,
}

impl Position {
    /// Pupil Core: fractions with the origin at the bottom left.
    pub(super) fn core(
        columns: &Columns,
        names: [&str; 2],
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Result<Self, ReadError> {
        let [x, y] = names;
        let text = match options.flip_y {
            true => {
                "norm_pos has its origin at the top left (y points down), flipped as requested; Pupil Player writes it with y pointing up"
            }
            false => {
                "norm_pos has its origin at the bottom left, as Pupil Player writes it (y points up)"
            }
        };
        sink.assumed(text, &[]);
        Ok(Self {
            x: columns.require(&[x])?,
            y: columns.require(&[y])?,
            space: fraction_space(Space::unit().flipped(), options),
        })
    }

    /// Pupil Cloud: pixels of a camera or a picture, or fractions of a surface, with the origin at the top left.
    pub(super) fn cloud(
        columns: &Columns,
        x: usize,
        y: usize,
        options: &ReadOptions,
        sink: &mut dyn Sink,
    ) -> Self {
        let space = if columns.unit(x) == Some("normalized") {
            sink.assumed("positions on a surface have their origin at the top left, as Pupil Cloud writes them", &[]);
            fraction_space(Space::unit(), options)
        } else {
            pixel_space(None, options)
        };
        Self { x, y, space }
    }

    /// The point of a row, if it has one.
    pub(super) fn of(&self, row: Row<'_>) -> Result<Option<(f64, f64)>, ReadError> {
        Ok(row
            .number_or_missing(self.x)?
            .zip(row.number_or_missing(self.y)?))
    }
}

/// The participant and stimulus of each row.
pub(super) struct Names {
    participant: String,
    stimulus: Option<String>,
    /// Pupil Cloud's `recording id` column: its exports may contain many recordings.
    recording: Option<usize>,
    /// Whether the user names the participant, which is possible for a single recording only.
    named_by_user: bool,
    /// Whether the folder names the participant, which is worth a note.
    named_by_folder: bool,
    first_recording: Option<String>,
    current: CurrentRecording,
}

impl Names {
    /// Participant and stimulus of a file. All exports have the same file names, so the folder identifies the
    /// participant.
    pub(super) fn of(
        input: &Input,
        options: &ReadOptions,
        surface_prefix: &str,
    ) -> Result<Self, ReadError> {
        let named_by_user = options.participant.is_some()
            || options.name_pattern.as_ref().is_some_and(|pattern| {
                let names = pattern.apply(input.stem());
                names.is_some_and(|names| names.participant.is_some())
            });
        let folder = recording_folder(input.name()).filter(|_| !named_by_user);
        let (participant, stimulus) = names_unless_in_columns(
            input,
            options,
            NamesInFile {
                participant: folder.map(str::to_string),
                stimulus: input
                    .stem()
                    .strip_prefix(surface_prefix)
                    .map(str::to_string),
            },
        )?;
        Ok(Self {
            participant,
            stimulus,
            recording: None,
            named_by_folder: folder.is_some(),
            named_by_user,
            first_recording: None,
            current: CurrentRecording::default(),
        })
    }

    /// Adds the column that distinguishes recordings.
    pub(super) fn with_recording(self, columns: &Columns) -> Self {
        Self {
            recording: columns.find(&["recording id"]),
            ..self
        }
    }

    /// The recording of a row.
    pub(super) fn enter(
        &mut self,
        row: Row<'_>,
        kind: Kind,
        space: Option<Space>,
        sink: &mut dyn Sink,
    ) -> Result<RecordingId, ReadError> {
        let mut participant = self.participant.as_str();
        if let Some(column) = self.recording {
            let recording = row.text(column);
            if !self.named_by_user && !recording.is_empty() {
                participant = recording;
                self.named_by_folder = false;
            } else if self.first_recording.as_deref() != Some(recording) {
                if self.first_recording.is_some() {
                    return Err(row
                        .error(column, "a second recording begins, but one participant was named for all")
                        .with_remedy("leave the participant's name out; recordings are then distinguished by their id"));
                }
                self.first_recording = Some(recording.to_string());
            }
        }
        if self.named_by_folder {
            sink.assumed(
                "the participant is named after the recording's folder",
                PARTICIPANT_NAME_FIELDS,
            );
        }
        self.current.enter(
            sink,
            &Recording {
                participant,
                stimulus: self.stimulus.as_deref(),
                kind,
                space,
            },
        )
    }
}

/// Whether a flag such as `on_surf` is present and false.
pub(super) fn is_false(row: Row<'_>, column: Option<usize>) -> bool {
    column.is_some_and(|column| {
        let text = row.text(column);
        text.eq_ignore_ascii_case("false") || text == "0"
    })
}

/// The folder that names the recording: `P01` of `P01/000/exports/001/surfaces/fixations.csv`.
fn recording_folder(path: &str) -> Option<&str> {
    let (folders, _file) = path.rsplit_once(['/', '\\'])?;
    folders.rsplit(['/', '\\']).find(|folder| {
        !matches!(*folder, "" | "." | ".." | "exports" | "surfaces")
            && !folder.bytes().all(|byte| byte.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_names_the_recording() {
        for (path, folder) in [
            ("P01/000/exports/001/surfaces/fixations.csv", Some("P01")),
            (r"C:\data\anna\fixations.csv", Some("anna")),
            ("./fixations.csv", None),
            ("fixations.csv", None),
        ] {
            assert_eq!(recording_folder(path), folder, "{path}");
        }
    }
}
